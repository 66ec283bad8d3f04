//! `ucp/api/ucp_def.h`: types and constants.

use crate::c::prelude::*;

pub const UCP_REMOTE_ADDR_INVALID: u64 = u64::MAX;
pub const UCP_ENTITY_NAME_MAX: usize = 32;

pub type ucp_tag_recv_info_t = ucp_tag_recv_info;

pub type ucp_am_recv_param_t = ucp_am_recv_param;

opaque! { pub struct ucp_context }

pub type ucp_context_h = *mut ucp_context;

opaque! { pub struct ucp_config }

pub type ucp_config_t = ucp_config;

opaque! { pub struct ucp_ep }

pub type ucp_ep_h = *mut ucp_ep;

opaque! { pub struct ucp_conn_request }

pub type ucp_conn_request_h = *mut ucp_conn_request;

opaque! { pub struct ucp_address }

pub type ucp_address_t = ucp_address;

c_enum! {
    pub enum ucp_err_handling_mode_t: c_uint {
        UCP_ERR_HANDLING_MODE_NONE = 0,
        UCP_ERR_HANDLING_MODE_PEER = 1,
        UCP_ERR_HANDLING_MODE_FAILOVER = 2,
    }
}

opaque! { pub struct ucp_rkey }

pub type ucp_rkey_h = *mut ucp_rkey;

opaque! { pub struct ucp_mem }

pub type ucp_mem_h = *mut ucp_mem;

opaque! { pub struct ucp_listener }

pub type ucp_listener_h = *mut ucp_listener;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_mem_attr {
    pub field_mask: u64,
    pub address: *mut c_void,
    pub length: usize,
    pub mem_type: ucs_memory_type_t,
}
const _: () = {
    assert!(size_of::<ucp_mem_attr>() == 32);
    assert!(offset_of!(ucp_mem_attr, field_mask) == 0);
    assert!(offset_of!(ucp_mem_attr, address) == 8);
    assert!(offset_of!(ucp_mem_attr, length) == 16);
    assert!(offset_of!(ucp_mem_attr, mem_type) == 24);
};

pub type ucp_mem_attr_t = ucp_mem_attr;

c_enum! {
    pub enum ucp_mem_attr_field: c_uint {
        UCP_MEM_ATTR_FIELD_ADDRESS = 1 << 0,
        UCP_MEM_ATTR_FIELD_LENGTH = 1 << 1,
        UCP_MEM_ATTR_FIELD_MEM_TYPE = 1 << 2,
    }
}

opaque! { pub struct ucp_worker }

pub type ucp_worker_h = *mut ucp_worker;

pub type ucp_tag_t = u64;

opaque! { pub struct ucp_recv_desc }

pub type ucp_tag_message_h = *mut ucp_recv_desc;

pub type ucp_datatype_t = u64;

pub type ucp_request_init_callback_t = Option<unsafe extern "C" fn(request: *mut c_void)>;

pub type ucp_request_cleanup_callback_t = Option<unsafe extern "C" fn(request: *mut c_void)>;

pub type ucp_send_callback_t =
    Option<unsafe extern "C" fn(request: *mut c_void, status: ucs_status_t)>;

pub type ucp_send_nbx_callback_t = Option<
    unsafe extern "C" fn(request: *mut c_void, status: ucs_status_t, user_data: *mut c_void),
>;

pub type ucp_err_handler_cb_t =
    Option<unsafe extern "C" fn(arg: *mut c_void, ep: ucp_ep_h, status: ucs_status_t)>;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_err_handler {
    pub cb: ucp_err_handler_cb_t,
    pub arg: *mut c_void,
}
const _: () = {
    assert!(size_of::<ucp_err_handler>() == 16);
    assert!(offset_of!(ucp_err_handler, cb) == 0);
    assert!(offset_of!(ucp_err_handler, arg) == 8);
};

pub type ucp_err_handler_t = ucp_err_handler;

pub type ucp_listener_accept_callback_t =
    Option<unsafe extern "C" fn(ep: ucp_ep_h, arg: *mut c_void)>;

pub type ucp_listener_conn_callback_t =
    Option<unsafe extern "C" fn(conn_request: ucp_conn_request_h, arg: *mut c_void)>;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_listener_conn_handler {
    pub cb: ucp_listener_conn_callback_t,
    pub arg: *mut c_void,
}
const _: () = {
    assert!(size_of::<ucp_listener_conn_handler>() == 16);
    assert!(offset_of!(ucp_listener_conn_handler, cb) == 0);
    assert!(offset_of!(ucp_listener_conn_handler, arg) == 8);
};

pub type ucp_listener_conn_handler_t = ucp_listener_conn_handler;

pub type ucp_stream_recv_callback_t =
    Option<unsafe extern "C" fn(request: *mut c_void, status: ucs_status_t, length: usize)>;

pub type ucp_stream_recv_nbx_callback_t = Option<
    unsafe extern "C" fn(
        request: *mut c_void,
        status: ucs_status_t,
        length: usize,
        user_data: *mut c_void,
    ),
>;

pub type ucp_tag_recv_callback_t = Option<
    unsafe extern "C" fn(
        request: *mut c_void,
        status: ucs_status_t,
        info: *mut ucp_tag_recv_info_t,
    ),
>;

pub type ucp_tag_recv_nbx_callback_t = Option<
    unsafe extern "C" fn(
        request: *mut c_void,
        status: ucs_status_t,
        tag_info: *const ucp_tag_recv_info_t,
        user_data: *mut c_void,
    ),
>;

pub type ucp_am_recv_data_nbx_callback_t = Option<
    unsafe extern "C" fn(
        request: *mut c_void,
        status: ucs_status_t,
        length: usize,
        user_data: *mut c_void,
    ),
>;

c_enum! {
    pub enum ucp_wakeup_event_types: c_uint {
        UCP_WAKEUP_RMA = 1 << 0,
        UCP_WAKEUP_AMO = 1 << 1,
        UCP_WAKEUP_TAG_SEND = 1 << 2,
        UCP_WAKEUP_TAG_RECV = 1 << 3,
        UCP_WAKEUP_TX = 1 << 10,
        UCP_WAKEUP_RX = 1 << 11,
        UCP_WAKEUP_EDGE = 1 << 16,
    }
}

pub type ucp_wakeup_event_t = ucp_wakeup_event_types;

pub type ucp_am_callback_t = Option<
    unsafe extern "C" fn(
        arg: *mut c_void,
        data: *mut c_void,
        length: usize,
        reply_ep: ucp_ep_h,
        flags: c_uint,
    ) -> ucs_status_t,
>;

pub type ucp_am_recv_callback_t = Option<
    unsafe extern "C" fn(
        arg: *mut c_void,
        header: *const c_void,
        header_length: usize,
        data: *mut c_void,
        length: usize,
        param: *const ucp_am_recv_param_t,
    ) -> ucs_status_t,
>;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_ep_params {
    pub field_mask: u64,
    pub address: *const ucp_address_t,
    pub err_mode: ucp_err_handling_mode_t,
    pub err_handler: ucp_err_handler_t,
    pub user_data: *mut c_void,
    pub flags: c_uint,
    pub sockaddr: ucs_sock_addr_t,
    pub conn_request: ucp_conn_request_h,
    pub name: *const c_char,
    pub local_sockaddr: ucs_sock_addr_t,
}
const _: () = {
    assert!(size_of::<ucp_ep_params>() == 104);
    assert!(offset_of!(ucp_ep_params, field_mask) == 0);
    assert!(offset_of!(ucp_ep_params, address) == 8);
    assert!(offset_of!(ucp_ep_params, err_mode) == 16);
    assert!(offset_of!(ucp_ep_params, err_handler) == 24);
    assert!(offset_of!(ucp_ep_params, user_data) == 40);
    assert!(offset_of!(ucp_ep_params, flags) == 48);
    assert!(offset_of!(ucp_ep_params, sockaddr) == 56);
    assert!(offset_of!(ucp_ep_params, conn_request) == 72);
    assert!(offset_of!(ucp_ep_params, name) == 80);
    assert!(offset_of!(ucp_ep_params, local_sockaddr) == 88);
};

pub type ucp_ep_params_t = ucp_ep_params;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_transport_entry_t {
    pub transport_name: *const c_char,
    pub device_name: *const c_char,
}
const _: () = {
    assert!(size_of::<ucp_transport_entry_t>() == 16);
    assert!(offset_of!(ucp_transport_entry_t, transport_name) == 0);
    assert!(offset_of!(ucp_transport_entry_t, device_name) == 8);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_transports_t {
    pub entries: *mut ucp_transport_entry_t,
    pub num_entries: c_uint,
    pub entry_size: usize,
}
const _: () = {
    assert!(size_of::<ucp_transports_t>() == 24);
    assert!(offset_of!(ucp_transports_t, entries) == 0);
    assert!(offset_of!(ucp_transports_t, num_entries) == 8);
    assert!(offset_of!(ucp_transports_t, entry_size) == 16);
};

opaque! { pub struct ucp_device_local_mem_list }

pub type ucp_device_local_mem_list_h = *mut ucp_device_local_mem_list;

opaque! { pub struct ucp_device_remote_mem_list }

pub type ucp_device_remote_mem_list_h = *mut ucp_device_remote_mem_list;
