//! One side of a handshake, by which an endpoint gets connected to an interface: what it does when a datagram arrives or
//! time passes. It sends nothing and reads no clock.
//!
//! The endpoint sends a request until a reply comes. The interface makes a queue pair at the first request, which answers
//! the same request again too, and sends the reply until a confirmation comes. The endpoint confirms each reply. When no
//! confirmation comes at all, the interface asks the peer's queue pair itself, through the connection: an
//! acknowledgement proves that it is connected. Both sides of a pair may connect at once: these are two connections,
//! each of which carries messages in one direction.
#![forbid(unsafe_code)]

use super::wire::Kind;
use crate::uct::ib::retry::{Retry, Step};

/// When to send again and when to give up, in ticks.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    pub timeout: u32,
    /// Each further retransmission waits longer by this factor.
    pub backoff: f32,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// An endpoint waits for the reply.
    Requested(Retry),
    /// An interface waits for the confirmation.
    Replied(Retry),
    /// An endpoint that is connected.
    Connected,
    /// An interface whose peer is, or was asked through the connection.
    Accepted,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Nothing,
    /// Send this, maybe again.
    Send(Kind),
    /// Connect to the queue pair of the reply, then confirm.
    Connect,
    /// The peer is connected.
    Accept,
    /// Ask the peer through the connection.
    Probe,
    /// Nobody answers.
    GiveUp,
    /// The peer's end is gone.
    Closed,
    /// It has failed.
    Reset,
}

/// A handshake, and the connection it has made.
#[derive(Clone, Copy, Debug)]
pub struct Handshake(State);

impl Handshake {
    /// Of an endpoint that has sent its request.
    pub fn of_endpoint(now: u32) -> Handshake {
        Handshake(State::Requested(Retry::start(now)))
    }

    /// Of an interface that has replied to a request.
    pub fn of_interface(now: u32) -> Handshake {
        Handshake(State::Replied(Retry::start(now)))
    }

    /// Whether the peer has still to answer.
    pub fn waits(&self) -> bool {
        matches!(self.0, State::Requested(_) | State::Replied(_))
    }

    /// The tick at which `tick` has to be called.
    pub fn due(&self) -> Option<u32> {
        match &self.0 {
            State::Requested(retry) | State::Replied(retry) => Some(retry.due()),
            State::Connected | State::Accepted => None,
        }
    }

    /// A datagram of this connection has come.
    pub fn on_message(&mut self, kind: Kind) -> Action {
        match (kind, self.0) {
            (Kind::Close, _) => Action::Closed,
            (Kind::Reset, _) => Action::Reset,
            (Kind::Reply, State::Requested(_)) => {
                self.0 = State::Connected;
                Action::Connect
            }
            // The confirmation was lost, or this one was late.
            (Kind::Reply, State::Connected) => Action::Send(Kind::Confirm),
            (Kind::Confirm, State::Replied(_)) => {
                self.0 = State::Accepted;
                Action::Accept
            }
            (Kind::Request, State::Replied(_) | State::Accepted) => Action::Send(Kind::Reply),
            _ => Action::Nothing,
        }
    }

    /// Looks at the time.
    pub fn tick(&mut self, now: u32, pace: Pace) -> Action {
        let (retry, kind) = match &mut self.0 {
            State::Requested(retry) => (retry, Kind::Request),
            State::Replied(retry) => (retry, Kind::Reply),
            State::Connected | State::Accepted => return Action::Nothing,
        };
        match retry.step(now, pace.timeout, pace.backoff) {
            Step::Wait => Action::Nothing,
            Step::Send => {
                retry.note_sent(now, true);
                Action::Send(kind)
            }
            Step::GiveUp if kind == Kind::Reply => {
                self.0 = State::Accepted;
                Action::Probe
            }
            Step::GiveUp => Action::GiveUp,
        }
    }
}

/// What answers a datagram of a connection that is not there.
pub fn answer_to_unknown(kind: Kind) -> Option<Kind> {
    match kind {
        // The receiver's end is gone, or never was: so that the sender's does not stay.
        Kind::Reply | Kind::Confirm => Some(Kind::Close),
        Kind::Request | Kind::Close | Kind::Reset => None,
    }
}
