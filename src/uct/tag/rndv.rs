//! Rendezvous: an offer of data, and how the matching receiver fetches them.
//!
//! The sender's memory is reached within the same interface by copying, in a process that the
//! kernel lets us at by reading it there, through its packed key where that maps it, and else in
//! fragments that the sender is asked for. A sender may withdraw an offer at any time and use its memory anew,
//! so whoever reads it looks afterwards whether the offer still stands: the kernel reads the word
//! that says so, or the sender is asked.

use super::blocks::Blocks;
use super::jobs::{Job, Later};
use super::recv::{FETCHING, Receive};
use super::wire::{Claim, Offer, REACH};
use super::{Engine, wire};
use crate::c::*;
use crate::sys::vm_rw::{self, CopyDirection, range};
use crate::ucs::{Result, Status};
use crate::ucs_diag;
use crate::uct::api::{Completion, PackedKey};
use crate::uct::base::iface::base_of;
use crate::uct::base::iov::Iov;
use crate::uct::base::md::{MdHandle, RkeyHandle};
use crate::uct::base::node;
use crate::uct::cma::{peer, wire as reach};
use crate::{ucs_debug, ucs_error};
use core::cell::Cell;
use core::ffi::c_void;
use core::sync::atomic::{AtomicU64, Ordering, fence};
use std::rc::Rc;

/// Processes that are remembered as reachable or not.
const MAX_REACHED: usize = 1024;
/// Buffers handed to the kernel at a time; no list is longer.
const KERNEL_BLOCKS: usize = 1024;

/// An offer of ours.
pub struct Offered {
    /// Its key as long as it stands: peers read this word through the kernel.
    live: AtomicU64,
    pub ep: uct_ep_h,
    pub blocks: Blocks,
    pub total: usize,
    comp: Completion,
    /// Which receive of the peer wants the data in fragments, and from where on.
    pub wanted: Cell<Option<(u64, usize)>>,
}

/// A matched rendezvous whose data are under way.
pub struct Fetching {
    pub receive: Receive,
    /// The offer as it came.
    pub body: Vec<u8>,
    pub offer: u64,
    pub tag: u64,
    total: usize,
    pub got: usize,
    pub back: uct_ep_h,
    /// The data are here; the sender is asked whether they are good.
    pub is_taken: bool,
}

enum Fetched {
    Done,
    Withdrawn,
    /// Copied out of mapped memory; the sender is to confirm.
    Taken,
    InPieces,
}

impl Engine {
    /// Offers data to the peer of `ep`; the answer names the operation.
    pub(super) fn offer(
        &self,
        ep: uct_ep_h,
        tag: u64,
        header: &[u8],
        iov: Iov<'_>,
        comp: Completion,
    ) -> Result<*mut c_void> {
        let total = iov.total()?;
        let blocks = Blocks::of(iov);
        let Blocks::One(at, _) = blocks else {
            return Err(Status::INVALID_PARAM);
        };
        if header.len() > self.limits.max_header() {
            return Err(Status::INVALID_PARAM);
        }
        let key = self.keys.next();
        let offered = Rc::new(Offered {
            live: AtomicU64::new(key),
            ep,
            blocks,
            total,
            comp,
            wanted: Cell::new(None),
        });
        let rkey = iov.entries().first().and_then(|e| self.pack_key(e.memh));
        let offer = Offer {
            key,
            tag,
            engine: self.id,
            address: at as u64,
            len: total as u64,
            live: offered.live.as_ptr() as u64,
            reach: &self.own_reach(),
            header,
            rkey: rkey.as_deref().unwrap_or_default(),
            from: self.own_addresses(),
        };
        let body = offer.encode().ok_or(Status::INVALID_PARAM)?;
        if body.len() > self.limits.bcopy {
            return Err(Status::INVALID_PARAM);
        }
        // It can be matched, and even over, before the call returns.
        self.offers.borrow_mut().insert(key, offered);
        let sent = self.send(ep, wire::OFFER, |dest| {
            // SAFETY: there is room, as just checked.
            unsafe { core::ptr::copy_nonoverlapping(body.as_ptr(), dest, body.len()) };
            body.len()
        });
        if let Err(e) = sent {
            self.close_offer(key);
            return Err(e);
        }
        Ok(key as *mut c_void)
    }

    fn md(&self) -> Option<&MdHandle> {
        // SAFETY: a memory domain outlives its interfaces (C contract of uct_md_close).
        unsafe { MdHandle::from_c(self.base().md()) }
    }

    /// The packed key of a buffer, if it has one.
    fn pack_key(&self, memh: uct_mem_h) -> Option<PackedKey> {
        let md = self.md()?;
        if memh.is_null() {
            return None;
        }
        // SAFETY: the user's live handle of this domain.
        unsafe { md.md.mkey_pack(memh) }.ok()
    }

    /// How other processes may reach this one's memory; zeros where they may not.
    fn own_reach(&self) -> [u8; REACH] {
        let opened = || peer::open().inspect_err(|e| ucs_diag!("tag offload: {e}"));
        let own = self.own_reach.get_or_init(|| opened().ok());
        own.as_ref().map_or([0; REACH], |m| reach::encode(m.name))
    }

    /// Ends an offer: its memory is the user's again. `None` when there is none of this key.
    pub(super) fn close_offer(&self, key: u64) -> Option<Completion> {
        let offer = self.offers.borrow_mut().remove(&key)?;
        offer.live.store(0, Ordering::Release);
        // Pairs with the kernel's copies in `read_remote`: who sees what is written after this also sees
        // the zero.
        fence(Ordering::SeqCst);
        Some(offer.comp)
    }

    /// The user takes an offer back.
    pub(super) fn withdraw(&self, key: u64) -> Result<()> {
        let offer = self.offers.borrow().get(&key).cloned();
        let Some(offer) = offer else {
            ucs_error!("uct_ep_tag_rndv_cancel: the operation is not under way");
            return Err(Status::INVALID_PARAM);
        };
        self.close_offer(key);
        if let Some((receive, _)) = offer.wanted.get() {
            self.say_number(offer.ep, wire::GONE, receive);
        }
        Ok(())
    }

    /// Somebody offers data. `None` when the message is malformed.
    pub(super) fn offered(&self, body: Vec<u8>) -> Option<()> {
        let offer = Offer::decode(&body)?;
        let len = usize::try_from(offer.len).ok()?;
        if offer.engine == self.id && !self.offers.borrow().contains_key(&offer.key) {
            return Some(());
        }
        let tag = offer.tag;
        let matched = self
            .posted
            .borrow()
            .peek(tag)
            .map(|(id, r)| (id, r.capacity));
        let Some((id, capacity)) = matched else {
            self.unexpected_offer(&offer, len);
            return Some(());
        };
        let back = match self.back(&offer.from) {
            Ok(back) => back,
            Err(e) => {
                ucs_error!("tag matching: no answer can be sent to who offers data: {e}");
                let receive = self.posted.borrow_mut().remove(id)?;
                self.end_matched(receive.ctx, tag, 0, 0, Err(e));
                return Some(());
            }
        };
        let result = if len > capacity {
            Err(Status::MESSAGE_TRUNCATED)
        } else {
            match self.fetch(&offer, len, id) {
                Fetched::Withdrawn => return Some(()),
                Fetched::Done => Ok(()),
                way => {
                    let receive = self.posted.borrow_mut().remove(id)?;
                    let (offer, is_taken) = (offer.key, matches!(way, Fetched::Taken));
                    let key = self.keys.next();
                    self.mark(receive.ctx, FETCHING, key);
                    let fetching = Fetching {
                        receive,
                        body,
                        offer,
                        tag,
                        total: len,
                        got: 0,
                        back,
                        is_taken,
                    };
                    self.fetching.borrow_mut().insert(key, fetching);
                    let id = if is_taken { wire::TAKEN } else { wire::WANT };
                    self.claim(id, offer, key, back);
                    return Some(());
                }
            }
        };
        let receive = self.posted.borrow_mut().remove(id)?;
        if offer.engine == self.id {
            self.offer_over_later(offer.key);
        } else {
            self.say_number(back, wire::OVER, offer.key);
        }
        self.end_matched(receive.ctx, tag, 0, len, result);
        Some(())
    }

    fn unexpected_offer(&self, offer: &Offer<'_>, len: usize) {
        // Keys of some domains have no bytes: then the place of the key is one all the same.
        let no_bytes = self
            .md()
            .is_some_and(|m| m.component.component.key_len() == 0);
        let rkey = (no_bytes || !offer.rkey.is_empty()).then_some(offer.rkey);
        self.unexpected_rndv(offer.tag, offer.header, offer.address, len, rkey);
    }

    /// Fetches the data of an offer for the posted receive `id`, at once if there is a way.
    fn fetch(&self, offer: &Offer<'_>, len: usize, id: crate::ucs::tag_match::EntryId) -> Fetched {
        let posted = self.posted.borrow();
        let Some((_, receive)) = posted.peek(offer.tag).filter(|(i, _)| *i == id) else {
            return Fetched::InPieces;
        };
        if len == 0 {
            return Fetched::Done;
        }
        if offer.engine == self.id {
            let Some(own) = self.offers.borrow().get(&offer.key).cloned() else {
                return Fetched::Withdrawn;
            };
            for (at, n) in own.blocks.range(0, len) {
                // SAFETY: both are buffers of this user, alive until completion.
                unsafe { receive.blocks.write(0, at, n) };
            }
            return Fetched::Done;
        }
        // Over a network, what a peer says of this host is a claim that nobody confirms.
        if !self.within_host() {
            return Fetched::InPieces;
        }
        if let Some(pid) = self.reachable(offer.reach) {
            match read_remote(pid, offer, &receive.blocks, len) {
                Ok(true) => return Fetched::Done,
                Ok(false) => return Fetched::Withdrawn,
                Err(e) => ucs_debug!("tag matching: memory of process {pid} cannot be read: {e}"),
            }
        }
        if self.read_mapped(offer, &receive.blocks, len) {
            return Fetched::Taken;
        }
        Fetched::InPieces
    }

    /// The process that a peer says it is, if the kernel lets us at its memory.
    fn reachable(&self, claim: &[u8; REACH]) -> Option<u32> {
        let known = self.reached.borrow().get(claim).copied();
        known.unwrap_or_else(|| {
            let pid = reach::decode(claim).and_then(|name| peer::reach(name).ok());
            let mut reached = self.reached.borrow_mut();
            if reached.len() >= MAX_REACHED {
                reached.clear();
            }
            reached.insert(*claim, pid);
            pid
        })
    }

    /// Whether the interface's peers are of this host by the kernel's word.
    fn within_host(&self) -> bool {
        // SAFETY: an open interface, which the engine goes with.
        unsafe { base_of(self.face) }.device == node::DEVICE
    }

    /// Copies out of the sender's memory where its key maps it here.
    fn read_mapped(&self, offer: &Offer<'_>, blocks: &Blocks, len: usize) -> bool {
        let Some(md) = self.md() else { return false };
        let component = md.component.component;
        if offer.rkey.is_empty() || component.flags() & UCT_COMPONENT_FLAG_RKEY_PTR as u64 == 0 {
            return false;
        }
        let Ok(key) = RkeyHandle::unpack(component, offer.rkey) else {
            return false;
        };
        let last = offer.address.checked_add(len as u64 - 1);
        let ends = last.map(|last| [offer.address, last].map(|at| key.pointer(at)));
        // One mapping has both ends at their distance, and what is between.
        match ends {
            Some([Ok(first), Ok(last)])
                if (last as usize).wrapping_sub(first as usize) == len - 1 =>
            {
                // SAFETY: mapped from first to last, as just found; the receiver's buffers are alive.
                unsafe { blocks.write(0, first.cast(), len) };
                true
            }
            _ => false,
        }
    }

    /// Tells the sender what becomes of its offer.
    pub(super) fn claim(&self, id: u8, offer: u64, receive: u64, back: uct_ep_h) {
        let claim = Claim {
            offer,
            receive,
            from: self.own_addresses(),
        };
        match claim.encode() {
            Some(bytes) => self.send_control(back, id, bytes),
            None => ucs_error!("tag matching: the interface's addresses are too long"),
        }
    }

    /// A receiver wants an offer's data, or has taken them. `None` when that cannot be.
    pub(super) fn claimed(&self, id: u8, claim: &Claim<'_>) -> Option<()> {
        let offer = self.offers.borrow().get(&claim.offer).cloned();
        let Some(offer) = offer else {
            if claim.receive != 0 {
                self.send_claim(wire::GONE, claim);
            }
            return Some(());
        };
        if id == wire::TAKEN {
            self.send_claim(wire::GOOD, claim);
            self.offer_over(claim.offer);
            return Some(());
        }
        if claim.receive == 0 {
            offer.wanted.set(None);
            return Some(());
        }
        if offer.wanted.replace(Some((claim.receive, 0))).is_none() {
            self.add_job(offer.ep, Job::Data(claim.offer));
        }
        Some(())
    }

    fn send_claim(&self, id: u8, claim: &Claim<'_>) {
        match self.back(&claim.from) {
            Ok(back) => self.say_number(back, id, claim.receive),
            Err(e) => ucs_error!("tag matching: no answer can be sent to who wants data: {e}"),
        }
    }

    /// The receiver has the data.
    pub(super) fn offer_over(&self, key: u64) {
        if let Some(comp) = self.close_offer(key) {
            comp.complete(Ok(()));
        }
    }

    fn offer_over_later(&self, key: u64) {
        let ep = self.offers.borrow().get(&key).map(|o| o.ep);
        if let (Some(ep), Some(comp)) = (ep, self.close_offer(key)) {
            self.add_later(Later::Complete(ep, comp, Ok(())));
        }
    }

    /// A fragment of what we want. `None` when it cannot be; what we no longer want is dropped.
    ///
    /// # Safety
    /// `data` must be readable for `len` bytes.
    pub(super) unsafe fn on_fragment(
        &self,
        key: u64,
        offset: u64,
        data: *const u8,
        len: usize,
    ) -> Option<()> {
        let Some(mut f) = self.fetching.borrow_mut().remove(&key) else {
            return Some(());
        };
        if f.is_taken || offset != f.got as u64 || len == 0 || len > f.total - f.got {
            self.fetching.borrow_mut().insert(key, f);
            return None;
        }
        // SAFETY: by the caller's promise; the user's buffers, alive until completion.
        unsafe { f.receive.blocks.write(f.got, data, len) };
        let first = f.got == 0;
        f.got += len;
        let ctx = f.receive.ctx;
        if first && !self.consume(ctx) {
            // Taken back within the callback: the offer is anybody's again.
            self.claim(wire::WANT, f.offer, 0, f.back);
            self.add_later(Later::OfferAgain(f.body));
            return Some(());
        }
        if f.got < f.total {
            self.mark(ctx, FETCHING, key);
            self.fetching.borrow_mut().insert(key, f);
            return Some(());
        }
        self.say_number(f.back, wire::OVER, f.offer);
        self.finish(ctx, f.tag, 0, f.total, Ok(()));
        Some(())
    }

    /// The data we took were good.
    pub(super) fn offer_good(&self, key: u64) {
        let taken = self.fetching.borrow().get(&key).is_some_and(|f| f.is_taken);
        if !taken {
            return;
        }
        let found = self.fetching.borrow_mut().remove(&key);
        if let Some(f) = found {
            self.end_matched(f.receive.ctx, f.tag, 0, f.total, Ok(()));
        }
    }

    /// The sender took back what we were to get. A receive that the user does not know to be matched waits
    /// for the next message; one with a part of the data ends.
    pub(super) fn offer_gone(&self, key: u64) {
        let Some(f) = self.fetching.borrow_mut().remove(&key) else {
            return;
        };
        if f.got == 0 {
            self.queue(f.receive);
        } else {
            self.finish(f.receive.ctx, f.tag, 0, f.got, Err(Status::CANCELED));
        }
    }
}

/// Lets the kernel copy an offer's data; whether the offer still stood afterwards.
fn read_remote(pid: u32, offer: &Offer<'_>, blocks: &Blocks, len: usize) -> std::io::Result<bool> {
    let mut done = 0;
    while done < len {
        let local: Vec<libc::iovec> = blocks
            .range(done, len - done)
            .take(KERNEL_BLOCKS)
            .map(|(at, n)| libc::iovec {
                iov_base: at.cast(),
                iov_len: n,
            })
            .collect();
        let asked = local.iter().map(|b| b.iov_len).sum();
        let from = offer.address.wrapping_add(done as u64);
        // SAFETY: the receiver's buffers, which are ours to fill until completion.
        done +=
            unsafe { vm_rw::transfer(pid, CopyDirection::Read, &local, &[range(from, asked)]) }?;
    }
    // Pairs with `close_offer`: the word is read after the data.
    fence(Ordering::SeqCst);
    // A word that is no longer there is an offer that is no longer there.
    Ok(vm_rw::read_word(pid, offer.live).is_ok_and(|word| word == offer.key))
}
