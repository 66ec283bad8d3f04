//! Sockets and interfaces that a client names by descriptor and by name: one system call each.

use super::safe_calls;
pub use super::safe_calls::{close, setsockopt as set_option};
use core::ffi::{CStr, c_int, c_ulong, c_void};
use libc::{ifreq, iovec, sockaddr, sockaddr_storage, socklen_t};
use std::io;
use std::os::fd::RawFd;

fn cvt(answer: c_int) -> io::Result<c_int> {
    match answer {
        -1 => Err(io::Error::last_os_error()),
        other => Ok(other),
    }
}

pub fn create(domain: i32, kind: i32, protocol: i32) -> io::Result<RawFd> {
    // SAFETY: takes no pointer.
    cvt(unsafe { libc::socket(domain, kind, protocol) })
}

/// How many bytes the option has.
///
/// # Safety
/// `value` is writable for `len` bytes.
pub unsafe fn option(
    fd: RawFd,
    level: i32,
    name: i32,
    value: *mut c_void,
    mut len: socklen_t,
) -> io::Result<socklen_t> {
    // SAFETY: the caller's promise is getsockopt's own.
    cvt(unsafe { libc::getsockopt(fd, level, name, value, &raw mut len) })?;
    Ok(len)
}

pub fn set_int(fd: RawFd, level: i32, name: i32, value: i32) -> io::Result<()> {
    set_option(fd, level, name, &value.to_ne_bytes())
}

/// # Safety
/// `to` is readable for `len` bytes.
pub unsafe fn connect(fd: RawFd, to: *const sockaddr, len: usize) -> io::Result<()> {
    // SAFETY: the caller's promise is connect's own.
    cvt(unsafe { libc::connect(fd, to, len as socklen_t) }).map(drop)
}

/// # Safety
/// `from` and `len` are null, or `from` is writable for `*len` bytes.
pub unsafe fn accept(fd: RawFd, from: *mut sockaddr, len: *mut socklen_t) -> io::Result<RawFd> {
    // SAFETY: the caller's promise is accept's own.
    cvt(unsafe { libc::accept(fd, from, len) })
}

/// # Safety
/// `to` is readable for `len` bytes.
pub unsafe fn bind(fd: RawFd, to: *const sockaddr, len: socklen_t) -> io::Result<()> {
    // SAFETY: the caller's promise is bind's own.
    cvt(unsafe { libc::bind(fd, to, len) }).map(drop)
}

pub fn listen(fd: RawFd, backlog: i32) -> io::Result<()> {
    // SAFETY: takes no pointer.
    cvt(unsafe { libc::listen(fd, backlog) }).map(drop)
}

pub fn set_nonblocking(fd: RawFd) -> io::Result<()> {
    let flags = safe_calls::status_flags(fd)?;
    safe_calls::set_status_flags(fd, flags | libc::O_NONBLOCK)
}

fn address_of(
    call: unsafe extern "C" fn(c_int, *mut sockaddr, *mut socklen_t) -> c_int,
    fd: RawFd,
) -> io::Result<(sockaddr_storage, socklen_t)> {
    let mut len = size_of::<sockaddr_storage>() as socklen_t;
    // SAFETY: zeroes are an address of no family.
    let mut storage: sockaddr_storage = unsafe { core::mem::zeroed() };
    // SAFETY: storage of that size.
    cvt(unsafe { call(fd, (&raw mut storage).cast(), &raw mut len) })?;
    Ok((storage, len))
}

pub fn own_address(fd: RawFd) -> io::Result<(sockaddr_storage, socklen_t)> {
    address_of(libc::getsockname, fd)
}

pub fn peer_address(fd: RawFd) -> io::Result<(sockaddr_storage, socklen_t)> {
    address_of(libc::getpeername, fd)
}

/// # Safety
/// `data` is readable for `len` bytes.
pub unsafe fn send(fd: RawFd, data: *const c_void, len: usize) -> io::Result<usize> {
    // SAFETY: the caller's promise is send's own.
    let sent = unsafe { libc::send(fd, data, len, libc::MSG_NOSIGNAL) };
    cvt_len(sent)
}

/// # Safety
/// `data` is writable for `len` bytes.
pub unsafe fn recv(fd: RawFd, data: *mut c_void, len: usize, flags: i32) -> io::Result<usize> {
    // SAFETY: the caller's promise is recv's own.
    let received = unsafe { libc::recv(fd, data, len, libc::MSG_NOSIGNAL | flags) };
    cvt_len(received)
}

/// # Safety
/// `blocks` has `count` elements, which lead to readable memory.
pub unsafe fn send_blocks(fd: RawFd, blocks: *mut iovec, count: usize) -> io::Result<usize> {
    // SAFETY: zeroes are a message without anything.
    let mut message: libc::msghdr = unsafe { core::mem::zeroed() };
    message.msg_iov = blocks;
    message.msg_iovlen = count as _;
    // SAFETY: the caller's promise is sendmsg's own.
    cvt_len(unsafe { libc::sendmsg(fd, &raw const message, libc::MSG_NOSIGNAL) })
}

fn cvt_len(len: isize) -> io::Result<usize> {
    usize::try_from(len).map_err(|_| io::Error::last_os_error())
}

/// Waits until the descriptor may be read or written.
pub fn wait(fd: RawFd, for_writing: bool) {
    let events = if for_writing {
        libc::POLLOUT
    } else {
        libc::POLLIN
    };
    let polled = libc::pollfd {
        fd,
        events,
        revents: 0,
    };
    // An interrupted wait ends early, which the caller's next try finds out.
    let _ = safe_calls::poll(&mut [polled], -1);
}

/// Asks an interface by its name, which is written into `request`.
pub fn ask_interface(name: &CStr, request: c_ulong, answer: &mut ifreq) -> io::Result<()> {
    answer.ifr_name = [0; libc::IFNAMSIZ];
    let letters = name.to_bytes().iter().take(libc::IFNAMSIZ - 1);
    for (to, from) in answer.ifr_name.iter_mut().zip(letters) {
        *to = *from as _;
    }
    let fd = create(libc::AF_INET, libc::SOCK_STREAM, 0)?;
    // SAFETY: a request of this family has a structure of this type.
    let done = cvt(unsafe { libc::ioctl(fd, request as _, core::ptr::from_mut(answer)) });
    // Nothing was written that closing could lose.
    let _ = close(fd);
    done.map(drop)
}
