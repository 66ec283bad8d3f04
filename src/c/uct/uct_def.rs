//! `uct/api/uct_def.h`: types and constants.

use crate::c::prelude::*;

/// Bytes of a component's name, with its NUL.
pub const UCT_COMPONENT_NAME_MAX: usize = 16;
/// Bytes of a memory domain's global id.
pub const UCT_MD_GLOBAL_ID_MAX: usize = 256;
/// Bytes of a transport's name, with its NUL.
pub const UCT_TL_NAME_MAX: usize = 10;
/// Bytes of a memory domain's name, with its NUL.
pub const UCT_MD_NAME_MAX: usize = 16;
/// Bytes of a device's name, with its NUL.
pub const UCT_DEVICE_NAME_MAX: usize = 32;
/// Bytes of a pending request that belong to the transport.
pub const UCT_PENDING_REQ_PRIV_LEN: usize = 40;
/// Bytes of a tag context that belong to the transport.
pub const UCT_TAG_PRIV_LEN: usize = 32;
/// Bits of an active message's id.
pub const UCT_AM_ID_BITS: c_uint = 5;
/// Number of ids of active messages.
pub const UCT_AM_ID_MAX: usize = 32;
/// No remote key.
pub const UCT_INVALID_RKEY: usize = usize::MAX;
/// No dmabuf descriptor.
pub const UCT_DMABUF_FD_INVALID: c_int = -1;

c_enum! {
    /// What a tracer of active messages sees.
    pub enum uct_am_trace_type: c_uint {
        /// A message that is sent.
        UCT_AM_TRACE_TYPE_SEND = 0,
        /// A message that arrived.
        UCT_AM_TRACE_TYPE_RECV = 1,
        /// A message that was thrown away before it was sent.
        UCT_AM_TRACE_TYPE_SEND_DROP = 2,
        /// A message that was thrown away when it arrived.
        UCT_AM_TRACE_TYPE_RECV_DROP = 3,
        /// Number of kinds.
        UCT_AM_TRACE_TYPE_LAST = 4,
    }
}

c_enum! {
    /// Flags of an active message or a tagged fragment that arrived.
    pub enum uct_cb_param_flags: c_uint {
        /// The data may be kept: return UCS_INPROGRESS, and release it with
        /// `uct_iface_release_desc`.
        UCT_CB_PARAM_FLAG_DESC = 1 << 0,
        /// First fragment of a tagged message.
        UCT_CB_PARAM_FLAG_FIRST = 1 << 1,
        /// Not the last fragment of a tagged message.
        UCT_CB_PARAM_FLAG_MORE = 1 << 2,
    }
}

opaque! {
    /// A family of transports that share memory registration.
    pub struct uct_component
}

/// A component, from `uct_query_components`.
pub type uct_component_h = *mut uct_component;

/// An interface: one opened transport on one device.
pub type uct_iface_h = *mut uct_iface;

opaque! {
    /// Options of an interface.
    pub struct uct_iface_config
}

pub type uct_iface_config_t = uct_iface_config;

opaque! {
    /// Options of a memory domain.
    pub struct uct_md_config
}

pub type uct_md_config_t = uct_md_config;

opaque! {
    /// Options of a connection manager.
    pub struct uct_cm_config
}

pub type uct_cm_config_t = uct_cm_config;

/// An endpoint: a way to one remote interface.
pub type uct_ep_h = *mut uct_ep;

/// A registration of memory, in a memory domain.
pub type uct_mem_h = *mut c_void;

/// Access to memory of a peer.
pub type uct_rkey_t = usize;

opaque! {
    /// A memory domain.
    pub struct uct_md
}

/// A memory domain: what memory is registered with.
pub type uct_md_h = *mut uct_md;

opaque! {
    /// Operations of a memory domain.
    pub struct uct_md_ops
}

pub type uct_md_ops_t = uct_md_ops;

/// What belongs to an unpacked remote key.
pub type uct_rkey_ctx_h = *mut c_void;

pub type uct_iface_attr_t = uct_iface_attr;

pub type uct_iface_params_t = uct_iface_params;

opaque! {
    /// What is known of an endpoint.
    pub struct uct_ep_attr
}

pub type uct_ep_attr_t = uct_ep_attr;

pub type uct_md_attr_t = uct_md_attr;

pub type uct_completion_t = uct_completion;

pub type uct_pending_req_t = uct_pending_req;

/// A worker: what drives interfaces.
pub type uct_worker_h = *mut uct_worker;

pub type uct_md_t = uct_md;

pub type uct_am_trace_type_t = uct_am_trace_type;

opaque! {
    /// Address of a device; `device_addr_len` bytes.
    pub struct uct_device_addr
}

pub type uct_device_addr_t = uct_device_addr;

opaque! {
    /// Address of an interface; `iface_addr_len` bytes.
    pub struct uct_iface_addr
}

pub type uct_iface_addr_t = uct_iface_addr;

opaque! {
    /// Address of an endpoint; `ep_addr_len` bytes.
    pub struct uct_ep_addr
}

pub type uct_ep_addr_t = uct_ep_addr;

pub type uct_ep_params_t = uct_ep_params;

pub type uct_ep_connect_params_t = uct_ep_connect_params;

pub type uct_cm_attr_t = uct_cm_attr;

opaque! {
    /// A connection manager.
    pub struct uct_cm
}

pub type uct_cm_t = uct_cm;

/// A connection manager: what connects by socket addresses.
pub type uct_cm_h = *mut uct_cm_t;

pub type uct_listener_attr_t = uct_listener_attr;

/// A socket that accepts clients.
pub type uct_listener_h = *mut uct_listener;

pub type uct_listener_params_t = uct_listener_params;

pub type uct_tag_context_t = uct_tag_context;

/// A tag: 64 bits that sender and receiver compare.
pub type uct_tag_t = u64;

/// A callback that a worker calls; UCS_CALLBACKQ_ID_NULL for none.
pub type uct_worker_cb_id_t = c_int;

/// A client that waits for a server's answer.
pub type uct_conn_request_h = *mut c_void;

/// An endpoint for device code.
pub type uct_device_ep_h = *mut uct_device_ep;

pub type uct_device_mem_elem_t = uct_device_mem_elem;

pub type uct_device_local_mem_elem_t = uct_device_local_mem_elem;

pub type uct_device_remote_tl_elem_t = uct_device_remote_tl_elem;

pub type uct_device_remote_mem_elem_t = uct_device_remote_mem_elem;

/// One piece of a zero-copy operation.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iov {
    /// Start.
    pub buffer: *mut c_void,
    /// Bytes.
    pub length: usize,
    /// Registration of the memory; UCT_MEM_HANDLE_NULL where the domain needs none.
    pub memh: uct_mem_h,
    /// Bytes from one repetition to the next; 0 for one piece.
    pub stride: usize,
    /// Repetitions.
    pub count: c_uint,
}
const _: () = {
    assert!(size_of::<uct_iov>() == 40);
    assert!(offset_of!(uct_iov, buffer) == 0);
    assert!(offset_of!(uct_iov, length) == 8);
    assert!(offset_of!(uct_iov, memh) == 16);
    assert!(offset_of!(uct_iov, stride) == 24);
    assert!(offset_of!(uct_iov, count) == 32);
};

pub type uct_iov_t = uct_iov;

c_enum! {
    /// Members of `uct_cm_ep_priv_data_pack_args`.
    pub enum uct_cm_ep_priv_data_pack_args_field: c_uint {
        /// `dev_name` is set.
        UCT_CM_EP_PRIV_DATA_PACK_ARGS_FIELD_DEVICE_NAME = 1 << 0,
    }
}

c_enum! {
    /// Members of `uct_cm_ep_resolve_args`.
    pub enum uct_cm_ep_resolve_args_field: c_uint {
        /// `dev_name` is set.
        UCT_CM_EP_RESOLVE_ARGS_FIELD_DEV_NAME = 1 << 0,
        /// `status` is set.
        UCT_CM_EP_RESOLVE_ARGS_FIELD_STATUS = 1 << 1,
    }
}

/// What a callback that packs private data is told.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_cm_ep_priv_data_pack_args {
    /// Members that are set, bits of `uct_cm_ep_priv_data_pack_args_field`.
    pub field_mask: u64,
    /// Device that will be used.
    pub dev_name: [c_char; UCT_DEVICE_NAME_MAX],
}
const _: () = {
    assert!(size_of::<uct_cm_ep_priv_data_pack_args>() == 40);
    assert!(offset_of!(uct_cm_ep_priv_data_pack_args, field_mask) == 0);
    assert!(offset_of!(uct_cm_ep_priv_data_pack_args, dev_name) == 8);
};

pub type uct_cm_ep_priv_data_pack_args_t = uct_cm_ep_priv_data_pack_args;

/// What a callback learns when a server's address was resolved.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_cm_ep_resolve_args {
    /// Members that are set, bits of `uct_cm_ep_resolve_args_field`.
    pub field_mask: u64,
    /// Device that will be used.
    pub dev_name: [c_char; UCT_DEVICE_NAME_MAX],
    /// Whether it was resolved.
    pub status: ucs_status_t,
}
const _: () = {
    assert!(size_of::<uct_cm_ep_resolve_args>() == 48);
    assert!(offset_of!(uct_cm_ep_resolve_args, field_mask) == 0);
    assert!(offset_of!(uct_cm_ep_resolve_args, dev_name) == 8);
    assert!(offset_of!(uct_cm_ep_resolve_args, status) == 40);
};

pub type uct_cm_ep_resolve_args_t = uct_cm_ep_resolve_args;

c_enum! {
    /// Members of `uct_cm_remote_data`.
    pub enum uct_cm_remote_data_field: c_uint {
        /// `dev_addr` is set.
        UCT_CM_REMOTE_DATA_FIELD_DEV_ADDR = 1 << 0,
        /// `dev_addr_length` is set.
        UCT_CM_REMOTE_DATA_FIELD_DEV_ADDR_LENGTH = 1 << 1,
        /// `conn_priv_data` is set.
        UCT_CM_REMOTE_DATA_FIELD_CONN_PRIV_DATA = 1 << 2,
        /// `conn_priv_data_length` is set.
        UCT_CM_REMOTE_DATA_FIELD_CONN_PRIV_DATA_LENGTH = 1 << 3,
    }
}

/// What the other side of a connection sent. Lives for the call of a callback.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_cm_remote_data {
    /// Members that are set, bits of `uct_cm_remote_data_field`.
    pub field_mask: u64,
    /// Address of its device.
    pub dev_addr: *const uct_device_addr_t,
    /// Bytes of that.
    pub dev_addr_length: usize,
    /// Private data.
    pub conn_priv_data: *const c_void,
    /// Bytes of that.
    pub conn_priv_data_length: usize,
}
const _: () = {
    assert!(size_of::<uct_cm_remote_data>() == 40);
    assert!(offset_of!(uct_cm_remote_data, field_mask) == 0);
    assert!(offset_of!(uct_cm_remote_data, dev_addr) == 8);
    assert!(offset_of!(uct_cm_remote_data, dev_addr_length) == 16);
    assert!(offset_of!(uct_cm_remote_data, conn_priv_data) == 24);
    assert!(offset_of!(uct_cm_remote_data, conn_priv_data_length) == 32);
};

pub type uct_cm_remote_data_t = uct_cm_remote_data;

c_enum! {
    /// Members of `uct_cm_listener_conn_request_args`.
    pub enum uct_cm_listener_conn_request_args_field: c_uint {
        /// `dev_name` is set.
        UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_DEV_NAME = 1 << 0,
        /// `conn_request` is set.
        UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_CONN_REQUEST = 1 << 1,
        /// `remote_data` is set.
        UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_REMOTE_DATA = 1 << 2,
        /// `client_address` is set.
        UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_CLIENT_ADDR = 1 << 3,
    }
}

/// What a listener's callback is told of a client.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_cm_listener_conn_request_args {
    /// Members that are set, bits of `uct_cm_listener_conn_request_args_field`.
    pub field_mask: u64,
    /// Local device.
    pub dev_name: [c_char; UCT_DEVICE_NAME_MAX],
    /// The request: for `uct_ep_create` or `uct_listener_reject`.
    pub conn_request: uct_conn_request_h,
    /// What the client sent.
    pub remote_data: *const uct_cm_remote_data_t,
    /// Its socket.
    pub client_address: ucs_sock_addr_t,
}
const _: () = {
    assert!(size_of::<uct_cm_listener_conn_request_args>() == 72);
    assert!(offset_of!(uct_cm_listener_conn_request_args, field_mask) == 0);
    assert!(offset_of!(uct_cm_listener_conn_request_args, dev_name) == 8);
    assert!(offset_of!(uct_cm_listener_conn_request_args, conn_request) == 40);
    assert!(offset_of!(uct_cm_listener_conn_request_args, remote_data) == 48);
    assert!(offset_of!(uct_cm_listener_conn_request_args, client_address) == 56);
};

pub type uct_cm_listener_conn_request_args_t = uct_cm_listener_conn_request_args;

c_enum! {
    /// Members of `uct_cm_ep_client_connect_args`.
    pub enum uct_cm_ep_client_connect_args_field: c_uint {
        /// `remote_data` is set.
        UCT_CM_EP_CLIENT_CONNECT_ARGS_FIELD_REMOTE_DATA = 1 << 0,
        /// `status` is set.
        UCT_CM_EP_CLIENT_CONNECT_ARGS_FIELD_STATUS = 1 << 1,
    }
}

/// What a client learns of the server's answer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_cm_ep_client_connect_args {
    /// Members that are set, bits of `uct_cm_ep_client_connect_args_field`.
    pub field_mask: u64,
    /// What the server sent.
    pub remote_data: *const uct_cm_remote_data_t,
    /// UCS_ERR_REJECTED: refused; UCS_ERR_UNREACHABLE, UCS_ERR_NOT_CONNECTED: nobody there.
    pub status: ucs_status_t,
}
const _: () = {
    assert!(size_of::<uct_cm_ep_client_connect_args>() == 24);
    assert!(offset_of!(uct_cm_ep_client_connect_args, field_mask) == 0);
    assert!(offset_of!(uct_cm_ep_client_connect_args, remote_data) == 8);
    assert!(offset_of!(uct_cm_ep_client_connect_args, status) == 16);
};

pub type uct_cm_ep_client_connect_args_t = uct_cm_ep_client_connect_args;

c_enum! {
    /// Members of `uct_cm_ep_server_conn_notify_args`.
    pub enum uct_cm_ep_server_conn_notify_args_field: c_uint {
        /// `status` is set.
        UCT_CM_EP_SERVER_CONN_NOTIFY_ARGS_FIELD_STATUS = 1 << 0,
    }
}

/// What a server learns of the client's last step.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_cm_ep_server_conn_notify_args {
    /// Members that are set, bits of `uct_cm_ep_server_conn_notify_args_field`.
    pub field_mask: u64,
    /// Whether the connection stands.
    pub status: ucs_status_t,
}
const _: () = {
    assert!(size_of::<uct_cm_ep_server_conn_notify_args>() == 16);
    assert!(offset_of!(uct_cm_ep_server_conn_notify_args, field_mask) == 0);
    assert!(offset_of!(uct_cm_ep_server_conn_notify_args, status) == 8);
};

pub type uct_cm_ep_server_conn_notify_args_t = uct_cm_ep_server_conn_notify_args;

/// Gets an active message.
///
/// - `arg` (in): As it was given with the handler.
/// - `data` (in): The message; valid during the call unless it is kept.
/// - `length` (in): Its bytes.
/// - `flags` (in): Bits of `uct_cb_param_flags`.
/// - returns: UCS_OK: done with `data`. UCS_INPROGRESS: kept until `uct_iface_release_desc`;
///   allowed with UCT_CB_PARAM_FLAG_DESC only.
pub type uct_am_callback_t = Option<
    unsafe extern "C" fn(
        arg: *mut c_void,
        data: *mut c_void,
        length: usize,
        flags: c_uint,
    ) -> ucs_status_t,
>;

/// Writes a line on an active message.
///
/// - `arg` (in): As it was given with the tracer.
/// - `type` (in): What happened to the message.
/// - `id` (in): Its number.
/// - `data` (in): Its bytes; valid during the call.
/// - `length` (in): Their number.
/// - `buffer` (out): Gets the line with its NUL.
/// - `max` (in): Bytes of `buffer`.
pub type uct_am_tracer_t = Option<
    unsafe extern "C" fn(
        arg: *mut c_void,
        r#type: uct_am_trace_type_t,
        id: u8,
        data: *const c_void,
        length: usize,
        buffer: *mut c_char,
        max: usize,
    ),
>;

/// Called when the count of a completion reaches 0.
///
/// - `self` (in): The completion, which may be freed here.
pub type uct_completion_callback_t = Option<unsafe extern "C" fn(self_: *mut uct_completion_t)>;

/// Tries a queued request again.
///
/// - `self` (in): The request.
/// - returns: UCS_OK: done, it leaves the queue. Anything else: it stays.
pub type uct_pending_callback_t =
    Option<unsafe extern "C" fn(self_: *mut uct_pending_req_t) -> ucs_status_t>;

/// Tells that an endpoint failed. It is to be destroyed, which may happen here.
///
/// - `arg` (in): As it was given with the interface.
/// - `ep` (in): The endpoint.
/// - `status` (in): The reason.
/// - returns: UCS_OK; the answer is not used here.
pub type uct_error_handler_t = Option<
    unsafe extern "C" fn(arg: *mut c_void, ep: uct_ep_h, status: ucs_status_t) -> ucs_status_t,
>;

/// Gets each request that is taken off a queue.
///
/// - `self` (in): The request, the caller's again.
/// - `arg` (in): As it was given to `uct_ep_pending_purge`.
pub type uct_pending_purge_callback_t =
    Option<unsafe extern "C" fn(self_: *mut uct_pending_req_t, arg: *mut c_void)>;

/// Writes the data of a message.
///
/// - `dest` (out): Buffer of the transport, as large as the operation allows.
/// - `arg` (in): As it was given to the operation.
/// - returns: Bytes that were written.
pub type uct_pack_callback_t =
    Option<unsafe extern "C" fn(dest: *mut c_void, arg: *mut c_void) -> usize>;

/// Reads data that arrived; it is gone afterwards.
///
/// - `arg` (in): As it was given to the operation.
/// - `data` (in): The bytes; valid during the call.
/// - `length` (in): Their number.
pub type uct_unpack_callback_t =
    Option<unsafe extern "C" fn(arg: *mut c_void, data: *const c_void, length: usize)>;

/// Hands over the request of a client, old style.
///
/// - `iface` (in): The interface.
/// - `arg` (in): As it was given with the interface.
/// - `conn_request` (in): The request.
/// - `conn_priv_data` (in): Data of the client; valid during the call.
/// - `length` (in): Its bytes.
pub type uct_sockaddr_conn_request_callback_t = Option<
    unsafe extern "C" fn(
        iface: uct_iface_h,
        arg: *mut c_void,
        conn_request: uct_conn_request_h,
        conn_priv_data: *const c_void,
        length: usize,
    ),
>;

/// Hands over the request of a client, which the callee has to answer.
///
/// - `listener` (in): The listener.
/// - `arg` (in): As it was given with the listener.
/// - `conn_req_args` (in): The request and what the client sent; valid during the call.
pub type uct_cm_listener_conn_request_callback_t = Option<
    unsafe extern "C" fn(
        listener: uct_listener_h,
        arg: *mut c_void,
        conn_req_args: *const uct_cm_listener_conn_request_args_t,
    ),
>;

/// Tells a server that the client finished connecting.
///
/// - `ep` (in): The server's endpoint.
/// - `arg` (in): As it was given with the endpoint.
/// - `connect_args` (in): Whether the connection stands; valid during the call.
pub type uct_cm_ep_server_conn_notify_callback_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        arg: *mut c_void,
        connect_args: *const uct_cm_ep_server_conn_notify_args_t,
    ),
>;

/// Tells a client that the server answered.
///
/// - `ep` (in): The client's endpoint.
/// - `arg` (in): As it was given with the endpoint.
/// - `connect_args` (in): The answer; valid during the call.
pub type uct_cm_ep_client_connect_callback_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        arg: *mut c_void,
        connect_args: *const uct_cm_ep_client_connect_args_t,
    ),
>;

/// Tells that the other side disconnected.
///
/// - `ep` (in): The endpoint.
/// - `arg` (in): As it was given with the endpoint.
pub type uct_ep_disconnect_cb_t = Option<unsafe extern "C" fn(ep: uct_ep_h, arg: *mut c_void)>;

/// Writes private data for the other side.
///
/// - `arg` (in): As it was given with the endpoint.
/// - `pack_args` (in): The device; valid during the call.
/// - `priv_data` (out): Room for `max_conn_priv` bytes of the connection manager's attributes.
/// - returns: Bytes that were written, or a negative status, which ends the connection.
pub type uct_cm_ep_priv_data_pack_callback_t = Option<
    unsafe extern "C" fn(
        arg: *mut c_void,
        pack_args: *const uct_cm_ep_priv_data_pack_args_t,
        priv_data: *mut c_void,
    ) -> isize,
>;

/// Tells that a server's address was resolved.
///
/// - `user_data` (in): As it was given with the endpoint.
/// - `resolve_args` (in): Device and status; valid during the call.
/// - returns: UCS_OK, or an error, which ends the connection.
pub type uct_cm_ep_resolve_callback_t = Option<
    unsafe extern "C" fn(
        user_data: *mut c_void,
        resolve_args: *const uct_cm_ep_resolve_args_t,
    ) -> ucs_status_t,
>;

/// Gets a tagged message, or a fragment of one, that no receive waits for.
///
/// - `arg` (in): As it was given with the interface.
/// - `data` (in): The bytes; valid during the call unless they are kept.
/// - `length` (in): Their number.
/// - `flags` (in): Bits of `uct_cb_param_flags`.
/// - `stag` (in): Tag of the sender.
/// - `imm` (in): Number that the sender gave.
/// - `context` (in,out): A word for the fragments of one message, the same for each.
/// - returns: UCS_OK: done with `data`. UCS_INPROGRESS: kept until `uct_iface_release_desc`;
///   allowed with UCT_CB_PARAM_FLAG_DESC only.
pub type uct_tag_unexp_eager_cb_t = Option<
    unsafe extern "C" fn(
        arg: *mut c_void,
        data: *mut c_void,
        length: usize,
        flags: c_uint,
        stag: uct_tag_t,
        imm: u64,
        context: *mut *mut c_void,
    ) -> ucs_status_t,
>;

/// Gets the offer of a tagged message that no receive waits for.
///
/// - `arg` (in): As it was given with the interface.
/// - `flags` (in): Bits of `uct_cb_param_flags`.
/// - `stag` (in): Tag of the sender.
/// - `header` (in): Header of the sender; valid during the call unless it is kept.
/// - `header_length` (in): Its bytes.
/// - `remote_addr` (in): Address of the message in the sender's memory; 0 when only software can
///   move it.
/// - `length` (in): Bytes of the message.
/// - `rkey_buf` (in): Packed key to it; NULL when there is none.
/// - returns: UCS_OK: done with `header`. UCS_INPROGRESS: kept until `uct_iface_release_desc`;
///   allowed with UCT_CB_PARAM_FLAG_DESC only.
pub type uct_tag_unexp_rndv_cb_t = Option<
    unsafe extern "C" fn(
        arg: *mut c_void,
        flags: c_uint,
        stag: u64,
        header: *const c_void,
        header_length: c_uint,
        remote_addr: u64,
        length: usize,
        rkey_buf: *const c_void,
    ) -> ucs_status_t,
>;

/// Tells of events without a call of the worker. Called by another thread.
///
/// - `arg` (in): As it was given with the interface.
/// - `flags` (in): Bits of `uct_iface_event_types`.
pub type uct_async_event_cb_t = Option<unsafe extern "C" fn(arg: *mut c_void, flags: c_uint)>;
