//! Splits transfers over the lanes of an endpoint in proportion to their bandwidths.
//!
//! `UCX_MAX_*_RAILS` limits the number of lanes, `UCX_MIN_*_CHUNK_SIZE` the length of a part. A lane whose part would be
//! shorter is left out: what it adds is less than what it costs.
//!
//! Parts that RDMA devices move need a registration and a key of each device's memory domain. A rail for which the memory
//! cannot be registered, or whose key the peer has not sent, is left out. Messages do not go by such rails.
//!
//! Of devices with the same bandwidth an access takes those that are nearest to the local memory, where the machine has
//! several memory nodes.
#![forbid(unsafe_code)]

use crate::c::uct_mem_h;
use crate::ucp::config::TABLE;
use crate::ucp::ep::{Capability, DevicePart, Ep, Lane, Part, WantedRails, WeightedLane};
use crate::ucp::proto::zcopy::Transfer;
use crate::ucp::reg::LocalMemory;
use crate::ucp::rkey::RemoteKey;
use crate::ucs::config::{Config, var};
use crate::uct::internal::EpochGuard;
use smallvec::{SmallVec, smallvec};

/// Parts begin at multiples of this: cache lines stay whole.
const ALIGNMENT: usize = 64;

/// The limits of one kind of transfer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SplitLimits {
    /// Most lanes.
    max: usize,
    /// The shortest part.
    least: usize,
}

impl SplitLimits {
    /// Whether a transfer is split if there are rails.
    #[inline]
    pub fn may_split(&self, len: usize) -> bool {
        self.max > 1 && len / 2 >= self.least
    }
}

/// How the transfers of a worker are split.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RailRules {
    pub eager: SplitLimits,
    pub rendezvous: SplitLimits,
    pub access: SplitLimits,
    /// How often the bandwidth of a rail may go into that of the message lane.
    ratio: f64,
}

impl RailRules {
    pub fn read(config: &Config) -> RailRules {
        let least = config.memunits(var!(TABLE, "MIN_RNDV_CHUNK_SIZE"));
        RailRules {
            eager: SplitLimits {
                max: config.uint(var!(TABLE, "MAX_EAGER_RAILS")) as usize,
                least,
            },
            rendezvous: SplitLimits {
                max: config.uint(var!(TABLE, "MAX_RNDV_RAILS")) as usize,
                least,
            },
            access: SplitLimits {
                max: config.uint(var!(TABLE, "MAX_RMA_RAILS")) as usize,
                least: config.memunits(var!(TABLE, "MIN_RMA_CHUNK_SIZE")),
            },
            ratio: config.double(var!(TABLE, "MULTI_LANE_MAX_RATIO")).max(1.0),
        }
    }

    /// The rails that an endpoint opens beside its message lane.
    fn wanted(&self) -> WantedRails {
        WantedRails {
            most: [self.eager, self.rendezvous, self.access]
                .into_iter()
                .map(|limits| limits.max)
                .fold(0, usize::max)
                .saturating_sub(1),
            ratio: self.ratio,
        }
    }
}

/// Opens the rails beside the message lane; transfers use those that are connected.
pub fn open(ep: &Ep) {
    if let Some(first) = ep.message_lane() {
        lanes(ep, first, usize::MAX, None);
    }
}

/// `first` and the rails beside it, at most so many: the first ones, or the fastest that are `near` memory.
fn lanes(ep: &Ep, first: Lane, most: usize, near: Option<Near<'_>>) -> Vec<WeightedLane> {
    let wanted = ep.worker().proto().rails.wanted();
    let mut lanes = ep.lanes_with_rails(first, wanted);
    if let Some(near) = near {
        lanes.retain(|w| w.lane == first || ep.rail_key(w.lane, near.remote).is_some());
        let nearness = ep.worker().context().nearness();
        let distance =
            |w: &WeightedLane| nearness.to_node(ep.worker().domain_of(w.lane.iface), near.node);
        lanes.sort_by(|a, b| {
            let by_bandwidth = b.bandwidth.total_cmp(&a.bandwidth);
            by_bandwidth.then_with(|| distance(a).total_cmp(&distance(b)))
        });
    }
    lanes.truncate(most);
    lanes
}

/// The memory at both ends of an access, for the choice of devices.
#[derive(Clone, Copy)]
pub struct Near<'a> {
    /// The node of the local memory.
    pub node: u32,
    /// With the keys of the domains that reach it.
    pub remote: &'a RemoteKey,
}

/// Whether messages may go by the rails of an endpoint, if it has any.
pub fn carry_messages(ep: &Ep) -> bool {
    ep.lane_with(Capability::Rdma).is_none()
}

/// Splits a transfer of `len` bytes that `first` could carry alone, and has the first part of. `None` if it is not split.
pub fn split(ep: &Ep, first: Lane, limits: SplitLimits, len: usize) -> Option<Vec<Part>> {
    match limits.may_split(len) {
        true => split_long(ep, first, limits, len),
        false => None,
    }
}

#[cold]
fn split_long(ep: &Ep, first: Lane, limits: SplitLimits, len: usize) -> Option<Vec<Part>> {
    if !carry_messages(ep) {
        return None;
    }
    let lanes = lanes(ep, first, limits.max, None);
    let parts = shares(&lanes, limits.least, len);
    if parts.len() < 2 {
        return None;
    }
    for part in &parts {
        ep.note_rail_use(part.lane);
        ep.note_rail_part(part.lane, part.range.len());
    }
    Some(parts)
}

/// The parts of a transfer of `len` bytes; `first` has all of it if it is not split.
pub fn parts(ep: &Ep, first: Lane, limits: SplitLimits, len: usize) -> Vec<Part> {
    let whole = || {
        vec![Part {
            lane: first,
            range: 0..len,
        }]
    };
    split(ep, first, limits, len).unwrap_or_else(whole)
}

/// The domains that move a rendezvous transfer of `len` bytes by RDMA devices, the first of which is that of `first`.
#[inline]
pub fn domains(ep: &Ep, first: Lane, limits: SplitLimits, len: usize) -> SmallVec<[usize; 2]> {
    match limits.may_split(len) && ep.may_have_rails() {
        true => domains_of_lanes(ep, &lanes(ep, first, limits.max, None), limits, len),
        false => smallvec![ep.worker().domain_of(first.iface)],
    }
}

/// The domains by whose keys the peer moves a transfer of `len` bytes. Each side chooses its lanes by itself: the peer's
/// message lane leads to the first of these, if it is known where that leads, and its rails to the others, which they take in
/// the order of our address.
pub fn domains_for_peer(
    ep: &Ep,
    first: Lane,
    limits: SplitLimits,
    len: usize,
) -> SmallVec<[usize; 2]> {
    let own = || ep.worker().domain_of(first.iface);
    let mut domains = smallvec![ep.domain_of_arrival().unwrap_or_else(own)];
    if limits.may_split(len) && ep.may_have_rails() {
        open(ep);
        for domain in ep.domains_in_reach() {
            if domains.len() < limits.max && !domains.contains(domain) {
                domains.push(*domain);
            }
        }
    }
    domains
}

/// As `domains`, of an access; with `near` that of `first` may be missing.
#[inline]
pub fn domains_of_access(
    ep: &Ep,
    first: Lane,
    limits: SplitLimits,
    len: usize,
    near: Option<Near<'_>>,
) -> SmallVec<[usize; 2]> {
    match near {
        None => domains(ep, first, limits, len),
        Some(_) => {
            let lanes = lanes(ep, first, limits.max, near);
            domains_of_lanes(ep, &lanes, limits, len)
        }
    }
}

#[cold]
fn domains_of_lanes(
    ep: &Ep,
    lanes: &[WeightedLane],
    limits: SplitLimits,
    len: usize,
) -> SmallVec<[usize; 2]> {
    let mut domains = SmallVec::new();
    for part in shares(lanes, limits.least, len) {
        let domain = ep.worker().domain_of(part.lane.iface);
        // Two ports of a device have one.
        if !domains.contains(&domain) {
            domains.push(domain);
        }
    }
    domains
}

/// The memory at both ends of a transfer by RDMA devices, by the domains that know it.
pub struct Ends<'a> {
    /// The handle of a domain here.
    pub local: &'a dyn Fn(usize) -> Option<uct_mem_h>,
    pub remote: &'a RemoteKey,
    /// The key of the epoch's word, if the transfer has a guard.
    pub epoch: Option<&'a RemoteKey>,
    /// Of an access that goes by the devices which are nearest to the local memory.
    pub near: Option<Near<'a>>,
}

/// The parts of a transfer between registered memory; none if `first` does it alone. With `near` it need not be registered for
/// `first`.
#[inline]
pub fn by_devices(
    ep: &Ep,
    first: Lane,
    limits: SplitLimits,
    transfer: &Transfer,
    ends: &Ends<'_>,
) -> Vec<DevicePart> {
    let is_known = matches!(transfer.memory, LocalMemory::Registered(_));
    let may_split = is_known && limits.may_split(transfer.len) && ep.may_have_rails();
    match may_split || ends.near.is_some() {
        true => long_by_devices(ep, first, limits, transfer, ends),
        false => Vec::new(),
    }
}

#[cold]
fn long_by_devices(
    ep: &Ep,
    first: Lane,
    limits: SplitLimits,
    transfer: &Transfer,
    ends: &Ends<'_>,
) -> Vec<DevicePart> {
    let is_known = matches!(transfer.memory, LocalMemory::Registered(_));
    let mut lanes = lanes(ep, first, limits.max, ends.near);
    loop {
        let shared = shares(&lanes, limits.least, transfer.len);
        if shared.iter().all(|part| part.lane == first) {
            return Vec::new();
        }
        let reached = |part: Part| match part.lane == first {
            true => is_known.then_some(DevicePart {
                part,
                memory: transfer.memory,
                rkey: transfer.rkey,
                guard: transfer.guard,
            }),
            false => by_rail(ep, part, transfer.guard, ends),
        };
        let count = shared.len();
        let parts: Vec<DevicePart> = shared.iter().cloned().filter_map(reached).collect();
        if parts.len() == count {
            for DevicePart { part, .. } in &parts {
                ep.note_rail_part(part.lane, part.range.len());
            }
            return parts;
        }
        lanes.retain(|w| {
            let is_unreached = shared.iter().any(|part| part.lane == w.lane)
                && !parts.iter().any(|of| of.part.lane == w.lane);
            !is_unreached
        });
    }
}

/// A part with the registration and the keys of its rail. `None` where the rail lacks one.
fn by_rail(ep: &Ep, part: Part, guard: Option<EpochGuard>, ends: &Ends<'_>) -> Option<DevicePart> {
    let lane = part.lane;
    let memh = (ends.local)(ep.worker().domain_of(lane.iface))?;
    let rkey = ep.rail_key(lane, ends.remote)?;
    let guard = match guard {
        Some(guard) => Some(EpochGuard {
            rkey: ep.rail_key(lane, ends.epoch?)?,
            ..guard
        }),
        None => None,
    };
    Some(DevicePart {
        part,
        memory: LocalMemory::Registered(memh),
        rkey,
        guard,
    })
}

/// The parts of lanes, of which the first always has one; none without lanes.
fn shares(lanes: &[WeightedLane], least: usize, len: usize) -> Vec<Part> {
    let mut used = lanes.to_vec();
    loop {
        let sum: f64 = used.iter().map(|w| w.bandwidth).sum();
        let share = |w: &WeightedLane| (len as f64 * (w.bandwidth / sum)) as usize;
        let rails = used.iter().enumerate().skip(1);
        let slowest = rails.min_by(|(_, a), (_, b)| a.bandwidth.total_cmp(&b.bandwidth));
        if let Some((at, slowest)) = slowest
            && (share(slowest) < least || share(&used[0]) < least)
        {
            used.remove(at);
            continue;
        }
        let mut start = 0;
        let mut parts = Vec::with_capacity(used.len());
        for (n, w) in used.iter().enumerate() {
            let end = match used.len() - n {
                1 => len,
                _ => (start + share(w)).next_multiple_of(ALIGNMENT).min(len),
            };
            parts.push(Part {
                lane: w.lane,
                range: start..end,
            });
            start = end;
        }
        parts.retain(|part| !part.range.is_empty());
        return parts;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ucp::ep::Lanes;
    use core::ops::Range;

    fn lanes(bandwidths: &[f64]) -> Vec<WeightedLane> {
        let lanes = Lanes::default();
        let lane = |(n, bandwidth): (usize, &f64)| WeightedLane {
            lane: lanes.add(core::ptr::without_provenance_mut(8 * n + 8), n, 0),
            bandwidth: *bandwidth,
        };
        bandwidths.iter().enumerate().map(lane).collect()
    }

    fn ranges(bandwidths: &[f64], least: usize, len: usize) -> Vec<(usize, Range<usize>)> {
        let parts = shares(&lanes(bandwidths), least, len);
        let of = |part: Part| (part.lane.iface, part.range);
        parts.into_iter().map(of).collect()
    }

    #[test]
    fn parts_are_proportional_to_bandwidth() {
        let mib = 1 << 20;
        assert_eq!(
            ranges(&[1e9, 1e9], 100, mib),
            [(0, 0..mib / 2), (1, mib / 2..mib)]
        );
        assert_eq!(
            ranges(&[3e9, 1e9], 100, mib),
            [(0, 0..mib / 4 * 3), (1, mib / 4 * 3..mib)]
        );
        assert_eq!(ranges(&[1e9], 100, 50), [(0, 0..50)]);
    }

    #[test]
    fn a_lane_with_a_short_part_is_left_out() {
        assert_eq!(ranges(&[9e9, 1e9], 1000, 9000), [(0, 0..9000)]);
        assert_eq!(ranges(&[1e9, 9e9], 1000, 9000), [(0, 0..9000)]);
        let three = ranges(&[4e9, 1e9, 4e9], 1000, 8000);
        assert_eq!(three, [(0, 0..4032), (2, 4032..8000)]);
    }

    /// Against the definition, for many lengths: the parts are the transfer, in order, and none is shorter than
    /// `least` by more than the alignment.
    #[test]
    fn parts_cover_the_transfer() {
        let rng = crate::ucs::test_rng::TestRng::new(1);
        for _ in 0..2000 {
            let bandwidths: Vec<f64> = (0..=rng.below(4))
                .map(|_| 1e8 + rng.below(1000) as f64 * 1e7)
                .collect();
            let (least, len) = (64 + rng.below(20_000), 1 + rng.below(1 << 20));
            let parts = ranges(&bandwidths, least, len);
            let mut at = 0;
            for (_, range) in &parts {
                assert_eq!(range.start, at);
                assert!(
                    parts.len() == 1 || range.len() + parts.len() * ALIGNMENT > least,
                    "{bandwidths:?} {least} {len} {parts:?}"
                );
                at = range.end;
            }
            assert_eq!((parts[0].0, at), (0, len));
        }
    }
}
