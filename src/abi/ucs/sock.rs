//! `ucs/sys/sock.h`, as far as clients use it.

use super::{put_text, text_of};
use crate::abi::args::non_null;
use crate::c::prelude::*;
use crate::sys::socket_option;
use crate::ucs::{Result, sockaddr as address, status::code_of};
use std::net::SocketAddr;

/// Closes `*fd_p` unless it is -1, and makes it -1. `ucs/sys/sock.h`.
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
    if let Err(e) = socket_option::close(fd) {
        crate::ucs_warn!("cannot close descriptor {fd}: {e}");
    }
    // SAFETY: as above.
    unsafe { fd_p.write(-1) };
}

/// setsockopt(2) with a status. `ucs/sys/sock.h`.
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
    // SAFETY: the caller's promise.
    match unsafe { socket_option::set(fd, level, optname, optval, optlen) } {
        Ok(()) => UCS_OK,
        Err(e) => {
            crate::ucs_error!("cannot set option {optname} of descriptor {fd}: {e}");
            UCS_ERR_IO_ERROR
        }
    }
}

/// Bytes of an IPv4 or IPv6 address. `ucs/sys/sock.h`.
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
/// # Safety
/// `sock_addr` is null or a socket address, `str` null or writable for `max_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_sockaddr_str(
    sock_addr: *const sockaddr,
    str: *mut c_char,
    max_size: usize,
) -> *const c_char {
    // SAFETY: the caller's promise; the family is the first field of every address.
    let is_ip = !sock_addr.is_null()
        && matches!(
            i32::from(unsafe { (*sock_addr).sa_family }),
            libc::AF_INET | libc::AF_INET6
        );
    // SAFETY: the caller's promise.
    let text = match is_ip.then(|| unsafe { address::read(sock_addr) }) {
        Some(Ok(addr)) => address::format(&addr),
        _ => "<invalid address family>".into(),
    };
    // SAFETY: the caller's promise.
    unsafe { put_text(str, max_size, &text) };
    str
}

/// Reads a numeric address; the port becomes 0. `UCS_ERR_INVALID_ADDR` otherwise. `ucs/sys/sock.h`.
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
