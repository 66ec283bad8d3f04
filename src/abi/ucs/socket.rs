//! `ucs/sys/sock.h`: descriptors of sockets, and interfaces.

use super::{put_text, text_of};
use crate::abi::args::non_null;
use crate::abi::jump::jump;
use crate::c::prelude::*;
use crate::sys::{net, raw_socket};
use crate::ucs::{Result, Status, sockaddr as address, status::code_of};
use crate::{ucs_debug, ucs_error};
use libc::ifreq;
use std::io;
use std::net::{IpAddr, SocketAddr};

/// A pointer stands in an argument where a small number does since 1.18.
const LARGEST_NUMBER: usize = 1 << 16;

/// Tells of a failure that has no better word.
fn failed(what: &str, fd: c_int, e: &io::Error) -> Status {
    ucs_error!("{what} of descriptor {fd} failed: {e}");
    Status::IO_ERROR
}

/// What the failure of a transfer means.
fn transfer_status(fd: c_int, e: &io::Error) -> Status {
    match e.raw_os_error() {
        Some(libc::EAGAIN | libc::EINTR) => Status::NO_PROGRESS,
        _ => {
            ucs_debug!("transfer by descriptor {fd} failed: {e}");
            match Status::from_io(e) {
                status @ (Status::CONNECTION_RESET | Status::ENDPOINT_TIMEOUT) => status,
                Status::UNREACHABLE => Status::REJECTED,
                _ => Status::IO_ERROR,
            }
        }
    }
}

/// socket(2) with a status: `(domain, type, protocol, fd_p)`. `ucs/sys/sock.h`.
///
/// # Safety
/// `fd_p` is writable.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_socket_create() {
    jump!(create_of_any_release);
}

/// Before 1.18 the third argument is `fd_p`.
///
/// # Safety
/// As for `ucs_socket_create`. Only a call of the new form passes the last argument.
unsafe extern "C" fn create_of_any_release(
    domain: c_int,
    kind: c_int,
    protocol_or_fd_p: *mut c_int,
    fd_p: *mut c_int,
) -> ucs_status_t {
    let (protocol, fd_p) = if protocol_or_fd_p.addr() < LARGEST_NUMBER {
        (protocol_or_fd_p.addr() as c_int, fd_p)
    } else {
        (0, protocol_or_fd_p)
    };
    match raw_socket::create(domain, kind, protocol) {
        Ok(fd) => {
            // SAFETY: the caller's promise.
            unsafe { fd_p.write(fd) };
            UCS_OK
        }
        Err(e) => {
            ucs_error!("cannot make a socket of family {domain} and type {kind}: {e}");
            UCS_ERR_IO_ERROR
        }
    }
}

/// getsockopt(2) with a status; the option has to have `optlen` bytes. `ucs/sys/sock.h`.
///
/// - `fd` (in): Descriptor of a socket.
/// - `level` (in): As of the system call.
/// - `optname` (in): As of the system call.
/// - `optval` (out): Gets the value.
/// - `optlen` (in): Bytes of the value.
/// - returns: UCS_OK, or an error; the cause is logged.
///
/// # Safety
/// `optval` is writable for `optlen` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_socket_getopt(
    fd: c_int,
    level: c_int,
    optname: c_int,
    optval: *mut c_void,
    optlen: socklen_t,
) -> ucs_status_t {
    // SAFETY: the caller's promise.
    match unsafe { raw_socket::option(fd, level, optname, optval, optlen) } {
        Ok(len) if len == optlen => UCS_OK,
        Ok(len) => {
            ucs_error!("option {optname} of descriptor {fd} has {len} bytes, not {optlen}");
            UCS_ERR_IO_ERROR
        }
        Err(e) => {
            ucs_error!("cannot get option {optname} of descriptor {fd}: {e}");
            UCS_ERR_IO_ERROR
        }
    }
}

/// connect(2) with a status. UCS_INPROGRESS: not decided yet; UCS_ERR_ALREADY_EXISTS: it is connected;
/// UCS_ERR_UNREACHABLE. `ucs/sys/sock.h`.
///
/// - `fd` (in): Descriptor of a socket.
/// - `dest_addr` (in): Address of the peer.
/// - returns: UCS_OK. UCS_INPROGRESS: not decided yet. UCS_ERR_ALREADY_EXISTS: it is connected.
///   UCS_ERR_UNREACHABLE or another error.
///
/// # Safety
/// `dest_addr` is null or a socket address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_socket_connect(fd: c_int, dest_addr: *const sockaddr) -> ucs_status_t {
    // SAFETY: the caller's address.
    let to = match unsafe { address::read(dest_addr) } {
        Ok(to) => to,
        Err(status) => return status.code(),
    };
    loop {
        // SAFETY: an address of that size.
        let done = unsafe { raw_socket::connect(fd, dest_addr, address::size_of_addr(&to)) };
        let Err(e) = done else { return UCS_OK };
        match e.raw_os_error() {
            Some(libc::EINTR) => {}
            Some(libc::EINPROGRESS) => return UCS_INPROGRESS,
            Some(libc::EISCONN) => return UCS_ERR_ALREADY_EXISTS,
            _ => {
                let to = address::format(&to);
                ucs_error!("descriptor {fd} cannot be connected to {to}: {e}");
                return UCS_ERR_UNREACHABLE;
            }
        }
    }
}

/// accept(2) with a status. UCS_ERR_NO_PROGRESS: nobody waits. `ucs/sys/sock.h`.
///
/// - `fd` (in): Descriptor of a socket.
/// - `addr` (out): Gets the client's address; may be NULL.
/// - `length_ptr` (in,out): Bytes of that.
/// - `accept_fd` (out): The connection.
/// - returns: UCS_OK; UCS_ERR_NO_PROGRESS: nobody waits; another error.
///
/// # Safety
/// `addr` is writable for `*length_ptr` bytes or both are null, `accept_fd` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_socket_accept(
    fd: c_int,
    addr: *mut sockaddr,
    length_ptr: *mut socklen_t,
    accept_fd: *mut c_int,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; accept_fd);
    // SAFETY: the caller's promise.
    let accepted = unsafe { raw_socket::accept(fd, addr, length_ptr) };
    match accepted {
        Ok(new) => {
            // SAFETY: checked above; the caller vouches for it.
            unsafe { accept_fd.write(new) };
            UCS_OK
        }
        Err(e) => match e.raw_os_error() {
            Some(libc::EAGAIN | libc::EINTR) => UCS_ERR_NO_PROGRESS,
            _ => failed("accept()", fd, &e).code(),
        },
    }
}

/// Writes an address and its length.
///
/// # Safety
/// Both are null or writable.
unsafe fn store(
    (address, len): (sockaddr_storage, socklen_t),
    out: *mut sockaddr_storage,
    out_len: *mut socklen_t,
) {
    if !out.is_null() {
        // SAFETY: the caller's promise.
        unsafe { out.write(address) };
    }
    if !out_len.is_null() {
        // SAFETY: as above.
        unsafe { out_len.write(len) };
    }
}

/// getsockname(2) with a status. `ucs/sys/sock.h`.
///
/// - `fd` (in): Descriptor of a socket.
/// - `sock_addr` (out): The socket's own address.
/// - `addr_len` (out): Its bytes.
/// - returns: UCS_OK, or an error; the cause is logged.
///
/// # Safety
/// `sock_addr` and `addr_len` are null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_socket_getname(
    fd: c_int,
    sock_addr: *mut sockaddr_storage,
    addr_len: *mut socklen_t,
) -> ucs_status_t {
    match raw_socket::own_address(fd) {
        Ok(own) => {
            // SAFETY: the caller's places.
            unsafe { store(own, sock_addr, addr_len) };
            UCS_OK
        }
        Err(e) => failed("getsockname()", fd, &e).code(),
    }
}

/// The address of a socket as text, "-" where it has none; answers `str`. `ucs/sys/sock.h`.
///
/// - `fd` (in): Descriptor of a socket.
/// - `str` (out): Gets the text with its NUL, cut to fit.
/// - `max_size` (in): Bytes of that buffer.
/// - returns: `str`.
///
/// # Safety
/// `str` is null or writable for `max_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_socket_getname_str(
    fd: c_int,
    str: *mut c_char,
    max_size: usize,
) -> *const c_char {
    let text = match raw_socket::own_address(fd) {
        // SAFETY: the kernel's address.
        Ok((own, _)) => match unsafe { address::read_ip((&raw const own).cast()) } {
            Some(own) => address::format(&own),
            None => address::NOT_IP.to_owned(),
        },
        Err(e) => {
            failed("getsockname()", fd, &e);
            "-".to_owned()
        }
    };
    // SAFETY: the caller's room.
    unsafe { put_text(str, max_size, &text) };
    str
}

/// getpeername(2) with a status. UCS_ERR_NOT_CONNECTED. `ucs/sys/sock.h`.
///
/// - `fd` (in): Descriptor of a socket.
/// - `peer_addr` (out): The peer's address.
/// - `peer_addr_len` (out): Its bytes.
/// - returns: UCS_OK; UCS_ERR_NOT_CONNECTED; another error.
///
/// # Safety
/// `peer_addr` and `peer_addr_len` are null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_socket_getpeername(
    fd: c_int,
    peer_addr: *mut sockaddr_storage,
    peer_addr_len: *mut socklen_t,
) -> ucs_status_t {
    match raw_socket::peer_address(fd) {
        Ok(peer) => {
            // SAFETY: the caller's places.
            unsafe { store(peer, peer_addr, peer_addr_len) };
            UCS_OK
        }
        Err(e) if e.raw_os_error() == Some(libc::ENOTCONN) => UCS_ERR_NOT_CONNECTED,
        Err(e) => failed("getpeername()", fd, &e).code(),
    }
}

/// 1 for a connected socket, else 0. `ucs/sys/sock.h`.
///
/// - `fd` (in): Descriptor of a socket.
/// - returns: 1 or 0.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_socket_is_connected(fd: c_int) -> c_int {
    c_int::from(raw_socket::peer_address(fd).is_ok())
}

/// Sets the buffers of a socket, but for sizes that are UCS_MEMUNITS_AUTO. `ucs/sys/sock.h`.
///
/// - `fd` (in): Descriptor of a socket.
/// - `sockopt_sndbuf` (in): Bytes of the send buffer; UCS_MEMUNITS_AUTO leaves it.
/// - `sockopt_rcvbuf` (in): Bytes of the receive buffer; UCS_MEMUNITS_AUTO leaves it.
/// - returns: UCS_OK, or an error; the cause is logged.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_socket_set_buffer_size(
    fd: c_int,
    sockopt_sndbuf: usize,
    sockopt_rcvbuf: usize,
) -> ucs_status_t {
    use crate::ucs::memunits::AUTO;
    let sizes = [
        (libc::SO_SNDBUF, sockopt_sndbuf),
        (libc::SO_RCVBUF, sockopt_rcvbuf),
    ];
    for (option, size) in sizes {
        if size == AUTO {
            continue;
        }
        let size = c_int::try_from(size).unwrap_or(c_int::MAX);
        if let Err(e) = raw_socket::set_int(fd, libc::SOL_SOCKET, option, size) {
            return failed("setsockopt()", fd, &e).code();
        }
    }
    UCS_OK
}

/// A socket that listens and does not block. UCS_ERR_BUSY: the address is taken. `ucs/sys/sock.h`.
///
/// - `saddr` (in): Address to bind.
/// - `socklen` (in): Its bytes.
/// - `backlog` (in): Connections that may wait.
/// - `silent_bind` (in): Nonzero: an address that is taken is no error in the log.
/// - `reuse_addr` (in): Nonzero: sets SO_REUSEADDR.
/// - `listen_fd` (out): The socket.
/// - returns: UCS_OK; UCS_ERR_BUSY: the address is taken; another error.
///
/// # Safety
/// `saddr` is readable for `socklen` bytes, `listen_fd` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_socket_server_init(
    saddr: *const sockaddr,
    socklen: socklen_t,
    backlog: c_int,
    silent_bind: c_int,
    reuse_addr: c_int,
    listen_fd: *mut c_int,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; saddr, listen_fd);
    // SAFETY: every address begins with its family.
    let family = c_int::from(unsafe { (*saddr).sa_family });
    let fd = match raw_socket::create(family, libc::SOCK_STREAM, 0) {
        Ok(fd) => fd,
        Err(e) => {
            ucs_error!("cannot make a socket of family {family}: {e}");
            return UCS_ERR_IO_ERROR;
        }
    };
    let listening = || -> Result<()> {
        raw_socket::set_nonblocking(fd).map_err(|e| failed("fcntl()", fd, &e))?;
        if reuse_addr != 0 {
            raw_socket::set_int(fd, libc::SOL_SOCKET, libc::SO_REUSEADDR, 1)
                .map_err(|e| failed("setsockopt()", fd, &e))?;
        }
        // SAFETY: the caller's address.
        let bound = unsafe { raw_socket::bind(fd, saddr, socklen) };
        bound
            .and_then(|()| raw_socket::listen(fd, backlog))
            .map_err(|e| {
                // SAFETY: the caller's address.
                let at = unsafe { address::read_ip(saddr) }.map(|at| address::format(&at));
                let at = at.as_deref().unwrap_or(address::NOT_IP);
                match e.raw_os_error() {
                    Some(libc::EADDRINUSE) => {
                        ucs_debug!("cannot listen at {at}: {e}");
                        Status::BUSY
                    }
                    _ if silent_bind != 0 => {
                        ucs_debug!("cannot listen at {at}: {e}");
                        Status::IO_ERROR
                    }
                    _ => {
                        ucs_error!("cannot listen at {at}: {e}");
                        Status::IO_ERROR
                    }
                }
            })
    };
    let done = listening();
    if done.is_ok() {
        // SAFETY: checked above; the caller vouches for it.
        unsafe { listen_fd.write(fd) };
    } else if let Err(e) = raw_socket::close(fd) {
        ucs_debug!("cannot close descriptor {fd}: {e}");
    }
    code_of(&done)
}

/// Most connections that may wait to be accepted. `ucs/sys/sock.h`.
///
/// - returns: Their number.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_socket_max_conn() -> c_int {
    let most = net::most_waiting().and_then(|most| c_int::try_from(most).ok());
    most.unwrap_or(libc::SOMAXCONN)
}

/// Writes how many bytes went, and what that means. Without any, the peer is gone, unless none were asked for.
///
/// # Safety
/// `length_p` is writable.
unsafe fn moved(
    fd: c_int,
    done: io::Result<usize>,
    asked: usize,
    receives: bool,
    length_p: *mut usize,
) -> ucs_status_t {
    let (len, status) = match done {
        Ok(0) if receives && asked == 0 => (0, UCS_ERR_NO_PROGRESS),
        Ok(0) if receives => (0, UCS_ERR_NOT_CONNECTED),
        Ok(len) => (len, UCS_OK),
        Err(e) => (0, transfer_status(fd, &e).code()),
    };
    // SAFETY: the caller's promise.
    unsafe { length_p.write(len) };
    status
}

/// Sends what goes now of `*length_p` bytes, which becomes how many went. UCS_ERR_NO_PROGRESS: none now.
/// `ucs/sys/sock.h`.
///
/// - `fd` (in): Descriptor of a socket.
/// - `data` (in): The bytes.
/// - `length_p` (in,out): Bytes to send; then how many went.
/// - returns: UCS_OK; UCS_ERR_NO_PROGRESS: none now; another error.
///
/// # Safety
/// `length_p` is readable and writable, `data` has that many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_socket_send_nb(
    fd: c_int,
    data: *const c_void,
    length_p: *mut usize,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; length_p);
    // SAFETY: checked above; the caller vouches for it.
    let len = unsafe { length_p.read() };
    // SAFETY: the caller's promise.
    let sent = unsafe { raw_socket::send(fd, data, len) };
    // SAFETY: as above.
    unsafe { moved(fd, sent, len, false, length_p) }
}

/// Receives what is there, at most `*length_p` bytes, which becomes how many came: `(fd, data, flags, length_p)`.
/// UCS_ERR_NO_PROGRESS: none now; UCS_ERR_NOT_CONNECTED: none will come. `ucs/sys/sock.h`.
///
/// # Safety
/// `length_p` is readable and writable, `data` has room for that many bytes.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_socket_recv_nb() {
    jump!(recv_of_any_release);
}

/// Before 1.18 the third argument is `length_p`.
///
/// # Safety
/// As for `ucs_socket_recv_nb`. Only a call of the new form passes the last argument.
unsafe extern "C" fn recv_of_any_release(
    fd: c_int,
    data: *mut c_void,
    flags_or_length_p: *mut usize,
    length_p: *mut usize,
) -> ucs_status_t {
    let (flags, length_p) = if flags_or_length_p.addr() < LARGEST_NUMBER {
        (flags_or_length_p.addr() as c_int, length_p)
    } else {
        (0, flags_or_length_p)
    };
    non_null!(UCS_ERR_INVALID_PARAM; length_p);
    // SAFETY: checked above; the caller vouches for it.
    let len = unsafe { length_p.read() };
    // SAFETY: the caller's promise.
    let received = unsafe { raw_socket::recv(fd, data, len, flags) };
    // SAFETY: as above.
    unsafe { moved(fd, received, len, true, length_p) }
}

/// Sends what goes now of several blocks; `*length_p` becomes how many bytes went. UCS_ERR_NO_PROGRESS: none now.
/// `ucs/sys/sock.h`.
///
/// - `fd` (in): Descriptor of a socket.
/// - `iov` (in): The blocks.
/// - `iov_cnt` (in): Their number.
/// - `length_p` (out): Bytes that went.
/// - returns: UCS_OK; UCS_ERR_NO_PROGRESS: none now; another error.
///
/// # Safety
/// `iov` has `iov_cnt` blocks, `length_p` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_socket_sendv_nb(
    fd: c_int,
    iov: *mut iovec,
    iov_cnt: usize,
    length_p: *mut usize,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; length_p);
    // SAFETY: the caller's promise.
    let sent = unsafe { raw_socket::send_blocks(fd, iov, iov_cnt) };
    // SAFETY: as above.
    unsafe { moved(fd, sent, usize::MAX, false, length_p) }
}

/// Repeats a transfer until all bytes went.
fn all(
    fd: c_int,
    length: usize,
    sends: bool,
    mut some: impl FnMut(usize) -> io::Result<usize>,
) -> ucs_status_t {
    let mut done = 0;
    while done < length {
        match some(done) {
            Ok(0) if !sends => return UCS_ERR_NOT_CONNECTED,
            Ok(len) => done += len,
            Err(e) => match transfer_status(fd, &e) {
                Status::NO_PROGRESS => raw_socket::wait(fd, sends),
                status => return status.code(),
            },
        }
    }
    UCS_OK
}

/// Sends all bytes; waits for the socket. `ucs/sys/sock.h`.
///
/// - `fd` (in): Descriptor of a socket.
/// - `data` (in): The bytes.
/// - `length` (in): Their number.
/// - returns: UCS_OK, or an error.
///
/// # Safety
/// `data` has `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_socket_send(
    fd: c_int,
    data: *const c_void,
    length: usize,
) -> ucs_status_t {
    all(fd, length, true, |done| {
        // SAFETY: `done` is below `length`.
        unsafe { raw_socket::send(fd, data.wrapping_byte_add(done), length - done) }
    })
}

/// Receives so many bytes; waits for them. UCS_ERR_NOT_CONNECTED: they will not come. `ucs/sys/sock.h`.
///
/// - `fd` (in): Descriptor of a socket.
/// - `data` (out): Gets the bytes.
/// - `length` (in): Their number.
/// - returns: UCS_OK; UCS_ERR_NOT_CONNECTED: they will not come; another error.
///
/// # Safety
/// `data` has room for `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_socket_recv(
    fd: c_int,
    data: *mut c_void,
    length: usize,
) -> ucs_status_t {
    all(fd, length, false, |done| {
        // SAFETY: `done` is below `length`.
        unsafe { raw_socket::recv(fd, data.wrapping_byte_add(done), length - done, 0) }
    })
}

/// 1 for flags of an interface that is up and running, else 0. `ucs/sys/sock.h`.
///
/// - `flags` (in): IFF_* bits.
/// - returns: 1 or 0.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_netif_flags_is_active(flags: c_uint) -> c_int {
    let wanted = (libc::IFF_UP | libc::IFF_RUNNING) as c_uint;
    c_int::from(flags & wanted == wanted)
}

/// ioctl(2) of an interface by its name, which is written into `if_req`. `ucs/sys/sock.h`.
///
/// - `if_name` (in): Name of a network interface, NUL-terminated.
/// - `request` (in): SIOCGIF* number.
/// - `if_req` (in,out): Gets the answer.
/// - returns: UCS_OK, or an error; the cause is logged.
///
/// # Safety
/// `if_name` is null or a C string, `if_req` null or what the request needs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_netif_ioctl(
    if_name: *const c_char,
    request: c_ulong,
    if_req: *mut ifreq,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; if_name, if_req);
    // SAFETY: the caller's string.
    let name = unsafe { CStr::from_ptr(if_name) };
    // SAFETY: the caller's request.
    match raw_socket::ask_interface(name, request, unsafe { &mut *if_req }) {
        Ok(()) => UCS_OK,
        Err(e) => {
            ucs_debug!(
                "request {request:#x} of interface {} failed: {e}",
                name.to_string_lossy()
            );
            UCS_ERR_IO_ERROR
        }
    }
}

/// An address of an active interface, of one family or any.
fn address_of(name: Option<&str>, family: c_int) -> Option<net::Address> {
    let all = net::addresses().unwrap_or_default().into_iter();
    let mut fitting = all.filter(|address| match address.ip {
        IpAddr::V4(_) => family == libc::AF_INET || family == libc::AF_UNSPEC,
        IpAddr::V6(_) => family == libc::AF_INET6 || family == libc::AF_UNSPEC,
    });
    fitting.find(|address| name.is_none_or(|name| address.name == name))
}

/// 1 for an interface that is up and running with an address of this family, else 0. `ucs/sys/sock.h`.
///
/// - `if_name` (in): Name of a network interface, NUL-terminated.
/// - `af` (in): AF_INET or AF_INET6.
/// - returns: 1 or 0.
///
/// # Safety
/// `if_name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_netif_is_active(
    if_name: *const c_char,
    af: libc::sa_family_t,
) -> c_int {
    // SAFETY: the caller's string.
    let name = (!if_name.is_null()).then(|| unsafe { text_of(if_name) });
    c_int::from(address_of(name.as_deref(), c_int::from(af)).is_some())
}

/// The address and the mask of an active interface, any for `if_name` NULL. UCS_ERR_NO_DEVICE. `ucs/sys/sock.h`.
///
/// - `if_name` (in): Name of a network interface, NUL-terminated; NULL for any.
/// - `af` (in): AF_INET or AF_INET6.
/// - `saddr` (out): Gets the address; may be NULL.
/// - `netmask` (out): Gets the mask; may be NULL.
/// - returns: UCS_OK; UCS_ERR_NO_DEVICE when no interface fits.
///
/// # Safety
/// `if_name` is null or a C string, `saddr` and `netmask` are null or have room for an address of that family.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_netif_get_addr(
    if_name: *const c_char,
    af: libc::sa_family_t,
    saddr: *mut sockaddr,
    netmask: *mut sockaddr,
) -> ucs_status_t {
    // SAFETY: the caller's string.
    let name = (!if_name.is_null()).then(|| unsafe { text_of(if_name) });
    let Some(found) = address_of(name.as_deref(), c_int::from(af)) else {
        let wanted = name.as_deref().unwrap_or("of any name");
        ucs_debug!("there is no active interface {wanted} with an address of family {af}");
        return UCS_ERR_NO_DEVICE;
    };
    let mut own = SocketAddr::new(found.ip, 0);
    if let SocketAddr::V6(own) = &mut own {
        own.set_scope_id(found.scope);
    }
    let mask = match found.ip {
        IpAddr::V4(_) => {
            let bits = u32::MAX
                .checked_shl(32 - u32::from(found.prefix))
                .unwrap_or(0);
            IpAddr::V4(bits.into())
        }
        IpAddr::V6(_) => {
            let bits = u128::MAX
                .checked_shl(128 - u32::from(found.prefix))
                .unwrap_or(0);
            IpAddr::V6(bits.into())
        }
    };
    for (out, address) in [(saddr, own), (netmask, SocketAddr::new(mask, 0))] {
        if !out.is_null() {
            // SAFETY: the caller's room.
            unsafe { address::write(out, &address) };
        }
    }
    UCS_OK
}

/// Ports that an interface bonds; 1 for one that is no bond. `ucs/sys/sock.h`.
///
/// - `if_name` (in): Name of a network interface, NUL-terminated.
/// - returns: Number of ports, at least 1.
///
/// # Safety
/// `if_name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_netif_bond_ad_num_ports(if_name: *const c_char) -> c_uint {
    // SAFETY: the caller's string.
    net::bonded_ports(&unsafe { text_of(if_name) })
}

/// The device that an interface stands on, as a path in sysfs, cut to `max` bytes. `ucs/sys/sock.h`.
///
/// - `if_name` (in): Name of a network interface, NUL-terminated.
/// - `path_buffer` (out): Gets the path with its NUL.
/// - `max` (in): Bytes of that buffer.
/// - returns: UCS_OK, or an error; the cause is logged.
///
/// # Safety
/// `if_name` is null or a C string, `path_buffer` null or writable for `max` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_netif_get_lowest_device_path(
    if_name: *const c_char,
    path_buffer: *mut c_char,
    max: usize,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; if_name, path_buffer);
    // SAFETY: the caller's string.
    let path = net::lowest_device(&unsafe { text_of(if_name) });
    // SAFETY: the caller's room.
    unsafe { put_text(path_buffer, max, &path.to_string_lossy()) };
    UCS_OK
}

/// The interface that has a socket's own address. UCS_ERR_NO_DEVICE. `ucs/sys/sock.h`.
///
/// - `fd` (in): Descriptor of a socket.
/// - `ifname_str` (out): Gets the name with its NUL.
/// - `max_strlen` (in): Bytes of that buffer.
/// - returns: UCS_OK; UCS_ERR_NO_DEVICE when no interface has it; another error.
///
/// # Safety
/// `ifname_str` is null or writable for `max_strlen` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_sockaddr_get_ifname(
    fd: c_int,
    ifname_str: *mut c_char,
    max_strlen: usize,
) -> ucs_status_t {
    let own = match raw_socket::own_address(fd) {
        Ok((own, _)) => own,
        Err(e) => return failed("getsockname()", fd, &e).code(),
    };
    // SAFETY: the kernel's address.
    let own = unsafe { address::read_ip((&raw const own).cast()) };
    let all = net::addresses().unwrap_or_default();
    match all.iter().find(|a| Some(a.ip) == own.map(|own| own.ip())) {
        Some(found) => {
            // SAFETY: the caller's room.
            unsafe { put_text(ifname_str, max_strlen, &found.name) };
            UCS_OK
        }
        None => UCS_ERR_NO_DEVICE,
    }
}

/// The ports that the system gives to sockets by itself. `ucs/sys/sock.h`.
///
/// - `port_range` (out): First and last port.
/// - returns: UCS_OK, or an error; the cause is logged.
///
/// # Safety
/// `port_range` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_sockaddr_get_ip_local_port_range(
    port_range: *mut ucs_range_spec_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; port_range);
    let Some((first, last)) = net::local_ports() else {
        return UCS_ERR_IO_ERROR;
    };
    let range = ucs_range_spec_t {
        first: c_uint::from(first),
        last: c_uint::from(last),
    };
    // SAFETY: checked above; the caller vouches for it.
    unsafe { port_range.write(range) };
    UCS_OK
}
