//! Rails: further lanes of an endpoint, each by devices of its own, over which long transfers go beside the message lane.
//!
//! They are opened when a transfer first is long enough to be split, and are used once they are connected. A rail that
//! cannot be connected is left out. A rail that was used fails the endpoint when it fails, as its data may be lost; the
//! peer hears of it by the message lane. An RDMA device tells of each transfer how it ended: what is under way on such a
//! rail ends with its status, and the rail is left out from then on.
#![forbid(unsafe_code)]

use super::lanes::{Lane, OpenedLane};
use crate::c::uct_ep_h;
use crate::ucp::counters::Tally;
use core::cell::{Cell, OnceCell};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Connecting,
    Connected,
    Lost,
}

/// A lane with its bandwidth in bytes a second.
#[derive(Clone, Copy, Debug)]
pub struct WeightedLane {
    pub lane: Lane,
    pub bandwidth: f64,
}

/// The rails that an endpoint is to have.
#[derive(Clone, Copy, Debug)]
pub struct WantedRails {
    pub most: usize,
    /// How often the bandwidth of a rail may go into that of the message lane.
    pub ratio: f64,
}

struct Rail {
    weighted: WeightedLane,
    /// The peer's identity, by which the interface knows whether it is connected.
    identity: u64,
    by_device: bool,
    state: Cell<State>,
    /// It carried data that no flush has covered.
    unflushed: Cell<bool>,
    /// The parts of transfers that it was given.
    parts: Tally,
}

/// A transport endpoint for a rail, which is being connected.
pub struct OpenedRail {
    pub lane: OpenedLane,
    pub bandwidth: f64,
    /// The peer's identity, by which its interface knows whether it is connected.
    pub identity: u64,
    /// A device moves the data, and tells of each transfer how it ended: `Capability::Rdma`.
    pub by_device: bool,
}

/// The rails that an endpoint opens.
#[derive(Default)]
pub struct OpenedRails {
    pub rails: Vec<OpenedRail>,
    /// The memory domains of this worker to which rails of the peer may lead, in the order of the worker's address.
    pub in_reach: Vec<usize>,
}

struct Opened {
    rails: Vec<Rail>,
    /// As in `OpenedRails`.
    in_reach: Vec<usize>,
}

/// The rails of an endpoint.
#[derive(Default)]
pub struct Rails {
    /// None before the first transfer that could be split.
    opened: OnceCell<Opened>,
    /// Accesses that have parts on rails.
    accesses: Cell<usize>,
    /// A rail that was used has failed.
    failed: Cell<bool>,
    /// The worker's interface by which the peer's messages come, if that is known.
    arrival: Cell<Option<u8>>,
}

impl Rails {
    /// Opens the rails, unless that was done before: `open` makes the transport endpoints, `add` the lanes.
    pub fn open_once(&self, open: impl FnOnce() -> OpenedRails, add: impl Fn(OpenedLane) -> Lane) {
        self.opened.get_or_init(|| {
            let rail = |opened: OpenedRail| Rail {
                weighted: WeightedLane {
                    lane: add(opened.lane),
                    bandwidth: opened.bandwidth,
                },
                identity: opened.identity,
                by_device: opened.by_device,
                state: Cell::new(State::Connecting),
                unflushed: Cell::new(false),
                parts: Tally::default(),
            };
            let OpenedRails { rails, in_reach } = open();
            Opened {
                rails: rails.into_iter().map(rail).collect(),
                in_reach,
            }
        });
    }

    /// The memory domains of this worker to which the peer's rails may lead, in the order of the worker's address.
    pub fn domains_in_reach(&self) -> &[usize] {
        self.opened.get().map_or(&[], |opened| &opened.in_reach)
    }

    fn all(&self) -> &[Rail] {
        self.opened.get().map_or(&[], |opened| &opened.rails)
    }

    /// Whether there are rails, or they have not been looked for.
    #[inline]
    pub fn may_be(&self) -> bool {
        self.opened
            .get()
            .is_none_or(|opened| !opened.rails.is_empty())
    }

    /// The rails that are connected, for which `is_connected` is asked by lane and identity.
    pub fn connected(
        &self,
        is_connected: impl Fn(Lane, u64) -> bool,
    ) -> impl Iterator<Item = WeightedLane> {
        self.all().iter().filter_map(move |rail| {
            let lane = rail.weighted.lane;
            if rail.state.get() == State::Connecting && is_connected(lane, rail.identity) {
                rail.state.set(State::Connected);
            }
            (rail.state.get() == State::Connected).then_some(rail.weighted)
        })
    }

    /// Whether a lane is a rail that has failed.
    pub fn is_lost(&self, lane: Lane) -> bool {
        let is_it = |rail: &Rail| rail.weighted.lane == lane && rail.state.get() == State::Lost;
        self.all().iter().any(is_it)
    }

    /// A transport endpoint has failed. Returns whether data that it carried may be lost without a word; `None` if it is
    /// not a rail's.
    pub fn on_failure(&self, ep: uct_ep_h) -> Option<bool> {
        let rail = self.all().iter().find(|r| r.weighted.lane.ep == ep)?;
        let was_used = rail.state.replace(State::Lost) == State::Connected && !rail.by_device;
        self.failed.set(self.failed.get() || was_used);
        Some(was_used)
    }

    /// Whether a rail that was used has failed, and the endpoint with it.
    pub fn has_failed(&self) -> bool {
        self.failed.get()
    }

    /// The peer's messages come by this interface of the worker.
    pub fn note_arrival(&self, iface: usize) {
        self.arrival.set(u8::try_from(iface).ok());
    }

    pub fn arrival(&self) -> Option<usize> {
        self.arrival.get().map(usize::from)
    }

    /// An access with parts on rails begins.
    pub fn access_begins(&self) {
        self.accesses.set(self.accesses.get() + 1);
    }

    /// An access with parts on rails has ended. Returns whether none is left.
    pub fn access_ends(&self) -> bool {
        self.accesses.set(self.accesses.get() - 1);
        !self.has_accesses()
    }

    /// Whether an access has parts on rails, which no message on another lane may overtake after a fence.
    pub fn has_accesses(&self) -> bool {
        self.accesses.get() > 0
    }

    /// A lane carries data, which only a flush of it confirms.
    pub fn note_use(&self, lane: Lane) {
        let rail = self.all().iter().find(|r| r.weighted.lane == lane);
        if let Some(rail) = rail {
            rail.unflushed.set(true);
        }
    }

    /// A lane gets a part of a transfer, of `bytes`.
    pub fn note_part(&self, lane: Lane, bytes: usize) {
        let rail = self.all().iter().find(|r| r.weighted.lane == lane);
        if let Some(rail) = rail {
            rail.parts.add(bytes);
        }
    }

    /// The rails that got parts, with these.
    pub fn parts(&self) -> impl Iterator<Item = (Lane, &Tally)> {
        let used = self.all().iter().filter(|rail| rail.parts.count.get() > 0);
        used.map(|rail| (rail.weighted.lane, &rail.parts))
    }

    /// Whether a rail carried data that no flush has covered.
    pub fn has_unflushed(&self) -> bool {
        self.all().iter().any(|rail| rail.unflushed.get())
    }

    /// The rails that carried data since this was called last.
    pub fn take_unflushed(&self) -> impl Iterator<Item = Lane> {
        let unflushed = self
            .all()
            .iter()
            .filter(|rail| rail.unflushed.replace(false));
        unflushed.map(|rail| rail.weighted.lane)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ucp::ep::Lanes;

    /// Opens a rail on each of the interfaces, and none a second time.
    fn open(rails: &Rails, ifaces: &[usize], by_device: bool) -> Vec<Lane> {
        let lanes = Lanes::default();
        let rail = |iface: &usize| OpenedRail {
            lane: OpenedLane {
                ep: core::ptr::without_provenance_mut(8 * iface),
                iface: *iface,
                entry: 0,
            },
            bandwidth: 1e9,
            identity: 100 + *iface as u64,
            by_device,
        };
        for _ in 0..2 {
            let add = |opened: OpenedLane| lanes.add(opened.ep, opened.iface, opened.entry);
            let opened = || OpenedRails {
                rails: ifaces.iter().map(rail).collect(),
                in_reach: ifaces.to_vec(),
            };
            rails.open_once(opened, add);
            assert_eq!(rails.domains_in_reach(), ifaces);
        }
        lanes.all().collect()
    }

    fn connected(rails: &Rails, up: &[usize]) -> Vec<Lane> {
        let rails = rails.connected(|lane, identity| {
            assert_eq!(identity, 100 + lane.iface as u64);
            up.contains(&lane.iface)
        });
        rails.map(|w| w.lane).collect()
    }

    #[test]
    fn a_rail_is_used_once_it_is_connected_and_left_out_if_it_never_is() {
        let rails = Rails::default();
        assert!(connected(&rails, &[1, 2]).is_empty(), "none is open");
        assert!(rails.may_be());
        let made = open(&rails, &[1, 2], false);
        assert_eq!(
            rails.on_failure(core::ptr::without_provenance_mut(24)),
            None
        );
        assert!(connected(&rails, &[]).is_empty());
        assert_eq!(connected(&rails, &[1]), [made[0]]);
        assert_eq!(
            connected(&rails, &[]),
            [made[0]],
            "its failure is told otherwise"
        );
        assert_eq!(rails.on_failure(made[1].ep), Some(false));
        assert!(!rails.has_failed());
        assert_eq!(connected(&rails, &[1, 2]), [made[0]]);
        assert_eq!(rails.parts().count(), 0);
        for bytes in [3, 4] {
            rails.note_part(made[0], bytes);
        }
        let parts = rails
            .parts()
            .map(|(lane, tally)| (lane, tally.count.get(), tally.bytes.get()));
        assert_eq!(parts.collect::<Vec<_>>(), [(made[0], 2, 7)]);
        rails.note_use(made[0]);
        assert!(rails.has_unflushed());
        assert_eq!(rails.take_unflushed().collect::<Vec<_>>(), [made[0]]);
        assert_eq!(rails.take_unflushed().count(), 0);
        assert_eq!(rails.on_failure(made[0].ep), Some(true));
        assert!(connected(&rails, &[1, 2]).is_empty() && rails.has_failed());
    }

    #[test]
    fn the_failure_of_a_device_leaves_its_rail_out() {
        let rails = Rails::default();
        let made = open(&rails, &[1, 2], true);
        assert_eq!(connected(&rails, &[1, 2]), made);
        assert_eq!(rails.on_failure(made[0].ep), Some(false));
        assert!(!rails.has_failed());
        assert!(rails.is_lost(made[0]) && !rails.is_lost(made[1]));
        assert_eq!(connected(&rails, &[1, 2]), [made[1]]);
    }

    #[test]
    fn where_there_is_no_second_device_nobody_looks_again() {
        let rails = Rails::default();
        open(&rails, &[], true);
        assert!(!rails.may_be());
    }
}
