//! `uct/api/uct.h`: types and constants.

use crate::c::prelude::*;

pub const UCT_IFACE_FLAG_AM_SHORT: u64 = 1 << 0;
pub const UCT_IFACE_FLAG_AM_BCOPY: u64 = 1 << 1;
pub const UCT_IFACE_FLAG_AM_ZCOPY: u64 = 1 << 2;
pub const UCT_IFACE_FLAG_PENDING: u64 = 1 << 3;
pub const UCT_IFACE_FLAG_PUT_SHORT: u64 = 1 << 4;
pub const UCT_IFACE_FLAG_PUT_BCOPY: u64 = 1 << 5;
pub const UCT_IFACE_FLAG_PUT_ZCOPY: u64 = 1 << 6;
pub const UCT_IFACE_FLAG_GET_SHORT: u64 = 1 << 8;
pub const UCT_IFACE_FLAG_GET_BCOPY: u64 = 1 << 9;
pub const UCT_IFACE_FLAG_GET_ZCOPY: u64 = 1 << 10;
pub const UCT_IFACE_FLAG_ATOMIC_CPU: u64 = 1 << 30;
pub const UCT_IFACE_FLAG_ATOMIC_DEVICE: u64 = 1 << 31;
pub const UCT_IFACE_FLAG_ERRHANDLE_SHORT_BUF: u64 = 1 << 32;
pub const UCT_IFACE_FLAG_ERRHANDLE_BCOPY_BUF: u64 = 1 << 33;
pub const UCT_IFACE_FLAG_ERRHANDLE_ZCOPY_BUF: u64 = 1 << 34;
pub const UCT_IFACE_FLAG_ERRHANDLE_AM_ID: u64 = 1 << 35;
pub const UCT_IFACE_FLAG_ERRHANDLE_REMOTE_MEM: u64 = 1 << 36;
pub const UCT_IFACE_FLAG_ERRHANDLE_BCOPY_LEN: u64 = 1 << 37;
pub const UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE: u64 = 1 << 38;
pub const UCT_IFACE_FLAG_EP_CHECK: u64 = 1 << 39;
pub const UCT_IFACE_FLAG_CONNECT_TO_IFACE: u64 = 1 << 40;
pub const UCT_IFACE_FLAG_CONNECT_TO_EP: u64 = 1 << 41;
pub const UCT_IFACE_FLAG_CONNECT_TO_SOCKADDR: u64 = 1 << 42;
pub const UCT_IFACE_FLAG_AM_DUP: u64 = 1 << 43;
pub const UCT_IFACE_FLAG_CB_SYNC: u64 = 1 << 44;
pub const UCT_IFACE_FLAG_CB_ASYNC: u64 = 1 << 45;
pub const UCT_IFACE_FLAG_EP_KEEPALIVE: u64 = 1 << 46;
pub const UCT_IFACE_FLAG_PUT_AM_ORDER: u64 = 1 << 47;
pub const UCT_IFACE_FLAG_TAG_EAGER_SHORT: u64 = 1 << 50;
pub const UCT_IFACE_FLAG_TAG_EAGER_BCOPY: u64 = 1 << 51;
pub const UCT_IFACE_FLAG_TAG_EAGER_ZCOPY: u64 = 1 << 52;
pub const UCT_IFACE_FLAG_TAG_RNDV_ZCOPY: u64 = 1 << 53;
pub const UCT_IFACE_FLAG_INTER_NODE: u64 = 1 << 54;
pub const UCT_IFACE_FLAG_DEVICE_EP: u64 = 1 << 55;
pub const UCT_IFACE_FLAG_DEVICE_LKEY: u64 = 1 << 56;
pub const UCT_IFACE_FLAG_EVENT_SEND_COMP: u64 = 1 << 0;
pub const UCT_IFACE_FLAG_EVENT_RECV: u64 = 1 << 1;
pub const UCT_IFACE_FLAG_EVENT_RECV_SIG: u64 = 1 << 2;
pub const UCT_IFACE_FLAG_EVENT_FD: u64 = 1 << 3;
pub const UCT_IFACE_FLAG_EVENT_ASYNC_CB: u64 = 1 << 4;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_md_resource_desc {
    pub md_name: [c_char; 16],
}
const _: () = {
    assert!(size_of::<uct_md_resource_desc>() == 16);
    assert!(offset_of!(uct_md_resource_desc, md_name) == 0);
};

pub type uct_md_resource_desc_t = uct_md_resource_desc;

c_enum! {
    pub enum uct_component_attr_field: c_uint {
        UCT_COMPONENT_ATTR_FIELD_NAME = 1 << 0,
        UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT = 1 << 1,
        UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES = 1 << 2,
        UCT_COMPONENT_ATTR_FIELD_FLAGS = 1 << 3,
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_component_attr {
    pub field_mask: u64,
    pub name: [c_char; 16],
    pub md_resource_count: c_uint,
    pub md_resources: *mut uct_md_resource_desc_t,
    pub flags: u64,
}
const _: () = {
    assert!(size_of::<uct_component_attr>() == 48);
    assert!(offset_of!(uct_component_attr, field_mask) == 0);
    assert!(offset_of!(uct_component_attr, name) == 8);
    assert!(offset_of!(uct_component_attr, md_resource_count) == 24);
    assert!(offset_of!(uct_component_attr, md_resources) == 32);
    assert!(offset_of!(uct_component_attr, flags) == 40);
};

pub type uct_component_attr_t = uct_component_attr;

c_enum! {
    pub enum uct_device_type_t: c_uint {
        UCT_DEVICE_TYPE_NET = 0,
        UCT_DEVICE_TYPE_SHM = 1,
        UCT_DEVICE_TYPE_ACC = 2,
        UCT_DEVICE_TYPE_SELF = 3,
        UCT_DEVICE_TYPE_LAST = 4,
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_tl_resource_desc {
    pub tl_name: [c_char; 10],
    pub dev_name: [c_char; 32],
    pub dev_type: uct_device_type_t,
    pub sys_device: ucs_sys_device_t,
}
const _: () = {
    assert!(size_of::<uct_tl_resource_desc>() == 52);
    assert!(offset_of!(uct_tl_resource_desc, tl_name) == 0);
    assert!(offset_of!(uct_tl_resource_desc, dev_name) == 10);
    assert!(offset_of!(uct_tl_resource_desc, dev_type) == 44);
    assert!(offset_of!(uct_tl_resource_desc, sys_device) == 48);
};

pub type uct_tl_resource_desc_t = uct_tl_resource_desc;

c_enum! {
    pub enum uct_atomic_op: c_uint {
        UCT_ATOMIC_OP_ADD = 0,
        UCT_ATOMIC_OP_AND = 1,
        UCT_ATOMIC_OP_OR = 2,
        UCT_ATOMIC_OP_XOR = 3,
        UCT_ATOMIC_OP_SWAP = 4,
        UCT_ATOMIC_OP_CSWAP = 5,
        UCT_ATOMIC_OP_LAST = 6,
    }
}

pub type uct_atomic_op_t = uct_atomic_op;

c_enum! {
    pub enum uct_alloc_method_t: c_uint {
        UCT_ALLOC_METHOD_THP = 0,
        UCT_ALLOC_METHOD_MD = 1,
        UCT_ALLOC_METHOD_HEAP = 2,
        UCT_ALLOC_METHOD_MMAP = 3,
        UCT_ALLOC_METHOD_HUGE = 4,
        UCT_ALLOC_METHOD_LAST = 5,
        UCT_ALLOC_METHOD_DEFAULT = 5,
    }
}

c_enum! {
    pub enum uct_iface_event_types: c_uint {
        UCT_EVENT_SEND_COMP = 1 << 0,
        UCT_EVENT_RECV = 1 << 1,
        UCT_EVENT_RECV_SIG = 1 << 2,
        UCT_EVENT_SPEED_CHANGE = 1 << 3,
    }
}

c_enum! {
    pub enum uct_flush_flags: c_uint {
        UCT_FLUSH_FLAG_LOCAL = 0,
        UCT_FLUSH_FLAG_CANCEL = 1 << 0,
        UCT_FLUSH_FLAG_REMOTE = 1 << 1,
    }
}

c_enum! {
    pub enum uct_progress_types: c_uint {
        UCT_PROGRESS_SEND = 1 << 0,
        UCT_PROGRESS_RECV = 1 << 1,
        UCT_PROGRESS_THREAD_SAFE = 1 << 7,
    }
}

c_enum! {
    pub enum uct_msg_flags: c_uint {
        UCT_SEND_FLAG_SIGNALED = 1 << 0,
        UCT_SEND_FLAG_PEER_CHECK = 1 << 1,
    }
}

c_enum! {
    pub enum uct_cb_flags: c_uint {
        UCT_CB_FLAG_RESERVED = 1 << 1,
        UCT_CB_FLAG_ASYNC = 1 << 2,
    }
}

c_enum! {
    pub enum uct_iface_open_mode: c_uint {
        UCT_IFACE_OPEN_MODE_DEVICE = 1 << 0,
        UCT_IFACE_OPEN_MODE_SOCKADDR_SERVER = 1 << 1,
        UCT_IFACE_OPEN_MODE_SOCKADDR_CLIENT = 1 << 2,
        UCT_IFACE_OPEN_MODE_STUB = 1 << 3,
    }
}

c_enum! {
    pub enum uct_iface_params_field: c_uint {
        UCT_IFACE_PARAM_FIELD_CPU_MASK = 1 << 0,
        UCT_IFACE_PARAM_FIELD_OPEN_MODE = 1 << 1,
        UCT_IFACE_PARAM_FIELD_DEVICE = 1 << 2,
        UCT_IFACE_PARAM_FIELD_SOCKADDR = 1 << 3,
        UCT_IFACE_PARAM_FIELD_STATS_ROOT = 1 << 4,
        UCT_IFACE_PARAM_FIELD_RX_HEADROOM = 1 << 5,
        UCT_IFACE_PARAM_FIELD_ERR_HANDLER_ARG = 1 << 6,
        UCT_IFACE_PARAM_FIELD_ERR_HANDLER = 1 << 7,
        UCT_IFACE_PARAM_FIELD_ERR_HANDLER_FLAGS = 1 << 8,
        UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_ARG = 1 << 9,
        UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_CB = 1 << 10,
        UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_ARG = 1 << 11,
        UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_CB = 1 << 12,
        UCT_IFACE_PARAM_FIELD_ASYNC_EVENT_ARG = 1 << 13,
        UCT_IFACE_PARAM_FIELD_ASYNC_EVENT_CB = 1 << 14,
        UCT_IFACE_PARAM_FIELD_KEEPALIVE_INTERVAL = 1 << 15,
        UCT_IFACE_PARAM_FIELD_AM_ALIGNMENT = 1 << 16,
        UCT_IFACE_PARAM_FIELD_AM_ALIGN_OFFSET = 1 << 17,
        UCT_IFACE_PARAM_FIELD_FEATURES = 1 << 18,
    }
}

c_enum! {
    pub enum uct_sockaddr_accessibility_t: c_uint {
        UCT_SOCKADDR_ACC_LOCAL = 0,
        UCT_SOCKADDR_ACC_REMOTE = 1,
    }
}

c_enum! {
    pub enum uct_md_mem_flags: c_uint {
        UCT_MD_MEM_FLAG_NONBLOCK = 1 << 0,
        UCT_MD_MEM_FLAG_FIXED = 1 << 1,
        UCT_MD_MEM_FLAG_LOCK = 1 << 2,
        UCT_MD_MEM_FLAG_HIDE_ERRORS = 1 << 3,
        UCT_MD_MEM_ACCESS_REMOTE_PUT = 1 << 5,
        UCT_MD_MEM_ACCESS_REMOTE_GET = 1 << 6,
        UCT_MD_MEM_ACCESS_REMOTE_ATOMIC = 1 << 7,
        UCT_MD_MEM_ACCESS_LOCAL_READ = 1 << 8,
        UCT_MD_MEM_ACCESS_LOCAL_WRITE = 1 << 9,
        UCT_MD_MEM_SYMMETRIC_RKEY = 1 << 10,
        UCT_MD_MEM_GVA = 1 << 11,
        UCT_MD_MEM_ACCESS_ALL = 992,
        UCT_MD_MEM_ACCESS_RMA = 864,
    }
}

c_enum! {
    pub enum uct_mem_advice_t: c_uint {
        UCT_MADV_NORMAL = 0,
        UCT_MADV_WILLNEED = 1,
    }
}

c_enum! {
    pub enum uct_cm_attr_field: c_uint {
        UCT_CM_ATTR_FIELD_MAX_CONN_PRIV = 1 << 0,
    }
}

c_enum! {
    pub enum uct_listener_attr_field: c_uint {
        UCT_LISTENER_ATTR_FIELD_SOCKADDR = 1 << 0,
    }
}

c_enum! {
    pub enum uct_listener_params_field: c_uint {
        UCT_LISTENER_PARAM_FIELD_BACKLOG = 1 << 0,
        UCT_LISTENER_PARAM_FIELD_CONN_REQUEST_CB = 1 << 1,
        UCT_LISTENER_PARAM_FIELD_USER_DATA = 1 << 2,
    }
}

c_enum! {
    pub enum uct_ep_params_field: c_uint {
        UCT_EP_PARAM_FIELD_IFACE = 1 << 0,
        UCT_EP_PARAM_FIELD_USER_DATA = 1 << 1,
        UCT_EP_PARAM_FIELD_DEV_ADDR = 1 << 2,
        UCT_EP_PARAM_FIELD_IFACE_ADDR = 1 << 3,
        UCT_EP_PARAM_FIELD_SOCKADDR = 1 << 4,
        UCT_EP_PARAM_FIELD_SOCKADDR_CB_FLAGS = 1 << 5,
        UCT_EP_PARAM_FIELD_SOCKADDR_PACK_CB = 1 << 6,
        UCT_EP_PARAM_FIELD_CM = 1 << 7,
        UCT_EP_PARAM_FIELD_CONN_REQUEST = 1 << 8,
        UCT_EP_PARAM_FIELD_SOCKADDR_CONNECT_CB_CLIENT = 1 << 9,
        UCT_EP_PARAM_FIELD_SOCKADDR_NOTIFY_CB_SERVER = 1 << 10,
        UCT_EP_PARAM_FIELD_SOCKADDR_DISCONNECT_CB = 1 << 11,
        UCT_EP_PARAM_FIELD_PATH_INDEX = 1 << 12,
        UCT_EP_PARAM_FIELD_CM_RESOLVE_CB = 1 << 13,
        UCT_EP_PARAM_FIELD_PRIV_DATA = 1 << 14,
        UCT_EP_PARAM_FIELD_PRIV_DATA_LENGTH = 1 << 15,
        UCT_EP_PARAM_FIELD_LOCAL_SOCKADDR = 1 << 16,
        UCT_EP_PARAM_FIELD_DEV_ADDR_LENGTH = 1 << 17,
        UCT_EP_PARAM_FIELD_IFACE_ADDR_LENGTH = 1 << 18,
    }
}

c_enum! {
    pub enum uct_ep_connect_params_field: c_uint {
        UCT_EP_CONNECT_PARAM_FIELD_PRIVATE_DATA = 1 << 0,
        UCT_EP_CONNECT_PARAM_FIELD_PRIVATE_DATA_LENGTH = 1 << 1,
    }
}

c_enum! {
    pub enum uct_iface_feature: c_uint {
        UCT_IFACE_FEATURE_AM = 1 << 0,
        UCT_IFACE_FEATURE_PUT = 1 << 1,
        UCT_IFACE_FEATURE_GET = 1 << 2,
        UCT_IFACE_FEATURE_AMO32 = 1 << 3,
        UCT_IFACE_FEATURE_AMO64 = 1 << 4,
        UCT_IFACE_FEATURE_TAG = 1 << 5,
        UCT_IFACE_FEATURE_FLUSH_REMOTE = 1 << 6,
        UCT_IFACE_FEATURE_LAST = 1 << 7,
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_ppn_bandwidth {
    pub dedicated: f64,
    pub shared: f64,
}
const _: () = {
    assert!(size_of::<uct_ppn_bandwidth>() == 16);
    assert!(offset_of!(uct_ppn_bandwidth, dedicated) == 0);
    assert!(offset_of!(uct_ppn_bandwidth, shared) == 8);
};

pub type uct_ppn_bandwidth_t = uct_ppn_bandwidth;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface_attr_cap_put {
    pub max_short: usize,
    pub max_bcopy: usize,
    pub min_zcopy: usize,
    pub max_zcopy: usize,
    pub opt_zcopy_align: usize,
    pub align_mtu: usize,
    pub max_iov: usize,
}
const _: () = {
    assert!(size_of::<uct_iface_attr_cap_put>() == 56);
    assert!(offset_of!(uct_iface_attr_cap_put, max_short) == 0);
    assert!(offset_of!(uct_iface_attr_cap_put, max_bcopy) == 8);
    assert!(offset_of!(uct_iface_attr_cap_put, min_zcopy) == 16);
    assert!(offset_of!(uct_iface_attr_cap_put, max_zcopy) == 24);
    assert!(offset_of!(uct_iface_attr_cap_put, opt_zcopy_align) == 32);
    assert!(offset_of!(uct_iface_attr_cap_put, align_mtu) == 40);
    assert!(offset_of!(uct_iface_attr_cap_put, max_iov) == 48);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface_attr_cap_get {
    pub max_short: usize,
    pub max_bcopy: usize,
    pub min_zcopy: usize,
    pub max_zcopy: usize,
    pub opt_zcopy_align: usize,
    pub align_mtu: usize,
    pub max_iov: usize,
}
const _: () = {
    assert!(size_of::<uct_iface_attr_cap_get>() == 56);
    assert!(offset_of!(uct_iface_attr_cap_get, max_short) == 0);
    assert!(offset_of!(uct_iface_attr_cap_get, max_bcopy) == 8);
    assert!(offset_of!(uct_iface_attr_cap_get, min_zcopy) == 16);
    assert!(offset_of!(uct_iface_attr_cap_get, max_zcopy) == 24);
    assert!(offset_of!(uct_iface_attr_cap_get, opt_zcopy_align) == 32);
    assert!(offset_of!(uct_iface_attr_cap_get, align_mtu) == 40);
    assert!(offset_of!(uct_iface_attr_cap_get, max_iov) == 48);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface_attr_cap_am {
    pub max_short: usize,
    pub max_bcopy: usize,
    pub min_zcopy: usize,
    pub max_zcopy: usize,
    pub opt_zcopy_align: usize,
    pub align_mtu: usize,
    pub max_hdr: usize,
    pub max_iov: usize,
}
const _: () = {
    assert!(size_of::<uct_iface_attr_cap_am>() == 64);
    assert!(offset_of!(uct_iface_attr_cap_am, max_short) == 0);
    assert!(offset_of!(uct_iface_attr_cap_am, max_bcopy) == 8);
    assert!(offset_of!(uct_iface_attr_cap_am, min_zcopy) == 16);
    assert!(offset_of!(uct_iface_attr_cap_am, max_zcopy) == 24);
    assert!(offset_of!(uct_iface_attr_cap_am, opt_zcopy_align) == 32);
    assert!(offset_of!(uct_iface_attr_cap_am, align_mtu) == 40);
    assert!(offset_of!(uct_iface_attr_cap_am, max_hdr) == 48);
    assert!(offset_of!(uct_iface_attr_cap_am, max_iov) == 56);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface_attr_cap_tag_recv {
    pub min_recv: usize,
    pub max_zcopy: usize,
    pub max_iov: usize,
    pub max_outstanding: usize,
}
const _: () = {
    assert!(size_of::<uct_iface_attr_cap_tag_recv>() == 32);
    assert!(offset_of!(uct_iface_attr_cap_tag_recv, min_recv) == 0);
    assert!(offset_of!(uct_iface_attr_cap_tag_recv, max_zcopy) == 8);
    assert!(offset_of!(uct_iface_attr_cap_tag_recv, max_iov) == 16);
    assert!(offset_of!(uct_iface_attr_cap_tag_recv, max_outstanding) == 24);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface_attr_cap_tag_eager {
    pub max_short: usize,
    pub max_bcopy: usize,
    pub max_zcopy: usize,
    pub max_iov: usize,
}
const _: () = {
    assert!(size_of::<uct_iface_attr_cap_tag_eager>() == 32);
    assert!(offset_of!(uct_iface_attr_cap_tag_eager, max_short) == 0);
    assert!(offset_of!(uct_iface_attr_cap_tag_eager, max_bcopy) == 8);
    assert!(offset_of!(uct_iface_attr_cap_tag_eager, max_zcopy) == 16);
    assert!(offset_of!(uct_iface_attr_cap_tag_eager, max_iov) == 24);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface_attr_cap_tag_rndv {
    pub max_zcopy: usize,
    pub max_hdr: usize,
    pub max_iov: usize,
}
const _: () = {
    assert!(size_of::<uct_iface_attr_cap_tag_rndv>() == 24);
    assert!(offset_of!(uct_iface_attr_cap_tag_rndv, max_zcopy) == 0);
    assert!(offset_of!(uct_iface_attr_cap_tag_rndv, max_hdr) == 8);
    assert!(offset_of!(uct_iface_attr_cap_tag_rndv, max_iov) == 16);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface_attr_cap_tag {
    pub recv: uct_iface_attr_cap_tag_recv,
    pub eager: uct_iface_attr_cap_tag_eager,
    pub rndv: uct_iface_attr_cap_tag_rndv,
}
const _: () = {
    assert!(size_of::<uct_iface_attr_cap_tag>() == 88);
    assert!(offset_of!(uct_iface_attr_cap_tag, recv) == 0);
    assert!(offset_of!(uct_iface_attr_cap_tag, eager) == 32);
    assert!(offset_of!(uct_iface_attr_cap_tag, rndv) == 64);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface_attr_cap_atomic {
    pub op_flags: u64,
    pub fop_flags: u64,
}
const _: () = {
    assert!(size_of::<uct_iface_attr_cap_atomic>() == 16);
    assert!(offset_of!(uct_iface_attr_cap_atomic, op_flags) == 0);
    assert!(offset_of!(uct_iface_attr_cap_atomic, fop_flags) == 8);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface_attr_cap {
    pub put: uct_iface_attr_cap_put,
    pub get: uct_iface_attr_cap_get,
    pub am: uct_iface_attr_cap_am,
    pub tag: uct_iface_attr_cap_tag,
    pub atomic32: uct_iface_attr_cap_atomic,
    pub atomic64: uct_iface_attr_cap_atomic,
    pub flags: u64,
    pub event_flags: u64,
}
const _: () = {
    assert!(size_of::<uct_iface_attr_cap>() == 312);
    assert!(offset_of!(uct_iface_attr_cap, put) == 0);
    assert!(offset_of!(uct_iface_attr_cap, get) == 56);
    assert!(offset_of!(uct_iface_attr_cap, am) == 112);
    assert!(offset_of!(uct_iface_attr_cap, tag) == 176);
    assert!(offset_of!(uct_iface_attr_cap, atomic32) == 264);
    assert!(offset_of!(uct_iface_attr_cap, atomic64) == 280);
    assert!(offset_of!(uct_iface_attr_cap, flags) == 296);
    assert!(offset_of!(uct_iface_attr_cap, event_flags) == 304);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface_attr {
    pub cap: uct_iface_attr_cap,
    pub device_addr_len: usize,
    pub iface_addr_len: usize,
    pub ep_addr_len: usize,
    pub max_conn_priv: usize,
    pub listen_sockaddr: sockaddr_storage,
    pub overhead: f64,
    pub bandwidth: uct_ppn_bandwidth_t,
    pub latency: ucs_linear_func_t,
    pub priority: u8,
    pub max_num_eps: usize,
    pub dev_num_paths: c_uint,
    pub ctl_device: ucs_sys_device_t,
}
const _: () = {
    assert!(size_of::<uct_iface_attr>() == 536);
    assert!(offset_of!(uct_iface_attr, cap) == 0);
    assert!(offset_of!(uct_iface_attr, device_addr_len) == 312);
    assert!(offset_of!(uct_iface_attr, iface_addr_len) == 320);
    assert!(offset_of!(uct_iface_attr, ep_addr_len) == 328);
    assert!(offset_of!(uct_iface_attr, max_conn_priv) == 336);
    assert!(offset_of!(uct_iface_attr, listen_sockaddr) == 344);
    assert!(offset_of!(uct_iface_attr, overhead) == 472);
    assert!(offset_of!(uct_iface_attr, bandwidth) == 480);
    assert!(offset_of!(uct_iface_attr, latency) == 496);
    assert!(offset_of!(uct_iface_attr, priority) == 512);
    assert!(offset_of!(uct_iface_attr, max_num_eps) == 520);
    assert!(offset_of!(uct_iface_attr, dev_num_paths) == 528);
    assert!(offset_of!(uct_iface_attr, ctl_device) == 532);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface_params_mode_device {
    pub tl_name: *const c_char,
    pub dev_name: *const c_char,
}
const _: () = {
    assert!(size_of::<uct_iface_params_mode_device>() == 16);
    assert!(offset_of!(uct_iface_params_mode_device, tl_name) == 0);
    assert!(offset_of!(uct_iface_params_mode_device, dev_name) == 8);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface_params_mode_sockaddr {
    pub listen_sockaddr: ucs_sock_addr_t,
    pub conn_request_arg: *mut c_void,
    pub conn_request_cb: uct_sockaddr_conn_request_callback_t,
    pub cb_flags: u32,
}
const _: () = {
    assert!(size_of::<uct_iface_params_mode_sockaddr>() == 40);
    assert!(offset_of!(uct_iface_params_mode_sockaddr, listen_sockaddr) == 0);
    assert!(offset_of!(uct_iface_params_mode_sockaddr, conn_request_arg) == 16);
    assert!(offset_of!(uct_iface_params_mode_sockaddr, conn_request_cb) == 24);
    assert!(offset_of!(uct_iface_params_mode_sockaddr, cb_flags) == 32);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface_params_mode_stub {
    pub status: ucs_status_t,
}
const _: () = {
    assert!(size_of::<uct_iface_params_mode_stub>() == 1);
    assert!(offset_of!(uct_iface_params_mode_stub, status) == 0);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub union uct_iface_params_mode {
    pub device: uct_iface_params_mode_device,
    pub sockaddr: uct_iface_params_mode_sockaddr,
    pub stub: uct_iface_params_mode_stub,
}
const _: () = {
    assert!(size_of::<uct_iface_params_mode>() == 40);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface_params {
    pub field_mask: u64,
    pub cpu_mask: ucs_cpu_set_t,
    pub open_mode: u64,
    pub mode: uct_iface_params_mode,
    pub stats_root: *mut ucs_stats_node_t,
    pub rx_headroom: usize,
    pub err_handler_arg: *mut c_void,
    pub err_handler: uct_error_handler_t,
    pub err_handler_flags: u32,
    pub eager_arg: *mut c_void,
    pub eager_cb: uct_tag_unexp_eager_cb_t,
    pub rndv_arg: *mut c_void,
    pub rndv_cb: uct_tag_unexp_rndv_cb_t,
    pub async_event_arg: *mut c_void,
    pub async_event_cb: uct_async_event_cb_t,
    pub keepalive_interval: ucs_time_t,
    pub am_alignment: usize,
    pub am_align_offset: usize,
    pub features: u64,
}
const _: () = {
    assert!(size_of::<uct_iface_params>() == 304);
    assert!(offset_of!(uct_iface_params, field_mask) == 0);
    assert!(offset_of!(uct_iface_params, cpu_mask) == 8);
    assert!(offset_of!(uct_iface_params, open_mode) == 136);
    assert!(offset_of!(uct_iface_params, mode) == 144);
    assert!(offset_of!(uct_iface_params, stats_root) == 184);
    assert!(offset_of!(uct_iface_params, rx_headroom) == 192);
    assert!(offset_of!(uct_iface_params, err_handler_arg) == 200);
    assert!(offset_of!(uct_iface_params, err_handler) == 208);
    assert!(offset_of!(uct_iface_params, err_handler_flags) == 216);
    assert!(offset_of!(uct_iface_params, eager_arg) == 224);
    assert!(offset_of!(uct_iface_params, eager_cb) == 232);
    assert!(offset_of!(uct_iface_params, rndv_arg) == 240);
    assert!(offset_of!(uct_iface_params, rndv_cb) == 248);
    assert!(offset_of!(uct_iface_params, async_event_arg) == 256);
    assert!(offset_of!(uct_iface_params, async_event_cb) == 264);
    assert!(offset_of!(uct_iface_params, keepalive_interval) == 272);
    assert!(offset_of!(uct_iface_params, am_alignment) == 280);
    assert!(offset_of!(uct_iface_params, am_align_offset) == 288);
    assert!(offset_of!(uct_iface_params, features) == 296);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_ep_params {
    pub field_mask: u64,
    pub iface: uct_iface_h,
    pub user_data: *mut c_void,
    pub dev_addr: *const uct_device_addr_t,
    pub iface_addr: *const uct_iface_addr_t,
    pub sockaddr: *const ucs_sock_addr_t,
    pub sockaddr_cb_flags: u32,
    pub sockaddr_pack_cb: uct_cm_ep_priv_data_pack_callback_t,
    pub cm: uct_cm_h,
    pub conn_request: uct_conn_request_h,
    pub sockaddr_cb_client: uct_cm_ep_client_connect_callback_t,
    pub sockaddr_cb_server: uct_cm_ep_server_conn_notify_callback_t,
    pub disconnect_cb: uct_ep_disconnect_cb_t,
    pub path_index: c_uint,
    pub cm_resolve_cb: uct_cm_ep_resolve_callback_t,
    pub private_data: *const c_void,
    pub private_data_length: usize,
    pub local_sockaddr: *const ucs_sock_addr_t,
    pub dev_addr_length: usize,
    pub iface_addr_length: usize,
}
const _: () = {
    assert!(size_of::<uct_ep_params>() == 160);
    assert!(offset_of!(uct_ep_params, field_mask) == 0);
    assert!(offset_of!(uct_ep_params, iface) == 8);
    assert!(offset_of!(uct_ep_params, user_data) == 16);
    assert!(offset_of!(uct_ep_params, dev_addr) == 24);
    assert!(offset_of!(uct_ep_params, iface_addr) == 32);
    assert!(offset_of!(uct_ep_params, sockaddr) == 40);
    assert!(offset_of!(uct_ep_params, sockaddr_cb_flags) == 48);
    assert!(offset_of!(uct_ep_params, sockaddr_pack_cb) == 56);
    assert!(offset_of!(uct_ep_params, cm) == 64);
    assert!(offset_of!(uct_ep_params, conn_request) == 72);
    assert!(offset_of!(uct_ep_params, sockaddr_cb_client) == 80);
    assert!(offset_of!(uct_ep_params, sockaddr_cb_server) == 88);
    assert!(offset_of!(uct_ep_params, disconnect_cb) == 96);
    assert!(offset_of!(uct_ep_params, path_index) == 104);
    assert!(offset_of!(uct_ep_params, cm_resolve_cb) == 112);
    assert!(offset_of!(uct_ep_params, private_data) == 120);
    assert!(offset_of!(uct_ep_params, private_data_length) == 128);
    assert!(offset_of!(uct_ep_params, local_sockaddr) == 136);
    assert!(offset_of!(uct_ep_params, dev_addr_length) == 144);
    assert!(offset_of!(uct_ep_params, iface_addr_length) == 152);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_ep_connect_params {
    pub field_mask: u64,
    pub private_data: *const c_void,
    pub private_data_length: usize,
}
const _: () = {
    assert!(size_of::<uct_ep_connect_params>() == 24);
    assert!(offset_of!(uct_ep_connect_params, field_mask) == 0);
    assert!(offset_of!(uct_ep_connect_params, private_data) == 8);
    assert!(offset_of!(uct_ep_connect_params, private_data_length) == 16);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_cm_attr {
    pub field_mask: u64,
    pub max_conn_priv: usize,
}
const _: () = {
    assert!(size_of::<uct_cm_attr>() == 16);
    assert!(offset_of!(uct_cm_attr, field_mask) == 0);
    assert!(offset_of!(uct_cm_attr, max_conn_priv) == 8);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_listener_attr {
    pub field_mask: u64,
    pub sockaddr: sockaddr_storage,
}
const _: () = {
    assert!(size_of::<uct_listener_attr>() == 136);
    assert!(offset_of!(uct_listener_attr, field_mask) == 0);
    assert!(offset_of!(uct_listener_attr, sockaddr) == 8);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_listener_params {
    pub field_mask: u64,
    pub backlog: c_int,
    pub conn_request_cb: uct_cm_listener_conn_request_callback_t,
    pub user_data: *mut c_void,
}
const _: () = {
    assert!(size_of::<uct_listener_params>() == 32);
    assert!(offset_of!(uct_listener_params, field_mask) == 0);
    assert!(offset_of!(uct_listener_params, backlog) == 8);
    assert!(offset_of!(uct_listener_params, conn_request_cb) == 16);
    assert!(offset_of!(uct_listener_params, user_data) == 24);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_md_attr_cap {
    pub max_alloc: u64,
    pub max_reg: usize,
    pub flags: u64,
    pub reg_mem_types: u64,
    pub detect_mem_types: u64,
    pub alloc_mem_types: u64,
    pub access_mem_types: u64,
}
const _: () = {
    assert!(size_of::<uct_md_attr_cap>() == 56);
    assert!(offset_of!(uct_md_attr_cap, max_alloc) == 0);
    assert!(offset_of!(uct_md_attr_cap, max_reg) == 8);
    assert!(offset_of!(uct_md_attr_cap, flags) == 16);
    assert!(offset_of!(uct_md_attr_cap, reg_mem_types) == 24);
    assert!(offset_of!(uct_md_attr_cap, detect_mem_types) == 32);
    assert!(offset_of!(uct_md_attr_cap, alloc_mem_types) == 40);
    assert!(offset_of!(uct_md_attr_cap, access_mem_types) == 48);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_md_attr {
    pub cap: uct_md_attr_cap,
    pub reg_cost: ucs_linear_func_t,
    pub component_name: [c_char; 16],
    pub rkey_packed_size: usize,
    pub local_cpus: ucs_cpu_set_t,
}
const _: () = {
    assert!(size_of::<uct_md_attr>() == 224);
    assert!(offset_of!(uct_md_attr, cap) == 0);
    assert!(offset_of!(uct_md_attr, reg_cost) == 56);
    assert!(offset_of!(uct_md_attr, component_name) == 72);
    assert!(offset_of!(uct_md_attr, rkey_packed_size) == 88);
    assert!(offset_of!(uct_md_attr, local_cpus) == 96);
};

c_enum! {
    pub enum uct_md_mem_attr_field: c_uint {
        UCT_MD_MEM_ATTR_FIELD_MEM_TYPE = 1 << 0,
        UCT_MD_MEM_ATTR_FIELD_SYS_DEV = 1 << 1,
        UCT_MD_MEM_ATTR_FIELD_BASE_ADDRESS = 1 << 2,
        UCT_MD_MEM_ATTR_FIELD_ALLOC_LENGTH = 1 << 3,
        UCT_MD_MEM_ATTR_FIELD_DMABUF_FD = 1 << 4,
        UCT_MD_MEM_ATTR_FIELD_DMABUF_OFFSET = 1 << 5,
    }
}

pub type uct_md_mem_attr_field_t = uct_md_mem_attr_field;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_md_mem_attr {
    pub field_mask: u64,
    pub mem_type: ucs_memory_type_t,
    pub sys_dev: ucs_sys_device_t,
    pub base_address: *mut c_void,
    pub alloc_length: usize,
    pub dmabuf_fd: c_int,
    pub dmabuf_offset: usize,
}
const _: () = {
    assert!(size_of::<uct_md_mem_attr>() == 48);
    assert!(offset_of!(uct_md_mem_attr, field_mask) == 0);
    assert!(offset_of!(uct_md_mem_attr, mem_type) == 8);
    assert!(offset_of!(uct_md_mem_attr, sys_dev) == 12);
    assert!(offset_of!(uct_md_mem_attr, base_address) == 16);
    assert!(offset_of!(uct_md_mem_attr, alloc_length) == 24);
    assert!(offset_of!(uct_md_mem_attr, dmabuf_fd) == 32);
    assert!(offset_of!(uct_md_mem_attr, dmabuf_offset) == 40);
};

pub type uct_md_mem_attr_t = uct_md_mem_attr;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_allocated_memory {
    pub address: *mut c_void,
    pub length: usize,
    pub method: uct_alloc_method_t,
    pub mem_type: ucs_memory_type_t,
    pub md: uct_md_h,
    pub memh: uct_mem_h,
    pub sys_device: ucs_sys_device_t,
}
const _: () = {
    assert!(size_of::<uct_allocated_memory>() == 48);
    assert!(offset_of!(uct_allocated_memory, address) == 0);
    assert!(offset_of!(uct_allocated_memory, length) == 8);
    assert!(offset_of!(uct_allocated_memory, method) == 16);
    assert!(offset_of!(uct_allocated_memory, mem_type) == 20);
    assert!(offset_of!(uct_allocated_memory, md) == 24);
    assert!(offset_of!(uct_allocated_memory, memh) == 32);
    assert!(offset_of!(uct_allocated_memory, sys_device) == 40);
};

pub type uct_allocated_memory_t = uct_allocated_memory;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_rkey_bundle {
    pub rkey: uct_rkey_t,
    pub handle: *mut c_void,
    pub r#type: *mut c_void,
}
const _: () = {
    assert!(size_of::<uct_rkey_bundle>() == 24);
    assert!(offset_of!(uct_rkey_bundle, rkey) == 0);
    assert!(offset_of!(uct_rkey_bundle, handle) == 8);
    assert!(offset_of!(uct_rkey_bundle, r#type) == 16);
};

pub type uct_rkey_bundle_t = uct_rkey_bundle;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_completion {
    pub func: uct_completion_callback_t,
    pub count: c_int,
    pub status: ucs_status_t,
}
const _: () = {
    assert!(size_of::<uct_completion>() == 16);
    assert!(offset_of!(uct_completion, func) == 0);
    assert!(offset_of!(uct_completion, count) == 8);
    assert!(offset_of!(uct_completion, status) == 12);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_pending_req {
    pub func: uct_pending_callback_t,
    pub r#priv: [c_char; 40],
}
const _: () = {
    assert!(size_of::<uct_pending_req>() == 48);
    assert!(offset_of!(uct_pending_req, func) == 0);
    assert!(offset_of!(uct_pending_req, r#priv) == 8);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_tag_context {
    pub tag_consumed_cb: Option<unsafe extern "C" fn(*mut uct_tag_context_t)>,
    pub completed_cb: Option<
        unsafe extern "C" fn(
            *mut uct_tag_context_t,
            uct_tag_t,
            u64,
            usize,
            *mut c_void,
            ucs_status_t,
        ),
    >,
    pub rndv_cb: Option<
        unsafe extern "C" fn(
            *mut uct_tag_context_t,
            uct_tag_t,
            *const c_void,
            c_uint,
            ucs_status_t,
            c_uint,
        ),
    >,
    pub r#priv: [c_char; 32],
}
const _: () = {
    assert!(size_of::<uct_tag_context>() == 56);
    assert!(offset_of!(uct_tag_context, tag_consumed_cb) == 0);
    assert!(offset_of!(uct_tag_context, completed_cb) == 8);
    assert!(offset_of!(uct_tag_context, rndv_cb) == 16);
    assert!(offset_of!(uct_tag_context, r#priv) == 24);
};

c_enum! {
    pub enum uct_mem_alloc_params_field_t: c_uint {
        UCT_MEM_ALLOC_PARAM_FIELD_FLAGS = 1 << 0,
        UCT_MEM_ALLOC_PARAM_FIELD_ADDRESS = 1 << 1,
        UCT_MEM_ALLOC_PARAM_FIELD_MEM_TYPE = 1 << 2,
        UCT_MEM_ALLOC_PARAM_FIELD_MDS = 1 << 3,
        UCT_MEM_ALLOC_PARAM_FIELD_NAME = 1 << 4,
        UCT_MEM_ALLOC_PARAM_FIELD_SYS_DEVICE = 1 << 5,
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_mem_alloc_params_t_mds {
    pub mds: *const uct_md_h,
    pub count: c_uint,
}
const _: () = {
    assert!(size_of::<uct_mem_alloc_params_t_mds>() == 16);
    assert!(offset_of!(uct_mem_alloc_params_t_mds, mds) == 0);
    assert!(offset_of!(uct_mem_alloc_params_t_mds, count) == 8);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_mem_alloc_params_t {
    pub field_mask: u64,
    pub flags: c_uint,
    pub address: *mut c_void,
    pub mem_type: ucs_memory_type_t,
    pub mds: uct_mem_alloc_params_t_mds,
    pub name: *const c_char,
    pub sys_device: ucs_sys_device_t,
}
const _: () = {
    assert!(size_of::<uct_mem_alloc_params_t>() == 64);
    assert!(offset_of!(uct_mem_alloc_params_t, field_mask) == 0);
    assert!(offset_of!(uct_mem_alloc_params_t, flags) == 8);
    assert!(offset_of!(uct_mem_alloc_params_t, address) == 16);
    assert!(offset_of!(uct_mem_alloc_params_t, mem_type) == 24);
    assert!(offset_of!(uct_mem_alloc_params_t, mds) == 32);
    assert!(offset_of!(uct_mem_alloc_params_t, name) == 48);
    assert!(offset_of!(uct_mem_alloc_params_t, sys_device) == 56);
};

c_enum! {
    pub enum uct_component_flag_bits: c_uint {
        UCT_COMPONENT_FLAG_CM = 1 << 0,
        UCT_COMPONENT_FLAG_RKEY_PTR = 1 << 1,
    }
}

c_enum! {
    pub enum uct_md_flag_bits: c_uint {
        UCT_MD_FLAG_ALLOC = 1 << 0,
        UCT_MD_FLAG_REG = 1 << 1,
        UCT_MD_FLAG_NEED_MEMH = 1 << 2,
        UCT_MD_FLAG_NEED_RKEY = 1 << 3,
        UCT_MD_FLAG_ADVISE = 1 << 4,
        UCT_MD_FLAG_FIXED = 1 << 5,
        UCT_MD_FLAG_RKEY_PTR = 1 << 6,
        UCT_MD_FLAG_SOCKADDR = 1 << 7,
        UCT_MD_FLAG_INVALIDATE = 1 << 8,
        UCT_MD_FLAG_EXPORTED_MKEY = 1 << 9,
        UCT_MD_FLAG_REG_DMABUF = 1 << 10,
        UCT_MD_FLAG_LAST = 1 << 11,
    }
}

c_enum! {
    pub enum uct_tag_recv_cb_inline_data_bits: c_uint {
        UCT_TAG_RECV_CB_INLINE_DATA = 1 << 0,
    }
}
