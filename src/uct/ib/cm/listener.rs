//! `RdmaListener`: shows connection requests to a visitor.

use super::conn::Conn;
use super::manager::{Oddity, Receiver, Shared};
use super::wire::{self, Message};
use crate::c::verbs::RDMA_CM_EVENT_DEVICE_REMOVAL;
use crate::sys::lock::Mutex;
use crate::sys::verbs::{CmEvent, CmId};
use crate::ucs::{Result, Status};
use crate::uct::cm::{Listener, Visitor, next_id};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

pub(super) struct RdmaListener {
    core: Arc<ListenerCore>,
    address: SocketAddr,
}

pub(super) struct ListenerCore {
    shared: Arc<Shared>,
    key: usize,
    open: Mutex<Option<Open>>,
}

struct Open {
    id: CmId,
    visitor: Arc<dyn Visitor>,
}

impl RdmaListener {
    pub fn open(
        shared: &Arc<Shared>,
        at: SocketAddr,
        backlog: Option<i32>,
        visitor: Arc<dyn Visitor>,
    ) -> Result<RdmaListener> {
        let id = bind(shared, at, backlog).map_err(|e| {
            let cause = match e.raw_os_error() {
                Some(libc::EADDRINUSE) => {
                    "somebody else listens there; UCX_CM_REUSEADDR=y helps only against connections \
                     that ended"
                }
                Some(libc::EADDRNOTAVAIL | libc::ENODEV) => "no RDMA device has that address",
                Some(libc::EACCES) => "low ports take the capability CAP_NET_BIND_SERVICE",
                _ => "the kernel refuses it",
            };
            shared.log(format_args!("rdmacm cannot listen at {at}: {e}: {cause}"));
            match Status::from_io(&e) {
                s @ (Status::BUSY | Status::EXCEEDS_LIMIT | Status::NO_MEMORY) => s,
                _ => Status::IO_ERROR,
            }
        })?;
        let address = id.local().ok_or(Status::IO_ERROR)?;
        let core = Arc::new(ListenerCore {
            shared: Arc::clone(shared),
            key: id.key(),
            open: Mutex::new(None),
        });
        // Events come when the caller unblocks the context.
        *core.open.lock() = Some(Open { id, visitor });
        shared.add(core.key, Receiver::Listener(Arc::clone(&core)));
        Ok(RdmaListener { core, address })
    }
}

impl Listener for RdmaListener {
    fn address(&self) -> SocketAddr {
        self.address
    }
}

fn bind(shared: &Shared, at: SocketAddr, backlog: Option<i32>) -> io::Result<CmId> {
    let id = CmId::new(&shared.channel, next_id())?;
    if shared.settings.reuse_address {
        id.reuse_address()?;
    }
    id.bind(at)?;
    id.listen(backlog.unwrap_or(i32::MAX).max(1))?;
    Ok(id)
}

impl Drop for RdmaListener {
    fn drop(&mut self) {
        let core = &self.core;
        let _blocked = core.shared.ctx.block();
        core.shared.forget(core.key);
        let open = core.open.lock().take();
        drop(open);
    }
}

impl ListenerCore {
    /// Who is shown clients; `None` when the listener went.
    fn visitor(&self) -> Option<Arc<dyn Visitor>> {
        self.open.lock().as_ref().map(|o| Arc::clone(&o.visitor))
    }

    /// A client asks for a connection. One that is not taken up is refused by being dropped.
    pub fn on_event(&self, event: CmEvent) {
        if event.kind == RDMA_CM_EVENT_DEVICE_REMOVAL {
            self.device_removed();
            return;
        }
        let (Some(id), Some(visitor)) = (event.request, self.visitor()) else {
            return;
        };
        let Some(Message::Private(private)) = wire::decode(&event.private) else {
            self.shared.odd(
                Oddity::Garbage,
                format_args!(
                    "{} asked for a connection with what is no message of a client: refused",
                    id.peer().map_or("somebody".to_owned(), |at| at.to_string())
                ),
            );
            return;
        };
        Conn::requested(&self.shared, id, private, &*visitor);
    }

    /// Only one that listens at an address of the device hears of it, and at all addresses goes on.
    fn device_removed(&self) {
        let open = self.open.lock().take();
        if let Some(path) = open.as_ref().and_then(|open| open.id.path()) {
            self.shared.device_removed(&path.device);
        }
        drop(open);
    }
}
