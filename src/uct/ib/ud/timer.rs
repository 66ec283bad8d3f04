//! The async thread's part: it takes packets while the application makes no progress, sends acknowledgements that are
//! due, sends again what is lost, and finds peers that are gone.
#![forbid(unsafe_code)]

use super::conn::State;
use super::engine::{Engine, Shared};
use super::window::Expiry;
use super::wire::ConnId;
use crate::ucs::Status;
use crate::ucs::sync::Ordering;
use crate::uct::ib::events::Fault;
use crate::uct::ib::retry::Step;
use std::sync::Weak;

/// Ticks in which the timer has looked at every passive connection.
const SWEEP: usize = 100;

/// Ticks between two calls of the timer, unless the process stood still.
const MOST_TICKS: u32 = 2;

/// What the timer calls.
pub fn tick(shared: &Weak<Shared>) {
    if let Some(shared) = shared.upgrade() {
        shared.0.lock().tick();
    }
}

impl Engine {
    fn tick(&mut self) {
        let before = self.now;
        self.read_clock();
        let polled = core::mem::take(&mut self.polled);
        if polled {
            self.attended = self.now;
        }
        // Of a process that stood still nobody has looked at what came meanwhile: it comes before what counts as lost.
        if !polled || self.now.wrapping_sub(before) > MOST_TICKS {
            self.poll_unattended();
        }
        // Acquire: what it was set for is seen then.
        if self.attention.load(Ordering::Acquire) {
            self.handle_faults();
        }
        let active = core::mem::take(&mut self.active);
        for id in active {
            if self.look_at(id) {
                self.active.push(id);
            } else if let Some(conn) = self.conns.get(id) {
                conn.active = false;
            }
        }
        self.sweep_passive();
    }

    /// What events of the device have told of.
    #[cold]
    fn handle_faults(&mut self) {
        // What is set from now on is for the next tick.
        self.attention.store(false, Ordering::Relaxed);
        for fault in self.faults.take() {
            match fault {
                Fault::Device => self.stop("the device has failed"),
                Fault::Queue => self.stop("its completion queue has failed"),
                Fault::Pair(_) => self.stop("its queue pair has failed"),
                Fault::Port => {
                    self.fail_endpoints("the port is down", Status::ENDPOINT_TIMEOUT);
                }
            }
        }
    }

    /// Takes packets for an application that computes, or sleeps.
    fn poll_unattended(&mut self) {
        // More than can be kept stays with the device, unless the application is away for so long that its peers could
        // believe it gone: then they get acknowledgements and send again.
        let away = self.now.wrapping_sub(self.attended) > self.settings.limits.timeout / 8;
        let mut taken = 0;
        while taken < self.settings.async_polls
            && (away || self.ready.len() < self.receiver.bound())
        {
            match self.poll() {
                0 => break,
                n => taken += n,
            }
        }
        if taken > 0 {
            if self.receiver.is_low() {
                self.receiver.refill(&self.sender.pair, None);
            }
            self.wake();
        }
    }

    /// Looks at a connection; whether it has to be looked at again.
    fn look_at(&mut self, id: ConnId) -> bool {
        let (now, limits) = (self.now, self.settings.limits);
        let Some(conn) = self.conns.get(id) else {
            return false;
        };
        match &mut conn.state {
            State::Requested(retry) => {
                match retry.step(now, limits.timeout, limits.backoff) {
                    Step::Wait => {}
                    Step::Send => {
                        let sent = self.send_request(id);
                        self.note_sent(id, sent);
                    }
                    Step::GiveUp => self.fail(id, Status::ENDPOINT_TIMEOUT),
                }
                true
            }
            State::Replied(retry) => {
                match retry.step(now, limits.timeout, limits.backoff) {
                    Step::Wait => {}
                    Step::Send => {
                        let sent = self.send_reply(id);
                        self.note_sent(id, sent);
                    }
                    Step::GiveUp => self.remove(id),
                }
                true
            }
            State::Connected => {
                conn.note_heard(now);
                match conn.tx.expire(now, &limits) {
                    Expiry::Dead => {
                        self.fail(id, Status::ENDPOINT_TIMEOUT);
                        return false;
                    }
                    Expiry::Resend if conn.nonce != 0 && !conn.confirmed => {
                        // The peer may have given the connection up before the first packet arrived.
                        self.send_request(id);
                        return true;
                    }
                    Expiry::Nothing | Expiry::Resend => {}
                }
                if conn.tx.has_lost() {
                    self.sender.resend(conn);
                }
                if conn.ack_due {
                    self.sender.acknowledge(conn, false);
                }
                let sender = &mut self.sender;
                let rests = conn.tx.rest(|packet| sender.recycle(packet));
                !rests || conn.ack_due
            }
            State::New | State::Cancelled | State::Failed(_) => false,
        }
    }

    fn note_sent(&mut self, id: ConnId, sent: bool) {
        let now = self.now;
        if let Some(conn) = self.conns.get(id)
            && let State::Requested(retry) | State::Replied(retry) = &mut conn.state
        {
            retry.note_sent(now, sent);
        }
    }

    /// Asks peers of passive connections that are quiet whether they live; forgets those that are gone.
    fn sweep_passive(&mut self) {
        let places = self.conns.places();
        for _ in 0..places.div_ceil(SWEEP) {
            self.sweep = if self.sweep + 1 < places {
                self.sweep + 1
            } else {
                0
            };
            let (now, timeout) = (self.now, self.settings.limits.timeout);
            let Some(conn) = self.conns.at(self.sweep) else {
                continue;
            };
            if !conn.is_passive() || !conn.is_connected() {
                continue;
            }
            conn.note_heard(now);
            let quiet = now.wrapping_sub(conn.heard);
            let id = conn.id;
            if quiet > timeout.saturating_mul(2) {
                self.remove(id);
            } else if quiet > timeout / 2 {
                self.sender.acknowledge(conn, true);
            }
        }
    }
}
