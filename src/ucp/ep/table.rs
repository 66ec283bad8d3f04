//! `Endpoints`: the endpoints of a worker, by local id, by remote endpoint and by transport endpoint.

use super::Ep;
use super::loopback::Loopback;
use super::pairing::{Pairing, ReturnPath};
use crate::c::uct_ep_h;
use crate::ucp::worker_core::{Core, Part};
use crate::ucs::slots::Slots;
use core::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

/// Makes an implicit endpoint for replies to the remote endpoint with that id. Returns its id.
pub type MakeReplyEp = fn(&Core, ReturnPath, u64) -> Option<u64>;

pub struct Endpoints {
    pub eps: RefCell<Slots<*const Ep>>,
    /// Draining endpoints.
    pub draining: RefCell<BTreeSet<*const Ep>>,
    /// The endpoints by those of the transports that they have.
    pub by_lane: RefCell<HashMap<uct_ep_h, *const Ep>>,
    /// Which local endpoint belongs to which remote endpoint.
    pub pairing: Pairing,
    pub loopback: Loopback,
    make_reply_ep: MakeReplyEp,
}

impl Endpoints {
    pub fn new(make_reply_ep: MakeReplyEp) -> Endpoints {
        Endpoints {
            eps: RefCell::new(Slots::new()),
            draining: RefCell::new(BTreeSet::new()),
            by_lane: RefCell::new(HashMap::new()),
            pairing: Pairing::default(),
            loopback: Loopback::default(),
            make_reply_ep,
        }
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
        // SAFETY: an endpoint leaves the table before it is freed.
        Some(unsafe { &**eps.get(id)? })
    }

    /// The local endpoint of a remote endpoint. If it was closed, makes a reply-only endpoint
    /// over the return path.
    #[inline]
    pub fn ep_of_peer(&self, uuid: u64, ep: u64) -> Option<&Ep> {
        self.paired(uuid, ep).or_else(|| self.return_to(uuid, ep))
    }

    /// The local endpoint of a remote endpoint, unless it was closed.
    #[inline]
    pub fn open_ep_of_peer(&self, uuid: u64, ep: u64) -> Option<&Ep> {
        self.paired(uuid, ep).filter(|ep| !ep.is_reply_only())
    }

    /// The local endpoint of a remote endpoint, if it was the last one looked up.
    #[inline(always)]
    pub fn last_named(&self, uuid: u64, ep: u64) -> Option<&Ep> {
        self.ep(self.endpoints().pairing.last((uuid, ep))?)
    }

    /// The local endpoint of a remote endpoint that is paired.
    #[inline]
    pub fn paired(&self, uuid: u64, ep: u64) -> Option<&Ep> {
        if let Some(found) = self.last_named(uuid, ep) {
            return Some(found);
        }
        self.ep(self.endpoints().pairing.local_id((uuid, ep))?)
    }

    /// Makes a reply-only endpoint over the return path of a remote endpoint.
    #[cold]
    fn return_to(&self, uuid: u64, ep: u64) -> Option<&Ep> {
        let path = self.endpoints().pairing.take_return_path((uuid, ep))?;
        self.ep((self.endpoints().make_reply_ep)(self, path, ep)?)
    }
}
