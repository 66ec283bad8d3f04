//! `uct/api/tl.h`: types and constants.

use crate::c::prelude::*;

/// Writes a few bytes into memory of the peer. The buffer may be reused at once.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `buffer` (in): Data.
/// - `length` (in): Bytes, at most `cap.put.max_short`.
/// - `remote_addr` (in): Address in the peer's memory, as the peer sees it.
/// - `rkey` (in): Key of `uct_rkey_unpack` that covers the address.
/// - returns: UCS_OK or an error: see @ref uct_ep.
pub type uct_ep_put_short_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        buffer: *const c_void,
        length: c_uint,
        remote_addr: u64,
        rkey: uct_rkey_t,
    ) -> ucs_status_t,
>;

/// Writes what a callback puts into a buffer of the transport.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `pack_cb` (in): Called during the call; writes at most `cap.put.max_bcopy` bytes.
/// - `arg` (in): Its argument.
/// - `remote_addr` (in): Address in the peer's memory, as the peer sees it.
/// - `rkey` (in): Key of `uct_rkey_unpack` that covers the address.
/// - returns: Bytes that were sent, or a negative status: see @ref uct_ep.
pub type uct_ep_put_bcopy_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        pack_cb: uct_pack_callback_t,
        arg: *mut c_void,
        remote_addr: u64,
        rkey: uct_rkey_t,
    ) -> isize,
>;

/// Writes from registered memory, which is in use until the operation ends.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `iov` (in): Pieces of registered memory; the array is read during the call only.
/// - `iovcnt` (in): Number of pieces, at most the interface's `max_iov`.
/// - `remote_addr` (in): Address in the peer's memory, as the peer sees it.
/// - `rkey` (in): Key of `uct_rkey_unpack` that covers the address.
/// - `comp` (in): Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not
///   to be told. Alive until then.
/// - returns: UCS_OK, UCS_INPROGRESS or an error: see @ref uct_ep.
pub type uct_ep_put_zcopy_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        iov: *const uct_iov_t,
        iovcnt: usize,
        remote_addr: u64,
        rkey: uct_rkey_t,
        comp: *mut uct_completion_t,
    ) -> ucs_status_t,
>;

/// Reads a few bytes of memory of the peer, at once.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `buffer` (out): Gets the data.
/// - `length` (in): Bytes, at most `cap.get.max_short`.
/// - `remote_addr` (in): Address in the peer's memory, as the peer sees it.
/// - `rkey` (in): Key of `uct_rkey_unpack` that covers the address.
/// - returns: UCS_OK or an error: see @ref uct_ep.
pub type uct_ep_get_short_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        buffer: *mut c_void,
        length: c_uint,
        remote_addr: u64,
        rkey: uct_rkey_t,
    ) -> ucs_status_t,
>;

/// Reads memory of the peer and hands it to a callback.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `unpack_cb` (in): Called with the data, during the call or in progress before `comp` is
///   counted down.
/// - `arg` (in): Its first argument.
/// - `length` (in): Bytes, at most `cap.get.max_bcopy`.
/// - `remote_addr` (in): Address in the peer's memory, as the peer sees it.
/// - `rkey` (in): Key of `uct_rkey_unpack` that covers the address.
/// - `comp` (in): Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not
///   to be told. Alive until then.
/// - returns: UCS_OK, UCS_INPROGRESS or an error: see @ref uct_ep.
pub type uct_ep_get_bcopy_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        unpack_cb: uct_unpack_callback_t,
        arg: *mut c_void,
        length: usize,
        remote_addr: u64,
        rkey: uct_rkey_t,
        comp: *mut uct_completion_t,
    ) -> ucs_status_t,
>;

/// Reads into registered memory. The data is there when the operation ends.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `iov` (in): Pieces of registered memory; the array is read during the call only.
/// - `iovcnt` (in): Number of pieces, at most the interface's `max_iov`.
/// - `remote_addr` (in): Address in the peer's memory, as the peer sees it.
/// - `rkey` (in): Key of `uct_rkey_unpack` that covers the address.
/// - `comp` (in): Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not
///   to be told. Alive until then.
/// - returns: UCS_OK, UCS_INPROGRESS or an error: see @ref uct_ep.
pub type uct_ep_get_zcopy_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        iov: *const uct_iov_t,
        iovcnt: usize,
        remote_addr: u64,
        rkey: uct_rkey_t,
        comp: *mut uct_completion_t,
    ) -> ucs_status_t,
>;

/// Sends an active message of 8 bytes of header and a payload, which may be reused at once.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `id` (in): Number of the handler at the peer, below UCT_AM_ID_MAX.
/// - `header` (in): First 8 bytes of the message.
/// - `payload` (in): The rest.
/// - `length` (in): Bytes of the rest; at most `cap.am.max_short` together with the header.
/// - returns: UCS_OK or an error: see @ref uct_ep.
pub type uct_ep_am_short_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        id: u8,
        header: u64,
        payload: *const c_void,
        length: c_uint,
    ) -> ucs_status_t,
>;

/// Sends an active message gathered from pieces, which may be reused at once.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `id` (in): Number of the handler at the peer, below UCT_AM_ID_MAX.
/// - `iov` (in): Pieces, at most `cap.am.max_short` bytes together; their handles are not used.
/// - `iovcnt` (in): Number of pieces, at most the interface's `max_iov`.
/// - returns: UCS_OK or an error: see @ref uct_ep.
pub type uct_ep_am_short_iov_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        id: u8,
        iov: *const uct_iov_t,
        iovcnt: usize,
    ) -> ucs_status_t,
>;

/// Sends as an active message what a callback puts into a buffer of the transport.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `id` (in): Number of the handler at the peer, below UCT_AM_ID_MAX.
/// - `pack_cb` (in): Called during the call; writes at most `cap.am.max_bcopy` bytes.
/// - `arg` (in): Its argument.
/// - `flags` (in): Bits of `uct_msg_flags`.
/// - returns: Bytes that were sent, or a negative status: see @ref uct_ep.
pub type uct_ep_am_bcopy_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        id: u8,
        pack_cb: uct_pack_callback_t,
        arg: *mut c_void,
        flags: c_uint,
    ) -> isize,
>;

/// Sends a header, which is copied, and registered memory as one active message. The memory is in
/// use until the operation ends.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `id` (in): Number of the handler at the peer, below UCT_AM_ID_MAX.
/// - `header` (in): Header; may be reused at once.
/// - `header_length` (in): Its bytes, at most `cap.am.max_hdr`.
/// - `iov` (in): Pieces of registered memory; the array is read during the call only.
/// - `iovcnt` (in): Number of pieces, at most the interface's `max_iov`.
/// - `flags` (in): Bits of `uct_msg_flags`.
/// - `comp` (in): Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not
///   to be told. Alive until then.
/// - returns: UCS_OK, UCS_INPROGRESS or an error: see @ref uct_ep.
pub type uct_ep_am_zcopy_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        id: u8,
        header: *const c_void,
        header_length: c_uint,
        iov: *const uct_iov_t,
        iovcnt: usize,
        flags: c_uint,
        comp: *mut uct_completion_t,
    ) -> ucs_status_t,
>;

/// Operation behind `uct_ep_atomic_cswap64`.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `compare` (in): Word that has to be there.
/// - `swap` (in): New word.
/// - `remote_addr` (in): Address of the word in the peer's memory, aligned to its size.
/// - `rkey` (in): Key of `uct_rkey_unpack` that covers the address.
/// - `result` (out): Gets the word that was there, when the operation ends.
/// - `comp` (in): Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not
///   to be told. Alive until then.
/// - returns: UCS_OK, UCS_INPROGRESS or an error: see @ref uct_ep.
pub type uct_ep_atomic_cswap64_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        compare: u64,
        swap: u64,
        remote_addr: u64,
        rkey: uct_rkey_t,
        result: *mut u64,
        comp: *mut uct_completion_t,
    ) -> ucs_status_t,
>;

/// Operation behind `uct_ep_atomic_cswap32`.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `compare` (in): Word that has to be there.
/// - `swap` (in): New word.
/// - `remote_addr` (in): Address of the word in the peer's memory, aligned to its size.
/// - `rkey` (in): Key of `uct_rkey_unpack` that covers the address.
/// - `result` (out): Gets the word that was there, when the operation ends.
/// - `comp` (in): Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not
///   to be told. Alive until then.
/// - returns: UCS_OK, UCS_INPROGRESS or an error: see @ref uct_ep.
pub type uct_ep_atomic_cswap32_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        compare: u32,
        swap: u32,
        remote_addr: u64,
        rkey: uct_rkey_t,
        result: *mut u32,
        comp: *mut uct_completion_t,
    ) -> ucs_status_t,
>;

/// Operation behind `uct_ep_atomic32_post`.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `opcode` (in): Operation.
/// - `value` (in): Operand.
/// - `remote_addr` (in): Address of the word in the peer's memory, aligned to its size.
/// - `rkey` (in): Key of `uct_rkey_unpack` that covers the address.
/// - returns: UCS_OK or an error: see @ref uct_ep.
pub type uct_ep_atomic32_post_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        opcode: c_uint,
        value: u32,
        remote_addr: u64,
        rkey: uct_rkey_t,
    ) -> ucs_status_t,
>;

/// Operation behind `uct_ep_atomic64_post`.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `opcode` (in): Operation.
/// - `value` (in): Operand.
/// - `remote_addr` (in): Address of the word in the peer's memory, aligned to its size.
/// - `rkey` (in): Key of `uct_rkey_unpack` that covers the address.
/// - returns: UCS_OK or an error: see @ref uct_ep.
pub type uct_ep_atomic64_post_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        opcode: c_uint,
        value: u64,
        remote_addr: u64,
        rkey: uct_rkey_t,
    ) -> ucs_status_t,
>;

/// Operation behind `uct_ep_atomic32_fetch`.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `opcode` (in): Operation.
/// - `value` (in): Operand.
/// - `result` (out): Gets the word that was there, when the operation ends.
/// - `remote_addr` (in): Address of the word in the peer's memory, aligned to its size.
/// - `rkey` (in): Key of `uct_rkey_unpack` that covers the address.
/// - `comp` (in): Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not
///   to be told. Alive until then.
/// - returns: UCS_OK, UCS_INPROGRESS or an error: see @ref uct_ep.
pub type uct_ep_atomic32_fetch_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        opcode: c_uint,
        value: u32,
        result: *mut u32,
        remote_addr: u64,
        rkey: uct_rkey_t,
        comp: *mut uct_completion_t,
    ) -> ucs_status_t,
>;

/// Operation behind `uct_ep_atomic64_fetch`.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `opcode` (in): Operation.
/// - `value` (in): Operand.
/// - `result` (out): Gets the word that was there, when the operation ends.
/// - `remote_addr` (in): Address of the word in the peer's memory, aligned to its size.
/// - `rkey` (in): Key of `uct_rkey_unpack` that covers the address.
/// - `comp` (in): Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not
///   to be told. Alive until then.
/// - returns: UCS_OK, UCS_INPROGRESS or an error: see @ref uct_ep.
pub type uct_ep_atomic64_fetch_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        opcode: c_uint,
        value: u64,
        result: *mut u64,
        remote_addr: u64,
        rkey: uct_rkey_t,
        comp: *mut uct_completion_t,
    ) -> ucs_status_t,
>;

/// Sends a short tagged message. The data may be reused at once.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `tag` (in): Tag that the receiver compares.
/// - `data` (in): The message.
/// - `length` (in): Bytes, at most `cap.tag.eager.max_short`.
/// - returns: UCS_OK or an error: see @ref uct_ep.
pub type uct_ep_tag_eager_short_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        tag: uct_tag_t,
        data: *const c_void,
        length: usize,
    ) -> ucs_status_t,
>;

/// Sends as a tagged message what a callback puts into a buffer of the transport.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `tag` (in): Tag that the receiver compares.
/// - `imm` (in): Number that goes along.
/// - `pack_cb` (in): Called during the call; writes at most `cap.tag.eager.max_bcopy` bytes.
/// - `arg` (in): Its argument.
/// - `flags` (in): Bits of `uct_msg_flags`.
/// - returns: Bytes that were sent, or a negative status: see @ref uct_ep.
pub type uct_ep_tag_eager_bcopy_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        tag: uct_tag_t,
        imm: u64,
        pack_cb: uct_pack_callback_t,
        arg: *mut c_void,
        flags: c_uint,
    ) -> isize,
>;

/// Sends a tagged message from registered memory, which is in use until the operation ends.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `tag` (in): Tag that the receiver compares.
/// - `imm` (in): Number that goes along.
/// - `iov` (in): Pieces of registered memory; the array is read during the call only.
/// - `iovcnt` (in): Number of pieces, at most the interface's `max_iov`.
/// - `flags` (in): Bits of `uct_msg_flags`.
/// - `comp` (in): Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not
///   to be told. Alive until then.
/// - returns: UCS_OK, UCS_INPROGRESS or an error: see @ref uct_ep.
pub type uct_ep_tag_eager_zcopy_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        tag: uct_tag_t,
        imm: u64,
        iov: *const uct_iov_t,
        iovcnt: usize,
        flags: c_uint,
        comp: *mut uct_completion_t,
    ) -> ucs_status_t,
>;

/// Offers a tagged message from registered memory; the peer fetches it when a receive matches.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `tag` (in): Tag that the receiver compares.
/// - `header` (in): Header that a handler of unexpected offers gets; copied.
/// - `header_length` (in): Its bytes.
/// - `iov` (in): Pieces of registered memory; the array is read during the call only.
/// - `iovcnt` (in): Number of pieces, at most the interface's `max_iov`.
/// - `flags` (in): Bits of `uct_msg_flags`.
/// - `comp` (in): Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not
///   to be told. Alive until then.
/// - returns: The operation, which can be cancelled, or an error as a pointer.
pub type uct_ep_tag_rndv_zcopy_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        tag: uct_tag_t,
        header: *const c_void,
        header_length: c_uint,
        iov: *const uct_iov_t,
        iovcnt: usize,
        flags: c_uint,
        comp: *mut uct_completion_t,
    ) -> ucs_status_ptr_t,
>;

/// Operation behind `uct_ep_tag_rndv_cancel`.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `op` (in): Operation of `uct_ep_tag_rndv_zcopy`, once.
/// - returns: UCS_OK or an error.
pub type uct_ep_tag_rndv_cancel_func_t =
    Option<unsafe extern "C" fn(ep: uct_ep_h, op: *mut c_void) -> ucs_status_t>;

/// Operation behind `uct_ep_tag_rndv_request`.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `tag` (in): Tag that the receiver compares.
/// - `header` (in): Header that the peer's handler gets; copied.
/// - `header_length` (in): Its bytes.
/// - `flags` (in): Bits of `uct_msg_flags`.
/// - returns: UCS_OK or an error: see @ref uct_ep.
pub type uct_ep_tag_rndv_request_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        tag: uct_tag_t,
        header: *const c_void,
        header_length: c_uint,
        flags: c_uint,
    ) -> ucs_status_t,
>;

/// Posts a receive of a tagged message into registered memory.
///
/// - `iface` (in): Interface of `uct_iface_open`, not closed yet.
/// - `tag` (in): Wanted tag.
/// - `tag_mask` (in): Bits of the tag that have to be equal.
/// - `iov` (in): Pieces of registered memory; the array is read during the call only.
/// - `iovcnt` (in): Number of pieces, at most the interface's `max_iov`.
/// - `ctx` (in): Belongs to the transport until its last callback ran or the receive was cancelled.
/// - returns: UCS_OK; UCS_ERR_EXCEEDS_LIMIT when too many are posted; another error.
pub type uct_iface_tag_recv_zcopy_func_t = Option<
    unsafe extern "C" fn(
        iface: uct_iface_h,
        tag: uct_tag_t,
        tag_mask: uct_tag_t,
        iov: *const uct_iov_t,
        iovcnt: usize,
        ctx: *mut uct_tag_context_t,
    ) -> ucs_status_t,
>;

/// Takes a posted receive back.
///
/// - `iface` (in): Interface of `uct_iface_open`, not closed yet.
/// - `ctx` (in): Context of the receive.
/// - `force` (in): Nonzero: no callback follows. 0: the completion callback follows with
///   UCS_ERR_CANCELED.
/// - returns: UCS_OK or an error.
pub type uct_iface_tag_recv_cancel_func_t = Option<
    unsafe extern "C" fn(
        iface: uct_iface_h,
        ctx: *mut uct_tag_context_t,
        force: c_int,
    ) -> ucs_status_t,
>;

/// Queues a request that is tried again when the endpoint can send. The request lives until its
/// function has returned UCS_OK or it was purged.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `req` (in): The request, whose `func` is set; belongs to the transport while it is queued.
/// - `flags` (in): Bits of `uct_cb_flags`, 0 for none.
/// - returns: UCS_OK: queued. UCS_ERR_BUSY: the endpoint can send now, try again.
pub type uct_ep_pending_add_func_t = Option<
    unsafe extern "C" fn(ep: uct_ep_h, req: *mut uct_pending_req_t, flags: c_uint) -> ucs_status_t,
>;

/// Takes all queued requests off an endpoint.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `cb` (in): Gets each request; NULL drops them.
/// - `arg` (in): Its last argument.
pub type uct_ep_pending_purge_func_t =
    Option<unsafe extern "C" fn(ep: uct_ep_h, cb: uct_pending_purge_callback_t, arg: *mut c_void)>;

/// Asks whether all operations of an endpoint are complete.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `flags` (in): Bits of `uct_flush_flags`.
/// - `comp` (in): Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not
///   to be told. Alive until then.
/// - returns: UCS_OK: complete. UCS_INPROGRESS: `comp` is counted down when they are. Or an error:
///   see @ref uct_ep.
pub type uct_ep_flush_func_t = Option<
    unsafe extern "C" fn(ep: uct_ep_h, flags: c_uint, comp: *mut uct_completion_t) -> ucs_status_t,
>;

/// Operation behind `uct_ep_fence`.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `flags` (in): 0.
/// - returns: UCS_OK or an error.
pub type uct_ep_fence_func_t =
    Option<unsafe extern "C" fn(ep: uct_ep_h, flags: c_uint) -> ucs_status_t>;

/// Checks that the peer is alive. If it is not, the error handler is called.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `flags` (in): 0.
/// - `comp` (in): NULL.
/// - returns: UCS_OK or UCS_INPROGRESS when the check was begun, or an error: see @ref uct_ep.
pub type uct_ep_check_func_t = Option<
    unsafe extern "C" fn(ep: uct_ep_h, flags: c_uint, comp: *mut uct_completion_t) -> ucs_status_t,
>;

/// Creates an endpoint: of an interface (with addresses: connected to that interface; without: to
/// be connected by `uct_ep_connect_to_ep`), or of a connection manager (as a client by `sockaddr`,
/// as a server by `conn_request`). `uct_ep_destroy` ends it.
///
/// - `params` (in): The interface or connection manager, and the peer; read during the call only.
/// - `ep_p` (out): The endpoint; written on success only.
/// - returns: UCS_OK. UCS_ERR_INVALID_PARAM without an interface or connection manager. Or the
///   error of the transport, such as UCS_ERR_UNREACHABLE.
pub type uct_ep_create_func_t = Option<
    unsafe extern "C" fn(params: *const uct_ep_params_t, ep_p: *mut uct_ep_h) -> ucs_status_t,
>;

/// Goes on with the connection of a client's endpoint of a connection manager, after its address
/// was resolved.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `params` (in): Private data for the server; copied.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED on other
///   endpoints.
pub type uct_ep_connect_func_t = Option<
    unsafe extern "C" fn(ep: uct_ep_h, params: *const uct_ep_connect_params_t) -> ucs_status_t,
>;

/// Begins to disconnect an endpoint of a connection manager. The disconnect callback follows.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `flags` (in): 0.
/// - returns: UCS_OK or UCS_INPROGRESS; UCS_ERR_UNSUPPORTED on other endpoints; the error when it
///   is not connected.
pub type uct_ep_disconnect_func_t =
    Option<unsafe extern "C" fn(ep: uct_ep_h, flags: c_uint) -> ucs_status_t>;

/// Operation behind `uct_cm_client_ep_conn_notify`.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - returns: UCS_OK or an error.
pub type uct_cm_ep_conn_notify_func_t = Option<unsafe extern "C" fn(ep: uct_ep_h) -> ucs_status_t>;

/// Operation behind `uct_ep_destroy`.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
pub type uct_ep_destroy_func_t = Option<unsafe extern "C" fn(ep: uct_ep_h)>;

/// Writes the endpoint's address, for `uct_ep_connect_to_ep` at the peer.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `addr` (out): Room for `ep_addr_len` bytes of the interface's attributes.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED for a
///   transport that connects to interfaces only.
pub type uct_ep_get_address_func_t =
    Option<unsafe extern "C" fn(ep: uct_ep_h, addr: *mut uct_ep_addr_t) -> ucs_status_t>;

/// Connects the endpoint to a peer's endpoint.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `dev_addr` (in): Device address of the peer's interface.
/// - `ep_addr` (in): Address of the peer's endpoint.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED for a
///   transport that connects to interfaces only; UCS_ERR_UNREACHABLE.
pub type uct_ep_connect_to_ep_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        dev_addr: *const uct_device_addr_t,
        ep_addr: *const uct_ep_addr_t,
    ) -> ucs_status_t,
>;

/// Accepts a request on an interface by socket address, of which there are none.
///
/// - `iface` (in): Interface of `uct_iface_open`, not closed yet.
/// - `conn_request` (in): Not read.
/// - returns: UCS_ERR_UNSUPPORTED.
pub type uct_iface_accept_func_t = Option<
    unsafe extern "C" fn(iface: uct_iface_h, conn_request: uct_conn_request_h) -> ucs_status_t,
>;

/// Rejects a request on an interface by socket address, of which there are none.
///
/// - `iface` (in): Interface of `uct_iface_open`, not closed yet.
/// - `conn_request` (in): Not read.
/// - returns: UCS_ERR_UNSUPPORTED.
pub type uct_iface_reject_func_t = Option<
    unsafe extern "C" fn(iface: uct_iface_h, conn_request: uct_conn_request_h) -> ucs_status_t,
>;

/// Asks whether all operations of all endpoints of an interface are complete.
///
/// - `iface` (in): Interface of `uct_iface_open`, not closed yet.
/// - `flags` (in): Bits of `uct_flush_flags`.
/// - `comp` (in): NULL, or counted down at the end where the transport supports that.
/// - returns: UCS_OK: complete. UCS_INPROGRESS: not yet, ask again. Or an error: see @ref uct_ep.
pub type uct_iface_flush_func_t = Option<
    unsafe extern "C" fn(
        iface: uct_iface_h,
        flags: c_uint,
        comp: *mut uct_completion_t,
    ) -> ucs_status_t,
>;

/// Operation behind `uct_iface_fence`.
///
/// - `iface` (in): Interface of `uct_iface_open`, not closed yet.
/// - `flags` (in): 0.
/// - returns: UCS_OK or an error.
pub type uct_iface_fence_func_t =
    Option<unsafe extern "C" fn(iface: uct_iface_h, flags: c_uint) -> ucs_status_t>;

/// Lets `uct_worker_progress` drive an interface.
///
/// - `iface` (in): Interface of `uct_iface_open`, not closed yet.
/// - `flags` (in): Bits of `uct_progress_types`.
pub type uct_iface_progress_enable_func_t =
    Option<unsafe extern "C" fn(iface: uct_iface_h, flags: c_uint)>;

/// Operation behind `uct_iface_progress_disable`.
///
/// - `iface` (in): Interface of `uct_iface_open`, not closed yet.
/// - `flags` (in): Bits of `uct_progress_types`.
pub type uct_iface_progress_disable_func_t =
    Option<unsafe extern "C" fn(iface: uct_iface_h, flags: c_uint)>;

/// Drives one interface.
///
/// - `iface` (in): Interface of `uct_iface_open`, not closed yet.
/// - returns: How much was done; 0 for nothing.
pub type uct_iface_progress_func_t = Option<unsafe extern "C" fn(iface: uct_iface_h) -> c_uint>;

/// Gives the descriptor that becomes readable on events: for poll(), never to be read or closed.
///
/// - `iface` (in): Interface of `uct_iface_open`, not closed yet.
/// - `fd_p` (out): The descriptor; it belongs to the interface.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED for a
///   transport without one.
pub type uct_iface_event_fd_get_func_t =
    Option<unsafe extern "C" fn(iface: uct_iface_h, fd_p: *mut c_int) -> ucs_status_t>;

/// Makes the descriptor report the next event.
///
/// - `iface` (in): Interface of `uct_iface_open`, not closed yet.
/// - `events` (in): Bits of `uct_iface_event_types`.
/// - returns: UCS_OK: the next event makes the descriptor readable. UCS_ERR_BUSY: there is
///   something to progress first. UCS_ERR_UNSUPPORTED for a transport without a descriptor.
pub type uct_iface_event_arm_func_t =
    Option<unsafe extern "C" fn(iface: uct_iface_h, events: c_uint) -> ucs_status_t>;

/// Operation behind `uct_iface_close`.
///
/// - `iface` (in): Interface of `uct_iface_open`, not closed yet.
pub type uct_iface_close_func_t = Option<unsafe extern "C" fn(iface: uct_iface_h)>;

/// Operation behind `uct_iface_query`.
///
/// - `iface` (in): Interface of `uct_iface_open`, not closed yet.
/// - `iface_attr` (out): The attributes, all members.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL.
pub type uct_iface_query_func_t = Option<
    unsafe extern "C" fn(iface: uct_iface_h, iface_attr: *mut uct_iface_attr_t) -> ucs_status_t,
>;

/// Writes the device's address, for peers.
///
/// - `iface` (in): Interface of `uct_iface_open`, not closed yet.
/// - `addr` (out): Room for `device_addr_len` bytes of the attributes; may be NULL when that is 0.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED.
pub type uct_iface_get_device_address_func_t =
    Option<unsafe extern "C" fn(iface: uct_iface_h, addr: *mut uct_device_addr_t) -> ucs_status_t>;

/// Writes the interface's address, for peers.
///
/// - `iface` (in): Interface of `uct_iface_open`, not closed yet.
/// - `addr` (out): Room for `iface_addr_len` bytes of the attributes.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED.
pub type uct_iface_get_address_func_t =
    Option<unsafe extern "C" fn(iface: uct_iface_h, addr: *mut uct_iface_addr_t) -> ucs_status_t>;

/// Tells whether an interface of a peer can be reached. Its addresses are checked for what they
/// hold.
///
/// - `iface` (in): Interface of `uct_iface_open`, not closed yet.
/// - `dev_addr` (in): Device address of the peer, as its `uct_iface_get_device_address` wrote it.
/// - `iface_addr` (in): Interface address of the peer; NULL asks for the device alone.
/// - returns: 1 or 0.
pub type uct_iface_is_reachable_func_t = Option<
    unsafe extern "C" fn(
        iface: uct_iface_h,
        dev_addr: *const uct_device_addr_t,
        iface_addr: *const uct_iface_addr_t,
    ) -> c_int,
>;

/// The operations of an interface. None is NULL: what a transport lacks answers
/// UCS_ERR_UNSUPPORTED.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface_ops {
    /// What `uct_ep_put_short` calls.
    pub ep_put_short: uct_ep_put_short_func_t,
    /// What `uct_ep_put_bcopy` calls.
    pub ep_put_bcopy: uct_ep_put_bcopy_func_t,
    /// What `uct_ep_put_zcopy` calls.
    pub ep_put_zcopy: uct_ep_put_zcopy_func_t,
    /// What `uct_ep_get_short` calls.
    pub ep_get_short: uct_ep_get_short_func_t,
    /// What `uct_ep_get_bcopy` calls.
    pub ep_get_bcopy: uct_ep_get_bcopy_func_t,
    /// What `uct_ep_get_zcopy` calls.
    pub ep_get_zcopy: uct_ep_get_zcopy_func_t,
    /// What `uct_ep_am_short` calls.
    pub ep_am_short: uct_ep_am_short_func_t,
    /// What `uct_ep_am_short_iov` calls.
    pub ep_am_short_iov: uct_ep_am_short_iov_func_t,
    /// What `uct_ep_am_bcopy` calls.
    pub ep_am_bcopy: uct_ep_am_bcopy_func_t,
    /// What `uct_ep_am_zcopy` calls.
    pub ep_am_zcopy: uct_ep_am_zcopy_func_t,
    /// What `uct_ep_atomic_cswap64` calls.
    pub ep_atomic_cswap64: uct_ep_atomic_cswap64_func_t,
    /// What `uct_ep_atomic_cswap32` calls.
    pub ep_atomic_cswap32: uct_ep_atomic_cswap32_func_t,
    /// What `uct_ep_atomic32_post` calls.
    pub ep_atomic32_post: uct_ep_atomic32_post_func_t,
    /// What `uct_ep_atomic64_post` calls.
    pub ep_atomic64_post: uct_ep_atomic64_post_func_t,
    /// What `uct_ep_atomic32_fetch` calls.
    pub ep_atomic32_fetch: uct_ep_atomic32_fetch_func_t,
    /// What `uct_ep_atomic64_fetch` calls.
    pub ep_atomic64_fetch: uct_ep_atomic64_fetch_func_t,
    /// What `uct_ep_tag_eager_short` calls.
    pub ep_tag_eager_short: uct_ep_tag_eager_short_func_t,
    /// What `uct_ep_tag_eager_bcopy` calls.
    pub ep_tag_eager_bcopy: uct_ep_tag_eager_bcopy_func_t,
    /// What `uct_ep_tag_eager_zcopy` calls.
    pub ep_tag_eager_zcopy: uct_ep_tag_eager_zcopy_func_t,
    /// What `uct_ep_tag_rndv_zcopy` calls.
    pub ep_tag_rndv_zcopy: uct_ep_tag_rndv_zcopy_func_t,
    /// What `uct_ep_tag_rndv_cancel` calls.
    pub ep_tag_rndv_cancel: uct_ep_tag_rndv_cancel_func_t,
    /// What `uct_ep_tag_rndv_request` calls.
    pub ep_tag_rndv_request: uct_ep_tag_rndv_request_func_t,
    /// What `uct_iface_tag_recv_zcopy` calls.
    pub iface_tag_recv_zcopy: uct_iface_tag_recv_zcopy_func_t,
    /// What `uct_iface_tag_recv_cancel` calls.
    pub iface_tag_recv_cancel: uct_iface_tag_recv_cancel_func_t,
    /// What `uct_ep_pending_add` calls.
    pub ep_pending_add: uct_ep_pending_add_func_t,
    /// What `uct_ep_pending_purge` calls.
    pub ep_pending_purge: uct_ep_pending_purge_func_t,
    /// What `uct_ep_flush` calls.
    pub ep_flush: uct_ep_flush_func_t,
    /// What `uct_ep_fence` calls.
    pub ep_fence: uct_ep_fence_func_t,
    /// What `uct_ep_check` calls.
    pub ep_check: uct_ep_check_func_t,
    /// What `uct_ep_create` calls.
    pub ep_create: uct_ep_create_func_t,
    /// What `uct_ep_connect` calls.
    pub ep_connect: uct_ep_connect_func_t,
    /// What `uct_ep_disconnect` calls.
    pub ep_disconnect: uct_ep_disconnect_func_t,
    /// What `uct_cm_client_ep_conn_notify` calls.
    pub cm_ep_conn_notify: uct_cm_ep_conn_notify_func_t,
    /// What `uct_ep_destroy` calls.
    pub ep_destroy: uct_ep_destroy_func_t,
    /// What `uct_ep_get_address` calls.
    pub ep_get_address: uct_ep_get_address_func_t,
    /// What `uct_ep_connect_to_ep` calls.
    pub ep_connect_to_ep: uct_ep_connect_to_ep_func_t,
    /// What `uct_iface_accept` calls.
    pub iface_accept: uct_iface_accept_func_t,
    /// What `uct_iface_reject` calls.
    pub iface_reject: uct_iface_reject_func_t,
    /// What `uct_iface_flush` calls.
    pub iface_flush: uct_iface_flush_func_t,
    /// What `uct_iface_fence` calls.
    pub iface_fence: uct_iface_fence_func_t,
    /// What `uct_iface_progress_enable` calls.
    pub iface_progress_enable: uct_iface_progress_enable_func_t,
    /// What `uct_iface_progress_disable` calls.
    pub iface_progress_disable: uct_iface_progress_disable_func_t,
    /// What `uct_iface_progress` calls.
    pub iface_progress: uct_iface_progress_func_t,
    /// What `uct_iface_event_fd_get` calls.
    pub iface_event_fd_get: uct_iface_event_fd_get_func_t,
    /// What `uct_iface_event_arm` calls.
    pub iface_event_arm: uct_iface_event_arm_func_t,
    /// What `uct_iface_close` calls.
    pub iface_close: uct_iface_close_func_t,
    /// What `uct_iface_query` calls.
    pub iface_query: uct_iface_query_func_t,
    /// What `uct_iface_get_device_address` calls.
    pub iface_get_device_address: uct_iface_get_device_address_func_t,
    /// What `uct_iface_get_address` calls.
    pub iface_get_address: uct_iface_get_address_func_t,
    /// What `uct_iface_is_reachable` calls.
    pub iface_is_reachable: uct_iface_is_reachable_func_t,
}
const _: () = {
    assert!(size_of::<uct_iface_ops>() == 400);
    assert!(offset_of!(uct_iface_ops, ep_put_short) == 0);
    assert!(offset_of!(uct_iface_ops, ep_put_bcopy) == 8);
    assert!(offset_of!(uct_iface_ops, ep_put_zcopy) == 16);
    assert!(offset_of!(uct_iface_ops, ep_get_short) == 24);
    assert!(offset_of!(uct_iface_ops, ep_get_bcopy) == 32);
    assert!(offset_of!(uct_iface_ops, ep_get_zcopy) == 40);
    assert!(offset_of!(uct_iface_ops, ep_am_short) == 48);
    assert!(offset_of!(uct_iface_ops, ep_am_short_iov) == 56);
    assert!(offset_of!(uct_iface_ops, ep_am_bcopy) == 64);
    assert!(offset_of!(uct_iface_ops, ep_am_zcopy) == 72);
    assert!(offset_of!(uct_iface_ops, ep_atomic_cswap64) == 80);
    assert!(offset_of!(uct_iface_ops, ep_atomic_cswap32) == 88);
    assert!(offset_of!(uct_iface_ops, ep_atomic32_post) == 96);
    assert!(offset_of!(uct_iface_ops, ep_atomic64_post) == 104);
    assert!(offset_of!(uct_iface_ops, ep_atomic32_fetch) == 112);
    assert!(offset_of!(uct_iface_ops, ep_atomic64_fetch) == 120);
    assert!(offset_of!(uct_iface_ops, ep_tag_eager_short) == 128);
    assert!(offset_of!(uct_iface_ops, ep_tag_eager_bcopy) == 136);
    assert!(offset_of!(uct_iface_ops, ep_tag_eager_zcopy) == 144);
    assert!(offset_of!(uct_iface_ops, ep_tag_rndv_zcopy) == 152);
    assert!(offset_of!(uct_iface_ops, ep_tag_rndv_cancel) == 160);
    assert!(offset_of!(uct_iface_ops, ep_tag_rndv_request) == 168);
    assert!(offset_of!(uct_iface_ops, iface_tag_recv_zcopy) == 176);
    assert!(offset_of!(uct_iface_ops, iface_tag_recv_cancel) == 184);
    assert!(offset_of!(uct_iface_ops, ep_pending_add) == 192);
    assert!(offset_of!(uct_iface_ops, ep_pending_purge) == 200);
    assert!(offset_of!(uct_iface_ops, ep_flush) == 208);
    assert!(offset_of!(uct_iface_ops, ep_fence) == 216);
    assert!(offset_of!(uct_iface_ops, ep_check) == 224);
    assert!(offset_of!(uct_iface_ops, ep_create) == 232);
    assert!(offset_of!(uct_iface_ops, ep_connect) == 240);
    assert!(offset_of!(uct_iface_ops, ep_disconnect) == 248);
    assert!(offset_of!(uct_iface_ops, cm_ep_conn_notify) == 256);
    assert!(offset_of!(uct_iface_ops, ep_destroy) == 264);
    assert!(offset_of!(uct_iface_ops, ep_get_address) == 272);
    assert!(offset_of!(uct_iface_ops, ep_connect_to_ep) == 280);
    assert!(offset_of!(uct_iface_ops, iface_accept) == 288);
    assert!(offset_of!(uct_iface_ops, iface_reject) == 296);
    assert!(offset_of!(uct_iface_ops, iface_flush) == 304);
    assert!(offset_of!(uct_iface_ops, iface_fence) == 312);
    assert!(offset_of!(uct_iface_ops, iface_progress_enable) == 320);
    assert!(offset_of!(uct_iface_ops, iface_progress_disable) == 328);
    assert!(offset_of!(uct_iface_ops, iface_progress) == 336);
    assert!(offset_of!(uct_iface_ops, iface_event_fd_get) == 344);
    assert!(offset_of!(uct_iface_ops, iface_event_arm) == 352);
    assert!(offset_of!(uct_iface_ops, iface_close) == 360);
    assert!(offset_of!(uct_iface_ops, iface_query) == 368);
    assert!(offset_of!(uct_iface_ops, iface_get_device_address) == 376);
    assert!(offset_of!(uct_iface_ops, iface_get_address) == 384);
    assert!(offset_of!(uct_iface_ops, iface_is_reachable) == 392);
};

pub type uct_iface_ops_t = uct_iface_ops;

/// A worker, as inline functions see it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_worker {
    /// What `uct_worker_progress` calls.
    pub progress_q: ucs_callbackq_t,
}
const _: () = {
    assert!(size_of::<uct_worker>() == 136);
    assert!(offset_of!(uct_worker, progress_q) == 0);
};

pub type uct_worker_t = uct_worker;

/// An interface, as inline functions see it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface {
    /// Its operations.
    pub ops: uct_iface_ops_t,
}
const _: () = {
    assert!(size_of::<uct_iface>() == 400);
    assert!(offset_of!(uct_iface, ops) == 0);
};

pub type uct_iface_t = uct_iface;

/// An endpoint, as inline functions see it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_ep {
    /// Its interface.
    pub iface: uct_iface_h,
}
const _: () = {
    assert!(size_of::<uct_ep>() == 8);
    assert!(offset_of!(uct_ep, iface) == 0);
};

pub type uct_ep_t = uct_ep;

/// A listener, as inline functions see it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_listener {
    /// Its connection manager.
    pub cm: uct_cm_h,
}
const _: () = {
    assert!(size_of::<uct_listener>() == 8);
    assert!(offset_of!(uct_listener, cm) == 0);
};

pub type uct_listener_t = uct_listener;

pub type uct_recv_desc_t = uct_recv_desc;

/// Releases the data at `desc`.
///
/// - `self` (in): What stands before the data.
/// - `desc` (in): The data.
pub type uct_desc_release_callback_t =
    Option<unsafe extern "C" fn(self_: *mut uct_recv_desc_t, desc: *mut c_void)>;

/// What releases data that an active message handler kept; a pointer to it stands before the data.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_recv_desc {
    /// Releases the data.
    pub cb: uct_desc_release_callback_t,
}
const _: () = {
    assert!(size_of::<uct_recv_desc>() == 8);
    assert!(offset_of!(uct_recv_desc, cb) == 0);
};
