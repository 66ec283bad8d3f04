//! `uct/api/uct_def.h`: types and constants.

use crate::c::prelude::*;

pub const UCT_COMPONENT_NAME_MAX: usize = 16;
pub const UCT_MD_GLOBAL_ID_MAX: usize = 256;
pub const UCT_TL_NAME_MAX: usize = 10;
pub const UCT_MD_NAME_MAX: usize = 16;
pub const UCT_DEVICE_NAME_MAX: usize = 32;
pub const UCT_PENDING_REQ_PRIV_LEN: usize = 40;
pub const UCT_TAG_PRIV_LEN: usize = 32;
pub const UCT_AM_ID_BITS: c_uint = 5;
pub const UCT_AM_ID_MAX: usize = 32;
pub const UCT_INVALID_RKEY: usize = usize::MAX;
pub const UCT_DMABUF_FD_INVALID: c_int = -1;

c_enum! {
    pub enum uct_am_trace_type: c_uint {
        UCT_AM_TRACE_TYPE_SEND = 0,
        UCT_AM_TRACE_TYPE_RECV = 1,
        UCT_AM_TRACE_TYPE_SEND_DROP = 2,
        UCT_AM_TRACE_TYPE_RECV_DROP = 3,
        UCT_AM_TRACE_TYPE_LAST = 4,
    }
}

c_enum! {
    pub enum uct_cb_param_flags: c_uint {
        UCT_CB_PARAM_FLAG_DESC = 1 << 0,
        UCT_CB_PARAM_FLAG_FIRST = 1 << 1,
        UCT_CB_PARAM_FLAG_MORE = 1 << 2,
    }
}

opaque! { pub struct uct_component }

pub type uct_component_h = *mut uct_component;

pub type uct_iface_h = *mut uct_iface;

opaque! { pub struct uct_iface_config }

pub type uct_iface_config_t = uct_iface_config;

opaque! { pub struct uct_md_config }

pub type uct_md_config_t = uct_md_config;

opaque! { pub struct uct_cm_config }

pub type uct_cm_config_t = uct_cm_config;

pub type uct_ep_h = *mut uct_ep;

pub type uct_mem_h = *mut c_void;

pub type uct_rkey_t = usize;

opaque! { pub struct uct_md }

pub type uct_md_h = *mut uct_md;

opaque! { pub struct uct_md_ops }

pub type uct_md_ops_t = uct_md_ops;

pub type uct_rkey_ctx_h = *mut c_void;

pub type uct_iface_attr_t = uct_iface_attr;

pub type uct_iface_params_t = uct_iface_params;

opaque! { pub struct uct_ep_attr }

pub type uct_ep_attr_t = uct_ep_attr;

pub type uct_md_attr_t = uct_md_attr;

pub type uct_completion_t = uct_completion;

pub type uct_pending_req_t = uct_pending_req;

pub type uct_worker_h = *mut uct_worker;

pub type uct_md_t = uct_md;

pub type uct_am_trace_type_t = uct_am_trace_type;

opaque! { pub struct uct_device_addr }

pub type uct_device_addr_t = uct_device_addr;

opaque! { pub struct uct_iface_addr }

pub type uct_iface_addr_t = uct_iface_addr;

opaque! { pub struct uct_ep_addr }

pub type uct_ep_addr_t = uct_ep_addr;

pub type uct_ep_params_t = uct_ep_params;

pub type uct_ep_connect_params_t = uct_ep_connect_params;

pub type uct_cm_attr_t = uct_cm_attr;

opaque! { pub struct uct_cm }

pub type uct_cm_t = uct_cm;

pub type uct_cm_h = *mut uct_cm_t;

pub type uct_listener_attr_t = uct_listener_attr;

pub type uct_listener_h = *mut uct_listener;

pub type uct_listener_params_t = uct_listener_params;

pub type uct_tag_context_t = uct_tag_context;

pub type uct_tag_t = u64;

pub type uct_worker_cb_id_t = c_int;

pub type uct_conn_request_h = *mut c_void;

pub type uct_device_ep_h = *mut uct_device_ep;

pub type uct_device_mem_elem_t = uct_device_mem_elem;

pub type uct_device_local_mem_elem_t = uct_device_local_mem_elem;

pub type uct_device_remote_tl_elem_t = uct_device_remote_tl_elem;

pub type uct_device_remote_mem_elem_t = uct_device_remote_mem_elem;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iov {
    pub buffer: *mut c_void,
    pub length: usize,
    pub memh: uct_mem_h,
    pub stride: usize,
    pub count: c_uint,
}
const _: () = {
    assert!(size_of::<uct_iov>() == 40);
    assert!(offset_of!(uct_iov, buffer) == 0);
    assert!(offset_of!(uct_iov, length) == 8);
    assert!(offset_of!(uct_iov, memh) == 16);
    assert!(offset_of!(uct_iov, stride) == 24);
    assert!(offset_of!(uct_iov, count) == 32);
};

pub type uct_iov_t = uct_iov;

c_enum! {
    pub enum uct_cm_ep_priv_data_pack_args_field: c_uint {
        UCT_CM_EP_PRIV_DATA_PACK_ARGS_FIELD_DEVICE_NAME = 1 << 0,
    }
}

c_enum! {
    pub enum uct_cm_ep_resolve_args_field: c_uint {
        UCT_CM_EP_RESOLVE_ARGS_FIELD_DEV_NAME = 1 << 0,
        UCT_CM_EP_RESOLVE_ARGS_FIELD_STATUS = 1 << 1,
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_cm_ep_priv_data_pack_args {
    pub field_mask: u64,
    pub dev_name: [c_char; 32],
}
const _: () = {
    assert!(size_of::<uct_cm_ep_priv_data_pack_args>() == 40);
    assert!(offset_of!(uct_cm_ep_priv_data_pack_args, field_mask) == 0);
    assert!(offset_of!(uct_cm_ep_priv_data_pack_args, dev_name) == 8);
};

pub type uct_cm_ep_priv_data_pack_args_t = uct_cm_ep_priv_data_pack_args;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_cm_ep_resolve_args {
    pub field_mask: u64,
    pub dev_name: [c_char; 32],
    pub status: ucs_status_t,
}
const _: () = {
    assert!(size_of::<uct_cm_ep_resolve_args>() == 48);
    assert!(offset_of!(uct_cm_ep_resolve_args, field_mask) == 0);
    assert!(offset_of!(uct_cm_ep_resolve_args, dev_name) == 8);
    assert!(offset_of!(uct_cm_ep_resolve_args, status) == 40);
};

pub type uct_cm_ep_resolve_args_t = uct_cm_ep_resolve_args;

c_enum! {
    pub enum uct_cm_remote_data_field: c_uint {
        UCT_CM_REMOTE_DATA_FIELD_DEV_ADDR = 1 << 0,
        UCT_CM_REMOTE_DATA_FIELD_DEV_ADDR_LENGTH = 1 << 1,
        UCT_CM_REMOTE_DATA_FIELD_CONN_PRIV_DATA = 1 << 2,
        UCT_CM_REMOTE_DATA_FIELD_CONN_PRIV_DATA_LENGTH = 1 << 3,
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_cm_remote_data {
    pub field_mask: u64,
    pub dev_addr: *const uct_device_addr_t,
    pub dev_addr_length: usize,
    pub conn_priv_data: *const c_void,
    pub conn_priv_data_length: usize,
}
const _: () = {
    assert!(size_of::<uct_cm_remote_data>() == 40);
    assert!(offset_of!(uct_cm_remote_data, field_mask) == 0);
    assert!(offset_of!(uct_cm_remote_data, dev_addr) == 8);
    assert!(offset_of!(uct_cm_remote_data, dev_addr_length) == 16);
    assert!(offset_of!(uct_cm_remote_data, conn_priv_data) == 24);
    assert!(offset_of!(uct_cm_remote_data, conn_priv_data_length) == 32);
};

pub type uct_cm_remote_data_t = uct_cm_remote_data;

c_enum! {
    pub enum uct_cm_listener_conn_request_args_field: c_uint {
        UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_DEV_NAME = 1 << 0,
        UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_CONN_REQUEST = 1 << 1,
        UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_REMOTE_DATA = 1 << 2,
        UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_CLIENT_ADDR = 1 << 3,
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_cm_listener_conn_request_args {
    pub field_mask: u64,
    pub dev_name: [c_char; 32],
    pub conn_request: uct_conn_request_h,
    pub remote_data: *const uct_cm_remote_data_t,
    pub client_address: ucs_sock_addr_t,
}
const _: () = {
    assert!(size_of::<uct_cm_listener_conn_request_args>() == 72);
    assert!(offset_of!(uct_cm_listener_conn_request_args, field_mask) == 0);
    assert!(offset_of!(uct_cm_listener_conn_request_args, dev_name) == 8);
    assert!(offset_of!(uct_cm_listener_conn_request_args, conn_request) == 40);
    assert!(offset_of!(uct_cm_listener_conn_request_args, remote_data) == 48);
    assert!(offset_of!(uct_cm_listener_conn_request_args, client_address) == 56);
};

pub type uct_cm_listener_conn_request_args_t = uct_cm_listener_conn_request_args;

c_enum! {
    pub enum uct_cm_ep_client_connect_args_field: c_uint {
        UCT_CM_EP_CLIENT_CONNECT_ARGS_FIELD_REMOTE_DATA = 1 << 0,
        UCT_CM_EP_CLIENT_CONNECT_ARGS_FIELD_STATUS = 1 << 1,
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_cm_ep_client_connect_args {
    pub field_mask: u64,
    pub remote_data: *const uct_cm_remote_data_t,
    pub status: ucs_status_t,
}
const _: () = {
    assert!(size_of::<uct_cm_ep_client_connect_args>() == 24);
    assert!(offset_of!(uct_cm_ep_client_connect_args, field_mask) == 0);
    assert!(offset_of!(uct_cm_ep_client_connect_args, remote_data) == 8);
    assert!(offset_of!(uct_cm_ep_client_connect_args, status) == 16);
};

pub type uct_cm_ep_client_connect_args_t = uct_cm_ep_client_connect_args;

c_enum! {
    pub enum uct_cm_ep_server_conn_notify_args_field: c_uint {
        UCT_CM_EP_SERVER_CONN_NOTIFY_ARGS_FIELD_STATUS = 1 << 0,
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_cm_ep_server_conn_notify_args {
    pub field_mask: u64,
    pub status: ucs_status_t,
}
const _: () = {
    assert!(size_of::<uct_cm_ep_server_conn_notify_args>() == 16);
    assert!(offset_of!(uct_cm_ep_server_conn_notify_args, field_mask) == 0);
    assert!(offset_of!(uct_cm_ep_server_conn_notify_args, status) == 8);
};

pub type uct_cm_ep_server_conn_notify_args_t = uct_cm_ep_server_conn_notify_args;

pub type uct_am_callback_t = Option<
    unsafe extern "C" fn(
        arg: *mut c_void,
        data: *mut c_void,
        length: usize,
        flags: c_uint,
    ) -> ucs_status_t,
>;

pub type uct_am_tracer_t = Option<
    unsafe extern "C" fn(
        arg: *mut c_void,
        r#type: uct_am_trace_type_t,
        id: u8,
        data: *const c_void,
        length: usize,
        buffer: *mut c_char,
        max: usize,
    ),
>;

pub type uct_completion_callback_t = Option<unsafe extern "C" fn(self_: *mut uct_completion_t)>;

pub type uct_pending_callback_t =
    Option<unsafe extern "C" fn(self_: *mut uct_pending_req_t) -> ucs_status_t>;

pub type uct_error_handler_t = Option<
    unsafe extern "C" fn(arg: *mut c_void, ep: uct_ep_h, status: ucs_status_t) -> ucs_status_t,
>;

pub type uct_pending_purge_callback_t =
    Option<unsafe extern "C" fn(self_: *mut uct_pending_req_t, arg: *mut c_void)>;

pub type uct_pack_callback_t =
    Option<unsafe extern "C" fn(dest: *mut c_void, arg: *mut c_void) -> usize>;

pub type uct_unpack_callback_t =
    Option<unsafe extern "C" fn(arg: *mut c_void, data: *const c_void, length: usize)>;

pub type uct_sockaddr_conn_request_callback_t = Option<
    unsafe extern "C" fn(
        iface: uct_iface_h,
        arg: *mut c_void,
        conn_request: uct_conn_request_h,
        conn_priv_data: *const c_void,
        length: usize,
    ),
>;

pub type uct_cm_listener_conn_request_callback_t = Option<
    unsafe extern "C" fn(
        listener: uct_listener_h,
        arg: *mut c_void,
        conn_req_args: *const uct_cm_listener_conn_request_args_t,
    ),
>;

pub type uct_cm_ep_server_conn_notify_callback_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        arg: *mut c_void,
        connect_args: *const uct_cm_ep_server_conn_notify_args_t,
    ),
>;

pub type uct_cm_ep_client_connect_callback_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        arg: *mut c_void,
        connect_args: *const uct_cm_ep_client_connect_args_t,
    ),
>;

pub type uct_ep_disconnect_cb_t = Option<unsafe extern "C" fn(ep: uct_ep_h, arg: *mut c_void)>;

pub type uct_cm_ep_priv_data_pack_callback_t = Option<
    unsafe extern "C" fn(
        arg: *mut c_void,
        pack_args: *const uct_cm_ep_priv_data_pack_args_t,
        priv_data: *mut c_void,
    ) -> isize,
>;

pub type uct_cm_ep_resolve_callback_t = Option<
    unsafe extern "C" fn(
        user_data: *mut c_void,
        resolve_args: *const uct_cm_ep_resolve_args_t,
    ) -> ucs_status_t,
>;

pub type uct_tag_unexp_eager_cb_t = Option<
    unsafe extern "C" fn(
        arg: *mut c_void,
        data: *mut c_void,
        length: usize,
        flags: c_uint,
        stag: uct_tag_t,
        imm: u64,
        context: *mut *mut c_void,
    ) -> ucs_status_t,
>;

pub type uct_tag_unexp_rndv_cb_t = Option<
    unsafe extern "C" fn(
        arg: *mut c_void,
        flags: c_uint,
        stag: u64,
        header: *const c_void,
        header_length: c_uint,
        remote_addr: u64,
        length: usize,
        rkey_buf: *const c_void,
    ) -> ucs_status_t,
>;

pub type uct_async_event_cb_t = Option<unsafe extern "C" fn(arg: *mut c_void, flags: c_uint)>;
