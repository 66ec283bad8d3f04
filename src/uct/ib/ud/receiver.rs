//! Receive buffers: how many are posted, and which. Only the user's thread takes buffers from the pool; the async thread
//! posts those again that hold nothing.

use super::wire::{ConnId, HEADER_LEN, Header};
use crate::sys::verbs::DatagramPair;
use crate::ucs_diag;
use crate::uct::base::desc::{DescPool, OwnedDesc};
use crate::uct::ib::grh::{GRH_LEN, NO_VERSION};
use crate::uct::ib::ops::{self, ReceiveBatch};

/// Buffers that are posted at a time.
const BATCH: usize = ops::RECEIVES;
/// Bytes that stand before a payload.
pub const FRONT: usize = GRH_LEN + HEADER_LEN;

/// A packet that was received.
pub struct Received {
    pub desc: OwnedDesc,
    /// The connection.
    pub to: ConnId,
    /// Bytes of the payload.
    pub len: u32,
    pub id: u8,
}

impl Received {
    /// What the device wrote before the packet.
    pub fn route(&self) -> [u8; GRH_LEN] {
        let at = self.desc.payload().wrapping_sub(FRONT);
        // SAFETY: inside the buffer, which is ours until it is posted again.
        unsafe { at.cast::<[u8; GRH_LEN]>().read() }
    }

    /// The payload.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: so many bytes were received there; the buffer is not posted while this is borrowed.
        unsafe { core::slice::from_raw_parts(self.desc.payload(), self.len as usize) }
    }
}

pub struct Receiver {
    /// Bytes of a buffer from `FRONT` before the payload on.
    length: usize,
    limit: u32,
    /// How many shall be posted.
    target: u32,
    posted: u32,
    /// Packets of polls that brought as many completions as they can, since the last that did not.
    streak: u32,
    /// By the numbers that the device answers with.
    buffers: Vec<Option<OwnedDesc>>,
    numbers: Vec<u32>,
    free: Vec<OwnedDesc>,
    /// What is posted next.
    batch: Box<ReceiveBatch>,
}

impl Receiver {
    /// Buffers for datagrams of up to `datagram` bytes; `first` are posted first, later up to `limit`.
    pub fn new(datagram: usize, first: u32, limit: u32) -> Receiver {
        Receiver {
            length: GRH_LEN + datagram,
            limit,
            target: first,
            posted: 0,
            streak: 0,
            buffers: Vec::new(),
            numbers: Vec::new(),
            free: Vec::new(),
            batch: Box::new(ReceiveBatch::new()),
        }
    }

    /// How many received packets may wait for the user's progress.
    pub fn bound(&self) -> usize {
        self.target as usize / 2
    }

    /// A buffer that holds nothing any more.
    #[inline]
    pub fn give_back(&mut self, desc: OwnedDesc) {
        self.free.push(desc);
    }

    /// As `give_back`, of all of these.
    pub fn give_back_all(&mut self, descs: &mut Vec<OwnedDesc>) {
        self.free.append(descs);
    }

    /// A receive is complete: the packet and its header. `None` for what is shorter than that.
    #[inline]
    pub fn take(&mut self, wr_id: u64, bytes: u32) -> Option<(Received, Header)> {
        let number = (wr_id >> 1) as usize;
        let desc = self.buffers.get_mut(number)?.take()?;
        self.numbers.push(number as u32);
        self.posted -= 1;
        let Some(len) = bytes.checked_sub(FRONT as u32) else {
            self.free.push(desc);
            return None;
        };
        let at = desc.payload().wrapping_sub(HEADER_LEN);
        // SAFETY: the device has written the header right before the payload, inside the buffer.
        let header = Header::decode(unsafe { at.cast::<[u8; HEADER_LEN]>().read() });
        let Header { id, to, .. } = header;
        Some((Received { desc, to, len, id }, header))
    }

    /// Notes whether the last poll of the user brought as many completions as it can.
    #[inline]
    pub fn note_poll(&mut self, full: bool, packets: u32) {
        self.streak = if full { self.streak + packets } else { 0 };
        if self.streak >= self.target / 2 {
            self.grow();
        }
    }

    /// Shall post more: packets come faster than they are taken, or one was lost, maybe for want of a buffer.
    #[cold]
    pub fn grow(&mut self) {
        self.target = (self.target * 2).min(self.limit);
        self.streak = 0;
    }

    /// Whether enough buffers are missing to post some.
    #[inline]
    pub fn is_low(&self) -> bool {
        self.target - self.posted >= BATCH as u32
    }

    /// Posts buffers that are free; on the user's thread with the pool, also others.
    #[cold]
    pub fn refill(&mut self, pair: &DatagramPair, pool: Option<&DescPool>) {
        while self.is_low() {
            if !self.post_batch(pair, pool) {
                return;
            }
        }
    }

    /// A buffer of the pool.
    #[cold]
    fn another(&mut self, pool: Option<&DescPool>) -> Option<OwnedDesc> {
        match pool?.get_registered() {
            Ok(desc) => Some(desc.own()),
            Err(e) => {
                ucs_diag!("ud_verbs: no more receive buffers: {e}");
                self.make_do();
                None
            }
        }
    }

    /// Those that are posted now have to do. Without any, the next poll tries again.
    fn make_do(&mut self) {
        self.target = self.posted.max(BATCH as u32);
    }

    /// Posts up to a batch; `false` when there were fewer buffers than wanted.
    fn post_batch(&mut self, pair: &DatagramPair, pool: Option<&DescPool>) -> bool {
        self.batch.clear();
        while self.batch.len() < BATCH {
            let Some(desc) = self.free.pop().or_else(|| self.another(pool)) else {
                break;
            };
            let at = desc.payload().wrapping_sub(FRONT);
            // SAFETY: the buffer begins here and is not posted.
            unsafe { at.write(NO_VERSION) };
            let buffer = ops::entry(at, self.length, desc.key());
            let number = self.keep(desc);
            self.batch.push(u64::from(number) << 1, buffer);
        }
        let count = self.batch.len();
        if count == 0 {
            return false;
        }
        // SAFETY: a chain of requests; the buffers are registered, and kept until they complete or the pair is gone.
        match unsafe { pair.post_receives(self.batch.chain()) } {
            Ok(()) => {
                self.posted += count as u32;
                count == BATCH
            }
            Err(e) => {
                ucs_diag!("ud_verbs: receive buffers cannot be posted: {e}");
                self.make_do();
                for wr_id in self.batch.wr_ids() {
                    let number = (wr_id >> 1) as usize;
                    if let Some(desc) = self.buffers.get_mut(number).and_then(Option::take) {
                        self.numbers.push(number as u32);
                        self.free.push(desc);
                    }
                }
                false
            }
        }
    }

    #[inline(always)]
    fn keep(&mut self, desc: OwnedDesc) -> u32 {
        if let Some(number) = self.numbers.pop() {
            if let Some(place) = self.buffers.get_mut(number as usize) {
                *place = Some(desc);
            }
            return number;
        }
        self.buffers.push(Some(desc));
        self.buffers.len() as u32 - 1
    }
}
