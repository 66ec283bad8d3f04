//! The `ud_verbs` endpoint: it checks what the user gives and makes packets of it.

use super::conn::State;
use super::engine::Engine;
use super::iface::{Face, UdIface};
use super::sender::{Operation, Packet, Short, WORD};
use super::wire::{ConnId, EMPTY, EpAddr, HEADER_LEN, decode_iface};
use crate::c::*;
use crate::sys::lock::MutexGuard;
use crate::ucs::{Result, Status};
use crate::ucs_error;
use crate::uct::api::{Completion, Pack, Posted, WaitingRequest};
use crate::uct::base::copy::Payload;
use crate::uct::base::iface::EpBox;
use crate::uct::base::iov::Iov;
use crate::uct::base::params::{EpParams, GivenAddress};
use crate::uct::base::pending::PendingGroup;
use crate::uct::ib::ops::{List, MAX_SGES};
use crate::uct::ib::port::{read_device, read_peer};
use crate::uct::ib::wire::DeviceAddr;
use std::rc::Rc;

pub struct UdEp {
    pub id: ConnId,
    pub pending: Rc<PendingGroup>,
}

type Ep = EpBox<UdIface>;

/// Writes a short message.
///
/// # Safety
/// `at` must have room for it.
#[inline(always)]
unsafe fn write_short(at: *mut u8, header: u64, payload: Payload<'_>) {
    // SAFETY: by the caller's promise.
    unsafe { at.cast::<[u8; WORD]>().write(header.to_ne_bytes()) };
    // SAFETY: by the caller's promise; a buffer of ours is not the user's memory.
    unsafe {
        core::ptr::copy_nonoverlapping(payload.as_ptr(), at.wrapping_add(WORD), payload.len())
    };
}

/// `Ok` where the peer's port takes datagrams as long as ours, on a way that we have.
fn check_reach(face: &Face, device: &DeviceAddr) -> Result<()> {
    face.port
        .check_reach(super::NAME, &face.base.device, device, &face.settings.path)?;
    let (peer, own) = (128usize << device.mtu, face.limits.bcopy + HEADER_LEN);
    if peer < own {
        ucs_error!(
            "ud_verbs: the peer's port takes packets of {peer} bytes, {} sends up to {own}: set UCX_UD_VERBS_PATH_MTU or \
             UCX_UD_VERBS_SEG_SIZE to {peer} on both sides",
            face.base.device
        );
        return Err(Status::UNREACHABLE);
    }
    Ok(())
}

impl UdEp {
    pub fn create(face: &Face, params: &EpParams) -> Result<UdEp> {
        let to = read_peer(params, super::NAME, decode_iface)?;
        if let Some((device, _)) = &to {
            check_reach(face, device)?;
        }
        let mut engine = face.engine();
        let id = engine.add_endpoint()?;
        if let Some((device, queue_pair)) = to
            && let Err(e) = engine.request(id, &device, queue_pair)
        {
            engine.remove(id);
            return Err(e);
        }
        Ok(UdEp {
            id,
            pending: PendingGroup::new(),
        })
    }

    pub fn closing(ep: &Ep) {
        let face = ep.face();
        ep.pending.close();
        let mut engine = face.engine();
        engine.attach(ep.id, None);
        // The user's memory is its own again when this returns.
        let mut polls = 0;
        while engine.cancel(ep.id) && polls < MOST_POLLS && engine.sender.pair.is_ours() {
            engine.poll();
            polls += 1;
        }
        engine.remove(ep.id);
        drop(engine);
        UdIface::tell(face);
    }

    pub fn address(ep: &Ep) -> Result<EpAddr> {
        let face = ep.face();
        let mut engine = face.engine();
        let conn = engine.conns.get(ep.id).ok_or(Status::NO_ELEM)?;
        Ok(EpAddr {
            queue_pair: face.queue_pair(),
            id: ep.id,
            psn: conn.tx.oldest(),
        })
    }

    pub fn connect(
        ep: &Ep,
        device: Option<GivenAddress<'_>>,
        addr: GivenAddress<'_>,
    ) -> Result<()> {
        let face = ep.face();
        let device = read_device(device)?;
        let peer = addr.bytes().and_then(|bytes| EpAddr::decode(&bytes));
        let peer = peer.ok_or(Status::INVALID_ADDR)?;
        check_reach(face, &device)?;
        let mut engine = face.engine();
        let conn = engine.conns.get(ep.id).ok_or(Status::NO_ELEM)?;
        if !matches!(conn.state, State::New) {
            ucs_error!("ud_verbs: the endpoint is connected already");
            return Err(Status::ALREADY_EXISTS);
        }
        engine.connect(ep.id, &device, &peer)
    }

    #[inline(always)]
    pub fn am_short(ep: &Ep, id: u8, word: u64, payload: Payload<'_>) -> Result<()> {
        let face = ep.face();
        if WORD + payload.len() > face.limits.run {
            return UdEp::am_short_slowly(ep, id, word, payload);
        }
        let message = Short { id, word, payload };
        // Whatever takes a call is left to other functions: what they need would have to be kept over it.
        if let Some(mut engine) = face.shared.0.try_lock()
            // SAFETY: it is not longer than those of runs.
            && let Some(sent) = unsafe { engine.send_run(ep.id, message) }
        {
            return sent.or_else(|code| UdEp::refused_run(ep, engine, code));
        }
        UdEp::am_short_slowly(ep, id, word, payload)
    }

    /// A message of `send_run` was refused.
    #[cold]
    #[inline(never)]
    fn refused_run(ep: &Ep, mut engine: MutexGuard<'_, Engine>, code: i32) -> Result<()> {
        Err(engine.refused_run(ep.id, code))
    }

    #[inline(never)]
    fn am_short_slowly(ep: &Ep, id: u8, word: u64, payload: Payload<'_>) -> Result<()> {
        let (face, len) = (ep.face(), WORD + payload.len());
        if len > face.limits.short {
            return Err(Status::INVALID_PARAM);
        }
        let mut engine = face.engine();
        if len <= face.limits.run && engine.aim_run(ep.id) {
            let message = Short { id, word, payload };
            // SAFETY: it is not longer than those of runs.
            if let Some(sent) = unsafe { engine.send_run(ep.id, message) } {
                return sent.map_err(|code| engine.refused_run(ep.id, code));
            }
        }
        // SAFETY: a buffer has room for a datagram.
        let fill = |at| unsafe { write_short(at, word, payload) };
        UdEp::send_copy(ep, &mut engine, id, len, fill)
    }

    /// Sends `len` bytes that `fill` writes.
    #[inline(always)]
    fn send_copy(
        ep: &Ep,
        engine: &mut Engine,
        id: u8,
        len: usize,
        fill: impl FnOnce(*mut u8),
    ) -> Result<()> {
        let face = ep.face();
        let mut to = engine.ready(ep.id)?;
        let buffer = to.buffer(&face.copies)?;
        fill(buffer.payload());
        to.send_short(id, Packet::new(buffer, len, None))
    }

    pub fn am_short_iov(ep: &Ep, id: u8, iov: Iov<'_>) -> Result<()> {
        let face = ep.face();
        let total = iov.total()?;
        if iov.entries().len() >= face.limits.sges || total > face.limits.short {
            return Err(Status::INVALID_PARAM);
        }
        let fill = |mut at: *mut u8| {
            for (from, len) in iov.blocks() {
                // SAFETY: the blocks are `total` bytes together, for which there is room; the user's are readable.
                unsafe { core::ptr::copy_nonoverlapping(from, at, len) };
                at = at.wrapping_add(len);
            }
        };
        UdEp::send_copy(ep, &mut face.engine(), id, total, fill)
    }

    #[inline(always)]
    pub fn am_bcopy(ep: &Ep, id: u8, pack: Pack) -> Result<usize> {
        let face = ep.face();
        let buffer = {
            let mut engine = face.engine();
            engine.ready(ep.id)?.buffer(&face.copies)?
        };
        // The user is called: the lock is free.
        // SAFETY: there is room for `max_bcopy` bytes.
        let len = unsafe { pack.pack_into(buffer.payload()) };
        let mut engine = face.engine();
        if len > face.limits.bcopy {
            ucs_error!("am_bcopy: {len} bytes were packed where the limit is smaller");
            engine.sender.give_back(buffer);
            return Err(Status::INVALID_PARAM);
        }
        // It may have failed meanwhile.
        let conn = engine.conns.get_to_send(ep.id).ok_or(Status::NO_ELEM)?;
        if !conn.is_connected() {
            let why = conn.why_not();
            engine.sender.give_back(buffer);
            return Err(why);
        }
        let packet = Packet::new(buffer, len, None);
        engine.send(ep.id, id, packet)?;
        Ok(len)
    }

    pub fn am_zcopy(
        ep: &Ep,
        id: u8,
        header: &[u8],
        iov: Iov<'_>,
        comp: Completion,
    ) -> Result<Posted> {
        let face = ep.face();
        let total = iov.total()?.checked_add(header.len());
        if header.len() > face.limits.short || total.is_none_or(|n| n > face.limits.bcopy) {
            return Err(Status::INVALID_PARAM);
        }
        let mut list = List::new();
        list.push_iov(iov, (face.limits.sges - 1).min(MAX_SGES - 1))?;
        let mut engine = face.engine();
        let mut to = engine.ready(ep.id)?;
        let buffer = to.buffer(&face.copies)?;
        let at = buffer.payload();
        // SAFETY: a buffer has room for a datagram.
        unsafe { core::ptr::copy_nonoverlapping(header.as_ptr(), at, header.len()) };
        let list = Box::from(&*list.slice());
        let operation = Some(Box::new(Operation { list, comp }));
        to.send(id, Packet::new(buffer, header.len(), operation))?;
        Ok(Posted::InProgress)
    }

    pub fn pending_add(ep: &Ep, req: WaitingRequest) -> Result<()> {
        let waits = matches!(ep.face().engine().ready(ep.id), Err(Status::NO_RESOURCE));
        if !waits && ep.pending.is_empty() {
            return Err(Status::BUSY);
        }
        ep.face().pending.add(&ep.pending, req);
        Ok(())
    }

    pub fn flush(ep: &Ep, flags: u32, comp: Completion) -> Result<Posted> {
        let face = ep.face();
        let mut engine = face.engine();
        if flags & UCT_FLUSH_FLAG_CANCEL != 0 {
            ep.pending.suspend();
            let busy = engine.cancel(ep.id) && engine.flush(ep.id, comp);
            return Ok(if busy {
                Posted::InProgress
            } else {
                Posted::Done
            });
        }
        if flags & UCT_FLUSH_FLAG_REMOTE != 0 {
            return Err(Status::UNSUPPORTED);
        }
        let conn = engine.conns.get(ep.id).ok_or(Status::NO_ELEM)?;
        if let State::Failed(status) = conn.state {
            return Err(status);
        }
        if !ep.pending.is_empty() {
            return Err(Status::NO_RESOURCE);
        }
        Ok(match engine.flush(ep.id, comp) {
            true => Posted::InProgress,
            false => Posted::Done,
        })
    }

    /// Sends a packet without a message; the error handler is told when it is not acknowledged.
    pub fn check(ep: &Ep, comp: Completion) -> Result<Posted> {
        let face = ep.face();
        let mut engine = face.engine();
        if engine.flush(ep.id, comp) {
            return Ok(Posted::InProgress);
        }
        let mut to = engine.ready(ep.id)?;
        let buffer = to.buffer(&face.copies)?;
        let list = Box::default();
        let packet = Packet::new(buffer, 0, Some(Box::new(Operation { list, comp })));
        to.send(EMPTY, packet)?;
        engine.flush(ep.id, Completion::NONE);
        Ok(Posted::InProgress)
    }
}

/// How often completions are looked for at most, when an endpoint with the user's memory closes.
const MOST_POLLS: u32 = 100_000;
