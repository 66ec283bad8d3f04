//! `Conn`: one connection, of a client or of a server, from the first event to the end.
//!
//! Its state is behind a mutex that is never held across a callback; calls are serialised by the async context's lock,
//! which every caller and every handler holds. Callbacks of the owner wait in `calls`: a transition pushes them,
//! `drive` (in `step`) calls them. A connection lives while `Shared` knows it by the key of its events, or somebody
//! holds a reference.

use super::manager::{Receiver, Shared};
use super::wire::{self, MAX_PRIVATE, Message};
use crate::sys::lock::Mutex;
use crate::sys::verbs::{CmId, CmPath, PairNumber};
use crate::ucs::{Result, Status};
use crate::uct::cm::{Disconnect, Owner, Remote, Request, RequestId, Visitor, next_id};
use crate::{ucs_debug, ucs_error};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

pub(super) struct Conn {
    pub shared: Arc<Shared>,
    key: usize,
    pub state: Mutex<State>,
}

/// How far a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Client: looks for the server's device.
    Address,
    /// Client: looks for the way to it.
    Route,
    /// Client: waits for private data.
    Resolved,
    /// Client: waits for the reply.
    Asked,
    /// Server: the application has the request.
    Requested,
    /// Server: the client has left before the reply.
    Left,
    /// Server: accepted, waits for the client's notification.
    Answered,
    Connected,
    /// Failed, rejected or destroyed: nothing follows.
    Over,
}

/// A callback of the owner.
pub(super) enum Call {
    Resolved(Result<()>),
    Pack,
    Connected(Result<Vec<u8>>),
    Notified(Result<()>),
    Disconnected,
}

pub(super) struct State {
    pub phase: Phase,
    pub is_client: bool,
    /// Until the connection is over.
    pub id: Option<CmId>,
    /// What tells the connection from others of its device; behind `id`, which it outlives.
    number: Option<PairNumber>,
    pub path: Option<CmPath>,
    pub peer: SocketAddr,
    pub calls: VecDeque<Call>,
    pub owner: Option<Arc<dyn Owner>>,
    /// Client: the message with the private data, until it is sent.
    message: Option<Vec<u8>>,
    pub asked: bool,
    /// Client: the owner knows where the way leads.
    pub told: bool,
    notified: bool,
    /// This side disconnected; the other side did.
    local_done: bool,
    pub remote_done: bool,
}

impl Conn {
    fn new(shared: &Arc<Shared>, id: CmId, peer: SocketAddr, phase: Phase) -> Arc<Conn> {
        let conn = Arc::new(Conn {
            shared: Arc::clone(shared),
            key: id.key(),
            state: Mutex::new(State {
                phase,
                is_client: phase == Phase::Address,
                path: id.path(),
                id: Some(id),
                number: None,
                peer,
                calls: VecDeque::new(),
                owner: None,
                message: None,
                asked: false,
                told: false,
                notified: false,
                local_done: false,
                remote_done: false,
            }),
        });
        shared.add(conn.key, Receiver::Conn(Arc::clone(&conn)));
        conn
    }

    /// A client that begins to connect.
    pub fn client(
        shared: &Arc<Shared>,
        to: SocketAddr,
        from: Option<SocketAddr>,
        owner: Arc<dyn Owner>,
    ) -> Result<Arc<Conn>> {
        let id = CmId::new(&shared.channel, next_id()).map_err(|e| Status::from_io(&e))?;
        let from = from.or_else(|| shared.settings.source_for(to));
        let began = id.resolve_address(from, to, shared.settings.timeout_ms);
        let conn = Conn::new(shared, id, to, Phase::Address);
        conn.state.lock().owner = Some(owner);
        if let Err(e) = began {
            shared.log(format_args!("rdmacm finds no way to {to}: {e}"));
            conn.state.lock().fail_client(Status::UNREACHABLE);
            if let Err(e) = conn.drive_later() {
                conn.close();
                return Err(e);
            }
        }
        Ok(conn)
    }

    /// A client's request, which is shown to `visitor`.
    pub fn requested(shared: &Arc<Shared>, id: CmId, private: &[u8], visitor: &dyn Visitor) {
        let (Some(client), Some(server), Some(path)) = (id.peer(), id.local(), id.path()) else {
            return;
        };
        let conn = Conn::new(shared, id, client, Phase::Requested);
        let request = RequestId(conn.key);
        shared.requests.add(request, &conn);
        visitor.request(Request {
            id: request,
            device: &device_name(&path),
            remote: Remote {
                device: &shared.address_of(&path),
                private,
                is_upstream: false,
            },
            client,
            server,
        });
    }

    /// Ends the connection: no more callbacks, and the peer sees the end.
    pub fn close(&self) {
        self.shared.forget(self.key);
        let gone = {
            let mut state = self.state.lock();
            state.phase = Phase::Over;
            let calls = core::mem::take(&mut state.calls);
            (state.hang_up(), state.owner.take(), calls)
        };
        // Dropped with nothing locked: the owner is the caller's.
        drop(gone);
    }

    /// Client: gives the private data, which leave as soon as the way is there.
    pub fn ask(self: &Arc<Conn>, private: &[u8]) -> Result<()> {
        let mut state = self.state.lock();
        if !state.is_client {
            ucs_error!("an accepted endpoint is connected already");
            return Err(Status::UNSUPPORTED);
        }
        if state.phase == Phase::Over {
            return Err(Status::NOT_CONNECTED);
        }
        if state.asked {
            ucs_error!("the private data of this endpoint were given before");
            return Err(Status::ALREADY_EXISTS);
        }
        check_length(private.len())?;
        state.message = Some(wire::encode(Message::Private(private)));
        state.asked = true;
        if state.phase == Phase::Resolved
            && let Err(status) = state.send_request(&self.shared)
        {
            state.fail_client(status);
            drop(state);
            return self.drive_later();
        }
        Ok(())
    }

    /// Client: tells the server that this side is connected.
    pub fn notify(&self) -> Result<()> {
        let mut state = self.state.lock();
        if state.phase != Phase::Connected || state.local_done || state.remote_done {
            return Err(Status::NOT_CONNECTED);
        }
        if !state.is_client {
            ucs_error!("only the client's endpoint notifies");
            return Err(Status::UNSUPPORTED);
        }
        if core::mem::replace(&mut state.notified, true) {
            return Ok(());
        }
        let id = state.id.as_ref().ok_or(Status::NOT_CONNECTED)?;
        id.establish().map_err(|e| Status::from_io(&e))
    }

    pub fn disconnect(self: &Arc<Conn>) -> Result<Disconnect> {
        let mut state = self.state.lock();
        match state.phase {
            Phase::Connected => {}
            Phase::Over => return Err(Status::NOT_CONNECTED),
            _ => return Err(Status::BUSY),
        }
        match (state.local_done, state.remote_done) {
            (true, true) => return Err(Status::NOT_CONNECTED),
            (true, false) => return Ok(Disconnect::InProgress),
            (false, _) => state.local_done = true,
        }
        if state.is_client && !state.notified && !state.remote_done {
            // It is not established yet: the server learns of its end by its being gone, and has nothing more to say.
            let gone = state.hang_up();
            state.remote_done = true;
            state.calls.push_back(Call::Disconnected);
            drop(state);
            drop(gone);
            self.drive_later()?;
            return Ok(Disconnect::Done);
        }
        if let Some(Err(e)) = state.id.as_ref().map(CmId::disconnect) {
            ucs_debug!("disconnecting from {}: {e}", state.peer);
        }
        Ok(Disconnect::Done)
    }

    /// Server: sends the answer, and makes `owner` the owner. On failure the client is rejected.
    pub fn accept(&self, owner: Arc<dyn Owner>, private: &[u8]) -> Result<()> {
        let device = {
            let state = self.state.lock();
            if state.phase != Phase::Requested {
                return Err(Status::CONNECTION_RESET);
            }
            state.device()
        };
        let packed = packed(&*owner, &device).transpose();
        let answered = packed.and_then(|packed| {
            let private = packed.as_deref().unwrap_or(private);
            check_length(private.len())?;
            let mut state = self.state.lock();
            if state.phase != Phase::Requested {
                return Err(Status::CONNECTION_RESET);
            }
            let message = wire::encode(Message::Private(private));
            let number = self.shared.number(&device_of(&state.path))?;
            let id = state.id.as_ref().ok_or(Status::CONNECTION_RESET)?;
            id.accept(number.get(), &message).map_err(|e| {
                ucs_debug!("accepting {}: {e}", state.peer);
                Status::CONNECTION_RESET
            })?;
            state.number = Some(number);
            state.owner = Some(owner);
            state.phase = Phase::Answered;
            Ok(())
        });
        if answered.is_err() {
            // The client learns what the application decided; what became of it is said by the status.
            let _ = self.reject(Message::Refused);
        }
        answered
    }

    /// Server: turns the client down.
    pub fn reject(&self, why: Message<'_>) -> Result<()> {
        let rejected = {
            let state = self.state.lock();
            match (&state.id, state.phase) {
                (Some(id), Phase::Requested) => id
                    .reject(&wire::encode(why))
                    .map_err(|_| Status::NOT_CONNECTED),
                _ => Err(Status::NOT_CONNECTED),
            }
        };
        self.close();
        rejected
    }

    /// Delivers what waits from a handler, since a caller must not meet its own callback.
    fn drive_later(self: &Arc<Conn>) -> Result<()> {
        let conn = Arc::clone(self);
        let soon = core::time::Duration::from_nanos(1);
        let ctx = &self.shared.ctx;
        ctx.add_timer(
            soon,
            Box::new(move |timer, _| {
                // This timer, which runs now.
                let _ = conn.shared.ctx.remove(timer, false);
                conn.drive();
            }),
        )
        .map(drop)
    }
}

impl State {
    /// The port of the connection, as transports call it.
    pub fn device(&self) -> String {
        self.path.as_ref().map_or_else(String::new, device_name)
    }

    /// Client: sends the request, once the way is there and the private data are.
    pub fn send_request(&mut self, shared: &Shared) -> Result<()> {
        let (Some(message), Some(id)) = (self.message.take(), &self.id) else {
            return Ok(());
        };
        let number = shared.number(&device_of(&self.path))?;
        id.connect(number.get(), &message).map_err(|e| {
            shared.log(format_args!("rdmacm cannot connect to {}: {e}", self.peer));
            Status::UNREACHABLE
        })?;
        self.number = Some(number);
        self.phase = Phase::Asked;
        Ok(())
    }

    /// Client: the attempt is over.
    pub fn fail_client(&mut self, status: Status) {
        if !core::mem::replace(&mut self.told, true) {
            self.calls.push_back(Call::Resolved(Err(status)));
        }
        self.calls.push_back(Call::Connected(Err(status)));
        self.phase = Phase::Over;
        drop(self.hang_up());
    }

    /// Server: the client went before it notified.
    pub fn fail_server(&mut self) {
        self.calls
            .push_back(Call::Notified(Err(Status::CONNECTION_RESET)));
        self.phase = Phase::Over;
        drop(self.hang_up());
    }

    /// What to drop, in this order, so that the kernel forgets the connection.
    pub fn hang_up(&mut self) -> (Option<CmId>, Option<PairNumber>) {
        (self.id.take(), self.number.take())
    }
}

fn device_of(path: &Option<CmPath>) -> String {
    path.as_ref()
        .map_or_else(String::new, |path| path.device.clone())
}

fn device_name(path: &CmPath) -> String {
    format!("{}:{}", path.device, path.port)
}

fn check_length(len: usize) -> Result<()> {
    if len > MAX_PRIVATE {
        ucs_error!("{len} bytes of private data are more than the {MAX_PRIVATE} of rdmacm");
        return Err(Status::BUFFER_TOO_SMALL);
    }
    Ok(())
}

/// What the owner packs, if it does, checked.
pub(super) fn packed(owner: &dyn Owner, device: &str) -> Option<Result<Vec<u8>>> {
    owner.packs().then(|| {
        let mut bytes = vec![0; MAX_PRIVATE];
        let n = owner.pack(device, &mut bytes)?;
        check_length(n)?;
        bytes.truncate(n);
        Ok(bytes)
    })
}
