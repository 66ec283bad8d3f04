//! The life of an endpoint: two state machines, one towards the peer and one towards the application.
//!
//! [`Connection`] is what can be sent to the peer. Only these changes happen:
//!
//! ```text
//! Unconnected ──Connect──► Connecting ──Ready──► Connected
//!      │                       │                     │
//!      │                       └────────Abort────────┴──► Aborting ──Drain──► Draining
//!      │ Abort, Fail           │ Fail                │ Fail   │ Fail, Drained   │ Fail, Drained
//!      └───────────────────────┴─────────────────────┴────────┴─────────────────┴────────► Failed
//! ```
//!
//! [`Handle`] is what the application may do with its `ucp_ep_h`:
//!
//! ```text
//! Hidden ──Expose, Create──► Held ──Close──► Closing ──Flushed──► Lingering
//!    └──────────Destroy────────┴───Destroy──────┴───────Destroy───────┴────► Destroyed
//! ```
//!
//! They are two, since every combination occurs: an application may hold an endpoint that has failed, and a destroyed
//! endpoint may still send. The tests list every state with every event.
#![forbid(unsafe_code)]

use crate::ucs::Status;

/// Who made an endpoint. It changes when the application takes over an endpoint of the peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MadeBy {
    Application,
    /// A wire-up message of the peer (an implicit endpoint). The application may take it over.
    Peer,
    /// This worker, for replies to a remote endpoint whose local endpoint was closed. It receives no other messages,
    /// and the application cannot take it over.
    ReturnPath,
}

/// What can be sent to the peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Connection {
    /// The peer is not known: what is posted waits.
    Unconnected,
    /// The transport is connecting.
    Connecting,
    /// The transport has taken messages.
    Connected,
    /// The operations fail with the status, but the peer's worker lives: it gets replies to its requests.
    Aborting(Status),
    /// As `Aborting`, after the handle is destroyed: lasts until the queue is sent.
    Draining(Status),
    /// Nothing is sent any more.
    Failed(Status),
}

impl core::fmt::Display for Connection {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Connection::Unconnected => f.write_str("not connected"),
            Connection::Connecting => f.write_str("connecting"),
            Connection::Connected => f.write_str("connected"),
            Connection::Aborting(e) => write!(f, "aborting ({e})"),
            Connection::Draining(e) => write!(f, "sending its last messages ({e})"),
            Connection::Failed(e) => write!(f, "failed ({e})"),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConnectionEvent {
    /// A transport to the peer was chosen.
    Connect,
    /// The transport has room for the first message.
    Ready,
    /// This side or the peer closes, and the peer's worker lives on.
    Abort(Status),
    /// The peer is gone.
    Fail(Status),
    /// The destroyed endpoint has a queue to send.
    Drain,
    /// The destroyed endpoint has no queue to send.
    Drained,
}

/// What the application may do with the endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Handle {
    /// The application does not have it.
    Hidden,
    /// The application has it.
    Held,
    /// The application has closed it; the flush that precedes the close is not complete. No more callbacks.
    Closing,
    /// Closed and flushed; alive until the peer has replied to everything outstanding.
    Lingering,
    /// The memory is freed when the last call into the endpoint has returned.
    Destroyed,
}

impl core::fmt::Display for Handle {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Handle::Hidden => "unknown to the program",
            Handle::Held => "open",
            Handle::Closing => "closing: its flush is not complete",
            Handle::Lingering => "closed: the peer has replies to send",
            Handle::Destroyed => "destroyed",
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HandleEvent {
    /// The application takes it over by `ucp_ep_create`.
    Create,
    /// A message handler of the application gets it as reply endpoint.
    Expose,
    /// The application closes it after a flush.
    Close,
    /// The flush of the close is complete.
    Flushed,
    Destroy,
}

/// The state has no transition for the event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Illegal;

impl Connection {
    /// The state after an event. The first status stays.
    pub fn on(self, event: ConnectionEvent) -> Result<Connection, Illegal> {
        use Connection::*;
        use ConnectionEvent::*;
        Ok(match (self, event) {
            (Unconnected, Connect) => Connecting,
            (Connecting, Ready) => Connected,
            (Connecting | Connected, Abort(status)) => Aborting(status),
            (Unconnected, Abort(status)) => Failed(status),
            (Unconnected | Connecting | Connected, Fail(status)) => Failed(status),
            (Aborting(status), Drain) => Draining(status),
            (Aborting(status) | Draining(status), Fail(_) | Drained) => Failed(status),
            // A forked child fails every endpoint, and destroys those that were draining.
            (Failed(status), Fail(_) | Drained) => Failed(status),
            _ => return Err(Illegal),
        })
    }

    /// The status with which operations fail.
    #[inline]
    pub fn failure(self) -> Option<Status> {
        match self {
            Connection::Unconnected | Connection::Connecting | Connection::Connected => None,
            Connection::Aborting(e) | Connection::Draining(e) | Connection::Failed(e) => Some(e),
        }
    }

    /// Whether queued messages may be sent.
    #[inline]
    pub fn may_send(self) -> bool {
        !matches!(self, Connection::Failed(_))
    }
}

impl Handle {
    /// The state after an event.
    pub fn on(self, event: HandleEvent) -> Result<Handle, Illegal> {
        use Handle::*;
        use HandleEvent::*;
        Ok(match (self, event) {
            (Hidden | Held, Create | Expose) => Held,
            (Held, Close) => Closing,
            (Closing, Flushed) => Lingering,
            // The flush completes while the endpoint is destroyed.
            (Destroyed, Flushed) => Destroyed,
            (Hidden | Held | Closing | Lingering, Destroy) => Destroyed,
            _ => return Err(Illegal),
        })
    }

    /// Whether the application has given it up.
    #[inline]
    pub fn is_closed(self) -> bool {
        matches!(
            self,
            Handle::Closing | Handle::Lingering | Handle::Destroyed
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Debug;

    /// One line a state: `State: Event -> State, ...`, legal transitions only.
    fn table<S: Copy + Debug, E: Copy + Debug>(
        states: &[S],
        events: &[E],
        on: impl Fn(S, E) -> Result<S, Illegal>,
    ) -> String {
        let mut text = String::new();
        for state in states {
            let legal: Vec<String> = events
                .iter()
                .filter_map(|event| {
                    let next = on(*state, *event).ok()?;
                    Some(format!("{event:?} -> {next:?}"))
                })
                .collect();
            text += &format!("{state:?}: {}\n", legal.join(", "));
        }
        text.replace(&format!("{GONE:?}"), "gone")
            .replace(&format!("{LATER:?}"), "later")
    }

    const GONE: Status = Status::CONNECTION_RESET;
    const LATER: Status = Status::ENDPOINT_TIMEOUT;

    #[test]
    fn the_transitions_of_a_connection() {
        let states = [
            Connection::Unconnected,
            Connection::Connecting,
            Connection::Connected,
            Connection::Aborting(GONE),
            Connection::Draining(GONE),
            Connection::Failed(GONE),
        ];
        let events = [
            ConnectionEvent::Connect,
            ConnectionEvent::Ready,
            ConnectionEvent::Abort(LATER),
            ConnectionEvent::Fail(LATER),
            ConnectionEvent::Drain,
            ConnectionEvent::Drained,
        ];
        let all = table(&states, &events, Connection::on);
        println!("{all}");
        let expected = "\
Unconnected: Connect -> Connecting, Abort(later) -> Failed(later), Fail(later) -> Failed(later)
Connecting: Ready -> Connected, Abort(later) -> Aborting(later), Fail(later) -> Failed(later)
Connected: Abort(later) -> Aborting(later), Fail(later) -> Failed(later)
Aborting(gone): Fail(later) -> Failed(gone), Drain -> Draining(gone), Drained -> Failed(gone)
Draining(gone): Fail(later) -> Failed(gone), Drained -> Failed(gone)
Failed(gone): Fail(later) -> Failed(gone), Drained -> Failed(gone)
";
        assert_eq!(all, expected);
    }

    #[test]
    fn the_transitions_of_a_handle() {
        let states = [
            Handle::Hidden,
            Handle::Held,
            Handle::Closing,
            Handle::Lingering,
            Handle::Destroyed,
        ];
        let events = [
            HandleEvent::Create,
            HandleEvent::Expose,
            HandleEvent::Close,
            HandleEvent::Flushed,
            HandleEvent::Destroy,
        ];
        let all = table(&states, &events, Handle::on);
        println!("{all}");
        let expected = "\
Hidden: Create -> Held, Expose -> Held, Destroy -> Destroyed
Held: Create -> Held, Expose -> Held, Close -> Closing, Destroy -> Destroyed
Closing: Flushed -> Lingering, Destroy -> Destroyed
Lingering: Destroy -> Destroyed
Destroyed: Flushed -> Destroyed
";
        assert_eq!(all, expected);
    }

    #[test]
    fn replies_are_sent_until_the_connection_has_failed() {
        let sends = [Connection::Unconnected, Connection::Connected]
            .iter()
            .all(|c| c.may_send() && c.failure().is_none());
        assert!(sends);
        for ends in [Connection::Aborting(GONE), Connection::Draining(GONE)] {
            assert!(ends.may_send());
            assert_eq!(ends.failure(), Some(GONE));
        }
        assert!(!Connection::Failed(GONE).may_send());
    }
}
