//! Which lanes an endpoint has, and which of them a protocol gets.
#![forbid(unsafe_code)]

use super::message_lane::NO_LANE;
use super::{Capability, Ep, Lane, LaneIdx, MessageLane, OpenedLane, WantedRails, WeightedLane};
use crate::c::*;
use crate::ucp::counters::Tally;
use crate::ucp::names;
use crate::ucp::worker_core::bandwidth;
use crate::uct::internal::IfaceBase;
use crate::wire::address::{Address, AddressEntry};
use crate::wire::header::{Header, PutHdr};
use core::ffi::CStr;
use std::rc::Rc;

impl Ep {
    /// The transport endpoint for messages; of an unconnected endpoint, `NO_LANE`.
    #[inline]
    pub fn lane(&self) -> &MessageLane {
        self.lane.get().unwrap_or(&NO_LANE)
    }

    /// The interface of the message lane; `None` of an unconnected endpoint.
    pub fn carrier(&self) -> Option<&IfaceBase> {
        let iface = self.worker().ifaces.get(self.lane.get()?.iface)?;
        Some(iface.internal().base)
    }

    /// `transport/device` of the message lane.
    pub fn transport_name(&self) -> String {
        match self.lane.get() {
            Some(lane) => self.name_of(lane.iface),
            None => "nothing yet".to_owned(),
        }
    }

    /// `transport/device` of one of the worker's interfaces.
    pub fn name_of(&self, iface: usize) -> String {
        let w = self.worker();
        let r = &w.context().resources[w.ifaces[iface].resource];
        format!("{}/{}", r.transport.name(), r.device.name)
    }

    /// The lane with a capability, opened when it is first asked for; `None` without such a transport.
    #[inline]
    pub fn lane_with(&self, capability: Capability) -> Option<Lane> {
        match self.lanes.found(capability) {
            Some(lane) => lane,
            None => self.find_lane(capability),
        }
    }

    #[cold]
    pub(super) fn find_lane(&self, capability: Capability) -> Option<Lane> {
        let (w, address) = (self.worker(), self.address.get()?);
        let lane = match capability {
            // Only messages are sent again when a link is lost.
            _ if self.uses_failover() => None,
            Capability::SingleCopy | Capability::DeviceCopy => {
                (self.hooks().open_lane)(w, address, capability).map(|opened| self.add_lane(opened))
            }
            // Only on the message lane do they stay in order with messages.
            Capability::PutByKey | Capability::Rdma => {
                let first = self.lanes.first();
                first.filter(|lane| capability.is_of(&w.ifaces[lane.iface]))
            }
        };
        self.lanes.keep(capability, lane)
    }

    /// Adds a transport endpoint, whose failure is this endpoint's from now on.
    pub(super) fn add_lane(&self, opened: OpenedLane) -> Lane {
        let OpenedLane { ep, iface, entry } = opened;
        self.worker()
            .endpoints()
            .by_lane
            .borrow_mut()
            .insert(ep, self.to_ref());
        self.lanes.add(ep, iface, entry)
    }

    /// The lane by which devices copy from and to memory of a type, `UCS_MEMORY_TYPE_*`.
    pub fn device_lane(&self, kind: ucs_memory_type_t) -> Option<Lane> {
        let w = self.worker();
        let lane = self.lane_with(Capability::DeviceCopy)?;
        let attr = w.context().mds[w.domain_of(lane.iface)].md.attr();
        (attr.access_mem_types & 1u64.unbounded_shl(kind) != 0).then_some(lane)
    }

    /// Most bytes of a piece of a message by a lane.
    pub fn max_piece(&self, lane: Lane) -> usize {
        match lane.index {
            LaneIdx::MESSAGES => self.lane().max_piece,
            _ => self.worker().ifaces[lane.iface].attr.cap.am.max_bcopy,
        }
    }

    /// Bytes of the longest put that goes by message where the transport could write the memory itself; none to upstream's
    /// processes, which acknowledge each. A message is copied, so that the put is complete when it was posted, it leaves
    /// together with others, and needs no acknowledgement of its own.
    pub fn longest_put_message(&self) -> Option<usize> {
        (!self.is_upstream()).then(|| self.lane().max_bcopy.saturating_sub(PutHdr::LEN))
    }

    /// Whether a put of so many bytes does.
    pub fn puts_by_message(&self, len: usize) -> bool {
        self.longest_put_message().is_some_and(|most| len <= most)
    }

    /// The lane for messages, if connected.
    pub fn message_lane(&self) -> Option<Lane> {
        self.lanes.first()
    }

    /// `first`, and the rails beside it that are connected. Opens rails when it is called first.
    pub fn lanes_with_rails(&self, first: Lane, wanted: WantedRails) -> Vec<WeightedLane> {
        let w = self.worker();
        // The application may still give the whole address of the peer.
        let has_rails = !self.uses_failover() && !self.is_upstream() && !self.is_hidden();
        if let Some(address) = self.address_for_rails().filter(|_| has_rails) {
            let open = || (self.hooks().open_rails)(w, address, self.lane(), wanted);
            self.rails.open_once(open, |opened| self.add_lane(opened));
        }
        let first = WeightedLane {
            lane: first,
            bandwidth: bandwidth(&w.ifaces[first.iface].attr, w.context().processes_here),
        };
        let mut lanes = vec![first];
        lanes.extend(self.rails.connected(|lane, identity| {
            let of_iface = || w.ifaces[lane.iface].internal().is_connected(identity);
            lane.is_connected().unwrap_or_else(of_iface)
        }));
        lanes
    }

    /// All that is known of the peer's address.
    pub(super) fn address_for_rails(&self) -> Option<&Address> {
        let known = self.whole_address.get().or(self.address.get());
        known.map(Rc::as_ref)
    }

    /// The application has given the address of the peer, of which an endpoint that a message made knows the proven part.
    pub fn learn_address(&self, given: &Address) {
        let Some(known) = self.address.get() else {
            return;
        };
        let mut whole = Address::clone(known);
        let is_new = |entry: &&AddressEntry| !known.entries.contains(entry);
        whole
            .entries
            .extend(given.entries.iter().filter(is_new).cloned());
        if whole.entries.len() > known.entries.len() {
            // It is given once.
            let _ = self.whole_address.set(Rc::new(whole));
        }
    }

    /// Whether there are rails, or they have not been looked for.
    #[inline]
    pub fn may_have_rails(&self) -> bool {
        self.rails.may_be()
    }

    /// Whether a lane is a rail that has failed.
    pub fn is_lost_rail(&self, lane: Lane) -> bool {
        self.rails.is_lost(lane)
    }

    /// A transport endpoint has failed. Returns whether it was a rail whose data may be lost without a word; `None` if it
    /// was no rail.
    pub fn on_rail_failure(&self, ep: uct_ep_h) -> Option<bool> {
        self.rails.on_failure(ep)
    }

    /// Data go by a lane, which a flush has to cover.
    pub fn note_rail_use(&self, lane: Lane) {
        self.rails.note_use(lane);
    }

    /// A lane gets a part of a transfer, of `bytes`.
    pub fn note_rail_part(&self, lane: Lane, bytes: usize) {
        self.rails.note_part(lane, bytes);
    }

    /// The rails that got parts of transfers, with these.
    pub fn rail_parts(&self) -> impl Iterator<Item = (Lane, &Tally)> {
        self.rails.parts()
    }

    /// The peer's messages come by this interface of the worker.
    pub fn note_arrival(&self, iface: usize) {
        self.rails.note_arrival(iface);
    }

    /// The memory domain to which the peer's message lane leads, if that is known and moves bulk data.
    pub fn domain_of_arrival(&self) -> Option<usize> {
        let iface = self.rails.arrival()?;
        let worker = self.worker();
        Capability::Rdma
            .is_of(worker.ifaces.get(iface)?)
            .then(|| worker.domain_of(iface))
    }

    /// The memory domains of this worker to which the peer's rails may lead, in the order of the worker's address, once rails
    /// were opened.
    pub fn domains_in_reach(&self) -> &[usize] {
        self.rails.domains_in_reach()
    }

    /// An access with parts on rails begins.
    pub fn rail_access_begins(&self) {
        self.rails.access_begins();
    }

    /// An access with parts on rails has ended: after the last one, what a fence has held goes out.
    pub fn rail_access_ends(&self) {
        if self.rails.access_ends() && self.send_queue.is_held() {
            self.send_queue.set_held(false);
            self.send_queued();
        }
    }

    /// A fence: nothing that is posted later goes out before the accesses on rails have ended. Behind those on the message
    /// lane it stays in order.
    pub fn hold_for_rails(&self) {
        if self.rails.has_accesses() && self.is_usable() {
            self.send_queue.set_held(true);
        }
    }

    /// Whether a flush has to cover rails.
    pub fn has_unflushed_rails(&self) -> bool {
        self.rails.has_unflushed()
    }

    /// The rails that a flush has to cover.
    pub fn take_unflushed_rails(&self) -> impl Iterator<Item = Lane> {
        self.rails.take_unflushed()
    }

    /// The lanes that it has opened.
    pub fn lanes(&self) -> impl Iterator<Item = Lane> {
        self.lanes.all()
    }

    /// Whether a transport's endpoint is this one's.
    pub fn has_lane(&self, ep: uct_ep_h) -> bool {
        self.lanes.has(ep)
    }

    /// Whether messages go to a peer on this host, by memory that both share.
    pub fn is_same_host(&self) -> bool {
        self.message_device() == Some(UCT_DEVICE_TYPE_SHM)
    }

    /// Whether the device of the message lane has the peer's handler called within each send.
    pub fn delivers_at_once(&self) -> bool {
        self.message_device() == Some(UCT_DEVICE_TYPE_SELF)
    }

    /// The kind of the message lane's device.
    fn message_device(&self) -> Option<uct_device_type_t> {
        let w = self.worker();
        let iface = &w.ifaces[self.lane.get()?.iface];
        Some(w.context().resources[iface.resource].device.kind)
    }

    /// Transport and device of each lane.
    pub fn lane_names(&self) -> Vec<(&'static CStr, &'static CStr)> {
        let w = self.worker();
        self.lanes()
            .map(|lane| {
                let r = &w.context().resources[w.ifaces[lane.iface].resource];
                (
                    names::intern(r.transport.name()),
                    names::intern(&r.device.name),
                )
            })
            .collect()
    }
}
