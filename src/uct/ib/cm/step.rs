//! How a connection moves: events become phases and calls.
//!
//! The state is locked while it changes, and the owner is called with nothing locked; the owner may destroy the endpoint,
//! after which no step follows.

use super::conn::{Call, Conn, Phase, State, packed};
use super::manager::Oddity;
use super::wire::{self, Message};
use crate::c::verbs::*;
use crate::sys::verbs::CmEvent;
use crate::ucs::{Result, Status};
use crate::uct::cm::{Owner, Remote};
use std::sync::Arc;

/// The reason of a rejection that the other side's program gives; others are the kernel's.
const BY_PROGRAM: i32 = 28;
/// Nobody listens.
const NO_LISTENER: i32 = 8;

impl Conn {
    pub fn on_event(self: &Arc<Conn>, event: &CmEvent) {
        {
            let mut state = self.state.lock();
            self.advance(&mut state, event);
        }
        self.drive();
    }

    /// Calls the owner until nothing waits.
    pub fn drive(self: &Arc<Conn>) {
        loop {
            let call = self.state.lock().calls.pop_front();
            match call {
                Some(call) => self.deliver(call),
                None => return,
            }
        }
    }

    fn advance(&self, state: &mut State, event: &CmEvent) {
        match (state.phase, event.kind) {
            (_, RDMA_CM_EVENT_DEVICE_REMOVAL) => self.device_removed(state),
            (_, RDMA_CM_EVENT_ADDR_CHANGE | RDMA_CM_EVENT_TIMEWAIT_EXIT) => {}
            (Phase::Address, RDMA_CM_EVENT_ADDR_RESOLVED) => {
                state.phase = Phase::Route;
                let timeout = self.shared.settings.timeout_ms;
                let began = state.id.as_ref().map(|id| id.resolve_route(timeout));
                if let Some(Err(e)) = began {
                    let peer = state.peer;
                    self.shared
                        .log(format_args!("rdmacm finds no route to {peer}: {e}"));
                    state.fail_client(Status::UNREACHABLE);
                }
            }
            (Phase::Route, RDMA_CM_EVENT_ROUTE_RESOLVED) => {
                state.path = state.id.as_ref().and_then(|id| id.path());
                state.phase = Phase::Resolved;
                state.told = true;
                state.calls.push_back(Call::Resolved(Ok(())));
                if let Err(e) = state.send_request(&self.shared) {
                    state.fail_client(e);
                }
            }
            (Phase::Address | Phase::Route | Phase::Resolved, _) => {
                let (peer, text) = (state.peer, self.shared.channel.text(event.kind));
                self.shared.log(format_args!(
                    "rdmacm finds no way to {peer}: {text} ({})",
                    event.status
                ));
                state.fail_client(Status::UNREACHABLE);
            }
            (Phase::Asked, RDMA_CM_EVENT_CONNECT_RESPONSE) => match wire::decode(&event.private) {
                Some(Message::Private(private)) => {
                    state.phase = Phase::Connected;
                    state.calls.push_back(Call::Connected(Ok(private.to_vec())));
                }
                Some(Message::Refused | Message::Elsewhere) | None => {
                    self.shared.odd(
                        Oddity::Garbage,
                        format_args!(
                            "the server at {} answered with what is no message of a server",
                            state.peer
                        ),
                    );
                    state.fail_client(Status::UNREACHABLE);
                }
            },
            (Phase::Asked, kind) => {
                let is_away = wire::decode(&event.private) == Some(Message::Elsewhere);
                let status = match (kind, event.status) {
                    (RDMA_CM_EVENT_REJECTED, BY_PROGRAM) if is_away => Status::BUSY,
                    (RDMA_CM_EVENT_REJECTED, BY_PROGRAM) => Status::REJECTED,
                    (RDMA_CM_EVENT_REJECTED, NO_LISTENER) | (RDMA_CM_EVENT_UNREACHABLE, _) => {
                        Status::UNREACHABLE
                    }
                    _ => Status::CONNECTION_RESET,
                };
                let (peer, text) = (state.peer, self.shared.channel.text(kind));
                self.shared.log(format_args!(
                    "no connection to the server at {peer}: {text} ({})",
                    event.status
                ));
                state.fail_client(status);
            }
            (Phase::Requested, _) => {
                state.phase = Phase::Left;
                drop(state.hang_up());
            }
            (Phase::Answered, RDMA_CM_EVENT_ESTABLISHED) => {
                state.phase = Phase::Connected;
                state.calls.push_back(Call::Notified(Ok(())));
            }
            (Phase::Answered, _) => state.fail_server(),
            (Phase::Connected, RDMA_CM_EVENT_ESTABLISHED) => {}
            (Phase::Connected, _) => {
                if !core::mem::replace(&mut state.remote_done, true) {
                    state.calls.push_back(Call::Disconnected);
                }
            }
            (Phase::Left | Phase::Over, _) => {}
        }
    }

    /// The connection ends, as the peer cannot be reached by this device any more.
    fn device_removed(&self, state: &mut State) {
        let path = state
            .path
            .clone()
            .or_else(|| state.id.as_ref().and_then(|id| id.path()));
        if let Some(path) = path {
            self.shared.device_removed(&path.device);
        }
        match state.phase {
            Phase::Address | Phase::Route | Phase::Resolved => {
                state.fail_client(Status::UNREACHABLE);
            }
            Phase::Asked => state.fail_client(Status::CONNECTION_RESET),
            Phase::Requested => {
                state.phase = Phase::Left;
                drop(state.hang_up());
            }
            Phase::Answered => state.fail_server(),
            Phase::Connected => {
                drop(state.hang_up());
                if !core::mem::replace(&mut state.remote_done, true) {
                    state.calls.push_back(Call::Disconnected);
                }
            }
            Phase::Left | Phase::Over => {}
        }
    }

    fn deliver(self: &Arc<Conn>, call: Call) {
        let (owner, device, path) = {
            let state = self.state.lock();
            let Some(owner) = state.owner.clone() else {
                return;
            };
            (owner, state.device(), state.path.clone())
        };
        match call {
            Call::Resolved(outcome) => self.deliver_resolved(&*owner, &device, outcome),
            Call::Pack => self.deliver_pack(&*owner, &device),
            Call::Connected(Ok(private)) => {
                let address = path.map_or_else(Vec::new, |path| self.shared.address_of(&path));
                owner.connected(Ok(Remote {
                    device: &address,
                    private: &private,
                    is_upstream: false,
                }));
            }
            Call::Connected(Err(e)) => owner.connected(Err(e)),
            Call::Notified(Ok(())) => owner.notified(Ok(&[])),
            Call::Notified(Err(e)) => owner.notified(Err(e)),
            Call::Disconnected => owner.disconnected(),
        }
    }

    fn deliver_resolved(&self, owner: &dyn Owner, device: &str, outcome: Result<()>) {
        let answer = owner.resolved(device, outcome);
        let mut state = self.state.lock();
        if outcome.is_err() || state.phase == Phase::Over {
            return;
        }
        match answer {
            Err(e) => state.fail_client(e),
            Ok(()) if owner.packs() && !state.asked => state.calls.push_back(Call::Pack),
            Ok(()) => {}
        }
    }

    fn deliver_pack(self: &Arc<Conn>, owner: &dyn Owner, device: &str) {
        match packed(owner, device) {
            // Given before or too late: the owner hears of that by what it did itself.
            Some(Ok(private)) => drop(self.ask(&private)),
            Some(Err(e)) => {
                let mut state = self.state.lock();
                if state.phase != Phase::Over {
                    state.fail_client(e);
                }
            }
            None => {}
        }
    }
}
