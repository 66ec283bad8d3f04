//! Receive buffers: how many are posted, and which. A request stays with its buffer, and is posted again when the packet
//! was handled. Only the user's thread takes buffers from the pool; the async thread posts those again that hold nothing.

use super::wire::{ConnId, HEADER_LEN, Header};
use crate::c::verbs::{ibv_recv_wr, ibv_wc};
use crate::sys::verbs::DatagramPair;
use crate::ucs_diag;
use crate::uct::base::desc::DescPool;
use crate::uct::ib::grh::{GRH_LEN, NO_VERSION};
use crate::uct::ib::ops::Receive;
use core::ptr::{NonNull, null_mut};

/// Most buffers that are posted at a time while packets come one after the other.
const BATCH: u32 = 32;
/// Requests that are made at a time.
const CHUNK: usize = 64;
/// Bytes that stand before a payload.
pub const FRONT: usize = GRH_LEN + HEADER_LEN;

/// A packet that was received. Its buffer is given back to the receiver, or is added to a chain.
pub struct Received {
    receive: NonNull<Receive>,
    /// The connection.
    pub to: ConnId,
    /// Bytes of the payload: at most a datagram's.
    pub len: u16,
    pub id: u8,
}

impl Received {
    #[inline(always)]
    pub fn receive(&self) -> &Receive {
        // SAFETY: one of `Receiver::requests`, which live as long as the interface and are used by shared references alone.
        unsafe { self.receive.as_ref() }
    }

    #[inline(always)]
    pub fn header(&self) -> Header {
        Header::of_word(self.word())
    }

    /// The eight bytes of the header.
    #[inline(always)]
    fn word(&self) -> u64 {
        let at = self.receive().payload().wrapping_sub(HEADER_LEN);
        // SAFETY: the device has written the header right before the payload, inside the buffer.
        u64::from_le_bytes(unsafe { at.cast::<[u8; HEADER_LEN]>().read() })
    }

    /// What the device wrote before the packet.
    pub fn route(&self) -> [u8; GRH_LEN] {
        let at = self.receive().payload().wrapping_sub(FRONT);
        // SAFETY: inside the buffer, which is ours until it is posted again.
        unsafe { at.cast::<[u8; GRH_LEN]>().read() }
    }

    /// The payload.
    pub fn bytes(&self) -> &[u8] {
        let at = self.receive().payload();
        // SAFETY: so many bytes were received there; the buffer is not posted while this is borrowed.
        unsafe { core::slice::from_raw_parts(at, usize::from(self.len)) }
    }
}

/// Requests whose buffers hold nothing, to be posted.
pub struct Chain {
    first: *mut ibv_recv_wr,
    count: u32,
}

impl Default for Chain {
    fn default() -> Chain {
        Chain {
            first: null_mut(),
            count: 0,
        }
    }
}

impl Chain {
    /// Adds a request that has a buffer and is not posted.
    #[inline(always)]
    pub fn add(&mut self, receive: &Receive) {
        self.add_from(receive, receive.payload());
    }

    /// As `add`, of a request whose buffer has its payload there.
    #[inline(always)]
    pub fn add_from(&mut self, receive: &Receive, payload: *mut u8) {
        let at = payload.wrapping_sub(FRONT);
        // SAFETY: the buffer begins here and is not posted.
        unsafe { at.write(NO_VERSION) };
        self.first = receive.before(self.first);
        self.count += 1;
    }

    /// Takes up to `most` off.
    fn take(&mut self, most: u32) -> Chain {
        if self.count <= most {
            return core::mem::take(self);
        }
        let Some(at) = most.checked_sub(1) else {
            return Chain::default();
        };
        // SAFETY: made by `add`.
        let last = unsafe { Receive::all(self.first) }.nth(at as usize);
        let rest = last.map_or(null_mut(), Receive::cut);
        self.count -= most;
        Chain {
            first: core::mem::replace(&mut self.first, rest),
            count: most,
        }
    }
}

pub struct Receiver {
    /// Bytes of a buffer from `FRONT` before the payload on, and those of a payload.
    length: usize,
    payload: u32,
    /// Most that may be posted, and most that shall be: what is handled comes back while others are posted.
    limit: u32,
    most: u32,
    /// How many shall be posted, and half of that.
    target: u32,
    bound: usize,
    posted: u32,
    /// So many are posted at a time.
    at_once: u32,
    /// Packets of polls that brought as many completions as they can, since the last that did not.
    streak: u32,
    /// Buffers that hold nothing, other than those of messages that the user has handled.
    idle: Chain,
    /// All requests, and those that have no buffer.
    requests: Vec<Box<[Receive]>>,
    free: Vec<NonNull<Receive>>,
}

impl Receiver {
    /// Buffers for datagrams of up to `datagram` bytes; `first` are posted first, later up to `limit`.
    pub fn new(datagram: usize, first: u32, limit: u32) -> Receiver {
        Receiver {
            length: GRH_LEN + datagram,
            payload: (datagram - HEADER_LEN) as u32,
            limit,
            most: limit.saturating_sub(4 * BATCH).max(first),
            target: first,
            bound: first as usize / 2,
            posted: 0,
            at_once: (first / 4).clamp(1, BATCH),
            streak: 0,
            idle: Chain::default(),
            requests: Vec::new(),
            free: Vec::new(),
        }
    }

    /// How many received packets may wait for the user's progress.
    #[inline(always)]
    pub fn bound(&self) -> usize {
        self.bound
    }

    fn set_target(&mut self, target: u32) {
        self.target = target;
        self.bound = target as usize / 2;
    }

    /// A buffer that holds nothing any more.
    #[inline]
    pub fn give_back(&mut self, received: Received) {
        self.idle.add(received.receive());
    }

    /// So many receives are complete; each has to be told to `take` or `note_not_taken`.
    #[inline]
    pub fn note_taken(&mut self, count: usize) {
        self.posted = self.posted.wrapping_sub(count as u32);
    }

    /// One of those that `note_taken` was told of is no receive.
    #[inline]
    pub fn note_not_taken(&mut self) {
        self.posted = self.posted.wrapping_add(1);
    }

    /// A receive is complete: the packet, and its header. `None` for what is shorter than that.
    ///
    /// # Safety
    /// `completion` must be of a receive of the interface.
    #[inline(always)]
    pub unsafe fn take(&mut self, completion: &ibv_wc) -> Option<(Received, u64)> {
        // SAFETY: all that the interface posts are of `requests`.
        let receive = unsafe { Receive::of(completion.wr_id) };
        let len = completion.byte_len.wrapping_sub(FRONT as u32);
        if len > self.payload {
            self.idle.add(receive);
            return None;
        }
        let mut received = Received {
            receive: NonNull::from(receive),
            to: ConnId::NONE,
            len: len as u16,
            id: 0,
        };
        let word = received.word();
        let Header { to, id, .. } = Header::of_word(word);
        (received.to, received.id) = (to, id);
        Some((received, word))
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
        self.set_target((self.target * 2).min(self.most));
        self.streak = 0;
    }

    /// Whether enough buffers are missing to post some.
    #[inline]
    pub fn is_low(&self) -> bool {
        self.posted + self.at_once <= self.target
    }

    /// Posts buffers that hold nothing; on the user's thread with the pool, also others and those of messages that were
    /// handled.
    #[inline(never)]
    pub fn refill(&mut self, pair: &DatagramPair, user: Option<(&DescPool, &mut Chain)>) {
        let mut posted = self.post_idle(pair);
        if let Some((pool, used)) = user {
            posted = posted && self.post(pair, used);
            let there = self.posted + self.idle.count + used.count;
            if posted && there + self.at_once <= self.target {
                self.take_others(pool, self.target - there);
                self.post_idle(pair);
            }
        }
    }

    /// Takes `count` buffers of the pool.
    #[cold]
    fn take_others(&mut self, pool: &DescPool, count: u32) {
        for _ in 0..count {
            let desc = match pool.get_registered() {
                Ok(desc) => desc.own(),
                Err(e) => {
                    ucs_diag!("ud_verbs: no more receive buffers: {e}");
                    self.make_do();
                    return;
                }
            };
            let receive = self.unused();
            // SAFETY: one of `requests`, of which there are shared references alone.
            let receive = unsafe { receive.as_ref() };
            receive.set_after(desc, FRONT, self.length);
            self.idle.add(receive);
        }
    }

    /// Posts buffers that hold nothing, as `post`.
    fn post_idle(&mut self, pair: &DatagramPair) -> bool {
        let mut idle = core::mem::take(&mut self.idle);
        let posted = self.post(pair, &mut idle);
        self.idle = idle;
        posted
    }

    /// A request without a buffer.
    fn unused(&mut self) -> NonNull<Receive> {
        if let Some(receive) = self.free.pop() {
            return receive;
        }
        let chunk: Box<[Receive]> = (0..CHUNK).map(|_| Receive::new()).collect();
        self.free.extend(chunk[1..].iter().map(NonNull::from));
        let first = NonNull::from(&chunk[0]);
        self.requests.push(chunk);
        first
    }

    /// The user has the buffer of this packet.
    pub fn without_buffer(&mut self, received: &Received) {
        self.free.push(received.receive);
    }

    /// Those that are there now have to do. Without any, the next poll tries again.
    fn make_do(&mut self) {
        self.set_target((self.posted + self.idle.count).clamp(BATCH.min(self.limit), self.limit));
    }

    /// Posts these, as many as there is room for, unless they are few; `false` when the device refuses.
    fn post(&mut self, pair: &DatagramPair, chain: &mut Chain) -> bool {
        if chain.count < self.at_once && self.posted >= self.at_once {
            return true;
        }
        let some = chain.take(self.limit - self.posted);
        if some.count == 0 {
            return true;
        }
        // SAFETY: a chain of requests; the buffers are registered, and kept until they complete or the pair is gone.
        match unsafe { pair.post_receives(some.first) } {
            Ok(()) => {
                self.posted += some.count;
                true
            }
            Err(e) => {
                ucs_diag!("ud_verbs: receive buffers cannot be posted: {e}");
                self.make_do();
                // SAFETY: made by `add`.
                let refused: Vec<&Receive> = unsafe { Receive::all(some.first) }.collect();
                for receive in refused {
                    chain.add(receive);
                }
                false
            }
        }
    }
}
