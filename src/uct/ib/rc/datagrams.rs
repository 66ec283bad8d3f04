//! `Datagrams`: a queue pair for handshakes' datagrams with its buffers, and `Responder`: one that answers on the async thread
//! whether the process lives.
//!
//! Few buffers are posted: a datagram that finds none is sent again.

use super::iface::{Face, SLOT_BITS, SLOT_SHIFT};
use super::wire::{Kind, MESSAGE_LEN, Message};
use crate::c::verbs::*;
use crate::sys::verbs::{AddressHandle, Caps, CompletionQueue, Completions, DatagramPair};
use crate::ucs::Result;
use crate::ucs_diag;
use crate::uct::base::desc::{DescPool, OwnedDesc};
use crate::uct::ib::config::PathSettings;
use crate::uct::ib::grh::{self, GRH_LEN, NO_VERSION};
use crate::uct::ib::md::Domain;
use crate::uct::ib::ops::{self, ReceiveBatch};
use crate::uct::ib::port::Port;
use crate::uct::ib::way::{Way, Ways};
use crate::uct::ib::wire::{DeviceAddr, EpAddr};
use core::cell::RefCell;
use std::collections::VecDeque;
use std::os::fd::RawFd;
use std::rc::Rc;
use std::sync::Arc;

/// Datagrams with another key are dropped by the device.
const QKEY: u32 = 0x7263_6672;
/// Buffers that are posted, and datagrams that may be under way.
const RECEIVES: usize = 64;
const SENDS: usize = 64;
/// Entries of the completion queue that it needs.
pub const COMPLETIONS: u32 = (RECEIVES + SENDS) as u32;
/// Bytes of a receive buffer.
const BUFFER_LEN: usize = GRH_LEN + MESSAGE_LEN;
/// About so many bytes are registered at a time for buffers.
const CHUNK: usize = 12 << 10;
/// Completions that are taken off at a time.
const BATCH: usize = 16;

/// No connection has this place: work requests of the connection queue pair say so.
pub const NO_SLOT: u32 = (1 << SLOT_BITS) - 1;
/// What its work requests are called.
const SEND_ID: u64 = 1 | (NO_SLOT as u64) << SLOT_SHIFT;
/// No address of a program has this bit.
const RECEIVE_ID: u64 = 2;

/// Whether a completion of a receive is of such a queue pair.
#[inline(always)]
pub fn is_datagram(id: u64) -> bool {
    id & RECEIVE_ID != 0
}

/// Whether a completion is of a receive that is of none.
#[inline(always)]
pub fn is_message(id: u64) -> bool {
    id & (RECEIVE_ID | 1) == 0
}

/// Whether a completion of a send is of such a queue pair.
pub fn is_ours(id: u64) -> bool {
    id == SEND_ID
}

pub struct Datagrams {
    // The queue pair goes before the buffers.
    pair: DatagramPair,
    buffers: RefCell<Vec<Option<OwnedDesc>>>,
    /// The buffers that are not posted.
    free: RefCell<Vec<u32>>,
    pool: DescPool,
    /// The address handles that datagrams under way use, in their order.
    sent: RefCell<VecDeque<Rc<AddressHandle>>>,
}

impl Datagrams {
    /// A queue pair that receives, on this completion queue. `None`: the device has too little inline data.
    pub fn new(face: &Face, queue: &Rc<CompletionQueue>) -> std::io::Result<Option<Datagrams>> {
        let wanted = Caps {
            send_queue: SENDS as u32,
            send_sges: 1,
            inline: MESSAGE_LEN as u32,
        };
        let pair = DatagramPair::new(&face.domain.device, queue, wanted, RECEIVES as u32)?;
        if (pair.caps().inline as usize) < MESSAGE_LEN {
            return Ok(None);
        }
        pair.start(face.port.number, face.partition, QKEY)?;
        let domain = Arc::clone(&face.domain);
        let register = Box::new(move |at, len| domain.register_own(at, len));
        let datagrams = Datagrams {
            pair,
            buffers: RefCell::new((0..RECEIVES).map(|_| None).collect()),
            free: RefCell::new((0..RECEIVES as u32).collect()),
            pool: DescPool::registered(BUFFER_LEN, 0, (1, 0), CHUNK, register),
            sent: RefCell::default(),
        };
        datagrams.refill();
        Ok(Some(datagrams))
    }

    pub fn number(&self) -> u32 {
        self.pair.number()
    }

    /// Not in a child of fork(), which must leave it alone.
    pub fn is_ours(&self) -> bool {
        self.pair.is_ours()
    }

    /// Posts receive buffers where some are missing.
    fn refill(&self) {
        while !self.free.borrow().is_empty() && self.post_batch() {}
    }

    fn post_batch(&self) -> bool {
        let mut batch = ReceiveBatch::new();
        let (mut buffers, mut free) = (self.buffers.borrow_mut(), self.free.borrow_mut());
        while batch.len() < ops::RECEIVES {
            let Some(&number) = free.last() else {
                break;
            };
            let Some(place) = buffers.get_mut(number as usize) else {
                break;
            };
            if place.is_none() {
                match self.pool.get_registered() {
                    Ok(desc) => *place = Some(desc.own()),
                    Err(e) => {
                        ucs_diag!("rc_verbs: no buffer for connection requests: {e}");
                        break;
                    }
                }
            }
            let Some(desc) = place else { break };
            // SAFETY: the buffer begins here and is not posted.
            unsafe { desc.payload().write(NO_VERSION) };
            let entry = ops::entry(desc.payload(), BUFFER_LEN, desc.key());
            batch.push(RECEIVE_ID | u64::from(number) << 2, entry);
            free.pop();
        }
        if batch.len() == 0 {
            return false;
        }
        // SAFETY: a chain of requests; the buffers are registered, and kept until they complete or the pair is gone.
        if let Err(e) = unsafe { self.pair.post_receives(batch.chain()) } {
            ucs_diag!("rc_verbs: buffers for connection requests cannot be posted: {e}");
            free.extend(batch.wr_ids().map(number_of));
            return false;
        }
        true
    }

    /// A receive is complete: what the device wrote before the datagram, and the datagram. `None`: it has failed, or no peer
    /// of this release writes it.
    pub fn received(&self, completion: &ibv_wc) -> Option<([u8; GRH_LEN], Message)> {
        let number = number_of(completion.wr_id);
        let mut bytes = [0; BUFFER_LEN];
        let len = completion.byte_len as usize;
        {
            let buffers = self.buffers.borrow();
            let desc = buffers.get(number as usize)?.as_ref()?;
            if completion.status == IBV_WC_SUCCESS && len <= BUFFER_LEN {
                // SAFETY: the device has written so many bytes there.
                unsafe { core::ptr::copy_nonoverlapping(desc.payload(), bytes.as_mut_ptr(), len) };
            }
        }
        self.free.borrow_mut().push(number);
        if completion.status != IBV_WC_SUCCESS {
            return None;
        }
        self.refill();
        let (header, message) = bytes.split_first_chunk()?;
        let message = message.first_chunk().filter(|_| len == BUFFER_LEN)?;
        Some((*header, Message::decode(message)?))
    }

    /// Sends a datagram; `false`: there is no room now.
    pub fn send(&self, way: &Way, message: &Message) -> bool {
        if self.sent.borrow().len() >= SENDS {
            return false;
        }
        let bytes = message.encode();
        let mut list = [ops::entry(bytes.as_ptr(), bytes.len(), 0)];
        let mut request = ops::send(&mut list, IBV_SEND_INLINE | IBV_SEND_SIGNALED);
        request.wr.ud = ibv_send_wr_ud {
            ah: way.handle.raw(),
            remote_qpn: way.queue_pair,
            remote_qkey: QKEY,
        };
        request.wr_id = SEND_ID;
        // SAFETY: inline data of this frame; `sent` keeps the address handle.
        match unsafe { self.pair.post(&mut request) } {
            Ok(()) => self.sent.borrow_mut().push_back(Rc::clone(&way.handle)),
            // The timer tries again.
            Err(e) => ucs_diag!("rc_verbs: a datagram is refused: {e}"),
        }
        true
    }

    /// A datagram was sent.
    pub fn sent(&self) {
        self.sent.borrow_mut().pop_front();
    }

    /// All datagrams were sent.
    pub fn is_idle(&self) -> bool {
        self.sent.borrow().is_empty()
    }
}

/// Which buffer a receive is of.
fn number_of(id: u64) -> u32 {
    (id >> 2) as u32
}

/// What answers a datagram: who it was for is free to be another queue pair of the same interface.
pub fn answer(to: &Message, kind: Kind, from: u32, device: DeviceAddr) -> Message {
    Message {
        kind,
        to: to.from.queue_pair,
        nonce: to.nonce,
        from: EpAddr {
            queue_pair: from,
            psn: 0,
            segment: 0,
            reads: 0,
        },
        device,
    }
}

/// Tells who asks that this process lives, whether the user makes progress or not. Whoever has it uses it alone.
pub struct Responder {
    datagrams: Datagrams,
    queue: Rc<CompletionQueue>,
    ways: Ways,
    domain: Arc<Domain>,
    port: Port,
    path: PathSettings,
}

// SAFETY: all that it has `Rc`s of, its completion queue and address handles, is its own: no method gives one out. What it
// shares with others, the domain, is used by the async thread elsewhere too.
unsafe impl Send for Responder {}

impl Responder {
    /// `None`: as `Datagrams::new`.
    pub fn new(face: &Face) -> std::io::Result<Option<Responder>> {
        let queue = CompletionQueue::new(&face.domain.device, COMPLETIONS as usize)?;
        let Some(datagrams) = Datagrams::new(face, &queue)? else {
            return Ok(None);
        };
        queue.request_event()?;
        Ok(Some(Responder {
            datagrams,
            queue,
            ways: Ways::default(),
            domain: Arc::clone(&face.domain),
            port: face.port.clone(),
            path: face.settings.path.clone(),
        }))
    }

    pub fn number(&self) -> u32 {
        self.datagrams.number()
    }

    /// Readable when somebody has asked.
    pub fn event_fd(&self) -> RawFd {
        self.queue.event_fd()
    }

    /// Answers who has asked.
    pub fn answer_all(&mut self) {
        self.queue.take_events();
        // What comes while this looks makes the descriptor readable again.
        if let Err(e) = self.queue.request_event() {
            ucs_diag!("rc_verbs: whether this process lives is answered no more: {e}");
        }
        let mut room = Completions::<BATCH>::new();
        let queue = Rc::clone(&self.queue);
        // No more than these can have been there before.
        for _ in 0..COMPLETIONS as usize / BATCH {
            let Ok(batch) = queue.poll(&mut room) else {
                return;
            };
            for completion in batch {
                if is_ours(completion.wr_id) {
                    self.datagrams.sent();
                } else if let Some((header, message)) = self.datagrams.received(completion) {
                    // Without room: the peer asks again.
                    let _ = self.answer_one(&header, &message, completion);
                }
            }
            if batch.len() < BATCH {
                return;
            }
        }
    }

    fn answer_one(
        &mut self,
        header: &[u8; GRH_LEN],
        message: &Message,
        completion: &ibv_wc,
    ) -> Result<()> {
        let device = &message.device;
        if message.kind != Kind::Ask
            || !grh::is_for(&self.port.address, header)
            || !grh::is_from(device, header, completion)
            || !self.port.reaches(device, &self.path)
        {
            return Ok(());
        }
        let handle = self
            .ways
            .to(&self.domain, (&self.port, &self.path), device, 0)?;
        let way = Way {
            handle,
            queue_pair: completion.src_qp,
        };
        let alive = answer(message, Kind::Alive, self.number(), self.port.address);
        self.datagrams.send(&way, &alive);
        Ok(())
    }
}
