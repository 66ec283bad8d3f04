//! `SendQueue`: the sending part of a connection: its queue, the policy that says when frames are sent, and the deferred
//! flush, which may send while the owner does not use the queue.
//!
//! Every use of the queue goes through `lock`, which takes the queue back from the deferred flush. While the connection
//! gathers, or the kernel has no room, each unlock lends the queued bytes to it again.

use super::deferred_flush::DeferredFlush;
use super::iface::TcpIface;
use super::sealed;
use super::send_policy::SendPolicy;
use super::txq::{Owner, TxQueue};
use crate::sys::socket::{self};
use crate::uct::api::Completion;
use crate::uct::auth::Sealer;
use core::cell::{Cell, RefCell, RefMut};
use core::ops::{Deref, DerefMut};
use std::io;
use std::os::fd::RawFd;

/// Most copied bytes in the queue before senders get `NO_RESOURCE`.
pub const TX_LIMIT: usize = 64 << 10;
/// Payloads in place that may wait.
const MAX_IN_PLACE: usize = 64;
/// Blocks of one send.
pub const BLOCKS: usize = 64;

pub struct SendQueue {
    /// Before `queue`, so that it is dropped first.
    deferred_flush: DeferredFlush,
    queue: RefCell<TxQueue>,
    pub policy: SendPolicy,
    /// The socket; -1 without one.
    fd: Cell<RawFd>,
    /// The socket's send buffer is full; epoll reports when it is writable.
    blocked: Cell<bool>,
}

/// How much of the queue is sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    All,
    /// Whole segments: the remainder stays in the queue, and payloads in place are copied there.
    Segments,
}

/// How the completion of the last payload in place is reported.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Report {
    Callback,
    /// By the result of `transmit`, when it completes there.
    Return,
}

impl Default for SendQueue {
    fn default() -> SendQueue {
        SendQueue {
            deferred_flush: DeferredFlush::new(),
            queue: RefCell::default(),
            policy: SendPolicy::default(),
            fd: Cell::new(-1),
            blocked: Cell::new(false),
        }
    }
}

impl SendQueue {
    /// The queue, for a section without calls to other code.
    #[inline(always)]
    pub fn lock(&self) -> Locked<'_> {
        let mut queue = self.queue.borrow_mut();
        let sent = self.deferred_flush.enter();
        if sent != 0 {
            queue.sent_by_other(sent);
        }
        Locked { queue, part: self }
    }

    /// From now on bytes are sent on `fd`, as they are.
    pub fn set_socket(&self, fd: RawFd) {
        let mut queue = self.lock();
        self.fd.set(fd);
        self.blocked.set(false);
        queue.set_sealed(false);
        self.deferred_flush.set_socket(fd);
    }

    /// From now on all bytes are encrypted.
    pub fn seal(&self, sealer: Sealer) {
        let mut queue = self.lock();
        queue.set_sealed(true);
        self.deferred_flush.set_sealer(Some(sealer));
    }

    #[inline]
    pub fn is_blocked(&self) -> bool {
        self.blocked.get()
    }

    /// Nothing is sent until `unblock`.
    pub fn block(&self) {
        self.blocked.set(true);
    }

    /// Returns whether it was blocked.
    pub fn unblock(&self) -> bool {
        self.blocked.replace(false)
    }

    /// Prepares gathering. Returns false if no deferred flush can send what is gathered.
    pub fn start_gathering(&self) -> bool {
        let may = self.deferred_flush.watch();
        if may {
            self.policy.start_gathering();
        } else {
            self.policy.forbid_gathering();
        }
        may
    }

    /// Hands the queue to the kernel. Returns whether the payload that was queued last is completely sent or copied, if
    /// `report` asks for that; an error is the socket's.
    #[inline]
    pub fn transmit(
        &self,
        face: &TcpIface,
        extent: Extent,
        report: Report,
    ) -> (bool, io::Result<()>) {
        let mut last_done = false;
        let mut result = Ok(());
        let mut tx = self.lock();
        let tail = match extent {
            Extent::All => 0,
            Extent::Segments => self.policy.tail(tx.unsent()),
        };
        let mut done = |owner, comp: Completion, is_last: bool| {
            if is_last && report == Report::Return {
                last_done = true;
            } else if !comp.is_none() {
                face.add_done(owner, comp, Ok(()));
            }
        };
        while tx.unsent() > tail {
            match self.send_some(face, &tx, tx.unsent() - tail) {
                Ok(n) => tx.consumed(n, &mut done),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    self.blocked.set(true);
                    break;
                }
                Err(e) => {
                    result = Err(e);
                    break;
                }
            }
        }
        if tail > 0 && tx.unsent() == tail {
            tx.keep(&mut done);
        }
        if tx.is_empty() && !tx.lacks_buffer() {
            face.return_tx_buffer(tx.take());
        }
        if self.blocked.get() && tx.waiting() > 0 {
            // The operations of these bytes have completed, so they are sent without progress, too.
            self.deferred_flush.watch();
        }
        (last_done, result)
    }

    /// Sends the front of the queue, at most `most` bytes. Returns the number of bytes sent.
    #[inline]
    fn send_some(&self, face: &TcpIface, tx: &TxQueue, most: usize) -> io::Result<usize> {
        let fd = self.fd.get();
        if let Some(bytes) = tx.direct() {
            return socket::send(fd, &bytes[..bytes.len().min(most)]);
        }
        if tx.is_sealed() {
            return (self.deferred_flush)
                .with_sealer(|sealer| sealed::send_queue(face, fd, sealer, tx, most));
        }
        let mut blocks = [socket::block(core::ptr::null(), 0); BLOCKS];
        let n = tx.gather(&mut blocks, most);
        // SAFETY: the queue lists its own buffer and payloads that users keep until completion.
        unsafe { socket::send_blocks(fd, &blocks[..n]) }
    }

    /// Copies the payloads in place of `owner`, so that its memory is free; calls `each` for their completions.
    pub fn detach(&self, owner: Owner, each: impl FnMut(Completion)) {
        self.lock().detach(owner, each);
    }

    /// Removes all entries after a failure; calls `each` for their completions.
    pub fn clear(&self, each: impl FnMut(Owner, Completion)) {
        self.lock().clear(each);
    }
}

/// Guard of the queue. Its drop lends the copied bytes of a gathering or blocked connection to the deferred flush, unless
/// payloads in place wait as well.
pub struct Locked<'a> {
    queue: RefMut<'a, TxQueue>,
    part: &'a SendQueue,
}

impl Locked<'_> {
    /// Whether a sender need not wait.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.waiting() < TX_LIMIT && self.in_place() < MAX_IN_PLACE
    }
}

impl Deref for Locked<'_> {
    type Target = TxQueue;

    #[inline]
    fn deref(&self) -> &TxQueue {
        &self.queue
    }
}

impl DerefMut for Locked<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut TxQueue {
        &mut self.queue
    }
}

impl Drop for Locked<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        let part = self.part;
        let mut lent: &[u8] = &[];
        if (part.policy.is_gathering() || part.blocked.get())
            && part.fd.get() >= 0
            && let Some(bytes) = self.queue.plain()
        {
            lent = bytes;
        }
        // SAFETY: the queue is used through `lock` only, which takes the bytes back. It is dropped after the deferred flush.
        unsafe { part.deferred_flush.exit(lent) };
    }
}
