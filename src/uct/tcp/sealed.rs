//! Sending and receiving on encrypted connections: as the calls of `socket`, but the kernel gets and gives records.
//!
//! `send` returns how many bytes of the queue are sent, which is known when all of their records are: until then they stay
//! at the front of the queue. The next sender, the owner or the deferred flush, continues the same records. Received records
//! are decrypted into the receive buffer, so that no byte reaches its destination before it is authenticated.

use super::conn::Conn;
use super::iface::{Once, TcpIface};
use super::proof::Proof;
use super::rx::{Got, not_got};
use super::rx_state::RxBuf;
use super::send_queue::BLOCKS;
use super::txq::TxQueue;
use crate::sys::socket::{self, IoVec};
use crate::ucs_warn;
use crate::uct::auth::{MAX_PAYLOAD, MAX_RECORD, Opener, Sealer};
use core::cell::Cell;
use std::io;
use std::os::fd::RawFd;

/// The handshake and the decryption of a connection.
#[derive(Default)]
pub struct Security {
    /// The handshake, in the phase `Proving`.
    pub proof: Cell<Option<Box<Proof>>>,
    /// Received bytes are encrypted: `opener` decrypts them.
    sealed: Cell<bool>,
    opener: Cell<Option<Opener>>,
}

impl Security {
    #[inline]
    pub fn is_sealed(&self) -> bool {
        self.sealed.get()
    }

    /// From now on received bytes are encrypted.
    pub fn seal(&self, opener: Opener) {
        self.sealed.set(true);
        self.opener.set(Some(opener));
    }

    /// Whether a received record, or an error, is left to handle without another byte from the kernel.
    pub fn is_ready(&self) -> bool {
        let opener = self.opener.take();
        let ready = opener.as_ref().is_some_and(Opener::is_ready);
        self.opener.set(opener);
        ready
    }

    pub fn clear(&self) {
        self.proof.set(None);
        self.sealed.set(false);
        self.opener.set(None);
    }
}

/// Bytes that are sealed and handed to the kernel at a time: they stay in a processor's second cache meanwhile.
pub const BATCH: usize = 8 * MAX_PAYLOAD;

/// Sends `blocks`, which begin with the bytes of the records that are not sent yet. Returns the number of bytes sent.
///
/// # Safety
/// Each block must be readable.
pub unsafe fn send(fd: RawFd, sealer: &mut Sealer, blocks: &[IoVec]) -> io::Result<usize> {
    if sealer.pending().is_empty() {
        // SAFETY: by the caller's promise.
        unsafe { seal(sealer, blocks) }?;
    }
    loop {
        let n = socket::send(fd, sealer.pending())?;
        if let Some(carried) = sealer.sent(n) {
            return Ok(carried);
        }
    }
}

/// Sends at most `most` bytes from the front of the queue. Returns the number of bytes sent.
pub fn send_queue(
    face: &TcpIface,
    fd: RawFd,
    sealer: &mut Sealer,
    tx: &TxQueue,
    most: usize,
) -> io::Result<usize> {
    let most = most.min(BATCH);
    let mut blocks = [socket::block(core::ptr::null(), 0); BLOCKS];
    let n = tx.gather(&mut blocks, most);
    sealer.lend(most, || face.rx_buffer().data);
    // SAFETY: the queue lists its own buffer and payloads that users keep until completion; its front is what the records
    // under way carry, since nothing is taken off or put before them.
    let sent = unsafe { send(fd, sealer, &blocks[..n]) };
    if let Some(memory) = sealer.give_back() {
        face.return_rx_buffer(RxBuf::of(memory));
    }
    sent
}

/// Makes records of the blocks, each as long as can be.
///
/// # Safety
/// Each block must be readable.
unsafe fn seal(sealer: &mut Sealer, blocks: &[IoVec]) -> io::Result<()> {
    let mut gathered = Vec::new();
    let mut put = |payload: &[u8]| {
        let sealed = sealer.seal(payload);
        sealed.map_err(|broken| io::Error::other(broken.to_string()))
    };
    for (i, b) in blocks.iter().enumerate() {
        // SAFETY: by the caller's promise.
        let mut bytes = unsafe { core::slice::from_raw_parts(b.iov_base.cast::<u8>(), b.iov_len) };
        if !gathered.is_empty() {
            let (first, rest) = bytes.split_at(bytes.len().min(MAX_PAYLOAD - gathered.len()));
            gathered.extend_from_slice(first);
            bytes = rest;
            if gathered.len() == MAX_PAYLOAD {
                put(&gathered)?;
                gathered.clear();
            }
        }
        while let Some((whole, rest)) = bytes.split_at_checked(MAX_PAYLOAD) {
            put(whole)?;
            bytes = rest;
        }
        if i + 1 == blocks.len() && !bytes.is_empty() {
            put(bytes)?;
        } else {
            gathered.extend_from_slice(bytes);
        }
    }
    if gathered.is_empty() {
        return Ok(());
    }
    put(&gathered)
}

/// Receives pending bytes, and decrypts the complete records that have room in the buffer.
pub fn read(face: &TcpIface, conn: &Conn, buf: &mut RxBuf) -> Got {
    let Some(mut opener) = conn.socket.security.opener.take() else {
        return Got::Nothing;
    };
    opener.lend(|| face.rx_buffer().data);
    let mut got = Ok(true);
    if !opener.is_ready() {
        let room = opener.room();
        let asked = room.len();
        got = match socket::recv(conn.fd(), room) {
            Ok(n) => {
                opener.received(n);
                match n {
                    0 => Err(Got::End),
                    n => Ok(n == asked),
                }
            }
            Err(e) => Err(not_got(e)),
        };
    }
    let mut opened = 0;
    while got.is_ok() {
        let free = &mut buf.data[buf.end..];
        if free.len() < MAX_RECORD {
            break;
        }
        match opener.open(free) {
            Ok(Some(n)) => {
                buf.end += n;
                opened += n;
            }
            Ok(None) => break,
            Err(broken) => {
                if face.first(Once::Garbage) {
                    ucs_warn!("tcp: a connection is dropped, the peer sent {broken}");
                }
                got = Err(Got::Error(io::ErrorKind::InvalidData.into()));
            }
        }
    }
    let ready = opener.is_ready();
    if let Some(data) = opener.give_back() {
        face.return_rx_buffer(RxBuf::of(data));
    }
    conn.socket.security.opener.set(Some(opener));
    match got {
        Err(got) => got,
        Ok(more) if more || opened > 0 => Got::Some(more || ready),
        Ok(_) => Got::Nothing,
    }
}
