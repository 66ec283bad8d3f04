//! Servers: listeners, and the connection requests of clients.

use super::cm::{Client, Event, Half, Inbox, attach, cm, takes_upstream};
use super::greeting::Greeting;
use super::upstream;
use crate::c::*;
use crate::sys::lock::Mutex;
use crate::ucp::claims;
use crate::ucp::cm_connection::CmConnection;
use crate::ucp::config::TABLE;
use crate::ucp::ep::{Ep, EpParams, EpRef};
use crate::ucp::worker_core::Core;
use crate::ucs::config::var;
use crate::ucs::{Result, Status};
use crate::uct::cm::{Listener, Manager, Request, RequestId, Visitor};
use crate::wire::upstream::private::Private;
use crate::{ucs_debug, ucs_diag};
use core::ffi::c_void;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// A connection request of a client: the object of `ucp_conn_request_h`.
///
/// It may be accepted on another worker than the listener's: then the connection belongs to the listener's manager, and
/// events of the endpoint go to the inbox of its own worker.
pub struct ConnRequest {
    listening: *const Core,
    id: RequestId,
    from: Introduction,
    pub client: SocketAddr,
}

/// What a client has told of itself.
enum Introduction {
    Ours(Greeting),
    /// A client of upstream's, which came by this address.
    Upstream(Private, IpAddr),
}

impl ConnRequest {
    fn manager(&self) -> Result<&dyn Manager> {
        // SAFETY: the listener's worker outlives its requests (C contract of ucp_worker_destroy).
        cm(unsafe { &*self.listening })?.manager()
    }

    pub fn client_id(&self) -> u64 {
        match &self.from {
            Introduction::Ours(greeting) => greeting.client_id,
            Introduction::Upstream(private, _) => private.client_id,
        }
    }

    fn err_mode(&self) -> ucp_err_handling_mode_t {
        match &self.from {
            Introduction::Ours(greeting) => greeting.err_mode,
            Introduction::Upstream(private, _) => private.err_mode.into(),
        }
    }
}

/// Accepts a client: the endpoint to it, which handles errors as the client's does.
pub fn accept(worker: &Core, request: ConnRequest, params: EpParams) -> Result<EpRef> {
    let cm = cm(worker)?;
    let params = EpParams {
        err_mode: request.err_mode(),
        ..params
    };
    let ep = Ep::unconnected(worker, params);
    ep.set_wireup_sent();
    let (client, private) = match &request.from {
        Introduction::Ours(greeting) => {
            ep.pair_with(greeting.ep_name());
            let ticket = claims::ticket(worker, greeting.address.uuid);
            let private = Greeting::of(worker, &ep, 0, ticket, None);
            (Client::Ours(greeting.address.clone()), Ok(private))
        }
        Introduction::Upstream(private, local) => {
            let from = request.client.ip();
            let answer = upstream::accept(worker, &ep, private, from, *local);
            (Client::Upstream, answer)
        }
    };
    let owner = Arc::new(Half {
        inbox: Arc::clone(&cm.inbox),
        ep: ep.id.get(),
        client: Mutex::new(Some(client)),
        takes_upstream: true,
    });
    let made = private
        .inspect_err(|_| {
            if let Err(e) = reject(&request) {
                ucs_debug!("turning down a client that went: {e}");
            }
        })
        .and_then(|private| request.manager()?.accept(request.id, owner, &private))
        .map(|endpoint| CmConnection::new(endpoint, request.client, None));
    attach(ep, made)
}

/// Turns a client down.
pub fn reject(request: &ConnRequest) -> Result<()> {
    request.manager()?.reject(request.id)
}

/// The application's callback for clients.
#[derive(Clone, Copy)]
pub enum Arrival {
    /// It gets a request, and accepts or rejects it.
    Request(
        unsafe extern "C" fn(ucp_conn_request_h, *mut c_void),
        *mut c_void,
    ),
    /// It gets an endpoint.
    Endpoint(unsafe extern "C" fn(ucp_ep_h, *mut c_void), *mut c_void),
}

/// A listener: the object of `ucp_listener_h`.
pub struct UcpListener {
    worker: *const Core,
    listener: Option<Box<dyn Listener>>,
    arrival: Arrival,
}

/// Shows clients of a listener to the inbox.
struct Door {
    inbox: Arc<Inbox>,
    listener: usize,
    takes_upstream: bool,
}

impl Visitor for Door {
    fn request(&self, request: Request<'_>) {
        self.inbox.put(Event::Asked {
            listener: self.listener,
            id: request.id,
            private: request.remote.private.to_vec(),
            upstream: request.remote.is_upstream.then(|| request.server.ip()),
            client: request.client,
        });
    }

    fn takes_upstream(&self) -> bool {
        self.takes_upstream
    }
}

impl UcpListener {
    pub fn open(worker: &Core, at: SocketAddr, arrival: Arrival) -> Result<Box<UcpListener>> {
        let cm = cm(worker)?;
        let mut made = Box::new(UcpListener {
            worker,
            listener: None,
            arrival,
        });
        let door = Arc::new(Door {
            inbox: Arc::clone(&cm.inbox),
            listener: core::ptr::from_ref(made.as_ref()) as usize,
            takes_upstream: takes_upstream(worker),
        });
        let backlog = worker
            .context()
            .config
            .ulong(var!(TABLE, "LISTENER_BACKLOG"));
        let backlog = i32::try_from(backlog).ok();
        made.listener = Some(cm.manager()?.listen(at, backlog, door)?);
        worker
            .wireup()
            .listeners
            .borrow_mut()
            .insert(core::ptr::from_ref(made.as_ref()) as usize);
        Ok(made)
    }

    pub fn worker(&self) -> &Core {
        // SAFETY: a worker outlives its listeners (C contract of ucp_worker_destroy).
        unsafe { &*self.worker }
    }

    /// Its address, with the port that the kernel chose.
    pub fn address(&self) -> Result<SocketAddr> {
        self.listener
            .as_ref()
            .map(|listener| listener.address())
            .ok_or(Status::NOT_CONNECTED)
    }
}

impl Drop for UcpListener {
    fn drop(&mut self) {
        let me = core::ptr::from_ref(self) as usize;
        self.worker().wireup().listeners.borrow_mut().remove(&me);
    }
}

/// A connection request came to a listener.
pub(super) fn asked(
    worker: &Core,
    listener: usize,
    id: RequestId,
    private: &[u8],
    upstream: Option<IpAddr>,
    client: SocketAddr,
) {
    if !worker.wireup().listeners.borrow().contains(&listener) {
        turn_down(worker, id, client, Status::NOT_CONNECTED);
        return;
    }
    // SAFETY: in the worker's list, so alive.
    let listener = unsafe { &*(listener as *const UcpListener) };
    let from = match upstream {
        None => Greeting::read(private).map(Introduction::Ours),
        Some(local) => {
            upstream::read(worker, private).map(|private| Introduction::Upstream(private, local))
        }
    };
    let request = from.map(|from| ConnRequest {
        listening: worker,
        id,
        from,
        client,
    });
    let request = match request {
        Ok(r) => r,
        Err(e) => {
            turn_down(worker, id, client, e);
            return;
        }
    };
    match listener.arrival {
        Arrival::Request(cb, arg) => {
            let handle = Box::into_raw(Box::new(request)).cast();
            // SAFETY: the user's callback with its argument; the request is the user's from here.
            unsafe { cb(handle, arg) };
        }
        Arrival::Endpoint(cb, arg) => match accept(worker, request, EpParams::default()) {
            // SAFETY: the user's callback with its argument; the endpoint is the user's from here.
            Ok(ep) => unsafe { cb(ep.as_ptr().cast(), arg) },
            Err(e) => ucs_diag!("a client from {client} cannot be accepted: {e}"),
        },
    }
}

/// Rejects a client without showing it to the application.
fn turn_down(worker: &Core, id: RequestId, client: SocketAddr, why: Status) {
    ucs_diag!("a client from {client} is turned down: {why}");
    if let Ok(manager) = cm(worker).and_then(super::cm::Cm::manager)
        && let Err(e) = manager.reject(id)
    {
        ucs_debug!("turning down a client that went: {e}");
    }
}
