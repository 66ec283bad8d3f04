//! `ucs/sys/sock.h`: socket addresses.

use super::{put_text, text_of};
use crate::abi::args::non_null;
use crate::c::prelude::*;
use crate::sys::raw_socket;
use crate::ucs::{Result, sockaddr as address, status::code_of};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Closes `*fd_p` unless it is -1, and makes it -1. `ucs/sys/sock.h`.
///
/// - `fd_p` (in,out): The descriptor, which becomes -1.
///
/// # Safety
/// `fd_p` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_close_fd(fd_p: *mut c_int) {
    non_null!(; fd_p);
    // SAFETY: checked above; the caller vouches for it.
    let fd = unsafe { fd_p.read() };
    if fd == -1 {
        return;
    }
    if let Err(e) = raw_socket::close(fd) {
        crate::ucs_warn!("cannot close descriptor {fd}: {e}");
    }
    // SAFETY: as above.
    unsafe { fd_p.write(-1) };
}

/// setsockopt(2) with a status. `ucs/sys/sock.h`.
///
/// - `fd` (in): Descriptor of a socket.
/// - `level` (in): As of the system call.
/// - `optname` (in): As of the system call.
/// - `optval` (in): The value.
/// - `optlen` (in): Bytes of the value.
/// - returns: UCS_OK, or an error; the cause is logged.
///
/// # Safety
/// `optval` is readable for `optlen` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_socket_setopt(
    fd: c_int,
    level: c_int,
    optname: c_int,
    optval: *const c_void,
    optlen: socklen_t,
) -> ucs_status_t {
    let value = if optval.is_null() {
        &[]
    } else {
        // SAFETY: the caller's promise.
        unsafe { core::slice::from_raw_parts(optval.cast::<u8>(), optlen as usize) }
    };
    match raw_socket::set_option(fd, level, optname, value) {
        Ok(()) => UCS_OK,
        Err(e) => {
            crate::ucs_error!("cannot set option {optname} of descriptor {fd}: {e}");
            UCS_ERR_IO_ERROR
        }
    }
}

/// Bytes of an IPv4 or IPv6 address. `ucs/sys/sock.h`.
///
/// - `addr` (in): IPv4 or IPv6 address.
/// - `size_p` (out): Bytes.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM for another family.
///
/// # Safety
/// `addr` is null or a socket address, `size_p` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_sockaddr_sizeof(
    addr: *const sockaddr,
    size_p: *mut usize,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; size_p);
    // SAFETY: the caller's promise.
    match unsafe { address::read(addr) } {
        Ok(addr) => {
            // SAFETY: checked above; the caller vouches for it.
            unsafe { size_p.write(address::size_of_addr(&addr)) };
            UCS_OK
        }
        Err(status) => status.code(),
    }
}

/// The port, in the host's byte order. `ucs/sys/sock.h`.
///
/// - `addr` (in): IPv4 or IPv6 address.
/// - `port_p` (out): The port.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM for another family.
///
/// # Safety
/// `addr` is null or a socket address, `port_p` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_sockaddr_get_port(
    addr: *const sockaddr,
    port_p: *mut u16,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; port_p);
    // SAFETY: the caller's promise.
    match unsafe { address::read(addr) } {
        Ok(addr) => {
            // SAFETY: checked above; the caller vouches for it.
            unsafe { port_p.write(addr.port()) };
            UCS_OK
        }
        Err(status) => status.code(),
    }
}

/// Changes the port, given in the host's byte order. `ucs/sys/sock.h`.
///
/// - `addr` (in,out): Address to change.
/// - `port` (in): The port.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM for another family.
///
/// # Safety
/// `addr` is null or a socket address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_sockaddr_set_port(addr: *mut sockaddr, port: u16) -> ucs_status_t {
    let set = || {
        // SAFETY: the caller's promise.
        let mut new = unsafe { address::read(addr) }?;
        new.set_port(port);
        // SAFETY: of the same family as what was read there.
        unsafe { address::write(addr, &new) };
        Ok(())
    };
    code_of(&set())
}

/// Makes the IP address of `addr` the unspecified one of family `af`; family and port stay.
/// `ucs/sys/sock.h`.
///
/// - `addr` (in,out): Address to change.
/// - `af` (in): AF_INET or AF_INET6.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM for another family.
///
/// # Safety
/// `addr` is null or writable for an address of family `af`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_sockaddr_set_inaddr_any(
    addr: *mut sockaddr,
    af: libc::sa_family_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; addr);
    let ip = match address::any_of(i32::from(af)) {
        Ok(ip) => ip,
        Err(status) => return status.code(),
    };
    // SAFETY: the family is the first field of every address.
    let family = unsafe { (*addr).sa_family };
    // SAFETY: the port has this place in both families.
    let port = unsafe { (*addr.cast::<libc::sockaddr_in>()).sin_port };
    let new = SocketAddr::new(ip, u16::from_be(port));
    // SAFETY: the caller vouches for the size.
    unsafe { address::write(addr, &new) };
    // SAFETY: as above.
    unsafe { (*addr).sa_family = family };
    UCS_OK
}

/// `1.2.3.4:5` or `::1%2:5`, cut to `max_size`. `ucs/sys/sock.h`.
///
/// - `sock_addr` (in): The address.
/// - `str` (out): Gets the text with its NUL, cut to fit.
/// - `max_size` (in): Bytes of that buffer.
/// - returns: `str`.
///
/// # Safety
/// `sock_addr` is null or a socket address, `str` null or writable for `max_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_sockaddr_str(
    sock_addr: *const sockaddr,
    str: *mut c_char,
    max_size: usize,
) -> *const c_char {
    // SAFETY: the caller's promise.
    let text = match unsafe { address::read_ip(sock_addr) } {
        Some(addr) => address::format(&addr),
        None => address::NOT_IP.into(),
    };
    // SAFETY: the caller's promise.
    unsafe { put_text(str, max_size, &text) };
    str
}

/// Reads a numeric address; the port becomes 0. `UCS_ERR_INVALID_ADDR` otherwise. `ucs/sys/sock.h`.
///
/// - `ip_str` (in): Text, NUL-terminated.
/// - `sa_storage` (out): The address.
/// - returns: UCS_OK; UCS_ERR_INVALID_ADDR for another text.
///
/// # Safety
/// `ip_str` is null or a C string, `sa_storage` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_sock_ipstr_to_sockaddr(
    ip_str: *const c_char,
    sa_storage: *mut sockaddr_storage,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; ip_str, sa_storage);
    // SAFETY: the caller's promise.
    let ip = address::parse_ip(&unsafe { text_of(ip_str) });
    // SAFETY: as above.
    unsafe { store(ip.map(|ip| SocketAddr::new(ip, 0)), sa_storage) }
}

/// Reads a numeric address with an optional port, IPv6 in brackets then. `ucs/sys/sock.h`.
///
/// - `ip_port_str` (in): Text, NUL-terminated.
/// - `default_port` (in): Port when the text has none.
/// - `sa_storage` (out): The address.
/// - returns: UCS_OK; UCS_ERR_INVALID_ADDR for another text.
///
/// # Safety
/// `ip_port_str` is null or a C string, `sa_storage` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_sock_ipportstr_to_sockaddr(
    ip_port_str: *const c_char,
    default_port: u16,
    sa_storage: *mut sockaddr_storage,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; ip_port_str, sa_storage);
    // SAFETY: the caller's promise.
    let addr = address::parse_ip_port(&unsafe { text_of(ip_port_str) }, default_port);
    // SAFETY: as above.
    unsafe { store(addr, sa_storage) }
}

/// Reads a port. `UCS_ERR_INVALID_ADDR` when it is none. `ucs/sys/sock.h`.
///
/// - `port_str` (in): Text, NUL-terminated.
/// - `port` (out): The port.
/// - returns: UCS_OK; UCS_ERR_INVALID_ADDR for another text.
///
/// # Safety
/// `port_str` is null or a C string, `port` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_sock_port_from_string(
    port_str: *const c_char,
    port: *mut u16,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; port_str, port);
    // SAFETY: the caller's promise.
    match address::parse_port(&unsafe { text_of(port_str) }) {
        Ok(number) => {
            // SAFETY: checked above; the caller vouches for it.
            unsafe { port.write(number) };
            UCS_OK
        }
        Err(status) => status.code(),
    }
}

unsafe fn store(addr: Result<SocketAddr>, out: *mut sockaddr_storage) -> ucs_status_t {
    match addr {
        Ok(addr) => {
            // SAFETY: a storage takes any address; the caller vouches for it.
            unsafe { address::write(out.cast(), &addr) };
            UCS_OK
        }
        Err(status) => status.code(),
    }
}

/// The IP address as its bytes are in memory, where there is one.
///
/// # Safety
/// `addr` is null or a socket address.
unsafe fn inet_addr(addr: *const sockaddr) -> Option<(*const c_void, usize)> {
    // SAFETY: the caller's promise.
    match unsafe { address::read_ip(addr) }? {
        SocketAddr::V4(_) => {
            let at = addr.wrapping_byte_add(offset_of!(libc::sockaddr_in, sin_addr));
            Some((at.cast(), size_of::<libc::in_addr>()))
        }
        SocketAddr::V6(_) => {
            let at = addr.wrapping_byte_add(offset_of!(libc::sockaddr_in6, sin6_addr));
            Some((at.cast(), size_of::<libc::in6_addr>()))
        }
    }
}

/// Where the IP address is inside a socket address; NULL for other families. `ucs/sys/sock.h`.
///
/// - `addr` (in): IPv4 or IPv6 address.
/// - returns: Place inside `addr`, or NULL.
///
/// # Safety
/// `addr` is null or a socket address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_sockaddr_get_inet_addr(addr: *const sockaddr) -> *const c_void {
    // SAFETY: the caller's promise.
    match unsafe { inet_addr(addr) } {
        Some((at, _)) => at,
        None => {
            // SAFETY: as above; says what is wrong.
            let _ = unsafe { address::read(addr) };
            core::ptr::null()
        }
    }
}

/// Changes the IP address of a socket address. `ucs/sys/sock.h`.
///
/// - `addr` (in,out): Address to change.
/// - `in_addr` (in): `struct in_addr` or `struct in6_addr`, by its family.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM for another family.
///
/// # Safety
/// `addr` is null or a socket address, `in_addr` null or an IP address of its family.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_sockaddr_set_inet_addr(
    addr: *mut sockaddr,
    in_addr: *const c_void,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; addr, in_addr);
    // SAFETY: the caller's promise.
    let Some((at, len)) = (unsafe { inet_addr(addr) }) else {
        // SAFETY: as above; says what is wrong.
        return code_of(&unsafe { address::read(addr) }.map(drop));
    };
    // SAFETY: inside the caller's address, and its bytes.
    unsafe { core::ptr::copy(in_addr.cast::<u8>(), at.cast_mut().cast(), len) };
    UCS_OK
}

/// Bytes of an IP address of this family. UCS_ERR_INVALID_PARAM for others. `ucs/sys/sock.h`.
///
/// - `af` (in): AF_INET or AF_INET6.
/// - `size_p` (out): Bytes.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM for another family.
///
/// # Safety
/// `size_p` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_sockaddr_inet_addr_size(
    af: libc::sa_family_t,
    size_p: *mut usize,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; size_p);
    let size = address::any_of(i32::from(af)).map(|ip| if ip.is_ipv4() { 4 } else { 16 });
    let given = size.map(|size| {
        // SAFETY: checked above; the caller vouches for it.
        unsafe { size_p.write(size) };
    });
    code_of(&given)
}

/// The same of the family of a socket address. `ucs/sys/sock.h`.
///
/// - `addr` (in): IPv4 or IPv6 address.
/// - `size_p` (out): Bytes.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM for another family.
///
/// # Safety
/// `addr` is null or a socket address, `size_p` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_sockaddr_inet_addr_sizeof(
    addr: *const sockaddr,
    size_p: *mut usize,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; addr);
    // SAFETY: checked above; every address begins with its family.
    unsafe { ucs_sockaddr_inet_addr_size((*addr).sa_family, size_p) }
}

/// 1 for IPv4 and IPv6, else 0. `ucs/sys/sock.h`.
///
/// - `sa` (in): IPv4 or IPv6 address.
/// - returns: 1 or 0.
///
/// # Safety
/// `sa` is null or a socket address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_sockaddr_is_known_af(sa: *const sockaddr) -> c_int {
    // SAFETY: the caller's promise.
    c_int::from(unsafe { address::read_ip(sa) }.is_some())
}

/// 1 for the unspecified address, else 0. `ucs/sys/sock.h`.
///
/// - `addr` (in): IPv4 or IPv6 address.
/// - returns: 1 or 0.
///
/// # Safety
/// `addr` is null or a socket address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_sockaddr_is_inaddr_any(addr: *const sockaddr) -> c_int {
    // SAFETY: the caller's promise.
    let addr = unsafe { address::read_ip(addr) };
    c_int::from(addr.is_some_and(|addr| addr.ip().is_unspecified()))
}

/// 1 for 127.0.0.1 and ::1, else 0. `ucs/sys/sock.h`.
///
/// - `addr` (in): IPv4 or IPv6 address.
/// - returns: 1 or 0.
///
/// # Safety
/// `addr` is null or a socket address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_sockaddr_is_inaddr_loopback(addr: *const sockaddr) -> c_int {
    // SAFETY: the caller's promise.
    let addr = unsafe { address::read_ip(addr) };
    c_int::from(addr.is_some_and(|addr| {
        addr.ip() == IpAddr::V4(Ipv4Addr::LOCALHOST) || addr.ip() == IpAddr::V6(Ipv6Addr::LOCALHOST)
    }))
}

/// Compares family, address and port: below, at or above 0. For other families, and then 1, `*status_p` becomes
/// UCS_ERR_INVALID_PARAM, else UCS_OK. `ucs/sys/sock.h`.
///
/// - `sa1` (in): IPv4 or IPv6 address.
/// - `sa2` (in): Another one.
/// - `status_p` (out): UCS_OK, or UCS_ERR_INVALID_PARAM for another family; may be NULL.
/// - returns: Below, at or above 0.
///
/// # Safety
/// Both are null or socket addresses, `status_p` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_sockaddr_cmp(
    sa1: *const sockaddr,
    sa2: *const sockaddr,
    status_p: *mut ucs_status_t,
) -> c_int {
    // SAFETY: the caller's promise.
    let both = unsafe { address::read(sa1) }.and_then(|a| Ok((a, unsafe { address::read(sa2) }?)));
    if !status_p.is_null() {
        // SAFETY: as above.
        unsafe { status_p.write(both.map_or_else(|status| status.code(), |_| UCS_OK)) };
    }
    // Addresses of Rust are ordered by family, address and port.
    both.map_or(1, |(a, b)| {
        let key = |addr: SocketAddr| (addr.ip(), addr.port());
        key(a).cmp(&key(b)) as c_int
    })
}

/// Compares the bytes that the first IP address has: below, at or above 0; -1 for other families. `ucs/sys/sock.h`.
///
/// - `sa1` (in): IPv4 or IPv6 address.
/// - `sa2` (in): Another one.
/// - returns: Below, at or above 0.
///
/// # Safety
/// Both are null or socket addresses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_sockaddr_ip_cmp(sa1: *const sockaddr, sa2: *const sockaddr) -> c_int {
    // SAFETY: the caller's promise.
    let both = unsafe { address::read_ip(sa1) }.zip(unsafe { address::read_ip(sa2) });
    both.map_or(-1, |(a, b)| {
        let (len, a) = address::bytes(a.ip());
        let (_, b) = address::bytes(b.ip());
        a[..len].cmp(&b[..len]) as c_int
    })
}

/// 1 where the first bits of two IP addresses of one family are the same, else 0. `ucs/sys/sock.h`.
///
/// - `sa1` (in): IPv4 or IPv6 address.
/// - `sa2` (in): Another one.
/// - `prefix_len` (in): Number of bits.
/// - returns: 1 or 0.
///
/// # Safety
/// Both are null or socket addresses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_sockaddr_is_same_subnet(
    sa1: *const sockaddr,
    sa2: *const sockaddr,
    prefix_len: c_uint,
) -> c_int {
    // SAFETY: the caller's promise.
    let both = unsafe { address::read_ip(sa1) }.zip(unsafe { address::read_ip(sa2) });
    c_int::from(both.is_some_and(|(a, b)| address::same_subnet(a.ip(), b.ip(), prefix_len)))
}

/// Copies a socket address. UCS_ERR_INVALID_PARAM for other families. `ucs/sys/sock.h`.
///
/// - `dst_addr` (out): Room for an address of that family.
/// - `src_addr` (in): The address.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM for another family.
///
/// # Safety
/// `src_addr` is null or a socket address, `dst_addr` null or has room for it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_sockaddr_copy(
    dst_addr: *mut sockaddr,
    src_addr: *const sockaddr,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; dst_addr);
    // SAFETY: the caller's promise.
    let copied = unsafe { address::read(src_addr) }.map(|addr| {
        // SAFETY: as above.
        unsafe {
            core::ptr::copy(
                src_addr.cast::<u8>(),
                dst_addr.cast(),
                address::size_of_addr(&addr),
            )
        };
    });
    code_of(&copied)
}

/// The name of a family. `ucs/sys/sock.h`.
///
/// - `af` (in): The family.
/// - returns: Text that is not freed.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_sockaddr_address_family_str(af: libc::sa_family_t) -> *const c_char {
    let name = match i32::from(af) {
        libc::AF_INET => c"IPv4",
        libc::AF_INET6 => c"IPv6",
        _ => c"not IPv4 or IPv6",
    };
    name.as_ptr()
}

/// The IP address as text. UCS_ERR_INVALID_PARAM where `max_size` is too small. `ucs/sys/sock.h`.
///
/// - `addr` (in): IPv4 or IPv6 address.
/// - `str` (out): Gets the text with its NUL, cut to fit.
/// - `max_size` (in): Bytes of that buffer.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM where `max_size` is too small or for another family.
///
/// # Safety
/// `addr` is null or a socket address, `str` null or writable for `max_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_sockaddr_get_ipstr(
    addr: *const sockaddr,
    str: *mut c_char,
    max_size: usize,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; str);
    // SAFETY: the caller's promise.
    let text = match unsafe { address::read(addr) } {
        Ok(addr) => addr.ip().to_string(),
        Err(status) => return status.code(),
    };
    if text.len() >= max_size {
        return UCS_ERR_INVALID_PARAM;
    }
    // SAFETY: the caller's room.
    unsafe { put_text(str, max_size, &text) };
    UCS_OK
}
