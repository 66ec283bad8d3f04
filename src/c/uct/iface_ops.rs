//! `uct/api/uct.h`: what goes with operations: flags, completions, queued requests and posted
//! receives. The last three live in memory of the caller, with a private part for the transport.

use crate::c::prelude::*;

c_enum! {
    /// Atomic operations; UCS_BIT() of them in `op_flags` and `fop_flags`.
    pub enum uct_atomic_op: c_uint {
        /// Add.
        UCT_ATOMIC_OP_ADD = 0,
        /// Bitwise and.
        UCT_ATOMIC_OP_AND = 1,
        /// Bitwise or.
        UCT_ATOMIC_OP_OR = 2,
        /// Bitwise exclusive or.
        UCT_ATOMIC_OP_XOR = 3,
        /// Exchange.
        UCT_ATOMIC_OP_SWAP = 4,
        /// Exchange, if the value there is the one expected.
        UCT_ATOMIC_OP_CSWAP = 5,
        /// Number of operations.
        UCT_ATOMIC_OP_LAST = 6,
    }
}

pub type uct_atomic_op_t = uct_atomic_op;

c_enum! {
    /// Events of an interface.
    pub enum uct_iface_event_types: c_uint {
        /// A send ended.
        UCT_EVENT_SEND_COMP = 1 << 0,
        /// Something arrived.
        UCT_EVENT_RECV = 1 << 1,
        /// Something arrived that was sent with UCT_SEND_FLAG_SIGNALED.
        UCT_EVENT_RECV_SIG = 1 << 2,
        /// The device got faster or slower.
        UCT_EVENT_SPEED_CHANGE = 1 << 3,
    }
}

c_enum! {
    /// Flags of a flush.
    pub enum uct_flush_flags: c_uint {
        /// Until the caller's memory is free.
        UCT_FLUSH_FLAG_LOCAL = 0,
        /// Give up what is under way; the endpoint can only be destroyed then.
        UCT_FLUSH_FLAG_CANCEL = 1 << 0,
        /// Until the peer's memory has the data.
        UCT_FLUSH_FLAG_REMOTE = 1 << 1,
    }
}

c_enum! {
    /// What an interface progresses.
    pub enum uct_progress_types: c_uint {
        /// Sends.
        UCT_PROGRESS_SEND = 1 << 0,
        /// Arrivals.
        UCT_PROGRESS_RECV = 1 << 1,
        /// This may be turned on and off by another thread.
        UCT_PROGRESS_THREAD_SAFE = 1 << 7,
    }
}

c_enum! {
    /// Flags of a send.
    pub enum uct_msg_flags: c_uint {
        /// Raise UCT_EVENT_RECV_SIG at the receiver.
        UCT_SEND_FLAG_SIGNALED = 1 << 0,
        /// Only find out whether the peer lives.
        UCT_SEND_FLAG_PEER_CHECK = 1 << 1,
    }
}

c_enum! {
    /// Flags of a callback.
    pub enum uct_cb_flags: c_uint {
        /// Not used.
        UCT_CB_FLAG_RESERVED = 1 << 1,
        /// It may be called from another thread.
        UCT_CB_FLAG_ASYNC = 1 << 2,
    }
}

/// Counts operations and calls back at the end. Memory of the caller, who sets it before the first
/// operation.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_completion {
    /// Called when `count` reaches 0.
    pub func: uct_completion_callback_t,
    /// Operations still under way.
    pub count: c_int,
    /// UCS_OK at first, then the first failure.
    pub status: ucs_status_t,
}
const _: () = {
    assert!(size_of::<uct_completion>() == 16);
    assert!(offset_of!(uct_completion, func) == 0);
    assert!(offset_of!(uct_completion, count) == 8);
    assert!(offset_of!(uct_completion, status) == 12);
};

/// A request in a queue. Memory of the caller.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_pending_req {
    /// Tries it.
    pub func: uct_pending_callback_t,
    /// Of the transport, while it is queued.
    pub r#priv: [c_char; UCT_PENDING_REQ_PRIV_LEN],
}
const _: () = {
    assert!(size_of::<uct_pending_req>() == 48);
    assert!(offset_of!(uct_pending_req, func) == 0);
    assert!(offset_of!(uct_pending_req, r#priv) == 8);
};

/// A posted receive of a tagged message. Memory of the caller.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_tag_context {
    /// Called when a message matched: the receive cannot be cancelled any more.
    pub tag_consumed_cb: Option<unsafe extern "C" fn(*mut uct_tag_context_t)>,
    /// Called with tag, immediate, bytes, inlined data and status at the end.
    pub completed_cb: Option<
        unsafe extern "C" fn(
            *mut uct_tag_context_t,
            uct_tag_t,
            u64,
            usize,
            *mut c_void,
            ucs_status_t,
        ),
    >,
    /// Called when an offer matched that software has to fetch.
    pub rndv_cb: Option<
        unsafe extern "C" fn(
            *mut uct_tag_context_t,
            uct_tag_t,
            *const c_void,
            c_uint,
            ucs_status_t,
            c_uint,
        ),
    >,
    /// Of the transport, while it is posted.
    pub r#priv: [c_char; UCT_TAG_PRIV_LEN],
}
const _: () = {
    assert!(size_of::<uct_tag_context>() == 56);
    assert!(offset_of!(uct_tag_context, tag_consumed_cb) == 0);
    assert!(offset_of!(uct_tag_context, completed_cb) == 8);
    assert!(offset_of!(uct_tag_context, rndv_cb) == 16);
    assert!(offset_of!(uct_tag_context, r#priv) == 24);
};

c_enum! {
    /// Flags of the end of a tagged receive.
    pub enum uct_tag_recv_cb_inline_data_bits: c_uint {
        /// The data is in the completion, not in the buffer.
        UCT_TAG_RECV_CB_INLINE_DATA = 1 << 0,
    }
}
