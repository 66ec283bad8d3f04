//! `ucp/api/ucp_def.h`: types and constants.

use crate::c::prelude::*;

/// No remote address.
pub const UCP_REMOTE_ADDR_INVALID: u64 = u64::MAX;
/// Bytes of a name of a context, a worker or an endpoint, with its NUL.
pub const UCP_ENTITY_NAME_MAX: usize = 32;

pub type ucp_tag_recv_info_t = ucp_tag_recv_info;

pub type ucp_am_recv_param_t = ucp_am_recv_param;

opaque! {
    /// The library as one application uses it.
    pub struct ucp_context
}

/// A context; `ucp_init` makes it, `ucp_cleanup` frees it.
pub type ucp_context_h = *mut ucp_context;

opaque! {
    /// Options read by `ucp_config_read`.
    pub struct ucp_config
}

pub type ucp_config_t = ucp_config;

opaque! {
    /// A connection to one remote worker.
    pub struct ucp_ep
}

/// An endpoint; it belongs to the worker that made it.
pub type ucp_ep_h = *mut ucp_ep;

opaque! {
    /// A client that waits for a server's answer.
    pub struct ucp_conn_request
}

/// A connection request: to be accepted by `ucp_ep_create` or refused by `ucp_listener_reject`,
/// once.
pub type ucp_conn_request_h = *mut ucp_conn_request;

opaque! {
    /// An address of a worker, in a format of the library. It holds its own length.
    pub struct ucp_address
}

pub type ucp_address_t = ucp_address;

c_enum! {
    /// What an endpoint promises when its peer fails.
    pub enum ucp_err_handling_mode_t: c_uint {
        /// Nothing: operations may hang.
        UCP_ERR_HANDLING_MODE_NONE = 0,
        /// Operations fail, and the error handler is called.
        UCP_ERR_HANDLING_MODE_PEER = 1,
        /// The same, after other paths to the peer were tried.
        UCP_ERR_HANDLING_MODE_FAILOVER = 2,
    }
}

opaque! {
    /// Access to memory of a peer.
    pub struct ucp_rkey
}

/// A remote key; `ucp_rkey_destroy` frees it.
pub type ucp_rkey_h = *mut ucp_rkey;

opaque! {
    /// Memory known to the library.
    pub struct ucp_mem
}

/// A memory handle of `ucp_mem_map`; `ucp_mem_unmap` frees it.
pub type ucp_mem_h = *mut ucp_mem;

opaque! {
    /// A socket that accepts clients.
    pub struct ucp_listener
}

/// A listener; `ucp_listener_destroy` frees it.
pub type ucp_listener_h = *mut ucp_listener;

/// What `ucp_mem_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_mem_attr {
    /// In: members to fill, bits of `ucp_mem_attr_field`.
    pub field_mask: u64,
    /// Start of the memory.
    pub address: *mut c_void,
    /// Bytes.
    pub length: usize,
    /// Kind of the memory.
    pub mem_type: ucs_memory_type_t,
}
const _: () = {
    assert!(size_of::<ucp_mem_attr>() == 32);
    assert!(offset_of!(ucp_mem_attr, field_mask) == 0);
    assert!(offset_of!(ucp_mem_attr, address) == 8);
    assert!(offset_of!(ucp_mem_attr, length) == 16);
    assert!(offset_of!(ucp_mem_attr, mem_type) == 24);
};

pub type ucp_mem_attr_t = ucp_mem_attr;

c_enum! {
    /// Members of `ucp_mem_attr`.
    pub enum ucp_mem_attr_field: c_uint {
        /// `address` is wanted.
        UCP_MEM_ATTR_FIELD_ADDRESS = 1 << 0,
        /// `length` is wanted.
        UCP_MEM_ATTR_FIELD_LENGTH = 1 << 1,
        /// `mem_type` is wanted.
        UCP_MEM_ATTR_FIELD_MEM_TYPE = 1 << 2,
    }
}

opaque! {
    /// An engine that moves messages, with its own set of connections.
    pub struct ucp_worker
}

/// A worker; `ucp_worker_destroy` frees it.
pub type ucp_worker_h = *mut ucp_worker;

/// A tag: 64 bits that sender and receiver compare.
pub type ucp_tag_t = u64;

opaque! {
    /// A message that arrived and waits for its receive.
    pub struct ucp_recv_desc
}

/// A message taken by a probe; `ucp_tag_msg_recv_nbx` receives it.
pub type ucp_tag_message_h = *mut ucp_recv_desc;

/// How a buffer is laid out: one of `ucp_dt_make_contig`, `ucp_dt_make_iov`, `ucp_dt_make_sgl`, or
/// a result of `ucp_dt_create_generic`. The three low bits are the class.
pub type ucp_datatype_t = u64;

/// Prepares the caller's part of a new request; once in the life of its memory, not for each
/// operation.
///
/// - `request` (in): The caller's `request_size` bytes of the request.
pub type ucp_request_init_callback_t = Option<unsafe extern "C" fn(request: *mut c_void)>;

/// Undoes what the init callback did, before the memory goes.
///
/// - `request` (in): The caller's `request_size` bytes of the request.
pub type ucp_request_cleanup_callback_t = Option<unsafe extern "C" fn(request: *mut c_void)>;

/// Tells the end of an old-style send.
///
/// - `request` (in): The request; `ucp_request_free` may be called here.
/// - `status` (in): UCS_OK or an error.
pub type ucp_send_callback_t =
    Option<unsafe extern "C" fn(request: *mut c_void, status: ucs_status_t)>;

/// Tells the end of a send or of another operation without result.
///
/// - `request` (in): The request; `ucp_request_free` may be called here.
/// - `status` (in): UCS_OK or an error.
/// - `user_data` (in): As it was given in the parameters.
pub type ucp_send_nbx_callback_t = Option<
    unsafe extern "C" fn(request: *mut c_void, status: ucs_status_t, user_data: *mut c_void),
>;

/// Tells that the peer of an endpoint failed. The endpoint is to be closed, which may happen here.
///
/// - `arg` (in): As it was given with the handler, or the endpoint's user data.
/// - `ep` (in): The endpoint, already failed.
/// - `status` (in): The reason, such as UCS_ERR_CONNECTION_RESET or UCS_ERR_ENDPOINT_TIMEOUT.
pub type ucp_err_handler_cb_t =
    Option<unsafe extern "C" fn(arg: *mut c_void, ep: ucp_ep_h, status: ucs_status_t)>;

/// An error handler and its argument.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_err_handler {
    /// The handler.
    pub cb: ucp_err_handler_cb_t,
    /// Its first argument; the endpoint's `user_data` where that is given.
    pub arg: *mut c_void,
}
const _: () = {
    assert!(size_of::<ucp_err_handler>() == 16);
    assert!(offset_of!(ucp_err_handler, cb) == 0);
    assert!(offset_of!(ucp_err_handler, arg) == 8);
};

pub type ucp_err_handler_t = ucp_err_handler;

/// Hands over the endpoint of a new client.
///
/// - `ep` (in): Endpoint to the client; the callee's to close.
/// - `arg` (in): As it was given with the handler.
pub type ucp_listener_accept_callback_t =
    Option<unsafe extern "C" fn(ep: ucp_ep_h, arg: *mut c_void)>;

/// Hands over the request of a new client, which the callee has to answer.
///
/// - `conn_request` (in): To be passed to `ucp_ep_create` or `ucp_listener_reject`, here or later.
/// - `arg` (in): As it was given with the handler.
pub type ucp_listener_conn_callback_t =
    Option<unsafe extern "C" fn(conn_request: ucp_conn_request_h, arg: *mut c_void)>;

/// A handler of new clients and its argument.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_listener_conn_handler {
    /// The handler.
    pub cb: ucp_listener_conn_callback_t,
    /// Its last argument.
    pub arg: *mut c_void,
}
const _: () = {
    assert!(size_of::<ucp_listener_conn_handler>() == 16);
    assert!(offset_of!(ucp_listener_conn_handler, cb) == 0);
    assert!(offset_of!(ucp_listener_conn_handler, arg) == 8);
};

pub type ucp_listener_conn_handler_t = ucp_listener_conn_handler;

/// Tells the end of an old-style stream receive, with the bytes received.
///
/// - `request` (in): The request; `ucp_request_free` may be called here.
/// - `status` (in): UCS_OK or an error.
/// - `length` (in): Bytes received.
pub type ucp_stream_recv_callback_t =
    Option<unsafe extern "C" fn(request: *mut c_void, status: ucs_status_t, length: usize)>;

/// Tells the end of a stream receive, with the bytes received.
///
/// - `request` (in): The request; `ucp_request_free` may be called here.
/// - `status` (in): UCS_OK or an error.
/// - `length` (in): Bytes received.
/// - `user_data` (in): As it was given in the parameters.
pub type ucp_stream_recv_nbx_callback_t = Option<
    unsafe extern "C" fn(
        request: *mut c_void,
        status: ucs_status_t,
        length: usize,
        user_data: *mut c_void,
    ),
>;

/// Tells the end of an old-style tagged receive. `info` lives for the call.
///
/// - `request` (in): The request; `ucp_request_free` may be called here.
/// - `status` (in): UCS_OK or an error.
/// - `info` (in): Tag and bytes of the message; valid during the call.
pub type ucp_tag_recv_callback_t = Option<
    unsafe extern "C" fn(
        request: *mut c_void,
        status: ucs_status_t,
        info: *mut ucp_tag_recv_info_t,
    ),
>;

/// Tells the end of a tagged receive. `tag_info` lives for the call.
///
/// - `request` (in): The request; `ucp_request_free` may be called here.
/// - `status` (in): UCS_OK or an error.
/// - `tag_info` (in): Tag and bytes of the message; valid during the call.
/// - `user_data` (in): As it was given in the parameters.
pub type ucp_tag_recv_nbx_callback_t = Option<
    unsafe extern "C" fn(
        request: *mut c_void,
        status: ucs_status_t,
        tag_info: *const ucp_tag_recv_info_t,
        user_data: *mut c_void,
    ),
>;

/// Tells the end of the fetch of an active message's data, with the bytes received.
///
/// - `request` (in): The request; `ucp_request_free` may be called here.
/// - `status` (in): UCS_OK or an error.
/// - `length` (in): Bytes received.
/// - `user_data` (in): As it was given in the parameters.
pub type ucp_am_recv_data_nbx_callback_t = Option<
    unsafe extern "C" fn(
        request: *mut c_void,
        status: ucs_status_t,
        length: usize,
        user_data: *mut c_void,
    ),
>;

c_enum! {
    /// Events that a worker's descriptor reports.
    pub enum ucp_wakeup_event_types: c_uint {
        /// Remote memory access.
        UCP_WAKEUP_RMA = 1 << 0,
        /// Atomics.
        UCP_WAKEUP_AMO = 1 << 1,
        /// Tagged sends that end.
        UCP_WAKEUP_TAG_SEND = 1 << 2,
        /// Tagged receives that end.
        UCP_WAKEUP_TAG_RECV = 1 << 3,
        /// Anything that is sent.
        UCP_WAKEUP_TX = 1 << 10,
        /// Anything that arrives.
        UCP_WAKEUP_RX = 1 << 11,
        /// Report an event once, not for as long as it is unread.
        UCP_WAKEUP_EDGE = 1 << 16,
    }
}

pub type ucp_wakeup_event_t = ucp_wakeup_event_types;

/// Gets an old-style active message.
///
/// - `arg` (in): As it was given with the handler.
/// - `data` (in): The message; valid during the call unless it is kept.
/// - `length` (in): Its bytes.
/// - `reply_ep` (in): Endpoint to the sender; NULL if the sender did not ask for it.
/// - `flags` (in): Bits of `ucp_cb_param_flags`.
/// - returns: UCS_OK: done with `data`. UCS_INPROGRESS: kept until `ucp_am_data_release`; allowed
///   with UCP_CB_PARAM_FLAG_DATA only.
pub type ucp_am_callback_t = Option<
    unsafe extern "C" fn(
        arg: *mut c_void,
        data: *mut c_void,
        length: usize,
        reply_ep: ucp_ep_h,
        flags: c_uint,
    ) -> ucs_status_t,
>;

/// Gets an active message.
///
/// - `arg` (in): As it was given with the handler.
/// - `header` (in): Header of the sender; valid during the call.
/// - `header_length` (in): Its bytes.
/// - `data` (in): The message, or with UCP_AM_RECV_ATTR_FLAG_RNDV a descriptor that
///   `ucp_am_recv_data_nbx` fetches it with; valid during the call unless it is kept.
/// - `length` (in): Bytes of the message.
/// - `param` (in): Which of the two, and the endpoint to the sender; valid during the call.
/// - returns: UCS_OK: done. UCS_INPROGRESS: `data` is kept until `ucp_am_recv_data_nbx` or
///   `ucp_am_data_release`; allowed with UCP_AM_RECV_ATTR_FLAG_DATA or _RNDV only.
pub type ucp_am_recv_callback_t = Option<
    unsafe extern "C" fn(
        arg: *mut c_void,
        header: *const c_void,
        header_length: usize,
        data: *mut c_void,
        length: usize,
        param: *const ucp_am_recv_param_t,
    ) -> ucs_status_t,
>;

/// How `ucp_ep_create` connects: to a worker's address, to a server's socket, or to a waiting
/// client.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_ep_params {
    /// Members that are set, bits of `ucp_ep_params_field`.
    pub field_mask: u64,
    /// Address of the remote worker.
    pub address: *const ucp_address_t,
    /// What happens when the peer fails; UCP_ERR_HANDLING_MODE_NONE when not set.
    pub err_mode: ucp_err_handling_mode_t,
    /// Called when the peer failed.
    pub err_handler: ucp_err_handler_t,
    /// Passed to the error handler.
    pub user_data: *mut c_void,
    /// Bits of `ucp_ep_params_flags_field`.
    pub flags: c_uint,
    /// Socket of a server; needs UCP_EP_PARAMS_FLAGS_CLIENT_SERVER.
    pub sockaddr: ucs_sock_addr_t,
    /// A waiting client, from a listener of the same worker.
    pub conn_request: ucp_conn_request_h,
    /// Name for messages; NUL-terminated, copied.
    pub name: *const c_char,
    /// Socket to bind before connecting.
    pub local_sockaddr: ucs_sock_addr_t,
}
const _: () = {
    assert!(size_of::<ucp_ep_params>() == 104);
    assert!(offset_of!(ucp_ep_params, field_mask) == 0);
    assert!(offset_of!(ucp_ep_params, address) == 8);
    assert!(offset_of!(ucp_ep_params, err_mode) == 16);
    assert!(offset_of!(ucp_ep_params, err_handler) == 24);
    assert!(offset_of!(ucp_ep_params, user_data) == 40);
    assert!(offset_of!(ucp_ep_params, flags) == 48);
    assert!(offset_of!(ucp_ep_params, sockaddr) == 56);
    assert!(offset_of!(ucp_ep_params, conn_request) == 72);
    assert!(offset_of!(ucp_ep_params, name) == 80);
    assert!(offset_of!(ucp_ep_params, local_sockaddr) == 88);
};

pub type ucp_ep_params_t = ucp_ep_params;

/// One transport of an endpoint.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_transport_entry_t {
    /// Name of the transport; lives as long as the endpoint.
    pub transport_name: *const c_char,
    /// Name of its device; lives as long as the endpoint.
    pub device_name: *const c_char,
}
const _: () = {
    assert!(size_of::<ucp_transport_entry_t>() == 16);
    assert!(offset_of!(ucp_transport_entry_t, transport_name) == 0);
    assert!(offset_of!(ucp_transport_entry_t, device_name) == 8);
};

/// A list, in memory of the caller, that `ucp_ep_query` fills.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_transports_t {
    /// The entries.
    pub entries: *mut ucp_transport_entry_t,
    /// In: entries that fit; out: entries that were filled.
    pub num_entries: c_uint,
    /// In: bytes of one entry, as the caller was compiled with.
    pub entry_size: usize,
}
const _: () = {
    assert!(size_of::<ucp_transports_t>() == 24);
    assert!(offset_of!(ucp_transports_t, entries) == 0);
    assert!(offset_of!(ucp_transports_t, num_entries) == 8);
    assert!(offset_of!(ucp_transports_t, entry_size) == 16);
};

opaque! {
    /// Memory of this process for device code.
    pub struct ucp_device_local_mem_list
}

/// A list of local memory.
pub type ucp_device_local_mem_list_h = *mut ucp_device_local_mem_list;

opaque! {
    /// Memory of peers for device code.
    pub struct ucp_device_remote_mem_list
}

/// A list of remote memory.
pub type ucp_device_remote_mem_list_h = *mut ucp_device_remote_mem_list;
