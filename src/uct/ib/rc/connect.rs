//! Connecting to interfaces: what is done with the datagrams of the connection queue pair, and with the connections that
//! it makes.
//!
//! An endpoint that is connected to an interface only sends; the interface has a passive connection for it, which
//! receives and grants credits (`passive.rs`). It goes when its peer closes, or when the peer's queue pair does not
//! acknowledge: one that is quiet is asked now and then.
#![forbid(unsafe_code)]

use super::conn::{Conn, State};
use super::connector::{Connector, Link, RequestKey};
use super::datagrams;
use super::handshake::{Action, Handshake, answer_to_unknown};
use super::iface::{Face, RcIface};
use super::wire::{IfaceAddr, Kind, Message};
use crate::c::verbs::*;
use crate::sys::random::random_bytes;
use crate::sys::verbs::Route;
use crate::ucs::{Result, Status};
use crate::uct::api::Completion;
use crate::uct::ib::way::Way;
use crate::uct::ib::wire::{DeviceAddr, EpAddr};
use crate::uct::ib::{grh, identity};
use crate::{ucs_debug, ucs_diag, ucs_error};
use std::io;
use std::rc::Rc;

impl RcIface {
    /// The port as handshakes name it, with the largest packet that we want.
    fn own_device(&self) -> DeviceAddr {
        let own = self.port.address;
        DeviceAddr {
            mtu: self.port.mtu(&own, &self.settings.path) as u8,
            ..own
        }
    }

    /// A queue pair as peers connect to it.
    pub fn ep_addr(&self, conn: &Conn) -> EpAddr {
        EpAddr {
            queue_pair: conn.pair.number(),
            psn: conn.psn,
            segment: self.settings.segment as u32,
            reads: self.reads(),
        }
    }

    /// Connects a queue pair to a peer's.
    pub fn connect_pair(&self, conn: &Conn, device: &DeviceAddr, peer: &EpAddr) -> io::Result<()> {
        let s = &self.settings;
        let route = Route {
            peer: peer.queue_pair,
            mtu: self.port.mtu(device, &s.path),
            receive_psn: peer.psn,
            send_psn: conn.psn,
            address: self.port.route(device, &s.path),
            answered_reads: self.reads(),
            asked_reads: self.reads().min(peer.reads),
            timeout: s.timeout,
            retries: s.retries,
            rnr_retries: s.rnr_retries,
            rnr_timer: s.rnr_timer,
        };
        conn.pair.connect(&route)?;
        conn.set_state(State::Connected);
        Ok(())
    }

    /// The way to a connection queue pair of a peer.
    pub fn way(&self, connector: &Connector, device: &DeviceAddr, queue_pair: u32) -> Result<Way> {
        let (path, peers) = (&self.settings.path, connector.links.borrow().len());
        let handle =
            connector
                .ways
                .borrow_mut()
                .to(&self.domain, (&self.port, path), device, peers)?;
        Ok(Way { handle, queue_pair })
    }

    fn message(&self, link: &Link, kind: Kind) -> Message {
        Message {
            kind,
            to: link.peer,
            nonce: link.nonce,
            from: self.ep_addr(&link.conn),
            device: self.own_device(),
        }
    }

    /// What a connection's peer is told when this end goes, if it is known.
    pub fn close_message(&self, link: &Link) -> Option<Message> {
        let kind = match link.conn.state() {
            State::Failed(_) => Kind::Reset,
            _ => Kind::Close,
        };
        (link.peer != 0).then(|| self.message(link, kind))
    }

    /// Asks an interface for a connection.
    pub fn request(face: &Face, conn: &Rc<Conn>, device: &DeviceAddr, to: IfaceAddr) -> Result<()> {
        let connector = RcIface::connector(face)?;
        let now = connector.now();
        let way = face.way(connector, device, to.queue_pair)?;
        let liveness = (to.liveness != 0).then(|| Way {
            queue_pair: to.liveness,
            ..way.clone()
        });
        let link = Link {
            conn: Rc::clone(conn),
            handshake: Handshake::of_endpoint(now, connector.pace),
            nonce: u64::from_le_bytes(random_bytes::<8>()?),
            way,
            liveness,
            peer: 0,
            request: None,
            identity: identity::of(&device.encode(), to.queue_pair),
            confirmed: false,
            reset_told: false,
            probe_at: now,
            since: now,
        };
        let number = conn.pair.number();
        connector.schedule(number, &link);
        connector.links.borrow_mut().insert(number, link);
        RcIface::send_message(face, connector, number, Kind::Request);
        Ok(())
    }

    /// Sends a datagram of a connection, now or when there is room.
    pub fn send_message(face: &Face, connector: &Connector, number: u32, kind: Kind) {
        let links = connector.links.borrow();
        let Some(link) = links.get(&number) else {
            return;
        };
        let mut unsent = connector.unsent.borrow_mut();
        // What finds no place here either is sent by the timer.
        if !connector.send(&link.way, &face.message(link, kind)) && unsent.len() < links.len() {
            unsent.push_back((number, kind));
        }
    }

    /// Asks whether the process of an endpoint's peer lives, if that is answered there.
    fn ask(face: &Face, connector: &Connector, number: u32) {
        let mut links = connector.links.borrow_mut();
        let Some(link) = links.get_mut(&number) else {
            return;
        };
        let Some(way) = link.liveness.as_ref() else {
            return;
        };
        // What finds no room was not asked.
        if connector.send(way, &face.message(link, Kind::Ask)) {
            link.handshake.note_asked(connector.now());
        }
    }

    /// A datagram of ours has left, or cannot any more.
    #[cold]
    pub fn sent_datagram(face: &Face, completion: &ibv_wc) {
        let Some(connector) = face.connector.get() else {
            return;
        };
        connector.sent();
        if completion.status != IBV_WC_SUCCESS {
            RcIface::connector_failed(face, connector, completion);
            return;
        }
        let next = connector.unsent.borrow_mut().pop_front();
        if let Some((number, kind)) = next {
            RcIface::send_message(face, connector, number, kind);
        }
    }

    /// The connection queue pair has stopped: who is not connected yet will not be.
    fn connector_failed(face: &Face, connector: &Connector, completion: &ibv_wc) {
        if !connector.stop() {
            return;
        }
        ucs_error!(
            "rc_verbs: {}: the connection queue pair has stopped: {}; nobody can be connected any more",
            face.base.device,
            face.domain.device.status_text(completion.status)
        );
        let waiting: Vec<Rc<Conn>> = {
            let links = connector.links.borrow();
            let waiting = links.values().filter(|link| link.handshake.waits());
            waiting.map(|link| Rc::clone(&link.conn)).collect()
        };
        for conn in waiting {
            RcIface::fail(face, &conn, Status::IO_ERROR);
        }
    }

    /// A receive that no message's buffer was posted for: a datagram.
    #[cold]
    pub fn receive_datagram(face: &Face, completion: &ibv_wc) {
        let Some(connector) = face.connector.get() else {
            return;
        };
        let datagram = connector.received(completion);
        if completion.status != IBV_WC_SUCCESS {
            RcIface::connector_failed(face, connector, completion);
            return;
        }
        let Some((header, message)) = datagram else {
            return;
        };
        let device = &message.device;
        if message.from.queue_pair == 0
            || !grh::is_for(&face.port.address, &header)
            || !grh::is_from(device, &header, completion)
            || !face.port.reaches(device, &face.settings.path)
        {
            return;
        }
        RcIface::on_message(face, connector, &message, completion.src_qp);
    }

    fn on_message(face: &Face, connector: &Connector, message: &Message, sender: u32) {
        let key = RequestKey {
            device: message.device.encode(),
            sender,
            pair: message.from.queue_pair,
            nonce: message.nonce,
        };
        let number = match message.kind {
            Kind::Request => connector.passive.borrow().get(&key).copied(),
            _ => Some(message.to),
        };
        let is_peer = |link: &Link| {
            let same = link.peer == 0 || link.peer == message.from.queue_pair;
            let way = match message.kind {
                Kind::Alive => link.liveness.as_ref(),
                _ => Some(&link.way),
            };
            let from = way.is_some_and(|way| way.queue_pair == sender);
            same && from && link.nonce == message.nonce
        };
        let action = number.and_then(|number| {
            let mut links = connector.links.borrow_mut();
            let link = links.get_mut(&number).filter(|link| is_peer(link))?;
            let action = link.handshake.on_message(message.kind);
            connector.schedule(number, link);
            Some((number, action))
        });
        match (action, message.kind) {
            (Some((number, Action::Connect)), _) => {
                RcIface::replied(face, connector, number, message);
            }
            (Some((number, action)), _) => RcIface::act(face, connector, number, action),
            (None, Kind::Request) => RcIface::accept(face, connector, message, key),
            (None, kind) => {
                if let Some(answer) = answer_to_unknown(kind) {
                    RcIface::answer(face, connector, message, sender, answer);
                }
            }
        }
    }

    /// Answers a datagram of a connection that is not there.
    fn answer(face: &Face, connector: &Connector, message: &Message, sender: u32, kind: Kind) {
        let Ok(way) = face.way(connector, &message.device, sender) else {
            return;
        };
        let answer = datagrams::answer(message, kind, message.to, face.own_device());
        // Without room: the sender asks again.
        connector.send(&way, &answer);
    }

    /// The interface has made a queue pair for an endpoint of ours.
    fn replied(face: &Face, connector: &Connector, number: u32, message: &Message) {
        let conn = {
            let mut links = connector.links.borrow_mut();
            let Some(link) = links.get_mut(&number) else {
                return;
            };
            link.peer = message.from.queue_pair;
            Rc::clone(&link.conn)
        };
        // The user may have ended all transfers meanwhile.
        if conn.state() != State::New {
            return;
        }
        let connected = face
            .check_segment(&message.from)
            .and_then(|()| Ok(face.connect_pair(&conn, &message.device, &message.from)?));
        match connected {
            Ok(()) => RcIface::send_message(face, connector, number, Kind::Confirm),
            Err(status) => {
                ucs_diag!(
                    "rc_verbs: queue pair {number} cannot be connected to {}: {status}",
                    message.from.queue_pair
                );
                RcIface::send_message(face, connector, number, Kind::Close);
                RcIface::fail(face, &conn, status);
            }
        }
    }

    /// Refuses a peer whose receive buffers are smaller than our messages.
    pub fn check_segment(&self, peer: &EpAddr) -> Result<()> {
        if peer.segment as usize >= self.settings.segment {
            return Ok(());
        }
        ucs_error!(
            "rc_verbs: the peer receives {} bytes at a time, UCX_RC_VERBS_SEG_SIZE is {} here: use the same",
            peer.segment,
            self.settings.segment
        );
        Err(Status::UNREACHABLE)
    }

    fn act(face: &Face, connector: &Connector, number: u32, action: Action) {
        match action {
            Action::Nothing | Action::Connect => {}
            Action::Send(kind) => {
                RcIface::send_message(face, connector, number, kind);
                if kind == Kind::Request {
                    RcIface::ask(face, connector, number);
                }
            }
            Action::Probe => {
                let conn = {
                    let links = connector.links.borrow();
                    links.get(&number).map(|link| Rc::clone(&link.conn))
                };
                if let Some(conn) = conn
                    && conn.state() == State::Connected
                    && let Err(status) = conn.probe(face, Completion::NONE)
                    && status != Status::NO_RESOURCE
                {
                    RcIface::fail(face, &conn, status);
                }
            }
            Action::GiveUp => RcIface::fail_link(face, connector, number, Status::ENDPOINT_TIMEOUT),
            Action::Accept => RcIface::accepted(face, connector, number),
            Action::Closed => {
                RcIface::fail_link(face, connector, number, Status::CONNECTION_RESET);
            }
            Action::Reset => {
                RcIface::fail_link(face, connector, number, Status::CONNECTION_RESET);
                RcIface::fail_peers(face, connector, number, Status::CONNECTION_RESET);
            }
        }
    }

    /// A connection that a handshake makes or has made can be used no more.
    pub fn fail_link(face: &Face, connector: &Connector, number: u32, status: Status) {
        let conn = {
            let mut links = connector.links.borrow_mut();
            let Some(link) = links.get_mut(&number) else {
                return;
            };
            // It is told nothing any more.
            link.peer = 0;
            Rc::clone(&link.conn)
        };
        ucs_debug!("rc_verbs: queue pair {number}: {status}");
        RcIface::fail(face, &conn, status);
    }

    /// A connection can be used no more: its user is told, or it goes.
    #[cold]
    pub fn fail(face: &Face, conn: &Rc<Conn>, status: Status) {
        conn.fail(face, status);
        RcIface::note_failed(face, conn);
    }

    /// The peer of a connection that has failed is told. A passive connection goes.
    #[cold]
    pub fn note_failed(face: &Face, conn: &Rc<Conn>) {
        let (State::Failed(status), Some(connector)) = (conn.state(), face.connector.get()) else {
            return;
        };
        let number = conn.pair.number();
        let is_news = {
            let mut links = connector.links.borrow_mut();
            let link = links.get_mut(&number);
            link.is_some_and(|link| {
                link.peer != 0 && !core::mem::replace(&mut link.reset_told, true)
            })
        };
        if conn.is_passive {
            connector.ended.borrow_mut().push(number);
            connector.call();
        }
        if is_news {
            RcIface::send_message(face, connector, number, Kind::Reset);
            RcIface::fail_peers(face, connector, number, status);
        }
    }

    /// Whether a connection is, or gets, connected by a handshake.
    pub fn is_linked(&self, conn: &Conn) -> bool {
        let number = conn.pair.number();
        let connector = self.connector.get();
        connector.is_some_and(|connector| connector.links.borrow().contains_key(&number))
    }

    /// The end of a connection goes; the peer is told.
    pub fn unlink(face: &Face, number: u32) -> Option<Link> {
        let connector = face.connector.get()?;
        let link = connector.links.borrow_mut().remove(&number)?;
        connector.due.borrow_mut().remove(number);
        if let Some(peer) = link.identity.filter(|_| link.confirmed) {
            connector.connected.borrow_mut().remove(peer);
        }
        if let Some(key) = &link.request {
            connector.passive.borrow_mut().remove(key);
        }
        if let Some(message) = face.close_message(&link) {
            // Without it the peer finds out when it sends or asks.
            connector.send(&link.way, &message);
        }
        Some(link)
    }

    /// Looks at the time, and ends what has to go.
    #[cold]
    pub fn look(face: &Face, connector: &Connector) {
        connector.begin();
        let ticks = connector.ticks();
        let now = ticks as u32;
        let mut actions = Vec::new();
        let due = connector.due.borrow_mut().take(ticks);
        for number in due {
            let mut links = connector.links.borrow_mut();
            let Some(link) = links.get_mut(&number) else {
                continue;
            };
            let mut action = link.handshake.tick(now, connector.pace);
            let waits = link.handshake.waits();
            let is_late = (now.wrapping_sub(link.probe_at) as i32) >= 0;
            if link.request.is_some() && !waits && (is_late || action == Action::Probe) {
                link.probe_at = now.wrapping_add(connector.probe);
                action = Action::Probe;
            }
            if action != Action::Nothing {
                actions.push((number, action));
            }
            // Who has given up has failed, and waits for its user.
            if action != Action::GiveUp {
                connector.schedule(number, link);
            }
        }
        let next = connector.due.borrow().next();
        if let Some(tick) = next {
            connector.call_after((tick - ticks) as u32);
        }
        for (number, action) in actions {
            RcIface::act(face, connector, number, action);
        }
        let ended = connector.ended.take();
        if ended.is_empty() {
            return;
        }
        // The device forgets completions of queue pairs that are gone: messages among them are taken off before.
        face.clear_queue();
        for number in ended {
            if let Some(link) = RcIface::unlink(face, number) {
                RcIface::forget(face, &link.conn);
                link.conn.close(face);
            }
        }
    }
}
