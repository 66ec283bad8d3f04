//! Receive buffers: how many are posted, and what becomes of what comes.
//!
//! The shared receive queue starts with few buffers, when the first endpoint is made. Completions that wait to be polled
//! hold buffers that are used and not posted again: while polls bring as many as they can take, for half of the buffers
//! on end, their number is doubled, up to `UCX_RC_VERBS_RX_QUEUE_LEN`.

use super::iface::{Face, NO_PAIR, RcIface};
use crate::c::verbs::ibv_wc;
use crate::c::*;
use crate::sys::verbs::ReceiveQueue;
use crate::ucs_diag;
use crate::uct::base::desc::{DescPool, OwnedDesc};
use crate::uct::ib::ops::{self, ReceiveBatch};
use crate::uct::ib::wire::{GRANT_ONLY, HEADER_LEN, Header};
use core::cell::{Cell, RefCell};
use std::rc::Rc;

/// Buffers that are posted first.
const FIRST: u32 = 64;
/// Buffers that are posted at a time.
const BATCH: usize = ops::RECEIVES;

pub struct Rx {
    queue: Rc<ReceiveQueue>,
    pool: DescPool,
    /// Bytes of a message, the header included.
    segment: usize,
    limit: u32,
    /// How many shall be posted.
    target: Cell<u32>,
    posted: Cell<u32>,
    /// Messages of polls that brought as many completions as they can, since the last that did not.
    streak: Cell<u32>,
    /// By the numbers that the device answers with.
    buffers: RefCell<Vec<Option<OwnedDesc>>>,
    free: RefCell<Vec<u32>>,
}

impl Rx {
    pub fn new(queue: Rc<ReceiveQueue>, pool: DescPool, segment: usize, limit: u32) -> Rx {
        Rx {
            queue,
            pool,
            segment,
            limit,
            target: Cell::new(0),
            posted: Cell::new(0),
            streak: Cell::new(0),
            buffers: RefCell::new(Vec::new()),
            free: RefCell::new(Vec::new()),
        }
    }

    pub fn queue(&self) -> &Rc<ReceiveQueue> {
        &self.queue
    }

    /// Posts the first buffers, if that was not done.
    pub fn start(&self) {
        if self.target.get() == 0 {
            self.target.set(FIRST.min(self.limit));
            self.refill();
        }
    }

    /// Posts buffers where enough are missing. `full`: the last poll brought as many completions as it can.
    #[inline]
    pub fn top_up(&self, full: bool) {
        let (posted, target) = (self.posted.get(), self.target.get());
        if !full {
            self.streak.set(0);
        }
        if target - posted >= BATCH as u32 {
            if full {
                self.lag(target - posted);
            }
            self.refill();
        }
    }

    /// So many more messages came while completions wait.
    #[cold]
    fn lag(&self, messages: u32) {
        let (streak, target) = (self.streak.get() + messages, self.target.get());
        if streak >= target / 2 {
            self.target.set((target * 2).min(self.limit));
            self.streak.set(0);
        } else {
            self.streak.set(streak);
        }
    }

    fn refill(&self) {
        while self.posted.get() < self.target.get() {
            if !self.post_batch() {
                return;
            }
        }
    }

    /// Posts up to a batch; `false` when there were fewer buffers than wanted.
    fn post_batch(&self) -> bool {
        let wanted = BATCH.min((self.target.get() - self.posted.get()) as usize);
        let mut batch = ReceiveBatch::new();
        while batch.len() < wanted {
            let desc = match self.pool.get_registered() {
                Ok(desc) => desc.own(),
                Err(e) => {
                    ucs_diag!("rc_verbs: no more receive buffers: {e}");
                    self.make_do();
                    break;
                }
            };
            // The header stands right before the payload, whose alignment the user chose.
            let at = desc.payload().wrapping_sub(HEADER_LEN);
            let buffer = ops::entry(at, self.segment, desc.key());
            batch.push(u64::from(self.keep(desc)) << 1, buffer);
        }
        let count = batch.len();
        if count == 0 {
            return false;
        }
        // SAFETY: a chain of requests; the buffers are registered, and kept until they complete or the queue is gone.
        match unsafe { self.queue.post(batch.chain()) } {
            Ok(()) => {
                self.posted.set(self.posted.get() + count as u32);
                self.target.set(self.target.get().max(self.posted.get()));
                count == wanted
            }
            Err(e) => {
                ucs_diag!("rc_verbs: receive buffers cannot be posted: {e}");
                self.make_do();
                for wr_id in batch.wr_ids() {
                    self.take(wr_id);
                }
                false
            }
        }
    }

    /// There are no more buffers: those that are posted now have to do. Without any, the next poll tries again.
    fn make_do(&self) {
        self.target.set(self.posted.get().max(BATCH as u32));
    }

    fn keep(&self, desc: OwnedDesc) -> u32 {
        let mut buffers = self.buffers.borrow_mut();
        if let Some(number) = self.free.borrow_mut().pop() {
            buffers[number as usize] = Some(desc);
            return number;
        }
        buffers.push(Some(desc));
        buffers.len() as u32 - 1
    }

    fn take(&self, wr_id: u64) -> Option<OwnedDesc> {
        let number = (wr_id >> 1) as usize;
        let desc = self.buffers.borrow_mut().get_mut(number)?.take()?;
        self.free.borrow_mut().push(number as u32);
        Some(desc)
    }

    /// A receive is complete: its buffer, which is posted no more.
    #[inline]
    fn completed(&self, wr_id: u64) -> Option<OwnedDesc> {
        let desc = self.take(wr_id)?;
        self.posted.set(self.posted.get() - 1);
        Some(desc)
    }

    /// A receive has failed; `false`: its buffer is not one of these.
    pub fn discard(&self, wr_id: u64) -> bool {
        self.completed(wr_id).is_some()
    }

    /// Hands a message that was received to its handler.
    #[inline]
    pub fn deliver(&self, face: &Face, completion: &ibv_wc) {
        let Some(desc) = self.completed(completion.wr_id) else {
            RcIface::receive_datagram(face, completion);
            return;
        };
        let (len, pair) = (completion.byte_len as usize, completion.qp_num);
        let at = desc.payload();
        let Some(payload) = len.checked_sub(HEADER_LEN) else {
            ucs_diag!("rc_verbs: a message without a header for queue pair {pair} is dropped");
            return;
        };
        // SAFETY: the device has written the header right before the payload, inside the buffer.
        let header =
            Header::decode(unsafe { at.sub(HEADER_LEN).cast::<[u8; HEADER_LEN]>().read() });
        if header.credits != 0 {
            face.heard_credits(pair, header.credits);
        }
        if header.id == GRANT_ONLY {
            return;
        }
        desc.restore();
        face.receiving.set(pair);
        // SAFETY: the payload stands in a descriptor.
        let kept = unsafe {
            let flags = UCT_CB_PARAM_FLAG_DESC;
            face.base.am.invoke(header.id, at, payload, flags)
        };
        face.receiving.set(NO_PAIR);
        if kept == UCS_INPROGRESS {
            desc.keep();
        }
    }
}
