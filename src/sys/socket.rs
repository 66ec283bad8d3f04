//! `Socket`: a non-blocking, close-on-exec stream socket over IPv4 or IPv6 that owns its descriptor.
//!
//! Listening, connecting, options, and transfer of bytes with or without gathering. Every call
//! answers at once; `WouldBlock` is an error like any other, EINTR is retried here.

use super::safe_calls::{self, retry};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

/// A block of memory for gathering and scattering, as the kernel takes it.
pub type IoVec = libc::iovec;

/// Most blocks of one call.
pub const MAX_IOVECS: usize = libc::UIO_MAXIOV as usize;

/// What epoll is asked for, by meaning.
pub const READABLE: u32 = libc::EPOLLIN as u32;
pub const WRITABLE: u32 = libc::EPOLLOUT as u32;

/// A block of memory. Nothing is read or written until it is passed to a call.
pub fn block(p: *const u8, len: usize) -> IoVec {
    IoVec {
        iov_base: p.cast_mut().cast(),
        iov_len: len,
    }
}

/// Repetitions without an answer that make a silence.
const UNANSWERED: u8 = 3;

#[derive(Debug)]
pub struct Socket {
    fd: OwnedFd,
}

/// How a connection attempt stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connecting {
    Done,
    /// Writable once it is decided; then ask `take_error`.
    Started,
}

/// Options that a stream socket is made with; `None` leaves the system's default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    pub nodelay: bool,
    pub send_buffer: Option<usize>,
    pub receive_buffer: Option<usize>,
    pub syn_count: Option<u32>,
    /// How long sent data may stay unacknowledged before the connection is given up.
    pub user_timeout: Option<Duration>,
    pub keepalive: Option<Keepalive>,
    /// What is sent leaves as fast as it is taken: no congestion control that spaces packets out in time. For peers
    /// on this host, between which nothing is congested.
    pub unpaced: bool,
}

/// Probing of an idle peer by the kernel.
#[derive(Clone, Copy, Debug)]
pub struct Keepalive {
    pub idle: Option<Duration>,
    pub interval: Option<Duration>,
    pub count: Option<u32>,
}

/// Has the kernel acknowledge every second segment of a socket on which nothing is sent, where it would each.
pub fn delay_acks(fd: RawFd) {
    let off = 0i32.to_ne_bytes();
    // Without it messages take longer, and that is all.
    let _ = safe_calls::setsockopt(fd, libc::IPPROTO_TCP, libc::TCP_QUICKACK, &off);
}

impl Socket {
    /// An unbound stream socket of the address family of `ip`.
    pub fn stream(ip: IpAddr) -> io::Result<Socket> {
        let family = match ip {
            IpAddr::V4(_) => libc::AF_INET,
            IpAddr::V6(_) => libc::AF_INET6,
        };
        let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: takes no pointer; the result is checked before it is owned.
        let fd = unsafe { libc::socket(family, kind, libc::IPPROTO_TCP) };
        own(fd)
    }

    pub fn raw(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    pub fn bind(&self, addr: SocketAddr) -> io::Result<()> {
        let (raw, len) = to_raw(addr);
        // SAFETY: the pointer and the length describe a readable local.
        check(unsafe { libc::bind(self.raw(), (&raw const raw).cast(), len) }).map(drop)
    }

    /// Binds to an address whose port is chosen by `connect`, so that ports are not used up early.
    pub fn bind_source(&self, ip: IpAddr, scope: u32) -> io::Result<()> {
        // Where the kernel lacks the option the port is chosen now, which is all the same.
        let _ = self.set_int(libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, 1);
        self.bind(with_scope(ip, 0, scope))
    }

    pub fn reuse_address(&self, on: bool) -> io::Result<()> {
        self.set_int(libc::SOL_SOCKET, libc::SO_REUSEADDR, on.into())
    }

    pub fn listen(&self, backlog: i32) -> io::Result<()> {
        // SAFETY: takes no pointer.
        check(unsafe { libc::listen(self.raw(), backlog) }).map(drop)
    }

    /// Takes one connection off the queue.
    pub fn accept(&self) -> io::Result<(Socket, SocketAddr)> {
        let mut raw = Raw::default();
        let mut len = size_of::<Raw>() as libc::socklen_t;
        let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        let fd = retry(|| {
            // SAFETY: `raw` is writable for `len` bytes.
            unsafe { libc::accept4(self.raw(), (&raw mut raw).cast(), &mut len, flags) as isize }
        })?;
        let socket = own(fd as i32)?;
        let addr = from_raw(&raw).ok_or(io::ErrorKind::Unsupported)?;
        Ok((socket, addr))
    }

    pub fn connect(&self, addr: SocketAddr) -> io::Result<Connecting> {
        let (raw, len) = to_raw(addr);
        // SAFETY: the pointer and the length describe a readable local.
        let rc = unsafe { libc::connect(self.raw(), (&raw const raw).cast(), len) };
        if rc == 0 {
            return Ok(Connecting::Done);
        }
        let e = io::Error::last_os_error();
        match e.raw_os_error() {
            // An interrupted connect goes on by itself.
            Some(libc::EINPROGRESS | libc::EINTR) => Ok(Connecting::Started),
            _ => Err(e),
        }
    }

    /// The error that the socket has collected; taking it clears it.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        let code = self.get_int(libc::SOL_SOCKET, libc::SO_ERROR)?;
        Ok((code != 0).then(|| io::Error::from_raw_os_error(code)))
    }

    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        let mut raw = Raw::default();
        let mut len = size_of::<Raw>() as libc::socklen_t;
        // SAFETY: `raw` is writable for `len` bytes.
        check(unsafe { libc::getsockname(self.raw(), (&raw mut raw).cast(), &mut len) })?;
        from_raw(&raw).ok_or_else(|| io::ErrorKind::Unsupported.into())
    }

    /// `ENOTCONN` until the socket is connected.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        let mut raw = Raw::default();
        let mut len = size_of::<Raw>() as libc::socklen_t;
        // SAFETY: `raw` is writable for `len` bytes.
        check(unsafe { libc::getpeername(self.raw(), (&raw mut raw).cast(), &mut len) })?;
        from_raw(&raw).ok_or_else(|| io::ErrorKind::Unsupported.into())
    }

    /// How long the peer's host has answered nothing although the kernel keeps asking; `None` while
    /// it answers or there is nothing to answer.
    pub fn silence(&self) -> io::Result<Option<Duration>> {
        // SAFETY: tcp_info is plain integers; all zeros is a value of it.
        let mut info: libc::tcp_info = unsafe { core::mem::zeroed() };
        let mut len = size_of::<libc::tcp_info>() as libc::socklen_t;
        let (level, name) = (libc::IPPROTO_TCP, libc::TCP_INFO);
        // SAFETY: `info` is writable for `len` bytes.
        check(unsafe {
            libc::getsockopt(self.raw(), level, name, (&raw mut info).cast(), &mut len)
        })?;
        // A peer that does not read answers probes: only questions without answer count.
        let asked = info.tcpi_retransmits.max(info.tcpi_probes);
        let age = Duration::from_millis(info.tcpi_last_ack_recv.into());
        Ok((asked >= UNANSWERED).then_some(age))
    }

    /// Payload of the longest segment of a connection, in bytes.
    pub fn max_segment(&self) -> usize {
        self.get_int(libc::IPPROTO_TCP, libc::TCP_MAXSEG)
            .map_or(0, |bytes| usize::try_from(bytes).unwrap_or(0))
    }

    /// No more bytes will be sent: the peer reads to the end of the stream.
    pub fn shutdown_send(&self) -> io::Result<()> {
        // SAFETY: takes no pointer.
        check(unsafe { libc::shutdown(self.raw(), libc::SHUT_WR) }).map(drop)
    }

    /// The connection ends: the peer reads to the end of the stream, and so does this side, once it
    /// has read what is here. One that has ended already stays so.
    pub fn shutdown(&self) {
        // SAFETY: takes no pointer.
        unsafe { libc::shutdown(self.raw(), libc::SHUT_RDWR) };
    }

    pub fn set_options(&self, options: &Options) -> io::Result<()> {
        let int = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
        if options.nodelay {
            self.set_int(libc::IPPROTO_TCP, libc::TCP_NODELAY, 1)?;
        }
        if let Some(n) = options.send_buffer {
            self.set_int(libc::SOL_SOCKET, libc::SO_SNDBUF, int(n))?;
        }
        if let Some(n) = options.receive_buffer {
            self.set_int(libc::SOL_SOCKET, libc::SO_RCVBUF, int(n))?;
        }
        if let Some(n) = options.syn_count {
            self.set_int(libc::IPPROTO_TCP, libc::TCP_SYNCNT, int(n as usize))?;
        }
        if let Some(t) = options.user_timeout {
            let ms = i32::try_from(t.as_millis()).unwrap_or(i32::MAX);
            self.set_int(libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT, ms)?;
        }
        if let Some(k) = options.keepalive {
            let seconds = |t: Duration| i32::try_from(t.as_secs().max(1)).unwrap_or(i32::MAX);
            if let Some(t) = k.idle {
                self.set_int(libc::IPPROTO_TCP, libc::TCP_KEEPIDLE, seconds(t))?;
            }
            if let Some(t) = k.interval {
                self.set_int(libc::IPPROTO_TCP, libc::TCP_KEEPINTVL, seconds(t))?;
            }
            if let Some(n) = k.count {
                self.set_int(libc::IPPROTO_TCP, libc::TCP_KEEPCNT, int(n as usize))?;
            }
            self.set_int(libc::SOL_SOCKET, libc::SO_KEEPALIVE, 1)?;
        }
        if options.unpaced {
            // The one that every kernel has; where it may not be chosen the host's own does.
            let _ = self.set_bytes(libc::IPPROTO_TCP, libc::TCP_CONGESTION, b"reno");
        }
        Ok(())
    }

    fn set_int(&self, level: i32, name: i32, value: i32) -> io::Result<()> {
        self.set_bytes(level, name, &value.to_ne_bytes())
    }

    fn set_bytes(&self, level: i32, name: i32, value: &[u8]) -> io::Result<()> {
        safe_calls::setsockopt(self.raw(), level, name, value)
    }

    fn get_int(&self, level: i32, name: i32) -> io::Result<i32> {
        let mut value = 0i32;
        let mut len = size_of::<i32>() as libc::socklen_t;
        // SAFETY: `value` is writable for `len` bytes.
        let rc =
            unsafe { libc::getsockopt(self.raw(), level, name, (&raw mut value).cast(), &mut len) };
        check(rc).map(|_| value)
    }

    /// Sends from the front of `bytes`; how many the kernel took.
    #[inline]
    pub fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        send(self.raw(), bytes)
    }

    /// Receives into `buffer`; 0 at the end of the stream.
    #[inline]
    pub fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        recv(self.raw(), buffer)
    }
}

/// As [`Socket::send`], on a descriptor that somebody else owns.
#[inline]
pub fn send(fd: RawFd, bytes: &[u8]) -> io::Result<usize> {
    retry(|| {
        // SAFETY: the pointer and the length describe `bytes`.
        unsafe { libc::send(fd, bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) }
    })
}

/// As [`Socket::recv`], on a descriptor that somebody else owns.
#[inline]
pub fn recv(fd: RawFd, buffer: &mut [u8]) -> io::Result<usize> {
    recv_with(fd, buffer, 0)
}

/// As [`recv`], but the bytes stay to be received.
pub fn peek(fd: RawFd, buffer: &mut [u8]) -> io::Result<usize> {
    recv_with(fd, buffer, libc::MSG_PEEK)
}

#[inline]
fn recv_with(fd: RawFd, buffer: &mut [u8], flags: i32) -> io::Result<usize> {
    retry(|| {
        // SAFETY: the pointer and the length describe `buffer`, writable for the whole call.
        unsafe { libc::recv(fd, buffer.as_mut_ptr().cast(), buffer.len(), flags) }
    })
}

/// Sends the blocks one after the other; how many bytes the kernel took. More than `MAX_IOVECS`
/// blocks are cut off.
///
/// # Safety
/// Each block must be readable.
pub unsafe fn send_blocks(fd: RawFd, blocks: &[IoVec]) -> io::Result<usize> {
    let message = message_of(blocks);
    retry(|| {
        // SAFETY: `message` describes `blocks`, which are readable by the caller's promise.
        unsafe { libc::sendmsg(fd, &message, libc::MSG_NOSIGNAL) }
    })
}

/// Receives into the blocks, filling one after the other; 0 at the end of the stream.
///
/// # Safety
/// Each block must be writable, and nobody else may hold a reference to it.
pub unsafe fn recv_blocks(fd: RawFd, blocks: &[IoVec]) -> io::Result<usize> {
    let mut message = message_of(blocks);
    retry(|| {
        // SAFETY: `message` describes `blocks`, which are writable by the caller's promise.
        unsafe { libc::recvmsg(fd, &mut message, 0) }
    })
}

fn message_of(blocks: &[IoVec]) -> libc::msghdr {
    // SAFETY: msghdr is plain integers and pointers; all zeros is a value of it.
    let mut message: libc::msghdr = unsafe { core::mem::zeroed() };
    message.msg_iov = blocks.as_ptr().cast_mut();
    message.msg_iovlen = blocks.len().min(MAX_IOVECS) as _;
    message
}

fn check(rc: i32) -> io::Result<i32> {
    if rc < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(rc)
    }
}

fn own(fd: i32) -> io::Result<Socket> {
    let fd = check(fd)?;
    // SAFETY: the kernel just made this descriptor and nobody else holds it.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    Ok(Socket { fd })
}

/// A socket address with the scope of a link-local one.
pub fn with_scope(ip: IpAddr, port: u16, scope: u32) -> SocketAddr {
    match ip {
        IpAddr::V4(ip) => SocketAddr::V4(SocketAddrV4::new(ip, port)),
        IpAddr::V6(ip) => SocketAddr::V6(SocketAddrV6::new(ip, port, 0, scope)),
    }
}

/// Room for either family.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) union Raw {
    family: libc::sa_family_t,
    v4: libc::sockaddr_in,
    v6: libc::sockaddr_in6,
}

impl Default for Raw {
    fn default() -> Raw {
        // SAFETY: plain integers; all zeros is a value of each member.
        unsafe { core::mem::zeroed() }
    }
}

pub(super) fn to_raw(addr: SocketAddr) -> (Raw, libc::socklen_t) {
    let mut raw = Raw::default();
    let len = match addr {
        SocketAddr::V4(a) => {
            raw.v4 = libc::sockaddr_in {
                sin_family: libc::AF_INET as libc::sa_family_t,
                sin_port: a.port().to_be(),
                sin_addr: libc::in_addr {
                    s_addr: u32::from_ne_bytes(a.ip().octets()),
                },
                sin_zero: [0; 8],
            };
            size_of::<libc::sockaddr_in>()
        }
        SocketAddr::V6(a) => {
            raw.v6 = libc::sockaddr_in6 {
                sin6_family: libc::AF_INET6 as libc::sa_family_t,
                sin6_port: a.port().to_be(),
                sin6_flowinfo: a.flowinfo(),
                sin6_addr: libc::in6_addr {
                    s6_addr: a.ip().octets(),
                },
                sin6_scope_id: a.scope_id(),
            };
            size_of::<libc::sockaddr_in6>()
        }
    };
    (raw, len as libc::socklen_t)
}

/// The address in `raw`; `None` for another family.
pub(super) fn from_raw(raw: &Raw) -> Option<SocketAddr> {
    // SAFETY: every member begins with the family, and the union was zeroed before it was filled.
    match i32::from(unsafe { raw.family }) {
        libc::AF_INET => {
            // SAFETY: the family says which member it is.
            let a = unsafe { raw.v4 };
            let ip = Ipv4Addr::from(a.sin_addr.s_addr.to_ne_bytes());
            Some(SocketAddrV4::new(ip, u16::from_be(a.sin_port)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: the family says which member it is.
            let a = unsafe { raw.v6 };
            let ip = Ipv6Addr::from(a.sin6_addr.s6_addr);
            let port = u16::from_be(a.sin6_port);
            Some(SocketAddrV6::new(ip, port, a.sin6_flowinfo, a.sin6_scope_id).into())
        }
        _ => None,
    }
}

/// Copies what `p` points to, which is as long as its family says.
///
/// # Safety
/// `p` must be null or point to a socket address of its family's size.
pub(super) unsafe fn read_sockaddr(p: *const libc::sockaddr) -> Option<SocketAddr> {
    if p.is_null() {
        return None;
    }
    let mut raw = Raw::default();
    // SAFETY: every socket address begins with its family.
    let len = match i32::from(unsafe { (*p).sa_family }) {
        libc::AF_INET => size_of::<libc::sockaddr_in>(),
        libc::AF_INET6 => size_of::<libc::sockaddr_in6>(),
        _ => return None,
    };
    // SAFETY: the source is as long as its family's struct, the union as long as the longest.
    unsafe {
        core::ptr::copy_nonoverlapping(p.cast::<u8>(), (&raw mut raw).cast(), len);
    }
    from_raw(&raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(socket: &Socket, events: i16) {
        let mut fds = [libc::pollfd {
            fd: socket.raw(),
            events,
            revents: 0,
        }];
        assert_eq!(crate::sys::poll::poll(&mut fds, 10_000).unwrap(), 1);
    }

    fn pair(ip: IpAddr) -> (Socket, Socket) {
        let listener = Socket::stream(ip).unwrap();
        listener.bind(SocketAddr::new(ip, 0)).unwrap();
        listener.listen(8).unwrap();
        let a = Socket::stream(ip).unwrap();
        a.connect(listener.local_addr().unwrap()).unwrap();
        wait(&listener, libc::POLLIN);
        let (b, from) = listener.accept().unwrap();
        assert_eq!(from, a.local_addr().unwrap());
        assert!(a.take_error().unwrap().is_none());
        (a, b)
    }

    #[test]
    fn bytes_and_blocks_arrive_over_both_families() {
        for ip in [
            IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(Ipv6Addr::LOCALHOST),
        ] {
            let (a, b) = pair(ip);
            let blocks = [block(b"one".as_ptr(), 3), block(b"two!".as_ptr(), 4)];
            // SAFETY: both blocks are readable constants.
            assert_eq!(unsafe { send_blocks(a.raw(), &blocks) }.unwrap(), 7);
            wait(&b, libc::POLLIN);
            let (mut x, mut y) = ([0u8; 4], [0u8; 8]);
            let blocks = [block(x.as_mut_ptr(), 4), block(y.as_mut_ptr(), 8)];
            // SAFETY: both blocks are locals of these sizes.
            assert_eq!(unsafe { recv_blocks(b.raw(), &blocks) }.unwrap(), 7);
            assert_eq!((&x, &y[..3]), (b"onet", &b"wo!"[..]));
            let e = b.recv(&mut y).unwrap_err();
            assert_eq!(e.kind(), io::ErrorKind::WouldBlock);
            a.shutdown_send().unwrap();
            wait(&b, libc::POLLIN);
            assert_eq!(b.recv(&mut y).unwrap(), 0);
        }
    }

    #[test]
    fn options_are_taken() {
        let s = Socket::stream(IpAddr::V4(Ipv4Addr::LOCALHOST)).unwrap();
        s.set_options(&Options {
            nodelay: true,
            send_buffer: Some(1 << 16),
            receive_buffer: Some(1 << 16),
            syn_count: Some(3),
            user_timeout: Some(Duration::from_secs(7)),
            keepalive: Some(Keepalive {
                idle: Some(Duration::from_secs(9)),
                interval: Some(Duration::from_millis(10)),
                count: Some(4),
            }),
            unpaced: true,
        })
        .unwrap();
        let get = |name| s.get_int(libc::IPPROTO_TCP, name).unwrap();
        assert_eq!(get(libc::TCP_NODELAY), 1);
        assert_eq!(get(libc::TCP_SYNCNT), 3);
        assert_eq!(get(libc::TCP_USER_TIMEOUT), 7000);
        assert_eq!(get(libc::TCP_KEEPIDLE), 9);
        assert_eq!(get(libc::TCP_KEEPINTVL), 1);
        assert_eq!(get(libc::TCP_KEEPCNT), 4);
        assert_eq!(get(libc::TCP_QUICKACK), 1);
        delay_acks(s.raw());
        assert_eq!(get(libc::TCP_QUICKACK), 0);
        // The kernel's names have at most 15 bytes.
        let mut name = [0u8; 16];
        let mut len = name.len() as libc::socklen_t;
        let at = name.as_mut_ptr().cast();
        // SAFETY: `name` is writable for `len` bytes.
        let rc = unsafe {
            libc::getsockopt(
                s.raw(),
                libc::IPPROTO_TCP,
                libc::TCP_CONGESTION,
                at,
                &mut len,
            )
        };
        assert_eq!((rc, &name[..5]), (0, &b"reno\0"[..]));
    }

    #[test]
    fn descriptors_do_not_leak_into_children() {
        let (a, b) = pair(IpAddr::V4(Ipv4Addr::LOCALHOST));
        for s in [&a, &b] {
            // SAFETY: asks for flags of a live descriptor.
            let flags = unsafe { libc::fcntl(s.raw(), libc::F_GETFD) };
            assert_eq!(flags & libc::FD_CLOEXEC, libc::FD_CLOEXEC);
        }
    }
}
