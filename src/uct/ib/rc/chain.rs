//! `Chain`: where short requests are made, and how those of a busy endpoint are posted by one call.
//!
//! The first requests of an endpoint after a progress are posted at once. Those that follow in a row wait in a chain. It is
//! posted when it is full, before anything else is posted, with the next progress, and by the thread for deferred work if
//! there is no progress for long: the data of each request stand in its slot.

use crate::c::verbs::*;
use crate::sys::verbs::{Poster, QueuePair};
use crate::ucs::fork::Stamp;
use crate::ucs::sync::{AtomicI32, AtomicU32, Ordering};
use crate::ucs_diag;
use crate::uct::base::copy::{SHORT, copy_short};
use crate::uct::base::deferred_work::{self, DeferredWork, Registration};
use crate::uct::base::loan::Loan;
use crate::uct::ib::ops;
use core::cell::{Cell, OnceCell, RefCell, UnsafeCell};
use core::ptr::NonNull;
use std::io;
use std::rc::Rc;
use std::sync::Arc;

/// Most requests of a chain.
pub const SLOTS: usize = 16;
/// So many requests in a row are posted at once.
const AT_ONCE: u32 = 3;
/// Bytes of a request's data, headers included.
pub const DATA: usize = 112;
const _: () = assert!(DATA <= SHORT);

/// What is lent: as many bytes as requests wait.
static COUNT: [u8; SLOTS] = [0; SLOTS];

/// A request to send or write the data that stand here. It names the next one.
#[repr(C)]
pub struct Slot {
    request: ibv_send_wr,
    entry: ibv_sge,
    data: [u8; DATA],
}

impl Slot {
    /// Makes it a message: `start` and `len` bytes of `payload`.
    ///
    /// # Safety
    /// `payload` must be readable for `len` bytes, for which there must be room behind `start`.
    #[inline(always)]
    pub unsafe fn send<const N: usize>(
        &mut self,
        (id, flags): (u64, u32),
        start: [u8; N],
        payload: *const u8,
        len: usize,
    ) {
        self.request.opcode = IBV_WR_SEND;
        let data = self.data.as_mut_ptr();
        // SAFETY: a slot has room for it.
        unsafe { data.cast::<[u8; N]>().write(start) };
        // SAFETY: by the caller's promise.
        unsafe { copy_short(payload, data.wrapping_add(N), len) };
        self.finish((id, flags), N + len);
    }

    /// Makes it a write of `len` bytes of `src` to the peer's memory.
    ///
    /// # Safety
    /// `src` must be readable for `len` bytes, which are at most `DATA`.
    #[inline(always)]
    pub unsafe fn write(
        &mut self,
        (id, flags): (u64, u32),
        (src, len): (*const u8, usize),
        (remote_addr, rkey): (u64, u32),
    ) {
        self.request.opcode = IBV_WR_RDMA_WRITE;
        self.request.wr.rdma = ibv_send_wr_rdma { remote_addr, rkey };
        // SAFETY: by the caller's promise.
        unsafe { copy_short(src, self.data.as_mut_ptr(), len) };
        self.finish((id, flags), len);
    }

    #[inline(always)]
    fn finish(&mut self, (id, flags): (u64, u32), len: usize) {
        self.request.wr_id = id;
        self.request.send_flags = IBV_SEND_INLINE | flags;
        self.entry.length = len as u32;
    }
}

#[repr(C)]
struct Requests {
    slots: [Slot; SLOTS],
    /// To the queue pair of those that wait.
    poster: Poster,
}

struct Shared {
    /// Whether the thread may post.
    loan: Loan,
    /// Number of times that requests began to wait.
    batch: AtomicU32,
    /// The error of a call that the thread made.
    refused: AtomicI32,
    requests: UnsafeCell<Requests>,
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
        let post = |count: &[u8]| {
            // SAFETY: they are lent.
            if let Err(e) = unsafe { self.post(count.len()) } {
                let code = e.raw_os_error().unwrap_or(-1);
                // Relaxed: the end of the loan orders.
                self.refused.store(code, Ordering::Relaxed);
            }
            count.len()
        };
        self.loan.use_bytes(post) > 0
    }
}

impl Shared {
    /// Posts the first requests.
    ///
    /// # Safety
    /// None else may use the requests, of which so many must wait.
    unsafe fn post(&self, count: usize) -> io::Result<()> {
        // SAFETY: by the caller's promise.
        let Requests { slots, poster } = unsafe { &mut *self.requests.get() };
        let first = &raw mut slots[0].request;
        let last = &mut slots[(count - 1) % SLOTS].request;
        let next = core::mem::replace(&mut last.next, core::ptr::null_mut());
        // SAFETY: a chain, whose data stand in the slots. The owner keeps the queue pair, and excludes the thread before it
        // posts to it otherwise.
        let posted = unsafe { poster.post(first) };
        slots[(count - 1) % SLOTS].request.next = next;
        posted
    }
}

/// The requests of an interface.
pub struct Chain {
    shared: Arc<Shared>,
    /// How many wait, all of the same connection.
    waiting: Cell<usize>,
    limit: usize,
    /// The connection that made the last request, by its tag, and how many more of it are posted at once.
    last: Cell<u64>,
    at_once: Cell<u32>,
    registration: OnceCell<Option<Registration>>,
    /// Connections whose requests were refused when they had waited.
    refused: RefCell<Vec<u64>>,
    /// Set when there is one.
    has_refused: Rc<Cell<bool>>,
    made_by: Stamp,
}

impl Chain {
    /// Up to `limit` requests wait; none does with 1. `has_refused` is set when there is something for `next_refused`.
    pub fn new(limit: usize, has_refused: Rc<Cell<bool>>) -> Chain {
        let slot = || Slot {
            request: ops::send(&mut [], IBV_SEND_INLINE),
            entry: ops::entry(core::ptr::null(), 0, 0),
            data: [0; DATA],
        };
        let shared = Arc::new(Shared {
            loan: Loan::default(),
            batch: AtomicU32::new(0),
            refused: AtomicI32::new(0),
            requests: UnsafeCell::new(Requests {
                poster: Poster::NONE,
                slots: core::array::from_fn(|_| slot()),
            }),
        });
        // SAFETY: nobody else has them yet.
        let slots = unsafe { &mut (*shared.requests.get()).slots };
        let mut next = core::ptr::null_mut();
        for slot in slots.iter_mut().rev() {
            slot.entry.addr = slot.data.as_ptr() as u64;
            slot.request.sg_list = &mut slot.entry;
            slot.request.num_sge = 1;
            slot.request.next = next;
            next = &mut slot.request;
        }
        Chain {
            shared,
            waiting: Cell::new(0),
            limit: limit.min(SLOTS),
            last: Cell::new(0),
            at_once: Cell::new(0),
            registration: OnceCell::new(),
            refused: RefCell::default(),
            has_refused,
            made_by: Stamp::now(),
        }
    }

    /// The slot of the next request of this connection, if others of it wait and this is not the last that can.
    #[inline(always)]
    pub fn next_waiting(&self, tag: u64) -> Option<NonNull<Slot>> {
        let waiting = self.waiting.get();
        if waiting == 0 || waiting + 1 >= self.limit || self.last.get() != tag {
            return None;
        }
        self.shared.loan.try_take_back().then(|| self.slot(waiting))
    }

    /// The request in the slot that `next_waiting` found waits, too.
    #[inline(always)]
    pub fn wait(&self) {
        let waiting = self.waiting.get() + 1;
        self.waiting.set(waiting);
        self.lend(waiting);
    }

    /// The slot of the next request of this connection. What waits of another is posted.
    #[inline]
    pub fn next(&self, tag: u64) -> NonNull<Slot> {
        if self.waiting.get() != 0 && self.take_back() && self.last.get() != tag {
            self.post_waiting();
        }
        self.slot(self.waiting.get())
    }

    #[inline(always)]
    fn slot(&self, at: usize) -> NonNull<Slot> {
        let slots = self.shared.requests.get().cast::<Slot>();
        // SAFETY: not null; fewer than `SLOTS` requests wait.
        unsafe { NonNull::new_unchecked(slots.wrapping_add(at % SLOTS)) }
    }

    #[inline(always)]
    fn lend(&self, count: usize) {
        // SAFETY: a static.
        unsafe { self.shared.loan.lend(&COUNT[..count % (SLOTS + 1)]) };
    }

    /// Posts the request in the slot that `next` found, or lets it wait. An error: it was refused.
    #[inline]
    pub fn submit(&self, tag: u64, pair: &QueuePair) -> io::Result<()> {
        let waiting = self.waiting.get();
        let is_same = self.last.replace(tag) == tag;
        let at_once = if is_same { self.at_once.get() } else { AT_ONCE };
        if at_once == 0 && (waiting != 0 || self.begin(pair)) {
            self.waiting.set(waiting + 1);
            if waiting + 1 >= self.limit {
                self.post_waiting();
                return Ok(());
            }
            self.lend(waiting + 1);
            if waiting == 0
                && let Some(Some(registration)) = self.registration.get()
            {
                registration.wake();
            }
            return Ok(());
        }
        self.at_once.set(at_once.saturating_sub(1));
        // SAFETY: the owner's, as nothing waits, who has no other reference to it.
        let request = &mut unsafe { self.slot(0).as_mut() }.request;
        let next = core::mem::replace(&mut request.next, core::ptr::null_mut());
        // SAFETY: inline data of the slot.
        let posted = unsafe { pair.post(request) };
        request.next = next;
        posted
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
        // SAFETY: the requests are the owner's.
        unsafe { (*self.shared.requests.get()).poster = pair.poster() };
        let batch = self.shared.batch.load(Ordering::Relaxed);
        self.shared
            .batch
            .store(batch.wrapping_add(1), Ordering::Relaxed);
        true
    }

    /// Takes requests that wait back from the thread; whether they still wait.
    #[inline]
    fn take_back(&self) -> bool {
        if self.shared.loan.take_back(|| self.made_by.is_current()) == 0 {
            return true;
        }
        self.waiting.set(0);
        // Relaxed: the end of the loan orders.
        let code = self.shared.refused.swap(0, Ordering::Relaxed);
        if code != 0 {
            self.note_refused(&io::Error::from_raw_os_error(code));
        }
        false
    }

    /// Posts what waits, which is not lent.
    #[inline(never)]
    fn post_waiting(&self) {
        let count = self.waiting.take();
        // A child of fork() leaves its parent's requests alone.
        if self.made_by.is_current() {
            // SAFETY: the requests are the owner's, and so many wait.
            if let Err(e) = unsafe { self.shared.post(count) } {
                self.note_refused(&e);
            }
        }
        self.lend(0);
    }

    #[cold]
    fn note_refused(&self, e: &io::Error) {
        ucs_diag!("rc_verbs: chained work requests are refused: {e}");
        self.refused.borrow_mut().push(self.last.get());
        self.has_refused.set(true);
    }

    /// Posts what waits.
    #[inline(always)]
    pub fn flush(&self) {
        if self.waiting.get() != 0 {
            self.flush_waiting();
        }
    }

    #[inline(never)]
    fn flush_waiting(&self) {
        if self.take_back() {
            self.post_waiting();
        }
    }

    /// A progress begins: what waits is posted, and so are the next requests.
    #[inline(always)]
    pub fn begin_progress(&self) {
        self.flush();
        self.at_once.set(AT_ONCE);
    }

    /// A connection goes: nothing of it waits any more.
    pub fn leave(&self, tag: u64) {
        if self.last.get() == tag {
            self.flush();
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
        if self.waiting.get() != 0 {
            self.take_back();
            self.lend(0);
        }
    }
}
