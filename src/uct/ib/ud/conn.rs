//! A connection of an interface, and the table of them.
#![forbid(unsafe_code)]

use super::iface::UdIface;
use super::receiver::Received;
use super::sender::Packet;
use super::window::{ReceiveWindow, SendWindow};
use super::wire::{ConnId, Next};
use crate::ucs::{Result, Status};
use crate::uct::api::Completion;
use crate::uct::base::iface::EpLink;
use crate::uct::ib::retry::Retry;
use crate::uct::ib::way::Way;
use crate::uct::ib::wire::DEVICE_LEN;
use std::collections::VecDeque;

/// What a connection can do.
#[derive(Clone, Copy, Debug)]
pub enum State {
    /// Not connected yet.
    New,
    /// A connection request is on its way.
    Requested(Retry),
    Connected,
    /// Passive: a reply is on its way.
    Replied(Retry),
    /// The user has ended all transfers.
    Cancelled,
    Failed(Status),
}

/// A connection request, as it tells passive connections apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestKey {
    pub device: [u8; DEVICE_LEN],
    pub queue_pair: u32,
    pub from: ConnId,
    pub nonce: u64,
}

/// Whose a connection is.
pub enum Owner {
    /// An endpoint of the user; `None` before it has its address, and when it goes.
    Endpoint(Option<EpLink<UdIface>>),
    /// The interface, on behalf of the sender of this request.
    Interface(Box<RequestKey>),
}

pub struct Conn {
    pub id: ConnId,
    pub state: State,
    pub owner: Owner,
    pub way: Option<Way>,
    /// The connection at the peer.
    pub peer: ConnId,
    pub tx: SendWindow<Packet>,
    pub rx: ReceiveWindow<Received>,
    /// What `deliver` looks at: a packet of this queue pair with this header needs no look at anything else. `expect` sets them;
    /// `Conns::get` clears them, since who gets the connection may change it.
    next: Next,
    from: u32,
    /// Of the connection request; 0 where endpoints were connected to each other.
    pub nonce: u64,
    /// A packet that was sent is acknowledged: the peer has the connection for good.
    pub confirmed: bool,
    /// Flushes: the PSN behind the last packet that each waits for.
    pub flushes: VecDeque<(u16, Completion)>,
    /// Packets with user memory that were given up or acknowledged while the device may still read them.
    pub lingering: u32,
    /// The peer is owed an acknowledgement.
    pub ack_due: bool,
    /// In the list of those that get one at once.
    pub ack_listed: bool,
    /// In the list that the timer looks at.
    pub active: bool,
    /// The round of progress in which a send had to wait: others of that round wait too.
    pub refused: u32,
    /// Tick of the last packet from the peer, but for those of `deliver`.
    pub heard: u32,
    /// The PSN that was expected when the time of packets of `deliver` was noted last.
    noted: u16,
}

impl Conn {
    pub fn new(id: ConnId, owner: Owner, psn: u16, expected: u16) -> Conn {
        Conn {
            id,
            state: State::New,
            owner,
            way: None,
            peer: ConnId::NONE,
            tx: SendWindow::new(psn),
            rx: ReceiveWindow::new(expected),
            next: Next::NONE,
            from: 0,
            nonce: 0,
            confirmed: false,
            flushes: VecDeque::new(),
            lingering: 0,
            ack_due: false,
            ack_listed: false,
            active: false,
            refused: 0,
            heard: 0,
            noted: expected,
        }
    }

    pub fn is_passive(&self) -> bool {
        matches!(self.owner, Owner::Interface(_))
    }

    #[inline]
    pub fn is_connected(&self) -> bool {
        matches!(self.state, State::Connected)
    }

    /// Whether a packet of this queue pair is the peer's.
    #[inline(always)]
    pub fn is_peer(&self, queue_pair: u32) -> bool {
        let way = self.way.as_ref();
        way.is_some_and(|way| way.queue_pair == queue_pair)
    }

    /// Packets that follow the last one may be delivered by `deliver`, unless some are missing or have to be sent again. It is
    /// connected, active, and owes an acknowledgement.
    pub fn expect(&mut self) {
        let (psn, held) = self.rx.state();
        if let Some(way) = &self.way
            && held == 0
            && !self.tx.has_lost()
        {
            self.from = way.queue_pair;
            self.next = Next::new(self.id, psn, self.tx.oldest());
        }
    }

    /// Whether a packet of this queue pair with this header follows one of `expect`, with nothing in between.
    #[inline(always)]
    pub fn is_expected(&self, queue_pair: u32, header: u64) -> bool {
        self.next.is(header) && self.from == queue_pair
    }

    /// A packet of `is_expected` is delivered.
    #[inline(always)]
    pub fn deliver(&mut self) {
        self.next.advance();
        self.rx.advance();
        self.ack_due = true;
    }

    /// Packets of `deliver` came since the last call: the time is noted here, and not for each of them.
    pub fn note_heard(&mut self, now: u32) {
        let (expected, _) = self.rx.state();
        if core::mem::replace(&mut self.noted, expected) != expected {
            self.heard = now;
            self.tx.hears(now);
        }
    }

    /// Why nothing can be sent.
    #[cold]
    pub fn why_not(&self) -> Status {
        match self.state {
            State::New | State::Requested(_) | State::Connected | State::Replied(_) => {
                Status::NO_RESOURCE
            }
            State::Cancelled => Status::CANCELED,
            State::Failed(status) => status,
        }
    }

    /// Whether all packets before `psn` have arrived and are the user's again.
    pub fn is_flushed(&self, psn: u16) -> bool {
        self.lingering == 0 && (self.tx.oldest().wrapping_sub(psn) as i16) >= 0
    }
}

/// A place for a connection; the generation tells it from others that were there before.
struct Slot {
    generation: u32,
    conn: Option<Box<Conn>>,
}

/// The connections of an interface.
#[derive(Default)]
pub struct Conns {
    slots: Vec<Slot>,
    free: Vec<u32>,
    count: usize,
}

impl Conns {
    #[inline]
    pub fn get(&mut self, id: ConnId) -> Option<&mut Conn> {
        let conn = self.get_to_send(id)?;
        conn.next = Next::NONE;
        Some(conn)
    }

    /// As `get`, for what does not change what the peer may send.
    #[inline(always)]
    pub fn get_to_send(&mut self, id: ConnId) -> Option<&mut Conn> {
        let conn = self.in_place_of(id)?;
        (conn.id == id).then_some(conn)
    }

    /// The connection in the place of this one, for `Conn::deliver`.
    #[inline(always)]
    pub fn in_place_of(&mut self, id: ConnId) -> Option<&mut Conn> {
        self.slots.get_mut(id.slot())?.conn.as_deref_mut()
    }

    /// Adds a connection. `EXCEEDS_LIMIT`: there are too many.
    pub fn add(&mut self, make: impl FnOnce(ConnId) -> Conn) -> Result<ConnId> {
        let slot = match self.free.pop() {
            Some(slot) => slot as usize,
            None if self.slots.len() >= ConnId::SLOTS => return Err(Status::EXCEEDS_LIMIT),
            None => {
                self.slots.push(Slot {
                    generation: 0,
                    conn: None,
                });
                self.slots.len() - 1
            }
        };
        let place = self.slots.get_mut(slot).ok_or(Status::EXCEEDS_LIMIT)?;
        place.generation = place.generation.wrapping_add(1);
        let id = ConnId::new(slot, place.generation);
        place.conn = Some(Box::new(make(id)));
        self.count += 1;
        Ok(id)
    }

    pub fn remove(&mut self, id: ConnId) -> Option<Box<Conn>> {
        let place = self.slots.get_mut(id.slot())?;
        let conn = place.conn.take_if(|conn| conn.id == id)?;
        self.free.push(id.slot() as u32);
        self.count -= 1;
        Some(conn)
    }

    pub fn len(&self) -> usize {
        self.count
    }

    /// Places, with or without a connection.
    pub fn places(&self) -> usize {
        self.slots.len()
    }

    /// The connection of this place.
    pub fn at(&mut self, place: usize) -> Option<&mut Conn> {
        let conn = self.slots.get_mut(place)?.conn.as_deref_mut()?;
        conn.next = Next::NONE;
        Some(conn)
    }

    pub fn ids(&self) -> Vec<ConnId> {
        let conns = self.slots.iter().filter_map(|slot| slot.conn.as_ref());
        conns.map(|conn| conn.id).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uct::base::iface::EpBox;
    use crate::uct::base::pending::PendingGroup;

    /// An endpoint at rest, without the table that names it.
    #[test]
    fn an_endpoint_at_rest_takes_at_most_600_bytes() {
        /// The count of an `Rc`, and what an allocator adds to each of three blocks.
        const EXTRA: usize = 16 + 3 * 16;
        let bytes = size_of::<EpBox<UdIface>>()
            + size_of::<Conn>()
            + size_of::<Slot>()
            + size_of::<PendingGroup>()
            + EXTRA;
        assert!(bytes <= 600, "{bytes}");
        // A passive connection has a key, too, and is in a table by it.
        let passive = size_of::<Conn>() + 2 * (size_of::<RequestKey>() + 16) + size_of::<Slot>();
        assert!(passive <= 600, "{passive}");
    }

    #[test]
    fn a_place_is_not_confused_with_a_former_connection() {
        let mut conns = Conns::default();
        let make = |id| Conn::new(id, Owner::Endpoint(None), 0, 0);
        let first = conns.add(make).unwrap();
        assert!(conns.get(first).is_some());
        conns.remove(first).unwrap();
        assert!(conns.get(first).is_none() && conns.remove(first).is_none());
        let second = conns.add(make).unwrap();
        assert_eq!(second.slot(), first.slot());
        assert!(conns.get(first).is_none() && conns.get(second).is_some());
        assert_eq!((conns.len(), conns.ids()), (1, vec![second]));
    }
}
