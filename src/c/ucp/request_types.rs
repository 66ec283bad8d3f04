//! `ucp/api/ucp.h`: operations: parameters, flags, requests and their results. `ucp_request_param_t`
//! grew twice: each member is read only when its bit is set, and the whole is never copied.

use crate::c::prelude::*;

c_enum! {
    /// Flags of an active message's handler.
    pub enum ucp_am_cb_flags: c_uint {
        /// Call it with whole messages only; that is always so here.
        UCP_AM_FLAG_WHOLE_MSG = 1 << 0,
        /// It wants to keep the data: the library hands it over where it can.
        UCP_AM_FLAG_PERSISTENT_DATA = 1 << 1,
    }
}

c_enum! {
    /// Flags of an active message's send.
    pub enum ucp_send_am_flags: c_uint {
        /// Let the handler reply: it gets an endpoint.
        UCP_AM_SEND_FLAG_REPLY = 1 << 0,
        /// Send the data with the message, whatever its size.
        UCP_AM_SEND_FLAG_EAGER = 1 << 1,
        /// Announce the data; the peer fetches it.
        UCP_AM_SEND_FLAG_RNDV = 1 << 2,
        /// Copy the header, so that the caller's memory is free at once.
        UCP_AM_SEND_FLAG_COPY_HEADER = 1 << 3,
        /// Old name of UCP_AM_SEND_FLAG_REPLY.
        UCP_AM_SEND_REPLY = 1,
    }
}

c_enum! {
    /// Flags that an old-style handler gets.
    pub enum ucp_cb_param_flags: c_uint {
        /// The data may be kept.
        UCP_CB_PARAM_FLAG_DATA = 1 << 0,
    }
}

c_enum! {
    /// Operations of `ucp_atomic_op_nbx`.
    pub enum ucp_atomic_op_t: c_uint {
        /// Add.
        UCP_ATOMIC_OP_ADD = 0,
        /// Exchange.
        UCP_ATOMIC_OP_SWAP = 1,
        /// Exchange, if the value there is the one expected.
        UCP_ATOMIC_OP_CSWAP = 2,
        /// Bitwise and.
        UCP_ATOMIC_OP_AND = 3,
        /// Bitwise or.
        UCP_ATOMIC_OP_OR = 4,
        /// Bitwise exclusive or.
        UCP_ATOMIC_OP_XOR = 5,
        /// Number of operations.
        UCP_ATOMIC_OP_LAST = 6,
    }
}

c_enum! {
    /// Flags of a stream receive.
    pub enum ucp_stream_recv_flags_t: c_uint {
        /// Wait until the buffer is full.
        UCP_STREAM_RECV_FLAG_WAITALL = 1 << 0,
    }
}

c_enum! {
    /// Members of `ucp_request_param_t`, and flags of an operation.
    pub enum ucp_op_attr_t: c_uint {
        /// `request` is set.
        UCP_OP_ATTR_FIELD_REQUEST = 1 << 0,
        /// `cb` is set.
        UCP_OP_ATTR_FIELD_CALLBACK = 1 << 1,
        /// `user_data` is set.
        UCP_OP_ATTR_FIELD_USER_DATA = 1 << 2,
        /// `datatype` is set.
        UCP_OP_ATTR_FIELD_DATATYPE = 1 << 3,
        /// `flags` is set.
        UCP_OP_ATTR_FIELD_FLAGS = 1 << 4,
        /// `reply_buffer` is set.
        UCP_OP_ATTR_FIELD_REPLY_BUFFER = 1 << 5,
        /// `memory_type` is set.
        UCP_OP_ATTR_FIELD_MEMORY_TYPE = 1 << 6,
        /// `recv_info` is set.
        UCP_OP_ATTR_FIELD_RECV_INFO = 1 << 7,
        /// `memh` is set.
        UCP_OP_ATTR_FIELD_MEMH = 1 << 8,
        /// `remote_datatype` is set.
        UCP_OP_ATTR_FIELD_REMOTE_DATATYPE = 1 << 9,
        /// `remote` is set.
        UCP_OP_ATTR_FIELD_REMOTE = 1 << 10,
        /// `remote_count` is set.
        UCP_OP_ATTR_FIELD_REMOTE_COUNT = 1 << 11,
        /// Never finish at once: always give a request and call back.
        UCP_OP_ATTR_FLAG_NO_IMM_CMPL = 1 << 16,
        /// Finish early rather than move data fast.
        UCP_OP_ATTR_FLAG_FAST_CMPL = 1 << 17,
        /// Finish at once or fail with UCS_ERR_NO_RESOURCE: never give a request.
        UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL = 1 << 18,
        /// More operations follow: throughput before latency.
        UCP_OP_ATTR_FLAG_MULTI_SEND = 1 << 19,
    }
}

c_enum! {
    /// Members of `ucp_request_attr_t`.
    pub enum ucp_req_attr_field: c_uint {
        /// `debug_string` is set: a text is wanted there.
        UCP_REQUEST_ATTR_FIELD_INFO_STRING = 1 << 0,
        /// `debug_string_size` is set.
        UCP_REQUEST_ATTR_FIELD_INFO_STRING_SIZE = 1 << 1,
        /// `status` is wanted.
        UCP_REQUEST_ATTR_FIELD_STATUS = 1 << 2,
        /// `mem_type` is wanted.
        UCP_REQUEST_ATTR_FIELD_MEM_TYPE = 1 << 3,
    }
}

c_enum! {
    /// Members and flags of `ucp_am_recv_param`.
    pub enum ucp_am_recv_attr_t: c_uint {
        /// `reply_ep` is set.
        UCP_AM_RECV_ATTR_FIELD_REPLY_EP = 1 << 0,
        /// The data is here and may be kept.
        UCP_AM_RECV_ATTR_FLAG_DATA = 1 << 16,
        /// The data is at the sender: fetch it with `ucp_am_recv_data_nbx`.
        UCP_AM_RECV_ATTR_FLAG_RNDV = 1 << 17,
    }
}

c_enum! {
    /// Members of `ucp_am_handler_param`.
    pub enum ucp_am_handler_param_field: c_uint {
        /// `id` is set.
        UCP_AM_HANDLER_PARAM_FIELD_ID = 1 << 0,
        /// `flags` is set.
        UCP_AM_HANDLER_PARAM_FIELD_FLAGS = 1 << 1,
        /// `cb` is set.
        UCP_AM_HANDLER_PARAM_FIELD_CB = 1 << 2,
        /// `arg` is set.
        UCP_AM_HANDLER_PARAM_FIELD_ARG = 1 << 3,
    }
}

/// What arrived.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_tag_recv_info {
    /// Tag of the sender.
    pub sender_tag: ucp_tag_t,
    /// Bytes.
    pub length: usize,
}
const _: () = {
    assert!(size_of::<ucp_tag_recv_info>() == 16);
    assert!(offset_of!(ucp_tag_recv_info, sender_tag) == 0);
    assert!(offset_of!(ucp_tag_recv_info, length) == 8);
};

/// The callback of an operation, by its kind.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ucp_request_param_t_cb {
    /// Of sends, remote memory access, atomics, flush and close.
    pub send: ucp_send_nbx_callback_t,
    /// Of tagged receives.
    pub recv: ucp_tag_recv_nbx_callback_t,
    /// Of stream receives.
    pub recv_stream: ucp_stream_recv_nbx_callback_t,
    /// Of fetches of active message data.
    pub recv_am: ucp_am_recv_data_nbx_callback_t,
}
const _: () = {
    assert!(size_of::<ucp_request_param_t_cb>() == 8);
};

/// Where a receive that ends at once writes its result.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ucp_request_param_t_recv_info {
    /// Bytes received, of streams and active messages.
    pub length: *mut usize,
    /// Tag and bytes, of tagged receives.
    pub tag_info: *mut ucp_tag_recv_info_t,
}
const _: () = {
    assert!(size_of::<ucp_request_param_t_recv_info>() == 8);
};

/// Optional parameters of an operation. Only members whose bit is set are read, so that callers may
/// pass the shorter structure of an older release.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_request_param_t {
    /// Members that are set and flags, bits of `ucp_op_attr_t`.
    pub op_attr_mask: u32,
    /// Flags of the operation.
    pub flags: u32,
    /// Request in memory of the caller, with the context's `request_size` bytes before it. It is
    /// not freed by `ucp_request_free`.
    pub request: *mut c_void,
    /// Called at the end, unless the operation ends at once.
    pub cb: ucp_request_param_t_cb,
    /// Layout of the buffer; bytes when not set.
    pub datatype: ucp_datatype_t,
    /// Passed to the callback.
    pub user_data: *mut c_void,
    /// Where an atomic puts the value that was there.
    pub reply_buffer: *mut c_void,
    /// Kind of the buffer's memory; when not set, or another than the host's, it is found out.
    pub memory_type: ucs_memory_type_t,
    /// Where a receive that ends at once writes its result.
    pub recv_info: ucp_request_param_t_recv_info,
    /// Handle of the buffer's memory.
    pub memh: ucp_mem_h,
    /// Layout of the remote buffer.
    pub remote_datatype: ucp_datatype_t,
    /// A `ucp_dt_remote_sgl_t` when the remote side is a list.
    pub remote: *const c_void,
    /// Elements of the remote side.
    pub remote_count: usize,
}
const _: () = {
    assert!(size_of::<ucp_request_param_t>() == 96);
    assert!(offset_of!(ucp_request_param_t, op_attr_mask) == 0);
    assert!(offset_of!(ucp_request_param_t, flags) == 4);
    assert!(offset_of!(ucp_request_param_t, request) == 8);
    assert!(offset_of!(ucp_request_param_t, cb) == 16);
    assert!(offset_of!(ucp_request_param_t, datatype) == 24);
    assert!(offset_of!(ucp_request_param_t, user_data) == 32);
    assert!(offset_of!(ucp_request_param_t, reply_buffer) == 40);
    assert!(offset_of!(ucp_request_param_t, memory_type) == 48);
    assert!(offset_of!(ucp_request_param_t, recv_info) == 56);
    assert!(offset_of!(ucp_request_param_t, memh) == 64);
    assert!(offset_of!(ucp_request_param_t, remote_datatype) == 72);
    assert!(offset_of!(ucp_request_param_t, remote) == 80);
    assert!(offset_of!(ucp_request_param_t, remote_count) == 88);
};

/// What `ucp_request_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_request_attr_t {
    /// Members that are set or wanted, bits of `ucp_req_attr_field`.
    pub field_mask: u64,
    /// In: buffer of the caller for a text on the request.
    pub debug_string: *mut c_char,
    /// In: bytes of that buffer.
    pub debug_string_size: usize,
    /// Status of the request.
    pub status: ucs_status_t,
    /// Kind of the memory that it uses.
    pub mem_type: ucs_memory_type_t,
}
const _: () = {
    assert!(size_of::<ucp_request_attr_t>() == 32);
    assert!(offset_of!(ucp_request_attr_t, field_mask) == 0);
    assert!(offset_of!(ucp_request_attr_t, debug_string) == 8);
    assert!(offset_of!(ucp_request_attr_t, debug_string_size) == 16);
    assert!(offset_of!(ucp_request_attr_t, status) == 24);
    assert!(offset_of!(ucp_request_attr_t, mem_type) == 28);
};

/// A handler of active messages.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_am_handler_param {
    /// Members that are set, bits of `ucp_am_handler_param_field`.
    pub field_mask: u64,
    /// Number of the message; must be set.
    pub id: c_uint,
    /// Bits of `ucp_am_cb_flags`.
    pub flags: u32,
    /// The handler; NULL removes it.
    pub cb: ucp_am_recv_callback_t,
    /// Its first argument.
    pub arg: *mut c_void,
}
const _: () = {
    assert!(size_of::<ucp_am_handler_param>() == 32);
    assert!(offset_of!(ucp_am_handler_param, field_mask) == 0);
    assert!(offset_of!(ucp_am_handler_param, id) == 8);
    assert!(offset_of!(ucp_am_handler_param, flags) == 12);
    assert!(offset_of!(ucp_am_handler_param, cb) == 16);
    assert!(offset_of!(ucp_am_handler_param, arg) == 24);
};

pub type ucp_am_handler_param_t = ucp_am_handler_param;

/// What a handler is told besides the message.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_am_recv_param {
    /// Members that are set and flags, bits of `ucp_am_recv_attr_t`.
    pub recv_attr: u64,
    /// Endpoint to the sender.
    pub reply_ep: ucp_ep_h,
}
const _: () = {
    assert!(size_of::<ucp_am_recv_param>() == 16);
    assert!(offset_of!(ucp_am_recv_param, recv_attr) == 0);
    assert!(offset_of!(ucp_am_recv_param, reply_ep) == 8);
};
