//! `uct/api/uct.h`: types and constants.

use crate::c::prelude::*;

/// `uct_ep_am_short` and `uct_ep_am_short_iov` work.
pub const UCT_IFACE_FLAG_AM_SHORT: u64 = 1 << 0;
/// `uct_ep_am_bcopy` works.
pub const UCT_IFACE_FLAG_AM_BCOPY: u64 = 1 << 1;
/// `uct_ep_am_zcopy` works.
pub const UCT_IFACE_FLAG_AM_ZCOPY: u64 = 1 << 2;
/// Requests can be queued: `uct_ep_pending_add`.
pub const UCT_IFACE_FLAG_PENDING: u64 = 1 << 3;
/// `uct_ep_put_short` works.
pub const UCT_IFACE_FLAG_PUT_SHORT: u64 = 1 << 4;
/// `uct_ep_put_bcopy` works.
pub const UCT_IFACE_FLAG_PUT_BCOPY: u64 = 1 << 5;
/// `uct_ep_put_zcopy` works.
pub const UCT_IFACE_FLAG_PUT_ZCOPY: u64 = 1 << 6;
/// `uct_ep_get_short` works.
pub const UCT_IFACE_FLAG_GET_SHORT: u64 = 1 << 8;
/// `uct_ep_get_bcopy` works.
pub const UCT_IFACE_FLAG_GET_BCOPY: u64 = 1 << 9;
/// `uct_ep_get_zcopy` works.
pub const UCT_IFACE_FLAG_GET_ZCOPY: u64 = 1 << 10;
/// Atomics agree with those of the processor.
pub const UCT_IFACE_FLAG_ATOMIC_CPU: u64 = 1 << 30;
/// Atomics agree with each other only.
pub const UCT_IFACE_FLAG_ATOMIC_DEVICE: u64 = 1 << 31;
/// An invalid buffer of a short operation is reported.
pub const UCT_IFACE_FLAG_ERRHANDLE_SHORT_BUF: u64 = 1 << 32;
/// An invalid buffer of a bcopy operation is reported.
pub const UCT_IFACE_FLAG_ERRHANDLE_BCOPY_BUF: u64 = 1 << 33;
/// An invalid buffer of a zcopy operation is reported.
pub const UCT_IFACE_FLAG_ERRHANDLE_ZCOPY_BUF: u64 = 1 << 34;
/// An invalid id of an active message is reported.
pub const UCT_IFACE_FLAG_ERRHANDLE_AM_ID: u64 = 1 << 35;
/// An invalid remote address is reported.
pub const UCT_IFACE_FLAG_ERRHANDLE_REMOTE_MEM: u64 = 1 << 36;
/// A too long bcopy operation is reported.
pub const UCT_IFACE_FLAG_ERRHANDLE_BCOPY_LEN: u64 = 1 << 37;
/// The failure of a peer is reported.
pub const UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE: u64 = 1 << 38;
/// `uct_ep_check` works.
pub const UCT_IFACE_FLAG_EP_CHECK: u64 = 1 << 39;
/// Endpoints connect to an interface.
pub const UCT_IFACE_FLAG_CONNECT_TO_IFACE: u64 = 1 << 40;
/// Endpoints connect to each other.
pub const UCT_IFACE_FLAG_CONNECT_TO_EP: u64 = 1 << 41;
/// Endpoints connect to a socket.
pub const UCT_IFACE_FLAG_CONNECT_TO_SOCKADDR: u64 = 1 << 42;
/// Active messages may arrive twice.
pub const UCT_IFACE_FLAG_AM_DUP: u64 = 1 << 43;
/// Callbacks come from the worker's progress.
pub const UCT_IFACE_FLAG_CB_SYNC: u64 = 1 << 44;
/// Callbacks may come from another thread: UCT_CB_FLAG_ASYNC works.
pub const UCT_IFACE_FLAG_CB_ASYNC: u64 = 1 << 45;
/// Endpoints watch their peers by themselves.
pub const UCT_IFACE_FLAG_EP_KEEPALIVE: u64 = 1 << 46;
/// An active message arrives after the puts before it.
pub const UCT_IFACE_FLAG_PUT_AM_ORDER: u64 = 1 << 47;
/// `uct_ep_tag_eager_short` works.
pub const UCT_IFACE_FLAG_TAG_EAGER_SHORT: u64 = 1 << 50;
/// `uct_ep_tag_eager_bcopy` works.
pub const UCT_IFACE_FLAG_TAG_EAGER_BCOPY: u64 = 1 << 51;
/// `uct_ep_tag_eager_zcopy` works.
pub const UCT_IFACE_FLAG_TAG_EAGER_ZCOPY: u64 = 1 << 52;
/// `uct_ep_tag_rndv_zcopy` works.
pub const UCT_IFACE_FLAG_TAG_RNDV_ZCOPY: u64 = 1 << 53;
/// Reaches other machines.
pub const UCT_IFACE_FLAG_INTER_NODE: u64 = 1 << 54;
/// Has endpoints for device code.
pub const UCT_IFACE_FLAG_DEVICE_EP: u64 = 1 << 55;
/// Device code needs local keys.
pub const UCT_IFACE_FLAG_DEVICE_LKEY: u64 = 1 << 56;
/// A send that ends wakes up.
pub const UCT_IFACE_FLAG_EVENT_SEND_COMP: u64 = 1 << 0;
/// An arrival wakes up.
pub const UCT_IFACE_FLAG_EVENT_RECV: u64 = 1 << 1;
/// A signalled arrival wakes up.
pub const UCT_IFACE_FLAG_EVENT_RECV_SIG: u64 = 1 << 2;
/// There is a descriptor to wait on: `uct_iface_event_fd_get`.
pub const UCT_IFACE_FLAG_EVENT_FD: u64 = 1 << 3;
/// There is a callback: `async_event_cb`.
pub const UCT_IFACE_FLAG_EVENT_ASYNC_CB: u64 = 1 << 4;

/// A memory domain of a component.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_md_resource_desc {
    /// Its name, for `uct_md_open`.
    pub md_name: [c_char; UCT_MD_NAME_MAX],
}
const _: () = {
    assert!(size_of::<uct_md_resource_desc>() == 16);
    assert!(offset_of!(uct_md_resource_desc, md_name) == 0);
};

pub type uct_md_resource_desc_t = uct_md_resource_desc;

c_enum! {
    /// Members of `uct_component_attr`.
    pub enum uct_component_attr_field: c_uint {
        UCT_COMPONENT_ATTR_FIELD_NAME = 1 << 0,
        UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT = 1 << 1,
        UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES = 1 << 2,
        UCT_COMPONENT_ATTR_FIELD_FLAGS = 1 << 3,
    }
}

/// What `uct_component_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_component_attr {
    /// In: members to fill, bits of `uct_component_attr_field`.
    pub field_mask: u64,
    /// Name of the component, NUL-terminated.
    pub name: [c_char; UCT_COMPONENT_NAME_MAX],
    /// Number of its memory domains.
    pub md_resource_count: c_uint,
    /// In: array of the caller for as many; out: the domains.
    pub md_resources: *mut uct_md_resource_desc_t,
    /// `UCT_COMPONENT_FLAG_*`.
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
    /// What a device connects.
    pub enum uct_device_type_t: c_uint {
        /// Machines.
        UCT_DEVICE_TYPE_NET = 0,
        /// Processes of one machine.
        UCT_DEVICE_TYPE_SHM = 1,
        /// Accelerators.
        UCT_DEVICE_TYPE_ACC = 2,
        /// A process with itself.
        UCT_DEVICE_TYPE_SELF = 3,
        /// Number of kinds.
        UCT_DEVICE_TYPE_LAST = 4,
    }
}

/// A transport on a device.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_tl_resource_desc {
    /// Name of the transport.
    pub tl_name: [c_char; UCT_TL_NAME_MAX],
    /// Name of the device.
    pub dev_name: [c_char; UCT_DEVICE_NAME_MAX],
    /// What it connects.
    pub dev_type: uct_device_type_t,
    /// Its place in the machine.
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
    /// Atomic operations; UCS_BIT() of them in `op_flags` and `fop_flags`.
    pub enum uct_atomic_op: c_uint {
        /// Add.
        UCT_ATOMIC_OP_ADD = 0,
        /// Bitwise and.
        UCT_ATOMIC_OP_AND = 1,
        /// Bitwise or.
        UCT_ATOMIC_OP_OR = 2,
        /// Bitwise exclusive or.
        UCT_ATOMIC_OP_XOR = 3,
        /// Exchange.
        UCT_ATOMIC_OP_SWAP = 4,
        /// Exchange, if the value there is the one expected.
        UCT_ATOMIC_OP_CSWAP = 5,
        /// Number of operations.
        UCT_ATOMIC_OP_LAST = 6,
    }
}

pub type uct_atomic_op_t = uct_atomic_op;

c_enum! {
    /// Where memory comes from.
    pub enum uct_alloc_method_t: c_uint {
        /// Huge pages where the system gives them by itself.
        UCT_ALLOC_METHOD_THP = 0,
        /// The memory domain.
        UCT_ALLOC_METHOD_MD = 1,
        /// malloc().
        UCT_ALLOC_METHOD_HEAP = 2,
        /// mmap().
        UCT_ALLOC_METHOD_MMAP = 3,
        /// Reserved huge pages.
        UCT_ALLOC_METHOD_HUGE = 4,
        /// Number of methods.
        UCT_ALLOC_METHOD_LAST = 5,
        /// Let the interface choose.
        UCT_ALLOC_METHOD_DEFAULT = 5,
    }
}

c_enum! {
    /// Events of an interface.
    pub enum uct_iface_event_types: c_uint {
        /// A send ended.
        UCT_EVENT_SEND_COMP = 1 << 0,
        /// Something arrived.
        UCT_EVENT_RECV = 1 << 1,
        /// Something arrived that was sent with UCT_SEND_FLAG_SIGNALED.
        UCT_EVENT_RECV_SIG = 1 << 2,
        /// The device got faster or slower.
        UCT_EVENT_SPEED_CHANGE = 1 << 3,
    }
}

c_enum! {
    /// Flags of a flush.
    pub enum uct_flush_flags: c_uint {
        /// Until the caller's memory is free.
        UCT_FLUSH_FLAG_LOCAL = 0,
        /// Give up what is under way; the endpoint can only be destroyed then.
        UCT_FLUSH_FLAG_CANCEL = 1 << 0,
        /// Until the peer's memory has the data.
        UCT_FLUSH_FLAG_REMOTE = 1 << 1,
    }
}

c_enum! {
    /// What an interface progresses.
    pub enum uct_progress_types: c_uint {
        /// Sends.
        UCT_PROGRESS_SEND = 1 << 0,
        /// Arrivals.
        UCT_PROGRESS_RECV = 1 << 1,
        /// This may be turned on and off by another thread.
        UCT_PROGRESS_THREAD_SAFE = 1 << 7,
    }
}

c_enum! {
    /// Flags of a send.
    pub enum uct_msg_flags: c_uint {
        /// Raise UCT_EVENT_RECV_SIG at the receiver.
        UCT_SEND_FLAG_SIGNALED = 1 << 0,
        /// Only find out whether the peer lives.
        UCT_SEND_FLAG_PEER_CHECK = 1 << 1,
    }
}

c_enum! {
    /// Flags of a callback.
    pub enum uct_cb_flags: c_uint {
        /// Not used.
        UCT_CB_FLAG_RESERVED = 1 << 1,
        /// It may be called from another thread.
        UCT_CB_FLAG_ASYNC = 1 << 2,
    }
}

c_enum! {
    /// How an interface is opened.
    pub enum uct_iface_open_mode: c_uint {
        /// On a device.
        UCT_IFACE_OPEN_MODE_DEVICE = 1 << 0,
        /// As a server on a socket.
        UCT_IFACE_OPEN_MODE_SOCKADDR_SERVER = 1 << 1,
        /// As a client of sockets.
        UCT_IFACE_OPEN_MODE_SOCKADDR_CLIENT = 1 << 2,
        /// Not at all: every operation answers with a status.
        UCT_IFACE_OPEN_MODE_STUB = 1 << 3,
    }
}

c_enum! {
    /// Members of `uct_iface_params`.
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
    /// How a socket address is reached.
    pub enum uct_sockaddr_accessibility_t: c_uint {
        /// Bound to.
        UCT_SOCKADDR_ACC_LOCAL = 0,
        /// Connected to.
        UCT_SOCKADDR_ACC_REMOTE = 1,
    }
}

c_enum! {
    /// Flags of allocation and registration.
    pub enum uct_md_mem_flags: c_uint {
        /// May finish later, at the first use.
        UCT_MD_MEM_FLAG_NONBLOCK = 1 << 0,
        /// At the given address or not at all.
        UCT_MD_MEM_FLAG_FIXED = 1 << 1,
        /// Lock the pages.
        UCT_MD_MEM_FLAG_LOCK = 1 << 2,
        /// Fail without a message.
        UCT_MD_MEM_FLAG_HIDE_ERRORS = 1 << 3,
        /// Peers write.
        UCT_MD_MEM_ACCESS_REMOTE_PUT = 1 << 5,
        /// Peers read.
        UCT_MD_MEM_ACCESS_REMOTE_GET = 1 << 6,
        /// Peers use atomics.
        UCT_MD_MEM_ACCESS_REMOTE_ATOMIC = 1 << 7,
        /// Read here.
        UCT_MD_MEM_ACCESS_LOCAL_READ = 1 << 8,
        /// Write here.
        UCT_MD_MEM_ACCESS_LOCAL_WRITE = 1 << 9,
        /// Try for keys that are the same in all processes.
        UCT_MD_MEM_SYMMETRIC_RKEY = 1 << 10,
        /// One key for the whole address space.
        UCT_MD_MEM_GVA = 1 << 11,
        /// All accesses.
        UCT_MD_MEM_ACCESS_ALL = 992,
        /// All but atomics.
        UCT_MD_MEM_ACCESS_RMA = 864,
    }
}

c_enum! {
    /// How memory will be used.
    pub enum uct_mem_advice_t: c_uint {
        /// No advice.
        UCT_MADV_NORMAL = 0,
        /// It will be accessed soon.
        UCT_MADV_WILLNEED = 1,
    }
}

c_enum! {
    /// Members of `uct_cm_attr`.
    pub enum uct_cm_attr_field: c_uint {
        UCT_CM_ATTR_FIELD_MAX_CONN_PRIV = 1 << 0,
    }
}

c_enum! {
    /// Members of `uct_listener_attr`.
    pub enum uct_listener_attr_field: c_uint {
        UCT_LISTENER_ATTR_FIELD_SOCKADDR = 1 << 0,
    }
}

c_enum! {
    /// Members of `uct_listener_params`.
    pub enum uct_listener_params_field: c_uint {
        UCT_LISTENER_PARAM_FIELD_BACKLOG = 1 << 0,
        UCT_LISTENER_PARAM_FIELD_CONN_REQUEST_CB = 1 << 1,
        UCT_LISTENER_PARAM_FIELD_USER_DATA = 1 << 2,
    }
}

c_enum! {
    /// Members of `uct_ep_params`.
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
    /// Members of `uct_ep_connect_params`.
    pub enum uct_ep_connect_params_field: c_uint {
        UCT_EP_CONNECT_PARAM_FIELD_PRIVATE_DATA = 1 << 0,
        UCT_EP_CONNECT_PARAM_FIELD_PRIVATE_DATA_LENGTH = 1 << 1,
    }
}

c_enum! {
    /// What an interface will be used for.
    pub enum uct_iface_feature: c_uint {
        /// Active messages.
        UCT_IFACE_FEATURE_AM = 1 << 0,
        /// Writes to remote memory.
        UCT_IFACE_FEATURE_PUT = 1 << 1,
        /// Reads of remote memory.
        UCT_IFACE_FEATURE_GET = 1 << 2,
        /// Atomics of 4 bytes.
        UCT_IFACE_FEATURE_AMO32 = 1 << 3,
        /// Atomics of 8 bytes.
        UCT_IFACE_FEATURE_AMO64 = 1 << 4,
        /// Tagged messages.
        UCT_IFACE_FEATURE_TAG = 1 << 5,
        /// UCT_FLUSH_FLAG_REMOTE.
        UCT_IFACE_FEATURE_FLUSH_REMOTE = 1 << 6,
        /// One behind the last feature.
        UCT_IFACE_FEATURE_LAST = 1 << 7,
    }
}

/// Bandwidth of a device that processes of one machine share: `dedicated + shared / processes`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_ppn_bandwidth {
    /// Bytes a second that each process has for itself.
    pub dedicated: f64,
    /// Bytes a second that all share.
    pub shared: f64,
}
const _: () = {
    assert!(size_of::<uct_ppn_bandwidth>() == 16);
    assert!(offset_of!(uct_ppn_bandwidth, dedicated) == 0);
    assert!(offset_of!(uct_ppn_bandwidth, shared) == 8);
};

pub type uct_ppn_bandwidth_t = uct_ppn_bandwidth;

/// Limits of writes to remote memory.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface_attr_cap_put {
    /// Longest short operation, bytes; of an active message with its header of 8 bytes.
    pub max_short: usize,
    /// Longest bcopy operation, bytes.
    pub max_bcopy: usize,
    /// Shortest zcopy operation, bytes.
    pub min_zcopy: usize,
    /// Longest zcopy operation, bytes.
    pub max_zcopy: usize,
    /// Alignment at which zcopy is fastest, bytes.
    pub opt_zcopy_align: usize,
    /// Distance of the places where a transfer is cut, bytes.
    pub align_mtu: usize,
    /// Most pieces of a zcopy operation.
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

/// Limits of reads of remote memory.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface_attr_cap_get {
    /// Longest short operation, bytes; of an active message with its header of 8 bytes.
    pub max_short: usize,
    /// Longest bcopy operation, bytes.
    pub max_bcopy: usize,
    /// Shortest zcopy operation, bytes.
    pub min_zcopy: usize,
    /// Longest zcopy operation, bytes.
    pub max_zcopy: usize,
    /// Alignment at which zcopy is fastest, bytes.
    pub opt_zcopy_align: usize,
    /// Distance of the places where a transfer is cut, bytes.
    pub align_mtu: usize,
    /// Most pieces of a zcopy operation.
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

/// Limits of active messages.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface_attr_cap_am {
    /// Longest short operation, bytes; of an active message with its header of 8 bytes.
    pub max_short: usize,
    /// Longest bcopy operation, bytes.
    pub max_bcopy: usize,
    /// Shortest zcopy operation, bytes.
    pub min_zcopy: usize,
    /// Longest zcopy operation, bytes.
    pub max_zcopy: usize,
    /// Alignment at which zcopy is fastest, bytes.
    pub opt_zcopy_align: usize,
    /// Distance of the places where a transfer is cut, bytes.
    pub align_mtu: usize,
    /// Longest header of a zcopy operation, bytes.
    pub max_hdr: usize,
    /// Most pieces of a zcopy operation.
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

/// Limits of receives of tagged messages.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface_attr_cap_tag_recv {
    /// Shortest receive that can be posted, bytes.
    pub min_recv: usize,
    /// Longest zcopy operation, bytes.
    pub max_zcopy: usize,
    /// Most pieces of a zcopy operation.
    pub max_iov: usize,
    /// Most receives at a time.
    pub max_outstanding: usize,
}
const _: () = {
    assert!(size_of::<uct_iface_attr_cap_tag_recv>() == 32);
    assert!(offset_of!(uct_iface_attr_cap_tag_recv, min_recv) == 0);
    assert!(offset_of!(uct_iface_attr_cap_tag_recv, max_zcopy) == 8);
    assert!(offset_of!(uct_iface_attr_cap_tag_recv, max_iov) == 16);
    assert!(offset_of!(uct_iface_attr_cap_tag_recv, max_outstanding) == 24);
};

/// Limits of tagged messages that are sent at once.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface_attr_cap_tag_eager {
    /// Longest short operation, bytes; of an active message with its header of 8 bytes.
    pub max_short: usize,
    /// Longest bcopy operation, bytes.
    pub max_bcopy: usize,
    /// Longest zcopy operation, bytes.
    pub max_zcopy: usize,
    /// Most pieces of a zcopy operation.
    pub max_iov: usize,
}
const _: () = {
    assert!(size_of::<uct_iface_attr_cap_tag_eager>() == 32);
    assert!(offset_of!(uct_iface_attr_cap_tag_eager, max_short) == 0);
    assert!(offset_of!(uct_iface_attr_cap_tag_eager, max_bcopy) == 8);
    assert!(offset_of!(uct_iface_attr_cap_tag_eager, max_zcopy) == 16);
    assert!(offset_of!(uct_iface_attr_cap_tag_eager, max_iov) == 24);
};

/// Limits of tagged messages that are offered.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface_attr_cap_tag_rndv {
    /// Longest zcopy operation, bytes.
    pub max_zcopy: usize,
    /// Longest header of a zcopy operation, bytes.
    pub max_hdr: usize,
    /// Most pieces of a zcopy operation.
    pub max_iov: usize,
}
const _: () = {
    assert!(size_of::<uct_iface_attr_cap_tag_rndv>() == 24);
    assert!(offset_of!(uct_iface_attr_cap_tag_rndv, max_zcopy) == 0);
    assert!(offset_of!(uct_iface_attr_cap_tag_rndv, max_hdr) == 8);
    assert!(offset_of!(uct_iface_attr_cap_tag_rndv, max_iov) == 16);
};

/// Limits of tagged messages.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface_attr_cap_tag {
    /// Of receives.
    pub recv: uct_iface_attr_cap_tag_recv,
    /// Of messages that are sent at once.
    pub eager: uct_iface_attr_cap_tag_eager,
    /// Of messages that are offered.
    pub rndv: uct_iface_attr_cap_tag_rndv,
}
const _: () = {
    assert!(size_of::<uct_iface_attr_cap_tag>() == 88);
    assert!(offset_of!(uct_iface_attr_cap_tag, recv) == 0);
    assert!(offset_of!(uct_iface_attr_cap_tag, eager) == 32);
    assert!(offset_of!(uct_iface_attr_cap_tag, rndv) == 64);
};

/// Atomics of one width: bitmaps over `uct_atomic_op`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface_attr_cap_atomic {
    /// Those that return nothing.
    pub op_flags: u64,
    /// Those that return the old value.
    pub fop_flags: u64,
}
const _: () = {
    assert!(size_of::<uct_iface_attr_cap_atomic>() == 16);
    assert!(offset_of!(uct_iface_attr_cap_atomic, op_flags) == 0);
    assert!(offset_of!(uct_iface_attr_cap_atomic, fop_flags) == 8);
};

/// What an interface can do.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface_attr_cap {
    /// Writes to remote memory.
    pub put: uct_iface_attr_cap_put,
    /// Reads of remote memory.
    pub get: uct_iface_attr_cap_get,
    /// Active messages.
    pub am: uct_iface_attr_cap_am,
    /// Tagged messages.
    pub tag: uct_iface_attr_cap_tag,
    /// Atomics of 4 bytes.
    pub atomic32: uct_iface_attr_cap_atomic,
    /// Atomics of 8 bytes.
    pub atomic64: uct_iface_attr_cap_atomic,
    /// `UCT_IFACE_FLAG_*`.
    pub flags: u64,
    /// `UCT_IFACE_FLAG_EVENT_*`.
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

/// What `uct_iface_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface_attr {
    /// What the interface can do.
    pub cap: uct_iface_attr_cap,
    /// Bytes of a device address.
    pub device_addr_len: usize,
    /// Bytes of an interface address; 0 when endpoints connect to endpoints.
    pub iface_addr_len: usize,
    /// Bytes of an endpoint address; 0 when endpoints connect to interfaces.
    pub ep_addr_len: usize,
    /// Most private data when connecting, bytes.
    pub max_conn_priv: usize,
    /// Socket of a server interface.
    pub listen_sockaddr: sockaddr_storage,
    /// Seconds that a message costs the processor.
    pub overhead: f64,
    /// Bytes a second.
    pub bandwidth: uct_ppn_bandwidth_t,
    /// Seconds, as a function of the number of endpoints.
    pub latency: ucs_linear_func_t,
    /// Chosen before interfaces with a lower one.
    pub priority: u8,
    /// Most endpoints.
    pub max_num_eps: usize,
    /// Paths of the device: `path_index` is below.
    pub dev_num_paths: c_uint,
    /// Device that controls the interface, where it is another.
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

/// What to open: a resource of `uct_md_query_tl_resources`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface_params_mode_device {
    /// Name of the transport.
    pub tl_name: *const c_char,
    /// Name of the device.
    pub dev_name: *const c_char,
}
const _: () = {
    assert!(size_of::<uct_iface_params_mode_device>() == 16);
    assert!(offset_of!(uct_iface_params_mode_device, tl_name) == 0);
    assert!(offset_of!(uct_iface_params_mode_device, dev_name) == 8);
};

/// What to serve.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface_params_mode_sockaddr {
    /// Socket to bind.
    pub listen_sockaddr: ucs_sock_addr_t,
    /// Passed to the callback.
    pub conn_request_arg: *mut c_void,
    /// Gets clients.
    pub conn_request_cb: uct_sockaddr_conn_request_callback_t,
    /// Bits of `uct_cb_flags`.
    pub cb_flags: u32,
}
const _: () = {
    assert!(size_of::<uct_iface_params_mode_sockaddr>() == 40);
    assert!(offset_of!(uct_iface_params_mode_sockaddr, listen_sockaddr) == 0);
    assert!(offset_of!(uct_iface_params_mode_sockaddr, conn_request_arg) == 16);
    assert!(offset_of!(uct_iface_params_mode_sockaddr, conn_request_cb) == 24);
    assert!(offset_of!(uct_iface_params_mode_sockaddr, cb_flags) == 32);
};

/// An interface that does nothing.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface_params_mode_stub {
    /// What its operations answer.
    pub status: ucs_status_t,
}
const _: () = {
    assert!(size_of::<uct_iface_params_mode_stub>() == 1);
    assert!(offset_of!(uct_iface_params_mode_stub, status) == 0);
};

/// What to open, by the open mode.
#[repr(C)]
#[derive(Clone, Copy)]
pub union uct_iface_params_mode {
    /// With UCT_IFACE_OPEN_MODE_DEVICE.
    pub device: uct_iface_params_mode_device,
    /// With UCT_IFACE_OPEN_MODE_SOCKADDR_SERVER.
    pub sockaddr: uct_iface_params_mode_sockaddr,
    /// With UCT_IFACE_OPEN_MODE_STUB.
    pub stub: uct_iface_params_mode_stub,
}
const _: () = {
    assert!(size_of::<uct_iface_params_mode>() == 40);
};

/// How `uct_iface_open` opens.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface_params {
    /// Members that are set, bits of `uct_iface_params_field`.
    pub field_mask: u64,
    /// Processors that the interface is used from.
    pub cpu_mask: ucs_cpu_set_t,
    /// One of `uct_iface_open_mode`; must be set.
    pub open_mode: u64,
    /// What to open.
    pub mode: uct_iface_params_mode,
    /// Where statistics go; not supported.
    pub stats_root: *mut ucs_stats_node_t,
    /// Bytes to leave free before arriving data that the caller may keep.
    pub rx_headroom: usize,
    /// Passed to the error handler.
    pub err_handler_arg: *mut c_void,
    /// Called when an endpoint fails.
    pub err_handler: uct_error_handler_t,
    /// Bits of `uct_cb_flags`.
    pub err_handler_flags: u32,
    /// Passed to `eager_cb`.
    pub eager_arg: *mut c_void,
    /// Gets tagged messages that no receive waits for.
    pub eager_cb: uct_tag_unexp_eager_cb_t,
    /// Passed to `rndv_cb`.
    pub rndv_arg: *mut c_void,
    /// Gets offers that no receive waits for.
    pub rndv_cb: uct_tag_unexp_rndv_cb_t,
    /// Passed to `async_event_cb`.
    pub async_event_arg: *mut c_void,
    /// Called on events that were armed.
    pub async_event_cb: uct_async_event_cb_t,
    /// Time between signs of life, in units of `ucs_time_t`.
    pub keepalive_interval: ucs_time_t,
    /// Alignment of arriving data, a power of two.
    pub am_alignment: usize,
    /// Where in the data that alignment counts from, bytes.
    pub am_align_offset: usize,
    /// Bits of `uct_iface_feature`.
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

/// How `uct_ep_create` connects.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_ep_params {
    /// Members that are set, bits of `uct_ep_params_field`.
    pub field_mask: u64,
    /// Interface that gets the endpoint; this or `cm`.
    pub iface: uct_iface_h,
    /// Passed to callbacks.
    pub user_data: *mut c_void,
    /// Address of the peer's device.
    pub dev_addr: *const uct_device_addr_t,
    /// Address of the peer's interface.
    pub iface_addr: *const uct_iface_addr_t,
    /// Socket of the server.
    pub sockaddr: *const ucs_sock_addr_t,
    /// Bits of `uct_cb_flags`.
    pub sockaddr_cb_flags: u32,
    /// Writes private data for the other side.
    pub sockaddr_pack_cb: uct_cm_ep_priv_data_pack_callback_t,
    /// Connection manager that gets the endpoint.
    pub cm: uct_cm_h,
    /// A client to accept.
    pub conn_request: uct_conn_request_h,
    /// Called with the server's answer.
    pub sockaddr_cb_client: uct_cm_ep_client_connect_callback_t,
    /// Called when the client finished connecting.
    pub sockaddr_cb_server: uct_cm_ep_server_conn_notify_callback_t,
    /// Called when the other side disconnects.
    pub disconnect_cb: uct_ep_disconnect_cb_t,
    /// Which path of the device, below `dev_num_paths`.
    pub path_index: c_uint,
    /// Called when the server's address is resolved.
    pub cm_resolve_cb: uct_cm_ep_resolve_callback_t,
    /// Private data for the other side.
    pub private_data: *const c_void,
    /// Bytes of that.
    pub private_data_length: usize,
    /// Socket to bind before connecting.
    pub local_sockaddr: *const ucs_sock_addr_t,
    /// Bytes of `dev_addr`.
    pub dev_addr_length: usize,
    /// Bytes of `iface_addr`.
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

/// What `uct_ep_connect` sends along.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_ep_connect_params {
    /// Members that are set, bits of `uct_ep_connect_params_field`.
    pub field_mask: u64,
    /// Private data for the server.
    pub private_data: *const c_void,
    /// Bytes of that.
    pub private_data_length: usize,
}
const _: () = {
    assert!(size_of::<uct_ep_connect_params>() == 24);
    assert!(offset_of!(uct_ep_connect_params, field_mask) == 0);
    assert!(offset_of!(uct_ep_connect_params, private_data) == 8);
    assert!(offset_of!(uct_ep_connect_params, private_data_length) == 16);
};

/// What `uct_cm_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_cm_attr {
    /// In: members to fill, bits of `uct_cm_attr_field`.
    pub field_mask: u64,
    /// Most private data when connecting, bytes.
    pub max_conn_priv: usize,
}
const _: () = {
    assert!(size_of::<uct_cm_attr>() == 16);
    assert!(offset_of!(uct_cm_attr, field_mask) == 0);
    assert!(offset_of!(uct_cm_attr, max_conn_priv) == 8);
};

/// What `uct_listener_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_listener_attr {
    /// In: members to fill, bits of `uct_listener_attr_field`.
    pub field_mask: u64,
    /// Socket that it is bound to, with the port that it got.
    pub sockaddr: sockaddr_storage,
}
const _: () = {
    assert!(size_of::<uct_listener_attr>() == 136);
    assert!(offset_of!(uct_listener_attr, field_mask) == 0);
    assert!(offset_of!(uct_listener_attr, sockaddr) == 8);
};

/// How a listener accepts clients.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_listener_params {
    /// Members that are set, bits of `uct_listener_params_field`.
    pub field_mask: u64,
    /// Clients that may wait, as of listen().
    pub backlog: c_int,
    /// Gets clients; must be set.
    pub conn_request_cb: uct_cm_listener_conn_request_callback_t,
    /// Passed to it.
    pub user_data: *mut c_void,
}
const _: () = {
    assert!(size_of::<uct_listener_params>() == 32);
    assert!(offset_of!(uct_listener_params, field_mask) == 0);
    assert!(offset_of!(uct_listener_params, backlog) == 8);
    assert!(offset_of!(uct_listener_params, conn_request_cb) == 16);
    assert!(offset_of!(uct_listener_params, user_data) == 24);
};

/// What a memory domain can do; each `*_mem_types` is a bitmap over `ucs_memory_type_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_md_attr_cap {
    /// Largest allocation, bytes.
    pub max_alloc: u64,
    /// Largest registration, bytes.
    pub max_reg: usize,
    /// `UCT_MD_FLAG_*`.
    pub flags: u64,
    /// Types that can be registered.
    pub reg_mem_types: u64,
    /// Types that can be told from an address.
    pub detect_mem_types: u64,
    /// Types that can be allocated.
    pub alloc_mem_types: u64,
    /// Types that can be reached.
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

/// What `uct_md_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_md_attr {
    /// What the domain can do.
    pub cap: uct_md_attr_cap,
    /// Seconds that a registration takes, as a function of its bytes.
    pub reg_cost: ucs_linear_func_t,
    /// Name of the component.
    pub component_name: [c_char; UCT_COMPONENT_NAME_MAX],
    /// Bytes of a packed remote key.
    pub rkey_packed_size: usize,
    /// Processors near the device.
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
    /// Members of `uct_md_mem_attr`.
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

/// What `uct_md_mem_query` tells of memory.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_md_mem_attr {
    /// In: members to fill, bits of `uct_md_mem_attr_field`.
    pub field_mask: u64,
    /// Kind of the memory.
    pub mem_type: ucs_memory_type_t,
    /// Device that it is on.
    pub sys_dev: ucs_sys_device_t,
    /// Start of the allocation that it is in.
    pub base_address: *mut c_void,
    /// Bytes of that allocation.
    pub alloc_length: usize,
    /// A dmabuf descriptor for it, which the caller closes.
    pub dmabuf_fd: c_int,
    /// Where it starts in the dmabuf, bytes.
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

/// Memory of `uct_mem_alloc` or `uct_iface_mem_alloc`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_allocated_memory {
    /// Start.
    pub address: *mut c_void,
    /// Bytes, which may be more than were asked for.
    pub length: usize,
    /// Where it comes from.
    pub method: uct_alloc_method_t,
    /// Kind of the memory.
    pub mem_type: ucs_memory_type_t,
    /// Domain that it is registered with, or NULL.
    pub md: uct_md_h,
    /// Its registration.
    pub memh: uct_mem_h,
    /// Device that it is on. Since 1.19: filled only for callers that can know.
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

/// An unpacked remote key.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_rkey_bundle {
    /// The key, for operations.
    pub rkey: uct_rkey_t,
    /// What belongs to it, for its release.
    pub handle: *mut c_void,
    /// The component.
    pub r#type: *mut c_void,
}
const _: () = {
    assert!(size_of::<uct_rkey_bundle>() == 24);
    assert!(offset_of!(uct_rkey_bundle, rkey) == 0);
    assert!(offset_of!(uct_rkey_bundle, handle) == 8);
    assert!(offset_of!(uct_rkey_bundle, r#type) == 16);
};

pub type uct_rkey_bundle_t = uct_rkey_bundle;

/// Counts operations and calls back at the end. Memory of the caller, who sets it before the first
/// operation.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_completion {
    /// Called when `count` reaches 0.
    pub func: uct_completion_callback_t,
    /// Operations still under way.
    pub count: c_int,
    /// UCS_OK at first, then the first failure.
    pub status: ucs_status_t,
}
const _: () = {
    assert!(size_of::<uct_completion>() == 16);
    assert!(offset_of!(uct_completion, func) == 0);
    assert!(offset_of!(uct_completion, count) == 8);
    assert!(offset_of!(uct_completion, status) == 12);
};

/// A request in a queue. Memory of the caller.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_pending_req {
    /// Tries it.
    pub func: uct_pending_callback_t,
    /// Of the transport, while it is queued.
    pub r#priv: [c_char; UCT_PENDING_REQ_PRIV_LEN],
}
const _: () = {
    assert!(size_of::<uct_pending_req>() == 48);
    assert!(offset_of!(uct_pending_req, func) == 0);
    assert!(offset_of!(uct_pending_req, r#priv) == 8);
};

/// A posted receive of a tagged message. Memory of the caller.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_tag_context {
    /// Called when a message matched: the receive cannot be cancelled any more.
    pub tag_consumed_cb: Option<unsafe extern "C" fn(*mut uct_tag_context_t)>,
    /// Called with tag, immediate, bytes, inlined data and status at the end.
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
    /// Called when an offer matched that software has to fetch.
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
    /// Of the transport, while it is posted.
    pub r#priv: [c_char; UCT_TAG_PRIV_LEN],
}
const _: () = {
    assert!(size_of::<uct_tag_context>() == 56);
    assert!(offset_of!(uct_tag_context, tag_consumed_cb) == 0);
    assert!(offset_of!(uct_tag_context, completed_cb) == 8);
    assert!(offset_of!(uct_tag_context, rndv_cb) == 16);
    assert!(offset_of!(uct_tag_context, r#priv) == 24);
};

c_enum! {
    /// Members of `uct_mem_alloc_params_t`.
    pub enum uct_mem_alloc_params_field_t: c_uint {
        UCT_MEM_ALLOC_PARAM_FIELD_FLAGS = 1 << 0,
        UCT_MEM_ALLOC_PARAM_FIELD_ADDRESS = 1 << 1,
        UCT_MEM_ALLOC_PARAM_FIELD_MEM_TYPE = 1 << 2,
        UCT_MEM_ALLOC_PARAM_FIELD_MDS = 1 << 3,
        UCT_MEM_ALLOC_PARAM_FIELD_NAME = 1 << 4,
        UCT_MEM_ALLOC_PARAM_FIELD_SYS_DEVICE = 1 << 5,
    }
}

/// Memory domains to try.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_mem_alloc_params_t_mds {
    /// The domains.
    pub mds: *const uct_md_h,
    /// Number of them.
    pub count: c_uint,
}
const _: () = {
    assert!(size_of::<uct_mem_alloc_params_t_mds>() == 16);
    assert!(offset_of!(uct_mem_alloc_params_t_mds, mds) == 0);
    assert!(offset_of!(uct_mem_alloc_params_t_mds, count) == 8);
};

/// How `uct_mem_alloc` allocates.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_mem_alloc_params_t {
    /// Members that are set, bits of `uct_mem_alloc_params_field_t`.
    pub field_mask: u64,
    /// Bits of `uct_md_mem_flags`.
    pub flags: c_uint,
    /// Where, as of mmap().
    pub address: *mut c_void,
    /// Kind of the memory; host when not set.
    pub mem_type: ucs_memory_type_t,
    /// Domains for UCT_ALLOC_METHOD_MD.
    pub mds: uct_mem_alloc_params_t_mds,
    /// Name for messages.
    pub name: *const c_char,
    /// Device to allocate on.
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
    /// Flags of a component.
    pub enum uct_component_flag_bits: c_uint {
        /// Has a connection manager.
        UCT_COMPONENT_FLAG_CM = 1 << 0,
        /// Remote memory can be reached by a pointer: `uct_rkey_ptr`.
        UCT_COMPONENT_FLAG_RKEY_PTR = 1 << 1,
    }
}

c_enum! {
    /// Flags of a memory domain.
    pub enum uct_md_flag_bits: c_uint {
        /// It allocates.
        UCT_MD_FLAG_ALLOC = 1 << 0,
        /// It registers.
        UCT_MD_FLAG_REG = 1 << 1,
        /// Local memory of zero-copy operations must be registered.
        UCT_MD_FLAG_NEED_MEMH = 1 << 2,
        /// Remote memory needs a key.
        UCT_MD_FLAG_NEED_RKEY = 1 << 3,
        /// It takes advice.
        UCT_MD_FLAG_ADVISE = 1 << 4,
        /// It allocates at fixed addresses.
        UCT_MD_FLAG_FIXED = 1 << 5,
        /// Remote memory can be reached by a pointer: `uct_rkey_ptr`.
        UCT_MD_FLAG_RKEY_PTR = 1 << 6,
        /// It connects by socket addresses.
        UCT_MD_FLAG_SOCKADDR = 1 << 7,
        /// It revokes keys.
        UCT_MD_FLAG_INVALIDATE = 1 << 8,
        /// It exports registrations to other processes.
        UCT_MD_FLAG_EXPORTED_MKEY = 1 << 9,
        /// It registers dmabufs.
        UCT_MD_FLAG_REG_DMABUF = 1 << 10,
        /// One behind the last flag.
        UCT_MD_FLAG_LAST = 1 << 11,
    }
}

c_enum! {
    /// Flags of the end of a tagged receive.
    pub enum uct_tag_recv_cb_inline_data_bits: c_uint {
        /// The data is in the completion, not in the buffer.
        UCT_TAG_RECV_CB_INLINE_DATA = 1 << 0,
    }
}
