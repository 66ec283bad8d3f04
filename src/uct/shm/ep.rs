//! The endpoint of posix and sysv: checks, then a message into the peer's ring, or an access to
//! the peer's memory.

use super::iface::{MAX_SHORT_IOV, ShmIface};
use super::outbox::Peer;
use super::ring::{Full, Packed, Sender};
use super::rkey;
use super::wire::{KEY_LEN, SegmentKey};
use crate::c::*;
use crate::ucs::status::code_of;
use crate::ucs::{Result, Status};
use crate::uct::api::{Pack, Posted, Remote, Unpack, WaitingRequest};
use crate::uct::base::copy::{Payload, SMALL, copy, copy_small};
use crate::uct::base::iface::{EpBox, IfaceBox};
use crate::uct::base::iov::Iov;
use crate::uct::base::node;
use crate::uct::base::params::EpParams;
use crate::uct::base::pending::PendingGroup;
use crate::uct::internal::InternalIface;
use crate::{ucs_diag, ucs_error};
use core::cell::Cell;
use core::ffi::c_int;
use core::ptr::NonNull;
use std::rc::Rc;

pub struct ShmEp {
    /// The sender of `peer`'s lane; before there is one, a sender that is always full.
    sender: Cell<NonNull<Sender>>,
    peer: Rc<Peer>,
    pub pending: Rc<PendingGroup>,
    /// The longest short message as every user knows it, and as UCP does.
    max_short: usize,
    longest_short: usize,
    /// Its number among the endpoints of its interface.
    pub serial: Cell<u64>,
}

type Ep = EpBox<ShmIface>;
const AM_HEADER: usize = size_of::<u64>();

impl ShmEp {
    /// `INVALID_PARAM` without an interface address, `INVALID_ADDR` for one that is damaged,
    /// `UNREACHABLE` when the peer's memory cannot be attached.
    pub fn create(face: &IfaceBox<ShmIface>, params: &EpParams) -> Result<ShmEp> {
        let device = params.device.map(|device| device.bytes());
        let key = params.iface.and_then(|iface| iface.bytes::<KEY_LEN>());
        let (Some(key), None | Some(Some(_))) = (key, device) else {
            ucs_error!("shared memory endpoint: an interface address is missing or too short");
            return Err(Status::INVALID_PARAM);
        };
        let key = SegmentKey::decode(&key)?;
        if !device.flatten().is_none_or(node::is_ours) || !face.serves(key) {
            ucs_diag!("shared memory endpoint: the address is of another host or namespace");
            return Err(Status::UNREACHABLE);
        }
        let peer = face.peer(key)?;
        let (inline, segment) = peer.longest_by_any_lane();
        if inline < face.longest_short || segment < face.max_bcopy {
            ucs_error!(
                "process {} has smaller FIFO_ELEM_SIZE or SEG_SIZE than this one: use the same on \
                 both sides",
                peer.pid()
            );
            return Err(Status::UNREACHABLE);
        }
        if face.base.params.err_handler.is_some() {
            peer.watch(&face.alarm)?;
        }
        Ok(ShmEp {
            sender: Cell::new(NonNull::from(peer.sender_or_nowhere())),
            peer,
            pending: PendingGroup::new(),
            max_short: face.max_short,
            longest_short: face.longest_short,
            serial: Cell::new(0),
        })
    }

    #[inline(always)]
    pub fn am_short(ep: &Ep, id: u8, header: u64, payload: Payload<'_>) -> Result<()> {
        if payload.len() > ep.max_short - AM_HEADER {
            return Err(Status::INVALID_PARAM);
        }
        ShmEp::send_short(ep, id, header, payload)
    }

    /// As `am_short`, for at most `longest_short` bytes with the header, as the caller has checked.
    #[inline(always)]
    fn send_short(ep: &Ep, id: u8, header: u64, payload: Payload<'_>) -> Result<()> {
        ShmEp::send_inline(ep, id, payload.len() + AM_HEADER, |at| {
            // SAFETY: a slot has room for `longest_short` bytes, aligned to 8.
            unsafe { at.cast::<u64>().write(header) };
            // SAFETY: room as the caller has checked; the source is the payload.
            unsafe { copy(payload.as_ptr(), at.add(AM_HEADER), payload.len()) };
        })
    }

    /// As `send_short`, with a check of the length.
    #[inline(never)]
    fn send_short_looking(ep: &Ep, id: u8, header: u64, payload: Payload<'_>) -> ucs_status_t {
        if payload.len() > ep.longest_short - AM_HEADER {
            return UCS_ERR_INVALID_PARAM;
        }
        let sent = ShmEp::send_short(ep, id, header, payload);
        ep.sender.set(NonNull::from(ep.peer.sender_or_nowhere()));
        code_of(&sent)
    }

    /// Rings the peer's doorbell, as it asked for.
    #[cold]
    #[inline(never)]
    fn tell(ep: &Ep) -> ucs_status_t {
        if let Some(sender) = ep.peer.sender() {
            ep.peer.ring_bell(sender);
        }
        UCS_OK
    }

    pub fn am_short_iov(ep: &Ep, id: u8, iov: Iov<'_>) -> Result<()> {
        if iov.entries().len() > MAX_SHORT_IOV {
            return Err(Status::INVALID_PARAM);
        }
        let total = iov.total()?;
        if total > ep.max_short {
            return Err(Status::INVALID_PARAM);
        }
        ShmEp::send_inline(ep, id, total, |at| {
            // SAFETY: the total fits into a slot.
            unsafe { iov.gather(at) };
        })
    }

    #[inline(always)]
    fn send_inline(ep: &Ep, id: u8, len: usize, fill: impl FnOnce(*mut u8)) -> Result<()> {
        let Some(sender) = ep.peer.sender() else {
            return ShmEp::no_room(ep);
        };
        match sender.send_inline(id, len, fill) {
            Ok(()) => {
                ShmEp::sent(ep, sender);
                Ok(())
            }
            Err(Full) => ShmEp::no_room(ep),
        }
    }

    #[inline(always)]
    pub fn am_bcopy(ep: &Ep, id: u8, pack: Pack) -> Result<usize> {
        let Some(sender) = ep.peer.sender() else {
            return ShmEp::no_room(ep).map(|()| 0);
        };
        // SAFETY: the place has room for the longest message of the lane: `longest_piece` told UCP, and ours, which other users
        // know, is not longer, as `create` has checked.
        match sender.send_packed(id, |at| unsafe { pack.pack_into(at) }) {
            Ok(Packed::Sent(len)) => {
                ShmEp::sent(ep, sender);
                Ok(len)
            }
            Ok(Packed::TooLong(len)) => {
                ucs_error!("am_bcopy: {len} bytes were packed where the limit is smaller");
                Err(Status::INVALID_PARAM)
            }
            Err(Full) => ShmEp::no_room(ep).map(|()| 0),
        }
    }

    #[inline]
    fn sent(ep: &Ep, sender: &Sender) {
        if sender.must_tell() {
            ep.peer.ring_bell(sender);
        }
    }

    /// Why a message could not be sent. `NO_RESOURCE` when it is worth another try.
    #[cold]
    fn no_room(ep: &Ep) -> Result<()> {
        if let Some(status) = ep.peer.failure() {
            return Err(status);
        }
        if ep.peer.is_closed() {
            ep.peer.fail(Status::CONNECTION_RESET);
            ep.face().alarm.raise();
            return Err(Status::CONNECTION_RESET);
        }
        if ep.peer.note_refusal() {
            ep.peer.mark_ended();
            ep.peer.fail(Status::ENDPOINT_TIMEOUT);
            ep.face().alarm.raise();
            return Err(Status::ENDPOINT_TIMEOUT);
        }
        if ep.peer.sender().is_none() {
            ep.peer.claim()?;
        }
        Err(Status::NO_RESOURCE)
    }

    /// `Ok` while the endpoint may be used.
    #[inline]
    fn usable(ep: &Ep) -> Result<()> {
        if ep.is_failed() {
            return Err(ShmEp::failure_of(ep));
        }
        Ok(())
    }

    #[cold]
    fn failure_of(ep: &Ep) -> Status {
        ep.peer.failure().unwrap_or(Status::ENDPOINT_TIMEOUT)
    }

    #[inline]
    pub fn put_short(ep: &Ep, from: Payload<'_>, remote: Remote) -> Result<()> {
        ShmEp::usable(ep)?;
        let at = rkey::locate(remote, from.len())?;
        // SAFETY: mapped for so many bytes as located; both may be the same memory of this process.
        unsafe { copy(from.as_ptr(), at, from.len()) };
        Ok(())
    }

    #[inline]
    pub fn put_bcopy(ep: &Ep, pack: Pack, remote: Remote) -> Result<usize> {
        ShmEp::usable(ep)?;
        let at = rkey::locate(remote, 0)?;
        // SAFETY: the user packs no more than the memory it put aside; checked right after.
        let len = unsafe { pack.pack_into(at) };
        rkey::locate(remote, len)?;
        Ok(len)
    }

    #[inline]
    pub fn get_bcopy(ep: &Ep, unpack: Unpack, len: usize, remote: Remote) -> Result<Posted> {
        ShmEp::usable(ep)?;
        let at = rkey::locate(remote, len)?;
        // SAFETY: mapped for `len` bytes as located.
        unsafe { unpack.unpack_from(at, len) };
        Ok(Posted::Done)
    }

    /// The word at `remote`.
    #[inline]
    pub fn word<W>(ep: &Ep, remote: Remote) -> Result<*mut W> {
        ShmEp::usable(ep)?;
        rkey::locate_word(remote)
    }

    /// Whether a send would find room, or an error, at once.
    fn can_try(ep: &Ep) -> bool {
        ep.peer.failure().is_some() || ep.peer.sender().is_some_and(Sender::has_room)
    }

    pub fn pending_add(ep: &Ep, req: WaitingRequest) -> Result<()> {
        if ep.pending.is_empty() && ShmEp::can_try(ep) {
            return Err(Status::BUSY);
        }
        ep.face().wait_for_room(&ep.pending, req);
        Ok(())
    }

    /// Everything posted is in the peer's memory already, except pending requests. If the process has ended, nobody
    /// will read it: an error, which progress also reports to the error handler.
    pub fn flush(ep: &Ep, flags: u32) -> Result<Posted> {
        let cancel = flags & UCT_FLUSH_FLAG_CANCEL != 0;
        if !cancel {
            ShmEp::usable(ep)?;
            if ep.peer.has_ended() {
                ep.face().alarm.raise();
                return Err(Status::ENDPOINT_TIMEOUT);
            }
            if !ep.pending.is_empty() {
                return Err(Status::NO_RESOURCE);
            }
        }
        crate::ucs::sync::fence(crate::ucs::sync::Ordering::SeqCst);
        Ok(Posted::Done)
    }

    /// Looks whether the peer lives; the error handler is called from progress.
    pub fn check(ep: &Ep) -> Result<Posted> {
        ShmEp::usable(ep)?;
        if !ep.peer.is_alive() {
            ep.peer.mark_ended();
            ep.face().alarm.raise();
        } else if ep.peer.is_closed() {
            ep.peer.fail(Status::CONNECTION_RESET);
            ep.face().alarm.raise();
        }
        Ok(Posted::Done)
    }

    /// Why the peer cannot be reached any more.
    pub fn peer_failure(&self) -> Option<Status> {
        self.peer
            .failure()
            .or_else(|| self.peer.has_ended().then_some(Status::ENDPOINT_TIMEOUT))
    }

    /// All sends fail from now on. With an error handler, pending requests wait for the user's purge; without one they
    /// are called, so that their sends return the error.
    pub fn end_sends(&self, status: Status, has_err_handler: bool) {
        self.peer.fail(status);
        if has_err_handler {
            self.pending.suspend();
        }
    }

    pub fn close(&self) {
        self.pending.close();
    }
}

impl InternalIface for ShmIface {
    const KEEPS_IN_PLACE: bool = true;

    /// A few bytes are sent without further tests if there is known room, as there mostly is.
    #[inline(always)]
    fn am_short_inside(ep: &Ep, id: u8, header: u64, payload: Payload<'_>) -> ucs_status_t {
        let len = payload.len();
        debug_assert!(len <= ep.longest_short - AM_HEADER);
        // SAFETY: the peer's, which the endpoint keeps.
        let sender = unsafe { ep.sender.get().as_ref() };
        if len > SMALL || !sender.is_plain() {
            return ShmEp::send_short_looking(ep, id, header, payload);
        }
        let asked = sender.send_plain(id, len + AM_HEADER, |at| {
            // SAFETY: a slot has room for the header, aligned to 8, and `SMALL` bytes.
            unsafe {
                at.cast::<u64>().write(header);
                copy_small(payload.as_ptr(), at.add(AM_HEADER), len);
            }
        });
        if asked {
            return ShmEp::tell(ep);
        }
        UCS_OK
    }

    fn longest_short(face: &IfaceBox<Self>) -> Option<usize> {
        Some(face.longest_short)
    }

    fn longest_piece(ep: &EpBox<Self>) -> Option<usize> {
        ep.peer.sender().map(Sender::longest)
    }

    fn has_message(face: &IfaceBox<Self>) -> Option<bool> {
        face.inbox.has_message()
    }

    fn event_came(face: &IfaceBox<Self>) {
        if let Ok(event) = face.inbox.wake().event() {
            event.clear();
        }
    }

    fn arm_watched(face: &IfaceBox<Self>, events: c_int) -> Result<()> {
        face.arm_cleared(events)
    }

    fn keep(face: &IfaceBox<Self>, address: usize, len: usize) -> bool {
        face.inbox.keep(address, len)
    }

    fn release(face: &IfaceBox<Self>, address: usize) {
        face.inbox.release(address);
    }
}
