//! Reading `ucp_request_param_t` and answering with C's status pointers.
//!
//! Clients of older releases pass a shorter struct: a member is read only behind its bit.

use crate::c::*;
use crate::ucp::dt::plain_bytes;
use crate::ucp::request::{Callback, Info, Param, Posted, Request};
use crate::ucp::worker::Worker;
use crate::ucp::worker_core::Core;
use crate::ucs::sync::biased_lock::Guard;
use crate::ucs::{Result, Status};
use crate::uct::base::params::masked;
use core::ffi::c_void;
use core::ptr::NonNull;

/// What a call returns that lacks an argument.
pub const NULL_PTR: ucs_status_ptr_t = UCS_ERR_INVALID_PARAM as isize as ucs_status_ptr_t;

/// Which callback of the union an operation reads.
#[derive(Clone, Copy)]
pub enum Which {
    Send,
    TagRecv,
    /// Streams and active-message data.
    Recv,
}

/// Reads what every operation shares.
///
/// # Safety
/// `p` must point to a struct of any release, valid where its mask says so.
#[inline]
pub unsafe fn read(p: *const ucp_request_param_t, which: Which) -> Param {
    // SAFETY: every release has the mask.
    let mask = unsafe { (*p).op_attr_mask };
    if mask & !UCP_OP_ATTR_FLAG_NO_IMM_CMPL == 0 {
        return Param {
            mask,
            ..Param::PLAIN
        };
    }
    // SAFETY: as promised by the caller.
    let callback = unsafe { callback_of(p, which) };
    Param {
        mask,
        flags: masked!(p, u64::from(mask), UCP_OP_ATTR_FIELD_FLAGS, flags, 0),
        callback,
        datatype: masked!(
            p,
            u64::from(mask),
            UCP_OP_ATTR_FIELD_DATATYPE,
            datatype,
            Param::PLAIN.datatype
        ),
        request: NonNull::new(masked!(
            p,
            u64::from(mask),
            UCP_OP_ATTR_FIELD_REQUEST,
            request,
            core::ptr::null_mut()
        )),
        memory_type: masked!(
            p,
            u64::from(mask),
            UCP_OP_ATTR_FIELD_MEMORY_TYPE,
            memory_type,
            UCS_MEMORY_TYPE_HOST
        ),
        memh: masked!(
            p,
            u64::from(mask),
            UCP_OP_ATTR_FIELD_MEMH,
            memh,
            core::ptr::null_mut()
        )
        .cast(),
    }
}

/// The bytes of a contiguous buffer, where nothing else in the parameters matters to a message that
/// leaves at once.
///
/// # Safety
/// As `read`.
#[inline]
pub unsafe fn plain_length(
    p: *const ucp_request_param_t,
    buffer: *const c_void,
    count: usize,
) -> Option<usize> {
    // SAFETY: every release has the mask.
    let mask = unsafe { (*p).op_attr_mask };
    let matters =
        UCP_OP_ATTR_FLAG_NO_IMM_CMPL | UCP_OP_ATTR_FIELD_MEMH | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    if mask & matters != 0 {
        return None;
    }
    // SAFETY: as promised by the caller.
    unsafe { contiguous_length(p, buffer, count) }
}

/// The bytes of a contiguous buffer, where nothing in the parameters but `callback_of` matters to a tagged receive that waits.
///
/// # Safety
/// As `read`.
#[inline(always)]
pub unsafe fn plain_receive(
    p: *const ucp_request_param_t,
    buffer: *const c_void,
    count: usize,
) -> Option<usize> {
    const MATTERS: u32 = UCP_OP_ATTR_FIELD_REQUEST
        | UCP_OP_ATTR_FIELD_MEMH
        | UCP_OP_ATTR_FIELD_MEMORY_TYPE
        | UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL;
    // SAFETY: every release has the mask; the others are read behind their bits.
    unsafe {
        if (*p).op_attr_mask & MATTERS != 0 {
            return None;
        }
        contiguous_length(p, buffer, count)
    }
}

/// Whom an operation tells its end.
///
/// # Safety
/// As `read`.
#[inline]
pub unsafe fn callback_of(p: *const ucp_request_param_t, which: Which) -> Callback {
    // SAFETY: every release has the mask; the callback is read behind its bit.
    unsafe {
        if (*p).op_attr_mask & UCP_OP_ATTR_FIELD_CALLBACK == 0 {
            return Callback::None;
        }
        callback(p, which)
    }
}

/// The callback that is there.
///
/// # Safety
/// As `read`; the callback's bit must be set.
#[inline]
unsafe fn callback(p: *const ucp_request_param_t, which: Which) -> Callback {
    // SAFETY: every release has the mask.
    let mask = u64::from(unsafe { (*p).op_attr_mask });
    let null = core::ptr::null_mut();
    let user_data = masked!(p, mask, UCP_OP_ATTR_FIELD_USER_DATA, user_data, null);
    // SAFETY: the bit is set; every member of the union is a function pointer or null.
    unsafe {
        match which {
            Which::Send => (*p)
                .cb
                .send
                .map_or(Callback::None, |f| Callback::Send(f, user_data)),
            Which::TagRecv => (*p)
                .cb
                .recv
                .map_or(Callback::None, |f| Callback::TagRecv(f, user_data)),
            Which::Recv => (*p)
                .cb
                .recv_stream
                .map_or(Callback::None, |f| Callback::Recv(f, user_data)),
        }
    }
}

/// The bytes of a contiguous buffer; `None` for others, and for one that cannot be.
///
/// # Safety
/// As `read`.
#[inline(always)]
unsafe fn contiguous_length(
    p: *const ucp_request_param_t,
    buffer: *const c_void,
    count: usize,
) -> Option<usize> {
    // SAFETY: every release has the mask; the datatype is read behind its bit.
    let len = unsafe {
        if (*p).op_attr_mask & UCP_OP_ATTR_FIELD_DATATYPE == 0 {
            count
        } else {
            plain_bytes((*p).datatype, count)?
        }
    };
    (!buffer.is_null() || len == 0).then_some(len)
}

/// Where an immediate end is described; null when not wanted.
///
/// # Safety
/// As `read`.
#[inline]
pub unsafe fn tag_info(p: *const ucp_request_param_t) -> *mut ucp_tag_recv_info_t {
    // SAFETY: every release has the mask.
    let mask = u64::from(unsafe { (*p).op_attr_mask });
    if mask & u64::from(UCP_OP_ATTR_FIELD_RECV_INFO) == 0 {
        return core::ptr::null_mut();
    }
    // SAFETY: the bit is set.
    unsafe { (*p).recv_info.tag_info }
}

/// Where the bytes of an immediate end are told; null when not wanted.
///
/// # Safety
/// As `read`.
pub unsafe fn length(p: *const ucp_request_param_t) -> *mut usize {
    // SAFETY: every release has the mask.
    let mask = unsafe { (*p).op_attr_mask };
    if mask & UCP_OP_ATTR_FIELD_RECV_INFO == 0 {
        return core::ptr::null_mut();
    }
    // SAFETY: the bit is set.
    unsafe { (*p).recv_info.length }
}

/// Writes a tag receive's description where the user wants it.
///
/// # Safety
/// `at` must be null or writable.
pub unsafe fn put_tag_info(at: *mut ucp_tag_recv_info_t, info: Info) {
    if !at.is_null() {
        // SAFETY: by the caller's promise.
        unsafe {
            at.write(ucp_tag_recv_info_t {
                sender_tag: info.tag,
                length: info.length,
            });
        }
    }
}

/// A status as C's pointer.
pub fn error(e: Status) -> ucs_status_ptr_t {
    e.code() as isize as ucs_status_ptr_t
}

/// What was posted, as C's pointer.
#[inline]
pub fn status_ptr(r: Result<Posted>) -> ucs_status_ptr_t {
    match r {
        Ok(Posted::Done) => core::ptr::null_mut(),
        Ok(Posted::Request(req)) => Request::user(req),
        Err(e) => error(e),
    }
}

/// What was posted with a request of the user's: OK, INPROGRESS or an error.
pub fn status_code(r: Result<Posted>) -> ucs_status_t {
    match r {
        Ok(Posted::Done) => UCS_OK,
        Ok(Posted::Request(_)) => UCS_INPROGRESS,
        Err(e) => e.code(),
    }
}

/// Parameters of an old call that takes a callback and always gives a request.
pub fn old(datatype: ucp_datatype_t, callback: Callback, always: bool) -> Param {
    Param {
        mask: if always {
            UCP_OP_ATTR_FLAG_NO_IMM_CMPL
        } else {
            0
        },
        callback,
        datatype,
        ..Param::PLAIN
    }
}

/// Parameters of an old call that sends something.
pub fn old_send(datatype: ucp_datatype_t, cb: ucp_send_callback_t) -> Param {
    let callback = cb.map_or(Callback::None, Callback::OldSend);
    old(datatype, callback, false)
}

/// Parameters of an old call with a request of the user's.
pub fn old_with_request(datatype: ucp_datatype_t, request: *mut c_void) -> Param {
    Param {
        request: NonNull::new(request),
        datatype,
        ..Param::PLAIN
    }
}

/// The worker behind a handle.
///
/// # Safety
/// `h` must be a live worker.
#[inline]
pub unsafe fn worker<'a>(h: ucp_worker_h) -> &'a Worker {
    // SAFETY: `ucp_worker_create` gave out a leaked box; only shared references are made.
    unsafe { &*h.cast::<Worker>() }
}

/// As `enter`; returns `$code` in a child of fork(), whose parent has the worker. Not for the paths of messages, which find
/// endpoints and receives closed there.
macro_rules! own {
    ($worker:expr $(, $code:expr)?) => {{
        let worker: &crate::ucp::worker_core::Core = $worker;
        if worker.check_process().is_err() {
            return $($code)?;
        }
        $crate::abi::ucp::param::enter(worker)
    }};
}
pub(super) use own;

/// Takes the worker's lock in MULTI mode; nothing otherwise.
#[inline]
pub fn enter(worker: &Core) -> Option<Guard<'_>> {
    worker.is_shared().then(|| worker.lock.lock())
}
