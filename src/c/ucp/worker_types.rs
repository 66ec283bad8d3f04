//! `ucp/api/ucp.h`: workers, their addresses, and streams with data. Only members whose bit is in
//! `field_mask` are read or written.

use crate::c::prelude::*;

c_enum! {
    /// Members of `ucp_worker_params`.
    pub enum ucp_worker_params_field: c_uint {
        /// `thread_mode` is set.
        UCP_WORKER_PARAM_FIELD_THREAD_MODE = 1 << 0,
        /// `cpu_mask` is set.
        UCP_WORKER_PARAM_FIELD_CPU_MASK = 1 << 1,
        /// `events` is set.
        UCP_WORKER_PARAM_FIELD_EVENTS = 1 << 2,
        /// `user_data` is set.
        UCP_WORKER_PARAM_FIELD_USER_DATA = 1 << 3,
        /// `event_fd` is set.
        UCP_WORKER_PARAM_FIELD_EVENT_FD = 1 << 4,
        /// `flags` is set.
        UCP_WORKER_PARAM_FIELD_FLAGS = 1 << 5,
        /// `name` is set.
        UCP_WORKER_PARAM_FIELD_NAME = 1 << 6,
        /// `am_alignment` is set.
        UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT = 1 << 7,
        /// `client_id` is set.
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
    /// What an address of a worker shall hold.
    pub enum ucp_worker_address_flags_t: c_uint {
        /// Only transports that reach other machines.
        UCP_WORKER_ADDRESS_FLAG_NET_ONLY = 1 << 0,
    }
}

c_enum! {
    /// Members of `ucp_worker_attr`.
    pub enum ucp_worker_attr_field: c_uint {
        /// `thread_mode` is wanted.
        UCP_WORKER_ATTR_FIELD_THREAD_MODE = 1 << 0,
        /// `address` is wanted.
        UCP_WORKER_ATTR_FIELD_ADDRESS = 1 << 1,
        /// `address_flags` is wanted.
        UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS = 1 << 2,
        /// `max_am_header` is wanted.
        UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER = 1 << 3,
        /// `name` is wanted.
        UCP_WORKER_ATTR_FIELD_NAME = 1 << 4,
        /// `max_debug_string` is wanted.
        UCP_WORKER_ATTR_FIELD_MAX_INFO_STRING = 1 << 5,
    }
}

c_enum! {
    /// Members of `ucp_worker_address_attr`.
    pub enum ucp_worker_address_attr_field: c_uint {
        /// `worker_uid` is wanted.
        UCP_WORKER_ADDRESS_ATTR_FIELD_UID = 1 << 0,
    }
}

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
