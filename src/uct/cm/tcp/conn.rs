//! `Conn`: one connection, of a client or of a server, from the first packet to the end.
//!
//! Its state is behind a mutex that is never held across a callback; calls are serialised by the async context's lock,
//! which every caller and every handler holds. Callbacks of the owner wait in `calls`: a transition pushes them,
//! `drive` (in `step`) calls them. A connection is alive while the async context watches its socket or somebody holds a
//! reference.
#![forbid(unsafe_code)]

use super::listener::ListenerCore;
use super::manager::{Local, Shared};
use super::proof::Proof;
use super::wire::{self, Kind, Spare, Why};
use crate::sys::lock::Mutex;
use crate::sys::socket::{Connecting, Options, Socket};
use crate::ucs::{Events, Result, Status};
use crate::uct::auth::Auth;
use crate::uct::cm::{Disconnect, Owner, RequestId, next_id};
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

pub(super) struct Conn {
    pub shared: Arc<Shared>,
    pub id: usize,
    pub state: Mutex<State>,
}

/// How far a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Client: the kernel connects.
    Connecting,
    /// Client: waits for private data.
    Resolved,
    /// Client: waits for the reply.
    Asked,
    /// Server: nothing is known of the client.
    Unauthenticated,
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

/// A callback of the owner, or of the listener's visitor.
pub(super) enum Call {
    Resolved(Result<()>),
    Pack,
    Connected(Result<Vec<u8>>),
    Notified(Result<Vec<u8>>),
    Disconnected,
    Request(Vec<u8>),
}

pub(super) struct State {
    pub phase: Phase,
    pub role: Role,
    pub socket: Option<Socket>,
    watched: Option<Events>,
    pub proof: Proof,
    /// The peer is upstream's: the bytes of its message that it does not look at.
    pub upstream: Option<Spare>,
    pub input: Vec<u8>,
    /// Bytes that the kernel has not accepted yet.
    pub output: Vec<u8>,
    pub calls: VecDeque<Call>,
    pub owner: Option<Arc<dyn Owner>>,
    pub peer: SocketAddr,
    pub local: Local,
    /// This side disconnected; the other side did.
    pub local_done: bool,
    pub remote_done: bool,
}

pub(super) enum Role {
    Client(Client),
    Server { listener: Arc<ListenerCore> },
}

pub(super) struct Client {
    from: Option<SocketAddr>,
    /// The owner knows where the way leads.
    pub told: bool,
    /// The message that opens the conversation, once the private data are there.
    pub hello: Option<Vec<u8>>,
    pub asked: bool,
    pub notified: bool,
}

impl Conn {
    /// A client that begins to connect.
    pub fn client(
        shared: &Arc<Shared>,
        to: SocketAddr,
        from: Option<SocketAddr>,
        owner: Arc<dyn Owner>,
    ) -> Result<Arc<Conn>> {
        let client = Client {
            from,
            told: false,
            hello: None,
            asked: false,
            notified: false,
        };
        let conn = Conn::new(shared, to, None, Role::Client(client), Phase::Connecting);
        {
            let mut state = conn.state.lock();
            state.owner = Some(owner);
            match state.dial(&conn) {
                Ok(()) => {}
                // What is wrong on this side is the caller's answer; what is wrong with the way to
                // the server is told like any other refusal.
                Err(Status::UNREACHABLE) => {
                    state.fail_client(&conn, Status::UNREACHABLE);
                    drop(state);
                    conn.drive_later()?;
                }
                Err(status) => return Err(status),
            }
        }
        Ok(conn)
    }

    /// An accepted socket, not known yet. It lives on by being watched.
    pub fn accepted(
        shared: &Arc<Shared>,
        listener: &Arc<ListenerCore>,
        socket: Socket,
        from: SocketAddr,
    ) {
        let role = Role::Server {
            listener: Arc::clone(listener),
        };
        let conn = Conn::new(shared, from, Some(socket), role, Phase::Unauthenticated);
        shared.add_unauth_peer(&conn);
        conn.drive();
    }

    fn new(
        shared: &Arc<Shared>,
        peer: SocketAddr,
        socket: Option<Socket>,
        role: Role,
        phase: Phase,
    ) -> Arc<Conn> {
        Arc::new(Conn {
            shared: Arc::clone(shared),
            id: next_id(),
            state: Mutex::new(State {
                phase,
                role,
                socket,
                watched: None,
                proof: Proof::None,
                upstream: None,
                input: Vec::new(),
                output: Vec::new(),
                calls: VecDeque::new(),
                owner: None,
                peer,
                local: Local {
                    name: String::new(),
                    prefix: 0,
                    loopback: false,
                },
                local_done: false,
                remote_done: false,
            }),
        })
    }

    pub fn is_of(&self, listener: &Arc<ListenerCore>) -> bool {
        match &self.state.lock().role {
            Role::Server { listener: mine } => Arc::ptr_eq(mine, listener),
            Role::Client(_) => false,
        }
    }

    /// Ends the connection: no more callbacks, and the peer sees the end.
    pub fn close(&self) {
        let (socket, owner, calls) = {
            let mut state = self.state.lock();
            state.phase = Phase::Over;
            let calls = core::mem::take(&mut state.calls);
            (state.hang_up(self), state.owner.take(), calls)
        };
        // Dropped with nothing locked: the owner is the caller's.
        drop((socket, owner, calls));
    }

    /// Client: gives the private data, which leave as soon as the way is there.
    pub fn ask(self: &Arc<Conn>, private: &[u8]) -> Result<()> {
        let mut state = self.state.lock();
        let phase = state.phase;
        let max = self.shared.settings.max_private;
        let Role::Client(client) = &mut state.role else {
            crate::ucs_error!("an accepted endpoint is connected already");
            return Err(Status::UNSUPPORTED);
        };
        if phase == Phase::Over {
            return Err(Status::NOT_CONNECTED);
        }
        if client.asked {
            crate::ucs_error!("the private data of this endpoint were given before");
            return Err(Status::ALREADY_EXISTS);
        }
        if private.len() > max {
            crate::ucs_error!(
                "{} bytes of private data are more than the {max} of UCX_TCP_CM_PRIV_DATA_LEN",
                private.len()
            );
            return Err(Status::BUFFER_TOO_SMALL);
        }
        client.hello = Some(wire::encode(Kind::Hello, private));
        client.asked = true;
        if phase == Phase::Resolved {
            if state.socket.is_some() {
                state.send_hello(self.shared.settings.auth.as_deref());
            } else if let Err(status) = state.dial(self) {
                // The server gave the quiet connection up, and cannot be reached again.
                state.fail_client(self, status);
                drop(state);
                return self.drive_later();
            }
            state.rewatch(self);
        }
        Ok(())
    }

    /// Client: tells the server that this side is connected.
    pub fn notify(self: &Arc<Conn>, private: &[u8]) -> Result<()> {
        let mut state = self.state.lock();
        if state.phase != Phase::Connected || state.local_done || state.remote_done {
            return Err(Status::NOT_CONNECTED);
        }
        let Role::Client(client) = &mut state.role else {
            crate::ucs_error!("only the client's endpoint notifies");
            return Err(Status::UNSUPPORTED);
        };
        if !core::mem::replace(&mut client.notified, true) {
            let message = match state.upstream {
                None => wire::encode(Kind::Notify, private),
                Some(_) => wire::encode_upstream(Spare::default(), &[]),
            };
            state.send(&message);
            state.rewatch(self);
        }
        Ok(())
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
        let mut closed = None;
        if state.remote_done {
            closed = state.hang_up(self);
        } else {
            state.flush();
            state.rewatch(self);
        }
        drop(state);
        drop(closed);
        Ok(Disconnect::Done)
    }

    /// Server: sends the answer, and makes `owner` the owner. On failure the client is rejected.
    pub fn accept(self: &Arc<Conn>, owner: Arc<dyn Owner>, private: &[u8]) -> Result<()> {
        let device = {
            let state = self.state.lock();
            if state.phase != Phase::Requested {
                return Err(Status::CONNECTION_RESET);
            }
            state.local.name.clone()
        };
        let packed = self.packed(&owner, &device);
        let private = match &packed {
            Some(Ok(bytes)) => bytes,
            Some(Err(e)) => {
                // The client learns what the application decided; what became of it is said below.
                let _ = self.reject(Why::Declined);
                return Err(*e);
            }
            None => private,
        };
        let max = self.shared.settings.max_private;
        if private.len() > max {
            crate::ucs_error!(
                "{} bytes of private data are more than the {max} of UCX_TCP_CM_PRIV_DATA_LEN",
                private.len()
            );
            let _ = self.reject(Why::Declined);
            return Err(Status::BUFFER_TOO_SMALL);
        }
        let mut state = self.state.lock();
        if state.phase != Phase::Requested {
            return Err(Status::CONNECTION_RESET);
        }
        state.owner = Some(owner);
        state.phase = Phase::Answered;
        let message = match state.upstream {
            None => wire::encode(Kind::Accept, private),
            Some(spare) => wire::encode_upstream(spare, private),
        };
        state.send(&message);
        state.rewatch(self);
        Ok(())
    }

    /// What the owner packs, if it does, checked.
    pub fn packed(&self, owner: &Arc<dyn Owner>, device: &str) -> Option<Result<Vec<u8>>> {
        owner.packs().then(|| {
            let mut bytes = vec![0; self.shared.settings.max_private];
            let n = owner.pack(device, &mut bytes)?;
            if n > bytes.len() {
                crate::ucs_error!(
                    "{n} bytes of private data were packed, where {} have room",
                    bytes.len()
                );
                return Err(Status::BUFFER_TOO_SMALL);
            }
            bytes.truncate(n);
            Ok(bytes)
        })
    }

    /// Server: turns the client down.
    pub fn reject(&self, why: Why) -> Result<()> {
        let mut state = self.state.lock();
        let there = state.phase == Phase::Requested;
        if there {
            state.send(&wire::encode(Kind::Reject(why), &[]));
        }
        state.phase = Phase::Over;
        let closed = state.hang_up(self);
        drop(state);
        drop(closed);
        if there {
            Ok(())
        } else {
            Err(Status::NOT_CONNECTED)
        }
    }

    /// The name of this connection as a request.
    pub fn request_id(&self) -> RequestId {
        RequestId(self.id)
    }

    /// Delivers what waits from a handler, since a caller must not meet its own callback.
    fn drive_later(self: &Arc<Conn>) -> Result<()> {
        let conn = Arc::clone(self);
        let soon = core::time::Duration::from_nanos(1);
        self.shared
            .ctx
            .add_timer(
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
    /// Opens a socket and begins to connect it to the peer.
    fn dial(&mut self, conn: &Arc<Conn>) -> Result<()> {
        let Role::Client(client) = &self.role else {
            return Err(Status::NOT_CONNECTED);
        };
        let socket = begin(self.peer, client.from, &conn.shared.settings.options).map_err(|e| {
            crate::ucs_error!("cannot connect to {}: {e}", self.peer);
            failure(&e)
        })?;
        self.phase = Phase::Connecting;
        self.proof = Proof::None;
        self.socket = Some(socket);
        self.rewatch(conn);
        if self.watched.is_none() {
            // Nobody would hear of it.
            self.socket = None;
            return Err(Status::IO_ERROR);
        }
        Ok(())
    }

    /// Client: sends the opening message, whose time has come.
    pub fn send_hello(&mut self, auth: Option<&Auth>) {
        let Role::Client(client) = &mut self.role else {
            return;
        };
        if client.hello.is_none() {
            return;
        }
        self.phase = Phase::Asked;
        match (auth, client.hello.take()) {
            (Some(auth), hello) => {
                client.hello = hello;
                self.open(auth);
            }
            (None, Some(hello)) => self.send(&hello),
            (None, None) => {}
        }
    }

    pub fn send(&mut self, message: &[u8]) {
        if let Err(e) = self.proof.pack(message, &mut self.output) {
            crate::ucs_error!("a message to {} cannot be encrypted: {e}", self.peer);
            if let Some(socket) = &self.socket {
                socket.shutdown();
            }
        }
        self.flush();
    }

    /// Gives the kernel what it takes; behind the last byte the goodbye, if this side is done. What
    /// is wrong with the socket shows when it is read.
    pub fn flush(&mut self) {
        let Some(socket) = &self.socket else {
            self.output.clear();
            return;
        };
        while !self.output.is_empty() {
            match socket.send(&self.output) {
                Ok(n) => drop(self.output.drain(..n)),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => {
                    self.output.clear();
                    socket.shutdown();
                }
            }
        }
        if self.local_done {
            // It fails only where the peer's end was seen already.
            let _ = socket.shutdown_send();
        }
    }

    /// Client: the attempt is over.
    pub fn fail_client(&mut self, conn: &Conn, status: Status) {
        if let Role::Client(client) = &mut self.role
            && !core::mem::replace(&mut client.told, true)
        {
            self.calls.push_back(Call::Resolved(Err(status)));
        }
        self.calls.push_back(Call::Connected(Err(status)));
        self.phase = Phase::Over;
        drop(self.hang_up(conn));
    }

    /// Takes the socket out of the handlers' sight; dropping it closes it.
    pub fn hang_up(&mut self, conn: &Conn) -> Option<Socket> {
        let socket = self.socket.take();
        if let (Some(socket), Some(_)) = (&socket, self.watched.take()) {
            // It was registered by `rewatch`.
            let _ = conn.shared.ctx.remove(socket.raw(), false);
        }
        self.output.clear();
        socket
    }

    /// Has the async context watch for what this phase waits for. A socket that cannot be watched is
    /// shut down: who watches it already sees its end, and the peer does.
    pub fn rewatch(&mut self, conn: &Arc<Conn>) {
        let Some(socket) = &self.socket else { return };
        let mut wanted = match self.phase {
            Phase::Connecting => Events::WRITE,
            Phase::Left | Phase::Over => Events::empty(),
            _ if self.remote_done => Events::empty(),
            _ => Events::READ,
        };
        if !self.output.is_empty() {
            wanted |= Events::WRITE;
        }
        let wanted = (!wanted.is_empty()).then_some(wanted);
        if wanted == self.watched {
            return;
        }
        let (ctx, fd) = (&conn.shared.ctx, socket.raw());
        let done = match (self.watched, wanted) {
            (None, Some(events)) => {
                let conn = Arc::clone(conn);
                ctx.add_fd(fd, events, Box::new(move |_, _| conn.drive()))
                    .map(drop)
            }
            (Some(_), Some(events)) => crate::ucs::async_ctx::modify(fd, events),
            (_, None) => ctx.remove(fd, false),
        };
        match done {
            Ok(()) => self.watched = wanted,
            Err(e) => {
                conn.shared
                    .log(format_args!("a connection cannot be watched: {e}"));
                socket.shutdown();
            }
        }
    }
}

/// A socket that connects to `peer`.
fn begin(peer: SocketAddr, from: Option<SocketAddr>, options: &Options) -> io::Result<Socket> {
    let socket = Socket::stream(peer.ip())?;
    socket.set_options(options)?;
    if let Some(from) = from {
        socket.reuse_address(true)?;
        socket.bind(from)?;
    }
    match socket.connect(peer)? {
        Connecting::Done | Connecting::Started => {}
    }
    Ok(socket)
}

/// The status for a client of an error of the kernel.
pub(super) fn failure(e: &io::Error) -> Status {
    match e.raw_os_error() {
        Some(
            libc::ECONNREFUSED
            | libc::ENETUNREACH
            | libc::EHOSTUNREACH
            | libc::ENETDOWN
            | libc::EHOSTDOWN
            | libc::ETIMEDOUT,
        ) => Status::UNREACHABLE,
        _ => Status::from_io(e),
    }
}
