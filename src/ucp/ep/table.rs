//! `Endpoints`: the endpoints of a worker, by local id, by remote endpoint and by transport endpoint.

use super::copy_wait::CopyWaits;
use super::loopback::Loopback;
use super::pairing::{Pairing, ReturnPath};
use super::{Capability, Ep, EpRef, MessageLane, OpenedLane, OpenedRails, Task, WantedRails};
use crate::c::uct_ep_h;
use crate::ucp::request::Req;
use crate::ucp::worker_core::{Core, FloorState};
use crate::ucs::Status;
use crate::ucs::keyed_hash::HashKey;
use crate::ucs::slots::Slots;
use crate::wire::address::Address;
use crate::wire::id::{EpId, EpName};
use core::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

/// What endpoints ask of the floors above and tell them.
pub struct EpHooks {
    /// Makes an implicit endpoint for replies to the remote endpoint with that id. Returns its id.
    pub make_reply_ep: fn(&Core, ReturnPath, EpId) -> Option<u64>,
    /// Makes the transport endpoint of a lane with a capability, if there is such a transport. Returns it with its
    /// interface.
    pub open_lane: fn(&Core, &Address, Capability) -> Option<OpenedLane>,
    /// Makes the transport endpoints of rails beside the message lane.
    pub open_rails: fn(&Core, &Address, &MessageLane, WantedRails) -> OpenedRails,
    /// Flushes the rails of an endpoint that is about to end. Returns whether its end has to wait for them.
    pub flush_rails: fn(&Ep) -> bool,
    /// The peer of an endpoint is known.
    pub on_connected: fn(&Ep),
    /// The death of the peer has to be detected; the transport's connection may be still being established.
    pub watch: fn(&Ep, bool),
    /// The transport's connection is established.
    pub on_ready: fn(&Ep),
    /// Operations end with a status: those that wait outside of the endpoint.
    pub abort_transfers: fn(&Ep, Status),
    /// Receives of the peer's messages that wait for progress end with a status.
    pub abort_postponed: fn(&Ep, Status),
    /// Receives on the stream end with a status.
    pub end_stream: fn(&Ep, Status),
    /// The application does not ask any more which streams have something new.
    pub forget_stream: fn(&Ep),
    /// The endpoint has failed: tells the peer. A notice goes by another lane than that for messages, if one is connected.
    pub tell_failure: fn(&Ep, Option<Task>),
    /// All operations before a close, whose request this is, are complete. Returns whether the other side of a connection
    /// has to disconnect before it is.
    pub awaits_disconnect: fn(&Ep, Req) -> bool,
    /// The endpoint is destroyed.
    pub on_destroyed: fn(&Ep),
}

pub struct Endpoints {
    pub eps: RefCell<Slots<EpRef>>,
    /// Draining endpoints.
    pub draining: RefCell<BTreeSet<EpRef>>,
    /// The endpoints by those of the transports that they have.
    pub by_lane: RefCell<HashMap<uct_ep_h, EpRef, HashKey>>,
    /// Which local endpoint belongs to which remote endpoint.
    pub pairing: Pairing,
    pub loopback: Loopback,
    /// Those whose queues wait for a device.
    pub copy_waits: CopyWaits,
    hooks: &'static EpHooks,
}

impl Endpoints {
    pub fn new(hooks: &'static EpHooks) -> Endpoints {
        Endpoints {
            eps: RefCell::new(Slots::new()),
            draining: RefCell::new(BTreeSet::new()),
            by_lane: RefCell::default(),
            pairing: Pairing::default(),
            loopback: Loopback::default(),
            copy_waits: CopyWaits::default(),
            hooks,
        }
    }
}

impl Ep {
    pub fn hooks(&self) -> &'static EpHooks {
        self.worker().endpoints().hooks
    }
}

impl Core {
    #[inline(always)]
    pub fn endpoints(&self) -> &Endpoints {
        Endpoints::of(self)
    }

    /// The endpoint with this local id.
    #[inline]
    pub fn ep(&self, id: u64) -> Option<&Ep> {
        // SAFETY: nobody changes the table before the pointer is read.
        let eps = unsafe { self.endpoints().eps.try_borrow_unguarded() }.ok()?;
        eps.get(id).map(|ep| &**ep)
    }

    /// The local endpoint of a remote endpoint. If it was closed, makes a reply-only endpoint
    /// over the return path.
    #[inline]
    pub fn ep_of_peer(&self, name: EpName) -> Option<&Ep> {
        self.paired(name).or_else(|| self.return_to(name))
    }

    /// The local endpoint of a remote endpoint, unless it was closed.
    #[inline]
    pub fn open_ep_of_peer(&self, name: EpName) -> Option<&Ep> {
        self.paired(name).filter(|ep| !ep.is_reply_only())
    }

    /// The local endpoint of a remote endpoint, if it was the last one looked up.
    #[inline(always)]
    pub fn last_named(&self, name: EpName) -> Option<&Ep> {
        self.ep(self.endpoints().pairing.last(name)?)
    }

    /// The local endpoint of a remote endpoint that is paired.
    #[inline]
    pub fn paired(&self, name: EpName) -> Option<&Ep> {
        if let Some(found) = self.last_named(name) {
            return Some(found);
        }
        self.ep(self.endpoints().pairing.local_id(name)?)
    }

    /// Makes a reply-only endpoint over the return path of a remote endpoint.
    #[cold]
    fn return_to(&self, name: EpName) -> Option<&Ep> {
        let path = self.endpoints().pairing.take_return_path(name)?;
        self.ep((self.endpoints().hooks.make_reply_ep)(self, path, name.id)?)
    }
}
