//! `ucp/api/ucp.h`: how an application uses the library, and what a context tells. Only members whose
//! bit is in `field_mask` are read or written.

use crate::c::prelude::*;

c_enum! {
    /// Members of `ucp_params`.
    pub enum ucp_params_field: c_uint {
        /// `features` is set.
        UCP_PARAM_FIELD_FEATURES = 1 << 0,
        /// `request_size` is set.
        UCP_PARAM_FIELD_REQUEST_SIZE = 1 << 1,
        /// `request_init` is set.
        UCP_PARAM_FIELD_REQUEST_INIT = 1 << 2,
        /// `request_cleanup` is set.
        UCP_PARAM_FIELD_REQUEST_CLEANUP = 1 << 3,
        /// `tag_sender_mask` is set.
        UCP_PARAM_FIELD_TAG_SENDER_MASK = 1 << 4,
        /// `mt_workers_shared` is set.
        UCP_PARAM_FIELD_MT_WORKERS_SHARED = 1 << 5,
        /// `estimated_num_eps` is set.
        UCP_PARAM_FIELD_ESTIMATED_NUM_EPS = 1 << 6,
        /// `estimated_num_ppn` is set.
        UCP_PARAM_FIELD_ESTIMATED_NUM_PPN = 1 << 7,
        /// `name` is set.
        UCP_PARAM_FIELD_NAME = 1 << 8,
        /// `node_local_id` is set.
        UCP_PARAM_FIELD_NODE_LOCAL_ID = 1 << 9,
    }
}

c_enum! {
    /// What a context is for. Ask for all that is used: it decides about transports and descriptors, and calls that need another
    /// feature are refused with UCS_ERR_INVALID_PARAM.
    pub enum ucp_feature: c_uint {
        /// Tagged messages.
        UCP_FEATURE_TAG = 1 << 0,
        /// Access to remote memory.
        UCP_FEATURE_RMA = 1 << 1,
        /// Atomics of 4 bytes.
        UCP_FEATURE_AMO32 = 1 << 2,
        /// Atomics of 8 bytes.
        UCP_FEATURE_AMO64 = 1 << 3,
        /// Waiting without polling; `ucp_worker_wait` and its companions fail without.
        UCP_FEATURE_WAKEUP = 1 << 4,
        /// Byte streams.
        UCP_FEATURE_STREAM = 1 << 5,
        /// Active messages.
        UCP_FEATURE_AM = 1 << 6,
        /// Memory handles that another process uses; `ucp_memh_pack` does not export without.
        UCP_FEATURE_EXPORTED_MEMH = 1 << 7,
        /// Calls from device code.
        UCP_FEATURE_DEVICE = 1 << 8,
    }
}

c_enum! {
    /// Members of `ucp_lib_attr`.
    pub enum ucp_lib_attr_field: c_uint {
        /// `max_thread_level` is wanted.
        UCP_LIB_ATTR_FIELD_MAX_THREAD_LEVEL = 1 << 0,
    }
}

c_enum! {
    /// Members of `ucp_context_attr`.
    pub enum ucp_context_attr_field: c_uint {
        /// `request_size` is wanted.
        UCP_ATTR_FIELD_REQUEST_SIZE = 1 << 0,
        /// `thread_mode` is wanted.
        UCP_ATTR_FIELD_THREAD_MODE = 1 << 1,
        /// `memory_types` is wanted.
        UCP_ATTR_FIELD_MEMORY_TYPES = 1 << 2,
        /// `name` is wanted.
        UCP_ATTR_FIELD_NAME = 1 << 3,
        /// `device_counter_size` is wanted.
        UCP_ATTR_FIELD_DEVICE_COUNTER_SIZE = 1 << 4,
    }
}

/// How an application uses the library.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_params {
    /// Members that are set, bits of `ucp_params_field`.
    pub field_mask: u64,
    /// Bits of `ucp_feature`; must be set.
    pub features: u64,
    /// Bytes of the caller in each request, at the address that the caller gets.
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
