//! `ucp/api/ucp.h`: types and constants.

use crate::c::prelude::*;

c_enum! {
    /// Members of `ucp_params`.
    pub enum ucp_params_field: c_uint {
        UCP_PARAM_FIELD_FEATURES = 1 << 0,
        UCP_PARAM_FIELD_REQUEST_SIZE = 1 << 1,
        UCP_PARAM_FIELD_REQUEST_INIT = 1 << 2,
        UCP_PARAM_FIELD_REQUEST_CLEANUP = 1 << 3,
        UCP_PARAM_FIELD_TAG_SENDER_MASK = 1 << 4,
        UCP_PARAM_FIELD_MT_WORKERS_SHARED = 1 << 5,
        UCP_PARAM_FIELD_ESTIMATED_NUM_EPS = 1 << 6,
        UCP_PARAM_FIELD_ESTIMATED_NUM_PPN = 1 << 7,
        UCP_PARAM_FIELD_NAME = 1 << 8,
        UCP_PARAM_FIELD_NODE_LOCAL_ID = 1 << 9,
    }
}

c_enum! {
    /// What a context is for; a worker refuses operations that were not asked for.
    pub enum ucp_feature: c_uint {
        /// Tagged messages.
        UCP_FEATURE_TAG = 1 << 0,
        /// Access to remote memory.
        UCP_FEATURE_RMA = 1 << 1,
        /// Atomics of 4 bytes.
        UCP_FEATURE_AMO32 = 1 << 2,
        /// Atomics of 8 bytes.
        UCP_FEATURE_AMO64 = 1 << 3,
        /// Waiting without polling.
        UCP_FEATURE_WAKEUP = 1 << 4,
        /// Byte streams.
        UCP_FEATURE_STREAM = 1 << 5,
        /// Active messages.
        UCP_FEATURE_AM = 1 << 6,
        /// Memory handles that another process uses.
        UCP_FEATURE_EXPORTED_MEMH = 1 << 7,
        /// Calls from device code.
        UCP_FEATURE_DEVICE = 1 << 8,
    }
}

c_enum! {
    /// Members of `ucp_worker_params`.
    pub enum ucp_worker_params_field: c_uint {
        UCP_WORKER_PARAM_FIELD_THREAD_MODE = 1 << 0,
        UCP_WORKER_PARAM_FIELD_CPU_MASK = 1 << 1,
        UCP_WORKER_PARAM_FIELD_EVENTS = 1 << 2,
        UCP_WORKER_PARAM_FIELD_USER_DATA = 1 << 3,
        UCP_WORKER_PARAM_FIELD_EVENT_FD = 1 << 4,
        UCP_WORKER_PARAM_FIELD_FLAGS = 1 << 5,
        UCP_WORKER_PARAM_FIELD_NAME = 1 << 6,
        UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT = 1 << 7,
        UCP_WORKER_PARAM_FIELD_CLIENT_ID = 1 << 8,
    }
}

c_enum! {
    /// Flags of a worker.
    pub enum ucp_worker_flags_t: c_uint {
        /// Do not complain of requests that were never freed.
        UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK = 1 << 0,
    }
}

c_enum! {
    /// Members of `ucp_listener_params`.
    pub enum ucp_listener_params_field: c_uint {
        UCP_LISTENER_PARAM_FIELD_SOCK_ADDR = 1 << 0,
        UCP_LISTENER_PARAM_FIELD_ACCEPT_HANDLER = 1 << 1,
        UCP_LISTENER_PARAM_FIELD_CONN_HANDLER = 1 << 2,
    }
}

c_enum! {
    /// What an address of a worker shall hold.
    pub enum ucp_worker_address_flags_t: c_uint {
        /// Only transports that reach other machines.
        UCP_WORKER_ADDRESS_FLAG_NET_ONLY = 1 << 0,
    }
}

c_enum! {
    /// Members of `ucp_ep_params`.
    pub enum ucp_ep_params_field: c_uint {
        UCP_EP_PARAM_FIELD_REMOTE_ADDRESS = 1 << 0,
        UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE = 1 << 1,
        UCP_EP_PARAM_FIELD_ERR_HANDLER = 1 << 2,
        UCP_EP_PARAM_FIELD_USER_DATA = 1 << 3,
        UCP_EP_PARAM_FIELD_SOCK_ADDR = 1 << 4,
        UCP_EP_PARAM_FIELD_FLAGS = 1 << 5,
        UCP_EP_PARAM_FIELD_CONN_REQUEST = 1 << 6,
        UCP_EP_PARAM_FIELD_NAME = 1 << 7,
        UCP_EP_PARAM_FIELD_LOCAL_SOCK_ADDR = 1 << 8,
    }
}

c_enum! {
    /// Flags of an endpoint's creation.
    pub enum ucp_ep_params_flags_field: c_uint {
        /// Connect to a listener's socket.
        UCP_EP_PARAMS_FLAGS_CLIENT_SERVER = 1 << 0,
        /// Do not pair an endpoint to its own worker with itself.
        UCP_EP_PARAMS_FLAGS_NO_LOOPBACK = 1 << 1,
        /// Send the worker's `client_id` to the server.
        UCP_EP_PARAMS_FLAGS_SEND_CLIENT_ID = 1 << 2,
    }
}

c_enum! {
    /// Flags of `ucp_ep_close_nbx`.
    pub enum ucp_ep_close_flags_t: c_uint {
        /// Do not flush: operations under way end with an error. Needs error handling mode PEER on
        /// both sides.
        UCP_EP_CLOSE_FLAG_FORCE = 1 << 0,
    }
}

c_enum! {
    /// Members of `ucp_ep_evaluate_perf_param_t`.
    pub enum ucp_ep_perf_param_field: c_uint {
        UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE = 1 << 0,
    }
}

pub type ucp_ep_perf_param_field_t = ucp_ep_perf_param_field;

c_enum! {
    /// Members of `ucp_ep_evaluate_perf_attr_t`.
    pub enum ucp_ep_perf_attr_field: c_uint {
        UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME = 1 << 0,
    }
}

pub type ucp_ep_perf_attr_field_t = ucp_ep_perf_attr_field;

c_enum! {
    /// Members of `ucp_mem_map_params`.
    pub enum ucp_mem_map_params_field: c_uint {
        UCP_MEM_MAP_PARAM_FIELD_ADDRESS = 1 << 0,
        UCP_MEM_MAP_PARAM_FIELD_LENGTH = 1 << 1,
        UCP_MEM_MAP_PARAM_FIELD_FLAGS = 1 << 2,
        UCP_MEM_MAP_PARAM_FIELD_PROT = 1 << 3,
        UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE = 1 << 4,
        UCP_MEM_MAP_PARAM_FIELD_EXPORTED_MEMH_BUFFER = 1 << 5,
    }
}

c_enum! {
    /// Members of `ucp_mem_advise_params`.
    pub enum ucp_mem_advise_params_field: c_uint {
        UCP_MEM_ADVISE_PARAM_FIELD_ADDRESS = 1 << 0,
        UCP_MEM_ADVISE_PARAM_FIELD_LENGTH = 1 << 1,
        UCP_MEM_ADVISE_PARAM_FIELD_ADVICE = 1 << 2,
    }
}

c_enum! {
    /// Members of `ucp_lib_attr`.
    pub enum ucp_lib_attr_field: c_uint {
        UCP_LIB_ATTR_FIELD_MAX_THREAD_LEVEL = 1 << 0,
    }
}

c_enum! {
    /// Members of `ucp_context_attr`.
    pub enum ucp_context_attr_field: c_uint {
        UCP_ATTR_FIELD_REQUEST_SIZE = 1 << 0,
        UCP_ATTR_FIELD_THREAD_MODE = 1 << 1,
        UCP_ATTR_FIELD_MEMORY_TYPES = 1 << 2,
        UCP_ATTR_FIELD_NAME = 1 << 3,
        UCP_ATTR_FIELD_DEVICE_COUNTER_SIZE = 1 << 4,
    }
}

c_enum! {
    /// Members of `ucp_worker_attr`.
    pub enum ucp_worker_attr_field: c_uint {
        UCP_WORKER_ATTR_FIELD_THREAD_MODE = 1 << 0,
        UCP_WORKER_ATTR_FIELD_ADDRESS = 1 << 1,
        UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS = 1 << 2,
        UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER = 1 << 3,
        UCP_WORKER_ATTR_FIELD_NAME = 1 << 4,
        UCP_WORKER_ATTR_FIELD_MAX_INFO_STRING = 1 << 5,
    }
}

c_enum! {
    /// Members of `ucp_worker_address_attr`.
    pub enum ucp_worker_address_attr_field: c_uint {
        UCP_WORKER_ADDRESS_ATTR_FIELD_UID = 1 << 0,
    }
}

c_enum! {
    /// Members of `ucp_listener_attr`.
    pub enum ucp_listener_attr_field: c_uint {
        UCP_LISTENER_ATTR_FIELD_SOCKADDR = 1 << 0,
    }
}

c_enum! {
    /// Members of `ucp_conn_request_attr`.
    pub enum ucp_conn_request_attr_field: c_uint {
        UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ADDR = 1 << 0,
        UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ID = 1 << 1,
    }
}

c_enum! {
    /// Classes of datatypes, the low bits of a `ucp_datatype_t`.
    pub enum ucp_dt_type: c_uint {
        /// One piece; the other bits are the size of an element.
        UCP_DATATYPE_CONTIG = 0,
        /// Reserved.
        UCP_DATATYPE_STRIDED = 1,
        /// A `ucp_dt_iov_t` array.
        UCP_DATATYPE_IOV = 2,
        /// Lists of addresses: `ucp_dt_local_sgl_t`, and `ucp_dt_remote_sgl_t` for the other side.
        UCP_DATATYPE_SGL = 4,
        /// Packed and unpacked by the caller's functions.
        UCP_DATATYPE_GENERIC = 7,
        /// Bits of the class.
        UCP_DATATYPE_SHIFT = 3,
        /// Mask of the class.
        UCP_DATATYPE_CLASS_MASK = 7,
    }
}

c_enum! {
    /// Members of `ucp_datatype_attr`.
    pub enum ucp_datatype_attr_field: c_uint {
        UCP_DATATYPE_ATTR_FIELD_PACKED_SIZE = 1 << 0,
        UCP_DATATYPE_ATTR_FIELD_BUFFER = 1 << 1,
        UCP_DATATYPE_ATTR_FIELD_COUNT = 1 << 2,
    }
}

c_enum! {
    /// Flags of an active message's handler.
    pub enum ucp_am_cb_flags: c_uint {
        /// Call it with whole messages only.
        UCP_AM_FLAG_WHOLE_MSG = 1 << 0,
        /// It wants to keep the data: the library hands it over where it can.
        UCP_AM_FLAG_PERSISTENT_DATA = 1 << 1,
    }
}

c_enum! {
    /// Flags of an active message's send.
    pub enum ucp_send_am_flags: c_uint {
        /// Let the handler reply: it gets an endpoint.
        UCP_AM_SEND_FLAG_REPLY = 1 << 0,
        /// Send the data with the message, whatever its size.
        UCP_AM_SEND_FLAG_EAGER = 1 << 1,
        /// Announce the data; the peer fetches it.
        UCP_AM_SEND_FLAG_RNDV = 1 << 2,
        /// Copy the header, so that the caller's memory is free at once.
        UCP_AM_SEND_FLAG_COPY_HEADER = 1 << 3,
        /// Old name of UCP_AM_SEND_FLAG_REPLY.
        UCP_AM_SEND_REPLY = 1,
    }
}

c_enum! {
    /// Flags that an old-style handler gets.
    pub enum ucp_cb_param_flags: c_uint {
        /// The data may be kept.
        UCP_CB_PARAM_FLAG_DATA = 1 << 0,
    }
}

c_enum! {
    /// Operations of `ucp_atomic_op_nbx`.
    pub enum ucp_atomic_op_t: c_uint {
        /// Add.
        UCP_ATOMIC_OP_ADD = 0,
        /// Exchange.
        UCP_ATOMIC_OP_SWAP = 1,
        /// Exchange, if the value there is the one expected.
        UCP_ATOMIC_OP_CSWAP = 2,
        /// Bitwise and.
        UCP_ATOMIC_OP_AND = 3,
        /// Bitwise or.
        UCP_ATOMIC_OP_OR = 4,
        /// Bitwise exclusive or.
        UCP_ATOMIC_OP_XOR = 5,
        /// Number of operations.
        UCP_ATOMIC_OP_LAST = 6,
    }
}

c_enum! {
    /// Flags of a stream receive.
    pub enum ucp_stream_recv_flags_t: c_uint {
        /// Wait until the buffer is full.
        UCP_STREAM_RECV_FLAG_WAITALL = 1 << 0,
    }
}

c_enum! {
    /// Members of `ucp_request_param_t`, and flags of an operation.
    pub enum ucp_op_attr_t: c_uint {
        UCP_OP_ATTR_FIELD_REQUEST = 1 << 0,
        UCP_OP_ATTR_FIELD_CALLBACK = 1 << 1,
        UCP_OP_ATTR_FIELD_USER_DATA = 1 << 2,
        UCP_OP_ATTR_FIELD_DATATYPE = 1 << 3,
        UCP_OP_ATTR_FIELD_FLAGS = 1 << 4,
        UCP_OP_ATTR_FIELD_REPLY_BUFFER = 1 << 5,
        UCP_OP_ATTR_FIELD_MEMORY_TYPE = 1 << 6,
        UCP_OP_ATTR_FIELD_RECV_INFO = 1 << 7,
        UCP_OP_ATTR_FIELD_MEMH = 1 << 8,
        UCP_OP_ATTR_FIELD_REMOTE_DATATYPE = 1 << 9,
        UCP_OP_ATTR_FIELD_REMOTE = 1 << 10,
        UCP_OP_ATTR_FIELD_REMOTE_COUNT = 1 << 11,
        /// Never finish at once: always give a request and call back.
        UCP_OP_ATTR_FLAG_NO_IMM_CMPL = 1 << 16,
        /// Finish early rather than move data fast.
        UCP_OP_ATTR_FLAG_FAST_CMPL = 1 << 17,
        /// Finish at once or fail with UCS_ERR_NO_RESOURCE: never give a request.
        UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL = 1 << 18,
        /// More operations follow: throughput before latency.
        UCP_OP_ATTR_FLAG_MULTI_SEND = 1 << 19,
    }
}

c_enum! {
    /// Members of `ucp_request_attr_t`.
    pub enum ucp_req_attr_field: c_uint {
        UCP_REQUEST_ATTR_FIELD_INFO_STRING = 1 << 0,
        UCP_REQUEST_ATTR_FIELD_INFO_STRING_SIZE = 1 << 1,
        UCP_REQUEST_ATTR_FIELD_STATUS = 1 << 2,
        UCP_REQUEST_ATTR_FIELD_MEM_TYPE = 1 << 3,
    }
}

c_enum! {
    /// Members and flags of `ucp_am_recv_param`.
    pub enum ucp_am_recv_attr_t: c_uint {
        UCP_AM_RECV_ATTR_FIELD_REPLY_EP = 1 << 0,
        /// The data is here and may be kept.
        UCP_AM_RECV_ATTR_FLAG_DATA = 1 << 16,
        /// The data is at the sender: fetch it with `ucp_am_recv_data_nbx`.
        UCP_AM_RECV_ATTR_FLAG_RNDV = 1 << 17,
    }
}

c_enum! {
    /// Members of `ucp_am_handler_param`.
    pub enum ucp_am_handler_param_field: c_uint {
        UCP_AM_HANDLER_PARAM_FIELD_ID = 1 << 0,
        UCP_AM_HANDLER_PARAM_FIELD_FLAGS = 1 << 1,
        UCP_AM_HANDLER_PARAM_FIELD_CB = 1 << 2,
        UCP_AM_HANDLER_PARAM_FIELD_ARG = 1 << 3,
    }
}

/// One piece of a scattered buffer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_dt_iov {
    /// Start.
    pub buffer: *mut c_void,
    /// Bytes.
    pub length: usize,
}
const _: () = {
    assert!(size_of::<ucp_dt_iov>() == 16);
    assert!(offset_of!(ucp_dt_iov, buffer) == 0);
    assert!(offset_of!(ucp_dt_iov, length) == 8);
};

pub type ucp_dt_iov_t = ucp_dt_iov;

c_enum! {
    /// Members of `ucp_dt_local_sgl_t`.
    pub enum ucp_dt_local_sgl_field: c_uint {
        UCP_DT_LOCAL_SGL_FIELD_BUFFERS = 1 << 0,
        UCP_DT_LOCAL_SGL_FIELD_LENGTHS = 1 << 1,
        UCP_DT_LOCAL_SGL_FIELD_MEMHS = 1 << 2,
        UCP_DT_LOCAL_SGL_FIELD_COUNTS = 1 << 3,
        UCP_DT_LOCAL_SGL_FIELD_STRIDES = 1 << 4,
    }
}

c_enum! {
    /// Members of `ucp_dt_remote_sgl_t`.
    pub enum ucp_dt_remote_sgl_field: c_uint {
        UCP_DT_REMOTE_SGL_FIELD_REMOTE_ADDRS = 1 << 0,
        UCP_DT_REMOTE_SGL_FIELD_LENGTHS = 1 << 1,
        UCP_DT_REMOTE_SGL_FIELD_RKEYS = 1 << 2,
    }
}

/// A local scatter-gather list: arrays of one length, the count of the operation.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_dt_local_sgl_t {
    /// Members that are set, bits of `ucp_dt_local_sgl_field`.
    pub field_mask: u64,
    /// Starts of the pieces.
    pub buffers: *const *mut c_void,
    /// Their bytes.
    pub lengths: *const usize,
    /// Their memory handles.
    pub memhs: *const ucp_mem_h,
    /// How often each is repeated.
    pub counts: *const usize,
    /// Bytes from one repetition to the next.
    pub strides: *const usize,
}
const _: () = {
    assert!(size_of::<ucp_dt_local_sgl_t>() == 48);
    assert!(offset_of!(ucp_dt_local_sgl_t, field_mask) == 0);
    assert!(offset_of!(ucp_dt_local_sgl_t, buffers) == 8);
    assert!(offset_of!(ucp_dt_local_sgl_t, lengths) == 16);
    assert!(offset_of!(ucp_dt_local_sgl_t, memhs) == 24);
    assert!(offset_of!(ucp_dt_local_sgl_t, counts) == 32);
    assert!(offset_of!(ucp_dt_local_sgl_t, strides) == 40);
};

/// The other side of a scatter-gather list.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_dt_remote_sgl_t {
    /// Members that are set, bits of `ucp_dt_remote_sgl_field`.
    pub field_mask: u64,
    /// Addresses in the peer's memory.
    pub remote_addrs: *const u64,
    /// Bytes at each.
    pub lengths: *const usize,
    /// Keys to each.
    pub rkeys: *const ucp_rkey_h,
}
const _: () = {
    assert!(size_of::<ucp_dt_remote_sgl_t>() == 32);
    assert!(offset_of!(ucp_dt_remote_sgl_t, field_mask) == 0);
    assert!(offset_of!(ucp_dt_remote_sgl_t, remote_addrs) == 8);
    assert!(offset_of!(ucp_dt_remote_sgl_t, lengths) == 16);
    assert!(offset_of!(ucp_dt_remote_sgl_t, rkeys) == 24);
};

/// A datatype that the caller packs. Each function gets the context of `ucp_dt_create_generic`
/// first, or the state that a start function returned.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_generic_dt_ops {
    /// Begins to pack `count` items of a buffer; returns a state.
    pub start_pack: Option<unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> *mut c_void>,
    /// Begins to unpack into a buffer; returns a state.
    pub start_unpack: Option<unsafe extern "C" fn(*mut c_void, *mut c_void, usize) -> *mut c_void>,
    /// Bytes of the packed form.
    pub packed_size: Option<unsafe extern "C" fn(*mut c_void) -> usize>,
    /// Packs from an offset into at most so many bytes; returns the bytes.
    pub pack: Option<unsafe extern "C" fn(*mut c_void, usize, *mut c_void, usize) -> usize>,
    /// Unpacks bytes at an offset.
    pub unpack:
        Option<unsafe extern "C" fn(*mut c_void, usize, *const c_void, usize) -> ucs_status_t>,
    /// Ends a state.
    pub finish: Option<unsafe extern "C" fn(*mut c_void)>,
}
const _: () = {
    assert!(size_of::<ucp_generic_dt_ops>() == 48);
    assert!(offset_of!(ucp_generic_dt_ops, start_pack) == 0);
    assert!(offset_of!(ucp_generic_dt_ops, start_unpack) == 8);
    assert!(offset_of!(ucp_generic_dt_ops, packed_size) == 16);
    assert!(offset_of!(ucp_generic_dt_ops, pack) == 24);
    assert!(offset_of!(ucp_generic_dt_ops, unpack) == 32);
    assert!(offset_of!(ucp_generic_dt_ops, finish) == 40);
};

pub type ucp_generic_dt_ops_t = ucp_generic_dt_ops;

/// What `ucp_dt_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_datatype_attr {
    /// Members that are set or wanted, bits of `ucp_datatype_attr_field`.
    pub field_mask: u64,
    /// Out: bytes of the packed form.
    pub packed_size: usize,
    /// In: the buffer, where the size depends on it.
    pub buffer: *const c_void,
    /// In: number of elements; 1 when not set.
    pub count: usize,
}
const _: () = {
    assert!(size_of::<ucp_datatype_attr>() == 32);
    assert!(offset_of!(ucp_datatype_attr, field_mask) == 0);
    assert!(offset_of!(ucp_datatype_attr, packed_size) == 8);
    assert!(offset_of!(ucp_datatype_attr, buffer) == 16);
    assert!(offset_of!(ucp_datatype_attr, count) == 24);
};

pub type ucp_datatype_attr_t = ucp_datatype_attr;

/// How an application uses the library.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_params {
    /// Members that are set, bits of `ucp_params_field`.
    pub field_mask: u64,
    /// Bits of `ucp_feature`; must be set.
    pub features: u64,
    /// Bytes of the caller in each request, before the address that the caller gets.
    pub request_size: usize,
    /// Prepares these bytes.
    pub request_init: ucp_request_init_callback_t,
    /// Undoes that.
    pub request_cleanup: ucp_request_cleanup_callback_t,
    /// Bits of a tag that name the sender; all receives of one sender share them.
    pub tag_sender_mask: u64,
    /// Nonzero: workers of this context are used from different threads.
    pub mt_workers_shared: c_int,
    /// Endpoints to expect; steers the choice of transports.
    pub estimated_num_eps: usize,
    /// Processes to expect on one machine.
    pub estimated_num_ppn: usize,
    /// Name for messages; NUL-terminated, copied.
    pub name: *const c_char,
    /// Number of this process on its machine.
    pub node_local_id: usize,
}
const _: () = {
    assert!(size_of::<ucp_params>() == 88);
    assert!(offset_of!(ucp_params, field_mask) == 0);
    assert!(offset_of!(ucp_params, features) == 8);
    assert!(offset_of!(ucp_params, request_size) == 16);
    assert!(offset_of!(ucp_params, request_init) == 24);
    assert!(offset_of!(ucp_params, request_cleanup) == 32);
    assert!(offset_of!(ucp_params, tag_sender_mask) == 40);
    assert!(offset_of!(ucp_params, mt_workers_shared) == 48);
    assert!(offset_of!(ucp_params, estimated_num_eps) == 56);
    assert!(offset_of!(ucp_params, estimated_num_ppn) == 64);
    assert!(offset_of!(ucp_params, name) == 72);
    assert!(offset_of!(ucp_params, node_local_id) == 80);
};

pub type ucp_params_t = ucp_params;

/// What `ucp_lib_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_lib_attr {
    /// In: members to fill, bits of `ucp_lib_attr_field`.
    pub field_mask: u64,
    /// Best thread mode that a worker can have.
    pub max_thread_level: ucs_thread_mode_t,
}
const _: () = {
    assert!(size_of::<ucp_lib_attr>() == 16);
    assert!(offset_of!(ucp_lib_attr, field_mask) == 0);
    assert!(offset_of!(ucp_lib_attr, max_thread_level) == 8);
};

pub type ucp_lib_attr_t = ucp_lib_attr;

/// What `ucp_context_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_context_attr {
    /// In: members to fill, bits of `ucp_context_attr_field`.
    pub field_mask: u64,
    /// Bytes of the library that stand before a request which the caller allocates.
    pub request_size: usize,
    /// Thread mode of the context itself.
    pub thread_mode: ucs_thread_mode_t,
    /// Bitmap of the `ucs_memory_type_t` that can be sent and received.
    pub memory_types: u64,
    /// Name of the context, NUL-terminated.
    pub name: [c_char; UCP_ENTITY_NAME_MAX],
    /// Bytes of a device counter; 0: no device is supported.
    pub device_counter_size: usize,
}
const _: () = {
    assert!(size_of::<ucp_context_attr>() == 72);
    assert!(offset_of!(ucp_context_attr, field_mask) == 0);
    assert!(offset_of!(ucp_context_attr, request_size) == 8);
    assert!(offset_of!(ucp_context_attr, thread_mode) == 16);
    assert!(offset_of!(ucp_context_attr, memory_types) == 24);
    assert!(offset_of!(ucp_context_attr, name) == 32);
    assert!(offset_of!(ucp_context_attr, device_counter_size) == 64);
};

pub type ucp_context_attr_t = ucp_context_attr;

/// What `ucp_worker_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_worker_attr {
    /// In: members to fill, bits of `ucp_worker_attr_field`.
    pub field_mask: u64,
    /// Thread mode that the worker has, which may be less than was asked for.
    pub thread_mode: ucs_thread_mode_t,
    /// In: bits of `ucp_worker_address_flags_t`.
    pub address_flags: u32,
    /// Address; `ucp_worker_release_address` frees it.
    pub address: *mut ucp_address_t,
    /// Bytes of the address.
    pub address_length: usize,
    /// Longest header of an active message, bytes.
    pub max_am_header: usize,
    /// Name of the worker, NUL-terminated.
    pub name: [c_char; UCP_ENTITY_NAME_MAX],
    /// Bytes that hold any text of `ucp_request_query`.
    pub max_debug_string: usize,
}
const _: () = {
    assert!(size_of::<ucp_worker_attr>() == 80);
    assert!(offset_of!(ucp_worker_attr, field_mask) == 0);
    assert!(offset_of!(ucp_worker_attr, thread_mode) == 8);
    assert!(offset_of!(ucp_worker_attr, address_flags) == 12);
    assert!(offset_of!(ucp_worker_attr, address) == 16);
    assert!(offset_of!(ucp_worker_attr, address_length) == 24);
    assert!(offset_of!(ucp_worker_attr, max_am_header) == 32);
    assert!(offset_of!(ucp_worker_attr, name) == 40);
    assert!(offset_of!(ucp_worker_attr, max_debug_string) == 72);
};

pub type ucp_worker_attr_t = ucp_worker_attr;

/// How `ucp_rkey_compare` works; nothing to choose yet.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_rkey_compare_params {
    /// 0.
    pub field_mask: u64,
}
const _: () = {
    assert!(size_of::<ucp_rkey_compare_params>() == 8);
    assert!(offset_of!(ucp_rkey_compare_params, field_mask) == 0);
};

pub type ucp_rkey_compare_params_t = ucp_rkey_compare_params;

/// How a worker works.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_worker_params {
    /// Members that are set, bits of `ucp_worker_params_field`.
    pub field_mask: u64,
    /// Which threads use it; UCS_THREAD_MODE_SINGLE when not set.
    pub thread_mode: ucs_thread_mode_t,
    /// Processors that it runs on, for the choice of near devices.
    pub cpu_mask: ucs_cpu_set_t,
    /// Events that wake up, bits of `ucp_wakeup_event_types`.
    pub events: c_uint,
    /// Comes back in events on `event_fd`.
    pub user_data: *mut c_void,
    /// An epoll descriptor of the caller that the worker adds its own to.
    pub event_fd: c_int,
    /// Bits of `ucp_worker_flags_t`.
    pub flags: u64,
    /// Name for messages; NUL-terminated, copied.
    pub name: *const c_char,
    /// Alignment of the data of arriving active messages, a power of two.
    pub am_alignment: usize,
    /// Number that tells a server who this client is.
    pub client_id: u64,
}
const _: () = {
    assert!(size_of::<ucp_worker_params>() == 200);
    assert!(offset_of!(ucp_worker_params, field_mask) == 0);
    assert!(offset_of!(ucp_worker_params, thread_mode) == 8);
    assert!(offset_of!(ucp_worker_params, cpu_mask) == 16);
    assert!(offset_of!(ucp_worker_params, events) == 144);
    assert!(offset_of!(ucp_worker_params, user_data) == 152);
    assert!(offset_of!(ucp_worker_params, event_fd) == 160);
    assert!(offset_of!(ucp_worker_params, flags) == 168);
    assert!(offset_of!(ucp_worker_params, name) == 176);
    assert!(offset_of!(ucp_worker_params, am_alignment) == 184);
    assert!(offset_of!(ucp_worker_params, client_id) == 192);
};

pub type ucp_worker_params_t = ucp_worker_params;

/// What an address tells: `ucp_worker_address_query`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_worker_address_attr {
    /// In: members to fill, bits of `ucp_worker_address_attr_field`.
    pub field_mask: u64,
    /// Number of the worker, unique among all peers.
    pub worker_uid: u64,
}
const _: () = {
    assert!(size_of::<ucp_worker_address_attr>() == 16);
    assert!(offset_of!(ucp_worker_address_attr, field_mask) == 0);
    assert!(offset_of!(ucp_worker_address_attr, worker_uid) == 8);
};

pub type ucp_worker_address_attr_t = ucp_worker_address_attr;

/// What `ucp_ep_evaluate_perf` shall estimate.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_ep_evaluate_perf_param_t {
    /// Members that are set, bits of `ucp_ep_perf_param_field`.
    pub field_mask: u64,
    /// Bytes of a message.
    pub message_size: usize,
}
const _: () = {
    assert!(size_of::<ucp_ep_evaluate_perf_param_t>() == 16);
    assert!(offset_of!(ucp_ep_evaluate_perf_param_t, field_mask) == 0);
    assert!(offset_of!(ucp_ep_evaluate_perf_param_t, message_size) == 8);
};

/// The estimate.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_ep_evaluate_perf_attr_t {
    /// In: members to fill, bits of `ucp_ep_perf_attr_field`.
    pub field_mask: u64,
    /// Seconds until the peer has the message.
    pub estimated_time: f64,
}
const _: () = {
    assert!(size_of::<ucp_ep_evaluate_perf_attr_t>() == 16);
    assert!(offset_of!(ucp_ep_evaluate_perf_attr_t, field_mask) == 0);
    assert!(offset_of!(ucp_ep_evaluate_perf_attr_t, estimated_time) == 8);
};

/// What `ucp_listener_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_listener_attr {
    /// In: members to fill, bits of `ucp_listener_attr_field`.
    pub field_mask: u64,
    /// Socket that it is bound to, with the port that it got.
    pub sockaddr: sockaddr_storage,
}
const _: () = {
    assert!(size_of::<ucp_listener_attr>() == 136);
    assert!(offset_of!(ucp_listener_attr, field_mask) == 0);
    assert!(offset_of!(ucp_listener_attr, sockaddr) == 8);
};

pub type ucp_listener_attr_t = ucp_listener_attr;

/// What `ucp_conn_request_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_conn_request_attr {
    /// In: members to fill, bits of `ucp_conn_request_attr_field`.
    pub field_mask: u64,
    /// Socket of the client.
    pub client_address: sockaddr_storage,
    /// Number that the client sent.
    pub client_id: u64,
}
const _: () = {
    assert!(size_of::<ucp_conn_request_attr>() == 144);
    assert!(offset_of!(ucp_conn_request_attr, field_mask) == 0);
    assert!(offset_of!(ucp_conn_request_attr, client_address) == 8);
    assert!(offset_of!(ucp_conn_request_attr, client_id) == 136);
};

pub type ucp_conn_request_attr_t = ucp_conn_request_attr;

/// How a listener accepts clients: one of the two handlers.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_listener_params {
    /// Members that are set, bits of `ucp_listener_params_field`.
    pub field_mask: u64,
    /// Socket to bind; must be set. Port 0 takes any free one.
    pub sockaddr: ucs_sock_addr_t,
    /// Gets endpoints, each for a client.
    pub accept_handler: ucp_listener_accept_handler_t,
    /// Gets requests, and decides.
    pub conn_handler: ucp_listener_conn_handler_t,
}
const _: () = {
    assert!(size_of::<ucp_listener_params>() == 56);
    assert!(offset_of!(ucp_listener_params, field_mask) == 0);
    assert!(offset_of!(ucp_listener_params, sockaddr) == 8);
    assert!(offset_of!(ucp_listener_params, accept_handler) == 24);
    assert!(offset_of!(ucp_listener_params, conn_handler) == 40);
};

pub type ucp_listener_params_t = ucp_listener_params;

/// An endpoint with stream data: `ucp_stream_worker_poll`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_stream_poll_ep {
    /// The endpoint.
    pub ep: ucp_ep_h,
    /// As given when it was created.
    pub user_data: *mut c_void,
    /// 0.
    pub flags: c_uint,
    /// For later.
    pub reserved: [u8; 16],
}
const _: () = {
    assert!(size_of::<ucp_stream_poll_ep>() == 40);
    assert!(offset_of!(ucp_stream_poll_ep, ep) == 0);
    assert!(offset_of!(ucp_stream_poll_ep, user_data) == 8);
    assert!(offset_of!(ucp_stream_poll_ep, flags) == 16);
    assert!(offset_of!(ucp_stream_poll_ep, reserved) == 20);
};

pub type ucp_stream_poll_ep_t = ucp_stream_poll_ep;

/// What `ucp_mem_map` makes known, or allocates.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_mem_map_params {
    /// Members that are set, bits of `ucp_mem_map_params_field`.
    pub field_mask: u64,
    /// Start; may be NULL with UCP_MEM_MAP_ALLOCATE.
    pub address: *mut c_void,
    /// Bytes; must be set.
    pub length: usize,
    /// `UCP_MEM_MAP_*`.
    pub flags: c_uint,
    /// `UCP_MEM_MAP_PROT_*`; everything when not set.
    pub prot: c_uint,
    /// Kind of the memory; found out when not set.
    pub memory_type: ucs_memory_type_t,
    /// A handle that another process packed for export: attach to its memory.
    pub exported_memh_buffer: *const c_void,
}
const _: () = {
    assert!(size_of::<ucp_mem_map_params>() == 48);
    assert!(offset_of!(ucp_mem_map_params, field_mask) == 0);
    assert!(offset_of!(ucp_mem_map_params, address) == 8);
    assert!(offset_of!(ucp_mem_map_params, length) == 16);
    assert!(offset_of!(ucp_mem_map_params, flags) == 24);
    assert!(offset_of!(ucp_mem_map_params, prot) == 28);
    assert!(offset_of!(ucp_mem_map_params, memory_type) == 32);
    assert!(offset_of!(ucp_mem_map_params, exported_memh_buffer) == 40);
};

pub type ucp_mem_map_params_t = ucp_mem_map_params;

/// What arrived.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_tag_recv_info {
    /// Tag of the sender.
    pub sender_tag: ucp_tag_t,
    /// Bytes.
    pub length: usize,
}
const _: () = {
    assert!(size_of::<ucp_tag_recv_info>() == 16);
    assert!(offset_of!(ucp_tag_recv_info, sender_tag) == 0);
    assert!(offset_of!(ucp_tag_recv_info, length) == 8);
};

/// The callback of an operation, by its kind.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ucp_request_param_t_cb {
    /// Of sends, remote memory access, atomics, flush and close.
    pub send: ucp_send_nbx_callback_t,
    /// Of tagged receives.
    pub recv: ucp_tag_recv_nbx_callback_t,
    /// Of stream receives.
    pub recv_stream: ucp_stream_recv_nbx_callback_t,
    /// Of fetches of active message data.
    pub recv_am: ucp_am_recv_data_nbx_callback_t,
}
const _: () = {
    assert!(size_of::<ucp_request_param_t_cb>() == 8);
};

/// Where a receive that ends at once writes its result.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ucp_request_param_t_recv_info {
    /// Bytes received, of streams and active messages.
    pub length: *mut usize,
    /// Tag and bytes, of tagged receives.
    pub tag_info: *mut ucp_tag_recv_info_t,
}
const _: () = {
    assert!(size_of::<ucp_request_param_t_recv_info>() == 8);
};

/// Optional parameters of an operation. Only members whose bit is set are read, so that callers may
/// pass the shorter structure of an older release.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_request_param_t {
    /// Members that are set and flags, bits of `ucp_op_attr_t`.
    pub op_attr_mask: u32,
    /// Flags of the operation.
    pub flags: u32,
    /// Request in memory of the caller, with the context's `request_size` bytes before it. It is
    /// not freed by `ucp_request_free`.
    pub request: *mut c_void,
    /// Called at the end, unless the operation ends at once.
    pub cb: ucp_request_param_t_cb,
    /// Layout of the buffer; bytes when not set.
    pub datatype: ucp_datatype_t,
    /// Passed to the callback.
    pub user_data: *mut c_void,
    /// Where an atomic puts the value that was there.
    pub reply_buffer: *mut c_void,
    /// Kind of the buffer's memory; found out when not set.
    pub memory_type: ucs_memory_type_t,
    /// Where a receive that ends at once writes its result.
    pub recv_info: ucp_request_param_t_recv_info,
    /// Handle of the buffer's memory.
    pub memh: ucp_mem_h,
    /// Layout of the remote buffer.
    pub remote_datatype: ucp_datatype_t,
    /// A `ucp_dt_remote_sgl_t` when the remote side is a list.
    pub remote: *const c_void,
    /// Elements of the remote side.
    pub remote_count: usize,
}
const _: () = {
    assert!(size_of::<ucp_request_param_t>() == 96);
    assert!(offset_of!(ucp_request_param_t, op_attr_mask) == 0);
    assert!(offset_of!(ucp_request_param_t, flags) == 4);
    assert!(offset_of!(ucp_request_param_t, request) == 8);
    assert!(offset_of!(ucp_request_param_t, cb) == 16);
    assert!(offset_of!(ucp_request_param_t, datatype) == 24);
    assert!(offset_of!(ucp_request_param_t, user_data) == 32);
    assert!(offset_of!(ucp_request_param_t, reply_buffer) == 40);
    assert!(offset_of!(ucp_request_param_t, memory_type) == 48);
    assert!(offset_of!(ucp_request_param_t, recv_info) == 56);
    assert!(offset_of!(ucp_request_param_t, memh) == 64);
    assert!(offset_of!(ucp_request_param_t, remote_datatype) == 72);
    assert!(offset_of!(ucp_request_param_t, remote) == 80);
    assert!(offset_of!(ucp_request_param_t, remote_count) == 88);
};

/// What `ucp_request_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_request_attr_t {
    /// Members that are set or wanted, bits of `ucp_req_attr_field`.
    pub field_mask: u64,
    /// In: buffer of the caller for a text on the request.
    pub debug_string: *mut c_char,
    /// In: bytes of that buffer.
    pub debug_string_size: usize,
    /// Status of the request.
    pub status: ucs_status_t,
    /// Kind of the memory that it uses.
    pub mem_type: ucs_memory_type_t,
}
const _: () = {
    assert!(size_of::<ucp_request_attr_t>() == 32);
    assert!(offset_of!(ucp_request_attr_t, field_mask) == 0);
    assert!(offset_of!(ucp_request_attr_t, debug_string) == 8);
    assert!(offset_of!(ucp_request_attr_t, debug_string_size) == 16);
    assert!(offset_of!(ucp_request_attr_t, status) == 24);
    assert!(offset_of!(ucp_request_attr_t, mem_type) == 28);
};

/// A handler of active messages.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_am_handler_param {
    /// Members that are set, bits of `ucp_am_handler_param_field`.
    pub field_mask: u64,
    /// Number of the message; must be set.
    pub id: c_uint,
    /// Bits of `ucp_am_cb_flags`.
    pub flags: u32,
    /// The handler; NULL removes it.
    pub cb: ucp_am_recv_callback_t,
    /// Its first argument.
    pub arg: *mut c_void,
}
const _: () = {
    assert!(size_of::<ucp_am_handler_param>() == 32);
    assert!(offset_of!(ucp_am_handler_param, field_mask) == 0);
    assert!(offset_of!(ucp_am_handler_param, id) == 8);
    assert!(offset_of!(ucp_am_handler_param, flags) == 12);
    assert!(offset_of!(ucp_am_handler_param, cb) == 16);
    assert!(offset_of!(ucp_am_handler_param, arg) == 24);
};

pub type ucp_am_handler_param_t = ucp_am_handler_param;

/// What a handler is told besides the message.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_am_recv_param {
    /// Members that are set and flags, bits of `ucp_am_recv_attr_t`.
    pub recv_attr: u64,
    /// Endpoint to the sender.
    pub reply_ep: ucp_ep_h,
}
const _: () = {
    assert!(size_of::<ucp_am_recv_param>() == 16);
    assert!(offset_of!(ucp_am_recv_param, recv_attr) == 0);
    assert!(offset_of!(ucp_am_recv_param, reply_ep) == 8);
};

c_enum! {
    /// How memory will be used.
    pub enum ucp_mem_advice: c_uint {
        /// No advice.
        UCP_MADV_NORMAL = 0,
        /// It will be accessed soon.
        UCP_MADV_WILLNEED = 1,
    }
}

pub type ucp_mem_advice_t = ucp_mem_advice;

/// Advice on a part of mapped memory.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_mem_advise_params {
    /// Members that are set, bits of `ucp_mem_advise_params_field`; all must be.
    pub field_mask: u64,
    /// Start.
    pub address: *mut c_void,
    /// Bytes.
    pub length: usize,
    /// The advice.
    pub advice: ucp_mem_advice_t,
}
const _: () = {
    assert!(size_of::<ucp_mem_advise_params>() == 32);
    assert!(offset_of!(ucp_mem_advise_params, field_mask) == 0);
    assert!(offset_of!(ucp_mem_advise_params, address) == 8);
    assert!(offset_of!(ucp_mem_advise_params, length) == 16);
    assert!(offset_of!(ucp_mem_advise_params, advice) == 24);
};

pub type ucp_mem_advise_params_t = ucp_mem_advise_params;

c_enum! {
    /// Members of `ucp_memh_pack_params`.
    pub enum ucp_memh_pack_params_field: c_uint {
        UCP_MEMH_PACK_PARAM_FIELD_FLAGS = 1 << 0,
    }
}

c_enum! {
    /// Flags of `ucp_memh_pack`.
    pub enum ucp_memh_pack_flags: c_uint {
        /// For use as `exported_memh_buffer` by another process; else a remote key.
        UCP_MEMH_PACK_FLAG_EXPORT = 1 << 0,
    }
}

/// How `ucp_memh_pack` packs a handle.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_memh_pack_params {
    /// Members that are set, bits of `ucp_memh_pack_params_field`.
    pub field_mask: u64,
    /// Bits of `ucp_memh_pack_flags`.
    pub flags: u64,
}
const _: () = {
    assert!(size_of::<ucp_memh_pack_params>() == 16);
    assert!(offset_of!(ucp_memh_pack_params, field_mask) == 0);
    assert!(offset_of!(ucp_memh_pack_params, flags) == 8);
};

pub type ucp_memh_pack_params_t = ucp_memh_pack_params;

/// How `ucp_memh_buffer_release` works; nothing to choose yet.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_memh_buffer_release_params {
    /// 0.
    pub field_mask: u64,
}
const _: () = {
    assert!(size_of::<ucp_memh_buffer_release_params>() == 8);
    assert!(offset_of!(ucp_memh_buffer_release_params, field_mask) == 0);
};

pub type ucp_memh_buffer_release_params_t = ucp_memh_buffer_release_params;

c_enum! {
    /// Members of `ucp_ep_attr`.
    pub enum ucp_ep_attr_field: c_uint {
        UCP_EP_ATTR_FIELD_NAME = 1 << 0,
        UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR = 1 << 1,
        UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR = 1 << 2,
        UCP_EP_ATTR_FIELD_TRANSPORTS = 1 << 3,
        UCP_EP_ATTR_FIELD_USER_DATA = 1 << 4,
    }
}

/// What `ucp_ep_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_ep_attr {
    /// In: members to fill, bits of `ucp_ep_attr_field`.
    pub field_mask: u64,
    /// Name of the endpoint, NUL-terminated.
    pub name: [c_char; UCP_ENTITY_NAME_MAX],
    /// Own socket, of endpoints between client and server.
    pub local_sockaddr: sockaddr_storage,
    /// The peer's socket, of endpoints between client and server.
    pub remote_sockaddr: sockaddr_storage,
    /// Transports in use.
    pub transports: ucp_transports_t,
    /// As given when it was created.
    pub user_data: *mut c_void,
}
const _: () = {
    assert!(size_of::<ucp_ep_attr>() == 328);
    assert!(offset_of!(ucp_ep_attr, field_mask) == 0);
    assert!(offset_of!(ucp_ep_attr, name) == 8);
    assert!(offset_of!(ucp_ep_attr, local_sockaddr) == 40);
    assert!(offset_of!(ucp_ep_attr, remote_sockaddr) == 168);
    assert!(offset_of!(ucp_ep_attr, transports) == 296);
    assert!(offset_of!(ucp_ep_attr, user_data) == 320);
};

pub type ucp_ep_attr_t = ucp_ep_attr;

c_enum! {
    /// Flags of `ucp_mem_map`.
    pub enum ucp_mem_map_bits: c_uint {
        /// May finish the mapping later, at the first use.
        UCP_MEM_MAP_NONBLOCK = 1 << 0,
        /// Allocate the memory.
        UCP_MEM_MAP_ALLOCATE = 1 << 1,
        /// Allocate at the given address, which must be aligned to pages.
        UCP_MEM_MAP_FIXED = 1 << 2,
        /// Try for remote keys that are the same in all processes.
        UCP_MEM_MAP_SYMMETRIC_RKEY = 1 << 3,
        /// Lock the pages.
        UCP_MEM_MAP_LOCK = 1 << 4,
    }
}

c_enum! {
    /// Accesses that a mapping allows.
    pub enum ucp_mem_map_prot_bits: c_uint {
        /// Read here.
        UCP_MEM_MAP_PROT_LOCAL_READ = 1 << 0,
        /// Write here.
        UCP_MEM_MAP_PROT_LOCAL_WRITE = 1 << 1,
        /// Read by peers.
        UCP_MEM_MAP_PROT_REMOTE_READ = 1 << 8,
        /// Write by peers.
        UCP_MEM_MAP_PROT_REMOTE_WRITE = 1 << 9,
    }
}
