//! The async thread: waits for the descriptors and timers of all thread-mode handlers.
//!
//! `Loop` is what registration and the thread share. The registry starts one thread with the first
//! handler and stops it with the last; it holds no lock while a callback runs.
#![forbid(unsafe_code)]

use super::registry;
use crate::sys::epoll::{EVENT_ROOM, Epoll};
use crate::sys::{eventfd::EventFd, process, timerfd::TimerFd};
use crate::ucs::sync::{AtomicBool, AtomicU32, Ordering};
use crate::ucs::{Events, Result, Status};
use std::os::fd::RawFd;
use std::sync::Arc;
use std::thread::JoinHandle;

/// Words in epoll that are not a handler's token; tokens start above.
const WAKE: u64 = 0;
const TIMER: u64 = 1;
pub(super) const FIRST_TOKEN: u64 = 2;

/// Events taken from the kernel at a time.
const BATCH: usize = 16;

pub(super) struct Loop {
    epoll: Epoll,
    wake: EventFd,
    timer: TimerFd,
    stop: AtomicBool,
    /// Whether a callback may be running on the thread.
    busy: AtomicBool,
    tid: AtomicU32,
}

pub(super) struct Running {
    pub watcher: Arc<Loop>,
    thread: JoinHandle<()>,
}

impl Running {
    pub fn start() -> Result<Running> {
        let watcher = Arc::new(Loop::new().map_err(|e| {
            crate::ucs_error!("cannot make the async thread's descriptors: {e}");
            Status::IO_ERROR
        })?);
        let body = watcher.clone();
        let thread = process::spawn_without_signals("async", move || body.run()).map_err(|e| {
            crate::ucs_error!("cannot start the async thread: {e}");
            Status::IO_ERROR
        })?;
        Ok(Running { watcher, thread })
    }

    /// Ends the thread. Waits for it, unless that could wait for the caller: on the thread itself,
    /// or, when not `sync`, while a callback runs. Then it is still to be waited for.
    #[must_use]
    pub fn stop(self, sync: bool) -> Option<Running> {
        // Release: pairs with the Acquire load in Loop::run.
        self.watcher.stop.store(true, Ordering::Release);
        self.watcher.wake.signal();
        if self.is_this_thread() || (!sync && self.watcher.busy.load(Ordering::Relaxed)) {
            return Some(self);
        }
        self.wait();
        None
    }

    pub fn is_this_thread(&self) -> bool {
        self.watcher.tid.load(Ordering::Relaxed) == process::tid()
    }

    pub fn is_over(&self) -> bool {
        self.thread.is_finished()
    }

    /// Waits for a thread that was stopped.
    pub fn wait(self) {
        if self.thread.join().is_err() {
            crate::ucs_warn!("the async thread ended abnormally");
        }
    }
}

impl Loop {
    fn new() -> std::io::Result<Loop> {
        let this = Loop {
            epoll: Epoll::new()?,
            wake: EventFd::new()?,
            timer: TimerFd::new()?,
            stop: AtomicBool::new(false),
            busy: AtomicBool::new(false),
            tid: AtomicU32::new(0),
        };
        this.epoll
            .add(this.wake.raw(), libc::EPOLLIN as u32, WAKE)?;
        this.epoll
            .add(this.timer.raw(), libc::EPOLLIN as u32, TIMER)?;
        Ok(this)
    }

    pub fn watch(&self, fd: RawFd, events: Events, token: u64) -> Result<()> {
        self.epoll.add(fd, epoll_bits(events), token).map_err(|e| {
            crate::ucs_error!("cannot watch descriptor {fd} for async events: {e}");
            Status::IO_ERROR
        })
    }

    pub fn change(&self, fd: RawFd, events: Events, token: u64) -> Result<()> {
        self.epoll
            .modify(fd, epoll_bits(events), token)
            .map_err(|e| {
                crate::ucs_error!("cannot change the async events of descriptor {fd}: {e}");
                Status::IO_ERROR
            })
    }

    pub fn rearm(&self, fd: RawFd, events: Events, token: u64) {
        if !events.contains(Events::EDGE) {
            // The owner may have closed the descriptor in its callback: then there is nothing to
            // watch any more.
            let _ = self.epoll.modify(fd, epoll_bits(events), token);
        }
    }

    /// A descriptor that was closed before left the set by itself.
    pub fn unwatch(&self, fd: RawFd) {
        let _ = self.epoll.delete(fd);
    }

    /// Wakes the thread at `deadline_ns`, the earliest of all timers.
    pub fn arm_timer(&self, deadline_ns: Option<u64>) {
        if let Err(e) = self.timer.arm(deadline_ns) {
            crate::ucs_error!("cannot arm the async thread's timer: {e}");
        }
    }

    fn run(&self) {
        self.tid.store(process::tid(), Ordering::Relaxed);
        let mut events = [EVENT_ROOM; BATCH];
        // Acquire: pairs with the Release in Running::stop.
        while !self.stop.load(Ordering::Acquire) {
            let ready = match self.epoll.wait(&mut events, -1) {
                Ok(ready) => ready,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(e) => {
                    crate::ucs_error!("the async thread cannot wait for events: {e}");
                    return;
                }
            };
            for event in ready {
                // No callback runs for that: who stops the thread has signalled and waits for it.
                if event.u64 == WAKE {
                    self.wake.clear();
                    continue;
                }
                self.busy.store(true, Ordering::Relaxed);
                match event.u64 {
                    TIMER => {
                        self.timer.clear();
                        registry::run_timers(self);
                    }
                    token => registry::run_fd(token, reported(event.events)),
                }
                self.busy.store(false, Ordering::Relaxed);
            }
        }
    }
}

fn epoll_bits(events: Events) -> u32 {
    let bits = events.to_epoll();
    if events.contains(Events::EDGE) {
        bits
    } else {
        bits | libc::EPOLLONESHOT as u32
    }
}

/// A hang-up is news even when nobody asked: without it the handler would be called for nothing.
fn reported(bits: u32) -> Events {
    let events = Events::from_epoll(bits);
    if bits & libc::EPOLLHUP as u32 != 0 && events.is_empty() {
        Events::ERROR
    } else {
        events
    }
}
