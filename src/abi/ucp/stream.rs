//! Streams: the exported functions of `ucp.h` and its companions.

use super::ep::ep;
use super::param::{self, NULL_PTR, RequestArgs, Which, enter, error, own, status_ptr};
use crate::abi::args::non_null;
use crate::c::prelude::*;
use crate::ucp::dt::{Data, Side, plain_bytes};
use crate::ucp::ep::Ep;
use crate::ucp::feature::Feature;
use crate::ucp::proto::table::Verb;
use crate::ucp::request::{Callback, Param, Posted, Req, not_counted};
use crate::ucp::stream::{recv, send};
use crate::ucs::{Result, Status};
use crate::uct::base::copy::Payload;

/// Sends on a stream.
///
/// # Safety
/// `h` live; the buffer as the datatype says.
unsafe fn post_send(
    h: ucp_ep_h,
    buffer: *const c_void,
    count: usize,
    mut param: Param,
) -> Result<Posted> {
    // SAFETY: by the caller's promise.
    let ep = unsafe { ep(h) };
    let _guard = enter(ep.worker());
    let mut data = Data::empty();
    // SAFETY: as above.
    unsafe {
        param::message(
            ep,
            &mut param,
            buffer,
            count,
            Feature::Stream,
            &mut data,
            |param| (Verb::Stream, send::rndv_policy(param)),
        )
    }?;
    send::post(ep, &param, data)
}

/// Receives on a stream, and tells the bytes of an immediate end.
///
/// # Safety
/// `h` live; the buffer as the datatype says; `length` null or writable.
unsafe fn post_recv(
    h: ucp_ep_h,
    buffer: *mut c_void,
    count: usize,
    length: *mut usize,
    mut param: Param,
) -> Result<Posted> {
    // SAFETY: by the caller's promise.
    let ep = unsafe { ep(h) };
    let _guard = enter(ep.worker());
    let dt = param.datatype;
    let (of, mut data) = ((Side::Receive, Feature::Stream), Data::empty());
    // SAFETY: as above.
    unsafe { param.data(ep.worker(), buffer, count, of, &mut data, not_counted) }?;
    let unit = if dt & u64::from(UCP_DATATYPE_CLASS_MASK) == u64::from(UCP_DATATYPE_CONTIG) {
        (dt >> UCP_DATATYPE_SHIFT) as usize
    } else {
        1
    };
    let wait_all = param.flags & UCP_STREAM_RECV_FLAG_WAITALL != 0;
    let (posted, bytes) = recv::post(ep, &param, data, unit, wait_all)?;
    if (bytes > 0 || matches!(posted, Posted::Done)) && !length.is_null() {
        // SAFETY: by the caller's promise.
        unsafe { length.write(bytes) };
    }
    Ok(posted)
}

/// Old form of `ucp_stream_send_nbx`.
///
/// - `ep` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `buffer` (in): Data; belongs to the library until the operation ends.
/// - `count` (in): Elements of the datatype.
/// - `datatype` (in): Layout of the buffer, for instance `ucp_dt_make_contig(1)`.
/// - `cb` (in): Called at the end of a request, in progress; may be NULL. It is not called when the
///   operation is done at once.
/// - `flags` (in): 0.
/// - returns: NULL when done, a request, or an error: see @ref ucp_request.
///
/// `ucp/api/ucp_compat.h`, group `stream`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_stream_send_nb(
    ep: ucp_ep_h,
    buffer: *const c_void,
    count: usize,
    datatype: ucp_datatype_t,
    cb: ucp_send_callback_t,
    flags: c_uint,
) -> ucs_status_ptr_t {
    non_null!(NULL_PTR; ep);
    let param = Param {
        flags,
        ..param::old_send(datatype, cb)
    };
    // SAFETY: the caller's arguments.
    status_ptr(unsafe { post_send(ep, buffer, count, param) })
}

/// Old form of `ucp_stream_recv_nbx`.
///
/// - `ep` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `buffer` (out): Gets the bytes; belongs to the library until the operation ends.
/// - `count` (in): Elements that fit.
/// - `datatype` (in): Layout of the buffer, for instance `ucp_dt_make_contig(1)`.
/// - `cb` (in): Called at the end of a request, in progress; may be NULL. It is not called when the
///   operation is done at once.
/// - `length` (out): Bytes received, when the operation is done at once.
/// - `flags` (in): Bits of `ucp_stream_recv_flags_t`.
/// - returns: NULL when done, a request, or an error: see @ref ucp_request.
///
/// `ucp/api/ucp_compat.h`, group `stream`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_stream_recv_nb(
    ep: ucp_ep_h,
    buffer: *mut c_void,
    count: usize,
    datatype: ucp_datatype_t,
    cb: ucp_stream_recv_callback_t,
    length: *mut usize,
    flags: c_uint,
) -> ucs_status_ptr_t {
    non_null!(NULL_PTR; ep);
    let callback = cb.map_or(Callback::None, Callback::OldStream);
    let len = plain_bytes(datatype, count).filter(|len| *len > 0 && !buffer.is_null());
    if let Some(len) = len {
        let to = plain(buffer, len, datatype, flags);
        // SAFETY: the caller's arguments.
        if let Some(answer) = unsafe { recv_plain(self::ep(ep), to, length, true, || callback) } {
            return answer;
        }
    }
    // SAFETY: the caller's arguments.
    unsafe { recv_any_nb(ep, buffer, count, datatype, callback, length, flags) }
}

/// Receives by the old form, whatever that takes.
///
/// # Safety
/// As `recv_any`.
#[inline(never)]
unsafe fn recv_any_nb(
    h: ucp_ep_h,
    buffer: *mut c_void,
    count: usize,
    datatype: ucp_datatype_t,
    callback: Callback,
    length: *mut usize,
    flags: c_uint,
) -> ucs_status_ptr_t {
    let len = plain_bytes(datatype, count).filter(|len| *len > 0 && !buffer.is_null());
    // SAFETY: by the caller's promise.
    unsafe {
        if let Some(len) = len
            && let Some(answer) = take(h, plain(buffer, len, datatype, flags), length)
        {
            return answer;
        }
        let param = Param {
            flags,
            ..param::old(datatype, callback, false)
        };
        status_ptr(post_recv(h, buffer, count, length, param))
    }
}

/// Lists endpoints with stream data that was not received. An endpoint is listed once for what has
/// come.
///
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - `poll_eps` (out): Gets the endpoints, with their user data.
/// - `max_eps` (in): Entries that fit.
/// - `flags` (in): 0.
/// - returns: Number of endpoints that were written, or a negative status.
///
/// `ucp/api/ucp.h`, group `stream`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_stream_worker_poll(
    worker: ucp_worker_h,
    poll_eps: *mut ucp_stream_poll_ep_t,
    max_eps: usize,
    _flags: c_uint,
) -> isize {
    non_null!(UCS_ERR_INVALID_PARAM as isize; worker);
    if poll_eps.is_null() && max_eps > 0 {
        crate::ucs_error!("ucp_stream_worker_poll: the array is NULL");
        return UCS_ERR_INVALID_PARAM as isize;
    }
    // SAFETY: a live worker.
    let w = unsafe { param::worker(worker) };
    let _guard = own!(w, UCS_ERR_UNSUPPORTED.into());
    if let Err(e) = w.require(Feature::Stream) {
        return e.code().into();
    }
    let mut found = 0;
    while found < max_eps
        && let Some(ep) = w.stream.next(w)
    {
        // SAFETY: the caller's array has `max_eps` entries.
        unsafe {
            poll_eps.add(found).write(ucp_stream_poll_ep_t {
                ep: core::ptr::from_ref(ep).cast_mut().cast(),
                user_data: ep.params.get().user_data,
                flags: 0,
                reserved: [0; 16],
            });
        }
        found += 1;
    }
    found as isize
}

/// Sends elements on the byte stream of an endpoint. What is sent in several calls arrives in the
/// order of the calls.
///
/// - `ep` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `buffer` (in): Data; belongs to the library until the operation ends.
/// - `count` (in): Elements of the datatype; bytes when none is set.
/// - `param` (in): Optional parameters, not NULL; read during the call only.
/// - returns: NULL when done, a request, or an error: see @ref ucp_request.
///
/// `ucp/api/ucp.h`, group `stream`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_stream_send_nbx(
    ep: ucp_ep_h,
    buffer: *const c_void,
    count: usize,
    param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    non_null!(NULL_PTR; ep, param);
    // SAFETY: the caller's arguments.
    unsafe {
        // What would have to be kept in registers over the transport's call stands here instead.
        let call = SendCall {
            ep,
            buffer,
            count,
            param,
        };
        let to = self::ep(ep);
        if let Some(len) = param::plain_length(param, buffer, count)
            && let Some(route) = to
                .send_queue
                .short_route_unlocked(len.saturating_add(WORD), Feature::Stream)
            && send::send_short(to, route, buffer.cast(), len) == UCS_OK
        {
            return core::ptr::null_mut();
        }
        send_any(&call)
    }
}

/// In front of the bytes, behind the first word of the header.
const WORD: usize = size_of::<u64>();

/// The arguments of `ucp_stream_send_nbx`.
struct SendCall {
    ep: ucp_ep_h,
    buffer: *const c_void,
    count: usize,
    param: *const ucp_request_param_t,
}

/// Sends, whatever that takes.
///
/// # Safety
/// `ep` live; the buffer as the datatype says; `param` as `param::read`.
#[inline(never)]
unsafe fn send_any(call: &SendCall) -> ucs_status_ptr_t {
    let &SendCall {
        ep,
        buffer,
        count,
        param,
    } = call;
    // SAFETY: by the caller's promise.
    unsafe {
        let to = self::ep(ep);
        let _guard = enter(to.worker());
        if !to.worker().examines(Feature::Stream)
            && let Some(len) = param::plain_length(param, buffer, count)
        {
            // A worker that is not shared has tried that already, without a lock.
            if to.worker().is_shared()
                && let Some(route) = to.send_queue.short_route(len.saturating_add(WORD))
                && send::send_short(to, route, buffer.cast(), len) == UCS_OK
            {
                return core::ptr::null_mut();
            }
            if let Some(sent) = send::try_whole(to, Payload::new(buffer.cast(), len)) {
                return status_ptr(sent.map(|()| Posted::Done));
            }
        }
        let param = param::read(param, Which::Send);
        status_ptr(post_send(ep, buffer, count, param))
    }
}

/// Receives from the byte stream of an endpoint: what is there, at least one element, or with
/// UCP_STREAM_RECV_FLAG_WAITALL all.
///
/// - `ep` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `buffer` (out): Gets the bytes; belongs to the library until the operation ends.
/// - `count` (in): Elements that fit; bytes when no datatype is set.
/// - `length` (out): Bytes received, when the operation is done at once.
/// - `param` (in): Optional parameters, not NULL; read during the call only.
/// - returns: NULL when done, a request, or an error: see @ref ucp_request.
///
/// `ucp/api/ucp.h`, group `stream`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_stream_recv_nbx(
    ep: ucp_ep_h,
    buffer: *mut c_void,
    count: usize,
    length: *mut usize,
    param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    non_null!(NULL_PTR; ep, param);
    // SAFETY: the caller's arguments.
    unsafe {
        if let Some(to) = plain_buffer(param, buffer, count) {
            let immediate = (*param).op_attr_mask & UCP_OP_ATTR_FLAG_NO_IMM_CMPL == 0;
            let callback = || param::callback_of(param, Which::Recv);
            if let Some(answer) = recv_plain(self::ep(ep), to, length, immediate, callback) {
                return answer;
            }
        }
        recv_any(ep, buffer, count, length, param)
    }
}

/// Receives where nobody waits before: a few bytes that came, or as the one who waits. `None` when it takes more than
/// that.
///
/// # Safety
/// The buffer writable as it says; `length` null or writable.
#[inline(always)]
unsafe fn recv_plain(
    from: &Ep,
    to: recv::Plain,
    length: *mut usize,
    immediate: bool,
    callback: impl FnOnce() -> Callback,
) -> Option<ucs_status_ptr_t> {
    if from.worker().receives_by_general_paths(Feature::Stream) {
        return None;
    }
    if immediate && recv::take_small(from, to) {
        // SAFETY: by the caller's promise.
        return Some(unsafe { done(to.len, length) });
    }
    let req = recv::post_alone(from, to)?;
    req.set_callback(callback());
    Some(req.user())
}

/// Tells the bytes of an immediate end.
///
/// # Safety
/// `length` null or writable.
#[inline(always)]
unsafe fn done(bytes: usize, length: *mut usize) -> ucs_status_ptr_t {
    if !length.is_null() {
        // SAFETY: by the caller's promise.
        unsafe { length.write(bytes) };
    }
    core::ptr::null_mut()
}

/// Receives, whatever that takes.
///
/// # Safety
/// `h` live; the buffer as the datatype says; `length` null or writable; `param` as `param::read`.
#[inline(never)]
unsafe fn recv_any(
    h: ucp_ep_h,
    buffer: *mut c_void,
    count: usize,
    length: *mut usize,
    param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    // SAFETY: by the caller's promise.
    unsafe {
        if (*param).op_attr_mask & UCP_OP_ATTR_FLAG_NO_IMM_CMPL == 0
            && let Some(to) = plain_buffer(param, buffer, count)
            && let Some(answer) = take(h, to, length)
        {
            return answer;
        }
        let param = param::read(param, Which::Recv);
        status_ptr(post_recv(h, buffer, count, length, param))
    }
}

/// Receives what has come, where that is all.
///
/// # Safety
/// As `recv_plain`; `h` live.
unsafe fn take(h: ucp_ep_h, to: recv::Plain, length: *mut usize) -> Option<ucs_status_ptr_t> {
    // SAFETY: by the caller's promise.
    let from = unsafe { self::ep(h) };
    if from.worker().receives_by_general_paths(Feature::Stream) {
        return None;
    }
    let bytes = recv::take_plain(from, to)?;
    // SAFETY: by the caller's promise.
    Some(unsafe { done(bytes, length) })
}

/// A buffer that is contiguous and not empty, where nothing else in the parameters matters but whom to tell.
///
/// # Safety
/// As `param::read`.
#[inline(always)]
unsafe fn plain_buffer(
    p: *const ucp_request_param_t,
    buffer: *mut c_void,
    count: usize,
) -> Option<recv::Plain> {
    // SAFETY: by the caller's promise; every release has the mask.
    let (len, args) = unsafe {
        let len = param::plain_receive(p, buffer, count).filter(|len| *len > 0)?;
        (len, RequestArgs::new(p))
    };
    let dt = args.datatype().unwrap_or(Param::PLAIN.datatype);
    let flags = args.flags().unwrap_or(0);
    Some(plain(buffer, len, dt, flags))
}

/// A buffer of `len` bytes of a contiguous datatype.
#[inline(always)]
fn plain(buffer: *mut c_void, len: usize, dt: ucp_datatype_t, flags: c_uint) -> recv::Plain {
    recv::Plain {
        buffer: buffer.cast(),
        len,
        unit: (dt >> UCP_DATATYPE_SHIFT) as usize,
        wait_all: flags & UCP_STREAM_RECV_FLAG_WAITALL != 0,
    }
}

/// Takes what has arrived on a stream without a copy. `ucp_stream_data_release` gives it back.
///
/// - `ep` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `length` (out): Bytes that are there.
/// - returns: Start of the bytes; NULL for nothing; or an error.
///
/// `ucp/api/ucp.h`, group `stream`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_stream_recv_data_nb(
    ep: ucp_ep_h,
    length: *mut usize,
) -> ucs_status_ptr_t {
    non_null!(NULL_PTR; ep, length);
    // SAFETY: a live endpoint.
    let ep = unsafe { super::ep::ep(ep) };
    let _guard = own!(ep.worker(), error(Status::UNSUPPORTED));
    if let Err(e) = ep.worker().require(Feature::Stream) {
        return error(e);
    }
    match recv::receive_buffer(ep) {
        Ok(Some((at, bytes))) => {
            // SAFETY: the caller's out parameter.
            unsafe { length.write(bytes) };
            at.cast_mut().cast()
        }
        Ok(None) => core::ptr::null_mut(),
        Err(e) => error(e),
    }
}

/// Checks a stream receive, and tells its bytes.
///
/// - `request` (in): Request that an operation returned, not freed yet; not NULL and not an error.
/// - `length_p` (out): Bytes received, at the end; may be NULL.
/// - returns: UCS_INPROGRESS while the request goes on, then its result.
///
/// `ucp/api/ucp.h`, group `stream`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_stream_recv_request_test(
    request: *mut c_void,
    length_p: *mut usize,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; request);
    // SAFETY: a live request and the caller's out parameter.
    unsafe {
        let req = Req::from_user(request);
        // Read once: another thread may complete it meanwhile.
        let status = req.status();
        if status != UCS_INPROGRESS && !length_p.is_null() {
            length_p.write(req.info().length);
        }
        status
    }
}

/// Gives back data of `ucp_stream_recv_data_nb`.
///
/// - `ep` (in): Endpoint that the data came from.
/// - `data` (in): Start of the bytes that `ucp_stream_recv_data_nb` gave, once.
///
/// `ucp/api/ucp.h`, group `stream`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_stream_data_release(ep: ucp_ep_h, data: *mut c_void) {
    non_null!(; ep, data);
    // SAFETY: a live endpoint.
    let ep = unsafe { super::ep::ep(ep) };
    let _guard = own!(ep.worker());
    recv::release_buffer(ep, data);
}
