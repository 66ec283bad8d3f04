//! `WakeSocket`: a datagram socket in the abstract namespace, readable once somebody pokes it.
//!
//! Its name is chosen by the kernel and works for every process of the same network namespace,
//! whoever its user is; it vanishes with the socket.

use super::retry;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Bytes of a name that the kernel chooses: a zero and five digits; more is never needed.
pub const NAME_MAX: usize = 16;

/// The name of a socket.
#[derive(Clone, Copy, Debug)]
pub struct Name {
    bytes: [u8; NAME_MAX],
    len: usize,
}

impl Name {
    /// The first `len` of these bytes, as many as there are.
    pub fn new(bytes: [u8; NAME_MAX], len: usize) -> Name {
        let len = len.min(NAME_MAX);
        Name { bytes, len }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// All bytes, those behind the name too, and the name's length.
    pub fn parts(&self) -> ([u8; NAME_MAX], usize) {
        (self.bytes, self.len)
    }
}

#[derive(Debug)]
pub struct WakeSocket {
    fd: OwnedFd,
}

fn make() -> io::Result<OwnedFd> {
    let kind = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: takes integers only; the result is checked before it is owned.
    let fd = unsafe { libc::socket(libc::AF_UNIX, kind, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: socket just made this descriptor.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

const FAMILY_LEN: usize = core::mem::offset_of!(libc::sockaddr_un, sun_path);

fn address(name: &[u8]) -> (libc::sockaddr_un, libc::socklen_t) {
    // SAFETY: `sockaddr_un` is plain integers; all zeros is a value of it.
    let mut addr: libc::sockaddr_un = unsafe { core::mem::zeroed() };
    addr.sun_family = libc::AF_UNIX as libc::sa_family_t;
    for (to, from) in addr.sun_path.iter_mut().zip(name) {
        *to = *from as libc::c_char;
    }
    let len = FAMILY_LEN + name.len().min(addr.sun_path.len());
    (addr, len as libc::socklen_t)
}

impl WakeSocket {
    /// A socket with a name of the kernel's choice.
    pub fn bound() -> io::Result<WakeSocket> {
        let fd = make()?;
        let (addr, len) = address(&[]);
        // SAFETY: the address is readable for its length; this length asks for a name.
        let rc = unsafe { libc::bind(fd.as_raw_fd(), (&raw const addr).cast(), len) };
        if rc < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(WakeSocket { fd })
    }

    pub fn raw(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// The name by which others poke it.
    pub fn name(&self) -> io::Result<Name> {
        let (mut addr, _) = address(&[]);
        let mut len = size_of::<libc::sockaddr_un>() as libc::socklen_t;
        // SAFETY: both out parameters are writable for the length stated.
        let rc = unsafe { libc::getsockname(self.raw(), (&raw mut addr).cast(), &mut len) };
        if rc < 0 {
            return Err(io::Error::last_os_error());
        }
        let count = (len as usize).saturating_sub(FAMILY_LEN);
        if count == 0 || count > NAME_MAX {
            return Err(io::Error::from_raw_os_error(libc::EADDRNOTAVAIL));
        }
        let mut name = [0u8; NAME_MAX];
        for (to, from) in name.iter_mut().zip(&addr.sun_path[..count]) {
            *to = *from as u8;
        }
        Ok(Name::new(name, count))
    }

    /// Makes the socket called `name` readable. A full one is readable already.
    pub fn poke(&self, name: &[u8]) -> io::Result<()> {
        let (addr, len) = address(name);
        let byte = 0u8;
        let sent = retry(|| {
            // SAFETY: one readable byte and an address readable for its length.
            unsafe {
                libc::sendto(
                    self.raw(),
                    (&raw const byte).cast(),
                    1,
                    libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT,
                    (&raw const addr).cast(),
                    len,
                )
            }
        });
        match sent {
            Err(e) if e.kind() != io::ErrorKind::WouldBlock => Err(e),
            _ => Ok(()),
        }
    }

    /// Makes the socket unreadable; whether it was readable.
    pub fn drain(&self) -> bool {
        let mut any = false;
        let mut byte = 0u8;
        loop {
            let read = retry(|| {
                // SAFETY: one writable byte.
                unsafe { libc::recv(self.raw(), (&raw mut byte).cast(), 1, libc::MSG_DONTWAIT) }
            });
            if read.is_err() {
                return any;
            }
            any = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_never_longer_than_its_bytes() {
        let said = |len| Name::new([7; NAME_MAX], len).bytes().len();
        assert_eq!(
            [0, 6, NAME_MAX, NAME_MAX + 1, usize::MAX].map(said),
            [0, 6, 16, 16, 16]
        );
    }

    #[test]
    fn a_poke_makes_the_named_socket_readable() {
        let receiver = WakeSocket::bound().unwrap();
        let name = receiver.name().unwrap();
        let sender = WakeSocket::bound().unwrap();
        assert!(!receiver.drain());
        for _ in 0..1000 {
            sender.poke(name.bytes()).unwrap();
        }
        assert!(receiver.drain() && !receiver.drain());
        drop(receiver);
        assert!(sender.poke(name.bytes()).is_err());
    }
}
