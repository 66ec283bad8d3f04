//! Receiving active messages: calling the handlers, and fetching rendezvous data.

use super::kept::{Buffer, CurrentData, Home, Kept, TakenData, is_aligned};
use super::{AmHandler, Function, PlainHandler};
use crate::c::*;
use crate::ucp::dt::Data;
use crate::ucp::op::{Arriving, DataRecvOp, Op};
use crate::ucp::proto::fetched;
use crate::ucp::proto::postponed;
use crate::ucp::proto::reassembly::{Reassembly, Target, empty_reassembly};
use crate::ucp::proto::rndv::receiver;
use crate::ucp::request::{Info, Param, Posted, Request, immediate, must_be_immediate, settle};
use crate::ucp::rts::{OwnSend, Rts, Waiting};
use crate::ucp::worker_core::Core;
use crate::ucs::{Result, Status};
use crate::uct::base::copy::{Payload, SMALL, copy_small};
use crate::uct::internal::Keep;
use crate::wire::header::{AM_REPLY, AmHdr, AmReplyHdr, Header};
use crate::wire::id::EpName;
use crate::wire::{Reader, Writer};
use crate::{ucs_debug, ucs_error, ucs_warn};
use core::ffi::c_void;
use core::mem::MaybeUninit;

/// The headers of an active message.
struct Head<'a> {
    id: u16,
    reply: Option<AmReplyHdr>,
    /// The user's header.
    header: &'a [u8],
}

impl Head<'_> {
    fn decode<'a>(r: &mut Reader<'a>) -> Option<Head<'a>> {
        let hdr = AmHdr::decode(r)?;
        let reply = if hdr.flags & AM_REPLY != 0 {
            Some(AmReplyHdr::decode(r)?)
        } else {
            None
        };
        Some(Head {
            id: hdr.id,
            reply,
            header: r.bytes(hdr.header as usize)?,
        })
    }
}

/// Splits a message into all its headers and the data.
pub fn split(message: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut r = Reader::new(message);
    Head::decode(&mut r)?;
    message.split_at_checked(message.len() - r.rest().len())
}

/// A whole message; `keep` is what the transport can do for a handler that keeps its data. Returns whether it is kept in place.
#[inline(always)]
pub fn on_message(worker: &Core, message: &[u8], keep: Keep) -> Option<bool> {
    if let Keep::InPlace = keep
        && let Some((handler, body)) = split_plain(worker, message, true)
    {
        let is_kept = is_kept(worker, body, |flag| call_plain(handler, body.into(), flag));
        return Some(is_kept && keep_in_place(worker, message, body));
    }
    on_message_with_header(worker, message, keep)
}

/// As `on_message`, of any form.
#[inline(never)]
fn on_message_with_header(worker: &Core, message: &[u8], keep: Keep) -> Option<bool> {
    let mut r = Reader::new(message);
    let head = Head::decode(&mut r)?;
    Some(dispatch(worker, &head, (message, r.rest()), keep))
}

/// As `on_message`, of a message in its transport's descriptor.
pub fn on_message_in_descriptor(worker: &Core, message: &[u8]) -> Option<bool> {
    let keep = match worker.am().kept.may_keep_descriptor() {
        true => Keep::InPlace,
        false => Keep::Copy,
    };
    on_message(worker, message, keep)
}

/// As `on_message`, of a message that no handler keeps.
pub fn on_passing(worker: &Core, message: &[u8]) -> Option<()> {
    if let Some((handler, body)) = split_plain(worker, message, false) {
        call_plain(handler, body.into(), 0);
        return Some(());
    }
    on_message_with_header(worker, message, Keep::No).map(drop)
}

/// The handler and the data of a message that has no header of the user's and cannot be replied to, if the handler takes
/// the data where they are.
#[inline(always)]
fn split_plain<'a>(
    worker: &Core,
    message: &'a [u8],
    can_keep: bool,
) -> Option<(PlainHandler, &'a [u8])> {
    let (word, body) = message.split_first_chunk()?;
    let word = u64::from_le_bytes(*word);
    let handler = worker.am().plain_handler(word, can_keep)?;
    is_aligned(body.as_ptr(), worker.params.am_alignment).then_some((handler, body))
}

/// Calls a handler with the data of such a message. `flag` is that for the kind of data.
#[inline(always)]
fn call_plain((function, arg): PlainHandler, body: Payload<'_>, flag: u32) -> ucs_status_t {
    let param = ucp_am_recv_param_t {
        recv_attr: u64::from(flag),
        reply_ep: core::ptr::null_mut(),
    };
    let data = body.as_ptr().cast_mut().cast();
    // SAFETY: the user's function with its argument; the data are readable until it returns.
    unsafe { function(arg, core::ptr::null(), 0, data, body.len(), &param) }
}

/// A whole message of another format, by its parts; `reply` is the remote endpoint that may be replied to.
pub fn on_parts(worker: &Core, id: u16, reply: Option<EpName>, header: &[u8], body: &[u8]) {
    let reply = reply.map(|ep| AmReplyHdr { ep });
    let head = Head { id, reply, header };
    dispatch(worker, &head, (body, body), Keep::No);
}

/// Calls the handler of a message with its `body`, or with a copy. Returns whether the message is kept where it is.
#[inline]
fn dispatch(worker: &Core, head: &Head<'_>, (message, body): (&[u8], &[u8]), keep: Keep) -> bool {
    let Some((handler, reply_ep)) = find_handler(worker, head) else {
        return false;
    };
    match keep {
        _ if !is_aligned(body.as_ptr(), worker.params.am_alignment) => {
            deliver_copy(worker, &handler, head, reply_ep, body)
        }
        Keep::InPlace => {
            return deliver_in_place(worker, &handler, head, reply_ep, (message, body));
        }
        Keep::No if !handler.persistent => {
            handler.call(head, body.as_ptr(), body.len(), reply_ep, 0);
        }
        Keep::No | Keep::Copy => deliver_copy(worker, &handler, head, reply_ep, body),
    }
    false
}

/// Most payload bytes of `on_short`, and the alignment of the data that it passes to handlers.
pub const SHORT_MAX: usize = SMALL;
pub const SHORT_ALIGN: usize = 16;

/// A complete message as `AmHdr` and rest, for a worker that needs no larger alignment than `SHORT_ALIGN`. `None` if
/// malformed.
///
/// # Safety
/// `rest` must have at most `SHORT_MAX` bytes.
#[inline(always)]
pub unsafe fn on_short(worker: &Core, word: u64, rest: Payload<'_>) -> Option<()> {
    #[repr(align(16))]
    struct AlignedBytes(MaybeUninit<[u8; SHORT_MAX]>);
    const _: () = assert!(align_of::<AlignedBytes>() == SHORT_ALIGN);
    // The handler may write to it, and nobody else does.
    let mut aligned = AlignedBytes(MaybeUninit::uninit());
    let (data, len) = (aligned.0.as_mut_ptr().cast::<u8>(), rest.len());
    // SAFETY: by the caller's promise.
    unsafe { copy_small(rest.as_ptr(), data, len) };
    // SAFETY: so many bytes were written.
    let rest = unsafe { Payload::new(data, len) };
    if let Some(handler) = worker.am().plain_handler(word, false) {
        call_plain(handler, rest, 0);
        return Some(());
    }
    on_short_slow(worker, word, rest)
}

#[inline(never)]
fn on_short_slow(worker: &Core, word: u64, rest: Payload<'_>) -> Option<()> {
    let mut message = [0; AmHdr::LEN + SHORT_MAX];
    let (head, body) = message.split_at_mut(AmHdr::LEN);
    head.copy_from_slice(&word.to_le_bytes());
    body.get_mut(..rest.len())?.copy_from_slice(rest.bytes());
    on_message_with_header(worker, message.get(..AmHdr::LEN + rest.len())?, Keep::No).map(drop)
}

/// The first fragment of a message. Returns the reassembly.
pub fn on_first_fragment(total: usize, headers: &[u8]) -> Reassembly {
    empty_reassembly(total, Target::Am(headers.into()))
}

/// The headers of a message of another format, as `on_first_fragment` and `on_rts` take them.
pub fn headers(id: u16, reply: Option<EpName>, header: &[u8]) -> Vec<u8> {
    let hdr = AmHdr {
        header: header.len() as u32,
        id,
        flags: if reply.is_some() { AM_REPLY } else { 0 },
        unused: 0,
    };
    let reply = reply.map(|ep| AmReplyHdr { ep });
    let reply_len = if reply.is_some() { AmReplyHdr::LEN } else { 0 };
    let mut headers = vec![0; AmHdr::LEN + reply_len + header.len()];
    let mut w = Writer::new(&mut headers);
    hdr.encode(&mut w);
    if let Some(reply) = reply {
        reply.encode(&mut w);
    }
    w.bytes(header);
    headers
}

/// A fragmented message is complete.
pub fn reassembled(worker: &Core, headers: &[u8], data: Vec<u8>) {
    // `split` accepted the same bytes when the first fragment came.
    if let Some(head) = Head::decode(&mut Reader::new(headers))
        && let Some((handler, reply_ep)) = find_handler(worker, &head)
    {
        let data = Buffer::own(data, worker.params.am_alignment);
        deliver(worker, &handler, &head, reply_ep, data);
    }
}

/// The handler of a message and the endpoint it may reply by; `None` when the message is dropped.
fn find_handler(worker: &Core, head: &Head<'_>) -> Option<(AmHandler, ucp_ep_h)> {
    let Some(handler) = worker.am().handler(head.id) else {
        ucs_warn!(
            "active message dropped: no handler is set for id {}",
            head.id
        );
        return None;
    };
    if matches!(handler.function, Function::Old(_)) && !head.header.is_empty() {
        ucs_warn!(
            "active message {} dropped: it has a header, which its handler cannot get; \
             set one with ucp_worker_set_am_recv_handler",
            head.id
        );
        return None;
    }
    let reply_ep = match head.reply {
        None => core::ptr::null_mut(),
        Some(r) => match worker.ep_of_peer(r.ep) {
            Some(ep) => {
                ep.expose();
                core::ptr::from_ref(ep).cast_mut().cast()
            }
            None => {
                ucs_debug!(
                    "active message {} dropped: the endpoint to reply by is closed",
                    head.id
                );
                return None;
            }
        },
    };
    Some((handler, reply_ep))
}

/// Calls a handler with a copy of `body`. What it does not keep is the memory of the next copy.
fn deliver_copy(
    worker: &Core,
    handler: &AmHandler,
    head: &Head<'_>,
    reply_ep: ucp_ep_h,
    body: &[u8],
) {
    let memory = worker.am().spare.take();
    let data = Buffer::copy_into(memory, body, worker.params.am_alignment);
    if let Some(left) = deliver(worker, handler, head, reply_ep, data) {
        worker.am().spare.set(left.into_memory());
    }
}

/// Calls a handler with data that it may keep. Returns the data if it does not.
fn deliver(
    worker: &Core,
    handler: &AmHandler,
    head: &Head<'_>,
    reply_ep: ucp_ep_h,
    data: Buffer,
) -> Option<Buffer> {
    let bytes = data.bytes();
    let call = |flag| handler.call(head, bytes.as_ptr(), bytes.len(), reply_ep, flag);
    if !is_kept(worker, bytes, call) {
        return Some(data);
    }
    worker.am().kept.keep(Kept::Data(data));
    None
}

/// Calls a handler with data that stay where the transport has them if it keeps them. Returns whether they do.
fn deliver_in_place(
    worker: &Core,
    handler: &AmHandler,
    head: &Head<'_>,
    reply_ep: ucp_ep_h,
    (message, body): (&[u8], &[u8]),
) -> bool {
    let call = |flag| handler.call(head, body.as_ptr(), body.len(), reply_ep, flag);
    is_kept(worker, body, call) && keep_in_place(worker, message, body)
}

/// A handler keeps the data of a message, which stays where its transport has it. Returns whether it does.
#[inline(never)]
fn keep_in_place(worker: &Core, message: &[u8], body: &[u8]) -> bool {
    let Some(kept) = worker.keep_message(message, body) else {
        ucs_error!("an active message cannot be kept: its interface is closed");
        return false;
    };
    worker.am().kept.keep(Kept::InPlace(kept));
    true
}

/// Calls a handler, by `call` with the flag for the kind of data, with data that it may keep. Returns whether it does.
#[inline(always)]
fn is_kept(worker: &Core, data: &[u8], call: impl FnOnce(u32) -> ucs_status_t) -> bool {
    let (ptr, len) = (data.as_ptr(), data.len());
    let what = CurrentData::Bytes { ptr, len };
    let call = || call(UCP_AM_RECV_ATTR_FLAG_DATA);
    let (status, left) = worker.am().kept.during(ptr.addr(), what, call);
    status == UCS_INPROGRESS && left.is_some()
}

impl AmHandler {
    /// Calls the user's handler. `attr` is the flag for the kind of `data`.
    fn call(
        &self,
        head: &Head<'_>,
        data: *const u8,
        len: usize,
        reply_ep: ucp_ep_h,
        attr: u32,
    ) -> ucs_status_t {
        let data: *mut c_void = data.cast_mut().cast();
        match self.function {
            Function::New(f) => {
                let has_reply = if head.reply.is_some() {
                    UCP_AM_RECV_ATTR_FIELD_REPLY_EP
                } else {
                    0
                };
                let param = ucp_am_recv_param_t {
                    recv_attr: u64::from(attr | has_reply),
                    reply_ep,
                };
                let header = if head.header.is_empty() {
                    core::ptr::null()
                } else {
                    head.header.as_ptr().cast()
                };
                // SAFETY: the user's function with its argument; header and data are readable until
                // it returns.
                unsafe { f(self.arg, header, head.header.len(), data, len, &param) }
            }
            Function::Old(f) => {
                let flags = if attr & UCP_AM_RECV_ATTR_FLAG_DATA != 0 {
                    UCP_CB_PARAM_FLAG_DATA
                } else {
                    0
                };
                // SAFETY: as above.
                unsafe { f(self.arg, data, len, reply_ep, flags) }
            }
        }
    }
}

/// A message waits at its sender.
pub fn on_rts(worker: &Core, headers: &[u8], message: &Rts) -> Option<()> {
    let head = Head::decode(&mut Reader::new(headers))?;
    announce(worker, &head, Waiting::Rts(Box::new(message.clone())));
    Some(())
}

/// As `on_rts`, of a message of the worker to itself, by its parts.
pub fn on_own_send(
    worker: &Core,
    id: u16,
    reply: Option<AmReplyHdr>,
    header: &[u8],
    message: OwnSend,
) {
    announce(worker, &Head { id, reply, header }, Waiting::Own(message));
}

/// Calls the handler of a message that waits at its sender.
fn announce(worker: &Core, head: &Head<'_>, message: Waiting) {
    let Some((handler, reply_ep)) = find_handler(worker, head) else {
        return receiver::send_ack(worker, message.sender(), Err(Status::INVALID_PARAM));
    };
    if matches!(handler.function, Function::Old(_)) {
        return fetch_for_old_handler(worker, head, message);
    }
    let (sender, total) = (message.sender(), message.total());
    let home = worker.am().kept.home_of(message);
    let at: *const Home = home.as_ref();
    let what = CurrentData::Waiting(home);
    let (status, left) = worker.am().kept.during(at.addr(), what, || {
        handler.call(head, at.cast(), total, reply_ep, UCP_AM_RECV_ATTR_FLAG_RNDV)
    });
    let Some(CurrentData::Waiting(home)) = left else {
        return;
    };
    if status == UCS_INPROGRESS {
        worker.am().kept.keep(Kept::Waiting(home));
    } else {
        worker.am().kept.end_home(home);
        let answer = Status::from_code(status).map_or(Ok(()), Err);
        receiver::send_ack(worker, sender, answer);
    }
}

/// Receives the data of a handler's descriptor into `data`. The descriptor is released, also on an error.
pub fn fetch(
    worker: &Core,
    handle: *const c_void,
    data: Data,
    param: &Param,
) -> Result<(Posted, Info)> {
    let message = match worker.am().kept.take(handle) {
        None => {
            ucs_error!("{handle:p} is not data of an active message that is here");
            return Err(Status::INVALID_PARAM);
        }
        Some(TakenData::Current(CurrentData::Bytes { ptr, len })) => {
            // SAFETY: readable while the handler runs, which is who calls this.
            let bytes = unsafe { core::slice::from_raw_parts(ptr, len) };
            return copy_out(worker, bytes, data, param);
        }
        Some(TakenData::Kept(Kept::Data(buffer))) => {
            return copy_out(worker, buffer.bytes(), data, param);
        }
        Some(TakenData::Kept(Kept::InPlace(kept))) => {
            let copied = copy_out(worker, kept.bytes(), data, param);
            worker.release_message(&kept);
            return copied;
        }
        Some(
            TakenData::Current(CurrentData::Waiting(home)) | TakenData::Kept(Kept::Waiting(home)),
        ) => match worker.am().kept.end_home(home) {
            Some(message) => message,
            None => return Err(Status::INVALID_PARAM),
        },
    };
    let slot = must_be_immediate(param).and_then(|()| Request::begin(worker, param));
    let slot = slot.inspect_err(|_| {
        receiver::send_ack(worker, message.sender(), Err(Status::CANCELED));
    })?;
    let op = Op::DataRecv(DataRecvOp {
        data,
        arriving: Arriving::default(),
    });
    let req = slot.fill_waiting(worker, op, param);
    let info = Info {
        tag: 0,
        length: message.total(),
    };
    req.set_info(info);
    postponed::fetch(worker, req, message);
    Ok((Posted::Request(req), info))
}

/// Copies data that has been received.
fn copy_out(worker: &Core, bytes: &[u8], data: Data, param: &Param) -> Result<(Posted, Info)> {
    data.unpack_bytes(0, bytes)?;
    let info = Info {
        tag: 0,
        length: bytes.len(),
    };
    let copy = match must_be_immediate(param) {
        Ok(()) => data.start_finish()?,
        Err(_) => data.finish().map(|()| None)?,
    };
    if let Some(copy) = copy {
        let op = Op::DataRecv(DataRecvOp {
            data,
            arriving: Arriving::default(),
        });
        let req = Request::create(worker, param, op)?;
        req.set_info(info);
        receiver::complete_after(req, Ok(Some(copy)));
        return Ok((settle(req, param)?, info));
    }
    drop(data);
    Ok((immediate(worker, param, info)?, info))
}

/// Releases a descriptor that a handler kept.
pub fn release(worker: &Core, handle: *const c_void) {
    match worker.am().kept.take(handle) {
        None => ucs_error!("{handle:p} is not data of an active message that is here"),
        Some(
            TakenData::Current(CurrentData::Waiting(home)) | TakenData::Kept(Kept::Waiting(home)),
        ) => {
            if let Some(message) = worker.am().kept.end_home(home) {
                receiver::send_ack(worker, message.sender(), Ok(()));
            }
        }
        Some(TakenData::Kept(Kept::InPlace(kept))) => {
            worker.release_message(&kept);
        }
        Some(TakenData::Current(CurrentData::Bytes { .. }) | TakenData::Kept(Kept::Data(_))) => {}
    }
}

/// Fetches a rendezvous message, then calls its old-style handler.
fn fetch_for_old_handler(worker: &Core, head: &Head<'_>, message: Waiting) {
    let headers = headers(head.id, head.reply.map(|reply| reply.ep), head.header);
    let message = match message {
        Waiting::Rts(message) => *message,
        Waiting::Own(message) => message.as_rts(),
    };
    fetched::begin(worker, &message, move |worker, result| {
        if let Ok(data) = result {
            reassembled(worker, &headers, data);
        }
    });
}
