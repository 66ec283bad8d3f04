//! The network interfaces that tcp offers, their addresses and performance.
#![forbid(unsafe_code)]

use crate::c::*;
use crate::sys::lock::Mutex;
use crate::sys::net::{self, Address, Routes};
use crate::ucs::topo;
use crate::ucs_diag;
use crate::uct::api::{Device, Unusable};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The address families that a domain uses, best first, and whether bridges count.
pub struct Selection {
    families: Vec<Family>,
    bridges: bool,
    last: Mutex<Option<Arc<Survey>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    V4,
    V6,
}

/// The interfaces and routes of the machine, as they were a moment ago.
pub struct Survey {
    pub addresses: Vec<Address>,
    /// The system devices of these, in their order.
    sys_devices: Vec<ucs_sys_device_t>,
    routes: Routes,
    taken: Instant,
}

/// Of the names of system devices: an RDMA device on the same function has a higher one.
const NAME_PRIORITY: u32 = 10;
/// A worker opens an interface on each device right after they were listed: the result is cached so long.
const FRESH: Duration = Duration::from_millis(500);

impl Survey {
    /// Whether what has no route of its own leaves through the interface.
    pub fn is_default_route(&self, address: &Address) -> bool {
        !address.loopback && self.routes.are_default(&address.name)
    }
}

impl Selection {
    pub fn new(families: Vec<Family>, bridges: bool) -> Selection {
        Selection {
            families,
            bridges,
            last: Mutex::new(None),
        }
    }

    /// The current or cached interfaces.
    pub fn survey(&self) -> Arc<Survey> {
        let mut last = self.last.lock();
        if let Some(survey) = &*last
            && survey.taken.elapsed() < FRESH
        {
            return Arc::clone(survey);
        }
        let addresses = self.addresses();
        let fresh = Arc::new(Survey {
            sys_devices: addresses.iter().map(sys_device).collect(),
            addresses,
            routes: Routes::default(),
            taken: Instant::now(),
        });
        *last = Some(Arc::clone(&fresh));
        fresh
    }

    /// The best address of each interface, by name.
    fn addresses(&self) -> Vec<Address> {
        let all = net::addresses().unwrap_or_else(|e| {
            ucs_diag!("tcp: network interfaces cannot be listed: {e}");
            Vec::new()
        });
        let mut best = self.choose(all);
        best.retain(|a| self.bridges || !net::is_bridge(&a.name));
        best
    }

    fn choose(&self, mut all: Vec<Address>) -> Vec<Address> {
        all.retain(|a| self.rank(a).is_some());
        all.sort_by(|a, b| a.name.cmp(&b.name).then(self.rank(a).cmp(&self.rank(b))));
        all.dedup_by(|later, first| later.name == first.name);
        all
    }

    /// Smaller is better; `None` for a family that is not wanted. Addresses of a wider scope come
    /// before link-local ones of the same family.
    fn rank(&self, a: &Address) -> Option<(usize, bool)> {
        let family = if a.ip.is_ipv4() {
            Family::V4
        } else {
            Family::V6
        };
        let place = self.families.iter().position(|f| *f == family)?;
        let link_local = match a.ip {
            IpAddr::V4(ip) => ip.is_link_local(),
            IpAddr::V6(ip) => ip.is_unicast_link_local(),
        };
        Some((place, link_local))
    }

    pub fn devices(&self) -> Result<Vec<Device>, Unusable> {
        let survey = self.survey();
        if survey.addresses.is_empty() {
            return Err(Unusable(match net::addresses() {
                Err(e) => format!("network interfaces cannot be listed: {e}"),
                Ok(_) => "no network interface is up that UCX_TCP_AF_PRIO and UCX_TCP_BRIDGE_ENABLE allow".to_owned(),
            }));
        }
        let all = survey.addresses.iter().zip(&survey.sys_devices);
        let devices = all.map(|(address, sys_device)| Device {
            name: address.name.clone(),
            kind: UCT_DEVICE_TYPE_NET,
            sys_device: *sys_device,
        });
        Ok(devices.collect())
    }
}

/// The PCI function of an interface.
fn sys_device(address: &Address) -> ucs_sys_device_t {
    let function = (!address.loopback)
        .then(|| topo::of_class("net", &address.name, NAME_PRIORITY))
        .flatten();
    function.map_or(UCS_SYS_DEVICE_ID_UNKNOWN, |(device, _)| device)
}

/// The performance of a device; used to choose between transports, so only ratios matter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Bytes a second of payload.
    pub bandwidth: f64,
    /// Seconds from one process to another.
    pub latency: f64,
}

/// The speed of a link that does not state it, in bits a second: the slowest in wide use.
const UNKNOWN_SPEED: f64 = 100e6;
/// Bandwidth of one loopback stream on a current machine.
const LOOPBACK_BANDWIDTH: f64 = 4.0e9;
/// Kernel time from send to receive, without the wire.
const STACK_LATENCY: f64 = 5.0e-6;
/// The packet whose time on the wire counts as latency.
const SMALL_PACKET: f64 = 576.0;
/// Ethernet, IP and TCP headers and the gap between packets, in bytes of each packet.
const OVERHEAD_V4: f64 = 78.0;
const OVERHEAD_V6: f64 = 98.0;

/// `max_bandwidth` in bytes a second, infinite for none.
pub fn estimate(address: &Address, max_bandwidth: f64) -> Estimate {
    if address.loopback {
        return Estimate {
            bandwidth: LOOPBACK_BANDWIDTH.min(max_bandwidth),
            latency: STACK_LATENCY,
        };
    }
    let speed = net::link_speed(&address.name);
    let mtu = net::mtu(&address.name).unwrap_or(1500);
    estimate_link(address.ip, speed, mtu, max_bandwidth)
}

fn estimate_link(ip: IpAddr, speed: Option<f64>, mtu: usize, max_bandwidth: f64) -> Estimate {
    let wire = speed.unwrap_or(UNKNOWN_SPEED) / 8.0;
    let overhead = if ip.is_ipv4() {
        OVERHEAD_V4
    } else {
        OVERHEAD_V6
    };
    let mtu = mtu.max(SMALL_PACKET as usize) as f64;
    Estimate {
        bandwidth: (wire * (mtu - 40.0) / (mtu + overhead - 40.0)).min(max_bandwidth),
        latency: STACK_LATENCY + SMALL_PACKET / wire,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(name: &str, ip: &str) -> Address {
        let ip: IpAddr = ip.parse().unwrap();
        Address {
            name: name.to_owned(),
            ip,
            scope: 0,
            prefix: 24,
            loopback: ip.is_loopback(),
        }
    }

    fn names(families: &[Family]) -> Vec<String> {
        let all = vec![
            address("lo", "127.0.0.1"),
            address("lo", "::1"),
            address("eth1", "fe80::1"),
            address("eth1", "2001:db8::1"),
            address("eth0", "192.0.2.1"),
            address("eth0", "192.0.2.9"),
        ];
        let selection = Selection::new(families.to_vec(), false);
        selection
            .choose(all)
            .iter()
            .map(|a| format!("{} {}", a.name, a.ip))
            .collect()
    }

    #[test]
    fn each_interface_once_by_the_preferred_family() {
        let both = ["eth0 192.0.2.1", "eth1 2001:db8::1", "lo 127.0.0.1"];
        assert_eq!(names(&[Family::V4, Family::V6]), both);
        assert_eq!(names(&[Family::V4]), ["eth0 192.0.2.1", "lo 127.0.0.1"]);
        assert_eq!(names(&[Family::V6]), ["eth1 2001:db8::1", "lo ::1"]);
    }

    #[test]
    fn estimates_follow_the_link() {
        let eth = address("eth0", "192.0.2.1").ip;
        let slow = estimate_link(eth, None, 1500, f64::INFINITY);
        let fast = estimate_link(eth, Some(100e9), 9000, f64::INFINITY);
        assert!(slow.bandwidth < 12.5e6 && slow.bandwidth > 11e6);
        assert!(fast.bandwidth > 12.2e9 && fast.latency < slow.latency);
        let capped = estimate_link(eth, Some(100e9), 9000, 2e9);
        assert_eq!(capped.bandwidth, 2e9);
    }
}
