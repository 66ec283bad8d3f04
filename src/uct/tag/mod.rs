//! Tag matching over the active messages of any transport.
//!
//! An interface opened with callbacks for unexpected messages gets an `Engine`. It sends tagged messages
//! as active messages of the library's own ids (`wire`), matches what arrives with what is posted
//! (`recv`), and moves the data of a rendezvous by the best way the pair has (`rndv`): within the process, by the
//! kernel (cma), out of mapped memory, else in fragments. Answers go through endpoints of its own (`back`).
//! The traits' defaults call the functions below, so a transport needs no line of its own; without the
//! callbacks there is no engine, and nothing of this is on the path of active messages.
//!
//! User callbacks re-enter: no borrow of the engine's state is held across one, and a context is taken
//! off every list before its last callback.

mod back;
mod blocks;
mod jobs;
mod recv;
mod rndv;
#[cfg(test)]
mod tests;
pub mod wire;

use crate::c::*;
use crate::sys::random;
use crate::ucs::callbackq::CallbackId;
use crate::ucs::tag_match::Posted as Matching;
use crate::ucs::{Result, Status};
use crate::uct::api::{Completion, Iface, Pack, Posted, UNQUERIED};
use crate::uct::base::am::AM_IDS;
use crate::uct::base::copy::Payload;
use crate::uct::base::desc::DescPool;
use crate::uct::base::iface::{EpBox, IfaceBase, IfaceBox, base_of};
use crate::uct::base::iov::Iov;
use crate::uct::base::params::{EpParams, TagParams};
use crate::uct::local::Membership;
use crate::{ucs_diag, ucs_warn};
use blocks::Blocks;
use core::cell::{Cell, OnceCell, RefCell};
use core::ffi::c_void;
use jobs::{Job, Later};
use recv::{Arriving, Receive};
use rndv::{Fetching, Offered};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;

/// Receives that may be posted or under way at a time.
pub const MAX_POSTED: usize = 4096;
/// Entries of a gather or scatter list.
pub const MAX_IOV: usize = 16;
/// Longest message that is sent without asking the receiver: beyond, one copy saved pays for a round trip.
const MAX_EAGER: usize = 1 << 20;
/// Longest header of a rendezvous.
const MAX_HEADER: usize = 1024;
/// What an offer needs beside the user's header: its own numbers, addresses and a key.
const OFFER_ROOM: usize = wire::OFFER_HEAD + 300;
/// Transports with shorter buffered messages have no tag matching.
const MIN_BCOPY: usize = OFFER_ROOM + 64;

/// What the transport's active messages can do.
#[derive(Clone, Copy)]
struct Limits {
    short: usize,
    bcopy: usize,
    /// 0 without zero-copy messages.
    zcopy: usize,
    zcopy_iov: usize,
}

impl Limits {
    /// `None` for a transport that cannot carry tagged messages.
    fn of(attr: &uct_iface_attr) -> Option<Limits> {
        let am = &attr.cap.am;
        // Answers go to the interface that a message names.
        let needed =
            UCT_IFACE_FLAG_AM_SHORT | UCT_IFACE_FLAG_AM_BCOPY | UCT_IFACE_FLAG_CONNECT_TO_IFACE;
        let able = attr.cap.flags & needed == needed && am.max_bcopy >= MIN_BCOPY;
        let zcopy = attr.cap.flags & UCT_IFACE_FLAG_AM_ZCOPY != 0 && am.max_hdr >= wire::EAGER_HEAD;
        able.then_some(Limits {
            short: am.max_short.saturating_sub(size_of::<u64>()),
            bcopy: am.max_bcopy,
            zcopy: if zcopy { am.max_zcopy } else { 0 },
            zcopy_iov: am.max_iov,
        })
    }

    fn max_header(&self) -> usize {
        (self.bcopy - OFFER_ROOM).min(MAX_HEADER)
    }
}

/// Adds the tag capabilities to the attributes of a transport that has the messages for them.
pub fn describe(attr: &mut uct_iface_attr) {
    let Some(limits) = Limits::of(attr) else {
        return;
    };
    attr.cap.flags |= UCT_IFACE_FLAG_TAG_EAGER_SHORT
        | UCT_IFACE_FLAG_TAG_EAGER_BCOPY
        | UCT_IFACE_FLAG_TAG_EAGER_ZCOPY
        | UCT_IFACE_FLAG_TAG_RNDV_ZCOPY;
    let tag = &mut attr.cap.tag;
    tag.recv.min_recv = 0;
    tag.recv.max_zcopy = usize::MAX;
    tag.recv.max_iov = MAX_IOV;
    tag.recv.max_outstanding = MAX_POSTED;
    tag.eager.max_short = limits.short;
    tag.eager.max_bcopy = limits.bcopy - wire::EAGER_HEAD;
    tag.eager.max_zcopy = MAX_EAGER.max(tag.eager.max_bcopy);
    tag.eager.max_iov = MAX_IOV;
    tag.rndv.max_zcopy = usize::MAX;
    tag.rndv.max_hdr = limits.max_header();
    tag.rndv.max_iov = 1;
}

/// `Iface::am_zcopy` of a transport.
type SendInPlace = unsafe fn(uct_ep_h, u8, &[u8], Iov<'_>, u32, Completion) -> Result<Posted>;

/// The transport's calls that the engine needs, without its type.
///
/// The three that send are no entries of C's table: those refuse ids that are not the user's. So each exists
/// twice, and a transport marks its hot ones `#[inline(always)]`, lest the second caller cost every user's
/// message a call (docs/TAG_MATCHING.md has the counts).
#[derive(Clone, Copy)]
struct Ways {
    am_short: unsafe fn(uct_ep_h, u8, u64, *const u8, usize) -> Result<()>,
    am_bcopy: unsafe fn(uct_ep_h, u8, Pack, u32) -> Result<usize>,
    am_zcopy: SendInPlace,
    connect: unsafe fn(uct_iface_h, &EpParams) -> Result<uct_ep_h>,
    disconnect: unsafe fn(uct_ep_h),
}

impl Ways {
    fn of<I: Iface>() -> Ways {
        // SAFETY (of all): called with handles of this transport only, which `Engine` keeps.
        unsafe fn am_short<I: Iface>(
            ep: uct_ep_h,
            id: u8,
            header: u64,
            payload: *const u8,
            len: usize,
        ) -> Result<()> {
            // SAFETY: a live endpoint of this transport; the payload is readable by the caller's promise.
            let (ep, payload) = unsafe { (EpBox::from_c(ep), Payload::new(payload, len)) };
            I::am_short(ep, id, header, payload)
        }
        unsafe fn am_bcopy<I: Iface>(
            ep: uct_ep_h,
            id: u8,
            pack: Pack,
            flags: u32,
        ) -> Result<usize> {
            // SAFETY: a live endpoint of this transport.
            I::am_bcopy(unsafe { EpBox::from_c(ep) }, id, pack, flags)
        }
        unsafe fn am_zcopy<I: Iface>(
            ep: uct_ep_h,
            id: u8,
            header: &[u8],
            iov: Iov<'_>,
            flags: u32,
            comp: Completion,
        ) -> Result<Posted> {
            // SAFETY: a live endpoint of this transport.
            I::am_zcopy(unsafe { EpBox::from_c(ep) }, id, header, iov, flags, comp)
        }
        unsafe fn connect<I: Iface>(face: uct_iface_h, params: &EpParams) -> Result<uct_ep_h> {
            // SAFETY: an open interface of this transport.
            EpBox::<I>::create_hidden(unsafe { IfaceBox::from_c(face) }, params)
        }
        unsafe fn disconnect<I: Iface>(ep: uct_ep_h) {
            // SAFETY: a live endpoint of this transport, for the last time.
            unsafe { EpBox::<I>::destroy(ep) }
        }
        Ways {
            am_short: am_short::<I>,
            am_bcopy: am_bcopy::<I>,
            am_zcopy: am_zcopy::<I>,
            connect: connect::<I>,
            disconnect: disconnect::<I>,
        }
    }
}

/// Names that nobody can guess: what a peer says about one was told by us.
struct Keys {
    hasher: RandomState,
    /// The hasher's secret is the same in processes forked from one that had a hasher before; this is not.
    secret: u64,
    count: Cell<u64>,
}

impl Keys {
    fn next(&self) -> u64 {
        loop {
            self.count.set(self.count.get() + 1);
            // The upper half of the numbers are no pointers, and so no handles of operations.
            let key = self.hasher.hash_one((self.secret, self.count.get())) >> 1;
            if key != 0 {
                return key;
            }
        }
    }
}

/// The tag matching of one interface.
pub struct Engine {
    face: uct_iface_h,
    ways: Ways,
    params: TagParams,
    limits: Limits,
    /// Tells this engine from every other.
    id: u64,
    keys: Keys,
    descs: DescPool,
    device: Vec<u8>,
    iface: Vec<u8>,
    posted: RefCell<Matching<Receive>>,
    /// Contexts in our hands.
    outstanding: Cell<usize>,
    /// Fragmented messages, by the sender's key.
    arriving: RefCell<HashMap<u64, Arriving>>,
    /// Rendezvous that are matched and whose data are not here, by our key.
    fetching: RefCell<HashMap<u64, Fetching>>,
    /// Rendezvous of ours that are not over.
    offers: RefCell<HashMap<u64, Rc<Offered>>>,
    /// Endpoints to those who offered, by their addresses.
    backs: RefCell<HashMap<Vec<u8>, usize>>,
    /// What waits for room to be sent, by endpoint.
    jobs: RefCell<BTreeMap<usize, VecDeque<Job>>>,
    later: RefCell<VecDeque<Later>>,
    pump: Cell<Option<CallbackId>>,
    pumping: Cell<bool>,
    /// Kinds of messages, by bit, of which one was dropped.
    complained: Cell<u32>,
    /// Processes whose memory was tried, and whether the kernel let us.
    reached: RefCell<HashMap<[u8; wire::REACH], Option<u32>>>,
    own_reach: OnceCell<Option<Membership>>,
}

impl Engine {
    /// The engine of an interface that was just opened; `None` when the transport cannot carry it.
    pub fn open<I: Iface>(face: &IfaceBox<I>, params: TagParams) -> Option<Box<Engine>> {
        let mut attr = UNQUERIED;
        I::query(face, &mut attr);
        let Some(limits) = Limits::of(&attr) else {
            ucs_diag!("{} has no tag matching", face.base.transport);
            return None;
        };
        let ways = Ways::of::<I>();
        let own = I::device_address(face).and_then(|device| Ok((device, I::iface_address(face)?)));
        let numbers = random::random_u64().and_then(|id| Ok((id, random::random_u64()?)));
        let ((device, iface), (id, secret)) = match (own, numbers.map_err(Status::from)) {
            (Ok(own), Ok(numbers)) => (own, numbers),
            (Err(e), _) | (_, Err(e)) => {
                ucs_diag!("{}: no tag matching: {e}", face.base.transport);
                return None;
            }
        };
        let descs = IfaceBase::desc_pool(&face.base.params, limits.bcopy);
        let engine = Box::new(Engine {
            face: face.as_c(),
            ways,
            params,
            limits,
            id,
            keys: Keys {
                hasher: RandomState::new(),
                secret,
                count: Cell::new(0),
            },
            descs,
            device,
            iface,
            posted: RefCell::default(),
            outstanding: Cell::new(0),
            arriving: RefCell::default(),
            fetching: RefCell::default(),
            offers: RefCell::default(),
            backs: RefCell::default(),
            jobs: RefCell::default(),
            later: RefCell::default(),
            pump: Cell::new(None),
            pumping: Cell::new(false),
            complained: Cell::new(0),
            reached: RefCell::default(),
            own_reach: OnceCell::new(),
        });
        let arg = core::ptr::from_ref(&*engine).cast();
        face.base.am.set_internal(Some((Engine::on_message, arg)));
        Some(engine)
    }

    /// The interface closes: what waits is told, endpoints of our own go, nothing is called any more.
    pub fn close(&self) {
        self.base().am.set_internal(None);
        let backs = core::mem::take(&mut *self.backs.borrow_mut());
        for ep in backs.into_values() {
            // SAFETY: made by `connect`, in the list once.
            unsafe { (self.ways.disconnect)(ep as uct_ep_h) };
        }
        self.run_later();
        self.rest();
    }

    fn am_bcopy(&self, ep: uct_ep_h, id: u8, pack: Pack, flags: u32) -> Result<usize> {
        // SAFETY: a live endpoint of this interface; the callback is called during the call only.
        unsafe { (self.ways.am_bcopy)(ep, id, pack, flags) }
    }

    fn base(&self) -> &IfaceBase {
        // SAFETY: the engine lives inside this interface.
        unsafe { base_of(self.face) }
    }

    /// An endpoint of the engine's own.
    fn connect(&self, params: &EpParams<'_>) -> Result<uct_ep_h> {
        // SAFETY: our interface, which the engine goes with.
        unsafe { (self.ways.connect)(self.face, params) }
    }

    fn own_addresses(&self) -> wire::Addresses<'_> {
        wire::Addresses {
            device: &self.device,
            iface: &self.iface,
        }
    }

    /// # Safety
    /// `arg` must be the engine; `data` readable for `len` bytes.
    unsafe fn on_message(arg: *const c_void, id: u8, data: *const u8, len: usize) {
        // SAFETY: set with this engine, taken back before it goes.
        let engine = unsafe { &*arg.cast::<Engine>() };
        // SAFETY: by the caller's promise.
        if unsafe { engine.message(id, data, len) }.is_none() {
            engine.complain(id, len);
        }
    }

    /// Says that a message was dropped: once for each kind, since a peer that sends one sends many.
    #[cold]
    fn complain(&self, id: u8, len: usize) {
        let kind = 1 << u32::from(id).saturating_sub(AM_IDS as u32).min(31);
        if self.complained.get() & kind == 0 {
            self.complained.set(self.complained.get() | kind);
            ucs_warn!(
                "tag matching: a message of {len} bytes with id {id} cannot be; it is dropped, and so \
                 will be others like it"
            );
        }
    }

    /// Handles one message; `None` when it is malformed. What stands in memory that a peer can write is
    /// copied before it is looked at.
    ///
    /// # Safety
    /// `data` must be readable for `len` bytes.
    unsafe fn message(&self, id: u8, data: *const u8, len: usize) -> Option<()> {
        let mut head = [0; wire::FIRST_HEAD];
        let known = len.min(head.len());
        // SAFETY: readable, and room for `known`.
        unsafe { core::ptr::copy_nonoverlapping(data, head.as_mut_ptr(), known) };
        let (one, rest) = wire::number(&head[..known])?;
        let data_from = |at: usize| len.checked_sub(at).map(|n| (data.wrapping_add(at), n));
        match id {
            wire::SHORT => {
                let (at, n) = data_from(size_of::<u64>())?;
                // SAFETY: the rest of the message.
                unsafe { self.eager(one, 0, at, n) };
            }
            wire::EAGER => {
                let (imm, _) = wire::number(rest)?;
                let (at, n) = data_from(wire::EAGER_HEAD)?;
                // SAFETY: the rest of the message.
                unsafe { self.eager(one, imm, at, n) };
            }
            wire::FIRST => {
                let (tag, rest) = wire::number(rest)?;
                let (imm, rest) = wire::number(rest)?;
                let (total, _) = wire::number(rest)?;
                let (at, n) = data_from(wire::FIRST_HEAD)?;
                // SAFETY: the rest of the message.
                return unsafe { self.first(one, tag, imm, usize::try_from(total).ok()?, at, n) };
            }
            wire::NEXT => {
                let (offset, _) = wire::number(rest)?;
                let (at, n) = data_from(wire::NEXT_HEAD)?;
                // SAFETY: the rest of the message.
                return unsafe { self.next(one, offset, at, n) };
            }
            wire::FRAGMENT => {
                let (offset, _) = wire::number(rest)?;
                let (at, n) = data_from(wire::NEXT_HEAD)?;
                // SAFETY: the rest of the message.
                return unsafe { self.on_fragment(one, offset, at, n) };
            }
            wire::OVER => self.offer_over(one),
            wire::GONE => self.offer_gone(one),
            wire::GOOD => self.offer_good(one),
            wire::OFFER | wire::REQUEST | wire::WANT | wire::TAKEN if len <= self.limits.bcopy => {
                let mut body = vec![0; len];
                // SAFETY: readable, and room for `len`.
                unsafe { core::ptr::copy_nonoverlapping(data, body.as_mut_ptr(), len) };
                match id {
                    wire::OFFER => return self.offered(body),
                    wire::REQUEST => self.requested(one, body.get(size_of::<u64>()..)?),
                    _ => return self.claimed(id, &wire::Claim::decode(&body)?),
                }
            }
            _ => return None,
        }
        Some(())
    }
}

/// The engine of the endpoint's interface; `UNSUPPORTED` when it was opened without.
#[inline]
fn engine<I: Iface>(face: &IfaceBox<I>) -> Result<&Engine> {
    match face.base.tag.get() {
        Some(engine) => Ok(engine),
        None => Err(missing()),
    }
}

#[cold]
fn missing() -> Status {
    ucs_diag!(
        "tag matching is off: give uct_iface_open the callbacks for unexpected tagged messages \
         (UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_CB, _HW_TM_RNDV_CB)"
    );
    Status::UNSUPPORTED
}

/// # Safety
/// `data` must be readable for `len` bytes.
#[inline]
pub unsafe fn eager_short<I: Iface>(
    ep: &EpBox<I>,
    tag: u64,
    data: *const u8,
    len: usize,
) -> Result<()> {
    let engine = engine(ep.face())?;
    if len > engine.limits.short {
        return Err(Status::INVALID_PARAM);
    }
    // SAFETY: a live endpoint; by the caller's promise.
    unsafe { (engine.ways.am_short)(ep.as_c(), wire::SHORT, tag, data, len) }
}

/// The user's packing behind our numbers.
struct Framed {
    head: [u8; wire::EAGER_HEAD],
    inner: Pack,
}

unsafe extern "C" fn pack_framed(dest: *mut c_void, arg: *mut c_void) -> usize {
    // SAFETY: the argument of `eager_bcopy`, alive during its call.
    let framed = unsafe { &*arg.cast::<Framed>() };
    // SAFETY: there is room for `max_bcopy` bytes, which is more.
    unsafe { dest.cast::<[u8; wire::EAGER_HEAD]>().write(framed.head) };
    // SAFETY: the user writes at most what we promise: less by our numbers.
    let n = unsafe {
        framed
            .inner
            .pack_into(dest.cast::<u8>().add(wire::EAGER_HEAD))
    };
    n.saturating_add(wire::EAGER_HEAD)
}

pub fn eager_bcopy<I: Iface>(
    ep: &EpBox<I>,
    tag: u64,
    imm: u64,
    pack: Pack,
    flags: u32,
) -> Result<usize> {
    let engine = engine(ep.face())?;
    let mut framed = Framed {
        head: wire::numbers([tag, imm]),
        inner: pack,
    };
    let pack = Pack {
        cb: pack_framed,
        arg: core::ptr::from_mut(&mut framed).cast(),
    };
    let sent = engine.am_bcopy(ep.as_c(), wire::EAGER, pack, flags)?;
    Ok(sent.saturating_sub(wire::EAGER_HEAD))
}

pub fn eager_zcopy<I: Iface>(
    ep: &EpBox<I>,
    tag: u64,
    imm: u64,
    iov: Iov<'_>,
    flags: u32,
    comp: Completion,
) -> Result<Posted> {
    let engine = engine(ep.face())?;
    let total = iov.total()?;
    let (limits, count) = (engine.limits, iov.entries().len());
    if count > MAX_IOV || total > MAX_EAGER.max(limits.bcopy - wire::EAGER_HEAD) {
        return Err(Status::INVALID_PARAM);
    }
    if total + wire::EAGER_HEAD <= limits.zcopy && count <= limits.zcopy_iov {
        let head: [u8; wire::EAGER_HEAD] = wire::numbers([tag, imm]);
        // SAFETY: a live endpoint; the header is copied, the user's buffers stay until completion.
        return unsafe { (engine.ways.am_zcopy)(ep.as_c(), wire::EAGER, &head, iov, flags, comp) };
    }
    if total + wire::EAGER_HEAD <= limits.bcopy {
        let head: [u8; wire::EAGER_HEAD] = wire::numbers([tag, imm]);
        engine.send(ep.as_c(), wire::EAGER, |dest| {
            // SAFETY: there is room for numbers and data, as just checked.
            unsafe { dest.cast::<[u8; wire::EAGER_HEAD]>().write(head) };
            // SAFETY: as above.
            wire::EAGER_HEAD + unsafe { iov.gather(dest.add(wire::EAGER_HEAD)) }
        })?;
        return Ok(Posted::Done);
    }
    engine.send_fragments(ep.as_c(), tag, imm, Blocks::of(iov), total, comp)
}

pub fn rndv_zcopy<I: Iface>(
    ep: &EpBox<I>,
    tag: u64,
    header: &[u8],
    iov: Iov<'_>,
    comp: Completion,
) -> Result<*mut c_void> {
    engine(ep.face())?.offer(ep.as_c(), tag, header, iov, comp)
}

pub fn rndv_cancel<I: Iface>(ep: &EpBox<I>, op: *mut c_void) -> Result<()> {
    engine(ep.face())?.withdraw(op as u64)
}

pub fn rndv_request<I: Iface>(ep: &EpBox<I>, tag: u64, header: &[u8]) -> Result<()> {
    let engine = engine(ep.face())?;
    if header.len() > engine.limits.max_header() {
        return Err(Status::INVALID_PARAM);
    }
    engine.send(ep.as_c(), wire::REQUEST, |dest| {
        // SAFETY: there is room for a tag and the longest header.
        unsafe { dest.cast::<[u8; 8]>().write(tag.to_le_bytes()) };
        // SAFETY: as above.
        unsafe { core::ptr::copy_nonoverlapping(header.as_ptr(), dest.add(8), header.len()) };
        8 + header.len()
    })?;
    Ok(())
}

/// # Safety
/// As `Iface::tag_recv_zcopy`.
pub unsafe fn recv_zcopy<I: Iface>(
    face: &IfaceBox<I>,
    tag: u64,
    mask: u64,
    iov: Iov<'_>,
    ctx: *mut uct_tag_context_t,
) -> Result<()> {
    // SAFETY: by the caller's promise.
    unsafe { engine(face)?.post(tag, mask, iov, ctx) }
}

/// # Safety
/// As `Iface::tag_recv_cancel`.
pub unsafe fn recv_cancel<I: Iface>(
    face: &IfaceBox<I>,
    ctx: *mut uct_tag_context_t,
    force: bool,
) -> Result<()> {
    // SAFETY: by the caller's promise.
    unsafe { engine(face)?.cancel(ctx, force) }
}
