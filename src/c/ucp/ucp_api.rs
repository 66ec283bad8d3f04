//! `ucp/api/ucp.h`: types and constants.

use crate::c::prelude::*;

c_enum! {
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
    pub enum ucp_feature: c_uint {
        UCP_FEATURE_TAG = 1 << 0,
        UCP_FEATURE_RMA = 1 << 1,
        UCP_FEATURE_AMO32 = 1 << 2,
        UCP_FEATURE_AMO64 = 1 << 3,
        UCP_FEATURE_WAKEUP = 1 << 4,
        UCP_FEATURE_STREAM = 1 << 5,
        UCP_FEATURE_AM = 1 << 6,
        UCP_FEATURE_EXPORTED_MEMH = 1 << 7,
        UCP_FEATURE_DEVICE = 1 << 8,
    }
}

c_enum! {
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
    pub enum ucp_worker_flags_t: c_uint {
        UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK = 1 << 0,
    }
}

c_enum! {
    pub enum ucp_listener_params_field: c_uint {
        UCP_LISTENER_PARAM_FIELD_SOCK_ADDR = 1 << 0,
        UCP_LISTENER_PARAM_FIELD_ACCEPT_HANDLER = 1 << 1,
        UCP_LISTENER_PARAM_FIELD_CONN_HANDLER = 1 << 2,
    }
}

c_enum! {
    pub enum ucp_worker_address_flags_t: c_uint {
        UCP_WORKER_ADDRESS_FLAG_NET_ONLY = 1 << 0,
    }
}

c_enum! {
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
    pub enum ucp_ep_params_flags_field: c_uint {
        UCP_EP_PARAMS_FLAGS_CLIENT_SERVER = 1 << 0,
        UCP_EP_PARAMS_FLAGS_NO_LOOPBACK = 1 << 1,
        UCP_EP_PARAMS_FLAGS_SEND_CLIENT_ID = 1 << 2,
    }
}

c_enum! {
    pub enum ucp_ep_close_flags_t: c_uint {
        UCP_EP_CLOSE_FLAG_FORCE = 1 << 0,
    }
}

c_enum! {
    pub enum ucp_ep_perf_param_field: c_uint {
        UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE = 1 << 0,
    }
}

pub type ucp_ep_perf_param_field_t = ucp_ep_perf_param_field;

c_enum! {
    pub enum ucp_ep_perf_attr_field: c_uint {
        UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME = 1 << 0,
    }
}

pub type ucp_ep_perf_attr_field_t = ucp_ep_perf_attr_field;

c_enum! {
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
    pub enum ucp_mem_advise_params_field: c_uint {
        UCP_MEM_ADVISE_PARAM_FIELD_ADDRESS = 1 << 0,
        UCP_MEM_ADVISE_PARAM_FIELD_LENGTH = 1 << 1,
        UCP_MEM_ADVISE_PARAM_FIELD_ADVICE = 1 << 2,
    }
}

c_enum! {
    pub enum ucp_lib_attr_field: c_uint {
        UCP_LIB_ATTR_FIELD_MAX_THREAD_LEVEL = 1 << 0,
    }
}

c_enum! {
    pub enum ucp_context_attr_field: c_uint {
        UCP_ATTR_FIELD_REQUEST_SIZE = 1 << 0,
        UCP_ATTR_FIELD_THREAD_MODE = 1 << 1,
        UCP_ATTR_FIELD_MEMORY_TYPES = 1 << 2,
        UCP_ATTR_FIELD_NAME = 1 << 3,
        UCP_ATTR_FIELD_DEVICE_COUNTER_SIZE = 1 << 4,
    }
}

c_enum! {
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
    pub enum ucp_worker_address_attr_field: c_uint {
        UCP_WORKER_ADDRESS_ATTR_FIELD_UID = 1 << 0,
    }
}

c_enum! {
    pub enum ucp_listener_attr_field: c_uint {
        UCP_LISTENER_ATTR_FIELD_SOCKADDR = 1 << 0,
    }
}

c_enum! {
    pub enum ucp_conn_request_attr_field: c_uint {
        UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ADDR = 1 << 0,
        UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ID = 1 << 1,
    }
}

c_enum! {
    pub enum ucp_dt_type: c_uint {
        UCP_DATATYPE_CONTIG = 0,
        UCP_DATATYPE_STRIDED = 1,
        UCP_DATATYPE_IOV = 2,
        UCP_DATATYPE_SGL = 4,
        UCP_DATATYPE_GENERIC = 7,
        UCP_DATATYPE_SHIFT = 3,
        UCP_DATATYPE_CLASS_MASK = 7,
    }
}

c_enum! {
    pub enum ucp_datatype_attr_field: c_uint {
        UCP_DATATYPE_ATTR_FIELD_PACKED_SIZE = 1 << 0,
        UCP_DATATYPE_ATTR_FIELD_BUFFER = 1 << 1,
        UCP_DATATYPE_ATTR_FIELD_COUNT = 1 << 2,
    }
}

c_enum! {
    pub enum ucp_am_cb_flags: c_uint {
        UCP_AM_FLAG_WHOLE_MSG = 1 << 0,
        UCP_AM_FLAG_PERSISTENT_DATA = 1 << 1,
    }
}

c_enum! {
    pub enum ucp_send_am_flags: c_uint {
        UCP_AM_SEND_FLAG_REPLY = 1 << 0,
        UCP_AM_SEND_FLAG_EAGER = 1 << 1,
        UCP_AM_SEND_FLAG_RNDV = 1 << 2,
        UCP_AM_SEND_FLAG_COPY_HEADER = 1 << 3,
        UCP_AM_SEND_REPLY = 1,
    }
}

c_enum! {
    pub enum ucp_cb_param_flags: c_uint {
        UCP_CB_PARAM_FLAG_DATA = 1 << 0,
    }
}

c_enum! {
    pub enum ucp_atomic_op_t: c_uint {
        UCP_ATOMIC_OP_ADD = 0,
        UCP_ATOMIC_OP_SWAP = 1,
        UCP_ATOMIC_OP_CSWAP = 2,
        UCP_ATOMIC_OP_AND = 3,
        UCP_ATOMIC_OP_OR = 4,
        UCP_ATOMIC_OP_XOR = 5,
        UCP_ATOMIC_OP_LAST = 6,
    }
}

c_enum! {
    pub enum ucp_stream_recv_flags_t: c_uint {
        UCP_STREAM_RECV_FLAG_WAITALL = 1 << 0,
    }
}

c_enum! {
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
        UCP_OP_ATTR_FLAG_NO_IMM_CMPL = 1 << 16,
        UCP_OP_ATTR_FLAG_FAST_CMPL = 1 << 17,
        UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL = 1 << 18,
        UCP_OP_ATTR_FLAG_MULTI_SEND = 1 << 19,
    }
}

c_enum! {
    pub enum ucp_req_attr_field: c_uint {
        UCP_REQUEST_ATTR_FIELD_INFO_STRING = 1 << 0,
        UCP_REQUEST_ATTR_FIELD_INFO_STRING_SIZE = 1 << 1,
        UCP_REQUEST_ATTR_FIELD_STATUS = 1 << 2,
        UCP_REQUEST_ATTR_FIELD_MEM_TYPE = 1 << 3,
    }
}

c_enum! {
    pub enum ucp_am_recv_attr_t: c_uint {
        UCP_AM_RECV_ATTR_FIELD_REPLY_EP = 1 << 0,
        UCP_AM_RECV_ATTR_FLAG_DATA = 1 << 16,
        UCP_AM_RECV_ATTR_FLAG_RNDV = 1 << 17,
    }
}

c_enum! {
    pub enum ucp_am_handler_param_field: c_uint {
        UCP_AM_HANDLER_PARAM_FIELD_ID = 1 << 0,
        UCP_AM_HANDLER_PARAM_FIELD_FLAGS = 1 << 1,
        UCP_AM_HANDLER_PARAM_FIELD_CB = 1 << 2,
        UCP_AM_HANDLER_PARAM_FIELD_ARG = 1 << 3,
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_dt_iov {
    pub buffer: *mut c_void,
    pub length: usize,
}
const _: () = {
    assert!(size_of::<ucp_dt_iov>() == 16);
    assert!(offset_of!(ucp_dt_iov, buffer) == 0);
    assert!(offset_of!(ucp_dt_iov, length) == 8);
};

pub type ucp_dt_iov_t = ucp_dt_iov;

c_enum! {
    pub enum ucp_dt_local_sgl_field: c_uint {
        UCP_DT_LOCAL_SGL_FIELD_BUFFERS = 1 << 0,
        UCP_DT_LOCAL_SGL_FIELD_LENGTHS = 1 << 1,
        UCP_DT_LOCAL_SGL_FIELD_MEMHS = 1 << 2,
        UCP_DT_LOCAL_SGL_FIELD_COUNTS = 1 << 3,
        UCP_DT_LOCAL_SGL_FIELD_STRIDES = 1 << 4,
    }
}

c_enum! {
    pub enum ucp_dt_remote_sgl_field: c_uint {
        UCP_DT_REMOTE_SGL_FIELD_REMOTE_ADDRS = 1 << 0,
        UCP_DT_REMOTE_SGL_FIELD_LENGTHS = 1 << 1,
        UCP_DT_REMOTE_SGL_FIELD_RKEYS = 1 << 2,
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_dt_local_sgl_t {
    pub field_mask: u64,
    pub buffers: *const *mut c_void,
    pub lengths: *const usize,
    pub memhs: *const ucp_mem_h,
    pub counts: *const usize,
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

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_dt_remote_sgl_t {
    pub field_mask: u64,
    pub remote_addrs: *const u64,
    pub lengths: *const usize,
    pub rkeys: *const ucp_rkey_h,
}
const _: () = {
    assert!(size_of::<ucp_dt_remote_sgl_t>() == 32);
    assert!(offset_of!(ucp_dt_remote_sgl_t, field_mask) == 0);
    assert!(offset_of!(ucp_dt_remote_sgl_t, remote_addrs) == 8);
    assert!(offset_of!(ucp_dt_remote_sgl_t, lengths) == 16);
    assert!(offset_of!(ucp_dt_remote_sgl_t, rkeys) == 24);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_generic_dt_ops {
    pub start_pack: Option<unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> *mut c_void>,
    pub start_unpack: Option<unsafe extern "C" fn(*mut c_void, *mut c_void, usize) -> *mut c_void>,
    pub packed_size: Option<unsafe extern "C" fn(*mut c_void) -> usize>,
    pub pack: Option<unsafe extern "C" fn(*mut c_void, usize, *mut c_void, usize) -> usize>,
    pub unpack:
        Option<unsafe extern "C" fn(*mut c_void, usize, *const c_void, usize) -> ucs_status_t>,
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

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_datatype_attr {
    pub field_mask: u64,
    pub packed_size: usize,
    pub buffer: *const c_void,
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

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_params {
    pub field_mask: u64,
    pub features: u64,
    pub request_size: usize,
    pub request_init: ucp_request_init_callback_t,
    pub request_cleanup: ucp_request_cleanup_callback_t,
    pub tag_sender_mask: u64,
    pub mt_workers_shared: c_int,
    pub estimated_num_eps: usize,
    pub estimated_num_ppn: usize,
    pub name: *const c_char,
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

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_lib_attr {
    pub field_mask: u64,
    pub max_thread_level: ucs_thread_mode_t,
}
const _: () = {
    assert!(size_of::<ucp_lib_attr>() == 16);
    assert!(offset_of!(ucp_lib_attr, field_mask) == 0);
    assert!(offset_of!(ucp_lib_attr, max_thread_level) == 8);
};

pub type ucp_lib_attr_t = ucp_lib_attr;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_context_attr {
    pub field_mask: u64,
    pub request_size: usize,
    pub thread_mode: ucs_thread_mode_t,
    pub memory_types: u64,
    pub name: [c_char; 32],
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

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_worker_attr {
    pub field_mask: u64,
    pub thread_mode: ucs_thread_mode_t,
    pub address_flags: u32,
    pub address: *mut ucp_address_t,
    pub address_length: usize,
    pub max_am_header: usize,
    pub name: [c_char; 32],
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

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_rkey_compare_params {
    pub field_mask: u64,
}
const _: () = {
    assert!(size_of::<ucp_rkey_compare_params>() == 8);
    assert!(offset_of!(ucp_rkey_compare_params, field_mask) == 0);
};

pub type ucp_rkey_compare_params_t = ucp_rkey_compare_params;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_worker_params {
    pub field_mask: u64,
    pub thread_mode: ucs_thread_mode_t,
    pub cpu_mask: ucs_cpu_set_t,
    pub events: c_uint,
    pub user_data: *mut c_void,
    pub event_fd: c_int,
    pub flags: u64,
    pub name: *const c_char,
    pub am_alignment: usize,
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

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_worker_address_attr {
    pub field_mask: u64,
    pub worker_uid: u64,
}
const _: () = {
    assert!(size_of::<ucp_worker_address_attr>() == 16);
    assert!(offset_of!(ucp_worker_address_attr, field_mask) == 0);
    assert!(offset_of!(ucp_worker_address_attr, worker_uid) == 8);
};

pub type ucp_worker_address_attr_t = ucp_worker_address_attr;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_ep_evaluate_perf_param_t {
    pub field_mask: u64,
    pub message_size: usize,
}
const _: () = {
    assert!(size_of::<ucp_ep_evaluate_perf_param_t>() == 16);
    assert!(offset_of!(ucp_ep_evaluate_perf_param_t, field_mask) == 0);
    assert!(offset_of!(ucp_ep_evaluate_perf_param_t, message_size) == 8);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_ep_evaluate_perf_attr_t {
    pub field_mask: u64,
    pub estimated_time: f64,
}
const _: () = {
    assert!(size_of::<ucp_ep_evaluate_perf_attr_t>() == 16);
    assert!(offset_of!(ucp_ep_evaluate_perf_attr_t, field_mask) == 0);
    assert!(offset_of!(ucp_ep_evaluate_perf_attr_t, estimated_time) == 8);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_listener_attr {
    pub field_mask: u64,
    pub sockaddr: sockaddr_storage,
}
const _: () = {
    assert!(size_of::<ucp_listener_attr>() == 136);
    assert!(offset_of!(ucp_listener_attr, field_mask) == 0);
    assert!(offset_of!(ucp_listener_attr, sockaddr) == 8);
};

pub type ucp_listener_attr_t = ucp_listener_attr;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_conn_request_attr {
    pub field_mask: u64,
    pub client_address: sockaddr_storage,
    pub client_id: u64,
}
const _: () = {
    assert!(size_of::<ucp_conn_request_attr>() == 144);
    assert!(offset_of!(ucp_conn_request_attr, field_mask) == 0);
    assert!(offset_of!(ucp_conn_request_attr, client_address) == 8);
    assert!(offset_of!(ucp_conn_request_attr, client_id) == 136);
};

pub type ucp_conn_request_attr_t = ucp_conn_request_attr;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_listener_params {
    pub field_mask: u64,
    pub sockaddr: ucs_sock_addr_t,
    pub accept_handler: ucp_listener_accept_handler_t,
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

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_stream_poll_ep {
    pub ep: ucp_ep_h,
    pub user_data: *mut c_void,
    pub flags: c_uint,
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

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_mem_map_params {
    pub field_mask: u64,
    pub address: *mut c_void,
    pub length: usize,
    pub flags: c_uint,
    pub prot: c_uint,
    pub memory_type: ucs_memory_type_t,
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

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_tag_recv_info {
    pub sender_tag: ucp_tag_t,
    pub length: usize,
}
const _: () = {
    assert!(size_of::<ucp_tag_recv_info>() == 16);
    assert!(offset_of!(ucp_tag_recv_info, sender_tag) == 0);
    assert!(offset_of!(ucp_tag_recv_info, length) == 8);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub union ucp_request_param_t_cb {
    pub send: ucp_send_nbx_callback_t,
    pub recv: ucp_tag_recv_nbx_callback_t,
    pub recv_stream: ucp_stream_recv_nbx_callback_t,
    pub recv_am: ucp_am_recv_data_nbx_callback_t,
}
const _: () = {
    assert!(size_of::<ucp_request_param_t_cb>() == 8);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub union ucp_request_param_t_recv_info {
    pub length: *mut usize,
    pub tag_info: *mut ucp_tag_recv_info_t,
}
const _: () = {
    assert!(size_of::<ucp_request_param_t_recv_info>() == 8);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_request_param_t {
    pub op_attr_mask: u32,
    pub flags: u32,
    pub request: *mut c_void,
    pub cb: ucp_request_param_t_cb,
    pub datatype: ucp_datatype_t,
    pub user_data: *mut c_void,
    pub reply_buffer: *mut c_void,
    pub memory_type: ucs_memory_type_t,
    pub recv_info: ucp_request_param_t_recv_info,
    pub memh: ucp_mem_h,
    pub remote_datatype: ucp_datatype_t,
    pub remote: *const c_void,
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

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_request_attr_t {
    pub field_mask: u64,
    pub debug_string: *mut c_char,
    pub debug_string_size: usize,
    pub status: ucs_status_t,
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

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_am_handler_param {
    pub field_mask: u64,
    pub id: c_uint,
    pub flags: u32,
    pub cb: ucp_am_recv_callback_t,
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

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_am_recv_param {
    pub recv_attr: u64,
    pub reply_ep: ucp_ep_h,
}
const _: () = {
    assert!(size_of::<ucp_am_recv_param>() == 16);
    assert!(offset_of!(ucp_am_recv_param, recv_attr) == 0);
    assert!(offset_of!(ucp_am_recv_param, reply_ep) == 8);
};

c_enum! {
    pub enum ucp_mem_advice: c_uint {
        UCP_MADV_NORMAL = 0,
        UCP_MADV_WILLNEED = 1,
    }
}

pub type ucp_mem_advice_t = ucp_mem_advice;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_mem_advise_params {
    pub field_mask: u64,
    pub address: *mut c_void,
    pub length: usize,
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
    pub enum ucp_memh_pack_params_field: c_uint {
        UCP_MEMH_PACK_PARAM_FIELD_FLAGS = 1 << 0,
    }
}

c_enum! {
    pub enum ucp_memh_pack_flags: c_uint {
        UCP_MEMH_PACK_FLAG_EXPORT = 1 << 0,
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_memh_pack_params {
    pub field_mask: u64,
    pub flags: u64,
}
const _: () = {
    assert!(size_of::<ucp_memh_pack_params>() == 16);
    assert!(offset_of!(ucp_memh_pack_params, field_mask) == 0);
    assert!(offset_of!(ucp_memh_pack_params, flags) == 8);
};

pub type ucp_memh_pack_params_t = ucp_memh_pack_params;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_memh_buffer_release_params {
    pub field_mask: u64,
}
const _: () = {
    assert!(size_of::<ucp_memh_buffer_release_params>() == 8);
    assert!(offset_of!(ucp_memh_buffer_release_params, field_mask) == 0);
};

pub type ucp_memh_buffer_release_params_t = ucp_memh_buffer_release_params;

c_enum! {
    pub enum ucp_ep_attr_field: c_uint {
        UCP_EP_ATTR_FIELD_NAME = 1 << 0,
        UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR = 1 << 1,
        UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR = 1 << 2,
        UCP_EP_ATTR_FIELD_TRANSPORTS = 1 << 3,
        UCP_EP_ATTR_FIELD_USER_DATA = 1 << 4,
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_ep_attr {
    pub field_mask: u64,
    pub name: [c_char; 32],
    pub local_sockaddr: sockaddr_storage,
    pub remote_sockaddr: sockaddr_storage,
    pub transports: ucp_transports_t,
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
    pub enum ucp_mem_map_bits: c_uint {
        UCP_MEM_MAP_NONBLOCK = 1 << 0,
        UCP_MEM_MAP_ALLOCATE = 1 << 1,
        UCP_MEM_MAP_FIXED = 1 << 2,
        UCP_MEM_MAP_SYMMETRIC_RKEY = 1 << 3,
        UCP_MEM_MAP_LOCK = 1 << 4,
    }
}

c_enum! {
    pub enum ucp_mem_map_prot_bits: c_uint {
        UCP_MEM_MAP_PROT_LOCAL_READ = 1 << 0,
        UCP_MEM_MAP_PROT_LOCAL_WRITE = 1 << 1,
        UCP_MEM_MAP_PROT_REMOTE_READ = 1 << 8,
        UCP_MEM_MAP_PROT_REMOTE_WRITE = 1 << 9,
    }
}
