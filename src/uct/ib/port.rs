//! What a port is: its link layer, its address, its speed; which peers it reaches and how.
#![forbid(unsafe_code)]

use super::config::PathSettings;
use super::subnets::Subnets;
use super::wire::{DeviceAddr, Link, PAIR_LEN};
use crate::c::verbs::*;
use crate::sys::file::read_kernel_text;
use crate::sys::net;
use crate::sys::verbs::Device;
use crate::ucs::{Result, Status};
use crate::uct::base::params::{EpParams, GivenAddress};
use crate::{ucs_debug, ucs_diag, ucs_error, ucs_info};
use std::net::{IpAddr, Ipv6Addr};

/// A port that can be used.
#[derive(Clone, Debug)]
pub struct Port {
    /// From 1 on.
    pub number: u8,
    pub address: DeviceAddr,
    pub gid_index: u8,
    pub max_message: usize,
    /// Bytes a second on the wire, and on the device's link to the machine.
    speed: f64,
    pub link: f64,
    partitions: u16,
    /// The network interface of the address.
    interface: Option<String>,
}

/// A device address of a user.
pub fn read_device(given: Option<GivenAddress<'_>>) -> Result<DeviceAddr> {
    let given = given.ok_or(Status::INVALID_PARAM)?;
    let device = given.bytes().and_then(|bytes| DeviceAddr::decode(&bytes));
    device.ok_or(Status::INVALID_ADDR)
}

/// What an endpoint is to be connected to: a peer's port, and what its interface address names, as `decode` reads it. `None`
/// without addresses, for one that is connected later.
pub fn read_peer<T>(
    params: &EpParams,
    transport: &str,
    decode: fn(&[u8; PAIR_LEN]) -> Option<T>,
) -> Result<Option<(DeviceAddr, T)>> {
    match (params.device, params.iface) {
        (None, None) => Ok(None),
        (Some(device), Some(iface)) => {
            let device = read_device(Some(device))?;
            let pair = iface.bytes().and_then(|bytes| decode(&bytes));
            Ok(Some((device, pair.ok_or(Status::INVALID_ADDR)?)))
        }
        _ => {
            ucs_error!("{transport}: an endpoint needs both addresses or none");
            Err(Status::INVALID_PARAM)
        }
    }
}

/// Why a port cannot be used, as text for the log.
type Refusal = String;

impl Port {
    /// Looks at a port of the device called `name`. `gid_index`: which address to use, where the user chose; `subnet`: that of
    /// InfiniBand ports.
    pub fn look(
        device: &Device,
        name: &str,
        number: u8,
        (gid_index, subnet): (Option<usize>, Option<[u8; 8]>),
        subnets: &Subnets,
    ) -> core::result::Result<Port, Refusal> {
        let attr = device.port(number).map_err(|e| e.to_string())?;
        if attr.state != IBV_PORT_ACTIVE {
            return Err(format!("the port is not active (state {})", attr.state));
        }
        let ethernet = attr.link_layer == IBV_LINK_LAYER_ETHERNET;
        let entries = (attr.gid_tbl_len.clamp(0, 256)) as usize;
        let candidates = match gid_index {
            Some(index) if index < entries => vec![index],
            Some(index) => {
                return Err(format!(
                    "UCX_IB_GID_INDEX is {index}, but the port has {entries} addresses"
                ));
            }
            None => (0..entries).collect(),
        };
        let found = candidates
            .into_iter()
            .filter_map(|index| {
                let gid = device.gid(number, index as i32).ok()??.raw;
                let link = if ethernet {
                    roce_version(name, number, index)?
                } else {
                    Link::InfiniBand
                };
                Some((rank(link, &gid), index, link, gid))
            })
            .filter(|(_, index, _, gid)| {
                !ethernet
                    || subnets.allows(gid) && device.accepts(&to_gid(number, *index as u8, gid))
            })
            .min_by_key(|(rank, index, ..)| (*rank, *index));
        let Some((_, index, link, gid)) = found else {
            let among = match *subnets == Subnets::ALL {
                true => "",
                false => " in UCX_IB_ROCE_SUBNETS",
            };
            return Err(format!("the port has no usable address (GID){among}"));
        };
        if !ethernet && subnet.is_some_and(|subnet| !gid.starts_with(&subnet)) {
            let own = gid_text(&gid);
            return Err(format!(
                "its address is {own}, of another subnet than UCX_IB_SUBNET_PREFIX"
            ));
        }
        let port = Port {
            number,
            address: DeviceAddr {
                link,
                mtu: attr.active_mtu.clamp(IBV_MTU_256, IBV_MTU_4096) as u8,
                lid: if ethernet { 0 } else { attr.lid },
                gid,
            },
            gid_index: index as u8,
            max_message: attr.max_msg_sz as usize,
            speed: speed(attr.active_width, attr.active_speed),
            link: f64::INFINITY,
            partitions: attr.pkey_tbl_len,
            interface: interface_of(name, number, index).filter(|_| ethernet),
        };
        ucs_info!(
            "{name}:{number}: {link}, address {index} ({}), {:.1} GB/s",
            gid_text(&gid),
            port.speed / 1e9
        );
        Ok(port)
    }

    /// The index of the partition key to use.
    pub fn partition_index(&self, device: &Device, wanted: Option<u16>) -> Result<u16> {
        const MEMBER: u16 = 0x8000;
        for index in 0..self.partitions {
            let Ok(key) = device.partition_key(self.number, i32::from(index)) else {
                break;
            };
            let fits = match wanted {
                Some(wanted) => key & !MEMBER == wanted & !MEMBER,
                None => key & MEMBER != 0,
            };
            if fits && key & !MEMBER != 0 {
                return Ok(index);
            }
        }
        match wanted {
            Some(wanted) => {
                ucs_error!("UCX_IB_PKEY is {wanted:#x}: the port has no such partition key")
            }
            None => ucs_error!("the port is a full member of no partition: set UCX_IB_PKEY"),
        }
        Err(Status::NO_ELEM)
    }

    /// `UNREACHABLE`, and a line in the log, where packets to that port cannot be sent from this one, named `device`.
    pub fn check_reach(
        &self,
        transport: &str,
        device: &str,
        peer: &DeviceAddr,
        path: &PathSettings,
    ) -> Result<()> {
        if self.reaches(peer, path) {
            return Ok(());
        }
        ucs_error!(
            "{transport}: the peer cannot be reached from {device}: another link layer, subnet or address family"
        );
        Err(Status::UNREACHABLE)
    }

    /// Whether a peer of these addresses can be reached: its port, and the interface where one is given, whose address
    /// `decode` reads.
    pub fn is_reachable(
        &self,
        (device, iface): (Option<GivenAddress<'_>>, Option<GivenAddress<'_>>),
        path: &PathSettings,
        decode: fn(&[u8; PAIR_LEN]) -> Option<u32>,
    ) -> bool {
        let reaches = read_device(device).is_ok_and(|device| {
            self.reaches(&device, path) && (!path.needs_route || self.has_route(&device))
        });
        let is_ours = |iface: GivenAddress<'_>| iface.bytes().and_then(|b| decode(&b)).is_some();
        reaches && iface.is_none_or(is_ours)
    }

    /// Whether the kernel has a route to that port from the interface of this one. What cannot be told is believed.
    fn has_route(&self, peer: &DeviceAddr) -> bool {
        let Some(interface) = &self.interface else {
            return true;
        };
        let ip = Ipv6Addr::from(peer.gid);
        let ip = ip.to_ipv4_mapped().map_or(IpAddr::V6(ip), IpAddr::V4);
        match net::has_route(interface, ip) {
            Ok(true) => true,
            Ok(false) => {
                ucs_debug!(
                    "no route from {interface} to {ip}: a peer there is not reached by RDMA"
                );
                false
            }
            Err(e) => {
                ucs_debug!("the route from {interface} to {ip}: {e}");
                true
            }
        }
    }

    /// Whether packets to that port can be sent.
    pub fn reaches(&self, peer: &DeviceAddr, path: &PathSettings) -> bool {
        let own = &self.address;
        if own.link != peer.link {
            return false;
        }
        if own.link == Link::InfiniBand {
            return own.gid[..8] == peer.gid[..8];
        }
        let ipv4 = DeviceAddr::is_ipv4(&own.gid);
        if ipv4 != DeviceAddr::is_ipv4(&peer.gid) {
            return false;
        }
        let Some(subnet) = path.subnet else {
            return true;
        };
        let (start, len) = if ipv4 { (12, 4) } else { (0, 16) };
        let bits = subnet.map_or(len * 4, usize::from).min(len * 8);
        same_bits(&own.gid[start..], &peer.gid[start..], bits)
    }

    /// How packets reach that port.
    pub fn route(&self, peer: &DeviceAddr, path: &PathSettings) -> ibv_ah_attr {
        let ethernet = self.address.link != Link::InfiniBand;
        let mut route = to_gid(self.number, self.gid_index, &peer.gid);
        route.dlid = peer.lid;
        route.sl = path.service_level;
        route.is_global = (ethernet || path.is_global).into();
        route.grh.hop_limit = path.hop_limit;
        route.grh.traffic_class = path.traffic_class.unwrap_or(match self.address.link {
            Link::RoceV2 => ROCE_V2_CLASS,
            _ => 0,
        });
        route
    }

    /// `IBV_MTU_*`: the largest packet that both ports take.
    pub fn mtu(&self, peer: &DeviceAddr, path: &PathSettings) -> u32 {
        let both = u32::from(self.address.mtu.min(peer.mtu));
        path.mtu.map_or(both, |mtu| mtu.min(both))
    }

    /// Bytes a second of payload in full packets, as far as the device's link takes them.
    pub fn bandwidth(&self) -> f64 {
        let mtu = f64::from(128u32 << self.address.mtu);
        // Headers and checksums of a write's packet, as the specifications have them.
        let extra = match self.address.link {
            Link::InfiniBand => 8.0 + 12.0 + 16.0 + 6.0,
            Link::RoceV1 => 26.0 + 40.0 + 12.0 + 16.0 + 4.0,
            Link::RoceV2 => 26.0 + 20.0 + 8.0 + 12.0 + 16.0 + 4.0,
        };
        (self.speed * mtu / (mtu + extra)).min(self.link)
    }

    /// Seconds from one adapter to another, about; used to choose between transports, so only ratios matter.
    pub fn latency(&self) -> f64 {
        match self.address.link {
            Link::InfiniBand => 0.6e-6,
            Link::RoceV1 | Link::RoceV2 => 0.8e-6,
        }
    }
}

/// The class of service of RoCE v2 where the user asks for none, as UCX has it.
const ROCE_V2_CLASS: u8 = 106;

/// The way to a global address; the rest is to be filled in.
fn to_gid(port: u8, gid_index: u8, gid: &[u8; 16]) -> ibv_ah_attr {
    ibv_ah_attr {
        grh: ibv_global_route {
            dgid: ibv_gid { raw: *gid },
            flow_label: 0,
            sgid_index: gid_index,
            hop_limit: 1,
            traffic_class: 0,
        },
        dlid: 0,
        sl: 0,
        src_path_bits: 0,
        static_rate: 0,
        is_global: 1,
        port_num: port,
    }
}

/// Which RoCE an entry of the table of addresses is for; `None` where the kernel does not tell.
fn roce_version(device: &str, port: u8, index: usize) -> Option<Link> {
    let path = format!("/sys/class/infiniband/{device}/ports/{port}/gid_attrs/types/{index}");
    match read_kernel_text(&path) {
        Ok(text) if text.trim() == "RoCE v2" => Some(Link::RoceV2),
        Ok(_) => Some(Link::RoceV1),
        Err(e) => {
            ucs_diag!("{path}: {e}");
            None
        }
    }
}

/// The network interface that has this address of a port.
fn interface_of(device: &str, port: u8, index: usize) -> Option<String> {
    let path = format!("/sys/class/infiniband/{device}/ports/{port}/gid_attrs/ndevs/{index}");
    Some(read_kernel_text(path).ok()?.trim().to_owned())
}

/// Smaller is better: RoCE v2 before v1, IPv4 before IPv6, addresses of a wider scope before link-local ones.
fn rank(link: Link, gid: &[u8; 16]) -> u8 {
    let version = u8::from(link == Link::RoceV1);
    let kind = if DeviceAddr::is_ipv4(gid) {
        0
    } else if gid[..2] == [0xfe, 0x80] {
        2
    } else {
        1
    };
    version * 3 + kind
}

fn same_bits(a: &[u8], b: &[u8], bits: usize) -> bool {
    let (whole, rest) = (bits / 8, bits % 8);
    let mask = !(0xffu8.checked_shr(rest as u32).unwrap_or(0));
    a[..whole] == b[..whole] && (rest == 0 || (a[whole] ^ b[whole]) & mask == 0)
}

/// Bytes a second of a link, by the specification's codes of width and speed.
fn speed(width: u8, code: u8) -> f64 {
    let lanes = match width {
        1 => 1.0,
        16 => 2.0,
        2 => 4.0,
        4 => 8.0,
        _ => 12.0,
    };
    // Gigabits a second of a lane, and the part of them that is data.
    let (gigabits, data) = match code {
        1 => (2.5, 0.8),
        2 => (5.0, 0.8),
        4 | 8 => (10.0, 0.8),
        16 => (14.0625, 64.0 / 66.0),
        32 => (25.78125, 64.0 / 66.0),
        64 => (53.125, 64.0 / 68.0),
        128 => (106.25, 64.0 / 68.0),
        _ => (2.5, 0.8),
    };
    lanes * gigabits * 1e9 * data / 8.0
}

fn gid_text(gid: &[u8; 16]) -> String {
    let ip = std::net::Ipv6Addr::from(*gid);
    ip.to_ipv4_mapped()
        .map_or_else(|| ip.to_string(), |ip| ip.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gid(text: &str) -> [u8; 16] {
        let ip: std::net::IpAddr = text.parse().unwrap();
        match ip {
            std::net::IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
            std::net::IpAddr::V6(ip) => ip.octets(),
        }
    }

    fn port(link: Link, own: &str) -> Port {
        Port {
            number: 1,
            address: address(link, own),
            gid_index: 0,
            max_message: 1 << 30,
            speed: 1e9,
            link: f64::INFINITY,
            partitions: 1,
            interface: None,
        }
    }

    fn address(link: Link, ip: &str) -> DeviceAddr {
        DeviceAddr {
            link,
            mtu: 3,
            lid: u16::from(link == Link::InfiniBand),
            gid: gid(ip),
        }
    }

    fn path(subnet: Option<Option<u8>>) -> PathSettings {
        PathSettings {
            is_global: false,
            service_level: 0,
            traffic_class: None,
            hop_limit: 255,
            subnet,
            needs_route: false,
            partition: None,
            mtu: None,
        }
    }

    #[test]
    fn addresses_are_ranked_as_documented() {
        let ranked = [
            (Link::RoceV2, "192.0.2.1"),
            (Link::RoceV2, "2001:db8::1"),
            (Link::RoceV2, "fe80::1"),
            (Link::RoceV1, "192.0.2.1"),
            (Link::RoceV1, "2001:db8::1"),
            (Link::RoceV1, "fe80::1"),
        ];
        let ranks = ranked.map(|(link, ip)| rank(link, &gid(ip)));
        assert_eq!(ranks, [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn reach_depends_on_link_family_and_subnet() {
        let roce = port(Link::RoceV2, "192.0.2.1");
        let reaches = |link, ip, subnet| roce.reaches(&address(link, ip), &path(subnet));
        assert!(reaches(Link::RoceV2, "198.51.100.1", None));
        assert!(!reaches(Link::RoceV1, "192.0.2.2", None));
        assert!(!reaches(Link::RoceV2, "2001:db8::1", None));
        assert!(reaches(Link::RoceV2, "192.0.3.1", Some(None)));
        assert!(!reaches(Link::RoceV2, "192.0.3.1", Some(Some(24))));
        assert!(reaches(Link::RoceV2, "192.0.2.99", Some(Some(25))));
        assert!(!reaches(Link::RoceV2, "192.0.2.199", Some(Some(25))));
        let ib = port(Link::InfiniBand, "fe80::1");
        assert!(ib.reaches(&address(Link::InfiniBand, "fe80::2"), &path(None)));
        assert!(!ib.reaches(&address(Link::InfiniBand, "fec0::2"), &path(None)));
    }

    #[test]
    fn the_smaller_mtu_counts() {
        let own = port(Link::InfiniBand, "fe80::1");
        let mut peer = address(Link::InfiniBand, "fe80::2");
        peer.mtu = 5;
        assert_eq!(own.mtu(&peer, &path(None)), 3);
        peer.mtu = 2;
        assert_eq!(own.mtu(&peer, &path(None)), 2);
        let mut narrow = path(None);
        narrow.mtu = Some(1);
        assert_eq!(own.mtu(&peer, &narrow), 1);
    }
}
