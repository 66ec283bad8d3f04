//! Endpoints of the engine's own, to those who made or claimed an offer.
//!
//! An offer names the sender's interface; answers go there. Such an endpoint is kept for the next offer,
//! and when it fails, the receives that depend on it end, not the user's error handler is called.
#![forbid(unsafe_code)]

use super::jobs::Later;
use super::{Engine, wire};
use crate::c::*;
use crate::ucs::{Result, Status};
use crate::ucs_diag;
use crate::uct::base::params::{EpParams, GivenAddress};

/// Endpoints kept at a time. Those without a receive under way go first.
const MAX_BACKS: usize = 4096;

impl Engine {
    /// An endpoint to the interface at these addresses.
    pub(super) fn back(&self, to: &wire::Addresses<'_>) -> Result<uct_ep_h> {
        let own = self.own_addresses();
        if to.device.len() != own.device.len() || to.iface.len() != own.iface.len() {
            ucs_diag!("tag matching: a peer's address has another length than ours");
            return Err(Status::INVALID_ADDR);
        }
        let name = [to.device, to.iface].concat();
        if let Some(ep) = self.backs.borrow().get(&name) {
            return Ok(*ep as uct_ep_h);
        }
        if self.backs.borrow().len() >= MAX_BACKS {
            self.drop_idle()?;
        }
        let given = |bytes| Some(GivenAddress::of(bytes)).filter(|_| !bytes.is_empty());
        let params = EpParams {
            device: given(to.device),
            iface: given(to.iface),
        };
        let ep = self.connect(&params)?;
        self.backs.borrow_mut().insert(name, ep as usize);
        Ok(ep)
    }

    /// Lets go of the endpoints that nothing waits for.
    #[cold]
    fn drop_idle(&self) -> Result<()> {
        let idle: Vec<usize> = {
            let fetching = self.fetching.borrow();
            let backs = self.backs.borrow();
            let used = |ep: usize| {
                self.waits(ep as uct_ep_h) || fetching.values().any(|f| f.back as usize == ep)
            };
            backs.values().copied().filter(|ep| !used(*ep)).collect()
        };
        if idle.is_empty() {
            ucs_diag!(
                "tag matching: {MAX_BACKS} peers have rendezvous under way, no room for more"
            );
            return Err(Status::EXCEEDS_LIMIT);
        }
        self.backs.borrow_mut().retain(|_, ep| !idle.contains(ep));
        for ep in idle {
            self.add_later(Later::Drop(ep));
        }
        Ok(())
    }

    /// An endpoint of our own failed: who waits for data from there is told, in progress.
    pub fn back_failed(&self, ep: uct_ep_h, status: Status) {
        ucs_diag!("tag matching: a peer that offered data is gone: {status}");
        self.backs.borrow_mut().retain(|_, e| *e != ep as usize);
        self.jobs.borrow_mut().remove(&(ep as usize));
        let keys: Vec<u64> = {
            let fetching = self.fetching.borrow();
            let lost = fetching.iter().filter(|(_, f)| f.back == ep);
            lost.map(|(key, _)| *key).collect()
        };
        for key in keys {
            let found = self.fetching.borrow_mut().remove(&key);
            if let Some(f) = found {
                let ctx = f.receive.ctx;
                self.mark_ending(ctx);
                self.add_later(Later::Finish(ctx, f.tag, 0, f.got, Err(status)));
            }
        }
        self.add_later(Later::Drop(ep as usize));
    }
}
