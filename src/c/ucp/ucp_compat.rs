//! `ucp/api/ucp_compat.h`: types and constants.

use crate::c::prelude::*;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_listener_accept_handler {
    pub cb: ucp_listener_accept_callback_t,
    pub arg: *mut c_void,
}
const _: () = {
    assert!(size_of::<ucp_listener_accept_handler>() == 16);
    assert!(offset_of!(ucp_listener_accept_handler, cb) == 0);
    assert!(offset_of!(ucp_listener_accept_handler, arg) == 8);
};

pub type ucp_listener_accept_handler_t = ucp_listener_accept_handler;

c_enum! {
    pub enum ucp_atomic_post_op_t: c_uint {
        UCP_ATOMIC_POST_OP_ADD = 0,
        UCP_ATOMIC_POST_OP_AND = 1,
        UCP_ATOMIC_POST_OP_OR = 2,
        UCP_ATOMIC_POST_OP_XOR = 3,
        UCP_ATOMIC_POST_OP_LAST = 4,
    }
}

c_enum! {
    pub enum ucp_atomic_fetch_op_t: c_uint {
        UCP_ATOMIC_FETCH_OP_FADD = 0,
        UCP_ATOMIC_FETCH_OP_SWAP = 1,
        UCP_ATOMIC_FETCH_OP_CSWAP = 2,
        UCP_ATOMIC_FETCH_OP_FAND = 3,
        UCP_ATOMIC_FETCH_OP_FOR = 4,
        UCP_ATOMIC_FETCH_OP_FXOR = 5,
        UCP_ATOMIC_FETCH_OP_LAST = 6,
    }
}

c_enum! {
    pub enum ucp_ep_close_mode: c_uint {
        UCP_EP_CLOSE_MODE_FORCE = 0,
        UCP_EP_CLOSE_MODE_FLUSH = 1,
    }
}
