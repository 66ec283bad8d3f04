//! `uct/api/uct.h`: how an interface is opened. Only members whose bit is in `field_mask` are read:
//! callers of older releases pass fewer bytes.

use crate::c::prelude::*;

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
        /// `cpu_mask` is set.
        UCT_IFACE_PARAM_FIELD_CPU_MASK = 1 << 0,
        /// `open_mode` is set.
        UCT_IFACE_PARAM_FIELD_OPEN_MODE = 1 << 1,
        /// `mode.device` is set.
        UCT_IFACE_PARAM_FIELD_DEVICE = 1 << 2,
        /// `mode.sockaddr` is set.
        UCT_IFACE_PARAM_FIELD_SOCKADDR = 1 << 3,
        /// `stats_root` is set.
        UCT_IFACE_PARAM_FIELD_STATS_ROOT = 1 << 4,
        /// `rx_headroom` is set.
        UCT_IFACE_PARAM_FIELD_RX_HEADROOM = 1 << 5,
        /// `err_handler_arg` is set.
        UCT_IFACE_PARAM_FIELD_ERR_HANDLER_ARG = 1 << 6,
        /// `err_handler` is set.
        UCT_IFACE_PARAM_FIELD_ERR_HANDLER = 1 << 7,
        /// `err_handler_flags` is set.
        UCT_IFACE_PARAM_FIELD_ERR_HANDLER_FLAGS = 1 << 8,
        /// `eager_arg` is set.
        UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_ARG = 1 << 9,
        /// `eager_cb` is set.
        UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_CB = 1 << 10,
        /// `rndv_arg` is set.
        UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_ARG = 1 << 11,
        /// `rndv_cb` is set.
        UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_CB = 1 << 12,
        /// `async_event_arg` is set.
        UCT_IFACE_PARAM_FIELD_ASYNC_EVENT_ARG = 1 << 13,
        /// `async_event_cb` is set.
        UCT_IFACE_PARAM_FIELD_ASYNC_EVENT_CB = 1 << 14,
        /// `keepalive_interval` is set.
        UCT_IFACE_PARAM_FIELD_KEEPALIVE_INTERVAL = 1 << 15,
        /// `am_alignment` is set.
        UCT_IFACE_PARAM_FIELD_AM_ALIGNMENT = 1 << 16,
        /// `am_align_offset` is set.
        UCT_IFACE_PARAM_FIELD_AM_ALIGN_OFFSET = 1 << 17,
        /// `features` is set.
        UCT_IFACE_PARAM_FIELD_FEATURES = 1 << 18,
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
