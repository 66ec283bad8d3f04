//! Raw bindings to the part of `libucp` that the example needs; add a function here as you need it. Names, types and
//! order of fields are those of `ucp/api/ucp.h`.
#![no_std]
#![allow(non_camel_case_types)]

use core::ffi::{c_char, c_int, c_uint, c_void};

pub type ucs_status_t = i8;
pub type ucp_tag_t = u64;
pub type ucp_datatype_t = u64;

/// What only the library looks into.
#[repr(C)]
pub struct ucp_context([u8; 0]);
#[repr(C)]
pub struct ucp_worker([u8; 0]);
#[repr(C)]
pub struct ucp_ep([u8; 0]);
#[repr(C)]
pub struct ucp_mem([u8; 0]);
#[repr(C)]
pub struct ucp_address_t([u8; 0]);
#[repr(C)]
pub struct ucp_config_t([u8; 0]);

pub type ucp_context_h = *mut ucp_context;
pub type ucp_worker_h = *mut ucp_worker;
pub type ucp_ep_h = *mut ucp_ep;
pub type ucp_mem_h = *mut ucp_mem;

/// NULL, an error as a small negative number, or a request.
pub type ucs_status_ptr_t = *mut c_void;
pub type ucs_thread_mode_t = c_uint;
pub type ucs_memory_type_t = c_uint;
pub type ucp_err_handling_mode_t = c_uint;

pub const UCS_OK: ucs_status_t = 0;
pub const UCS_INPROGRESS: ucs_status_t = 1;
pub const UCS_ERR_LAST: ucs_status_t = -100;

pub const UCP_API_MAJOR: c_uint = 1;
pub const UCP_API_MINOR: c_uint = 22;

pub const UCP_PARAM_FIELD_FEATURES: u64 = 1 << 0;
pub const UCP_FEATURE_TAG: u64 = 1 << 0;
pub const UCP_WORKER_PARAM_FIELD_THREAD_MODE: u64 = 1 << 0;
pub const UCS_THREAD_MODE_SINGLE: ucs_thread_mode_t = 0;
pub const UCP_EP_PARAM_FIELD_REMOTE_ADDRESS: u64 = 1 << 0;
pub const UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE: u64 = 1 << 1;
pub const UCP_EP_PARAM_FIELD_ERR_HANDLER: u64 = 1 << 2;
pub const UCP_ERR_HANDLING_MODE_PEER: ucp_err_handling_mode_t = 1;

#[repr(C)]
pub struct ucp_params_t {
    pub field_mask: u64,
    pub features: u64,
    pub request_size: usize,
    pub request_init: Option<unsafe extern "C" fn(*mut c_void)>,
    pub request_cleanup: Option<unsafe extern "C" fn(*mut c_void)>,
    pub tag_sender_mask: u64,
    pub mt_workers_shared: c_int,
    pub estimated_num_eps: usize,
    pub estimated_num_ppn: usize,
    pub name: *const c_char,
    pub node_local_id: usize,
}

#[repr(C)]
pub struct ucp_worker_params_t {
    pub field_mask: u64,
    pub thread_mode: ucs_thread_mode_t,
    pub cpu_mask: [u64; 16],
    pub events: c_uint,
    pub user_data: *mut c_void,
    pub event_fd: c_int,
    pub flags: u64,
    pub name: *const c_char,
    pub am_alignment: usize,
    pub client_id: u64,
}

#[repr(C)]
pub struct ucp_err_handler_t {
    pub cb: Option<unsafe extern "C" fn(*mut c_void, ucp_ep_h, ucs_status_t)>,
    pub arg: *mut c_void,
}

#[repr(C)]
pub struct ucs_sock_addr_t {
    pub addr: *const c_void,
    pub addrlen: u32,
}

#[repr(C)]
pub struct ucp_ep_params_t {
    pub field_mask: u64,
    pub address: *const ucp_address_t,
    pub err_mode: ucp_err_handling_mode_t,
    pub err_handler: ucp_err_handler_t,
    pub user_data: *mut c_void,
    pub flags: c_uint,
    pub sockaddr: ucs_sock_addr_t,
    pub conn_request: *mut c_void,
    pub name: *const c_char,
    pub local_sockaddr: ucs_sock_addr_t,
}

/// `cb` and `recv_info` are unions of pointers in C.
#[repr(C)]
pub struct ucp_request_param_t {
    pub op_attr_mask: u32,
    pub flags: u32,
    pub request: *mut c_void,
    pub cb: *const c_void,
    pub datatype: ucp_datatype_t,
    pub user_data: *mut c_void,
    pub reply_buffer: *mut c_void,
    pub memory_type: ucs_memory_type_t,
    pub recv_info: *mut ucp_tag_recv_info_t,
    pub memh: ucp_mem_h,
    pub remote_datatype: ucp_datatype_t,
    pub remote: *const c_void,
    pub remote_count: usize,
}

#[repr(C)]
pub struct ucp_tag_recv_info_t {
    pub sender_tag: ucp_tag_t,
    pub length: usize,
}

unsafe extern "C" {
    pub fn ucs_status_string(status: ucs_status_t) -> *const c_char;
    pub fn ucp_init_version(
        major: c_uint,
        minor: c_uint,
        params: *const ucp_params_t,
        config: *const ucp_config_t,
        context: *mut ucp_context_h,
    ) -> ucs_status_t;
    pub fn ucp_cleanup(context: ucp_context_h);
    pub fn ucp_worker_create(
        context: ucp_context_h,
        params: *const ucp_worker_params_t,
        worker: *mut ucp_worker_h,
    ) -> ucs_status_t;
    pub fn ucp_worker_destroy(worker: ucp_worker_h);
    pub fn ucp_worker_progress(worker: ucp_worker_h) -> c_uint;
    pub fn ucp_worker_get_address(
        worker: ucp_worker_h,
        address: *mut *mut ucp_address_t,
        length: *mut usize,
    ) -> ucs_status_t;
    pub fn ucp_worker_release_address(worker: ucp_worker_h, address: *mut ucp_address_t);
    pub fn ucp_ep_create(
        worker: ucp_worker_h,
        params: *const ucp_ep_params_t,
        ep: *mut ucp_ep_h,
    ) -> ucs_status_t;
    pub fn ucp_ep_close_nbx(ep: ucp_ep_h, param: *const ucp_request_param_t) -> ucs_status_ptr_t;
    pub fn ucp_tag_send_nbx(
        ep: ucp_ep_h,
        buffer: *const c_void,
        count: usize,
        tag: ucp_tag_t,
        param: *const ucp_request_param_t,
    ) -> ucs_status_ptr_t;
    pub fn ucp_tag_recv_nbx(
        worker: ucp_worker_h,
        buffer: *mut c_void,
        count: usize,
        tag: ucp_tag_t,
        tag_mask: ucp_tag_t,
        param: *const ucp_request_param_t,
    ) -> ucs_status_ptr_t;
    pub fn ucp_request_check_status(request: *mut c_void) -> ucs_status_t;
    pub fn ucp_request_cancel(worker: ucp_worker_h, request: *mut c_void);
    pub fn ucp_request_free(request: *mut c_void);
}

macro_rules! zeros_by_default {
    ($($name:ty)*) => {$(
        impl Default for $name {
            fn default() -> Self {
                // SAFETY: numbers, pointers and optional functions; zero is a value of each.
                unsafe { core::mem::zeroed() }
            }
        }
    )*};
}
zeros_by_default! { ucp_params_t ucp_worker_params_t ucp_ep_params_t ucp_request_param_t ucp_tag_recv_info_t }
