//! Requests: the exported functions of `ucp.h` and its companions.

use super::param::{enter, own, put_tag_info};
use crate::abi::args::non_null;
use crate::c::prelude::*;
use crate::ucp::op::Op;
use crate::ucp::request::{Req, Request};
use crate::ucp::stream;
use crate::ucp::tag::recv;
use crate::ucp::worker_core::Core;

/// Refuses what is no request: null, or a status that a call answered in a request's place.
#[inline(always)]
fn is_request(request: *mut c_void) -> bool {
    let is_status = (-100..=0).contains(&(request as isize));
    if is_status {
        refuse(request);
    }
    !is_status
}

#[cold]
#[inline(never)]
fn refuse(request: *mut c_void) {
    crate::ucs_error!("a request is wanted, not {request:p}: check UCS_PTR_IS_PTR first");
}

/// Answers `$code` unless the argument can be a request.
macro_rules! need_request {
    ($request:ident $(, $code:expr)?) => {
        if !is_request($request) {
            return $($code)?;
        }
    };
}

/// Status and description of a tag receive.
///
/// # Safety
/// `request` live, `info` null or writable.
pub(super) unsafe fn test(request: *mut c_void, info: *mut ucp_tag_recv_info_t) -> ucs_status_t {
    // SAFETY: by the caller's promise.
    unsafe {
        let req = Req::from_user(request);
        // Read once: another thread may complete it meanwhile.
        let status = req.status();
        if status != UCS_INPROGRESS {
            put_tag_info(info, req.info());
        }
        status
    }
}

/// Old form of `ucp_request_check_status`.
///
/// - `request` (in): Request that an operation returned, not freed yet; not NULL and not an error.
/// - returns: Nonzero when the request is at its end, 0 while it goes on.
///
/// `ucp/api/ucp_compat.h`, group `request`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_request_is_completed(request: *mut c_void) -> c_int {
    need_request!(request, 0);
    // SAFETY: a live request.
    unsafe { Req::from_user(request) }.is_done().into()
}

/// Gives a request back as `ucp_request_free` does; before its end, its callback is still called.
///
/// - `request` (in): Request that an operation returned; not to be used afterwards.
///
/// `ucp/api/ucp_compat.h`, group `request`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_request_release(request: *mut c_void) {
    // SAFETY: a live request, given back once.
    unsafe { give_back(request, Request::release) };
}

/// Allocates a request for operations that take one of the caller, such as `ucp_tag_send_nbr`.
/// `ucp_request_free` frees it.
///
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - returns: The request, or NULL when there is no memory or in a child of fork().
///
/// `ucp/api/ucp_compat.h`, group `request`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_request_alloc(worker: ucp_worker_h) -> *mut c_void {
    non_null!(core::ptr::null_mut(); worker);
    // SAFETY: a live worker.
    let w = unsafe { super::param::worker(worker) };
    let _guard = own!(w, core::ptr::null_mut());
    match Request::spare(w) {
        Ok(req) => req.user(),
        Err(_) => core::ptr::null_mut(),
    }
}

/// Old form of `ucp_request_check_status`, with the result of a tagged receive.
///
/// - `request` (in): Request that an operation returned, not freed yet; not NULL and not an error.
/// - `info` (out): Tag and bytes of a tagged receive at its end; may be NULL.
/// - returns: UCS_INPROGRESS while the request goes on, then its result.
///
/// `ucp/api/ucp_compat.h`, group `request`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_request_test(
    request: *mut c_void,
    info: *mut ucp_tag_recv_info_t,
) -> ucs_status_t {
    need_request!(request, UCS_ERR_INVALID_PARAM);
    // SAFETY: by the caller's promise.
    unsafe { test(request, info) }
}

/// Tells about a request.
///
/// - `request` (in): Request that an operation returned, not freed yet; not NULL and not an error.
/// - `attr` (in,out): `field_mask` says which members are read and written; not NULL.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM for no request, or a text that is wanted without a
///   buffer and its size.
///
/// `ucp/api/ucp.h`, group `request`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_request_query(
    request: *mut c_void,
    attr: *mut ucp_request_attr_t,
) -> ucs_status_t {
    need_request!(request, UCS_ERR_INVALID_PARAM);
    non_null!(UCS_ERR_INVALID_PARAM; attr);
    // SAFETY: a live request and the caller's struct, written as masked.
    unsafe {
        let req = Req::from_user(request);
        let _guard = enter(req.worker());
        let mask = (*attr).field_mask;
        let has = |bit: u32| mask & u64::from(bit) != 0;
        if has(UCP_REQUEST_ATTR_FIELD_INFO_STRING) {
            if !has(UCP_REQUEST_ATTR_FIELD_INFO_STRING_SIZE) || (*attr).debug_string.is_null() {
                crate::ucs_error!("ucp_request_query: the info string needs a buffer and its size");
                return UCS_ERR_INVALID_PARAM;
            }
            let text = req.describe();
            let room = (*attr).debug_string_size;
            if room > 0 {
                let n = text.len().min(room - 1);
                core::ptr::copy_nonoverlapping(text.as_ptr(), (*attr).debug_string.cast(), n);
                (*attr).debug_string.add(n).write(0);
            }
        }
        if has(UCP_REQUEST_ATTR_FIELD_STATUS) {
            (*attr).status = req.status();
        }
        if has(UCP_REQUEST_ATTR_FIELD_MEM_TYPE) {
            (*attr).mem_type = req.with_op(|op| op.memory_type());
        }
    }
    UCS_OK
}

/// Tells whether a request is at its end. It makes no progress.
///
/// - `request` (in): Request that an operation returned, not freed yet; not NULL and not an error.
/// - returns: UCS_INPROGRESS while the request goes on, then its result; UCS_ERR_INVALID_PARAM for
///   no request.
///
/// `ucp/api/ucp.h`, group `request`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_request_check_status(request: *mut c_void) -> ucs_status_t {
    need_request!(request, UCS_ERR_INVALID_PARAM);
    // SAFETY: a live request.
    unsafe { Req::from_user(request) }.status()
}

/// Asks to give a request up. Only receives can be, a tagged one until a message has matched it;
/// the request still has to come to its end, with UCS_ERR_CANCELED or as usual, and its callback is
/// called, perhaps in this call.
///
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - `request` (in): Request of an operation of this worker, not freed yet.
///
/// `ucp/api/ucp.h`, group `request`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_request_cancel(worker: ucp_worker_h, request: *mut c_void) {
    need_request!(request);
    non_null!(; worker);
    // SAFETY: a live worker.
    let w = unsafe { super::param::worker(worker) };
    let _guard = own!(w);
    // SAFETY: a live request.
    let req = unsafe { Req::from_user(request) };
    // MPICH cancels sends to the own process whose request it never had, by what stood in its memory.
    if !req.is_of(w) {
        crate::ucs_diag!("ucp_request_cancel: this is no request of the worker: it is left alone");
        return;
    }
    // Most are tagged receives.
    if !recv::cancel(w, req) && req.with_op(|op| matches!(op, Op::StreamRecv(_))) {
        stream::recv::cancel(req);
    }
}

/// Gives a request back, before its end too: then the operation goes on, and its callback is called no more.
/// A request in memory of the caller is not freed, it may be used again after its end.
///
/// - `request` (in): Request that an operation returned; not to be used afterwards.
///
/// `ucp/api/ucp.h`, group `request`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_request_free(request: *mut c_void) {
    // SAFETY: a live request, given back once.
    unsafe { give_back(request, Request::free) };
}

/// # Safety
/// `request` is NULL or a live request, given back once.
#[inline(always)]
unsafe fn give_back(request: *mut c_void, end: impl FnOnce(&Request)) {
    need_request!(request);
    // SAFETY: by the caller's promise.
    let req = unsafe { Req::from_user(request) };
    if req.worker().is_shared() {
        return give_back_shared(req, end);
    }
    end(&req);
}

#[inline(never)]
fn give_back_shared(req: Req, end: impl FnOnce(&Request)) {
    let w: *const Core = req.worker();
    // SAFETY: a worker outlives its requests.
    let _guard = enter(unsafe { &*w });
    end(&req);
}
