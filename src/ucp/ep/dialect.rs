//! The dialect of an endpoint: whose message formats it uses.
//!
//! The engine is the same for both. An endpoint to a process of upstream UCX has no short-send route, and its lane sends
//! upstream's frames; what writes messages asks for the dialect (`proto/upstream`).
#![forbid(unsafe_code)]

use super::{Control, Ep, Task, TaskStep, UpstreamControl};
use crate::c::UCP_ERR_HANDLING_MODE_PEER;
use crate::ucs::{Result, Status};
use crate::wire::header::{AckHdr, AmId, Header, RtrHdr};
use crate::wire::id::{EpId, EpName, RequestId};
use crate::wire::upstream::address::{Offer, for_wireup};
use crate::wire::upstream::message::{
    ATS, Ack, COMPLETION, Completion, RTR, Rtr, SYNC_ACK, WIREUP, Wireup, WireupKind,
};
use crate::wire::upstream::{Process, Release};
use core::cell::Cell;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::rc::Rc;

/// Most interfaces of a process whose puts are taken.
const INTERFACES_MAX: usize = 64;

impl Ep {
    /// The peer is a process of upstream's. Before the endpoint is connected.
    pub fn set_upstream(&self) {
        self.upstream.set(true);
    }

    /// Whether the lane to the process of upstream's takes puts.
    pub fn set_upstream_puts(&self, takes: bool) {
        self.upstream_puts.set(takes);
    }

    /// An address of the peer's has been read, with these interfaces.
    pub fn add_upstream_process(&self, release: Release, interfaces: &[SocketAddr]) {
        let mut process = self.upstream_process.borrow_mut();
        let known = process.iter().flat_map(|p| p.interfaces.iter());
        let all: BTreeSet<SocketAddr> = known.chain(interfaces).copied().collect();
        let interfaces = all.into_iter().take(INTERFACES_MAX).collect();
        *process = Some(Rc::new(Process {
            release,
            interfaces,
        }));
    }

    /// The process of upstream's that the peer belongs to; `None` as long as it has told no address.
    pub fn upstream_process(&self) -> Option<Rc<Process>> {
        self.upstream_process.borrow().clone()
    }

    #[inline]
    pub fn is_upstream(&self) -> bool {
        self.upstream.get()
    }

    /// Sends a control message of the engine to a peer of upstream's. What only ours have says that an endpoint is closed
    /// or a message cut off; upstream's see the end of the connection.
    #[cold]
    pub(super) fn translate(&self, control: &Control) -> Result<TaskStep> {
        let message = match control.id {
            AmId::SendAck => AckHdr::split(&control.bytes).map(|(ack, _)| {
                let (request, status) = (ack.request.0, ack.status);
                UpstreamControl::new(ATS, &Ack { request, status }, &[])
            }),
            AmId::Rtr => RtrHdr::split(&control.bytes).map(|(rtr, key)| {
                let rtr = Rtr {
                    sender: rtr.request.0,
                    receiver: rtr.receiver.0,
                    address: rtr.address,
                    size: rtr.length,
                    offset: 0,
                };
                UpstreamControl::new(RTR, &rtr, key)
            }),
            _ => None,
        };
        if let Some(message) = message {
            message.send(self)?;
        }
        Ok(TaskStep::Done)
    }

    /// Tells a synchronous sender of upstream's that its message is matched.
    pub fn post_upstream_match(&self, sender: RequestId) {
        let ack = Ack {
            request: sender.0,
            status: 0,
        };
        self.post(Task::upstream(SYNC_ACK, &ack, &[]));
    }

    /// The id of the remote endpoint, which some messages name. `NO_RESOURCE` while it is not known: the queue waits for
    /// the answer to the wire-up request, which has to stand in the queue before such a message.
    pub fn upstream_name(&self) -> Result<u64> {
        match self.upstream_id.get() {
            Some(id) => Ok(id),
            None => {
                debug_assert!(self.is_wireup_sent());
                self.send_queue.set_held(true);
                Err(Status::NO_RESOURCE)
            }
        }
    }

    /// The remote endpoint is known. It may have a name of ours already (`upstream_peer`), and keeps it.
    pub fn pair_with_upstream(&self, remote: EpName) {
        self.upstream_id.set(Some(remote.id.0));
        if self.remote_ep.get().is_none() {
            self.pair_with(remote);
        } else {
            let pairing = &self.worker().endpoints().pairing;
            pairing.pair(remote, self.id.get());
        }
        let times = self.unconfirmed.take();
        if times > 0 {
            self.post_confirmations(remote.id.0, times);
        }
    }

    /// The remote endpoint is known: what waited for it is sent.
    pub fn named_by_upstream(&self, remote: EpName) {
        // It knows this endpoint too: another request would make it another endpoint.
        self.set_wireup_sent();
        self.pair_with_upstream(remote);
        self.send_queue.set_held(false);
        self.send_queued();
    }

    /// Tells the peer that an access of its is done.
    pub fn confirm_to_upstream(&self) {
        match self.upstream_id.get() {
            Some(ep) => self.post_confirmations(ep, 1),
            None => self.unconfirmed.set(self.unconfirmed.get() + 1),
        }
    }

    fn post_confirmations(&self, ep: u64, times: u64) {
        let message = UpstreamControl::new(COMPLETION, &Completion { ep }, &[]);
        message.times.set(times);
        self.post(Task::Upstream(Box::new(message)));
    }

    /// Holds back what is to be sent, or sends it.
    pub fn hold_queue(&self, held: bool) {
        self.send_queue.set_held(held);
        if !held && self.is_usable() {
            self.send_queued();
        }
    }

    /// The remote endpoint, if it is of upstream's and may know this one. Its messages may overtake the answer that names it, as they come
    /// by another connection: until then and from then on it has a name of ours.
    pub fn upstream_peer(&self) -> Option<EpName> {
        if !self.is_upstream() {
            return None;
        }
        if self.remote_ep.get().is_none() && self.is_wireup_sent() {
            self.pair_with(EpName {
                uuid: self.remote_uuid.get(),
                id: EpId(self.id.get()),
            });
        }
        self.remote_ep.get()
    }

    /// The mode of error handling that the peer is told. To upstream, failover is the death of the peer.
    pub fn upstream_error_mode(&self) -> u8 {
        self.params.get().err_mode.min(UCP_ERR_HANDLING_MODE_PEER) as u8
    }

    /// Asks for the remote endpoint.
    pub(super) fn upstream_request(&self) -> Task {
        let offers = self.worker().upstream_offers();
        self.upstream_wireup(WireupKind::Request, self.upstream_error_mode(), 0, &offers)
    }

    /// The answer to a request of the remote endpoint `receiver`.
    pub fn upstream_reply(&self, receiver: u64, error_mode: u8) -> Task {
        self.upstream_wireup(WireupKind::Reply, error_mode, receiver, &[])
    }

    /// The answer to `receiver`, which asks for an endpoint that is not there.
    pub fn upstream_removed(&self, receiver: u64) -> Task {
        self.upstream_wireup(WireupKind::Removed, 0, receiver, &[])
    }

    fn upstream_wireup(
        &self,
        kind: WireupKind,
        error_mode: u8,
        receiver: u64,
        offers: &[Offer],
    ) -> Task {
        let header = Wireup {
            kind,
            error_mode,
            number: self.serial.get() as u16,
            sender: self.id.get(),
            receiver,
        };
        let address = for_wireup(self.worker().uuid, offers, &[]);
        Task::Upstream(Box::new(UpstreamControl {
            id: WIREUP,
            bytes: [&header.encode()[..], &address].concat(),
            times: Cell::new(1),
        }))
    }
}
