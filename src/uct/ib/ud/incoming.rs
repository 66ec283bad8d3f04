//! Polling: completions become acknowledgements, messages for the user, and steps of handshakes.
#![forbid(unsafe_code)]

use super::conn::{Conn, Owner, RequestKey, State};
use super::engine::{Engine, MAX_KEEPING};
use super::iface::UdIface;
use super::receiver::Received;
use super::window::Arrival;
use super::wire::{
    ACK, CLOSE, ConnId, EMPTY, FIRST_CONTROL, HEADER_LEN, Header, REPLY, REPLY_LEN, REQUEST, Reply,
    Request, decode_ack,
};
use crate::c::verbs::*;
use crate::ucs::{Result, Status};
use crate::ucs_error;
use crate::uct::base::iface::EpLink;
use crate::uct::ib::retry::Retry;
use crate::uct::ib::{grh, identity};

impl Engine {
    #[inline(never)]
    pub fn sent(&mut self, number: u32) {
        let mut finished = Vec::new();
        self.sender.complete(number, |conn| finished.push(conn));
        self.count_finished(finished);
    }

    /// The device has finished with a packet of each of these.
    fn count_finished(&mut self, finished: Vec<ConnId>) {
        for id in finished {
            if let Some(conn) = self.conns.get(id) {
                conn.lingering = conn.lingering.saturating_sub(1);
                Engine::check_flushes(conn, &mut self.sender.done);
            }
        }
    }

    /// No connection can be used any more.
    #[cold]
    pub fn stop(&mut self, why: &str) {
        if core::mem::replace(&mut self.broken, true) {
            return;
        }
        let mut finished = Vec::new();
        self.sender.stopped(|conn| finished.push(conn));
        self.count_finished(finished);
        self.fail_endpoints(why, Status::IO_ERROR);
    }

    /// The endpoints that there are fail.
    #[cold]
    pub fn fail_endpoints(&mut self, why: &str, status: Status) {
        ucs_error!(
            "ud_verbs: {}: {why}; its endpoints have failed",
            self.domain.name
        );
        for id in self.conns.ids() {
            self.fail(id, status);
        }
    }

    #[cold]
    fn malformed(&mut self, received: Received) {
        self.dropped.malformed += 1;
        self.receiver.give_back(received);
    }

    /// Whether a packet is for this interface's address.
    #[inline]
    fn is_for_us(&self, received: &Received) -> bool {
        !self.checks_destination || grh::is_for(&self.port.address, &received.route())
    }

    #[inline(always)]
    pub fn receive(&mut self, received: Received, word: u64, completion: &ibv_wc) {
        if !self.is_for_us(&received) {
            self.drop_foreign(received);
            return;
        }
        if received.id < FIRST_CONTROL
            && let Some(conn) = self.conns.in_place_of(received.to)
            && conn.is_expected(completion.src_qp, word)
            // For others there is room where `receive_data` makes it.
            && self.ready.len() < self.ready.capacity()
        {
            // Most packets.
            self.ready.push(received);
            conn.deliver();
            if Header::of_word(word).ask {
                Engine::acknowledge_at_once(conn, &mut self.acks);
            }
            return;
        }
        self.receive_other(received, completion);
    }

    #[cold]
    fn drop_foreign(&mut self, received: Received) {
        self.dropped.foreign += 1;
        self.receiver.give_back(received);
    }

    /// A packet of a handshake, of an unknown peer, that acknowledges something new, that comes before others, or the first one
    /// after such a packet.
    #[inline(never)]
    fn receive_other(&mut self, received: Received, completion: &ibv_wc) {
        let header = received.header();
        if header.id == REQUEST {
            self.receive_request(received, completion);
            return;
        }
        let Some(conn) = self.conns.get(header.to) else {
            self.dropped.unknown += 1;
            self.receiver.give_back(received);
            return;
        };
        if !conn.is_peer(completion.src_qp) {
            self.drop_foreign(received);
            return;
        }
        conn.heard = self.now;
        if !conn.is_connected() {
            if matches!(conn.state, State::Replied(_)) && header.id != REPLY {
                conn.state = State::Connected;
                if let Owner::Interface(key) = &conn.owner
                    && let Some(peer) = identity::of(&key.device, key.queue_pair)
                {
                    self.connected.add(peer);
                    self.arrived.push(peer);
                }
            } else {
                self.receive_unconnected(received, header);
                return;
            }
        }
        if header.id >= FIRST_CONTROL {
            self.receive_control(received, header);
            return;
        }
        if !conn.tx.is_empty() && !self.acknowledged(header, 0) {
            self.malformed(received);
            return;
        }
        self.receive_data(received, header);
    }

    /// A packet of the peer has to be acknowledged: `at_once`, or soon.
    #[inline(always)]
    fn owe_ack(conn: &mut Conn, at_once: bool, acks: &mut Vec<ConnId>, active: &mut Vec<ConnId>) {
        conn.ack_due = true;
        if at_once {
            Engine::acknowledge_at_once(conn, acks);
        }
        if !conn.active {
            conn.active = true;
            active.push(conn.id);
        }
    }

    #[inline]
    fn acknowledge_at_once(conn: &mut Conn, acks: &mut Vec<ConnId>) {
        if !conn.ack_listed {
            conn.ack_listed = true;
            acks.push(conn.id);
        }
    }

    /// What a packet says of those that were sent; whether it can be true.
    #[inline(never)]
    fn acknowledged(&mut self, header: Header, held: u64) -> bool {
        let many = self.conns.len() > MAX_KEEPING;
        let Some(conn) = self.conns.get(header.to) else {
            return true;
        };
        let (limits, sender) = (&self.settings.limits, &mut self.sender);
        let (oldest, lingering) = (conn.tx.oldest(), &mut conn.lingering);
        let result = conn
            .tx
            .acknowledge(self.now, limits, (header.ack, held), |packet| {
                sender.release(header.to, lingering, packet, Ok(()));
            });
        if result.is_err() {
            return false;
        }
        conn.confirmed |= conn.tx.oldest() != oldest;
        if !conn.flushes.is_empty() {
            Engine::check_flushes(conn, &mut self.sender.done);
        }
        if conn.tx.has_lost() {
            self.sender.resend(conn);
        } else if many {
            conn.tx.free(|packet| self.sender.recycle(packet));
        }
        true
    }

    #[inline(never)]
    fn receive_empty(&mut self, received: Received, header: Header) {
        self.receive_data(received, header);
    }

    #[inline(always)]
    fn receive_data(&mut self, received: Received, header: Header) {
        let Some(conn) = self.conns.get(header.to) else {
            return;
        };
        let (ready, bound) = (self.ready.len(), self.receiver.bound());
        let has_room = ready < bound;
        if has_room {
            self.ready.reserve_exact(bound - ready);
        }
        let mut at_once = header.ask;
        if conn.rx.is_next(header.psn) && has_room {
            conn.rx.advance();
            if header.id == EMPTY {
                self.receiver.give_back(received);
            } else {
                self.ready.push(received);
            }
        } else {
            at_once = true;
            let held = conn.rx.state().1;
            let (ready, receiver) = (&mut self.ready, &mut self.receiver);
            // What is held takes from what may be ready, so that one peer cannot use all buffers up.
            let outcome = if has_room {
                conn.rx.accept(header.psn, received, true, |next| {
                    if next.id == EMPTY {
                        receiver.give_back(next);
                    } else {
                        ready.push(next);
                    }
                })
            } else {
                Arrival::Refused(received)
            };
            match outcome {
                Arrival::Held if held == 0 => self.receiver.grow(),
                Arrival::Delivered | Arrival::Held => {}
                Arrival::Duplicate(received) => {
                    self.dropped.duplicate += 1;
                    self.receiver.give_back(received);
                }
                Arrival::Refused(received) => {
                    self.dropped.refused += 1;
                    self.receiver.give_back(received);
                }
            }
        }
        Engine::owe_ack(conn, at_once, &mut self.acks, &mut self.active);
        conn.expect();
    }

    pub fn send_acks(&mut self) {
        while let Some(id) = self.acks.pop() {
            let Some(conn) = self.conns.get_to_send(id) else {
                continue;
            };
            conn.ack_listed = false;
            if conn.ack_due {
                self.sender.acknowledge(conn, false);
            }
        }
    }

    #[inline(never)]
    fn receive_control(&mut self, received: Received, header: Header) {
        let Some(conn) = self.conns.get(header.to) else {
            return;
        };
        match header.id {
            ACK => {
                let Some(held) = decode_ack(received.bytes()) else {
                    self.malformed(received);
                    return;
                };
                if header.ask {
                    conn.ack_due = true;
                    Engine::acknowledge_at_once(conn, &mut self.acks);
                }
                if !conn.tx.is_empty() && !self.acknowledged(header, held) {
                    self.malformed(received);
                    return;
                }
            }
            EMPTY if received.len == 0 => {
                if !conn.tx.is_empty() {
                    self.acknowledged(header, 0);
                }
                self.receive_empty(received, header);
                return;
            }
            // The reply again: the packet that answered it was lost. Or the connection was given up there and made anew.
            REPLY if !conn.is_passive() => {
                let reply = Reply::decode(received.bytes()).filter(|r| r.nonce == conn.nonce);
                if let Some(peer) = reply.and_then(|reply| reply.from) {
                    if !conn.confirmed {
                        conn.peer = peer;
                    }
                    self.sender.acknowledge(conn, false);
                    if conn.tx.has_lost() {
                        self.sender.resend(conn);
                    }
                }
            }
            CLOSE if received.len == 0 => {
                let id = conn.id;
                self.fail(id, Status::CONNECTION_RESET);
            }
            _ => {
                self.malformed(received);
                return;
            }
        }
        self.receiver.give_back(received);
    }

    /// A packet for a connection that is not connected: only a reply is of use.
    #[cold]
    fn receive_unconnected(&mut self, received: Received, header: Header) {
        let Some(conn) = self.conns.get(header.to) else {
            return;
        };
        if header.id == REPLY && matches!(conn.state, State::Requested(_)) {
            match Reply::decode(received.bytes()) {
                Some(reply) if reply.nonce == conn.nonce => match reply.from {
                    Some(peer) => {
                        conn.peer = peer;
                        conn.state = State::Connected;
                        self.sender.acknowledge(conn, false);
                    }
                    None => {
                        let id = conn.id;
                        self.fail(id, Status::REJECTED);
                    }
                },
                Some(_) => self.dropped.unknown += 1,
                None => self.dropped.malformed += 1,
            }
        }
        self.receiver.give_back(received);
    }

    /// A connection request: anybody may send one.
    #[cold]
    fn receive_request(&mut self, received: Received, completion: &ibv_wc) {
        let request = Request::decode(received.bytes()).filter(|request| {
            let device = &request.device;
            grh::is_from(device, &received.route(), completion)
                && self.port.reaches(device, &self.settings.path)
        });
        self.receiver.give_back(received);
        let Some(request) = request else {
            self.dropped.malformed += 1;
            return;
        };
        let key = RequestKey {
            device: request.device.encode(),
            queue_pair: completion.src_qp,
            from: request.from,
            nonce: request.nonce,
        };
        let id = match self.passive.get(&key) {
            Some(&id) => id,
            None => match self.accept(&request, key) {
                Ok(id) => id,
                Err(_) => {
                    self.dropped.refused += 1;
                    return;
                }
            },
        };
        // Without room the timer sends it.
        self.send_reply(id);
    }

    fn accept(&mut self, request: &Request, key: RequestKey) -> Result<ConnId> {
        if !self.has_room_for_passive() {
            return Err(Status::EXCEEDS_LIMIT);
        }
        let way = self.way(&request.device, key.queue_pair)?;
        let now = self.now;
        let id = self.conns.add(|id| {
            let owner = Owner::Interface(Box::new(key));
            let mut conn = Conn::new(id, owner, 0, request.psn);
            conn.way = Some(way);
            conn.peer = request.from;
            conn.nonce = request.nonce;
            conn.heard = now;
            conn.state = State::Replied(Retry::start(now));
            conn
        })?;
        self.passive.insert(key, id);
        self.replied.push_back(id);
        self.activate(id);
        Ok(id)
    }

    /// Whether it was sent.
    pub fn send_reply(&mut self, id: ConnId) -> bool {
        let Some(conn) = self.conns.get(id) else {
            return false;
        };
        let Some(way) = &conn.way else {
            return false;
        };
        let header = Header {
            id: REPLY,
            to: conn.peer,
            ask: false,
            psn: 0,
            ack: 0,
        };
        let reply = Reply {
            nonce: conn.nonce,
            from: Some(id),
        };
        let mut bytes = [0; HEADER_LEN + REPLY_LEN];
        bytes[..HEADER_LEN].copy_from_slice(&header.encode());
        bytes[HEADER_LEN..].copy_from_slice(&reply.encode());
        self.sender.post_bytes(way, &bytes, false).is_ok()
    }
}

/// The endpoint that a connection is of.
pub fn endpoint_of(conn: &Conn) -> Option<EpLink<UdIface>> {
    match conn.owner {
        Owner::Endpoint(ep) => ep,
        Owner::Interface(_) => None,
    }
}
