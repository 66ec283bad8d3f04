//! `Socket`: a non-blocking, close-on-exec stream socket over IPv4 or IPv6 that owns its descriptor.
//!
//! Listening, connecting, options, and transfer of bytes with or without gathering. Every call
//! answers at once; `WouldBlock` is an error like any other, EINTR is retried here.

use super::safe_calls::{self, retry};
use socket2::{Domain, Protocol, SockAddr, SockAddrStorage, TcpKeepalive, Type};
use std::io;
use std::net::{IpAddr, Shutdown, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsRawFd, RawFd};
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
pub struct Socket(socket2::Socket);

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

/// Has the kernel acknowledge now what was received on a socket, if it has not, and wait with later acknowledgements as before.
pub fn acknowledge(fd: RawFd) {
    // An odd number would be for later ones, too.
    let now = 2i32.to_ne_bytes();
    // Without it the next message takes longer, and that is all.
    let _ = safe_calls::setsockopt(fd, libc::IPPROTO_TCP, libc::TCP_QUICKACK, &now);
}

impl Socket {
    /// An unbound stream socket of the address family of `ip`.
    pub fn stream(ip: IpAddr) -> io::Result<Socket> {
        let family = match ip {
            IpAddr::V4(_) => Domain::IPV4,
            IpAddr::V6(_) => Domain::IPV6,
        };
        let kind = Type::STREAM.nonblocking().cloexec();
        socket2::Socket::new_raw(family, kind, Some(Protocol::TCP)).map(Socket)
    }

    pub fn raw(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    pub fn bind(&self, addr: SocketAddr) -> io::Result<()> {
        self.0.bind(&addr.into())
    }

    /// Binds to an address whose port is chosen by `connect`, so that ports are not used up early.
    pub fn bind_source(&self, ip: IpAddr, scope: u32) -> io::Result<()> {
        // Where the kernel lacks the option the port is chosen now, which is all the same.
        let _ = self.set_int(libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, 1);
        self.bind(with_scope(ip, 0, scope))
    }

    pub fn reuse_address(&self, on: bool) -> io::Result<()> {
        self.0.set_reuse_address(on)
    }

    pub fn listen(&self, backlog: i32) -> io::Result<()> {
        self.0.listen(backlog)
    }

    /// Takes one connection off the queue.
    pub fn accept(&self) -> io::Result<(Socket, SocketAddr)> {
        loop {
            match self.0.accept4(libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                taken => return taken.and_then(|(socket, from)| Ok((Socket(socket), ip(&from)?))),
            }
        }
    }

    pub fn connect(&self, addr: SocketAddr) -> io::Result<Connecting> {
        let Err(e) = self.0.connect(&addr.into()) else {
            return Ok(Connecting::Done);
        };
        match e.raw_os_error() {
            // An interrupted connect goes on by itself.
            Some(libc::EINPROGRESS | libc::EINTR) => Ok(Connecting::Started),
            _ => Err(e),
        }
    }

    /// The error that the socket has collected; taking it clears it.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.0.take_error()
    }

    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        ip(&self.0.local_addr()?)
    }

    /// `ENOTCONN` until the socket is connected.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        ip(&self.0.peer_addr()?)
    }

    /// How long the peer's host has answered nothing although the kernel keeps asking; `None` while
    /// it answers or there is nothing to answer.
    pub fn silence(&self) -> io::Result<Option<Duration>> {
        // SAFETY: tcp_info is plain integers; all zeros is a value of it.
        let mut info: libc::tcp_info = unsafe { core::mem::zeroed() };
        let mut len = size_of::<libc::tcp_info>() as libc::socklen_t;
        let (level, name) = (libc::IPPROTO_TCP, libc::TCP_INFO);
        // SAFETY: `info` is writable for `len` bytes.
        let rc =
            unsafe { libc::getsockopt(self.raw(), level, name, (&raw mut info).cast(), &mut len) };
        if rc != 0 {
            return Err(io::Error::last_os_error());
        }
        // A peer that does not read answers probes: only questions without answer count.
        let asked = info.tcpi_retransmits.max(info.tcpi_probes);
        let age = Duration::from_millis(info.tcpi_last_ack_recv.into());
        Ok((asked >= UNANSWERED).then_some(age))
    }

    /// Payload of the longest segment of a connection, in bytes.
    pub fn max_segment(&self) -> usize {
        self.0.tcp_mss().map_or(0, |bytes| bytes as usize)
    }

    /// No more bytes will be sent: the peer reads to the end of the stream.
    pub fn shutdown_send(&self) -> io::Result<()> {
        self.0.shutdown(Shutdown::Write)
    }

    /// The connection ends: the peer reads to the end of the stream, and so does this side, once it
    /// has read what is here. One that has ended already stays so.
    pub fn shutdown(&self) {
        // Of one that is not connected there is nothing to end.
        let _ = self.0.shutdown(Shutdown::Both);
    }

    pub fn set_options(&self, options: &Options) -> io::Result<()> {
        if options.nodelay {
            self.0.set_tcp_nodelay(true)?;
        }
        if let Some(n) = options.send_buffer {
            self.0.set_send_buffer_size(n.min(i32::MAX as usize))?;
        }
        if let Some(n) = options.receive_buffer {
            self.0.set_recv_buffer_size(n.min(i32::MAX as usize))?;
        }
        if let Some(n) = options.syn_count {
            let n = i32::try_from(n).unwrap_or(i32::MAX);
            self.set_int(libc::IPPROTO_TCP, libc::TCP_SYNCNT, n)?;
        }
        if let Some(t) = options.user_timeout {
            self.0.set_tcp_user_timeout(Some(t))?;
        }
        if let Some(k) = options.keepalive {
            // The kernel counts in seconds and takes no 0.
            let seconds = |t: Duration| t.max(Duration::from_secs(1));
            let mut keepalive = TcpKeepalive::new();
            if let Some(t) = k.idle {
                keepalive = keepalive.with_time(seconds(t));
            }
            if let Some(t) = k.interval {
                keepalive = keepalive.with_interval(seconds(t));
            }
            if let Some(n) = k.count {
                keepalive = keepalive.with_retries(n);
            }
            self.0.set_tcp_keepalive(&keepalive)?;
        }
        if options.unpaced {
            // The one that every kernel has; where it may not be chosen the host's own does.
            let _ = self.0.set_tcp_congestion(b"reno");
        }
        Ok(())
    }

    fn set_int(&self, level: i32, name: i32, value: i32) -> io::Result<()> {
        safe_calls::setsockopt(self.raw(), level, name, &value.to_ne_bytes())
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

/// An address of IPv4 or IPv6.
fn ip(addr: &SockAddr) -> io::Result<SocketAddr> {
    let addr = addr.as_socket();
    addr.ok_or_else(|| io::ErrorKind::Unsupported.into())
}

/// A socket address with the scope of a link-local one.
pub fn with_scope(ip: IpAddr, port: u16, scope: u32) -> SocketAddr {
    match ip {
        IpAddr::V4(ip) => SocketAddr::V4(SocketAddrV4::new(ip, port)),
        IpAddr::V6(ip) => SocketAddr::V6(SocketAddrV6::new(ip, port, 0, scope)),
    }
}

/// Copies what `p` points to, which is as long as its family says. `None` for other families than IPv4 and IPv6.
///
/// # Safety
/// `p` must be null or point to a socket address of its family's size.
pub(super) unsafe fn read_sockaddr(p: *const libc::sockaddr) -> Option<SocketAddr> {
    if p.is_null() {
        return None;
    }
    // SAFETY: every socket address begins with its family.
    let len = match i32::from(unsafe { (*p).sa_family }) {
        libc::AF_INET => size_of::<libc::sockaddr_in>(),
        libc::AF_INET6 => size_of::<libc::sockaddr_in6>(),
        _ => return None,
    };
    let mut storage = SockAddrStorage::zeroed();
    // SAFETY: the source is as long as its family's struct, the storage as long as the longest.
    unsafe {
        core::ptr::copy_nonoverlapping(p.cast::<u8>(), (&raw mut storage).cast(), len);
    }
    // SAFETY: an address of its family, just copied.
    unsafe { SockAddr::new(storage, len as libc::socklen_t) }.as_socket()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

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

    fn syn_count(fd: RawFd) -> i32 {
        let mut value = 0i32;
        let mut len = size_of::<i32>() as libc::socklen_t;
        let (level, at) = (libc::IPPROTO_TCP, (&raw mut value).cast());
        // SAFETY: `value` is writable for `len` bytes.
        let rc = unsafe { libc::getsockopt(fd, level, libc::TCP_SYNCNT, at, &mut len) };
        assert_eq!(rc, 0);
        value
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
        let s = s.0;
        assert!(s.tcp_nodelay().unwrap() && s.keepalive().unwrap());
        assert_eq!(s.tcp_user_timeout().unwrap(), Some(Duration::from_secs(7)));
        assert_eq!(s.tcp_keepalive_time().unwrap(), Duration::from_secs(9));
        assert_eq!(s.tcp_keepalive_interval().unwrap(), Duration::from_secs(1));
        assert_eq!(s.tcp_keepalive_retries().unwrap(), 4);
        assert!(s.tcp_quickack().unwrap());
        delay_acks(s.as_raw_fd());
        assert!(!s.tcp_quickack().unwrap());
        assert!(s.tcp_congestion().unwrap().starts_with(b"reno"));
        assert_eq!(syn_count(s.as_raw_fd()), 3);
    }

    #[test]
    fn what_came_is_acknowledged_now_and_later_bytes_are_not() {
        let (a, b) = pair(IpAddr::V4(Ipv4Addr::LOCALHOST));
        let unacknowledged = || {
            let mut count = 0;
            // SAFETY: asks for a number of a live descriptor.
            let rc = unsafe { libc::ioctl(a.raw(), libc::TIOCOUTQ, &mut count) };
            assert_eq!(rc, 0);
            count
        };
        let send = || {
            assert_eq!(a.send(b"x").unwrap(), 1);
            while b.recv(&mut [0]).is_err() {}
        };
        send();
        delay_acks(b.raw());
        for _ in 0..2 {
            send();
            // On a busy machine the kernel has done it already.
            let waits = unacknowledged() == 1;
            acknowledge(b.raw());
            assert!(!waits || !b.0.tcp_quickack().unwrap());
            let is_done = |_| {
                std::thread::yield_now();
                unacknowledged() == 0
            };
            assert!((0..1000).any(is_done));
        }
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
