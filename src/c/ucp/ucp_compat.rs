//! `ucp/api/ucp_compat.h`: types and constants.

use crate::c::prelude::*;

/// An old-style handler of clients and its argument.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_listener_accept_handler {
    /// The handler.
    pub cb: ucp_listener_accept_callback_t,
    /// Its last argument.
    pub arg: *mut c_void,
}
const _: () = {
    assert!(size_of::<ucp_listener_accept_handler>() == 16);
    assert!(offset_of!(ucp_listener_accept_handler, cb) == 0);
    assert!(offset_of!(ucp_listener_accept_handler, arg) == 8);
};

pub type ucp_listener_accept_handler_t = ucp_listener_accept_handler;

c_enum! {
    /// Operations of `ucp_atomic_post`.
    pub enum ucp_atomic_post_op_t: c_uint {
        /// Add.
        UCP_ATOMIC_POST_OP_ADD = 0,
        /// Bitwise and.
        UCP_ATOMIC_POST_OP_AND = 1,
        /// Bitwise or.
        UCP_ATOMIC_POST_OP_OR = 2,
        /// Bitwise exclusive or.
        UCP_ATOMIC_POST_OP_XOR = 3,
        /// Number of operations.
        UCP_ATOMIC_POST_OP_LAST = 4,
    }
}

c_enum! {
    /// Operations of `ucp_atomic_fetch_nb`.
    pub enum ucp_atomic_fetch_op_t: c_uint {
        /// Add.
        UCP_ATOMIC_FETCH_OP_FADD = 0,
        /// Exchange.
        UCP_ATOMIC_FETCH_OP_SWAP = 1,
        /// Exchange, if the value there is the one expected.
        UCP_ATOMIC_FETCH_OP_CSWAP = 2,
        /// Bitwise and.
        UCP_ATOMIC_FETCH_OP_FAND = 3,
        /// Bitwise or.
        UCP_ATOMIC_FETCH_OP_FOR = 4,
        /// Bitwise exclusive or.
        UCP_ATOMIC_FETCH_OP_FXOR = 5,
        /// Number of operations.
        UCP_ATOMIC_FETCH_OP_LAST = 6,
    }
}

c_enum! {
    /// Modes of `ucp_ep_close_nb`.
    pub enum ucp_ep_close_mode: c_uint {
        /// Do not flush: operations under way end with an error.
        UCP_EP_CLOSE_MODE_FORCE = 0,
        /// Flush first.
        UCP_EP_CLOSE_MODE_FLUSH = 1,
    }
}
