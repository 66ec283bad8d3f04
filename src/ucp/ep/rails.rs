//! Rails: further lanes of an endpoint, each by devices of its own, over which long transfers go beside the message lane.
//!
//! They are opened when a transfer first is long enough to be split, and are used once they are connected. A rail that
//! cannot be connected is left out. A rail that was used fails the endpoint when it fails, as its data may be lost; the
//! peer hears of it by the message lane.
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
}

/// The rails of an endpoint.
#[derive(Default)]
pub struct Rails {
    /// None before the first transfer that could be split.
    opened: OnceCell<Vec<Rail>>,
    /// Accesses that have parts on rails.
    accesses: Cell<usize>,
    /// A rail that was used has failed.
    failed: Cell<bool>,
}

impl Rails {
    /// Opens the rails, unless that was done before: `open` makes the lanes, each with the peer's identity.
    pub fn open_once(&self, open: impl FnOnce() -> Vec<(WeightedLane, u64)>) {
        self.opened.get_or_init(|| {
            let rail = |(weighted, identity)| Rail {
                weighted,
                identity,
                state: Cell::new(State::Connecting),
                unflushed: Cell::new(false),
                parts: Tally::default(),
            };
            open().into_iter().map(rail).collect()
        });
    }

    fn all(&self) -> &[Rail] {
        self.opened.get().map_or(&[], Vec::as_slice)
    }

    /// The rails that are connected, for which `is_connected` is asked by interface and identity.
    pub fn connected(
        &self,
        is_connected: impl Fn(usize, u64) -> bool,
    ) -> impl Iterator<Item = WeightedLane> {
        self.all().iter().filter_map(move |rail| {
            let lane = rail.weighted.lane;
            if rail.state.get() == State::Connecting && is_connected(lane.iface, rail.identity) {
                rail.state.set(State::Connected);
            }
            (rail.state.get() == State::Connected).then_some(rail.weighted)
        })
    }

    /// A transport endpoint has failed. Returns whether it is a rail's that carried data; `None` if it is not a rail's.
    pub fn on_failure(&self, ep: uct_ep_h) -> Option<bool> {
        let rail = self.all().iter().find(|r| r.weighted.lane.ep == ep)?;
        let was_used = rail.state.replace(State::Lost) == State::Connected;
        self.failed.set(self.failed.get() || was_used);
        Some(was_used)
    }

    /// Whether a rail that was used has failed, and the endpoint with it.
    pub fn has_failed(&self) -> bool {
        self.failed.get()
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

    #[test]
    fn a_rail_is_used_once_it_is_connected_and_left_out_if_it_never_is() {
        let (lanes, rails) = (Lanes::default(), Rails::default());
        let made: Vec<Lane> = (1..=2)
            .map(|n| lanes.add(core::ptr::without_provenance_mut(8 * n), n, 0))
            .collect();
        let weighted = |lane: Lane| WeightedLane {
            lane,
            bandwidth: 1e9,
        };
        let connected = |up: &[usize]| -> Vec<Lane> {
            let rails = rails.connected(|iface, identity| {
                assert_eq!(identity, 100 + iface as u64);
                up.contains(&iface)
            });
            rails.map(|w| w.lane).collect()
        };
        assert!(connected(&[1, 2]).is_empty(), "none is open");
        assert_eq!(rails.on_failure(made[0].ep), None);
        for _ in 0..2 {
            let with_identity = |lane: &Lane| (weighted(*lane), 100 + lane.iface as u64);
            rails.open_once(|| made.iter().map(with_identity).collect());
        }
        assert!(connected(&[]).is_empty());
        assert_eq!(connected(&[1]), [made[0]]);
        assert_eq!(connected(&[]), [made[0]], "its failure is told otherwise");
        assert_eq!(rails.on_failure(made[1].ep), Some(false));
        assert!(!rails.has_failed());
        assert_eq!(connected(&[1, 2]), [made[0]]);
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
        assert!(connected(&[1, 2]).is_empty() && rails.has_failed());
    }
}
