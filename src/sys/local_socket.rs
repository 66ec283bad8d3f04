//! What the standard library has not for AF_UNIX streams: who is at the other end, and descriptors along with bytes.

use super::safe_calls::retry;
use crate::sys::file::read_kernel_text;
use std::ffi::c_char;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::time::Duration;

/// The process that connected, or that listens, as the kernel noted it then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credentials {
    /// 0 for a process that has no number in this process's namespace.
    pub pid: u32,
    pub uid: u32,
}

pub fn peer_credentials(socket: BorrowedFd<'_>) -> io::Result<Credentials> {
    let mut cred = libc::ucred {
        pid: 0,
        uid: u32::MAX,
        gid: u32::MAX,
    };
    let mut len = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: both out parameters are writable for the length stated.
    let rc = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut cred).cast(),
            &mut len,
        )
    };
    if rc < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Credentials {
        pid: u32::try_from(cred.pid).unwrap_or(0),
        uid: cred.uid,
    })
}

/// Connects, and limits this and every later wait for the other end: `connect` itself waits while the queue of the
/// listener is full. `WouldBlock` when the time is over.
pub fn connect(to: &SocketAddr, patience: Duration) -> io::Result<UnixStream> {
    let (name, lead): (&[u8], usize) = match (to.as_abstract_name(), to.as_pathname()) {
        (Some(name), _) => (name, 1),
        (_, Some(path)) => (path.as_os_str().as_bytes(), 0),
        _ => return Err(io::ErrorKind::InvalidInput.into()),
    };
    // SAFETY: `sockaddr_un` is integers: all zeros is a value of it.
    let mut raw: libc::sockaddr_un = unsafe { core::mem::zeroed() };
    raw.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let room = raw.sun_path[lead..].iter_mut();
    if name.len() >= room.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (at, byte) in room.zip(name) {
        *at = c_char::from_ne_bytes([*byte]);
    }
    // A path ends with a zero byte; an abstract name is as long as the address says.
    let len = core::mem::offset_of!(libc::sockaddr_un, sun_path) + name.len() + 1;
    // SAFETY: takes integers.
    let fd = unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just made and nobody else holds it.
    let stream = UnixStream::from(unsafe { OwnedFd::from_raw_fd(fd) });
    stream.set_write_timeout(Some(patience))?;
    stream.set_read_timeout(Some(patience))?;
    retry(|| {
        // SAFETY: the address is initialised for the length stated.
        let rc = unsafe {
            libc::connect(
                stream.as_raw_fd(),
                (&raw const raw).cast(),
                len as libc::socklen_t,
            )
        };
        rc as isize
    })?;
    Ok(stream)
}

/// Whether a user number means one user here: those without a number in this user namespace share one that has none.
pub fn is_one_user(uid: u32) -> bool {
    let Ok(map) = read_kernel_text("/proc/self/uid_map") else {
        return true;
    };
    map.lines().any(|line| {
        let mut words = line.split_ascii_whitespace();
        let first = words.next().and_then(|w| w.parse::<u32>().ok());
        let count = words.nth(1).and_then(|w| w.parse::<u32>().ok());
        first
            .zip(count)
            .is_some_and(|(first, count)| uid.checked_sub(first).is_some_and(|at| at < count))
    })
}

/// Most descriptors of one message.
pub const MOST_FDS: usize = 2;

/// Room for the control message of as many descriptors, aligned as its header.
#[repr(C)]
union Control {
    header: libc::cmsghdr,
    bytes: [u8; CONTROL_LEN],
}

/// Bytes of a control message of so many descriptors, without and with what aligns the next.
const fn control_len(fds: usize) -> usize {
    // SAFETY: computes from an integer.
    unsafe { libc::CMSG_LEN((fds * size_of::<i32>()) as u32) as usize }
}

const fn control_space(fds: usize) -> usize {
    // SAFETY: computes from an integer.
    unsafe { libc::CMSG_SPACE((fds * size_of::<i32>()) as u32) as usize }
}

const CONTROL_LEN: usize = control_space(MOST_FDS);

fn message(block: &mut libc::iovec, control: &mut MaybeUninit<Control>) -> libc::msghdr {
    // SAFETY: `msghdr` is pointers and integers: all zeros is a value of it.
    let mut msg: libc::msghdr = unsafe { core::mem::zeroed() };
    msg.msg_iov = block;
    msg.msg_iovlen = 1;
    msg.msg_control = control.as_mut_ptr().cast();
    // The lengths here are `size_t` with glibc and `socklen_t` with musl.
    msg.msg_controllen = CONTROL_LEN as _;
    msg
}

/// Sends bytes, and up to `MOST_FDS` descriptors with the first of them. Does not wait for room.
pub fn send(socket: BorrowedFd<'_>, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<usize> {
    let fds = &fds[..fds.len().min(MOST_FDS)];
    let mut block = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    let mut control = MaybeUninit::<Control>::zeroed();
    let mut msg = message(&mut block, &mut control);
    msg.msg_controllen = if fds.is_empty() {
        0
    } else {
        control_space(fds.len()) as _
    };
    // SAFETY: the message names its own control block, which is zeroed.
    if let Some(header) = unsafe { libc::CMSG_FIRSTHDR(&msg).as_mut() } {
        header.cmsg_level = libc::SOL_SOCKET;
        header.cmsg_type = libc::SCM_RIGHTS;
        header.cmsg_len = control_len(fds.len()) as _;
        for (i, fd) in fds.iter().enumerate() {
            // SAFETY: the block has room for `MOST_FDS` descriptors behind the header.
            unsafe {
                let at = libc::CMSG_DATA(header).cast::<i32>().add(i);
                at.write_unaligned(fd.as_raw_fd());
            }
        }
    }
    retry(|| {
        // SAFETY: the message names readable bytes and the control block, all of which live.
        unsafe {
            libc::sendmsg(
                socket.as_raw_fd(),
                &msg,
                libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT,
            )
        }
    })
}

/// Receives bytes, and the descriptors that came with them. Those beyond `MOST_FDS` are closed by the kernel;
/// `EMFILE` when it has left one out because this process has no room for it.
pub fn recv(socket: BorrowedFd<'_>, bytes: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
    let mut block = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    };
    let mut control = MaybeUninit::<Control>::zeroed();
    let mut msg = message(&mut block, &mut control);
    let n = retry(|| {
        // SAFETY: the message names writable bytes and the control block, all of which live.
        unsafe { libc::recvmsg(socket.as_raw_fd(), &mut msg, libc::MSG_CMSG_CLOEXEC) }
    })?;
    let mut fds = Vec::new();
    // SAFETY: the kernel filled the control block that the message names.
    if let Some(header) = unsafe { libc::CMSG_FIRSTHDR(&msg).as_ref() }
        && header.cmsg_level == libc::SOL_SOCKET
        && header.cmsg_type == libc::SCM_RIGHTS
    {
        let length: usize = header.cmsg_len as _;
        let count = length.saturating_sub(control_len(0)) / size_of::<i32>();
        for i in 0..count.min(MOST_FDS) {
            // SAFETY: the kernel wrote so many descriptors behind the header; each is this process's from now on.
            fds.push(unsafe {
                let at = libc::CMSG_DATA(header).cast::<i32>().add(i);
                OwnedFd::from_raw_fd(at.read_unaligned())
            });
        }
    }
    if msg.msg_flags & libc::MSG_CTRUNC != 0 && fds.len() < MOST_FDS {
        return Err(io::Error::from_raw_os_error(libc::EMFILE));
    }
    Ok((n, fds))
}

/// Receives bytes without descriptors, and does not wait for them: `WouldBlock` when there are none.
pub fn recv_ready(socket: BorrowedFd<'_>, bytes: &mut [u8]) -> io::Result<usize> {
    retry(|| {
        // SAFETY: the bytes are writable for the length stated.
        unsafe {
            libc::recv(
                socket.as_raw_fd(),
                bytes.as_mut_ptr().cast(),
                bytes.len(),
                libc::MSG_DONTWAIT,
            )
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::machine::effective_user;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixListener;

    #[test]
    fn a_listener_that_does_not_accept_is_not_waited_for_for_ever() {
        let name = format!("ferrucx-connect-{}", std::process::id());
        let to = SocketAddr::from_abstract_name(name).unwrap();
        let nobody = connect(&to, Duration::from_millis(20)).unwrap_err();
        assert_eq!(nobody.kind(), io::ErrorKind::ConnectionRefused);
        let listener = UnixListener::bind_addr(&to).unwrap();
        let mut queued = Vec::new();
        let full = loop {
            match connect(&to, Duration::from_millis(20)) {
                Ok(stream) => queued.push(stream),
                Err(e) => break e,
            }
        };
        assert_eq!(full.kind(), io::ErrorKind::WouldBlock);
        drop(listener);
    }

    #[test]
    fn bytes_and_descriptors_arrive_from_this_process() {
        let (a, b) = UnixStream::pair().unwrap();
        let (given, other) = UnixStream::pair().unwrap();
        send(a.as_fd(), b"one", &[a.as_fd(), given.as_fd()]).unwrap();
        drop(given);
        let mut bytes = [0; 8];
        let (n, fds) = recv(b.as_fd(), &mut bytes).unwrap();
        assert_eq!((&bytes[..n], fds.len()), (&b"one"[..], 2));
        let [_, got] = <[OwnedFd; 2]>::try_from(fds).unwrap();
        send(got.as_fd(), b"two", &[]).unwrap();
        drop(got);
        let (n, fds) = recv(other.as_fd(), &mut bytes).unwrap();
        assert_eq!((&bytes[..n], fds.len()), (&b"two"[..], 0));
        let me = Credentials {
            pid: std::process::id(),
            uid: effective_user(),
        };
        assert_eq!(peer_credentials(a.as_fd()).unwrap(), me);
        assert!(is_one_user(me.uid) && !is_one_user(u32::MAX));
    }
}
