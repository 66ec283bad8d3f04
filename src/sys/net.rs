//! Network interfaces of this machine as the kernel and sysfs describe them, and what tells this
//! host and network namespace from others.

use crate::sys::file::read_kernel_text;
use crate::sys::process;
use crate::sys::raw_socket;
use crate::sys::socket;
use once_cell::race::OnceBox;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// One address of one interface that is up and running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub name: String,
    pub ip: IpAddr,
    /// The zone of a link-local IPv6 address, else 0.
    pub scope: u32,
    /// Leading bits that all addresses of the subnet share.
    pub prefix: u8,
    pub loopback: bool,
}

/// All addresses of all interfaces that are up and running.
pub fn addresses() -> io::Result<Vec<Address>> {
    let mut list: *mut libc::ifaddrs = core::ptr::null_mut();
    // SAFETY: `list` is a valid out pointer.
    if unsafe { libc::getifaddrs(&mut list) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let mut found = Vec::new();
    let mut at = list;
    while !at.is_null() {
        // SAFETY: a node of the list that getifaddrs made, freed only below.
        let node = unsafe { &*at };
        at = node.ifa_next;
        let wanted = (libc::IFF_UP | libc::IFF_RUNNING) as u32;
        if node.ifa_flags & wanted != wanted {
            continue;
        }
        // SAFETY: addresses in the list are null or as long as their family says.
        let (addr, mask) = unsafe {
            (
                socket::read_sockaddr(node.ifa_addr),
                socket::read_sockaddr(node.ifa_netmask),
            )
        };
        let Some(addr) = addr else { continue };
        // SAFETY: the name is a C string of the list.
        let name = unsafe { core::ffi::CStr::from_ptr(node.ifa_name) };
        let Ok(name) = name.to_str() else { continue };
        found.push(Address {
            name: name.to_owned(),
            ip: addr.ip(),
            scope: match addr {
                SocketAddr::V6(a) => a.scope_id(),
                SocketAddr::V4(_) => 0,
            },
            prefix: mask.map_or(0, |m| leading_ones(m.ip())),
            loopback: node.ifa_flags & libc::IFF_LOOPBACK as u32 != 0,
        });
    }
    // SAFETY: the list of getifaddrs, freed once.
    unsafe { libc::freeifaddrs(list) };
    Ok(found)
}

fn leading_ones(mask: IpAddr) -> u8 {
    let bits = match mask {
        IpAddr::V4(m) => m.to_bits().leading_ones(),
        IpAddr::V6(m) => m.to_bits().leading_ones(),
    };
    bits as u8
}

/// The link's speed in bits a second, as sysfs states it; `None` where it does not know.
pub fn link_speed(name: &str) -> Option<f64> {
    let megabits: i64 = sysfs(name, "speed")?.parse().ok()?;
    (megabits > 0 && megabits < i64::from(u32::MAX)).then_some(megabits as f64 * 1e6)
}

/// The largest packet of the link, in bytes.
pub fn mtu(name: &str) -> Option<usize> {
    sysfs(name, "mtu")?.parse().ok()
}

/// Whether the interface is a bridge of others.
pub fn is_bridge(name: &str) -> bool {
    Path::new("/sys/class/net")
        .join(name)
        .join("bridge")
        .exists()
}

/// The device that the interface stands on, through all that are between, as sysfs has it.
pub fn lowest_device(name: &str) -> PathBuf {
    let mut path = Path::new("/sys/class/net").join(name);
    // Each step leads to another interface; there are never so many.
    for _ in 0..16 {
        let Ok(entries) = std::fs::read_dir(&path) else {
            break;
        };
        let names = entries.flatten().map(|entry| entry.file_name());
        let lower = names.filter(|name| name.to_string_lossy().starts_with("lower_"));
        let Some(lower) = lower.min() else { break };
        path.push(lower);
    }
    path
}

/// Ports that are bound together by the interface's bond; 1 for one that is no bond.
pub fn bonded_ports(name: &str) -> u32 {
    let ports = sysfs(name, "bonding/ad_num_ports").and_then(|text| text.parse().ok());
    ports.filter(|ports| *ports > 0).unwrap_or(1)
}

/// The first and the last port that the kernel gives to sockets by itself.
pub fn local_ports() -> Option<(u16, u16)> {
    let text = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut numbers = text.split_whitespace().map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// Most connections that may wait to be accepted.
pub fn most_waiting() -> Option<u32> {
    let text = std::fs::read_to_string("/proc/sys/net/core/somaxconn").ok()?;
    text.trim().parse().ok()
}

fn sysfs(name: &str, file: &str) -> Option<String> {
    let path = Path::new("/sys/class/net").join(name).join(file);
    Some(read_kernel_text(path).ok()?.trim().to_owned())
}

/// The kernel's routes, as it lists them; each table is read when it is first asked for.
#[derive(Debug, Default)]
pub struct Routes {
    v4: OnceBox<String>,
    v6: OnceBox<String>,
}

impl Routes {
    /// Whether a default route of IPv4 or IPv6 goes through the interface.
    pub fn are_default(&self, name: &str) -> bool {
        let read = |path| move || Box::new(read_kernel_text(path).unwrap_or_default());
        has_default_v4(self.v4.get_or_init(read("/proc/net/route")), name)
            || has_default_v6(self.v6.get_or_init(read("/proc/net/ipv6_route")), name)
    }
}

/// Columns: interface, destination, gateway, flags, ...; 00000000 is everywhere.
fn has_default_v4(table: &str, name: &str) -> bool {
    table.lines().skip(1).any(|line| {
        let mut columns = line.split_whitespace();
        columns.next() == Some(name) && columns.next() == Some("00000000")
    })
}

/// Columns: destination, its prefix length, source, its prefix length, gateway, metric, references,
/// use, flags, interface. A rejecting default stands on lo and is none.
fn has_default_v6(table: &str, name: &str) -> bool {
    const REJECT: u32 = 0x200;
    table.lines().any(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        columns.len() == 10
            && columns[9] == name
            && columns[1] == "00"
            && columns[0].bytes().all(|b| b == b'0')
            && u32::from_str_radix(columns[8], 16).is_ok_and(|flags| flags & REJECT == 0)
    })
}

/// Whether the kernel has a route to this address that leaves by the interface.
pub fn has_route(interface: &str, to: IpAddr) -> io::Result<bool> {
    let index: u32 = sysfs(interface, "ifindex")
        .and_then(|text| text.parse().ok())
        .ok_or(io::ErrorKind::NotFound)?;
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
    let fd = raw_socket::create(libc::AF_NETLINK, kind, libc::NETLINK_ROUTE)?;
    // SAFETY: just made, owned by nobody else.
    let mut kernel = std::fs::File::from(unsafe { OwnedFd::from_raw_fd(fd) });
    kernel.write_all(&route_request(index, to))?;
    let mut answer = [0; 4096];
    let len = kernel.read(&mut answer)?;
    read_route(&answer[..len])
}

// `linux/netlink.h` and `linux/rtnetlink.h`.
const NEW_ROUTE: u16 = 24;
const GET_ROUTE: u16 = 26;
const ERROR: u16 = 2;

/// Asks for the entry of the routing tables that packets to `to` by the interface of this index would take.
fn route_request(index: u32, to: IpAddr) -> Vec<u8> {
    const REQUEST: u16 = 1;
    // Without it IPv4 answers that whatever has no route is a neighbour.
    const FIB_MATCH: u32 = 0x2000;
    const DESTINATION: u16 = 1;
    const OUTPUT: u16 = 4;
    let (family, address) = match to {
        IpAddr::V4(ip) => (libc::AF_INET, ip.octets().to_vec()),
        IpAddr::V6(ip) => (libc::AF_INET6, ip.octets().to_vec()),
    };
    let mut body = vec![family as u8, address.len() as u8 * 8, 0, 0, 0, 0, 0, 0];
    body.extend(FIB_MATCH.to_ne_bytes());
    for (kind, value) in [
        (DESTINATION, address),
        (OUTPUT, index.to_ne_bytes().to_vec()),
    ] {
        body.extend((value.len() as u16 + 4).to_ne_bytes());
        body.extend(kind.to_ne_bytes());
        body.extend(value);
    }
    const HEADER: usize = 16;
    let mut message = ((HEADER + body.len()) as u32).to_ne_bytes().to_vec();
    message.extend(GET_ROUTE.to_ne_bytes());
    message.extend(REQUEST.to_ne_bytes());
    // Number and sender, which the kernel fills in.
    message.extend([0; 8]);
    message.extend(body);
    message
}

fn read_route(answer: &[u8]) -> io::Result<bool> {
    let kind = answer.get(4..6).and_then(|bytes| bytes.try_into().ok());
    match kind.map(u16::from_ne_bytes) {
        Some(NEW_ROUTE) => Ok(true),
        Some(ERROR) => {
            let code = answer.get(16..20).and_then(|bytes| bytes.try_into().ok());
            let code = -code.map_or(-libc::EPROTO, i32::from_ne_bytes);
            match code {
                libc::ENETUNREACH | libc::EHOSTUNREACH => Ok(false),
                _ => Err(io::Error::from_raw_os_error(code)),
            }
        }
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// The number of this process's network namespace; 0 if it cannot be had.
pub fn network_namespace() -> u64 {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self/ns/net").map_or(0, |m| m.ino())
}

/// A number that processes share which can reach each other by the loopback interface: those of
/// one boot and one network namespace.
pub fn loopback_domain() -> u64 {
    let boot = process::boot_id().unwrap_or_default();
    let space = network_namespace();
    // FNV-1a: the same in every process and every build.
    boot.bytes()
        .chain(space.to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_listed_with_its_subnet() {
        let all = addresses().unwrap();
        let lo = all
            .iter()
            .find(|a| a.loopback && a.ip.is_ipv4())
            .expect("a loopback interface");
        assert_eq!(lo.ip, IpAddr::V4(std::net::Ipv4Addr::LOCALHOST));
        assert_eq!(lo.prefix, 8);
        assert!(mtu(&lo.name).unwrap() >= 1500);
        assert!(!is_bridge(&lo.name));
        assert_eq!(loopback_domain(), loopback_domain());
    }

    #[test]
    fn routes_leave_by_their_interface() {
        assert!(has_route("lo", IpAddr::from([127, 0, 0, 1])).unwrap());
        assert!(!has_route("lo", IpAddr::from([192, 0, 2, 77])).unwrap());
        assert!(has_route("no-interface", IpAddr::from([127, 0, 0, 1])).is_err());
        assert!(read_route(&[]).is_err() && read_route(&[0; 20]).is_err());
    }

    #[test]
    fn default_routes_are_found_in_both_tables() {
        let v4 = "Iface Destination Gateway Flags\neth1 000200C0 0 1\neth0 00000000 010200C0 3\n";
        assert!(has_default_v4(v4, "eth0"));
        assert!(!has_default_v4(v4, "eth1"));
        let zero = "0".repeat(32);
        let line = |flags: &str, name: &str| {
            format!("{zero} 00 {zero} 00 {zero} ffffffff 1 0 {flags} {name}\n")
        };
        assert!(has_default_v6(&line("00000003", "eth0"), "eth0"));
        assert!(!has_default_v6(&line("00200200", "lo"), "lo"));
    }
}
