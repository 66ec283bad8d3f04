//! The `rc_verbs` endpoint: it checks what the user gives and makes work requests of it.

use super::chain::{NO_PACKER, PACKED};
use super::conn::{Conn, Signal, State};
use super::iface::{COPY_OFFSET, Face, RcIface};
use super::wire::IfaceAddr;
use super::work::{End, WithCopy, Work};
use crate::c::verbs::*;
use crate::c::*;
use crate::ucs::{Result, Status};
use crate::ucs_error;
use crate::uct::api::{Completion, Pack, Posted, Unpack, WaitingRequest, length};
use crate::uct::base::copy::Payload;
use crate::uct::base::iface::EpBox;
use crate::uct::base::iov::Iov;
use crate::uct::base::params::{EpParams, GivenAddress};
use crate::uct::ib::ops::{self, List};
use crate::uct::ib::port::{read_device, read_peer};
use crate::uct::ib::wire::{DeviceAddr, EpAddr, HEADER_LEN, Header};
use crate::uct::internal::EpochGuard;
use std::rc::Rc;

pub struct RcEp {
    pub conn: Rc<Conn>,
    /// The connection, where a message of any length may be packed in a slot of the chain.
    packer: *const Conn,
}

type Ep = EpBox<RcIface>;

/// `Ok` where there is a way to the peer's port.
fn check_reach(face: &Face, device: &DeviceAddr) -> Result<()> {
    face.port
        .check_reach(super::NAME, &face.base.device, device, &face.settings.path)
}

impl RcEp {
    /// An endpoint to the interface with these addresses; without any, one that is to be connected by `connect`.
    pub fn create(face: &Face, params: &EpParams) -> Result<RcEp> {
        let to = read_peer(params, super::NAME, IfaceAddr::decode)?;
        if let Some((device, _)) = &to {
            check_reach(face, device)?;
        }
        let conn = face.new_conn(false)?;
        if let Some((device, interface)) = to
            && let Err(e) = RcIface::request(face, &conn, &device, interface)
        {
            RcIface::forget(face, &conn);
            conn.close(face);
            return Err(e);
        }
        let packer = if face.max_bcopy() <= PACKED {
            Rc::as_ptr(&conn)
        } else {
            NO_PACKER
        };
        Ok(RcEp { conn, packer })
    }

    pub fn closing(ep: &Ep) {
        let busy = ep.conn.under_way() > 0;
        RcIface::unlink(ep.face(), ep.conn.pair.number());
        RcIface::forget(ep.face(), &ep.conn);
        ep.conn.close(ep.face());
        if busy {
            ep.face().clear_queue();
        }
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
        if ep.conn.state() != State::New || face.is_linked(&ep.conn) {
            ucs_error!("rc_verbs: the endpoint is connected already");
            return Err(Status::ALREADY_EXISTS);
        }
        check_reach(face, &device)?;
        face.check_segment(&peer)?;
        face.connect_pair(&ep.conn, &device, &peer).map_err(|e| {
            ucs_error!(
                "rc_verbs: {}: a queue pair cannot be connected: {e}",
                face.base.device
            );
            Status::from(e)
        })
    }

    #[inline(always)]
    pub fn am_short(ep: &Ep, id: u8, header: u64, payload: Payload<'_>) -> Result<()> {
        let (face, len) = (ep.face(), payload.len());
        if HEADER_LEN + size_of::<u64>() + len > face.max_chained {
            return RcEp::am_longer(ep, id, header, payload);
        }
        // SAFETY: there is room.
        unsafe { (ep.conn).send_short::<true>(face, id, header, payload.as_ptr(), len) }
    }

    /// A short message that is too long for a slot of the chain.
    #[inline(never)]
    fn am_longer(ep: &Ep, id: u8, header: u64, payload: Payload<'_>) -> Result<()> {
        /// The message's header and the user's, without a gap.
        const BOTH: usize = HEADER_LEN + size_of::<u64>();
        let face = ep.face();
        if payload.len() > face.max_short - size_of::<u64>() {
            return Err(Status::INVALID_PARAM);
        }
        ep.conn.ready_for_message(face)?;
        let mut start = [0; BOTH];
        let credits = ep.conn.credits.take();
        start[..HEADER_LEN].copy_from_slice(&Header { id, credits }.encode());
        start[HEADER_LEN..].copy_from_slice(&header.to_ne_bytes());
        let mut list = [
            ops::entry(start.as_ptr(), BOTH, 0),
            ops::entry(payload.as_ptr(), payload.len(), 0),
        ];
        let mut request = ops::send(&mut list, IBV_SEND_INLINE);
        // SAFETY: inline data of this frame and the user's payload.
        unsafe { ep.conn.post(face, &mut request, Signal::Sometimes, None) }
    }

    pub fn am_short_iov(ep: &Ep, id: u8, iov: Iov<'_>) -> Result<()> {
        let face = ep.face();
        if iov.entries().len() >= face.caps.send_sges as usize || iov.total()? > face.max_short {
            return Err(Status::INVALID_PARAM);
        }
        ep.conn.ready_for_message(face)?;
        let mut list = List::new();
        let mut start = [0; HEADER_LEN];
        list.push(ops::entry(start.as_ptr(), HEADER_LEN, 0))?;
        for (at, len) in iov.blocks() {
            list.push(ops::entry(at, len, 0))?;
        }
        if list.len() > face.caps.send_sges as usize {
            return Err(Status::INVALID_PARAM);
        }
        let credits = ep.conn.credits.take();
        start = Header { id, credits }.encode();
        list.slice()[0].addr = start.as_ptr() as u64;
        let mut request = ops::send(list.slice(), IBV_SEND_INLINE);
        // SAFETY: inline data of this frame and the user's blocks.
        unsafe { ep.conn.post(face, &mut request, Signal::Sometimes, None) }
    }

    /// The answer to the user.
    #[inline(always)]
    pub fn am_bcopy(ep: &Ep, id: u8, pack: Pack) -> isize {
        let face = ep.face();
        let Some(slot) = face.chain.pack(ep.packer) else {
            return RcEp::am_bcopy_apart(ep, id, pack);
        };
        // SAFETY: there is room for `max_bcopy` bytes.
        let len = unsafe { pack.pack_into(slot.payload()) };
        if !face.chain.packed(ep.packer) || len > face.max_chained - HEADER_LEN {
            return RcEp::send_packed(ep, id, len);
        }
        ep.conn.join_packed(face, id, len);
        len as isize
    }

    /// As `am_bcopy`, of a message that does not join others.
    #[inline(never)]
    fn am_bcopy_apart(ep: &Ep, id: u8, pack: Pack) -> isize {
        let face = ep.face();
        let send = || {
            ep.conn.ready_for_message(face)?;
            let copy = RcIface::copy(face)?;
            // SAFETY: there is room for `max_bcopy` bytes.
            let len = unsafe { pack.pack_into(copy.at().wrapping_add(COPY_OFFSET)) };
            RcEp::send_copy(ep, id, copy, len)
        };
        length(send())
    }

    /// Sends a message that was packed in a slot, where it cannot stay.
    #[cold]
    #[inline(never)]
    fn send_packed(ep: &Ep, id: u8, len: usize) -> isize {
        let face = ep.face();
        let slot = face.chain.take_packed();
        let send = || {
            let copy = RcIface::copy(face)?;
            let to = copy.at().wrapping_add(COPY_OFFSET);
            // What is too long is refused, and not read.
            let count = len.min(face.max_bcopy());
            // SAFETY: both have room for so many bytes.
            unsafe { core::ptr::copy_nonoverlapping(slot.payload(), to, count) };
            RcEp::send_copy(ep, id, copy, len)
        };
        length(send())
    }

    /// Sends what was packed into a copy.
    #[inline(always)]
    fn send_copy(ep: &Ep, id: u8, copy: WithCopy<'_>, len: usize) -> Result<usize> {
        let face = ep.face();
        if len > face.max_chained - HEADER_LEN {
            return RcEp::send_long_copy(ep, id, copy, len);
        }
        let at = copy.at().wrapping_add(COPY_OFFSET);
        // SAFETY: so many were packed; there is room.
        unsafe { ep.conn.send_short::<false>(face, id, 0, at, len) }?;
        Ok(len)
    }

    /// As `send_copy`, of more than a slot of the chain has room for.
    #[inline(never)]
    fn send_long_copy(ep: &Ep, id: u8, copy: WithCopy<'_>, len: usize) -> Result<usize> {
        let face = ep.face();
        if len > face.max_bcopy() {
            ucs_error!("am_bcopy: {len} bytes were packed where the limit is smaller");
            return Err(Status::INVALID_PARAM);
        }
        ep.conn.ready_for_message(face)?;
        let start = copy.at().wrapping_add(COPY_OFFSET - HEADER_LEN);
        let credits = ep.conn.credits.take();
        // SAFETY: inside the copy, before the payload.
        unsafe {
            start
                .cast::<[u8; HEADER_LEN]>()
                .write(Header { id, credits }.encode())
        };
        // SAFETY: nobody else uses it until it is posted.
        let parts = unsafe { face.request.parts() };
        parts.one(ops::entry(start, HEADER_LEN + len, copy.key()));
        let work = Some(copy.work(End::Copied, Completion::NONE));
        // SAFETY: the copy is part of the work.
        unsafe { ep.conn.post(face, parts.send(0), Signal::Sometimes, work) }?;
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
        // SAFETY: nobody else uses it until it is posted.
        let parts = unsafe { face.request.parts() };
        let first = ops::entry(core::ptr::null(), 0, 0);
        let data = parts.blocks(Some(first), iov, face.caps.send_sges as usize - 1)?;
        let total = data.checked_add(header.len());
        if header.len() > face.settings.max_header || total.is_none_or(|n| n > face.max_bcopy()) {
            return Err(Status::INVALID_PARAM);
        }
        ep.conn.ready_for_message(face)?;
        let copy = RcIface::copy(face)?;
        let start = copy.at();
        let credits = ep.conn.credits.take();
        // SAFETY: the copy has room for both headers.
        unsafe {
            start
                .cast::<[u8; HEADER_LEN]>()
                .write(Header { id, credits }.encode());
            let rest = start.add(HEADER_LEN);
            core::ptr::copy_nonoverlapping(header.as_ptr(), rest, header.len());
        }
        parts.set_first(ops::entry(start, HEADER_LEN + header.len(), copy.key()));
        let work = copy.work(End::Copied, comp);
        RcEp::post_user(ep, parts.send(0), comp, Some(work))
    }

    /// Posts a request that reads the user's memory.
    #[inline(always)]
    fn post_user(
        ep: &Ep,
        request: &mut ibv_send_wr,
        comp: Completion,
        work: Option<Work>,
    ) -> Result<Posted> {
        let signal = if comp.is_none() {
            Signal::Sometimes
        } else {
            Signal::Always
        };
        // SAFETY: the user's memory is the device's until the completion is told, or a flush.
        unsafe { ep.conn.post(ep.face(), request, signal, work) }?;
        Ok(Posted::InProgress)
    }

    #[inline(always)]
    pub fn put_short(ep: &Ep, from: Payload<'_>, remote: (u64, u32)) -> Result<()> {
        let (face, len) = (ep.face(), from.len());
        // None of no bytes.
        if len.wrapping_sub(1) >= face.max_chained {
            return RcEp::put_other(ep, from, remote);
        }
        // SAFETY: there is room.
        unsafe { ep.conn.write_short(face, (from.as_ptr(), len), remote) }
    }

    /// A put of no bytes, or of more than a slot of the chain has room for.
    #[inline(never)]
    fn put_other(ep: &Ep, from: Payload<'_>, (remote, rkey): (u64, u32)) -> Result<()> {
        let (face, len) = (ep.face(), from.len());
        if len > face.caps.inline as usize {
            return Err(Status::INVALID_PARAM);
        }
        ep.conn.ready(face)?;
        if len == 0 {
            return Ok(());
        }
        let mut list = [ops::entry(from.as_ptr(), len, 0)];
        let mut request = ops::write(&mut list, remote, rkey, IBV_SEND_INLINE);
        // SAFETY: inline data, the user's.
        unsafe { ep.conn.post(face, &mut request, Signal::Sometimes, None) }
    }

    pub fn put_bcopy(ep: &Ep, pack: Pack, remote: u64, rkey: u32) -> Result<usize> {
        let face = ep.face();
        if !face.chain.is_open(&ep.conn) {
            ep.conn.ready(face)?;
        }
        let copy = RcIface::copy(face)?;
        let at = copy.at();
        // SAFETY: there is room for `max_bcopy` bytes, which is a segment.
        let len = unsafe { pack.pack_into(at) };
        if len > face.settings.segment {
            ucs_error!("put_bcopy: {len} bytes were packed where the limit is smaller");
            return Err(Status::INVALID_PARAM);
        }
        if len == 0 {
            return Ok(0);
        }
        if len <= face.max_chained {
            // SAFETY: so many were packed; there is room.
            unsafe { ep.conn.write_short(face, (at, len), (remote, rkey)) }?;
            return Ok(len);
        }
        ep.conn.ready(face)?;
        // SAFETY: nobody else uses it until it is posted.
        let parts = unsafe { face.request.parts() };
        parts.one(ops::entry(at, len, copy.key()));
        let request = parts.write(remote, rkey, 0);
        let work = Some(copy.work(End::Copied, Completion::NONE));
        // SAFETY: the copy is part of the work.
        unsafe { ep.conn.post(face, request, Signal::Sometimes, work) }?;
        Ok(len)
    }

    /// Posts a request that asks for a completion, of an endpoint that is free: the answer to the user.
    ///
    /// # Safety
    /// As `Conn::post_now`.
    #[inline(always)]
    unsafe fn post_now(
        ep: &Ep,
        (conn, face): (&Conn, &Face),
        request: &mut ibv_send_wr,
        work: Work,
    ) -> Option<ucs_status_t> {
        // SAFETY: by the caller's promise.
        Some(match unsafe { conn.post_now(face, request, work) } {
            Ok(()) => UCS_INPROGRESS,
            Err(code) => RcEp::refused_now(ep, code),
        })
    }

    #[cold]
    #[inline(never)]
    fn refused_now(ep: &Ep, code: i32) -> ucs_status_t {
        ep.conn.refused_now(ep.face(), code)
    }

    /// As `put_zcopy`, where nothing has to be looked at.
    #[inline(always)]
    pub fn put_zcopy_now(
        ep: &Ep,
        block: &uct_iov_t,
        (remote, rkey): (u64, u32),
        comp: Completion,
    ) -> Option<ucs_status_t> {
        let (face, conn) = (ep.face(), &*ep.conn);
        let key = ops::key_of_one(block, face.port.max_message)?;
        if comp.is_none() || !conn.is_free(face) {
            return None;
        }
        let work = face.works.tell_now(comp)?;
        // SAFETY: nobody else uses it until it is posted.
        let parts = unsafe { face.request.parts() };
        parts.one(ops::entry(block.buffer.cast(), block.length, key));
        let request = parts.write(remote, rkey, IBV_SEND_SIGNALED);
        // SAFETY: it is free. The user's memory is the device's until the completion is told, or a flush.
        unsafe { RcEp::post_now(ep, (conn, face), request, work) }
    }

    /// As `get_bcopy`, where nothing has to be looked at.
    #[inline(always)]
    pub fn get_bcopy_now(
        ep: &Ep,
        unpack: Unpack,
        len: usize,
        (remote, rkey): (u64, u32),
        comp: Completion,
    ) -> Option<ucs_status_t> {
        let (face, conn) = (ep.face(), &*ep.conn);
        if len.wrapping_sub(1) >= face.settings.segment || !conn.is_free(face) {
            return None;
        }
        let copy = face.works.copy_now()?;
        // SAFETY: nobody else uses it until it is posted.
        let parts = unsafe { face.request.parts() };
        parts.one(ops::entry(copy.at(), len, copy.key()));
        let request = parts.read(remote, rkey, IBV_SEND_SIGNALED);
        conn.note_next_read();
        // At most a segment.
        let len = len as u32;
        let work = copy.work(End::Bytes { unpack, len }, comp);
        // SAFETY: it is free; the buffer is part of the work.
        unsafe { RcEp::post_now(ep, (conn, face), request, work) }
    }

    /// As `fetch`, of an addition where nothing has to be looked at.
    #[inline(always)]
    pub fn fetch_add_now(
        ep: &Ep,
        value: u64,
        to: *mut u64,
        (remote, rkey): (u64, u32),
        comp: Completion,
    ) -> Option<ucs_status_t> {
        let (face, conn) = (ep.face(), &*ep.conn);
        RcEp::check_atomic(face, remote).ok()?;
        if !conn.is_free(face) {
            return None;
        }
        let copy = face.works.copy_now()?;
        // SAFETY: nobody else uses it until it is posted.
        let parts = unsafe { face.request.parts() };
        parts.one(ops::entry(copy.at(), size_of::<u64>(), copy.key()));
        let request = parts.atomic((value, None), (remote, rkey), IBV_SEND_SIGNALED);
        conn.note_next_read();
        let work = copy.work(End::word(to), comp);
        // SAFETY: it is free; the buffer is part of the work.
        unsafe { RcEp::post_now(ep, (conn, face), request, work) }
    }

    pub fn put_zcopy(
        ep: &Ep,
        iov: Iov<'_>,
        remote: u64,
        rkey: u32,
        comp: Completion,
    ) -> Result<Posted> {
        let face = ep.face();
        // SAFETY: nobody else uses it until it is posted.
        let parts = unsafe { face.request.parts() };
        let total = parts.blocks(None, iov, face.caps.send_sges as usize)?;
        if total > face.port.max_message {
            return Err(Status::INVALID_PARAM);
        }
        ep.conn.ready(face)?;
        if total == 0 {
            return Ok(Posted::Done);
        }
        let work = (!comp.is_none()).then(|| face.works.tell(comp));
        RcEp::post_user(ep, parts.write(remote, rkey, 0), comp, work)
    }

    pub fn get_bcopy(
        ep: &Ep,
        unpack: Unpack,
        len: usize,
        remote: u64,
        rkey: u32,
        comp: Completion,
    ) -> Result<Posted> {
        let (face, conn) = (ep.face(), &*ep.conn);
        if len > face.settings.segment {
            return Err(Status::INVALID_PARAM);
        }
        conn.ready(face)?;
        let copy = RcIface::copy(face)?;
        if len == 0 {
            // SAFETY: no byte is read.
            unsafe { unpack.unpack_from(copy.at(), 0) };
            return Ok(Posted::Done);
        }
        // SAFETY: nobody else uses it until it is posted.
        let parts = unsafe { face.request.parts() };
        parts.one(ops::entry(copy.at(), len, copy.key()));
        let request = parts.read(remote, rkey, 0);
        // At most a segment.
        let len = len as u32;
        let work = Some(copy.work(End::Bytes { unpack, len }, comp));
        // SAFETY: the buffer is part of the work.
        unsafe { conn.post(face, request, Signal::Always, work) }?;
        conn.note_read();
        Ok(Posted::InProgress)
    }

    pub fn get_zcopy(
        ep: &Ep,
        iov: Iov<'_>,
        remote: u64,
        rkey: u32,
        comp: Completion,
    ) -> Result<Posted> {
        let face = ep.face();
        // SAFETY: nobody else uses it until it is posted.
        let parts = unsafe { face.request.parts() };
        let total = parts.blocks(None, iov, face.caps.send_sges as usize)?;
        if total > face.max_get() {
            return Err(Status::INVALID_PARAM);
        }
        ep.conn.ready(face)?;
        if total == 0 {
            return Ok(Posted::Done);
        }
        let work = (!comp.is_none()).then(|| face.works.tell(comp));
        let posted = RcEp::post_user(ep, parts.read(remote, rkey, 0), comp, work)?;
        ep.conn.note_read();
        Ok(posted)
    }

    /// Reads, and behind that the owner's revocation epoch: a device answers the reads of a queue pair in order.
    pub fn get_guarded(
        ep: &Ep,
        iov: Iov<'_>,
        remote: u64,
        rkey: u32,
        guard: EpochGuard,
        comp: Completion,
    ) -> Result<Posted> {
        let face = ep.face();
        ep.conn.ready_for_two(face)?;
        let copy = RcIface::copy(face)?;
        if RcEp::get_zcopy(ep, iov, remote, rkey, Completion::NONE)? == Posted::Done {
            return Ok(Posted::Done);
        }
        // SAFETY: nobody else uses it until it is posted.
        let parts = unsafe { face.request.parts() };
        parts.one(ops::entry(copy.at(), size_of::<u64>(), copy.key()));
        let request = parts.read(guard.at, guard.rkey as u32, 0);
        let value = guard.value;
        let work = Some(copy.work(End::Epoch { value }, comp));
        // SAFETY: the buffer is part of the work.
        if let Err(e) = unsafe { ep.conn.post(face, request, Signal::Always, work) } {
            // The device may be writing to the user's memory.
            RcIface::fail(face, &ep.conn, e);
            return Err(e);
        }
        ep.conn.note_read();
        Ok(Posted::InProgress)
    }

    /// `Ok` where the device has atomics and the word is aligned.
    #[inline(always)]
    fn check_atomic(face: &Face, remote: u64) -> Result<()> {
        if !face.domain.has_atomics() {
            return Err(Status::UNSUPPORTED);
        }
        if !remote.is_multiple_of(size_of::<u64>() as u64) {
            return Err(Status::INVALID_ADDR);
        }
        Ok(())
    }

    pub fn add(ep: &Ep, value: u64, remote: u64, rkey: u32) -> Result<()> {
        let face = ep.face();
        RcEp::check_atomic(face, remote)?;
        ep.conn.ready(face)?;
        let (scrap, key) = RcIface::scrap(face)?;
        // SAFETY: nobody else uses it until it is posted.
        let parts = unsafe { face.request.parts() };
        parts.one(ops::entry(scrap, size_of::<u64>(), key));
        let request = parts.atomic((value, None), (remote, rkey), 0);
        // SAFETY: the buffer lives as long as the interface, and nobody reads it.
        unsafe { ep.conn.post(face, request, Signal::Sometimes, None) }?;
        ep.conn.note_read();
        Ok(())
    }

    /// An addition, or with `swap` a swap of what equals `operand`; `to` gets the word that was there.
    pub fn fetch(
        ep: &Ep,
        operand: u64,
        swap: Option<u64>,
        to: *mut u64,
        (remote, rkey): (u64, u32),
        comp: Completion,
    ) -> Result<Posted> {
        let (face, conn) = (ep.face(), &*ep.conn);
        RcEp::check_atomic(face, remote)?;
        conn.ready(face)?;
        let copy = RcIface::copy(face)?;
        // SAFETY: nobody else uses it until it is posted.
        let parts = unsafe { face.request.parts() };
        parts.one(ops::entry(copy.at(), size_of::<u64>(), copy.key()));
        let request = parts.atomic((operand, swap), (remote, rkey), 0);
        let work = Some(copy.work(End::word(to), comp));
        // SAFETY: the buffer is part of the work.
        unsafe { conn.post(face, request, Signal::Always, work) }?;
        conn.note_read();
        Ok(Posted::InProgress)
    }

    pub fn pending_add(ep: &Ep, req: WaitingRequest) -> Result<()> {
        let face = ep.face();
        let waits =
            face.works.is_short() || ep.conn.ready_for_message(face) == Err(Status::NO_RESOURCE);
        if !waits && ep.conn.pending.is_empty() {
            return Err(Status::BUSY);
        }
        face.pending.add(&ep.conn.pending, req);
        Ok(())
    }

    pub fn flush(ep: &Ep, flags: u32, comp: Completion) -> Result<Posted> {
        let (face, conn) = (ep.face(), &ep.conn);
        let busy = if flags & UCT_FLUSH_FLAG_CANCEL != 0 {
            conn.cancel(face, comp)?
        } else if flags & UCT_FLUSH_FLAG_REMOTE != 0 {
            return Err(Status::UNSUPPORTED);
        } else {
            if let State::Failed(status) = conn.state() {
                return Err(status);
            }
            if !conn.pending.is_empty() {
                return Err(Status::NO_RESOURCE);
            }
            conn.flush(face, comp)?
        };
        Ok(if busy {
            Posted::InProgress
        } else {
            Posted::Done
        })
    }

    /// Asks the peer's adapter for an acknowledgement; the error handler is told when there is none.
    pub fn check(ep: &Ep, comp: Completion) -> Result<Posted> {
        ep.conn.probe(ep.face(), comp)?;
        Ok(Posted::InProgress)
    }
}
