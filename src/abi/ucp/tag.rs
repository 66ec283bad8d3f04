//! Tag matching: the exported functions of `ucp.h` and its companions.

use super::ep::ep;
use super::param::{
    self, NULL_PTR, Which, enter, error, own, put_tag_info, status_code, status_ptr, worker,
};
use crate::abi::args::non_null;
use crate::c::prelude::*;
use crate::ucp::dt::{Data, Side};
use crate::ucp::feature::Feature;
use crate::ucp::op::MessageKind;
use crate::ucp::plan::RndvPolicy;
use crate::ucp::proto::send;
use crate::ucp::proto::table::Verb;
use crate::ucp::request::{Callback, Info, Param, Posted, Req, not_counted, settle};
use crate::ucp::tag::recv::{PlainReceive, TakenMessage};
use crate::ucp::tag::{self, probe, recv};
use crate::ucp::worker_core::Core;
use crate::ucs::{Result, Status};
use crate::uct::base::copy::{Payload, Room};
use crate::wire::header::AmId;

/// Sends a tagged message.
///
/// # Safety
/// `h` live; the buffer as the datatype says.
unsafe fn post_send(
    h: ucp_ep_h,
    buffer: *const c_void,
    count: usize,
    kind: MessageKind,
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
            Feature::Tag,
            &mut data,
            |param| {
                let policy = param.rndv_policy();
                let verb = match kind {
                    MessageKind::TagSync { .. } => Verb::TagSync,
                    _ if policy == RndvPolicy::LongOnly => Verb::TagFast,
                    _ => Verb::Tag,
                };
                (verb, policy)
            },
        )
    }?;
    tag::send::start(ep, &param, &mut data, kind, param.rndv_policy())
}

/// Sends a short message if it can leave at once.
///
/// # Safety
/// `h` live; `buffer` readable for `len` bytes.
#[inline]
unsafe fn send_now(
    h: ucp_ep_h,
    buffer: *const c_void,
    len: usize,
    tag: ucp_tag_t,
) -> Option<ucs_status_ptr_t> {
    // SAFETY: by the caller's promise.
    let ep = unsafe { ep(h) };
    let _guard = enter(ep.worker());
    // SAFETY: readable by the caller's promise.
    let payload = unsafe { Payload::new(buffer.cast(), len) };
    let sent = send::try_short(ep, AmId::TagOnly, tag, payload)?;
    Some(status_ptr(sent.map(|()| Posted::Done)))
}

/// Posts a receive.
///
/// # Safety
/// `h` live; the buffer as the datatype says.
unsafe fn post_recv(
    h: ucp_worker_h,
    buffer: *mut c_void,
    count: usize,
    tag: ucp_tag_t,
    mask: ucp_tag_t,
    mut param: Param,
) -> Result<(Posted, Info)> {
    // SAFETY: by the caller's promise.
    let w = unsafe { worker(h) };
    let _guard = enter(w);
    let (of, mut data) = ((Side::Receive, Feature::Tag), Data::empty());
    // SAFETY: as above.
    unsafe { param.data(w, buffer, count, of, &mut data, not_counted) }?;
    recv::post(w, &param, &mut data, tag, mask)
}

/// The handle of a message that a probe took.
fn as_handle(taken: TakenMessage) -> ucp_tag_message_h {
    Box::into_raw(Box::new(taken)).cast()
}

/// Receives a message that a probe took.
///
/// # Safety
/// `h` live; the buffer as the datatype says; `message` of a probe, once.
unsafe fn post_msg_recv(
    h: ucp_worker_h,
    buffer: *mut c_void,
    count: usize,
    message: ucp_tag_message_h,
    mut param: Param,
) -> Result<(Posted, Info)> {
    // SAFETY: by the caller's promise.
    let w = unsafe { worker(h) };
    w.check_process()?;
    let _guard = enter(w);
    // SAFETY: as above.
    unsafe {
        let (of, mut data) = ((Side::Receive, Feature::Tag), Data::empty());
        param.data(w, buffer, count, of, &mut data, not_counted)?;
        let taken = Box::from_raw(message.cast::<TakenMessage>());
        recv::post_taken(w, &param, data, *taken)
    }
}

fn old_recv(cb: ucp_tag_recv_callback_t) -> Callback {
    cb.map_or(Callback::None, Callback::OldTagRecv)
}

/// Old form of `ucp_tag_send_nbx`.
///
/// - `ep` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `buffer` (in): Data; belongs to the library until the operation ends.
/// - `count` (in): Elements of the datatype.
/// - `datatype` (in): Layout of the buffer, for instance `ucp_dt_make_contig(1)`.
/// - `tag` (in): Tag that the receiver compares.
/// - `cb` (in): Called at the end of a request, in progress; may be NULL. It is not called when the
///   operation is done at once.
/// - returns: NULL when done, a request, or an error: see @ref ucp_request.
///
/// `ucp/api/ucp_compat.h`, group `tag`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_tag_send_nb(
    ep: ucp_ep_h,
    buffer: *const c_void,
    count: usize,
    datatype: ucp_datatype_t,
    tag: ucp_tag_t,
    cb: ucp_send_callback_t,
) -> ucs_status_ptr_t {
    non_null!(NULL_PTR; ep);
    let param = param::old_send(datatype, cb);
    // SAFETY: the caller's arguments.
    status_ptr(unsafe { post_send(ep, buffer, count, MessageKind::Tag { tag }, param) })
}

/// Sends a tagged message with a request of the caller.
///
/// - `ep` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `buffer` (in): Data; belongs to the library until the operation ends.
/// - `count` (in): Elements of the datatype.
/// - `datatype` (in): Layout of the buffer, for instance `ucp_dt_make_contig(1)`.
/// - `tag` (in): Tag that the receiver compares.
/// - `req` (in): Request, with the context's `request_size` bytes before it; belongs to the library
///   until the operation ends.
/// - returns: UCS_OK: done. UCS_INPROGRESS: `ucp_request_check_status` tells. Or an error.
///
/// `ucp/api/ucp_compat.h`, group `tag`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_tag_send_nbr(
    ep: ucp_ep_h,
    buffer: *const c_void,
    count: usize,
    datatype: ucp_datatype_t,
    tag: ucp_tag_t,
    req: *mut c_void,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; ep, req);
    let param = param::old_with_request(datatype, req);
    // SAFETY: the caller's arguments.
    status_code(unsafe { post_send(ep, buffer, count, MessageKind::Tag { tag }, param) })
}

/// Old form of `ucp_tag_send_sync_nbx`.
///
/// - `ep` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `buffer` (in): Data; belongs to the library until the operation ends.
/// - `count` (in): Elements of the datatype.
/// - `datatype` (in): Layout of the buffer, for instance `ucp_dt_make_contig(1)`.
/// - `tag` (in): Tag that the receiver compares.
/// - `cb` (in): Called at the end of a request, in progress; may be NULL. It is not called when the
///   operation is done at once.
/// - returns: NULL when done, a request, or an error: see @ref ucp_request.
///
/// `ucp/api/ucp_compat.h`, group `tag`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_tag_send_sync_nb(
    ep: ucp_ep_h,
    buffer: *const c_void,
    count: usize,
    datatype: ucp_datatype_t,
    tag: ucp_tag_t,
    cb: ucp_send_callback_t,
) -> ucs_status_ptr_t {
    non_null!(NULL_PTR; ep);
    let param = param::old_send(datatype, cb);
    // SAFETY: the caller's arguments.
    status_ptr(unsafe { post_send(ep, buffer, count, MessageKind::TagSync { tag }, param) })
}

/// Old form of `ucp_tag_recv_nbx`. Always gives a request and calls back.
///
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - `buffer` (out): Gets the message; belongs to the library until the operation ends.
/// - `count` (in): Elements that fit.
/// - `datatype` (in): Layout of the buffer, for instance `ucp_dt_make_contig(1)`.
/// - `tag` (in): Wanted tag.
/// - `tag_mask` (in): Bits of the tag that have to be equal.
/// - `cb` (in): Called at the end, in progress; may be NULL.
/// - returns: A request, or an error.
///
/// `ucp/api/ucp_compat.h`, group `tag`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_tag_recv_nb(
    worker: ucp_worker_h,
    buffer: *mut c_void,
    count: usize,
    datatype: ucp_datatype_t,
    tag: ucp_tag_t,
    tag_mask: ucp_tag_t,
    cb: ucp_tag_recv_callback_t,
) -> ucs_status_ptr_t {
    non_null!(NULL_PTR; worker);
    let param = param::old(datatype, old_recv(cb), true);
    // SAFETY: the caller's arguments.
    status_ptr(unsafe { post_recv(worker, buffer, count, tag, tag_mask, param) }.map(|r| r.0))
}

/// Receives a tagged message with a request of the caller.
///
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - `buffer` (out): Gets the message; belongs to the library until the operation ends.
/// - `count` (in): Elements that fit.
/// - `datatype` (in): Layout of the buffer, for instance `ucp_dt_make_contig(1)`.
/// - `tag` (in): Wanted tag.
/// - `tag_mask` (in): Bits of the tag that have to be equal.
/// - `req` (in): Request, with the context's `request_size` bytes before it; belongs to the library
///   until the operation ends.
/// - returns: UCS_OK: taken up; only `ucp_request_check_status` tells whether it is done. Or an
///   error.
///
/// `ucp/api/ucp_compat.h`, group `tag`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_tag_recv_nbr(
    worker: ucp_worker_h,
    buffer: *mut c_void,
    count: usize,
    datatype: ucp_datatype_t,
    tag: ucp_tag_t,
    tag_mask: ucp_tag_t,
    req: *mut c_void,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; worker, req);
    // The request tells length and tag afterwards, also when it is done at once.
    let param = Param {
        mask: UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
        ..param::old_with_request(datatype, req)
    };
    // SAFETY: the caller's arguments.
    match unsafe { post_recv(worker, buffer, count, tag, tag_mask, param) } {
        Ok(_) => UCS_OK,
        Err(e) => e.code(),
    }
}

/// Old form of `ucp_tag_msg_recv_nbx`. Always gives a request and calls back.
///
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - `buffer` (out): Gets the message; belongs to the library until the operation ends.
/// - `count` (in): Elements that fit.
/// - `datatype` (in): Layout of the buffer, for instance `ucp_dt_make_contig(1)`.
/// - `message` (in): Message that `ucp_tag_probe_nb` took, once.
/// - `cb` (in): Called at the end, in progress; may be NULL.
/// - returns: A request, or an error.
///
/// `ucp/api/ucp_compat.h`, group `tag`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_tag_msg_recv_nb(
    worker: ucp_worker_h,
    buffer: *mut c_void,
    count: usize,
    datatype: ucp_datatype_t,
    message: ucp_tag_message_h,
    cb: ucp_tag_recv_callback_t,
) -> ucs_status_ptr_t {
    non_null!(NULL_PTR; worker, message);
    let param = param::old(datatype, old_recv(cb), true);
    // SAFETY: the caller's arguments.
    status_ptr(unsafe { post_msg_recv(worker, buffer, count, message, param) }.map(|r| r.0))
}

/// Checks a tagged receive, and tells tag and bytes.
///
/// - `request` (in): Request that an operation returned, not freed yet; not NULL and not an error.
/// - `info` (out): Tag and bytes, at the end; may be NULL.
/// - returns: UCS_INPROGRESS while the request goes on, then its result.
///
/// `ucp/api/ucp.h`, group `tag`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_tag_recv_request_test(
    request: *mut c_void,
    info: *mut ucp_tag_recv_info_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; request);
    // SAFETY: a live request and the caller's out parameter.
    unsafe { super::request::test(request, info) }
}

/// Sends a message with a tag. Done when the caller's memory is free, which does not tell that the
/// peer has it.
///
/// - `ep` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `buffer` (in): Data; belongs to the library until the operation ends.
/// - `count` (in): Elements of the datatype; bytes when none is set.
/// - `tag` (in): Tag that the receiver compares.
/// - `param` (in): Optional parameters, not NULL; read during the call only.
/// - returns: NULL when done, a request, or an error: see @ref ucp_request.
///
/// `ucp/api/ucp.h`, group `tag`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_tag_send_nbx(
    ep: ucp_ep_h,
    buffer: *const c_void,
    count: usize,
    tag: ucp_tag_t,
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
            tag,
            param,
        };
        if let Some(len) = param::plain_length(param, buffer, count)
            && let Some(route) = self::ep(ep)
                .send_queue
                .short_route_unlocked(len, Feature::Tag)
        {
            if route.send(&self::ep(ep).sent, AmId::TagOnly, tag, buffer.cast(), len) == UCS_OK {
                return core::ptr::null_mut();
            }
            return send_again(&call);
        }
        send_any(&call)
    }
}

/// The arguments of `ucp_tag_send_nbx`.
struct SendCall {
    ep: ucp_ep_h,
    buffer: *const c_void,
    count: usize,
    tag: ucp_tag_t,
    param: *const ucp_request_param_t,
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
    let &SendCall {
        ep,
        buffer,
        count,
        tag,
        param,
    } = call;
    // SAFETY: by the caller's promise.
    unsafe {
        if !self::ep(ep).worker().examines(Feature::Tag)
            && let Some(len) = param::plain_length(param, buffer, count)
            && let Some(sent) = send_now(ep, buffer, len, tag)
        {
            return sent;
        }
        let param = param::read(param, Which::Send);
        status_ptr(post_send(
            ep,
            buffer,
            count,
            MessageKind::Tag { tag },
            param,
        ))
    }
}

/// Sends a message with a tag. Done when the receiver has matched it.
///
/// - `ep` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `buffer` (in): Data; belongs to the library until the operation ends.
/// - `count` (in): Elements of the datatype; bytes when none is set.
/// - `tag` (in): Tag that the receiver compares.
/// - `param` (in): Optional parameters, not NULL; read during the call only.
/// - returns: NULL when done, a request, or an error: see @ref ucp_request.
///
/// `ucp/api/ucp.h`, group `tag`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_tag_send_sync_nbx(
    ep: ucp_ep_h,
    buffer: *const c_void,
    count: usize,
    tag: ucp_tag_t,
    param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    non_null!(NULL_PTR; ep, param);
    // SAFETY: the caller's arguments.
    unsafe {
        let given = (*param).op_attr_mask;
        if !self::ep(ep).worker().takes_general_paths(Feature::Tag)
            && given & recv::NOT_AT_ONCE == 0
            && let Some(len) = param::plain_receive(param, buffer, count)
            && let Some(posted) =
                tag::send::try_sync(self::ep(ep), (buffer.cast_mut().cast(), len), tag)
        {
            let Posted::Request(req) = posted else {
                return core::ptr::null_mut();
            };
            if req.is_done() {
                return status_ptr(settle(req, &Param::PLAIN));
            }
            if given & UCP_OP_ATTR_FIELD_CALLBACK != 0 {
                req.set_callback(param::callback_of(param, Which::Send));
            }
            return req.user();
        }
        let param = param::read(param, Which::Send);
        status_ptr(post_send(
            ep,
            buffer,
            count,
            MessageKind::TagSync { tag },
            param,
        ))
    }
}

/// Receives the first message whose tag equals `tag` in the bits of `tag_mask`, now or when it
/// comes. A message that is longer than the buffer ends with UCS_ERR_MESSAGE_TRUNCATED.
///
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - `buffer` (out): Gets the message; belongs to the library until the operation ends.
/// - `count` (in): Elements that fit; bytes when no datatype is set.
/// - `tag` (in): Wanted tag.
/// - `tag_mask` (in): Bits of the tag that have to be equal; 0 takes any message.
/// - `param` (in): Optional parameters, not NULL; read during the call only.
/// - returns: NULL when done, a request, or an error: see @ref ucp_request.
///
/// `ucp/api/ucp.h`, group `tag`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_tag_recv_nbx(
    worker: ucp_worker_h,
    buffer: *mut c_void,
    count: usize,
    tag: ucp_tag_t,
    tag_mask: ucp_tag_t,
    param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    non_null!(NULL_PTR; worker, param);
    // SAFETY: the caller's arguments.
    unsafe {
        let w = param::worker(worker);
        // Before the lock nothing is looked at that another thread may change.
        if w.takes_general_paths(Feature::Tag) {
            return recv_any(w, buffer, count, tag, tag_mask, param);
        }
        let given = (*param).op_attr_mask;
        if let Some(len) = param::plain_receive(param, buffer, count)
            && let Some(req) = recv::post_to_fifo(w, (buffer.cast(), len), tag, tag_mask)
        {
            return posted(req, given, param);
        }
        recv_early(w, buffer, count, tag, tag_mask, param)
    }
}

/// A posted receive for the user, to whom it tells its end; `given` are the `UCP_OP_ATTR_*` of `param`.
///
/// # Safety
/// As `param::read`.
#[inline(always)]
unsafe fn posted(req: Req, given: u32, param: *const ucp_request_param_t) -> ucs_status_ptr_t {
    if given & UCP_OP_ATTR_FIELD_CALLBACK != 0 {
        // SAFETY: by the caller's promise.
        req.set_callback(unsafe { param::callback_of(param, Which::TagRecv) });
    }
    req.user()
}

/// Receives on a worker that is not shared what came early, else whatever that takes.
///
/// # Safety
/// As `recv_any`.
#[inline(never)]
unsafe fn recv_early(
    w: &Core,
    buffer: *mut c_void,
    count: usize,
    tag: ucp_tag_t,
    mask: ucp_tag_t,
    param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    // SAFETY: by the caller's promise.
    unsafe {
        let Some(len) = param::plain_receive(param, buffer, count) else {
            return recv_any(w, buffer, count, tag, mask, param);
        };
        recv_inline(w, (buffer.cast(), len), count, tag, mask, param)
    }
}

/// Receives into a contiguous buffer the first of the messages of a few bytes, if nothing else waits and it matches; else as
/// `recv_behind`.
///
/// # Safety
/// As `recv_any`.
#[inline(always)]
unsafe fn recv_inline(
    w: &Core,
    place: (*mut u8, usize),
    count: usize,
    tag: ucp_tag_t,
    mask: ucp_tag_t,
    param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    // SAFETY: by the caller's promise.
    unsafe {
        let fill = |bytes: Payload<'_>| {
            let fits = bytes.len() <= place.1;
            if fits {
                Room::new(place.0, bytes.len()).fill_small(bytes);
            }
            fits
        };
        if (*param).op_attr_mask & recv::NOT_AT_ONCE == 0
            && let Some(info) = w.tag().take_small(w, tag, mask, fill)
        {
            put_tag_info(param::tag_info(param), info);
            return core::ptr::null_mut();
        }
        recv_behind(w, place, count, tag, mask, param)
    }
}

/// Receives into a contiguous buffer, where nothing in the parameters but the callback matters and the short forms of tag
/// matching do not serve. Out of line, so that `recv_early` needs no room for it.
///
/// # Safety
/// As `recv_any`.
#[inline(never)]
unsafe fn recv_behind(
    w: &Core,
    place: (*mut u8, usize),
    count: usize,
    tag: ucp_tag_t,
    mask: ucp_tag_t,
    param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    // SAFETY: by the caller's promise.
    unsafe {
        let given = (*param).op_attr_mask;
        match recv::receive_plain(w, given, place, tag, mask) {
            PlainReceive::Done(info) => {
                put_tag_info(param::tag_info(param), info);
                core::ptr::null_mut()
            }
            PlainReceive::Posted(req) => posted(req, given, param),
            PlainReceive::General => recv_general(w, place.0.cast(), count, tag, mask, param),
        }
    }
}

/// Receives, whatever that takes.
///
/// # Safety
/// The buffer as the datatype says; `param` as `param::read`.
#[inline(never)]
unsafe fn recv_any(
    w: &Core,
    buffer: *mut c_void,
    count: usize,
    tag: ucp_tag_t,
    mask: ucp_tag_t,
    param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    let _guard = enter(w);
    // SAFETY: by the caller's promise.
    unsafe {
        // A worker that is not shared has tried that already, without a lock.
        if w.is_shared()
            && !w.examines(Feature::Tag)
            && let Some(len) = param::plain_receive(param, buffer, count)
        {
            let place = (buffer.cast(), len);
            if let Some(req) = recv::post_to_fifo(w, place, tag, mask) {
                return posted(req, (*param).op_attr_mask, param);
            }
            return recv_inline(w, place, count, tag, mask, param);
        }
        recv_general(w, buffer, count, tag, mask, param)
    }
}

/// Receives with any parameters, under the lock.
///
/// # Safety
/// As `recv_any`.
#[inline(never)]
unsafe fn recv_general(
    w: &Core,
    buffer: *mut c_void,
    count: usize,
    tag: ucp_tag_t,
    mask: ucp_tag_t,
    param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    // SAFETY: by the caller's promise.
    unsafe {
        let info_at = param::tag_info(param);
        let mut param = param::read(param, Which::TagRecv);
        let (of, mut data) = ((Side::Receive, Feature::Tag), Data::empty());
        let read = param.data(w, buffer, count, of, &mut data, not_counted);
        finish(
            read.and_then(|()| recv::post(w, &param, &mut data, tag, mask)),
            info_at,
        )
    }
}

/// Describes an immediate end, and answers.
///
/// # Safety
/// `info_at` must be null or writable.
unsafe fn finish(
    posted: Result<(Posted, Info)>,
    info_at: *mut ucp_tag_recv_info_t,
) -> ucs_status_ptr_t {
    match posted {
        Ok((Posted::Done, info)) => {
            // SAFETY: by the caller's promise.
            unsafe { put_tag_info(info_at, info) };
            core::ptr::null_mut()
        }
        Ok((posted, _)) => status_ptr(Ok(posted)),
        Err(e) => error(e),
    }
}

/// Looks for a message that arrived. It makes no progress.
///
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - `tag` (in): Wanted tag.
/// - `tag_mask` (in): Bits of the tag that have to be equal; 0 finds any message.
/// - `remove` (in): Nonzero takes the message: `ucp_tag_msg_recv_nbx` must receive it.
/// - `info` (out): Tag and bytes of the message; written when there is one.
/// - returns: NULL for none. With `remove` the message; else any pointer that is not NULL and means
///   nothing.
///
/// `ucp/api/ucp.h`, group `tag`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_tag_probe_nb(
    worker: ucp_worker_h,
    tag: ucp_tag_t,
    tag_mask: ucp_tag_t,
    remove: c_int,
    info: *mut ucp_tag_recv_info_t,
) -> ucp_tag_message_h {
    non_null!(core::ptr::null_mut(); worker, info);
    // SAFETY: a live worker.
    let w = unsafe { param::worker(worker) };
    let _guard = own!(w, core::ptr::null_mut());
    if w.require(Feature::Tag).is_err() {
        return core::ptr::null_mut();
    }
    let (found, handle) = if remove != 0 {
        match probe::take(w, tag, tag_mask) {
            Some((found, taken)) => (found, as_handle(taken)),
            None => return core::ptr::null_mut(),
        }
    } else {
        match probe::look(w, tag, tag_mask) {
            // Only a sign that there is one: a message that was not removed cannot be received by
            // its handle.
            Some(found) => (found, SEEN),
            None => return core::ptr::null_mut(),
        }
    };
    // SAFETY: the caller's out parameter.
    unsafe { put_tag_info(info, found) };
    handle
}

/// What a probe without removal answers: not null, and no message.
const SEEN: ucp_tag_message_h = core::ptr::dangling_mut::<u64>().cast();

/// Receives a message that a probe took.
///
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - `buffer` (out): Gets the message; belongs to the library until the operation ends.
/// - `count` (in): Elements that fit; bytes when no datatype is set.
/// - `message` (in): Message that `ucp_tag_probe_nb` took, once.
/// - `param` (in): Optional parameters, not NULL; read during the call only.
/// - returns: NULL when done, a request, or an error: see @ref ucp_request.
///
/// `ucp/api/ucp.h`, group `tag`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_tag_msg_recv_nbx(
    worker: ucp_worker_h,
    buffer: *mut c_void,
    count: usize,
    message: ucp_tag_message_h,
    param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    non_null!(NULL_PTR; worker, message, param);
    if message == SEEN {
        crate::ucs_error!("ucp_tag_msg_recv_nbx: the message was probed without remove");
        return error(Status::INVALID_PARAM);
    }
    // SAFETY: the caller's arguments.
    unsafe {
        let info_at = param::tag_info(param);
        let param = param::read(param, Which::TagRecv);
        finish(
            post_msg_recv(worker, buffer, count, message, param),
            info_at,
        )
    }
}
