//! Active messages: the exported functions of `ucp.h` and its companions.

use super::ep::ep;
use super::param::{self, NULL_PTR, RequestArgs, Which, enter, error, own, status_ptr, worker};
use crate::abi::args::non_null;
use crate::c::prelude::*;
use crate::ucp::am::{AmHandler, Function, recv, send};
use crate::ucp::dt::{Data, Side};
use crate::ucp::ep::Ep;
use crate::ucp::feature::Feature;
use crate::ucp::proto::send::try_short;
use crate::ucp::proto::table::Verb;
use crate::ucp::request::{Info, Param, Posted, not_counted};
use crate::ucs::status::code_of;
use crate::ucs::{Result, Status};
use crate::ucs_error;
use crate::uct::base::copy::Payload;
use crate::uct::base::params::masked;
use crate::wire::header::AmId;

masked! {
    HandlerArgs of ucp_am_handler_param, field_mask {
        id: c_uint, UCP_AM_HANDLER_PARAM_FIELD_ID;
        flags: u32, UCP_AM_HANDLER_PARAM_FIELD_FLAGS;
        cb: ucp_am_recv_callback_t, UCP_AM_HANDLER_PARAM_FIELD_CB;
        arg: *mut c_void, UCP_AM_HANDLER_PARAM_FIELD_ARG;
    }
}

/// Sends an active message.
///
/// # Safety
/// `h` live; header and buffer as described.
unsafe fn post(
    h: ucp_ep_h,
    id: c_uint,
    header: (*const c_void, usize),
    buffer: *const c_void,
    count: usize,
    param: Param,
) -> Result<Posted> {
    // SAFETY: by the caller's promise.
    let ep = unsafe { ep(h) };
    let _guard = enter(ep.worker());
    if header.0.is_null() && header.1 > 0 {
        ucs_error!("an active message header of {} bytes is NULL", header.1);
        return Err(Status::INVALID_PARAM);
    }
    if header.1 > 0 && ep.worker().tells_memory() {
        // SAFETY: by the caller's promise.
        return unsafe { post_told(ep, id, header, buffer, count, param) };
    }
    // SAFETY: by the caller's promise.
    unsafe {
        let header = Payload::new(header.0.cast(), header.1);
        post_from_host(ep, id, header, buffer, count, param)
    }
}

/// As `post`, where the header may be in memory of a device.
///
/// # Safety
/// As `post`.
#[cold]
unsafe fn post_told(
    ep: &Ep,
    id: c_uint,
    header: (*const c_void, usize),
    buffer: *const c_void,
    count: usize,
    mut param: Param,
) -> Result<Posted> {
    // A longer one is refused.
    let copy = match header.1 <= ep.max_am_header() {
        // SAFETY: the caller's header.
        true => unsafe { param::in_host(ep.worker(), header.0, header.1) }?,
        false => None,
    };
    let at = match &copy {
        None => header.0.cast(),
        Some(copy) => {
            param.flags |= UCP_AM_SEND_FLAG_COPY_HEADER;
            copy.as_ptr()
        }
    };
    // SAFETY: by the caller's promise; a copy is copied before this returns.
    unsafe {
        let header = Payload::new(at, header.1);
        post_from_host(ep, id, header, buffer, count, param)
    }
}

/// As `post`, with a header in memory of the host.
///
/// # Safety
/// As `post`.
#[inline]
unsafe fn post_from_host(
    ep: &Ep,
    id: c_uint,
    header: Payload<'static>,
    buffer: *const c_void,
    count: usize,
    mut param: Param,
) -> Result<Posted> {
    let mut data = Data::empty();
    // SAFETY: as above.
    unsafe {
        param::message(
            ep,
            &mut param,
            buffer,
            count,
            Feature::Am,
            &mut data,
            |param| (Verb::Am, send::rndv_policy(param)),
        )
    }?;
    send::post(ep, &param, id, header, data)
}

/// Registers an old-style handler of active messages, or removes one.
///
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - `id` (in): Number of the message, as the sender gives it.
/// - `cb` (in): Handler, called in progress for each message; NULL removes it.
/// - `arg` (in): First argument of the handler.
/// - `flags` (in): Bits of `ucp_am_cb_flags`.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when `worker` is NULL; UCS_ERR_UNSUPPORTED in a child
///   of fork().
///
/// `ucp/api/ucp_compat.h`, group `am`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_set_am_handler(
    worker: ucp_worker_h,
    id: u16,
    cb: ucp_am_callback_t,
    arg: *mut c_void,
    flags: u32,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; worker);
    // SAFETY: a live worker.
    let w = unsafe { param::worker(worker) };
    let _guard = own!(w, UCS_ERR_UNSUPPORTED);
    if let Err(e) = w.require(Feature::Am) {
        return e.code();
    }
    let handler = cb.map(|f| AmHandler {
        function: Function::Old(f),
        arg,
        persistent: flags & UCP_AM_FLAG_PERSISTENT_DATA != 0,
    });
    code_of(&w.am.set(id.into(), handler))
}

/// Old form of `ucp_am_send_nbx`, without a header.
///
/// - `ep` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `id` (in): Number of the handler at the peer.
/// - `buffer` (in): Data; belongs to the library until the operation ends.
/// - `count` (in): Elements of the datatype.
/// - `datatype` (in): Layout of the buffer, for instance `ucp_dt_make_contig(1)`.
/// - `cb` (in): Called at the end of a request, in progress; may be NULL. It is not called when the
///   operation is done at once.
/// - `flags` (in): Bits of `ucp_send_am_flags`; the data is always sent with the message.
/// - returns: NULL when done, a request, or an error: see @ref ucp_request.
///
/// `ucp/api/ucp_compat.h`, group `am`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_am_send_nb(
    ep: ucp_ep_h,
    id: u16,
    buffer: *const c_void,
    count: usize,
    datatype: ucp_datatype_t,
    cb: ucp_send_callback_t,
    flags: c_uint,
) -> ucs_status_ptr_t {
    non_null!(NULL_PTR; ep);
    // An old-style handler has no way to fetch rendezvous data.
    let param = Param {
        flags: flags | UCP_AM_SEND_FLAG_EAGER,
        ..param::old_send(datatype, cb)
    };
    // SAFETY: the caller's arguments.
    status_ptr(unsafe { post(ep, id.into(), (core::ptr::null(), 0), buffer, count, param) })
}

/// Registers a handler of active messages, or removes one. Messages without a handler are dropped.
///
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - `param` (in): Number and handler, both must be set; read during the call only.
/// - returns: UCS_OK. UCS_ERR_INVALID_PARAM when one is missing or the number is over 65535.
///   UCS_ERR_UNSUPPORTED in a child of fork().
///
/// `ucp/api/ucp.h`, group `am`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_set_am_recv_handler(
    worker: ucp_worker_h,
    param: *const ucp_am_handler_param_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; worker, param);
    // SAFETY: a live worker.
    let w = unsafe { param::worker(worker) };
    let _guard = own!(w, UCS_ERR_UNSUPPORTED);
    if let Err(e) = w.require(Feature::Am) {
        return e.code();
    }
    // SAFETY: every release has the mask; members are read behind their bits.
    let args = unsafe { HandlerArgs::new(param) };
    let must = u64::from(UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB);
    if args.mask() & must != must {
        crate::ucs_error!("ucp_worker_set_am_recv_handler: id and cb must be set");
        return UCS_ERR_INVALID_PARAM;
    }
    let id = args.id().unwrap_or(0);
    let flags = args.flags().unwrap_or(0);
    let cb = args.cb().flatten();
    let arg = args.arg().unwrap_or(core::ptr::null_mut());
    let handler = cb.map(|f| AmHandler {
        function: Function::New(f),
        arg,
        persistent: flags & UCP_AM_FLAG_PERSISTENT_DATA != 0,
    });
    code_of(&w.am.set(id, handler))
}

/// Sends an active message to a handler of the peer.
///
/// - `ep` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `id` (in): Number of the handler, at most 65535.
/// - `header` (in): Header; belongs to the library until the operation ends, or until the call
///   returns with UCP_AM_SEND_FLAG_COPY_HEADER. NULL when there is none.
/// - `header_length` (in): Bytes of the header, at most the worker's `max_am_header`.
/// - `buffer` (in): Data; belongs to the library until the operation ends.
/// - `count` (in): Elements of the datatype; bytes when none is set.
/// - `param` (in): Optional parameters, not NULL; read during the call only.
/// - returns: NULL when done, a request, or an error: see @ref ucp_request.
///
/// `ucp/api/ucp.h`, group `am`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_am_send_nbx(
    ep: ucp_ep_h,
    id: c_uint,
    header: *const c_void,
    header_length: usize,
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
            id,
            header: (header, header_length),
            buffer,
            count,
            param,
        };
        if let Some((word, len)) = short_message(&call)
            && let Some(route) = self::ep(ep)
                .send_queue
                .short_route_unlocked(len, Feature::Am)
        {
            if route.send(&self::ep(ep).sent, AmId::Am, word, buffer.cast(), len) == UCS_OK {
                return core::ptr::null_mut();
            }
            return send_again(&call);
        }
        send_any(&call)
    }
}

/// The arguments of `ucp_am_send_nbx`.
struct SendCall {
    ep: ucp_ep_h,
    id: c_uint,
    header: (*const c_void, usize),
    buffer: *const c_void,
    count: usize,
    param: *const ucp_request_param_t,
}

/// Our header and the bytes of a message that has no header of the user's and asks for no way back, where nothing
/// else about it matters if it can leave at once.
///
/// # Safety
/// `param` as `param::read`.
#[inline(always)]
unsafe fn short_message(call: &SendCall) -> Option<(u64, usize)> {
    if call.header.1 != 0 {
        return None;
    }
    let param = call.param;
    // SAFETY: by the caller's promise.
    let args = unsafe { RequestArgs::new(param) };
    let flags = args.flags().unwrap_or(0);
    if flags & (UCP_AM_SEND_FLAG_REPLY | UCP_AM_SEND_FLAG_RNDV) != 0 {
        return None;
    }
    // SAFETY: by the caller's promise.
    let len = unsafe { param::plain_length(param, call.buffer, call.count) }?;
    Some((send::plain_header(call.id)?.word(), len))
}

/// The transport had no room for a short message, which was counted: sends, whatever that takes.
///
/// # Safety
/// As `send_any`.
#[cold]
#[inline(never)]
unsafe fn send_again(call: &SendCall) -> ucs_status_ptr_t {
    // SAFETY: by the caller's promise.
    unsafe {
        self::ep(call.ep).sent.take_back_short();
        send_any(call)
    }
}

/// Sends, whatever that takes.
///
/// # Safety
/// `ep` live; the buffer as the datatype says; `param` as `param::read`.
#[inline(never)]
unsafe fn send_any(call: &SendCall) -> ucs_status_ptr_t {
    // SAFETY: by the caller's promise.
    unsafe {
        let to = self::ep(call.ep);
        let _guard = enter(to.worker());
        if !to.worker().examines(Feature::Am)
            && let Some((word, len)) = short_message(call)
            && let Some(sent) = try_short(to, AmId::Am, word, Payload::new(call.buffer.cast(), len))
        {
            return status_ptr(sent.map(|()| Posted::Done));
        }
        let param = param::read(call.param, Which::Send);
        status_ptr(post(
            call.ep,
            call.id,
            call.header,
            call.buffer,
            call.count,
            param,
        ))
    }
}

/// Receives what a handler got.
///
/// # Safety
/// `h` live; the buffer as the datatype says.
unsafe fn fetch(
    h: ucp_worker_h,
    data_desc: *mut c_void,
    buffer: *mut c_void,
    count: usize,
    mut param: Param,
) -> Result<(Posted, Info)> {
    // SAFETY: by the caller's promise.
    let w = unsafe { worker(h) };
    w.check_process()?;
    let _guard = enter(w);
    let (of, mut data) = ((Side::Receive, Feature::Am), Data::empty());
    // SAFETY: as above.
    match unsafe { param.data(w, buffer, count, of, &mut data, not_counted) } {
        Ok(()) => recv::fetch(w, data_desc, data, &param),
        Err(e) => {
            // The descriptor is used up by a call that fails too.
            recv::release(w, data_desc);
            Err(e)
        }
    }
}

/// Fetches the data of an active message that the handler got as a descriptor, or copies data that
/// it kept. The descriptor is used up, also on an error.
///
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - `data_desc` (in): `data` of the handler, called with UCP_AM_RECV_ATTR_FLAG_RNDV or kept by it.
/// - `buffer` (out): Gets the data; belongs to the library until the operation ends.
/// - `count` (in): Elements that fit; bytes when no datatype is set.
/// - `param` (in): Optional parameters, not NULL; read during the call only.
/// - returns: NULL when done, a request, or an error: see @ref ucp_request.
///
/// `ucp/api/ucp.h`, group `am`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_am_recv_data_nbx(
    worker: ucp_worker_h,
    data_desc: *mut c_void,
    buffer: *mut c_void,
    count: usize,
    param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    non_null!(NULL_PTR; worker, data_desc, param);
    // SAFETY: the caller's arguments.
    unsafe {
        let length_at = param::length(param);
        let param = param::read(param, Which::Recv);
        match fetch(worker, data_desc, buffer, count, param) {
            Ok((Posted::Done, info)) => {
                if !length_at.is_null() {
                    length_at.write(info.length);
                }
                core::ptr::null_mut()
            }
            Ok((posted, _)) => status_ptr(Ok(posted)),
            Err(e) => error(e),
        }
    }
}

/// Gives back data that a handler kept by returning UCS_INPROGRESS. For the sender of a descriptor
/// that is given back the message is delivered.
///
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - `data` (in): `data` of the handler, once.
///
/// `ucp/api/ucp.h`, group `am`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_am_data_release(worker: ucp_worker_h, data: *mut c_void) {
    non_null!(; worker, data);
    // SAFETY: a live worker.
    let w = unsafe { param::worker(worker) };
    let _guard = own!(w);
    recv::release(w, data);
}
