//! Passive connections: what an interface makes for a peer that asks, how many, and whose they are. Anybody may ask.
#![forbid(unsafe_code)]

use super::conn::{Conn, State};
use super::connector::{Connector, Link, RequestKey};
use super::handshake::Handshake;
use super::iface::{Face, RcIface};
use super::wire::{Kind, Message};
use crate::ucs::{Result, Status};
use crate::ucs_diag;
use crate::uct::ib::identity;
use std::rc::Rc;

/// Most passive connections of an interface; no more than half of the device's queue pairs.
const MAX_PASSIVE: usize = 1 << 16;
/// Most of them whose peer has not confirmed: then one makes room that is older than so many ticks, or else the request
/// is dropped, and its sender tries again.
const MAX_HALF_OPEN: usize = 1024;
const HALF_OPEN_AGE: u32 = 100;
/// After a request for which no queue pair could be made, so many ticks pass before the next is looked at.
const REST: u32 = 50;
impl RcIface {
    /// Whether another passive connection is allowed; may give one up for it.
    fn has_room(face: &Face, connector: &Connector) -> bool {
        let now = connector.now();
        loop {
            let oldest = {
                let half_open = connector.half_open.borrow();
                if half_open.len() < MAX_HALF_OPEN {
                    break;
                }
                half_open.front().copied()
            };
            let waiting = oldest.and_then(|number| {
                let links = connector.links.borrow();
                let link = links.get(&number).filter(|link| link.handshake.waits())?;
                Some((number, now.wrapping_sub(link.since)))
            });
            match waiting {
                Some((_, age)) if age < HALF_OPEN_AGE => return false,
                Some((number, _)) => {
                    RcIface::fail_link(face, connector, number, Status::ENDPOINT_TIMEOUT);
                }
                None => {}
            }
            connector.half_open.borrow_mut().pop_front();
        }
        let most = MAX_PASSIVE.min(face.domain.limits.max_qp.max(0) as usize / 2);
        connector.passive.borrow().len() < most
    }

    /// A connection request: anybody may send one.
    pub fn accept(face: &Face, connector: &Connector, message: &Message, key: RequestKey) {
        let now = connector.now();
        let rests = |until: &u32| (now.wrapping_sub(*until) as i32) < 0;
        let rest = connector.rest_until.get().filter(rests);
        connector.rest_until.set(rest);
        let refusal = if rest.is_some() {
            Err(Status::NO_RESOURCE)
        } else if !RcIface::has_room(face, connector) {
            Err(Status::EXCEEDS_LIMIT)
        } else {
            RcIface::make_passive(face, connector, message, key)
        };
        if let Err(status) = refusal
            && !connector.refusal_told.replace(true)
        {
            ucs_diag!(
                "rc_verbs: {}: a connection request is refused with {} passive connections there: {status}; further \
                 refusals are not logged",
                face.base.device,
                connector.passive.borrow().len()
            );
        }
    }

    fn make_passive(
        face: &Face,
        connector: &Connector,
        message: &Message,
        key: RequestKey,
    ) -> Result<()> {
        let now = connector.now();
        let way = face.way(connector, &message.device, key.sender)?;
        let conn = face.new_conn(true).inspect_err(|_| {
            connector.rest_until.set(Some(now.wrapping_add(REST)));
        })?;
        if let Err(e) = face.connect_pair(&conn, &message.device, &message.from) {
            RcIface::forget(face, &conn);
            conn.close(face);
            return Err(e.into());
        }
        let number = conn.pair.number();
        let link = Link {
            conn,
            handshake: Handshake::of_interface(now),
            nonce: message.nonce,
            way,
            liveness: None,
            peer: message.from.queue_pair,
            request: Some(key),
            identity: identity::of(&key.device, key.sender),
            confirmed: false,
            reset_told: false,
            probe_at: now.wrapping_add(connector.probe),
            since: now,
        };
        connector.schedule(number, &link);
        connector.links.borrow_mut().insert(number, link);
        connector.passive.borrow_mut().insert(key, number);
        connector.half_open.borrow_mut().push_back(number);
        RcIface::send_message(face, connector, number, Kind::Reply);
        Ok(())
    }

    /// The peer of a passive connection has got the reply: it is who it says.
    pub fn accepted(face: &Face, connector: &Connector, number: u32) {
        let peer = {
            let mut links = connector.links.borrow_mut();
            let Some(link) = links.get_mut(&number) else {
                return;
            };
            link.confirmed = true;
            link.identity
        };
        if let Some(peer) = peer {
            connector.connected.borrow_mut().add(peer);
            face.base.internal.peer_connected(peer);
        }
    }

    /// The peer of a passive connection has failed: so do our endpoints to its interface, which may wait for what it
    /// would have sent.
    pub fn fail_peers(face: &Face, connector: &Connector, number: u32, status: Status) {
        let conns: Vec<Rc<Conn>> = {
            let links = connector.links.borrow();
            let failed = links.get(&number).filter(|link| link.confirmed);
            let Some(peer) = failed.and_then(|link| link.identity) else {
                return;
            };
            let ours = |link: &&Link| link.request.is_none() && link.identity == Some(peer);
            let ours = links.values().filter(ours);
            ours.map(|link| Rc::clone(&link.conn)).collect()
        };
        for conn in conns {
            // A callback may have closed it meanwhile.
            if matches!(conn.state(), State::New | State::Connected) {
                RcIface::fail(face, &conn, status);
            }
        }
    }

    /// The identity of who sends through this queue pair, if it is a passive connection's.
    pub fn identity_behind(&self, pair: u32) -> Option<u64> {
        let links = self.connector.get()?.links.borrow();
        let link = links.get(&pair).filter(|link| link.request.is_some())?;
        link.identity
    }
}
