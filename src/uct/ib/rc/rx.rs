//! Receive buffers: how many are posted, and what becomes of what comes.
//!
//! The shared receive queue starts with few buffers, when the first endpoint is made. A buffer whose message was handled
//! is posted again with others. Completions that wait to be polled hold buffers that are used and not posted again: while
//! polls bring as many as they can take, for half of the buffers on end, their number is doubled, up to
//! `UCX_RC_VERBS_RX_QUEUE_LEN`.

use super::datagrams;
use super::iface::{Face, RcIface};
use crate::c::verbs::{IBV_WC_SUCCESS, ibv_recv_wr, ibv_wc};
use crate::sys::verbs::{QueuePair, ReceiveQueue};
use crate::ucs::Result;
use crate::ucs_diag;
use crate::uct::base::am::AM_IDS;
use crate::uct::base::desc::{Desc, DescPool, OwnedDesc};
use crate::uct::ib::ops::{self, Receive};
use crate::uct::ib::wire::{GRANT_ONLY, HEADER_LEN, Header};
use core::cell::{Cell, RefCell};
use core::ptr::null_mut;
use core::slice::Iter;
use std::rc::Rc;

/// Buffers that are posted first.
const FIRST: u32 = 64;
/// Most buffers that are posted at a time.
const BATCH: u32 = ops::RECEIVES as u32;
/// Requests that are made at a time.
const CHUNK: usize = 64;

pub struct Rx {
    /// `None`: each connection has a queue of its own, and nothing is handed in here.
    queue: Option<Rc<ReceiveQueue>>,
    pool: DescPool,
    /// Bytes of a message, the header included.
    segment: usize,
    limit: u32,
    /// How many shall be posted, or be in the batch.
    target: Cell<u32>,
    /// How many are posted, in the batch, or have a message that was not handled yet.
    there: Cell<u32>,
    /// When this is no less than `there` with `missing`, more are missing than the batch can have.
    low: Cell<u32>,
    /// All that were ever posted.
    posted_ever: Cell<u32>,
    /// The last poll brought as many completions as it can; those that were complete after the first of such polls on end.
    is_full: Cell<bool>,
    full_since: Cell<u32>,
    /// What is posted next, as a chain.
    batch: Cell<*mut ibv_recv_wr>,
    /// So many are posted at a time, and so many of them are missing.
    at_once: u32,
    missing: Cell<u32>,
    /// All requests, and those that have no buffer.
    requests: RefCell<Vec<Box<[Receive]>>>,
    free: RefCell<Vec<*const Receive>>,
}

/// Posts the buffer of this request to a queue pair with a receive queue of its own; `false`: the device refuses it.
pub fn post_one(pair: &QueuePair, receive: &Receive) -> bool {
    let chain = receive.before(null_mut());
    // SAFETY: a chain of one; the buffer is registered, and kept until it completes or the queue pair is gone.
    if let Err(e) = unsafe { pair.post_receives(chain) } {
        ucs_diag!("rc_verbs: a receive buffer cannot be posted: {e}");
        return false;
    }
    true
}

impl Rx {
    pub fn new(queue: Option<Rc<ReceiveQueue>>, pool: DescPool, segment: usize, limit: u32) -> Rx {
        let at_once = (limit / 2).clamp(1, BATCH);
        Rx {
            queue,
            pool,
            segment,
            limit,
            target: Cell::new(0),
            there: Cell::new(0),
            low: Cell::new(0),
            posted_ever: Cell::new(0),
            is_full: Cell::new(false),
            full_since: Cell::new(0),
            batch: Cell::new(null_mut()),
            at_once,
            missing: Cell::new(at_once),
            requests: RefCell::default(),
            free: RefCell::default(),
        }
    }

    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// Whether the payload of a buffer is at an address.
    pub fn has(&self, address: usize) -> bool {
        self.pool.has_payload(address)
    }

    /// The user needs the buffer with its payload at an address no more.
    pub fn release(&self, address: usize) {
        self.pool.take_back(address);
    }

    /// A buffer for a connection's own receives.
    pub fn buffer(&self) -> Result<OwnedDesc> {
        self.pool.get_registered().map(Desc::own)
    }

    /// Posts the first buffers, if that was not done.
    pub fn start(&self) {
        if self.target.get() == 0 {
            self.set_target(FIRST.min(self.limit));
            self.refill();
        }
    }

    /// How many are posted, or have a message that was not handled yet.
    fn posted(&self) -> u32 {
        self.there.get() - (self.at_once - self.missing.get())
    }

    /// Posts more where too few are.
    #[inline(always)]
    pub fn top_up(&self) {
        if self.there.get() + self.missing.get() <= self.low.get() {
            self.refill();
        }
    }

    /// A poll brought as many completions as it can; `false`: fewer.
    #[inline(always)]
    pub fn note_poll(&self, full: bool) {
        if !full {
            self.is_full.set(false);
            return;
        }
        self.note_full();
    }

    #[inline(never)]
    fn note_full(&self) {
        let complete = self.posted_ever.get().wrapping_sub(self.posted());
        if !self.is_full.replace(true) {
            self.full_since.set(complete);
        } else if complete.wrapping_sub(self.full_since.get()) >= self.target.get() / 2 {
            self.full_since.set(complete);
            self.set_target((self.target.get() * 2).min(self.limit));
            self.refill();
        }
    }

    fn set_target(&self, target: u32) {
        self.target.set(target);
        self.low
            .set(target.saturating_sub(2 * BATCH) + self.at_once);
    }

    /// Takes buffers from the pool until there are enough.
    #[cold]
    fn refill(&self) {
        while self.there.get() < self.target.get() {
            let desc = match self.pool.get_registered() {
                Ok(desc) => desc.own(),
                Err(e) => {
                    ucs_diag!("rc_verbs: no more receive buffers: {e}");
                    self.make_do();
                    break;
                }
            };
            let receive = self.unused();
            // The header stands right before the payload, whose alignment the user chose.
            receive.set(desc, self.segment);
            self.there.set(self.there.get() + 1);
            if !self.hand_in(receive) {
                return;
            }
        }
        if self.posted() == 0 {
            self.post();
        }
    }

    /// A request without a buffer.
    fn unused(&self) -> &Receive {
        let mut free = self.free.borrow_mut();
        let receive = free.pop().unwrap_or_else(|| {
            let chunk: Box<[Receive]> = (0..CHUNK).map(|_| Receive::new()).collect();
            free.extend(chunk[1..].iter().map(core::ptr::from_ref));
            let first = core::ptr::from_ref(&chunk[0]);
            self.requests.borrow_mut().push(chunk);
            first
        });
        // SAFETY: one of `requests`, which live as long as this and are used by shared references alone.
        unsafe { &*receive }
    }

    /// There are no more buffers: those that are there now have to do. Without any, the next poll tries again.
    fn make_do(&self) {
        let least = BATCH.min(self.limit);
        self.set_target(self.there.get().clamp(least, self.limit));
    }

    /// The buffer of this request is posted with the next batch; `false` when that failed.
    #[inline(always)]
    fn hand_in(&self, receive: &Receive) -> bool {
        self.batch.set(receive.before(self.batch.get()));
        let missing = self.missing.get() - 1;
        self.missing.set(missing);
        missing != 0 || self.post()
    }

    /// Posts the batch; `false` when the device refuses.
    #[inline(never)]
    fn post(&self) -> bool {
        let chain = self.batch.replace(null_mut());
        let count = self.at_once - self.missing.replace(self.at_once);
        let Some(queue) = self.queue.as_ref().filter(|_| count != 0) else {
            return true;
        };
        // SAFETY: a chain of requests; the buffers are registered, and kept until they complete or the queue is gone.
        match unsafe { queue.post(chain) } {
            Ok(()) => {
                let ever = self.posted_ever.get();
                self.posted_ever.set(ever.wrapping_add(count));
                true
            }
            Err(e) => {
                ucs_diag!("rc_verbs: receive buffers cannot be posted: {e}");
                // SAFETY: made by `hand_in`.
                for receive in unsafe { Receive::all(chain) } {
                    // SAFETY: those of a batch have buffers.
                    unsafe { receive.restore(receive.payload()) };
                    drop(self.take(receive));
                }
                false
            }
        }
    }

    /// Takes the buffer of a request away.
    fn take(&self, receive: &Receive) -> Option<OwnedDesc> {
        self.there.set(self.there.get() - 1);
        self.free.borrow_mut().push(receive);
        receive.take()
    }

    /// A receive has failed; `false`: its buffer is not one of these.
    pub fn discard(&self, wr_id: u64) -> bool {
        if datagrams::is_datagram(wr_id) {
            return false;
        }
        // SAFETY: all that the interface posts but datagrams are of `requests`.
        self.hand_in(unsafe { Receive::of(wr_id) });
        true
    }

    /// Hands the messages at the beginning of these completions to their handlers, until one asks for a pause.
    #[inline(always)]
    pub fn deliver<const LOGS: bool>(&self, face: &Face, completions: &mut Iter<'_, ibv_wc>) {
        while let Some(first) = completions.as_slice().first() {
            if face.base.internal.recv_paused.get()
                || first.status != IBV_WC_SUCCESS
                || !datagrams::is_message(first.wr_id)
            {
                break;
            }
            completions.next();
            // SAFETY: all that the interface posts but datagrams are of `requests`.
            let receive = unsafe { Receive::of(first.wr_id) };
            if self.deliver_one::<LOGS>(face, receive, first) {
                self.hand_in(receive);
            } else {
                self.give_away(receive);
            }
        }
        self.top_up();
    }

    /// Hands a message to its handler; `false`: the user keeps its buffer.
    #[inline(always)]
    pub(super) fn deliver_one<const LOGS: bool>(
        &self,
        face: &Face,
        receive: &Receive,
        completion: &ibv_wc,
    ) -> bool {
        let len = completion.byte_len as usize;
        let Some(payload) = len.checked_sub(HEADER_LEN) else {
            return Rx::drop_short(completion.qp_num);
        };
        let at = receive.payload();
        let header = at.wrapping_sub(HEADER_LEN);
        // SAFETY: the device has written it right before the payload, inside the buffer.
        let header = unsafe { header.cast::<[u8; HEADER_LEN]>().read() };
        face.receiving.set(completion);
        match Header::plain_id(header, AM_IDS) {
            // SAFETY: so many bytes have come.
            Some(id) => unsafe { Rx::hand_over::<LOGS>(face, (receive, at), id, payload) },
            // SAFETY: as above.
            None => unsafe { Rx::deliver_other(face, receive, Header::decode(header), payload) },
        }
    }

    /// Delivers a message that says something of credits, or is none of the user's.
    ///
    /// # Safety
    /// As `hand_over`.
    #[inline(never)]
    unsafe fn deliver_other(face: &Face, receive: &Receive, header: Header, len: usize) -> bool {
        if header.credits != 0 {
            RcIface::heard_credits(face, face.receiving(), header.credits);
            if header.id == GRANT_ONLY {
                return true;
            }
        }
        // SAFETY: by the caller's promise.
        unsafe { Rx::hand_over::<true>(face, (receive, receive.payload()), header.id, len) }
    }

    /// Hands the payload of this buffer, `len` bytes at `at`, to the handler; `false`: the user keeps the buffer.
    ///
    /// # Safety
    /// The device must have written them.
    #[inline(always)]
    unsafe fn hand_over<const LOGS: bool>(
        face: &Face,
        (receive, at): (&Receive, *mut u8),
        id: u8,
        len: usize,
    ) -> bool {
        // SAFETY: it has a buffer, whose payload is there.
        let restore = || unsafe { receive.restore(at) };
        // SAFETY: by the caller's promise, in a descriptor.
        unsafe { (face.base.am).invoke_desc::<LOGS>(id, at, len, restore) }
    }

    /// The user keeps this buffer.
    #[inline(never)]
    fn give_away(&self, receive: &Receive) {
        if let Some(desc) = self.take(receive) {
            desc.keep();
        }
    }

    #[cold]
    fn drop_short(pair: u32) -> bool {
        ucs_diag!("rc_verbs: a message without a header for queue pair {pair} is dropped");
        true
    }
}
