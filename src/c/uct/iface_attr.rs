//! `uct/api/uct.h`: what an interface can do, as `uct_iface_query` fills it in: flags, limits and
//! estimates. A caller of any release passes the same 536 bytes.

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
