//! How a connection moves: bytes, the end of the stream and deadlines become phases and calls.
//!
//! Handlers call `drive`. It makes one step at a time with the state locked, and calls the owner with nothing locked;
//! the owner may destroy the endpoint, after which no step follows.
#![forbid(unsafe_code)]

use super::conn::{Call, Conn, Phase, Role, State, failure};
use super::manager::Oddity;
use super::proof::{self, Proof};
use super::wire::{self, Bad, HEADER_LEN, Header, Kind, Spare, Why};
use crate::ucs::{Result, Status};
use crate::uct::cm::{Owner, Remote, Request};
use std::io;
use std::sync::Arc;

/// Why nothing more can be read.
enum End {
    /// The peer closed in good order; whether within a message.
    Closed {
        cut: bool,
    },
    Broken(io::Error),
    Bad(Bad),
}

enum Input {
    Message(Header, Vec<u8>),
    Nothing,
    End(End),
}

impl Conn {
    /// Does all that can be done now.
    pub fn drive(self: &Arc<Conn>) {
        self.state.lock().flush();
        loop {
            let call = {
                let mut state = self.state.lock();
                let call = state.calls.pop_front();
                call.or_else(|| {
                    self.advance(&mut state);
                    state.calls.pop_front()
                })
            };
            match call {
                Some(call) => self.deliver(call),
                None => break,
            }
        }
        self.state.lock().rewatch(self);
    }

    /// The deadline of an unauthenticated peer has passed.
    pub fn expire(&self) {
        let (begun, peer) = {
            let state = self.state.lock();
            (!state.input.is_empty(), state.peer)
        };
        let (oddity, what) = if begun {
            (Oddity::Cut, "half a message")
        } else {
            (Oddity::Silent, "nothing")
        };
        self.shared.odd(
            oddity,
            format_args!("{peer} connected and sent {what}: dropped"),
        );
        self.close();
    }

    /// Moves the state on until there is something to call or nothing to do.
    fn advance(self: &Arc<Conn>, state: &mut State) {
        if state.phase == Phase::Connecting {
            self.advance_connecting(state);
        }
        let reads = matches!(
            state.phase,
            Phase::Resolved
                | Phase::Asked
                | Phase::Unauthenticated
                | Phase::Requested
                | Phase::Answered
                | Phase::Connected
        );
        if !reads || state.remote_done || !state.calls.is_empty() {
            return;
        }
        match self.read(state) {
            Input::Nothing => {}
            Input::Message(header, body) => self.on_message(state, header, body),
            Input::End(end) => self.on_end(state, &end),
        }
    }

    fn advance_connecting(self: &Arc<Conn>, state: &mut State) {
        let Some(socket) = &state.socket else { return };
        let outcome = match socket.take_error() {
            Ok(None) => match socket.peer_addr() {
                Ok(_) => socket.local_addr(),
                Err(e) if e.raw_os_error() == Some(libc::ENOTCONN) => return,
                Err(e) => Err(e),
            },
            Ok(Some(e)) | Err(e) => Err(e),
        };
        match outcome {
            Err(e) => {
                let peer = state.peer;
                crate::ucs_error!("cannot connect to {peer}: {e}");
                // The route was known even where nobody answered.
                let route = state.socket.as_ref().map(|s| s.local_addr());
                if let Some(Ok(local)) = route
                    && !local.ip().is_unspecified()
                {
                    state.local = self.shared.local_of(local.ip());
                }
                state.fail_client(self, failure(&e));
            }
            Ok(local) => {
                state.local = self.shared.local_of(local.ip());
                state.phase = Phase::Resolved;
                if let Role::Client(client) = &mut state.role
                    && !core::mem::replace(&mut client.told, true)
                {
                    state.calls.push_back(Call::Resolved(Ok(())));
                }
                state.send_hello(self.shared.settings.auth.as_deref());
            }
        }
    }

    /// Whether the other side may be a process of upstream's.
    fn takes_upstream(&self, state: &State) -> bool {
        let taken = match &state.role {
            Role::Client(_) => state.owner.as_ref().is_some_and(|o| o.takes_upstream()),
            Role::Server { listener } => listener.visitor().is_some_and(|v| v.takes_upstream()),
        };
        taken && self.shared.settings.auth.is_none()
    }

    /// Reads a header in the form of the peer, which a client's first message tells.
    fn decode(
        &self,
        state: &mut State,
        bytes: &[u8; HEADER_LEN],
    ) -> core::result::Result<Header, Bad> {
        let max = self.shared.settings.max_private;
        if state.upstream.is_none() {
            match wire::decode(bytes, max) {
                Err(Bad::Upstream)
                    if state.phase == Phase::Unauthenticated && self.takes_upstream(state) => {}
                other => return other,
            }
        }
        let due = match state.phase {
            Phase::Unauthenticated => Kind::Hello,
            _ => Kind::Notify,
        };
        let (header, spare) = wire::decode_upstream(bytes, due, max)?;
        state.upstream.get_or_insert(spare);
        Ok(header)
    }

    /// The next message, never a byte behind it.
    fn read(&self, state: &mut State) -> Input {
        let needs_proof = state.phase == Phase::Unauthenticated
            && self.shared.settings.auth.is_some()
            && !state.proof.has_keys();
        loop {
            let mut header = None;
            let mut want = HEADER_LEN;
            if let Some(bytes) = state.input.first_chunk::<HEADER_LEN>().copied() {
                match self.decode(state, &bytes) {
                    // No more is read of who begins without the proof that is due.
                    Ok(h) if needs_proof && h.kind != Kind::Opening => {
                        return Input::Message(h, Vec::new());
                    }
                    Ok(h) => {
                        want += h.len;
                        header = Some(h);
                    }
                    Err(bad) => return Input::End(End::Bad(bad)),
                }
            }
            let State {
                socket: Some(socket),
                input,
                proof,
                ..
            } = state
            else {
                return Input::Nothing;
            };
            let have = input.len();
            if let Some(header) = header
                && have >= want
            {
                let body = input[HEADER_LEN..want].to_vec();
                input.drain(..want);
                return Input::Message(header, body);
            }
            let got = if let Proof::Keys(session) = proof {
                proof::receive(socket, session, input)
            } else {
                input.resize(want, 0);
                let got = socket.recv(&mut input[have..]);
                input.truncate(have + got.as_ref().copied().unwrap_or(0));
                got
            };
            match got {
                Ok(0) => {
                    let cut = have > 0 || proof.has_part();
                    return Input::End(End::Closed { cut });
                }
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Input::Nothing,
                Err(e) if e.kind() == io::ErrorKind::InvalidData => {
                    return Input::End(End::Bad(Bad::Record));
                }
                Err(e) => return Input::End(End::Broken(e)),
            }
        }
    }

    fn on_message(self: &Arc<Conn>, state: &mut State, header: Header, body: Vec<u8>) {
        let proven = self.shared.settings.auth.is_none() || state.proof.has_keys();
        match (state.phase, header.kind) {
            (Phase::Unauthenticated, Kind::Opening) if !state.proof.has_keys() => {
                if !self.on_opening(state, &body) {
                    self.drop_unproven(state);
                }
            }
            (Phase::Unauthenticated, Kind::Hello) if !proven => {
                self.on_plain_hello(state);
                self.drop_unproven(state);
            }
            (Phase::Asked, Kind::Answer) if !state.proof.has_keys() => {
                if !self.on_answer(state, &body) {
                    self.on_end(state, &End::Bad(Bad::Kind(0)));
                }
            }
            // Who rejects before it is proven can only say that there will be no proof.
            (Phase::Asked, Kind::Reject(why))
                if !proven && !matches!(why, Why::Secret | Why::Version) =>
            {
                self.on_end(state, &End::Bad(Bad::Kind(0)));
            }
            (Phase::Asked, Kind::Accept) if !proven => {
                self.on_end(state, &End::Bad(Bad::Kind(0)));
            }
            (Phase::Unauthenticated, Kind::Hello) => {
                self.shared.drop_unauth_peer(self.id);
                if let Some(Ok(local)) = state.socket.as_ref().map(|s| s.local_addr()) {
                    state.local = self.shared.local_of(local.ip());
                }
                state.phase = Phase::Requested;
                self.shared.requests.add(self.request_id(), self);
                state.calls.push_back(Call::Request(body));
            }
            (Phase::Asked, Kind::Accept) => {
                state.phase = Phase::Connected;
                state.calls.push_back(Call::Connected(Ok(body)));
            }
            (Phase::Asked, Kind::Reject(why)) => {
                let peer = state.peer;
                match why {
                    Why::Declined | Why::Elsewhere => {}
                    Why::Version => crate::ucs_error!(
                        "the server at {peer} speaks another version of the protocol: start both sides with the same \
                         library"
                    ),
                    Why::TooLong => crate::ucs_error!(
                        "the server at {peer} takes less private data: give it the same UCX_TCP_CM_PRIV_DATA_LEN"
                    ),
                    Why::Secret => crate::ucs_error!(
                        "the server at {peer} does not take the connection: UCX_TCP_AUTH_FILE is set on \
                         one side only, or has another secret on the other"
                    ),
                    Why::Other(n) => {
                        crate::ucs_error!("the server at {peer} refuses, reason {n}");
                    }
                }
                let status = match why {
                    Why::Elsewhere => Status::BUSY,
                    _ => Status::REJECTED,
                };
                state.fail_client(self, status);
            }
            (Phase::Asked, Kind::Hello) if self.takes_upstream(state) => {
                state.upstream = Some(Spare::default());
                state.phase = Phase::Connected;
                state.calls.push_back(Call::Connected(Ok(body)));
            }
            (Phase::Asked, Kind::Returned) if self.takes_upstream(state) => {
                crate::ucs_diag!("the server at {}, of upstream UCX, refuses", state.peer);
                state.fail_client(self, Status::REJECTED);
            }
            (Phase::Asked, Kind::Hello | Kind::Returned) => {
                crate::ucs_error!(
                    "the server at {} runs upstream UCX: start both sides with the same library, or this one without \
                     UCX_UPSTREAM_PEERS=n and UCX_TCP_AUTH_FILE",
                    state.peer
                );
                state.fail_client(self, Status::UNREACHABLE);
            }
            (Phase::Answered, Kind::Notify) => {
                state.phase = Phase::Connected;
                state.calls.push_back(Call::Notified(Ok(body)));
            }
            // A message that has no place here ends the conversation.
            _ => self.on_end(state, &End::Bad(Bad::Kind(0))),
        }
    }

    fn on_end(self: &Arc<Conn>, state: &mut State, end: &End) {
        let peer = state.peer;
        match state.phase {
            Phase::Unauthenticated => self.on_unauth_peer_end(state, end),
            Phase::Requested => {
                state.phase = Phase::Left;
                drop(state.hang_up(self));
            }
            // The server grew tired of a client that has nothing to say yet; `ask` tries again.
            Phase::Resolved => {
                state.input.clear();
                drop(state.hang_up(self));
            }
            Phase::Asked => {
                let status = match end {
                    End::Bad(bad) => {
                        crate::ucs_error!(
                            "what listens at {peer} is no UCX server: its answer is no message of the protocol: {bad}"
                        );
                        Status::UNREACHABLE
                    }
                    End::Closed { .. } => {
                        crate::ucs_warn!(
                            "what listens at {peer} closed the connection without an answer"
                        );
                        Status::CONNECTION_RESET
                    }
                    End::Broken(e) => {
                        crate::ucs_warn!("no answer of the server at {peer}: {e}");
                        failure(e)
                    }
                };
                state.fail_client(self, status);
            }
            Phase::Answered => {
                state.phase = Phase::Over;
                drop(state.hang_up(self));
                let status = match end {
                    End::Broken(e) => failure(e),
                    _ => Status::CONNECTION_RESET,
                };
                state.calls.push_back(Call::Notified(Err(status)));
            }
            Phase::Connected => {
                state.remote_done = true;
                if state.local_done {
                    drop(state.hang_up(self));
                }
                state.calls.push_back(Call::Disconnected);
            }
            Phase::Connecting | Phase::Left | Phase::Over => {}
        }
    }

    fn on_unauth_peer_end(&self, state: &mut State, end: &End) {
        let peer = state.peer;
        self.shared.drop_unauth_peer(self.id);
        match end {
            End::Closed { cut: false } | End::Broken(_) => {}
            End::Closed { cut: true } => self.shared.odd(
                Oddity::Cut,
                format_args!("{peer} sent half a message and left"),
            ),
            End::Bad(Bad::Version(version)) => {
                self.shared.odd(
                    Oddity::Version,
                    format_args!(
                        "{peer} speaks version {version} of the protocol, not {}: rejected",
                        wire::VERSION
                    ),
                );
                state.send(&wire::encode(Kind::Reject(Why::Version), &[]));
            }
            End::Bad(Bad::Length(len)) => {
                self.shared.odd(
                    Oddity::TooLong,
                    format_args!(
                        "{peer} sends {len} bytes of private data, more than \
                         UCX_TCP_CM_PRIV_DATA_LEN allows: rejected"
                    ),
                );
                state.send(&wire::encode(Kind::Reject(Why::TooLong), &[]));
                // Unread bytes would make the close take the answer back.
                self.swallow(state);
            }
            End::Bad(Bad::Upstream) => {
                self.shared.upstream_client(peer);
                // Upstream reads it as its own.
                state.send(&wire::encode(Kind::Reject(Why::Declined), &[]));
                self.swallow(state);
            }
            End::Bad(Bad::Magic | Bad::Kind(_) | Bad::Record) => self.shared.odd(
                Oddity::Garbage,
                format_args!("{peer} sent what is no message of a client: dropped"),
            ),
        }
        state.phase = Phase::Over;
        drop(state.hang_up(self));
    }

    /// Server: ends with a client that has not proven itself.
    fn drop_unproven(&self, state: &mut State) {
        self.shared.drop_unauth_peer(self.id);
        state.phase = Phase::Over;
        drop(state.hang_up(self));
    }

    /// Reads away what is there, within a bound.
    pub fn swallow(&self, state: &State) {
        let Some(socket) = &state.socket else { return };
        let mut waste = [0; 4096];
        for _ in 0..64 {
            if !matches!(socket.recv(&mut waste), Ok(n) if n > 0) {
                return;
            }
        }
    }

    fn deliver(self: &Arc<Conn>, call: Call) {
        if let Call::Request(private) = call {
            return self.deliver_request(&private);
        }
        let (owner, device, peer_device, is_upstream) = {
            let state = self.state.lock();
            let Some(owner) = state.owner.clone() else {
                return;
            };
            let peer_device = match &call {
                Call::Connected(Ok(_)) => self.shared.device_of(state.peer.ip(), &state.local),
                _ => Vec::new(),
            };
            let is_upstream = state.upstream.is_some();
            (owner, state.local.name.clone(), peer_device, is_upstream)
        };
        match call {
            Call::Resolved(outcome) => self.deliver_resolved(&owner, &device, outcome),
            Call::Pack => self.deliver_pack(&owner, &device),
            Call::Connected(answer) => owner.connected(match &answer {
                Ok(private) => Ok(Remote {
                    device: &peer_device,
                    private,
                    is_upstream,
                }),
                Err(e) => Err(*e),
            }),
            Call::Notified(outcome) => owner.notified(outcome.as_deref().map_err(|e| *e)),
            Call::Disconnected => owner.disconnected(),
            Call::Request(_) => {}
        }
    }

    fn deliver_resolved(
        self: &Arc<Conn>,
        owner: &Arc<dyn Owner>,
        device: &str,
        outcome: Result<()>,
    ) {
        let answer = owner.resolved(device, outcome);
        let mut state = self.state.lock();
        if outcome.is_err() || state.phase == Phase::Over {
            return;
        }
        match answer {
            Err(e) => state.fail_client(self, e),
            Ok(()) if owner.packs() => state.calls.push_back(Call::Pack),
            Ok(()) => {}
        }
    }

    fn deliver_pack(self: &Arc<Conn>, owner: &Arc<dyn Owner>, device: &str) {
        let asked = |state: &State| matches!(&state.role, Role::Client(c) if c.asked);
        if asked(&self.state.lock()) {
            return;
        }
        let packed = self.packed(owner, device);
        let mut state = self.state.lock();
        if state.phase == Phase::Over || asked(&state) {
            return;
        }
        match packed {
            Some(Ok(private)) => {
                drop(state);
                // Checked above: the data fit and were not given before. A server that went
                // meanwhile is told through the calls.
                let _ = self.ask(&private);
            }
            Some(Err(e)) => state.fail_client(self, e),
            None => {}
        }
    }

    fn deliver_request(self: &Arc<Conn>, private: &[u8]) {
        let (listener, device, peer_device, is_upstream, client, server) = {
            let state = self.state.lock();
            let Role::Server { listener } = &state.role else {
                return;
            };
            (
                Arc::clone(listener),
                state.local.name.clone(),
                self.shared.device_of(state.peer.ip(), &state.local),
                state.upstream.is_some(),
                state.peer,
                state.socket.as_ref().and_then(|s| s.local_addr().ok()),
            )
        };
        let id = self.request_id();
        match listener.visitor().zip(server) {
            Some((visitor, server)) => visitor.request(Request {
                id,
                device: &device,
                remote: Remote {
                    device: &peer_device,
                    private,
                    is_upstream,
                },
                client,
                server,
            }),
            None => {
                self.shared.requests.forget(id);
                // The listener went within this very event, or the client.
                let _ = self.reject(Why::Declined);
            }
        }
    }
}
