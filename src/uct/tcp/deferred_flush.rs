//! Deferred flush: sends the gathered frames of a connection whose owner makes no progress, and bytes that the kernel
//! had no room for.
//!
//! Frames of a busy connection wait for the next progress, to be sent together. A program may compute first, or wait
//! for the reply on another worker: then one thread of the process sends them, a few milliseconds late
//! (`base/deferred_work.rs`). docs/results/PERFORMANCE.md has what it is worth.
//!
//! Owner and thread exclude each other by a `Loan`, which costs the owner neither lock nor fence.

use super::sealed;
use crate::sys::lock::Mutex;
use crate::sys::socket;
use crate::ucs::fork::Stamp;
use crate::ucs::sync::{AtomicI32, AtomicU32, Ordering};
use crate::ucs_diag;
use crate::uct::auth::Sealer;
use crate::uct::base::deferred_work::{self, DeferredWork, Registration};
use crate::uct::base::loan::Loan;
use core::cell::{Cell, OnceCell};
use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;

/// What the thread knows of a connection.
struct Shared {
    /// Queued bytes that it may send.
    loan: Loan,
    /// Where it sends them.
    fd: AtomicI32,
    /// Number of times that gathering began.
    batch: AtomicU32,
    /// The sealer of an encrypted connection. Whichever side may send uses it alone; a child of fork() may find it
    /// locked for ever.
    sealer: Mutex<Option<Sealer>>,
}

/// The owner's side, used by one thread at a time.
pub struct DeferredFlush {
    shared: Arc<Shared>,
    /// Bytes are lent, so the owner has to `enter` before it touches the queue.
    lends: Cell<bool>,
    /// The thread has sent some of the bytes that were lent last.
    thread_sent: Cell<bool>,
    registration: OnceCell<Option<Registration>>,
    made_by: Stamp,
}

impl DeferredFlush {
    pub fn new() -> DeferredFlush {
        DeferredFlush {
            shared: Arc::new(Shared {
                loan: Loan::default(),
                fd: AtomicI32::new(-1),
                batch: AtomicU32::new(0),
                sealer: Mutex::new(None),
            }),
            lends: Cell::new(false),
            thread_sent: Cell::new(false),
            registration: OnceCell::new(),
            made_by: Stamp::now(),
        }
    }

    /// Begins work on the queue. Returns how many bytes the thread has sent.
    #[inline(always)]
    pub fn enter(&self) -> usize {
        if self.lends.get() {
            self.take_back()
        } else {
            0
        }
    }

    #[inline]
    fn take_back(&self) -> usize {
        let sent = self.shared.loan.take_back(|| self.made_by.is_current());
        if sent != 0 {
            self.thread_sent.set(true);
        }
        sent
    }

    /// Ends work on the queue: the thread may send `bytes` until the next `enter`.
    ///
    /// # Safety
    /// `bytes` must stay readable and unchanged until `enter` has returned, or this is dropped.
    #[inline(always)]
    pub unsafe fn exit(&self, bytes: &[u8]) {
        if self.lends.get() || !bytes.is_empty() {
            // SAFETY: by the caller's promise.
            unsafe { self.lend(bytes) };
        }
    }

    /// # Safety
    /// As `exit`.
    #[inline]
    unsafe fn lend(&self, bytes: &[u8]) {
        let lent_before = self.lends.replace(!bytes.is_empty());
        // SAFETY: by the caller's promise.
        unsafe { self.shared.loan.lend(bytes) };
        // The thread may sleep if nothing was lent before, or nothing is left of it.
        if !bytes.is_empty() && (!lent_before || self.thread_sent.take()) {
            self.wake_thread();
        }
    }

    /// From now on bytes are sent on `fd`, as they are. The owner is at work on the queue.
    pub fn set_socket(&self, fd: RawFd) {
        // Relaxed: the next loan orders.
        self.shared.fd.store(fd, Ordering::Relaxed);
        self.set_sealer(None);
    }

    /// From now on bytes are sent in records, or as they are. The owner is at work on the queue.
    pub fn set_sealer(&self, sealer: Option<Sealer>) {
        if let Some(mut slot) = self.shared.sealer.try_lock() {
            *slot = sealer;
        }
    }

    /// Calls `send` with the sealer, for an owner at work on the queue.
    pub fn with_sealer(
        &self,
        send: impl FnOnce(&mut Sealer) -> io::Result<usize>,
    ) -> io::Result<usize> {
        match self.shared.sealer.try_lock().as_deref_mut() {
            Some(Some(sealer)) => send(sealer),
            _ => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    fn wake_thread(&self) {
        if let Some(Some(registration)) = self.registration.get() {
            registration.wake();
        }
    }

    /// Gathering begins, or a wait for room: the thread checks the connection from now on. Returns false if there is no
    /// thread.
    pub fn watch(&self) -> bool {
        let register = || {
            deferred_work::register(Arc::clone(&self.shared) as Arc<dyn DeferredWork>)
                .inspect_err(|e| {
                    ucs_diag!("tcp: no thread for deferred flushes ({e}): nothing is gathered");
                })
                .ok()
        };
        if self.registration.get_or_init(register).is_none() {
            return false;
        }
        let batch = self.shared.batch.load(Ordering::Relaxed);
        self.shared
            .batch
            .store(batch.wrapping_add(1), Ordering::Relaxed);
        true
    }
}

impl Drop for DeferredFlush {
    fn drop(&mut self) {
        self.enter();
        // SAFETY: no bytes are lent.
        unsafe { self.exit(&[]) };
    }
}

impl DeferredWork for Shared {
    fn batch(&self) -> u32 {
        self.batch.load(Ordering::Relaxed)
    }

    fn waits(&self) -> bool {
        self.loan.is_lent()
    }

    /// Sends what can be sent.
    fn run(&self) -> bool {
        // The owner gets the same error from its next send.
        self.loan
            .use_bytes(|bytes| self.send_bytes(bytes).unwrap_or(0))
            > 0
    }
}

impl Shared {
    fn send_bytes(&self, bytes: &[u8]) -> io::Result<usize> {
        let fd = self.fd.load(Ordering::Relaxed);
        match self.sealer.try_lock().as_deref_mut() {
            Some(None) => socket::send(fd, bytes),
            Some(Some(sealer)) => {
                let blocks = [socket::block(
                    bytes.as_ptr(),
                    bytes.len().min(sealed::BATCH),
                )];
                // SAFETY: the block is `bytes`.
                let sent = unsafe { sealed::send(fd, sealer, &blocks) };
                drop(sealer.give_back());
                sent
            }
            None => Ok(0),
        }
    }
}
