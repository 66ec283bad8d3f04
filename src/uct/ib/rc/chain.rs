//! `Chain`: where short requests are made, and how those of a busy endpoint are posted by one call.
//!
//! The first requests of an endpoint after a progress are posted at once. Those that follow in a row wait in a chain. It is
//! posted when it is full, before anything else is posted, with the next progress, and by the thread for deferred work if
//! there is no progress for long: the data of each request stand in its slot.
//!
//! The chain is opened for requests of one connection, which are counted ahead: nothing has to be looked at for one that
//! joins, and its slot has an id and flags already. Those that did not come are counted back when the chain is closed.

use super::conn::Conn;
use super::iface::{Face, UNNUMBERED};
use super::poll::due;
use crate::c::verbs::*;
use crate::sys::verbs::{Poster, QueuePair};
use crate::ucs::fork::Stamp;
use crate::ucs::sync::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use crate::ucs_diag;
use crate::uct::base::copy::{SHORT, copy_short_apart};
use crate::uct::base::deferred_work::{self, DeferredWork, Registration};
use crate::uct::base::loan::Loan;
use crate::uct::ib::ops;
use crate::uct::ib::wire::{HEADER_LEN, Header};
use core::cell::{Cell, OnceCell, RefCell, UnsafeCell};
use core::ops::Range;
use core::ptr::{NonNull, null, null_mut, without_provenance};
use std::io;
use std::rc::Rc;
use std::sync::Arc;

/// Most requests of a chain.
const SLOTS: usize = 16;
/// So many requests in a row are posted at once.
const AT_ONCE: u32 = 2;
/// Bytes of a request's data, headers included.
pub const DATA: usize = 112;
const _: () = assert!(DATA <= SHORT);

/// A request to send or write the data of its slot. It names the next one.
#[repr(C, align(256))]
struct Prepared {
    request: ibv_send_wr,
    entry: ibv_sge,
}

/// From one slot to the next. What is lent to the thread is counted in bytes, so that it says where the next slot is.
const STEP: usize = size_of::<Prepared>();
/// Bytes before the data of a slot, so that the payload of a message is aligned.
const LEAD: usize = 16 - HEADER_LEN;
const _: () = assert!(LEAD + DATA <= STEP);
/// Most bytes of a message that may be packed in a slot, whichever it is. What is longer than `DATA` reaches into the data of
/// slots behind it, which are not used, and into what follows the last.
pub const PACKED: usize = 8256;

/// The data of a slot.
#[repr(C, align(16))]
struct Data([u8; STEP]);
const _: () = assert!(size_of::<Data>() == STEP);

/// From a slot to its data.
const TO_DATA: usize = (1 + SLOTS) * STEP + LEAD;

/// The slots: that of requests which are posted at once, and those of requests that wait.
#[repr(C)]
struct Slots {
    prepared: [Prepared; 1 + SLOTS],
    data: [Data; 1 + SLOTS],
    more: [u8; PACKED],
}

/// A place for a request and its data.
#[derive(Clone, Copy)]
pub struct Slot(NonNull<Prepared>);

impl Slot {
    #[inline(always)]
    fn request(self) -> *mut ibv_send_wr {
        // The first of it.
        self.0.as_ptr().cast()
    }

    /// Where the data are.
    #[inline(always)]
    fn data(self) -> *mut u8 {
        self.0.as_ptr().cast::<u8>().wrapping_add(TO_DATA)
    }

    /// Where the payload of a message without a word is.
    #[inline(always)]
    pub fn payload(self) -> *mut u8 {
        self.data().wrapping_add(HEADER_LEN)
    }

    /// Its request has this opcode and so many bytes of data.
    ///
    /// # Safety
    /// As `send`.
    #[inline(always)]
    unsafe fn set(self, opcode: u32, len: usize) {
        let at = self.0.as_ptr();
        // SAFETY: by the caller's promise.
        unsafe { (*at).request.opcode = opcode };
        // SAFETY: as above.
        unsafe { (*at).entry.length = len as u32 };
    }

    /// Makes it a message: a header, `word` if `HAS_WORD`, and `len` bytes of `payload`.
    ///
    /// # Safety
    /// The slot must be the owner's and not wait. `payload` must be readable for `len` bytes, for which there must be room
    /// behind the rest.
    #[inline(always)]
    pub unsafe fn send<const HAS_WORD: bool>(
        self,
        (header, word): (Header, u64),
        payload: *const u8,
        len: usize,
    ) {
        let before = HEADER_LEN + if HAS_WORD { size_of::<u64>() } else { 0 };
        // SAFETY: by the caller's promise.
        unsafe { self.send_packed(header, before - HEADER_LEN + len) };
        if HAS_WORD {
            // SAFETY: a slot has room for it.
            unsafe { self.payload().cast::<u64>().write_unaligned(word) };
        }
        // Many messages have the word alone.
        if len != 0 {
            // SAFETY: by the caller's promise.
            unsafe { copy_short_apart(payload, self.data().wrapping_add(before), len) };
        }
    }

    /// Makes it a message of the `len` bytes that stand at `payload`.
    ///
    /// # Safety
    /// The slot must be the owner's and not wait.
    #[inline(always)]
    pub unsafe fn send_packed(self, header: Header, len: usize) {
        // SAFETY: by the caller's promise.
        unsafe { self.set(IBV_WR_SEND, HEADER_LEN + len) };
        // SAFETY: a slot has room for it.
        unsafe {
            self.data()
                .cast::<[u8; HEADER_LEN]>()
                .write(header.encode())
        };
    }

    /// Makes it a write of `len` bytes of `src` to the peer's memory.
    ///
    /// # Safety
    /// The slot must be the owner's and not wait. `src` must be readable for `len` bytes, which are at most `DATA`.
    #[inline(always)]
    pub unsafe fn write(self, (src, len): (*const u8, usize), (remote_addr, rkey): (u64, u32)) {
        // SAFETY: by the caller's promise.
        unsafe { self.set(IBV_WR_RDMA_WRITE, len) };
        // SAFETY: as above.
        unsafe { (*self.request()).wr.rdma = ibv_send_wr_rdma { remote_addr, rkey } };
        // SAFETY: as above.
        unsafe { copy_short_apart(src, self.data(), len) };
    }

    /// The request's id, and its flags beside that its data are inline.
    ///
    /// # Safety
    /// The slot must be the owner's and not wait.
    #[inline(always)]
    pub unsafe fn name(self, id: u64, flags: u32) {
        // SAFETY: by the caller's promise.
        unsafe { (*self.request()).wr_id = id };
        // SAFETY: as above.
        unsafe { (*self.request()).send_flags = IBV_SEND_INLINE | flags };
    }
}

struct Requests {
    slots: UnsafeCell<Slots>,
    /// To the queue pair of those that wait.
    poster: Cell<Poster>,
}

struct Shared {
    /// The requests that wait are lent to the thread.
    loan: Loan,
    /// Number of times that requests began to wait.
    batch: AtomicU32,
    /// The error of a call that the thread made.
    refused: AtomicI32,
    requests: Requests,
}

// SAFETY: the requests are the owner's, or the thread's while they are lent. Those that are lent name the memory of their
// slots alone, and a queue pair that the owner keeps until it has taken them back.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl DeferredWork for Shared {
    fn batch(&self) -> u32 {
        self.batch.load(Ordering::Relaxed)
    }

    fn waits(&self) -> bool {
        self.loan.is_lent()
    }

    fn run(&self) -> bool {
        let post = |range: Range<usize>| {
            let count = range.len();
            // SAFETY: they are lent.
            if let Err(e) = unsafe { self.post(range.start / STEP..range.end / STEP) } {
                let code = e.raw_os_error().unwrap_or(-1);
                // Relaxed: the end of the loan orders.
                self.refused.store(code, Ordering::Relaxed);
            }
            count
        };
        self.loan.use_range(post) > 0
    }
}

impl Shared {
    /// The slot of this number, for a request that waits.
    #[inline(always)]
    fn slot(&self, at: usize) -> Slot {
        self.slot_at(at % SLOTS * STEP)
    }

    /// The slot so many bytes behind the first of them.
    #[inline(always)]
    fn slot_at(&self, at: usize) -> Slot {
        let slots = self.requests.slots.get().cast::<Prepared>();
        // SAFETY: not null.
        Slot(unsafe { NonNull::new_unchecked(slots.wrapping_byte_add(STEP + at)) })
    }

    /// Of the request that is posted at once. It names no other.
    #[inline(always)]
    fn single(&self) -> Slot {
        let slots = self.requests.slots.get().cast::<Prepared>();
        // SAFETY: not null.
        Slot(unsafe { NonNull::new_unchecked(slots) })
    }

    /// Posts the requests of these numbers.
    ///
    /// # Safety
    /// None else may use them, and they must wait.
    unsafe fn post(&self, range: Range<usize>) -> io::Result<()> {
        let Some(last) = range.end.checked_sub(1).filter(|last| *last >= range.start) else {
            return Ok(());
        };
        let (first, last) = (self.slot(range.start).request(), self.slot(last).request());
        // SAFETY: by the caller's promise.
        let next = unsafe { core::mem::replace(&mut (*last).next, null_mut()) };
        // SAFETY: a chain, whose data stand in the slots. The owner keeps the queue pair, and excludes the thread before it
        // posts to it otherwise.
        let posted = unsafe { self.requests.poster.get().post(first) };
        // SAFETY: by the caller's promise.
        unsafe { (*last).next = next };
        posted
    }
}

/// In the place of a connection for which the chain is open: a message is being packed in the next slot. Nobody else may use
/// it, or those behind it.
const PACKS: *const Conn = without_provenance(1);
/// A connection whose messages may be too long to be packed in a slot: the chain is never open for it.
pub const NO_PACKER: *const Conn = without_provenance(2);

/// Where a request is made that joins those that wait.
pub struct Joining<'a> {
    pub slot: Slot,
    at: usize,
    shared: &'a Shared,
}

/// Where a short request is made.
pub struct Place {
    pub slot: Slot,
    /// Whether it waits then.
    waits: bool,
}

/// The requests of an interface.
pub struct Chain {
    shared: Arc<Shared>,
    /// What the next progress has to do beside polling, of `poll::due`: one look finds all.
    pub due: Cell<u8>,
    /// The connection whose next request may join those that wait, or `PACKS`. No reference: it is compared alone.
    open: Cell<*const Conn>,
    /// Where the message is packed, in bytes of slots, that was being packed when the chain was closed.
    packed_at: Cell<usize>,
    /// How many bytes of slots wait when no other may join.
    end: Cell<usize>,
    /// The connection that has requests counted ahead, up to `end`.
    opened: Cell<Option<Rc<Conn>>>,
    /// The tag of the connection whose ids the slots have, but the first.
    named_for: Cell<u64>,
    /// The slots that have others, as bits.
    named_apart: Cell<u32>,
    limit: usize,
    /// The connection that made the last request, by its tag, and how many more of it are posted at once.
    last: Cell<u64>,
    at_once: Cell<u32>,
    registration: OnceCell<Option<Registration>>,
    /// Connections whose requests were refused when they had waited.
    refused: RefCell<Vec<u64>>,
    /// Set when there is one.
    attention: Arc<AtomicBool>,
    made_by: Stamp,
}

impl Chain {
    /// Up to `limit` requests wait; none does with 1. `attention` is set when there is something for `next_refused`.
    pub fn new(limit: usize, attention: Arc<AtomicBool>) -> Chain {
        let prepared = |_| Prepared {
            request: ops::send(&mut [], IBV_SEND_INLINE),
            entry: ops::entry(core::ptr::null(), 0, 0),
        };
        let shared = Arc::new(Shared {
            loan: Loan::default(),
            batch: AtomicU32::new(0),
            refused: AtomicI32::new(0),
            requests: Requests {
                poster: Cell::new(Poster::NONE),
                slots: UnsafeCell::new(Slots {
                    prepared: core::array::from_fn(prepared),
                    data: core::array::from_fn(|_| Data([0; STEP])),
                    more: [0; PACKED],
                }),
            },
        });
        let mut next = null_mut();
        let slots = (0..SLOTS).rev().map(|i| (shared.slot(i), true));
        for (mut slot, is_chained) in slots.chain([(shared.single(), false)]) {
            let (request, data) = (slot.request(), slot.data());
            // SAFETY: nobody else has it yet.
            let prepared = unsafe { slot.0.as_mut() };
            prepared.entry.addr = data as u64;
            prepared.request.sg_list = &mut prepared.entry;
            prepared.request.num_sge = 1;
            if is_chained {
                prepared.request.next = next;
                next = request;
            }
        }
        Chain {
            shared,
            due: Cell::new(0),
            open: Cell::new(null()),
            packed_at: Cell::new(0),
            end: Cell::new(0),
            opened: Cell::new(None),
            named_for: Cell::new(0),
            named_apart: Cell::new(0),
            limit: limit.min(SLOTS),
            last: Cell::new(0),
            at_once: Cell::new(0),
            registration: OnceCell::new(),
            refused: RefCell::default(),
            attention,
            made_by: Stamp::now(),
        }
    }

    /// How many wait, those included that the thread has posted meanwhile.
    #[inline(always)]
    fn waiting(&self) -> usize {
        self.shared.loan.lent() / STEP
    }

    #[inline(always)]
    pub fn has_waiting(&self) -> bool {
        self.due.get() & due::WAITING != 0
    }

    /// Whether requests may not begin to wait, since others do, or a message is being packed in a slot.
    #[inline(always)]
    fn is_taken(&self) -> bool {
        self.due.get() & (due::WAITING | due::PACKING) != 0
    }

    /// Whether a request of this connection may join those that wait.
    #[inline(always)]
    pub fn is_open(&self, conn: &Conn) -> bool {
        core::ptr::eq(self.open.get(), conn)
    }

    /// Where a request is made that joins those that wait. The chain has to be open for it, and `joined` to follow.
    #[inline(always)]
    pub fn join(&self) -> Joining<'_> {
        let shared = &*self.shared;
        let at = shared.loan.lent();
        let slot = shared.slot_at(at);
        Joining { slot, at, shared }
    }

    /// Where a message of this connection is packed that joins those that wait then; the user is called. `None`: the chain
    /// is not open for it. Else `packed` has to follow, and `take_packed` where the message does not join then.
    // Compared alone: it is no reference.
    #[inline(always)]
    pub fn pack(&self, packer: *const Conn) -> Option<Slot> {
        if self.open.get() != packer {
            return None;
        }
        self.open.set(PACKS);
        Some(self.join().slot)
    }

    /// The message is packed. Whether the chain is open for it as before. Otherwise the user has sent something meanwhile, or
    /// made progress, and `take_packed` has to follow.
    #[inline(always)]
    pub fn packed(&self, packer: *const Conn) -> bool {
        let is_as_before = self.open.get() == PACKS;
        if is_as_before {
            self.open.set(packer);
        }
        is_as_before
    }

    /// Where the message of `pack` stands, which has to be copied from there.
    #[cold]
    pub fn take_packed(&self) -> Slot {
        let due = self.due.get();
        self.due.set(due & !due::PACKING);
        if due & due::PACKING == 0 {
            return self.join().slot;
        }
        self.shared.slot_at(self.packed_at.get())
    }

    /// The request that joins is made.
    // Of the interface, whose address is at hand where a request joins.
    #[inline(always)]
    pub fn joined(face: &Face, Joining { at, shared, .. }: Joining<'_>) {
        let waiting = at + STEP;
        shared.loan.extend(waiting);
        if waiting == face.chain.end.get() {
            Chain::end_joining(face, waiting);
        }
    }

    /// No other may join.
    #[inline(never)]
    fn end_joining(face: &Face, waiting: usize) {
        let chain = &face.chain;
        chain.open.set(null());
        if waiting == chain.limit * STEP {
            chain.opened.set(None);
            chain.flush_waiting();
        }
    }

    /// Opens an empty chain for requests of this connection, of which it has sent so many that no other is posted at once;
    /// `None`: something has to be looked at. A request joins then, and the thread has to be woken.
    #[inline(always)]
    pub fn start(&self, face: &Face, conn: &Rc<Conn>) -> Option<&Registration> {
        if self.at_once.get() != 0 || self.last.get() != conn.tag() || self.is_taken() {
            return None;
        }
        let registration = self.registration.get()?.as_ref()?;
        let count = conn.count_ahead(face, self.limit);
        if count == 0 {
            return None;
        }
        self.open_for(conn, 0, count);
        self.begin_batch(&conn.pair);
        self.due.set(self.due.get() | due::WAITING);
        self.name(0, conn.tag());
        Some(registration)
    }

    /// So many others of this connection may join those that wait.
    #[inline(always)]
    fn open_for(&self, conn: &Rc<Conn>, waiting: usize, count: usize) {
        self.end.set((waiting + count) * STEP);
        self.open.set(Rc::as_ptr(conn));
        self.opened.set(Some(Rc::clone(conn)));
        if self.named_for.get() != conn.tag() {
            self.name_all(conn.tag());
        }
    }

    /// The slots have ids of this connection, but the first: that is named when it is used.
    #[inline(never)]
    fn name_all(&self, tag: u64) {
        self.named_for.set(tag);
        // Those that wait, if any, have their names.
        for at in self.waiting().max(1)..SLOTS {
            self.name(at, tag);
        }
    }

    #[inline(always)]
    fn name(&self, at: usize, tag: u64) {
        // SAFETY: the owner's; it does not wait.
        unsafe { self.shared.slot(at).name(tag | UNNUMBERED, 0) };
    }

    /// What waited is posted: all slots but the first have ids of the same connection again.
    #[cold]
    #[inline(never)]
    fn name_again(&self) {
        let mut apart = self.named_apart.take();
        while apart != 0 {
            self.name(apart.trailing_zeros() as usize, self.named_for.get());
            apart &= apart - 1;
        }
    }

    /// No other request joins: those that did not come are not counted any more.
    #[inline]
    pub fn close(&self, face: &Face) {
        if self.open.replace(null()) == PACKS {
            self.due.set(self.due.get() | due::PACKING);
            self.packed_at.set(self.shared.loan.lent());
        }
        if let Some(conn) = self.opened.take() {
            conn.give_back(face, self.end.get() / STEP - self.waiting());
        }
    }

    /// Whether the next request of this connection is posted at once, alone. Then `take_single` has to follow.
    #[inline(always)]
    pub fn has_single(&self, tag: u64) -> bool {
        self.at_once.get() != 0 && self.last.get() == tag && !self.has_waiting()
    }

    #[inline(always)]
    pub fn take_single(&self) {
        self.at_once.set(self.at_once.get() - 1);
    }

    /// Where a request is made that is posted at once.
    #[inline(always)]
    pub fn single(&self) -> Slot {
        self.shared.single()
    }

    /// The request that was made there.
    ///
    /// # Safety
    /// Nobody else may have a reference to it.
    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "by the caller's promise")]
    pub unsafe fn single_request(&self) -> &mut ibv_send_wr {
        // SAFETY: by the caller's promise.
        unsafe { &mut *self.single().request() }
    }

    /// Where the next request of this connection is made, none of which may join. What waits of another is posted.
    #[inline]
    pub fn place(&self, tag: u64, pair: &QueuePair) -> Place {
        // None may wait where a message is being packed.
        let packs = self.due.get() & due::PACKING != 0;
        let mut waiting = self.waiting();
        if waiting != 0 {
            let is_same = self.last.get() == tag;
            if !self.take_back() {
                waiting = 0;
            } else if !is_same || packs {
                self.post_waiting();
                waiting = 0;
            }
        }
        let is_same = self.last.replace(tag) == tag;
        let at_once = if is_same { self.at_once.get() } else { AT_ONCE };
        if waiting == 0 && (at_once != 0 || packs || !self.begin(pair)) {
            self.at_once.set(at_once.saturating_sub(1));
            return Place {
                slot: self.shared.single(),
                waits: false,
            };
        }
        Place {
            slot: self.shared.slot(waiting),
            waits: true,
        }
    }

    /// Posts the request that was made in its place, or lets it wait. An error: it was refused.
    #[inline]
    pub fn submit(&self, face: &Face, place: Place, conn: &Rc<Conn>) -> io::Result<()> {
        if place.waits {
            self.add(face, conn);
            return Ok(());
        }
        // SAFETY: the owner's, who has no other reference to it.
        let request = unsafe { &mut *place.slot.request() };
        // SAFETY: inline data of the slot.
        unsafe { conn.pair.post(request) }
    }

    /// The request behind those that wait waits, too.
    #[inline(never)]
    fn add(&self, face: &Face, conn: &Rc<Conn>) {
        let at = self.waiting();
        let waiting = at + 1;
        // The first is named anew in any case.
        self.named_apart
            .set(self.named_apart.get() | (1 << at & !1));
        self.shared.loan.extend(waiting * STEP);
        let free = self.limit - waiting;
        if free == 0 {
            self.post_waiting();
            return;
        }
        self.shared.loan.lend_count(waiting * STEP);
        self.due.set(self.due.get() | due::WAITING);
        let count = conn.count_ahead(face, free);
        if count != 0 {
            self.open_for(conn, waiting, count);
        }
        if waiting == 1
            && let Some(Some(registration)) = self.registration.get()
        {
            registration.wake();
        }
    }

    /// The first request is about to wait; `false` if it must not, as there is no thread.
    #[inline(never)]
    fn begin(&self, pair: &QueuePair) -> bool {
        let register = || {
            let shared: Arc<dyn DeferredWork> = self.shared.clone();
            deferred_work::register(shared)
                .inspect_err(|e| {
                    ucs_diag!("rc_verbs: no thread for deferred work ({e}): nothing is chained");
                })
                .ok()
        };
        if self.limit < 2 || self.registration.get_or_init(register).is_none() {
            return false;
        }
        self.begin_batch(pair);
        true
    }

    #[inline(always)]
    fn begin_batch(&self, pair: &QueuePair) {
        self.shared.requests.poster.set(pair.poster());
        let batch = self.shared.batch.load(Ordering::Relaxed);
        self.shared
            .batch
            .store(batch.wrapping_add(1), Ordering::Relaxed);
    }

    /// Takes requests that wait back from the thread; whether they still wait. Otherwise all are posted.
    #[inline]
    fn take_back(&self) -> bool {
        let used = self.shared.loan.take_back(|| self.made_by.is_current());
        if used == 0 {
            return true;
        }
        // Relaxed: the end of the loan orders.
        let code = self.shared.refused.swap(0, Ordering::Relaxed);
        if code != 0 {
            self.note_refused(&io::Error::from_raw_os_error(code));
        }
        self.post_from(used / STEP);
        false
    }

    /// Posts what waits, which is not lent.
    #[inline]
    fn post_waiting(&self) {
        self.post_from(0);
    }

    /// Posts what waits from this number on, and nothing waits any more.
    #[inline(never)]
    fn post_from(&self, first: usize) {
        // A child of fork() leaves its parent's requests alone.
        if self.made_by.is_current() {
            // SAFETY: the requests are the owner's, and so many wait.
            if let Err(e) = unsafe { self.shared.post(first..self.waiting()) } {
                self.note_refused(&e);
            }
        }
        self.shared.loan.lend_count(0);
        self.due.set(self.due.get() & !due::WAITING);
        if self.named_apart.get() != 0 {
            self.name_again();
        }
    }

    #[cold]
    fn note_refused(&self, e: &io::Error) {
        ucs_diag!("rc_verbs: chained work requests are refused: {e}");
        self.refused.borrow_mut().push(self.last.get());
        self.attention.store(true, Ordering::Relaxed);
    }

    /// Posts what waits.
    #[inline(always)]
    pub fn flush(&self, face: &Face) {
        if self.has_waiting() {
            self.close(face);
            self.flush_waiting();
        }
    }

    #[inline(never)]
    fn flush_waiting(&self) {
        if self.take_back() {
            self.post_waiting();
        }
    }

    /// A progress begins: the next requests are posted at once.
    #[inline(always)]
    pub fn begin_progress(&self) {
        self.at_once.set(AT_ONCE);
    }

    /// A connection goes: nothing of it waits any more.
    pub fn leave(&self, face: &Face, tag: u64) {
        if self.last.get() == tag {
            self.flush(face);
            self.last.set(0);
        }
        self.refused.borrow_mut().retain(|other| *other != tag);
    }

    /// A connection whose requests were refused when they had waited.
    pub fn next_refused(&self) -> Option<u64> {
        self.refused.borrow_mut().pop()
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        if self.waiting() != 0 {
            self.shared.loan.take_back(|| self.made_by.is_current());
            self.shared.loan.lend_count(0);
        }
    }
}
