//! `uct/api/uct.h`: how endpoints connect, to addresses and to sockets. Only members whose bit is in
//! `field_mask` are read.

use crate::c::prelude::*;

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
    /// Members of `uct_cm_attr`.
    pub enum uct_cm_attr_field: c_uint {
        /// `max_conn_priv` is wanted.
        UCT_CM_ATTR_FIELD_MAX_CONN_PRIV = 1 << 0,
    }
}

c_enum! {
    /// Members of `uct_listener_attr`.
    pub enum uct_listener_attr_field: c_uint {
        /// `sockaddr` is wanted.
        UCT_LISTENER_ATTR_FIELD_SOCKADDR = 1 << 0,
    }
}

c_enum! {
    /// Members of `uct_listener_params`.
    pub enum uct_listener_params_field: c_uint {
        /// `backlog` is set.
        UCT_LISTENER_PARAM_FIELD_BACKLOG = 1 << 0,
        /// `conn_request_cb` is set.
        UCT_LISTENER_PARAM_FIELD_CONN_REQUEST_CB = 1 << 1,
        /// `user_data` is set.
        UCT_LISTENER_PARAM_FIELD_USER_DATA = 1 << 2,
    }
}

c_enum! {
    /// Members of `uct_ep_params`.
    pub enum uct_ep_params_field: c_uint {
        /// `iface` is set.
        UCT_EP_PARAM_FIELD_IFACE = 1 << 0,
        /// `user_data` is set.
        UCT_EP_PARAM_FIELD_USER_DATA = 1 << 1,
        /// `dev_addr` is set.
        UCT_EP_PARAM_FIELD_DEV_ADDR = 1 << 2,
        /// `iface_addr` is set.
        UCT_EP_PARAM_FIELD_IFACE_ADDR = 1 << 3,
        /// `sockaddr` is set.
        UCT_EP_PARAM_FIELD_SOCKADDR = 1 << 4,
        /// `sockaddr_cb_flags` is set.
        UCT_EP_PARAM_FIELD_SOCKADDR_CB_FLAGS = 1 << 5,
        /// `sockaddr_pack_cb` is set.
        UCT_EP_PARAM_FIELD_SOCKADDR_PACK_CB = 1 << 6,
        /// `cm` is set.
        UCT_EP_PARAM_FIELD_CM = 1 << 7,
        /// `conn_request` is set.
        UCT_EP_PARAM_FIELD_CONN_REQUEST = 1 << 8,
        /// `sockaddr_cb_client` is set.
        UCT_EP_PARAM_FIELD_SOCKADDR_CONNECT_CB_CLIENT = 1 << 9,
        /// `sockaddr_cb_server` is set.
        UCT_EP_PARAM_FIELD_SOCKADDR_NOTIFY_CB_SERVER = 1 << 10,
        /// `disconnect_cb` is set.
        UCT_EP_PARAM_FIELD_SOCKADDR_DISCONNECT_CB = 1 << 11,
        /// `path_index` is set.
        UCT_EP_PARAM_FIELD_PATH_INDEX = 1 << 12,
        /// `cm_resolve_cb` is set.
        UCT_EP_PARAM_FIELD_CM_RESOLVE_CB = 1 << 13,
        /// `private_data` is set.
        UCT_EP_PARAM_FIELD_PRIV_DATA = 1 << 14,
        /// `private_data_length` is set.
        UCT_EP_PARAM_FIELD_PRIV_DATA_LENGTH = 1 << 15,
        /// `local_sockaddr` is set.
        UCT_EP_PARAM_FIELD_LOCAL_SOCKADDR = 1 << 16,
        /// `dev_addr_length` is set.
        UCT_EP_PARAM_FIELD_DEV_ADDR_LENGTH = 1 << 17,
        /// `iface_addr_length` is set.
        UCT_EP_PARAM_FIELD_IFACE_ADDR_LENGTH = 1 << 18,
    }
}

c_enum! {
    /// Members of `uct_ep_connect_params`.
    pub enum uct_ep_connect_params_field: c_uint {
        /// `private_data` is set.
        UCT_EP_CONNECT_PARAM_FIELD_PRIVATE_DATA = 1 << 0,
        /// `private_data_length` is set.
        UCT_EP_CONNECT_PARAM_FIELD_PRIVATE_DATA_LENGTH = 1 << 1,
    }
}

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
