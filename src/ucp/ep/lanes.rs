//! The lanes of an endpoint: transport endpoints, each on one of the worker's interfaces.
//!
//! A protocol asks for a lane by what it needs (`Capability`), not by a place in the array or by a transport. The first
//! lane carries messages and exists once the endpoint is connected. Other lanes are opened when they are first asked for,
//! so that an endpoint that only sends messages pays for one.
#![forbid(unsafe_code)]

use crate::c::*;
use crate::ucp::worker_core::OpenIface;
use core::cell::{OnceCell, RefCell};
use smallvec::SmallVec;

/// The place of a lane in the array of its endpoint.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LaneIdx(u8);

impl LaneIdx {
    /// The lane for messages.
    pub const MESSAGES: LaneIdx = LaneIdx(0);
}

/// A transport endpoint on one of the worker's interfaces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lane {
    pub index: LaneIdx,
    pub ep: uct_ep_h,
    /// Index into the worker's interfaces.
    pub iface: usize,
    /// Index into the peer's address.
    pub entry: usize,
}

/// A new transport endpoint, by one of the worker's interfaces to an entry of the peer's address.
pub struct OpenedLane {
    pub ep: uct_ep_h,
    pub iface: usize,
    pub entry: usize,
}

/// What a protocol needs of a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Capability {
    /// Reads and writes the peer's memory without a key: the kernel copies.
    SingleCopy,
    /// Writes the peer's memory by the keys of its domain, with a message that tells of it.
    PutByKey,
    /// Reads and writes the peer's registered memory by the keys of its domain, without the peer's processor.
    Rdma,
    /// Copies between memory of devices here and at the peer, by the keys of its domain, without the peer's processor.
    DeviceCopy,
}

impl Capability {
    /// Whether lanes of an interface have it.
    pub fn is_of(self, iface: &OpenIface) -> bool {
        let (need, registered) = match self {
            Capability::SingleCopy => (UCT_IFACE_FLAG_GET_ZCOPY, false),
            Capability::PutByKey | Capability::DeviceCopy => (UCT_IFACE_FLAG_PUT_ZCOPY, false),
            Capability::Rdma => (BY_DEVICE, true),
        };
        let need = need | UCT_IFACE_FLAG_CONNECT_TO_IFACE;
        iface.attr.cap.flags & need == need
            && iface.needs_registration == registered
            && iface.reaches_devices_only == (self == Capability::DeviceCopy)
    }
}

/// What a device does that accesses memory of any length, registered or not.
const BY_DEVICE: u64 = UCT_IFACE_FLAG_PUT_SHORT
    | UCT_IFACE_FLAG_PUT_BCOPY
    | UCT_IFACE_FLAG_PUT_ZCOPY
    | UCT_IFACE_FLAG_GET_BCOPY
    | UCT_IFACE_FLAG_GET_ZCOPY;

const CAPABILITIES: usize = 4;

/// The lanes of one endpoint. None is removed before the endpoint ends.
#[derive(Default)]
pub struct Lanes {
    /// Most endpoints have one.
    all: RefCell<SmallVec<[Lane; 1]>>,
    /// The lane for each capability, once it was asked for; `Some(None)` if there is none.
    by_capability: [OnceCell<Option<Lane>>; CAPABILITIES],
}

impl Lanes {
    /// Adds a transport endpoint.
    pub fn add(&self, ep: uct_ep_h, iface: usize, entry: usize) -> Lane {
        let mut all = self.all.borrow_mut();
        let index = LaneIdx(all.len() as u8);
        let lane = Lane {
            index,
            ep,
            iface,
            entry,
        };
        all.push(lane);
        lane
    }

    /// The lane with a capability, if it was found already; `Some(None)` if there is none.
    #[inline]
    pub fn found(&self, capability: Capability) -> Option<Option<Lane>> {
        self.by_capability[capability as usize].get().copied()
    }

    /// Keeps the lane for a capability, unless one was kept before. Returns the one that is kept.
    pub fn keep(&self, capability: Capability, lane: Option<Lane>) -> Option<Lane> {
        *self.by_capability[capability as usize].get_or_init(|| lane)
    }

    /// The lane for messages; `None` while the endpoint is not connected.
    pub fn first(&self) -> Option<Lane> {
        self.all.borrow().first().copied()
    }

    /// All lanes, in order, also those that are added meanwhile.
    pub fn all(&self) -> impl Iterator<Item = Lane> {
        (0..).map_while(|i| self.all.borrow().get(i).copied())
    }

    /// Whether one of them is this transport endpoint.
    pub fn has(&self, ep: uct_ep_h) -> bool {
        self.all.borrow().iter().any(|lane| lane.ep == ep)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handle(number: usize) -> uct_ep_h {
        core::ptr::without_provenance_mut(number)
    }

    #[test]
    fn lanes_are_numbered_in_the_order_of_their_opening() {
        let lanes = Lanes::default();
        let first = lanes.add(handle(8), 3, 0);
        assert_eq!(first.index, LaneIdx::MESSAGES);
        let second = lanes.add(handle(16), 4, 1);
        assert!(second.index > first.index);
        assert_eq!(lanes.first(), Some(first));
        assert!(lanes.all().eq([first, second]));
        assert!(lanes.has(handle(16)) && !lanes.has(handle(24)));
    }

    #[test]
    fn the_lane_of_a_capability_is_kept_and_so_is_that_there_is_none() {
        let lanes = Lanes::default();
        let lane = lanes.add(handle(8), 0, 0);
        let (copy, put) = (Capability::SingleCopy, Capability::PutByKey);
        assert_eq!((lanes.found(copy), lanes.found(put)), (None, None));
        assert_eq!(lanes.keep(copy, None), None);
        assert_eq!(lanes.keep(put, Some(lane)), Some(lane));
        assert_eq!(lanes.keep(copy, Some(lane)), None);
        assert_eq!(lanes.found(copy), Some(None));
        assert_eq!(lanes.found(put), Some(Some(lane)));
    }
}
