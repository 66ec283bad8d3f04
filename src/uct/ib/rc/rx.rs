//! Receive buffers: how many are posted, and what becomes of what comes.
//!
//! The shared receive queue starts with few buffers, when the first endpoint is made. A buffer whose message was handled
//! is posted again with others. Completions that wait to be polled hold buffers that are used and not posted again: while
//! polls bring as many as they can take, for half of the buffers on end, their number is doubled, up to
//! `UCX_RC_VERBS_RX_QUEUE_LEN`.

use super::iface::{Face, NO_PAIR, RcIface};
use crate::c::verbs::ibv_wc;
use crate::c::*;
use crate::sys::verbs::ReceiveQueue;
use crate::ucs_diag;
use crate::uct::base::desc::{DescPool, OwnedDesc};
use crate::uct::ib::ops::{self, ReceiveRequests};
use crate::uct::ib::wire::{GRANT_ONLY, HEADER_LEN, Header};
use core::cell::{Cell, RefCell};
use std::rc::Rc;

/// Buffers that are posted first.
const FIRST: u32 = 64;
/// Most buffers that are posted at a time.
const BATCH: u32 = ops::RECEIVES as u32;

pub struct Rx {
    queue: Rc<ReceiveQueue>,
    pool: DescPool,
    /// Bytes of a message, the header included.
    segment: usize,
    limit: u32,
    /// How many shall be posted, or be in the batch.
    target: Cell<u32>,
    /// With no more than so many posted, more are missing than the batch can have.
    floor: Cell<u32>,
    posted: Cell<u32>,
    /// All that were ever posted, and those that were complete after the last poll that brought fewer completions than it can.
    posted_ever: Cell<u32>,
    idle_at: Cell<u32>,
    /// The numbers of what is posted next.
    batch: [Cell<u32>; BATCH as usize],
    batched: Cell<usize>,
    /// So many are posted at a time.
    at_once: usize,
    /// By the numbers that the device answers with: those that are posted, and those in the batch.
    buffers: Box<[Cell<Option<OwnedDesc>>]>,
    requests: RefCell<ReceiveRequests>,
    /// Numbers that were given back, and the first that was never given.
    free: RefCell<Vec<u32>>,
    unused: Cell<u32>,
}

impl Rx {
    pub fn new(queue: Rc<ReceiveQueue>, pool: DescPool, segment: usize, limit: u32) -> Rx {
        Rx {
            queue,
            pool,
            segment,
            limit,
            target: Cell::new(0),
            floor: Cell::new(0),
            posted: Cell::new(0),
            posted_ever: Cell::new(0),
            idle_at: Cell::new(0),
            batch: [const { Cell::new(0) }; BATCH as usize],
            batched: Cell::new(0),
            at_once: (limit / 2).clamp(1, BATCH) as usize,
            buffers: (0..limit).map(|_| Cell::new(None)).collect(),
            requests: RefCell::new(ReceiveRequests::new(limit as usize)),
            free: RefCell::new(Vec::new()),
            unused: Cell::new(0),
        }
    }

    pub fn queue(&self) -> &Rc<ReceiveQueue> {
        &self.queue
    }

    /// Posts the first buffers, if that was not done.
    pub fn start(&self) {
        if self.target.get() == 0 {
            self.set_target(FIRST.min(self.limit));
            self.refill();
        }
    }

    /// Posts more where too few are. `full`: the last poll brought as many completions as it can.
    #[inline]
    pub fn top_up(&self, full: bool) {
        let posted = self.posted.get();
        let complete = self.posted_ever.get().wrapping_sub(posted);
        if !full {
            self.idle_at.set(complete);
        } else if complete.wrapping_sub(self.idle_at.get()) >= self.target.get() / 2 {
            self.idle_at.set(complete);
            self.set_target((self.target.get() * 2).min(self.limit));
            self.refill();
        }
        if posted <= self.floor.get() {
            self.refill();
        }
    }

    fn set_target(&self, target: u32) {
        self.target.set(target);
        self.floor.set(target.saturating_sub(2 * BATCH));
    }

    /// Takes buffers from the pool until there are enough.
    #[cold]
    fn refill(&self) {
        while self.posted.get() + self.in_batch() < self.target.get() {
            let desc = match self.pool.get_registered() {
                Ok(desc) => desc.own(),
                Err(e) => {
                    ucs_diag!("rc_verbs: no more receive buffers: {e}");
                    self.make_do();
                    break;
                }
            };
            let number = self.free.borrow_mut().pop().unwrap_or_else(|| {
                let number = self.unused.get();
                self.unused.set(number + 1);
                number
            });
            // The header stands right before the payload, whose alignment the user chose.
            let at = desc.payload().wrapping_sub(HEADER_LEN);
            let buffer = ops::entry(at, self.segment, desc.key());
            let mut requests = self.requests.borrow_mut();
            requests.set(number, u64::from(number) << 1, buffer);
            drop(requests);
            if !self.hand_in(number, desc) {
                return;
            }
        }
        if self.posted.get() == 0 {
            self.post();
        }
    }

    fn in_batch(&self) -> u32 {
        self.batched.get() as u32
    }

    /// There are no more buffers: those that are there now have to do. Without any, the next poll tries again.
    fn make_do(&self) {
        let there = self.posted.get() + self.in_batch();
        self.set_target(there.clamp(BATCH.min(self.limit), self.limit));
    }

    /// The buffer of this number, whose request is set, is posted with the next batch; `false` when that failed.
    #[inline(always)]
    fn hand_in(&self, number: u32, desc: OwnedDesc) -> bool {
        match self.buffers.get(number as usize) {
            // Nothing is there, so nothing is dropped.
            Some(place) => core::mem::forget(place.replace(Some(desc))),
            None => return false,
        }
        let batched = self.batched.get();
        if let Some(next) = self.batch.get(batched) {
            next.set(number);
            self.batched.set(batched + 1);
        }
        batched + 1 < self.at_once || self.post()
    }

    /// Posts the batch; `false` when the device refuses.
    #[inline(never)]
    fn post(&self) -> bool {
        let batch = self.batch.get(..self.batched.take()).unwrap_or_default();
        if batch.is_empty() {
            return true;
        }
        let count = batch.len() as u32;
        let posted = {
            let mut requests = self.requests.borrow_mut();
            let chain = requests.chain(batch.iter().map(Cell::get));
            // SAFETY: a chain of requests; the buffers are registered, and kept until they complete or the queue is gone.
            unsafe { self.queue.post(chain) }
        };
        match &posted {
            Ok(()) => {
                self.posted.set(self.posted.get() + count);
                let ever = self.posted_ever.get();
                self.posted_ever.set(ever.wrapping_add(count));
            }
            Err(e) => {
                ucs_diag!("rc_verbs: receive buffers cannot be posted: {e}");
                for number in batch.iter().map(Cell::get) {
                    drop(self.take(number));
                    self.free.borrow_mut().push(number);
                }
            }
        }
        posted.is_ok()
    }

    #[inline]
    fn take(&self, number: u32) -> Option<OwnedDesc> {
        self.buffers.get(number as usize)?.take()
    }

    /// A receive is complete: its number and its buffer, which is posted no more.
    #[inline]
    fn completed(&self, wr_id: u64) -> Option<(u32, OwnedDesc)> {
        let number = u32::try_from(wr_id >> 1).ok()?;
        let desc = self.take(number)?;
        self.posted.set(self.posted.get() - 1);
        Some((number, desc))
    }

    /// A receive has failed; `false`: its buffer is not one of these.
    pub fn discard(&self, wr_id: u64) -> bool {
        let Some((number, desc)) = self.completed(wr_id) else {
            return false;
        };
        self.hand_in(number, desc);
        true
    }

    /// Hands a message that was received to its handler.
    #[inline(always)]
    pub fn deliver(&self, face: &Face, completion: &ibv_wc) {
        let Some((number, desc)) = self.completed(completion.wr_id) else {
            RcIface::receive_datagram(face, completion);
            return;
        };
        let (len, pair) = (completion.byte_len as usize, completion.qp_num);
        let at = desc.payload();
        let Some(payload) = len.checked_sub(HEADER_LEN) else {
            self.drop_short(number, desc, pair);
            return;
        };
        // SAFETY: the device has written the header right before the payload, inside the buffer.
        let header =
            Header::decode(unsafe { at.sub(HEADER_LEN).cast::<[u8; HEADER_LEN]>().read() });
        if header.credits != 0 {
            face.heard_credits(pair, header.credits);
        }
        if header.id == GRANT_ONLY {
            self.hand_in(number, desc);
            return;
        }
        face.receiving.set(pair);
        // SAFETY: the device has written so many bytes there.
        let mut done = unsafe { face.base.am.invoke_short(header.id, at, payload) };
        if !done {
            desc.restore();
            // SAFETY: the payload stands in a descriptor.
            let kept = unsafe {
                let flags = UCT_CB_PARAM_FLAG_DESC;
                face.base.am.invoke(header.id, at, payload, flags)
            };
            done = kept != UCS_INPROGRESS;
        }
        face.receiving.set(NO_PAIR);
        if done {
            self.hand_in(number, desc);
        } else {
            self.give_away(number, desc);
        }
    }

    /// The user keeps this buffer.
    #[inline(never)]
    fn give_away(&self, number: u32, desc: OwnedDesc) {
        desc.keep();
        self.free.borrow_mut().push(number);
    }

    #[cold]
    fn drop_short(&self, number: u32, desc: OwnedDesc, pair: u32) {
        ucs_diag!("rc_verbs: a message without a header for queue pair {pair} is dropped");
        self.hand_in(number, desc);
    }
}
