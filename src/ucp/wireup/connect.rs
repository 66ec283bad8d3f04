//! Connecting endpoints by their peers' addresses.
#![forbid(unsafe_code)]

use super::select;
use crate::c::UCP_ERR_HANDLING_MODE_FAILOVER;
use crate::ucp::ep::pairing::ReturnPath;
use crate::ucp::ep::{End, Ep, EpParams, EpRef, MadeBy, MessageLane};
use crate::ucp::failover;
use crate::ucp::worker_core::Core;
use crate::ucs::{Result, Status};
use crate::ucs_diag;
use crate::wire::address::Address;
use std::rc::Rc;

impl Ep {
    /// Makes an endpoint to the owner of `address`. `UNREACHABLE` when no transport reaches it.
    pub fn create(worker: &Core, address: Address, params: EpParams) -> Result<EpRef> {
        let ep = Ep::unconnected(worker, params);
        let failover = params.err_mode == UCP_ERR_HANDLING_MODE_FAILOVER;
        ep.set_failover(failover && address.uuid != worker.uuid);
        Ep::made(ep, |ep| ep.connect(address))
    }

    /// As `create`, for replies to a peer, unknown to the application. `CONNECTION_RESET` when the peer has left.
    pub fn create_back(worker: &Core, path: &ReturnPath, made_by: MadeBy) -> Result<EpRef> {
        let ep = Ep::hidden(worker, made_by);
        ep.set_failover(path.failover);
        Ep::made(ep, |ep| ep.connect_back(Rc::clone(&path.address)))
    }

    fn made(ep: EpRef, connect: impl FnOnce(&Ep) -> Result<()>) -> Result<EpRef> {
        match connect(&ep) {
            Ok(()) => Ok(ep),
            Err(e) => {
                ep.destroy(e, End::Flushed);
                Err(e)
            }
        }
    }

    /// Sets the peer's address: chooses the transport, and sends the queue.
    pub fn connect(&self, address: Address) -> Result<()> {
        let address = select::shared(self.worker(), address);
        let lane = self
            .choose_lane(&address)
            .inspect_err(|_| select::explain(self.worker(), &address))?;
        self.connected(lane, address)
    }

    /// As `connect`, for replies to a peer. `CONNECTION_RESET` when the peer has left.
    pub fn connect_back(&self, address: Rc<Address>) -> Result<()> {
        let worker = self.worker();
        let lane = self.choose_lane(&address).map_err(|e| {
            if !select::has_left(worker, &address) {
                select::explain(worker, &address);
                return e;
            }
            ucs_diag!("worker {:#x} left before it was connected to", address.uuid);
            Status::CONNECTION_RESET
        })?;
        self.connected(lane, address)
    }

    fn choose_lane(&self, address: &Rc<Address>) -> Result<MessageLane> {
        match self.uses_failover() {
            true => failover::message_lane(self, address),
            false => select::message_lane(self.worker(), address),
        }
    }

    /// Seconds a message of `size` bytes is estimated to take.
    pub fn estimate(&self, size: usize) -> f64 {
        if !self.is_connected() {
            return f64::INFINITY;
        }
        let w = self.worker();
        let attr = &w.ifaces[self.lane().iface].attr;
        select::duration(attr, w.context().processes_here, size as f64)
    }
}
