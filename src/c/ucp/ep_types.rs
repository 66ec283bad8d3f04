//! `ucp/api/ucp.h`: endpoints, listeners and waiting clients. Only members whose bit is in
//! `field_mask` are read or written.

use crate::c::prelude::*;

c_enum! {
    /// Members of `ucp_listener_params`.
    pub enum ucp_listener_params_field: c_uint {
        /// `sockaddr` is set.
        UCP_LISTENER_PARAM_FIELD_SOCK_ADDR = 1 << 0,
        /// `accept_handler` is set.
        UCP_LISTENER_PARAM_FIELD_ACCEPT_HANDLER = 1 << 1,
        /// `conn_handler` is set.
        UCP_LISTENER_PARAM_FIELD_CONN_HANDLER = 1 << 2,
    }
}

c_enum! {
    /// Members of `ucp_ep_params`.
    pub enum ucp_ep_params_field: c_uint {
        /// `address` is set.
        UCP_EP_PARAM_FIELD_REMOTE_ADDRESS = 1 << 0,
        /// `err_mode` is set.
        UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE = 1 << 1,
        /// `err_handler` is set.
        UCP_EP_PARAM_FIELD_ERR_HANDLER = 1 << 2,
        /// `user_data` is set.
        UCP_EP_PARAM_FIELD_USER_DATA = 1 << 3,
        /// `sockaddr` is set.
        UCP_EP_PARAM_FIELD_SOCK_ADDR = 1 << 4,
        /// `flags` is set.
        UCP_EP_PARAM_FIELD_FLAGS = 1 << 5,
        /// `conn_request` is set.
        UCP_EP_PARAM_FIELD_CONN_REQUEST = 1 << 6,
        /// `name` is set.
        UCP_EP_PARAM_FIELD_NAME = 1 << 7,
        /// `local_sockaddr` is set.
        UCP_EP_PARAM_FIELD_LOCAL_SOCK_ADDR = 1 << 8,
    }
}

c_enum! {
    /// Flags of an endpoint's creation.
    pub enum ucp_ep_params_flags_field: c_uint {
        /// Connect to a listener's socket.
        UCP_EP_PARAMS_FLAGS_CLIENT_SERVER = 1 << 0,
        /// Do not pair an endpoint to its own worker with itself.
        UCP_EP_PARAMS_FLAGS_NO_LOOPBACK = 1 << 1,
        /// Send the worker's `client_id` to the server.
        UCP_EP_PARAMS_FLAGS_SEND_CLIENT_ID = 1 << 2,
    }
}

c_enum! {
    /// Flags of `ucp_ep_close_nbx`.
    pub enum ucp_ep_close_flags_t: c_uint {
        /// Do not flush: operations under way end with an error. Needs error handling mode PEER on
        /// both sides.
        UCP_EP_CLOSE_FLAG_FORCE = 1 << 0,
    }
}

c_enum! {
    /// Members of `ucp_ep_evaluate_perf_param_t`.
    pub enum ucp_ep_perf_param_field: c_uint {
        /// `message_size` is set.
        UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE = 1 << 0,
    }
}

pub type ucp_ep_perf_param_field_t = ucp_ep_perf_param_field;

c_enum! {
    /// Members of `ucp_ep_evaluate_perf_attr_t`.
    pub enum ucp_ep_perf_attr_field: c_uint {
        /// `estimated_time` is wanted.
        UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME = 1 << 0,
    }
}

pub type ucp_ep_perf_attr_field_t = ucp_ep_perf_attr_field;

c_enum! {
    /// Members of `ucp_listener_attr`.
    pub enum ucp_listener_attr_field: c_uint {
        /// `sockaddr` is wanted.
        UCP_LISTENER_ATTR_FIELD_SOCKADDR = 1 << 0,
    }
}

c_enum! {
    /// Members of `ucp_conn_request_attr`.
    pub enum ucp_conn_request_attr_field: c_uint {
        /// `client_address` is wanted.
        UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ADDR = 1 << 0,
        /// `client_id` is wanted.
        UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ID = 1 << 1,
    }
}

/// What `ucp_ep_evaluate_perf` shall estimate.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_ep_evaluate_perf_param_t {
    /// Members that are set, bits of `ucp_ep_perf_param_field`.
    pub field_mask: u64,
    /// Bytes of a message.
    pub message_size: usize,
}
const _: () = {
    assert!(size_of::<ucp_ep_evaluate_perf_param_t>() == 16);
    assert!(offset_of!(ucp_ep_evaluate_perf_param_t, field_mask) == 0);
    assert!(offset_of!(ucp_ep_evaluate_perf_param_t, message_size) == 8);
};

/// The estimate.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_ep_evaluate_perf_attr_t {
    /// In: members to fill, bits of `ucp_ep_perf_attr_field`.
    pub field_mask: u64,
    /// Seconds until the peer has the message.
    pub estimated_time: f64,
}
const _: () = {
    assert!(size_of::<ucp_ep_evaluate_perf_attr_t>() == 16);
    assert!(offset_of!(ucp_ep_evaluate_perf_attr_t, field_mask) == 0);
    assert!(offset_of!(ucp_ep_evaluate_perf_attr_t, estimated_time) == 8);
};

/// What `ucp_listener_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_listener_attr {
    /// In: members to fill, bits of `ucp_listener_attr_field`.
    pub field_mask: u64,
    /// Socket that it is bound to, with the port that it got.
    pub sockaddr: sockaddr_storage,
}
const _: () = {
    assert!(size_of::<ucp_listener_attr>() == 136);
    assert!(offset_of!(ucp_listener_attr, field_mask) == 0);
    assert!(offset_of!(ucp_listener_attr, sockaddr) == 8);
};

pub type ucp_listener_attr_t = ucp_listener_attr;

/// What `ucp_conn_request_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_conn_request_attr {
    /// In: members to fill, bits of `ucp_conn_request_attr_field`.
    pub field_mask: u64,
    /// Socket of the client.
    pub client_address: sockaddr_storage,
    /// Number that the client sent.
    pub client_id: u64,
}
const _: () = {
    assert!(size_of::<ucp_conn_request_attr>() == 144);
    assert!(offset_of!(ucp_conn_request_attr, field_mask) == 0);
    assert!(offset_of!(ucp_conn_request_attr, client_address) == 8);
    assert!(offset_of!(ucp_conn_request_attr, client_id) == 136);
};

pub type ucp_conn_request_attr_t = ucp_conn_request_attr;

/// How a listener accepts clients: one of the two handlers.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_listener_params {
    /// Members that are set, bits of `ucp_listener_params_field`.
    pub field_mask: u64,
    /// Socket to bind; must be set. Port 0 takes any free one.
    pub sockaddr: ucs_sock_addr_t,
    /// Gets endpoints, each for a client.
    pub accept_handler: ucp_listener_accept_handler_t,
    /// Gets requests, and decides.
    pub conn_handler: ucp_listener_conn_handler_t,
}
const _: () = {
    assert!(size_of::<ucp_listener_params>() == 56);
    assert!(offset_of!(ucp_listener_params, field_mask) == 0);
    assert!(offset_of!(ucp_listener_params, sockaddr) == 8);
    assert!(offset_of!(ucp_listener_params, accept_handler) == 24);
    assert!(offset_of!(ucp_listener_params, conn_handler) == 40);
};

pub type ucp_listener_params_t = ucp_listener_params;

c_enum! {
    /// Members of `ucp_ep_attr`.
    pub enum ucp_ep_attr_field: c_uint {
        /// `name` is wanted.
        UCP_EP_ATTR_FIELD_NAME = 1 << 0,
        /// `local_sockaddr` is wanted.
        UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR = 1 << 1,
        /// `remote_sockaddr` is wanted.
        UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR = 1 << 2,
        /// `transports` is wanted.
        UCP_EP_ATTR_FIELD_TRANSPORTS = 1 << 3,
        /// `user_data` is wanted.
        UCP_EP_ATTR_FIELD_USER_DATA = 1 << 4,
    }
}

/// What `ucp_ep_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_ep_attr {
    /// In: members to fill, bits of `ucp_ep_attr_field`.
    pub field_mask: u64,
    /// Name of the endpoint, NUL-terminated.
    pub name: [c_char; UCP_ENTITY_NAME_MAX],
    /// Own socket, of endpoints between client and server.
    pub local_sockaddr: sockaddr_storage,
    /// The peer's socket, of endpoints between client and server.
    pub remote_sockaddr: sockaddr_storage,
    /// Transports in use.
    pub transports: ucp_transports_t,
    /// As given when it was created.
    pub user_data: *mut c_void,
}
const _: () = {
    assert!(size_of::<ucp_ep_attr>() == 328);
    assert!(offset_of!(ucp_ep_attr, field_mask) == 0);
    assert!(offset_of!(ucp_ep_attr, name) == 8);
    assert!(offset_of!(ucp_ep_attr, local_sockaddr) == 40);
    assert!(offset_of!(ucp_ep_attr, remote_sockaddr) == 168);
    assert!(offset_of!(ucp_ep_attr, transports) == 296);
    assert!(offset_of!(ucp_ep_attr, user_data) == 320);
};

pub type ucp_ep_attr_t = ucp_ep_attr;
