//! Deferred flush: sends the gathered frames of a connection whose owner makes no progress, and bytes that the kernel
//! had no room for.
//!
//! Frames of a busy connection wait for the next progress, to be sent together. A program may compute first, or wait
//! for the reply on another worker: then one thread of the process sends them, a millisecond or two late. It starts
//! with the first connection that needs it and ends with the last.
//!
//! An owner uses its queue without fence or lock. Before the thread touches a queue, it sets a flag and has the kernel
//! run a barrier on every thread (membarrier): then either the owner sees the flag and waits, or the owner is inside
//! and the thread retries later.

use super::sealed;
use crate::sys::lock::Mutex;
use crate::sys::{membarrier, socket};
use crate::ucs::fork::Stamp;
use crate::ucs::service::Service;
use crate::ucs_diag;
use crate::uct::auth::Sealer;
use core::cell::{Cell, OnceCell};
use core::sync::atomic::{
    AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicUsize, Ordering, compiler_fence,
};
use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::thread::Thread;
use std::time::Duration;

/// Period of the thread. Bytes that were there one period before are sent.
const TICK: Duration = Duration::from_millis(1);
/// The period for connections whose peers do not receive.
const STUCK: Duration = Duration::from_millis(20);
/// Idle periods before the thread sleeps, or uses the longer period.
const QUIET: u32 = 100;

/// The part of a connection's queue that the thread may send while the owner is outside.
#[derive(Default)]
struct Shown {
    /// The owner is inside: nothing below may be read.
    busy: AtomicBool,
    /// The thread is sending: the owner has to wait.
    lent: AtomicBool,
    fd: AtomicI32,
    /// The bytes that may be sent, in the queue's memory.
    start: AtomicPtr<u8>,
    len: AtomicUsize,
    /// Bytes sent by the thread since the owner's last `enter`.
    sent: AtomicUsize,
    /// Number of times that gathering began.
    batch: AtomicU32,
    /// The sealer of an encrypted connection. Whichever side may send uses it alone; a child of fork() may find it
    /// locked for ever.
    sealer: Mutex<Option<Sealer>>,
}

/// The owner's side, used by one thread at a time.
pub struct DeferredFlush {
    shown: Arc<Shown>,
    /// Bytes are exposed, so the owner has to `enter` before it touches the queue.
    shows: Cell<bool>,
    /// The thread has sent some of the bytes that were exposed last.
    helped: Cell<bool>,
    listed: OnceCell<Option<Listed>>,
    made_by: Stamp,
}

impl DeferredFlush {
    pub fn new() -> DeferredFlush {
        DeferredFlush {
            shown: Arc::default(),
            shows: Cell::new(false),
            helped: Cell::new(false),
            listed: OnceCell::new(),
            made_by: Stamp::now(),
        }
    }

    /// Begins work on the queue. Returns how many bytes the thread has sent.
    #[inline(always)]
    pub fn enter(&self) -> usize {
        if self.shows.get() {
            self.take_back()
        } else {
            0
        }
    }

    #[inline]
    fn take_back(&self) -> usize {
        let shown = &*self.shown;
        loop {
            // Relaxed: the thread's barrier orders this store before the load.
            shown.busy.store(true, Ordering::Relaxed);
            compiler_fence(Ordering::SeqCst);
            // Acquire: pairs with the Release of `send`, so that its count is seen.
            if !shown.lent.load(Ordering::Acquire) || !self.wait() {
                break;
            }
        }
        let sent = shown.sent.load(Ordering::Relaxed);
        if sent != 0 {
            shown.sent.store(0, Ordering::Relaxed);
            self.helped.set(true);
        }
        sent
    }

    /// Waits for the thread. Returns false in a child of fork(), where the thread does not exist.
    #[cold]
    fn wait(&self) -> bool {
        self.shown.busy.store(false, Ordering::Release);
        // Acquire: as in `take_back`.
        while self.shown.lent.load(Ordering::Acquire) {
            if !self.made_by.is_current() {
                return false;
            }
            std::thread::yield_now();
        }
        true
    }

    /// Ends work on the queue: the thread may send `bytes` on `fd` until the next `enter`.
    #[inline(always)]
    pub fn exit(&self, fd: RawFd, bytes: &[u8]) {
        if self.shows.get() || !bytes.is_empty() {
            self.show(fd, bytes);
        }
    }

    #[inline]
    fn show(&self, fd: RawFd, bytes: &[u8]) {
        let shown = &*self.shown;
        let shown_before = self.shows.replace(!bytes.is_empty());
        shown.fd.store(fd, Ordering::Relaxed);
        shown
            .start
            .store(bytes.as_ptr().cast_mut(), Ordering::Relaxed);
        // Release: pairs with the Acquire of `send`; an empty range is never dereferenced.
        shown.len.store(bytes.len(), Ordering::Release);
        shown.busy.store(false, Ordering::Release);
        // The thread may sleep if nothing was exposed before, or nothing is left of it.
        if !bytes.is_empty() && (!shown_before || self.helped.take()) {
            self.rouse();
        }
    }

    /// From now on bytes leave in records, or as they are again. The owner is at work on the queue.
    pub fn set_sealer(&self, sealer: Option<Sealer>) {
        if let Some(mut slot) = self.shown.sealer.try_lock() {
            *slot = sealer;
        }
    }

    /// Calls `send` with the sealer, for an owner inside.
    pub fn with_sealer(
        &self,
        send: impl FnOnce(&mut Sealer) -> io::Result<usize>,
    ) -> io::Result<usize> {
        match self.shown.sealer.try_lock().as_deref_mut() {
            Some(Some(sealer)) => send(sealer),
            _ => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    fn rouse(&self) {
        if let Some(Some(listed)) = self.listed.get() {
            // The thread's barrier orders earlier stores before this load.
            compiler_fence(Ordering::SeqCst);
            if listed.common.asleep.load(Ordering::Relaxed) {
                listed.wake();
            }
        }
    }

    /// Gathering begins, or a wait for room: the thread checks the connection from now on. Returns false if there is no
    /// thread.
    pub fn watch(&self) -> bool {
        if self.listed.get_or_init(|| list(&self.shown)).is_none() {
            return false;
        }
        let batch = self.shown.batch.load(Ordering::Relaxed);
        self.shown
            .batch
            .store(batch.wrapping_add(1), Ordering::Relaxed);
        true
    }
}

impl Drop for DeferredFlush {
    fn drop(&mut self) {
        self.enter();
        self.exit(-1, &[]);
    }
}

impl Shown {
    /// Sends what can be sent. Returns whether anything was sent.
    fn send(&self) -> bool {
        self.lent.store(true, Ordering::Relaxed);
        // Acquire: pairs with the Release of `show`.
        let free = membarrier::barrier() && !self.busy.load(Ordering::Acquire);
        let mut left = false;
        if free {
            // Acquire: as above, if the owner exposes bytes for the first time and was never inside.
            let len = self.len.load(Ordering::Acquire);
            let start = self.start.load(Ordering::Relaxed);
            if len > 0 {
                // SAFETY: the owner showed these bytes of its queue, and does not enter it before
                // `lent` is false.
                let bytes = unsafe { core::slice::from_raw_parts(start, len) };
                // The owner meets errors by itself.
                let n = self.send_bytes(bytes).unwrap_or(0);
                self.start.store(start.wrapping_add(n), Ordering::Relaxed);
                self.len.store(len - n, Ordering::Relaxed);
                self.sent.fetch_add(n, Ordering::Relaxed);
                left = n > 0;
            }
        }
        // Release: pairs with the Acquire of `take_back`.
        self.lent.store(false, Ordering::Release);
        left
    }
}

impl Shown {
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
#[derive(Default)]
struct Common {
    /// Each with its batch in the last period.
    entries: Mutex<Vec<(Arc<Shown>, u32)>>,
    asleep: AtomicBool,
    end: AtomicBool,
}

static SENDER: Service<Common> = Service::new();

/// A place in the thread's list, given up when dropped.
struct Listed {
    shown: Arc<Shown>,
    common: Arc<Common>,
    thread: Thread,
}

fn list(shown: &Arc<Shown>) -> Option<Listed> {
    if !membarrier::register() {
        return None;
    }
    let joins = |common: &Arc<Common>, thread: &Thread| {
        common.entries.lock().push((Arc::clone(shown), 0));
        Listed {
            shown: Arc::clone(shown),
            common: Arc::clone(common),
            thread: thread.clone(),
        }
    };
    SENDER
        .join("ucx_tcp_flush", || Ok(Common::default()), run, joins)
        .inspect_err(|e| {
            ucs_diag!("tcp: no thread for deferred flushes ({e}): nothing is gathered")
        })
        .ok()
}

impl Listed {
    #[cold]
    fn wake(&self) {
        if self.common.asleep.swap(false, Ordering::Relaxed) {
            self.thread.unpark();
        }
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        let remove = |common: &Arc<Common>| {
            // In a child of fork() this may be another thread's.
            Arc::ptr_eq(common, &self.common) && {
                let mut entries = common.entries.lock();
                entries.retain(|(shown, _)| !Arc::ptr_eq(shown, &self.shown));
                entries.is_empty()
            }
        };
        SENDER.remove_user(remove, |common, thread| {
            // Relaxed: `unpark` orders.
            common.end.store(true, Ordering::Relaxed);
            thread.unpark();
        });
    }
}

/// Result of a check of all connections.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    /// Something was gathered or sent since the last one.
    News,
    /// Something waits that no peer takes.
    Stuck,
    Nothing,
}

fn run(common: &Common) {
    let mut quiet = 0;
    // Relaxed: `unpark` orders.
    while !common.end.load(Ordering::Relaxed) {
        let mut seen = look(common);
        quiet = if seen == Look::News { 0 } else { quiet + 1 };
        if quiet > QUIET && seen == Look::Nothing {
            common.asleep.store(true, Ordering::Relaxed);
            membarrier::barrier();
            seen = look(common);
            if seen == Look::Nothing {
                std::thread::park();
            }
            common.asleep.store(false, Ordering::Relaxed);
            quiet = 0;
        } else {
            std::thread::park_timeout(if quiet > QUIET { STUCK } else { TICK });
        }
    }
}

/// Checks all connections and sends bytes that were there one period before.
fn look(common: &Common) -> Look {
    let mut seen = Look::Nothing;
    for (shown, last) in common.entries.lock().iter_mut() {
        let batch = shown.batch.load(Ordering::Relaxed);
        let waits = shown.len.load(Ordering::Relaxed) > 0;
        if core::mem::replace(last, batch) != batch || waits && shown.send() {
            seen = Look::News;
        } else if waits && seen == Look::Nothing {
            seen = Look::Stuck;
        }
    }
    seen
}
