//! One side of a handshake, by which an endpoint gets connected to an interface: what it does when a datagram arrives or
//! time passes. It sends nothing and reads no clock.
//!
//! The endpoint sends a request until a reply comes. The interface makes a queue pair at the first request, which answers
//! the same request again too, and sends the reply until a confirmation comes. The endpoint confirms each reply. When no
//! confirmation comes at all, the interface asks the peer's queue pair itself, through the connection: an
//! acknowledgement proves that it is connected. Both sides of a pair may connect at once: these are two connections,
//! each of which carries messages in one direction.
//!
//! The reply is made in the peer's progress, for which an endpoint may have to wait long. Whether the peer's process lives is
//! answered by its async thread: who waits asks as often as it sends the request again, and gives up soon when neither comes.
#![forbid(unsafe_code)]

use super::wire::Kind;
use crate::uct::ib::retry::{Retry, Step};

/// When to send again and when to give up, in ticks.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    pub timeout: u32,
    /// How long a peer may be silent that is asked whether it lives.
    pub silence: u32,
    /// Each further retransmission waits longer by this factor.
    pub backoff: f32,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// An endpoint waits for the reply.
    Requested(Retry, Silence),
    /// An interface waits for the confirmation.
    Replied(Retry),
    /// An endpoint that is connected.
    Connected,
    /// An interface whose peer is, or was asked through the connection.
    Accepted,
}

/// So many questions have to have no answer before a peer counts as silent: of an endpoint whose user makes progress
/// seldom, few are sent.
const LEAST_ASKED: u32 = 4;

/// What was asked since the last answer.
#[derive(Clone, Copy, Debug, Default)]
struct Silence {
    /// The tick of the first question.
    since: u32,
    asked: u32,
}

impl Silence {
    fn ask(&mut self, now: u32) {
        if self.asked == 0 {
            self.since = now;
        }
        self.asked += 1;
    }

    fn is_over(&self, now: u32, limit: u32) -> bool {
        self.asked >= LEAST_ASKED && now.wrapping_sub(self.since) >= limit
    }
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
    pub fn of_endpoint(now: u32, pace: Pace) -> Handshake {
        // Who answers is asked several times before it counts as silent, whatever is lost.
        let longest = (pace.silence / (2 * LEAST_ASKED)).max(1);
        Handshake(State::Requested(
            Retry::start_within(now, longest),
            Silence::default(),
        ))
    }

    /// Of an interface that has replied to a request.
    pub fn of_interface(now: u32) -> Handshake {
        Handshake(State::Replied(Retry::start(now)))
    }

    /// Whether the peer has still to answer.
    pub fn waits(&self) -> bool {
        matches!(self.0, State::Requested(..) | State::Replied(_))
    }

    /// The tick at which `tick` has to be called.
    pub fn due(&self) -> Option<u32> {
        match &self.0 {
            State::Requested(retry, _) | State::Replied(retry) => Some(retry.due()),
            State::Connected | State::Accepted => None,
        }
    }

    /// A datagram of this connection has come.
    pub fn on_message(&mut self, kind: Kind) -> Action {
        match (kind, self.0) {
            (Kind::Close, _) => Action::Closed,
            (Kind::Reset, _) => Action::Reset,
            (Kind::Reply, State::Requested(..)) => {
                self.0 = State::Connected;
                Action::Connect
            }
            (Kind::Alive, State::Requested(retry, _)) => {
                self.0 = State::Requested(retry, Silence::default());
                Action::Nothing
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

    /// The peer was asked whether it lives.
    pub fn note_asked(&mut self, now: u32) {
        if let State::Requested(_, silence) = &mut self.0 {
            silence.ask(now);
        }
    }

    /// Looks at the time.
    pub fn tick(&mut self, now: u32, pace: Pace) -> Action {
        let (retry, kind, is_silent) = match &mut self.0 {
            State::Requested(retry, silence) => {
                let is_silent = silence.is_over(now, pace.silence);
                (retry, Kind::Request, is_silent)
            }
            State::Replied(retry) => (retry, Kind::Reply, false),
            State::Connected | State::Accepted => return Action::Nothing,
        };
        match retry.step(now, pace.timeout, pace.backoff) {
            Step::Wait => Action::Nothing,
            // The last question had its time.
            Step::Send if is_silent => Action::GiveUp,
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
        Kind::Request | Kind::Close | Kind::Reset | Kind::Ask | Kind::Alive => None,
    }
}
