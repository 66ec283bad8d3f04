//! Deferred flush: sends the gathered frames of a connection whose owner makes no progress, and bytes that the kernel
//! had no room for.
//!
//! Frames of a busy connection wait for the next progress, to be sent together. A program may compute first, or wait
//! for the reply on another worker: then one thread of the process sends them, a few milliseconds late. It starts with the
//! first connection that needs it and ends with the last. docs/results/PERFORMANCE.md has what it is worth.
//!
//! Owner and thread exclude each other by a `Loan`, which costs the owner neither lock nor fence.

use super::loan::{Loan, Sleep};
use super::sealed;
use crate::sys::lock::Mutex;
use crate::sys::socket;
use crate::ucs::fork::Stamp;
use crate::ucs::service::Service;
use crate::ucs::sync::{self, AtomicBool, AtomicI32, AtomicU32, Ordering};
use crate::ucs_diag;
use crate::uct::auth::Sealer;
use core::cell::{Cell, OnceCell};
use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::thread::Thread;
use std::time::Duration;

/// Period of the thread. Bytes that were there one period before are sent.
const PERIOD: Duration = Duration::from_millis(1);
/// The period for connections whose peers do not receive.
const STALLED_PERIOD: Duration = Duration::from_millis(20);
/// Idle periods before the thread sleeps, or uses the longer period.
const IDLE_PERIODS: u32 = 100;

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
        if let Some(Some(registration)) = self.registration.get()
            && registration.state.sleep.must_wake()
        {
            registration.thread.unpark();
        }
    }

    /// Gathering begins, or a wait for room: the thread checks the connection from now on. Returns false if there is no
    /// thread.
    pub fn watch(&self) -> bool {
        let registration = self.registration.get_or_init(|| register(&self.shared));
        if registration.is_none() {
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

impl Shared {
    /// Sends what can be sent. Returns whether anything was sent.
    fn send(&self) -> bool {
        // The owner gets the same error from its next send.
        self.loan
            .use_bytes(|bytes| self.send_bytes(bytes).unwrap_or(0))
            > 0
    }

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

/// State of the thread, shared with the owners.
struct ThreadState {
    /// Each with its batch in the last period.
    entries: Mutex<Vec<(Arc<Shared>, u32)>>,
    sleep: Sleep,
    end: AtomicBool,
}

static THREAD: Service<ThreadState> = Service::new();

/// An entry in the thread's list, removed when dropped.
struct Registration {
    shared: Arc<Shared>,
    state: Arc<ThreadState>,
    thread: Thread,
}

fn register(shared: &Arc<Shared>) -> Option<Registration> {
    if !sync::can_barrier() {
        return None;
    }
    let make = || {
        Ok(ThreadState {
            entries: Mutex::new(Vec::new()),
            sleep: Sleep::default(),
            end: AtomicBool::new(false),
        })
    };
    let add = |state: &Arc<ThreadState>, thread: &Thread| {
        state.entries.lock().push((Arc::clone(shared), 0));
        Registration {
            shared: Arc::clone(shared),
            state: Arc::clone(state),
            thread: thread.clone(),
        }
    };
    THREAD
        .join("ucx_tcp_flush", make, run, add)
        .inspect_err(|e| {
            ucs_diag!("tcp: no thread for deferred flushes ({e}): nothing is gathered")
        })
        .ok()
}

impl Drop for Registration {
    fn drop(&mut self) {
        let remove = |state: &Arc<ThreadState>| {
            // In a child of fork() this may be another thread's.
            Arc::ptr_eq(state, &self.state) && {
                let mut entries = state.entries.lock();
                entries.retain(|(shared, _)| !Arc::ptr_eq(shared, &self.shared));
                entries.is_empty()
            }
        };
        THREAD.remove_user(remove, |state, thread| {
            // Relaxed: `unpark` orders.
            state.end.store(true, Ordering::Relaxed);
            thread.unpark();
        });
    }
}

/// What a check of all connections has found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    /// Something was gathered or sent since the last one.
    Activity,
    /// Bytes wait that no peer takes.
    Stalled,
    Nothing,
}

fn run(state: &ThreadState) {
    let mut idle = 0;
    // Relaxed: `unpark` orders.
    while !state.end.load(Ordering::Relaxed) {
        let found = check(state);
        idle = if found == Found::Activity {
            0
        } else {
            idle + 1
        };
        if idle > IDLE_PERIODS && found == Found::Nothing {
            if state.sleep.begin(|| check(state) != Found::Nothing) {
                std::thread::park();
                state.sleep.end();
            }
            idle = 0;
        } else {
            std::thread::park_timeout(if idle > IDLE_PERIODS {
                STALLED_PERIOD
            } else {
                PERIOD
            });
        }
    }
}

/// Checks all connections and sends bytes that were there one period before.
fn check(state: &ThreadState) -> Found {
    let mut found = Found::Nothing;
    for (shared, last) in state.entries.lock().iter_mut() {
        let batch = shared.batch.load(Ordering::Relaxed);
        let waits = shared.loan.is_lent();
        if core::mem::replace(last, batch) != batch || waits && shared.send() {
            found = Found::Activity;
        } else if waits && found == Found::Nothing {
            found = Found::Stalled;
        }
    }
    found
}
