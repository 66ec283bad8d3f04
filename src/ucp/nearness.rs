//! How near the devices of memory domains are to the memory nodes of the machine.
//!
//! Looked up once, from sysfs. Where the machine has one node, or one device whose place is known, nothing is kept and
//! nobody asks where memory is.
#![forbid(unsafe_code)]

use crate::sys::numa;
use crate::ucs::topo::{self, SysDevice};

/// Latencies of each memory node, in seconds.
type Row = Box<[f64]>;

pub struct Nearness {
    /// Those of a domain's device; `None` of a domain whose device has no place that is known.
    domains: Vec<Option<Row>>,
    /// Two devices differ.
    matters: bool,
}

impl Nearness {
    /// Of domains by their devices.
    pub fn of_devices(devices: &[SysDevice]) -> Nearness {
        let known = devices.iter().filter(|device| **device != topo::UNKNOWN);
        let nodes = match known.count() {
            0 | 1 => 1,
            _ => numa::nodes(),
        };
        let row = |device: &SysDevice| -> Option<Row> {
            let is_known = *device != topo::UNKNOWN;
            let latency = |node| topo::distance_of_node(*device, node).latency;
            is_known.then(|| (0..nodes).map(latency).collect())
        };
        match nodes {
            1 => Nearness::new(Vec::new()),
            _ => Nearness::new(devices.iter().map(row).collect()),
        }
    }

    fn new(domains: Vec<Option<Row>>) -> Nearness {
        let mut known = domains.iter().flatten();
        let first = known.next();
        let matters = known.any(|row| Some(row) != first);
        Nearness { domains, matters }
    }

    /// Whether some device is nearer to some memory than another.
    #[inline]
    pub fn matters(&self) -> bool {
        self.matters
    }

    /// How far a domain's device is from the memory of a node, in seconds; infinitely if that is not known.
    pub fn to_node(&self, domain: usize, node: u32) -> f64 {
        let row = self.domains.get(domain).and_then(Option::as_ref);
        let latency = row.and_then(|row| row.get(node as usize));
        latency.copied().unwrap_or(f64::INFINITY)
    }

    /// Whether a domain's device is nearer to the memory of some node than those of all `others`.
    pub fn is_nearer(&self, domain: usize, others: &[usize]) -> bool {
        let nodes = self.domains.iter().flatten().map(|row| row.len()).max();
        let mut nodes = 0..nodes.unwrap_or(0) as u32;
        nodes.any(|node| {
            let own = self.to_node(domain, node);
            others.iter().all(|other| own < self.to_node(*other, node))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[Option<&[f64]>]) -> Nearness {
        Nearness::new(rows.iter().map(|row| row.map(Box::from)).collect())
    }

    #[test]
    fn devices_of_two_nodes_are_each_near_to_one() {
        let all = rows(&[
            Some(&[1.0, 2.0]),
            None,
            Some(&[2.0, 1.0]),
            Some(&[1.0, 2.0]),
        ]);
        assert!(all.matters());
        assert!(all.to_node(0, 0) < all.to_node(2, 0));
        assert!(all.to_node(2, 1) < all.to_node(0, 1));
        assert!(all.is_nearer(2, &[0, 1]) && !all.is_nearer(3, &[0, 1]));
        assert!(!all.is_nearer(1, &[0]) && all.is_nearer(0, &[1]));
        let unknown = [all.to_node(1, 0), all.to_node(0, 7), all.to_node(9, 0)];
        assert_eq!(unknown, [f64::INFINITY; 3]);
    }

    #[test]
    fn one_place_makes_no_difference() {
        assert!(!rows(&[]).matters());
        assert!(!rows(&[Some(&[1.0, 2.0]), None]).matters());
        assert!(!rows(&[Some(&[1.0, 2.0]), Some(&[1.0, 2.0])]).matters());
        assert!(!Nearness::of_devices(&[topo::UNKNOWN, topo::UNKNOWN]).matters());
    }
}
