//! `TcpListener`: a socket that accepts clients and shows those that present themselves to a visitor.
#![forbid(unsafe_code)]

use super::conn::Conn;
use super::manager::{Oddity, Shared};
use crate::sys::is_shortage;
use crate::sys::lock::Mutex;
use crate::sys::socket::Socket;
use crate::ucs::{Events, Result, Status};
use crate::uct::cm::{Listener, Visitor};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

/// Connections taken before others get their turn.
const ACCEPTS_A_TURN: usize = 32;

pub(super) struct TcpListener {
    core: Arc<ListenerCore>,
    address: SocketAddr,
}

pub(super) struct ListenerCore {
    shared: Arc<Shared>,
    open: Mutex<Option<Open>>,
}

struct Open {
    socket: Arc<Socket>,
    visitor: Arc<dyn Visitor>,
    watched: bool,
}

impl TcpListener {
    pub fn open(
        shared: &Arc<Shared>,
        at: SocketAddr,
        backlog: Option<i32>,
        visitor: Arc<dyn Visitor>,
    ) -> Result<TcpListener> {
        let socket = bind(shared, at, backlog).map_err(|e| {
            let cause = match e.raw_os_error() {
                Some(libc::EADDRINUSE) => {
                    "somebody else listens there; UCX_CM_REUSEADDR=y helps only against connections \
                     that ended"
                }
                Some(libc::EADDRNOTAVAIL) => "no interface of this machine has that address",
                Some(libc::EACCES) => "low ports take the capability CAP_NET_BIND_SERVICE",
                _ => "the kernel refuses it",
            };
            crate::ucs_error!("cannot listen at {at}: {e}: {cause}");
            match Status::from_io(&e) {
                s @ (Status::BUSY | Status::EXCEEDS_LIMIT | Status::NO_MEMORY) => s,
                _ => Status::IO_ERROR,
            }
        })?;
        let address = socket.local_addr()?;
        let core = Arc::new(ListenerCore {
            shared: Arc::clone(shared),
            open: Mutex::new(Some(Open {
                socket: Arc::new(socket),
                visitor,
                watched: false,
            })),
        });
        core.watch()?;
        Ok(TcpListener { core, address })
    }
}

impl Listener for TcpListener {
    fn address(&self) -> SocketAddr {
        self.address
    }
}

fn bind(shared: &Shared, at: SocketAddr, backlog: Option<i32>) -> io::Result<Socket> {
    let socket = Socket::stream(at.ip())?;
    // Connections inherit the buffer sizes.
    socket.set_options(&shared.settings.options)?;
    if shared.settings.reuse_address {
        socket.reuse_address(true)?;
    }
    socket.bind(at)?;
    socket.listen(backlog.unwrap_or(i32::MAX).max(1))?;
    Ok(socket)
}

impl Drop for TcpListener {
    fn drop(&mut self) {
        let core = &self.core;
        let _blocked = core.shared.ctx.block();
        let open = core.open.lock().take();
        if let Some(open) = open {
            if open.watched {
                // It was registered by `watch`.
                let _ = core.shared.ctx.remove(open.socket.raw(), false);
            }
            core.shared.drop_unauth_peers_of(core);
        }
    }
}

impl ListenerCore {
    /// Who is shown clients; `None` when the listener went.
    pub fn visitor(&self) -> Option<Arc<dyn Visitor>> {
        self.open.lock().as_ref().map(|o| Arc::clone(&o.visitor))
    }

    fn watch(self: &Arc<ListenerCore>) -> Result<()> {
        let mut open = self.open.lock();
        if let Some(open) = open.as_mut()
            && !open.watched
        {
            let core = Arc::clone(self);
            let take = Box::new(move |_, _| core.take());
            self.shared
                .ctx
                .add_fd(open.socket.raw(), Events::READ, take)?;
            open.watched = true;
        }
        Ok(())
    }

    fn take(self: &Arc<ListenerCore>) {
        for _ in 0..ACCEPTS_A_TURN {
            // A visitor may destroy the listener: it is looked up each time.
            let Some(socket) = self.open.lock().as_ref().map(|o| Arc::clone(&o.socket)) else {
                return;
            };
            match socket.accept() {
                Ok((accepted, from)) => {
                    if let Err(e) = accepted.set_options(&self.shared.settings.options) {
                        self.shared
                            .log(format_args!("options of a connection: {e}"));
                    }
                    Conn::accepted(&self.shared, self, accepted, from);
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
                Err(e) if is_shortage(&e) => {
                    self.shared.odd(
                        Oddity::Descriptors,
                        format_args!("clients cannot be accepted: {e}; raise `ulimit -n`"),
                    );
                    if !self.shared.drop_oldest_unauth_peer() {
                        self.pause();
                        return;
                    }
                }
                // The client went before it was accepted.
                Err(e) => self.shared.log(format_args!("accept: {e}")),
            }
        }
    }

    /// Stops accepting until the next tick, so that a full table of descriptors does not spin.
    fn pause(self: &Arc<ListenerCore>) {
        if let Some(open) = self.open.lock().as_mut()
            && open.watched
        {
            // It was registered by `watch`.
            let _ = self.shared.ctx.remove(open.socket.raw(), false);
            open.watched = false;
        }
        self.shared.pause(self);
    }

    /// Accepts again.
    pub fn resume(self: &Arc<ListenerCore>) {
        if let Err(e) = self.watch() {
            self.shared
                .log(format_args!("a listener cannot be watched: {e}"));
            self.shared.pause(self);
        }
    }
}
