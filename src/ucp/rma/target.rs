//! Memory access by messages: the owner's side. Only ranges that were exported are touched, and
//! only as their protection allows.

use crate::c::{UCS_MEMORY_TYPE_HOST, ucs_memory_type_t};
use crate::ucp::atomic::{AtomicOperation, apply};
use crate::ucp::ep::{Ep, Lane, LaneIdx, PackBuffer, PeerGet, Rest, Serve, Task, TaskStep};
use crate::ucp::proto::control;
use crate::ucp::proto::rails;
use crate::ucp::worker_core::Core;
use crate::ucs::status::code_of;
use crate::ucs::{Result, Status};
use crate::ucs_error;
use crate::uct::base::copy::Room;
use crate::uct::base::memory_copier::MemoryCopier;
use crate::uct::base::staged::copy_by;
use crate::wire::header::{
    AckHdr, AmId, AmoHdr, AmoReplyHdr, FenceHdr, GetHdr, GetReplyHdr, Header, PutHdr,
};
use crate::wire::id::{EpName, RequestId};
use crate::wire::rkey::{READ, WRITE};
use crate::wire::upstream::message::{GET_REPLY, GetReply};
use core::ops::Range;

/// Gives `f` memory that a peer names, checked, and its type; no thread unmaps it meanwhile.
#[inline]
fn with_memory<R>(
    w: &Core,
    region: u64,
    address: u64,
    length: usize,
    right: u8,
    f: impl FnOnce(*mut u8, ucs_memory_type_t) -> R,
) -> Result<R> {
    let regions = &w.context().regions;
    regions
        .with_any(region, address, length, right, f)
        .map_err(|why| {
            ucs_error!("a peer's access of {length} bytes at {address:#x} is refused: {why}");
            Status::INVALID_ADDR
        })
}

/// What copies memory of a region's type.
#[inline]
fn copier(w: &Core, kind: ucs_memory_type_t) -> Option<&dyn MemoryCopier> {
    w.context().device_memory.copier(kind).map(|c| &**c)
}

/// The endpoint for replies.
fn reply_ep(w: &Core, name: EpName) -> Option<&Ep> {
    let found = w.ep_of_peer(name);
    if found.is_none() {
        ucs_error!("a memory access by an endpoint that was not introduced; dropped");
    }
    found
}

/// A put. An error is reported by the next fence.
pub fn on_put(w: &Core, message: &[u8]) -> Option<()> {
    let (h, body) = PutHdr::split(message)?;
    if let Err(e) = write(w, h.region, h.address, body) {
        refuse(w, h.ep, e);
    }
    Some(())
}

/// Writes memory that a peer names.
#[inline]
pub fn write(w: &Core, region: u64, address: u64, bytes: &[u8]) -> Result<()> {
    with_memory(w, region, address, bytes.len(), WRITE, |at, kind| {
        // SAFETY: inside an exported region of this process.
        unsafe { copy_by(copier(w, kind), bytes.as_ptr(), at, bytes.len()) }
    })?
}

fn refuse(w: &Core, name: EpName, status: Status) {
    if let Some(ep) = reply_ep(w, name)
        && ep.refused.get().is_none()
    {
        ep.refused.set(Some(status));
    }
}

/// A get: replied to at once if one fragment is enough, else from the send queue.
pub fn on_get(w: &Core, message: &[u8]) -> Option<()> {
    let (h, _) = GetHdr::split(message)?;
    let read = PeerGet {
        region: h.region,
        address: h.address,
        length: usize::try_from(h.length).ok()?,
        request: h.request,
        connection: 0,
        rest: None,
    };
    serve(reply_ep(w, h.ep)?, read);
    Some(())
}

/// Sends a peer what it reads.
pub fn serve(ep: &Ep, read: PeerGet) {
    if ep.is_clear()
        && read.length <= ep.lane().max_bcopy - GetReplyHdr::LEN
        && let Some(lane) = ep.message_lane()
    {
        match serve_fragment(ep, lane, &read, 0..read.length) {
            Err(Status::NO_RESOURCE) => {}
            // An endpoint that cannot send any more hears of it by other ways.
            _ => return,
        }
    }
    ep.post(Task::Serve(Box::new(read)));
}

impl Serve for PeerGet {
    fn serve(&mut self, ep: &Ep) -> Result<TaskStep> {
        let Some(lane) = ep.message_lane() else {
            return Err(Status::NOT_CONNECTED);
        };
        if self.length == 0 {
            return serve_fragment(ep, lane, self, 0..0).map(|_| TaskStep::Done);
        }
        let limits = ep.worker().proto().rails.access;
        let all = || Rest::new(rails::parts(ep, lane, limits, self.length));
        let mut rest = self.rest.take().unwrap_or_else(all);
        let mut refused = false;
        let sent = rest.send(|lane, range| {
            let fragment = serve_fragment(ep, lane, self, range)?;
            refused = fragment.is_none();
            fragment.ok_or(Status::INVALID_ADDR)
        });
        match sent {
            Err(e) if !refused => {
                self.rest = Some(rest);
                Err(e)
            }
            _ => Ok(TaskStep::Done),
        }
    }

    fn abort_message(&self) -> Task {
        let reply = GetReplyHdr {
            request: self.request,
            offset: 0,
            status: Status::CANCELED.code() as u8,
        };
        Task::control(AmId::GetReply, &reply, &[])
    }
}

/// Sends the first bytes of a range of a get; returns their number, `None` after a refusal, which is the last fragment. The
/// memory is looked up for each fragment, as it may be unmapped meanwhile: then the get fails.
fn serve_fragment(
    ep: &Ep,
    lane: Lane,
    get: &PeerGet,
    range: Range<usize>,
) -> Result<Option<usize>> {
    if ep.is_upstream() {
        return serve_upstream(ep, get, range);
    }
    let fragment = range.len().min(ep.max_piece(lane) - GetReplyHdr::LEN);
    let from = get.address.wrapping_add(range.start as u64);
    let mut refused = false;
    let mut fill = |buffer: &mut PackBuffer<'_>| {
        let from = |room: Room<'_>| read(ep.worker(), get.region, from, room);
        buffer.outcome(fragment, from, |read| {
            refused = read.is_err();
            GetReplyHdr {
                request: get.request,
                offset: range.start as u64,
                status: code_of(read) as u8,
            }
        });
    };
    let id = AmId::GetReply;
    match lane.index {
        LaneIdx::MESSAGES => ep
            .lane()
            .packed(id, GetReplyHdr::LEN + fragment, &mut fill)?,
        _ => lane.bcopy(id, GetReplyHdr::LEN + fragment, &mut fill)?,
    };
    Ok((!refused).then_some(fragment))
}

/// As `serve_fragment`, to a process of upstream's. It has no word for a refusal, so its connection ends, and with it the
/// get.
fn serve_upstream(ep: &Ep, get: &PeerGet, range: Range<usize>) -> Result<Option<usize>> {
    const HEAD: usize = GetReply::LEN;
    let fragment = range.len().min(ep.lane().max_bcopy.saturating_sub(HEAD));
    let from = get.address.wrapping_add(range.start as u64);
    let mut refused = false;
    ep.lane().bcopy_as(GET_REPLY, |buffer| {
        let from = |room: Room<'_>| read(ep.worker(), get.region, from, room);
        buffer.outcome(fragment, from, |read| {
            refused = read.is_err();
            GetReply {
                request: get.request.0,
                offset: range.start as u64,
            }
        });
    })?;
    if refused {
        for iface in &ep.worker().ifaces {
            iface.internal().upstream_reject(get.connection);
        }
    }
    Ok((!refused).then_some(fragment))
}

/// Reads memory that a peer names.
#[inline]
fn read(w: &Core, region: u64, address: u64, to: Room<'_>) -> Result<()> {
    with_memory(w, region, address, to.len(), READ, |at, kind| {
        // SAFETY: inside an exported region.
        unsafe { copy_by(copier(w, kind), at, to.as_mut_ptr(), to.len()) }
    })?
}

/// An atomic.
pub fn on_amo(w: &Core, message: &[u8]) -> Option<()> {
    let (h, _) = AmoHdr::split(message)?;
    let op = AtomicOperation::from_number(h.op)?;
    if !matches!(h.size, 4 | 8) {
        return None;
    }
    let done = change(w, h.region, h.address, (op, h.size), [h.value, h.compare]);
    if h.request == RequestId::NONE {
        if let Err(e) = done {
            refuse(w, h.ep, e);
        }
        return Some(());
    }
    let reply = AmoReplyHdr {
        request: h.request,
        value: done.unwrap_or(0),
        status: done.err().map_or(0, |e| e.code() as u8),
    };
    control::post(reply_ep(w, h.ep)?, AmId::AmoReply, &reply, &[]);
    Some(())
}

/// Changes a word that a peer names. Returns the value before.
#[inline]
pub fn change(
    w: &Core,
    region: u64,
    address: u64,
    (op, size): (AtomicOperation, u8),
    [value, swap]: [u64; 2],
) -> Result<u64> {
    with_memory(w, region, address, size.into(), WRITE, |at, kind| {
        if kind != UCS_MEMORY_TYPE_HOST && !w.context().is_reached_by_processors(at) {
            return Err(refuse_atomic(address));
        }
        // SAFETY: inside an exported region of this process; alignment is checked.
        unsafe { apply(at, op, size, value, swap) }
    })?
}

/// What an atomic on memory of a device is answered with.
#[cold]
pub fn refuse_atomic(address: u64) -> Status {
    ucs_error!(
        "an atomic at {address:#x} is refused: it is memory of a device, where processors change nothing"
    );
    Status::UNSUPPORTED
}

/// A fence: everything before it is done, since messages come in order, so it is acknowledged at once.
pub fn on_fence(w: &Core, message: &[u8]) -> Option<()> {
    let (h, _) = FenceHdr::split(message)?;
    let ep = reply_ep(w, h.sender.ep)?;
    let ack = AckHdr {
        request: h.sender.id,
        status: ep.refused.take().map_or(0, |e| e.code() as u8),
    };
    control::post(ep, AmId::FenceAck, &ack, &[]);
    Some(())
}
