//! Socket addresses as the C API has them: text, ports, sizes of `struct sockaddr`.

use crate::ucs::{Result, Status};
use libc::{sockaddr, sockaddr_in, sockaddr_in6, sockaddr_storage};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

/// An IPv4 or IPv6 address read from C.
///
/// # Safety
/// `addr` is null or readable for the size of its family.
pub unsafe fn read(addr: *const sockaddr) -> Result<SocketAddr> {
    if addr.is_null() {
        crate::ucs_error!("a socket address is missing");
        return Err(Status::INVALID_PARAM);
    }
    // SAFETY: the family is the first field of every address.
    match i32::from(unsafe { (*addr).sa_family }) {
        libc::AF_INET => {
            // SAFETY: the family says so; C aligns addresses as their own type asks.
            let a = unsafe { addr.cast::<sockaddr_in>().read_unaligned() };
            let ip = Ipv4Addr::from(u32::from_be(a.sin_addr.s_addr));
            Ok(SocketAddrV4::new(ip, u16::from_be(a.sin_port)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: as above.
            let a = unsafe { addr.cast::<sockaddr_in6>().read_unaligned() };
            let ip = Ipv6Addr::from(a.sin6_addr.s6_addr);
            let port = u16::from_be(a.sin6_port);
            Ok(SocketAddrV6::new(ip, port, a.sin6_flowinfo, a.sin6_scope_id).into())
        }
        family => Err(unknown_family(family)),
    }
}

/// What stands for an address of another family.
pub const NOT_IP: &str = "<invalid address family>";

/// The same, none for null and for other families.
///
/// # Safety
/// As for `read`.
pub unsafe fn read_ip(addr: *const sockaddr) -> Option<SocketAddr> {
    if addr.is_null() {
        return None;
    }
    // SAFETY: the caller's promise; the family is the first field of every address.
    match i32::from(unsafe { (*addr).sa_family }) {
        // SAFETY: as above.
        libc::AF_INET | libc::AF_INET6 => unsafe { read(addr) }.ok(),
        _ => None,
    }
}

/// How many bytes an IP address has, and these with zeroes behind.
pub fn bytes(ip: IpAddr) -> (usize, [u8; 16]) {
    let mut bytes = [0; 16];
    match ip {
        IpAddr::V4(ip) => {
            bytes[..4].copy_from_slice(&ip.octets());
            (4, bytes)
        }
        IpAddr::V6(ip) => (16, ip.octets()),
    }
}

/// Whether the first bits of two addresses of one family are the same.
pub fn same_subnet(a: IpAddr, b: IpAddr, prefix: u32) -> bool {
    let ((len, a), (other, b)) = (bytes(a), bytes(b));
    let different = u128::from_be_bytes(a) ^ u128::from_be_bytes(b);
    len == other && different.leading_zeros() >= prefix.min(len as u32 * 8)
}

/// Writes `addr` for C; the rest of the storage stays as it is.
///
/// # Safety
/// `out` is writable for the size of the address's family.
pub unsafe fn write(out: *mut sockaddr, addr: &SocketAddr) {
    match addr {
        SocketAddr::V4(a) => {
            let c = sockaddr_in {
                sin_family: libc::AF_INET as _,
                sin_port: a.port().to_be(),
                sin_addr: libc::in_addr {
                    s_addr: u32::from(*a.ip()).to_be(),
                },
                sin_zero: [0; 8],
            };
            // SAFETY: the caller's promise.
            unsafe { out.cast::<sockaddr_in>().write_unaligned(c) };
        }
        SocketAddr::V6(a) => {
            let c = sockaddr_in6 {
                sin6_family: libc::AF_INET6 as _,
                sin6_port: a.port().to_be(),
                sin6_flowinfo: a.flowinfo(),
                sin6_addr: libc::in6_addr {
                    s6_addr: a.ip().octets(),
                },
                sin6_scope_id: a.scope_id(),
            };
            // SAFETY: the caller's promise.
            unsafe { out.cast::<sockaddr_in6>().write_unaligned(c) };
        }
    }
}

/// Bytes of an address of this kind.
pub fn size_of_addr(addr: &SocketAddr) -> usize {
    match addr {
        SocketAddr::V4(_) => size_of::<sockaddr_in>(),
        SocketAddr::V6(_) => size_of::<sockaddr_in6>(),
    }
}

/// `1.2.3.4:5`, or `::1%2:5` with the interface's number.
pub fn format(addr: &SocketAddr) -> String {
    match addr {
        SocketAddr::V4(a) => format!("{}:{}", a.ip(), a.port()),
        SocketAddr::V6(a) => format!("{}%{}:{}", a.ip(), a.scope_id(), a.port()),
    }
}

/// A numeric IPv4 or IPv6 address.
pub fn parse_ip(text: &str) -> Result<IpAddr> {
    text.parse().map_err(|_| {
        crate::ucs_error!("invalid address {text}: give a numeric IPv4 or IPv6 address");
        Status::INVALID_ADDR
    })
}

/// A numeric address with a port behind a colon, IPv6 in brackets then; else `default_port`.
pub fn parse_ip_port(text: &str, default_port: u16) -> Result<SocketAddr> {
    let (host, port) = if let Some(rest) = text.strip_prefix('[') {
        let Some((host, after)) = rest.split_once(']') else {
            crate::ucs_error!("invalid address {text}: a bracket is open");
            return Err(Status::INVALID_ADDR);
        };
        match after.strip_prefix(':') {
            Some(port) if host.contains(':') => (host, port),
            None if after.is_empty() && host.contains(':') => (host, ""),
            _ => {
                crate::ucs_error!("invalid address {text}: brackets hold an IPv6 address");
                return Err(Status::INVALID_ADDR);
            }
        }
    } else {
        match text.split_once(':') {
            Some((host, port)) if !port.contains(':') => (host, port),
            _ => (text, ""),
        }
    };
    let port = if port.is_empty() {
        default_port
    } else {
        parse_port(port)?
    };
    Ok(SocketAddr::new(parse_ip(host)?, port))
}

/// A port in decimal, octal behind `0`, or hexadecimal behind `0x`.
pub fn parse_port(text: &str) -> Result<u16> {
    let digits = text.trim_start();
    let digits = digits.strip_prefix('+').unwrap_or(digits);
    let lower = digits.to_ascii_lowercase();
    let port = match (lower.strip_prefix("0x"), lower.strip_prefix('0')) {
        (Some(hex), _) => unsigned(hex, 16),
        (None, Some(octal)) if !octal.is_empty() => unsigned(octal, 8),
        _ => unsigned(digits, 10),
    };
    port.ok_or_else(|| {
        crate::ucs_error!("invalid port '{text}': ports are 0 to 65535");
        Status::INVALID_ADDR
    })
}

/// Digits only: the integer parser would take a sign.
fn unsigned(digits: &str, radix: u32) -> Option<u16> {
    if digits.starts_with(['+', '-']) {
        return None;
    }
    u16::from_str_radix(digits, radix).ok()
}

/// The unspecified address of a family, with port 0.
pub fn any_of(family: i32) -> Result<IpAddr> {
    match family {
        libc::AF_INET => Ok(Ipv4Addr::UNSPECIFIED.into()),
        libc::AF_INET6 => Ok(Ipv6Addr::UNSPECIFIED.into()),
        _ => Err(unknown_family(family)),
    }
}

fn unknown_family(family: i32) -> Status {
    crate::ucs_error!("address family {family} is not supported: it has to be AF_INET or AF_INET6");
    Status::INVALID_PARAM
}

const _: () = assert!(size_of::<sockaddr_storage>() == 128);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_survive_c() {
        for text in ["1.2.3.4:5", "[::1]:65535", "[fe80::1%7]:1"] {
            let addr: SocketAddr = text.parse().unwrap();
            // SAFETY: plain bytes.
            let mut storage: sockaddr_storage = unsafe { core::mem::zeroed() };
            let c: *mut sockaddr = (&raw mut storage).cast();
            // SAFETY: the storage takes any address.
            unsafe { write(c, &addr) };
            // SAFETY: written above.
            assert_eq!(unsafe { read(c) }, Ok(addr));
        }
    }

    #[test]
    fn text_with_and_without_a_port() {
        let ok = |text: &str| parse_ip_port(text, 777).map(|a| a.to_string());
        assert_eq!(ok("1.2.3.4").unwrap(), "1.2.3.4:777");
        assert_eq!(ok("1.2.3.4:").unwrap(), "1.2.3.4:777");
        assert_eq!(ok("1.2.3.4:0x10").unwrap(), "1.2.3.4:16");
        assert_eq!(ok("[::1]:5").unwrap(), "[::1]:5");
        assert_eq!(ok("[::1]").unwrap(), "[::1]:777");
        assert_eq!(ok("::1:5").unwrap(), "[::1:5]:777");
        for bad in [
            "",
            ":5",
            "abc",
            "1.2.3.4:70000",
            "1.2.3.4:-1",
            "1.2.3.4:5x",
            "[::1",
            "[1.2.3.4]:7",
        ] {
            assert_eq!(ok(bad), Err(Status::INVALID_ADDR), "{bad}");
        }
        for (text, port) in [
            ("0", 0),
            ("+5", 5),
            (" 5", 5),
            ("017", 15),
            ("65535", 65535),
        ] {
            assert_eq!(parse_port(text), Ok(port));
        }
        for bad in ["", "-1", "65536", "5 ", "x", "++5", "0x"] {
            assert_eq!(parse_port(bad), Err(Status::INVALID_ADDR), "{bad}");
        }
    }
}
