//! `death_watch`: detects the end of other processes, at no cost for processes that do not use it.
//!
//! One thread of the process waits for pidfds; it starts with the first watch and ends with the last. Without pidfds in
//! the kernel it polls every 50 ms. The callback of a watch runs on that thread, once; it must be short, and take no
//! lock that is held while a watch is made.
#![forbid(unsafe_code)]

use crate::sys::epoll::{Epoll, Event, NO_EVENT};
use crate::sys::eventfd::EventFd;
use crate::sys::lock::Mutex;
use crate::sys::pidfd;
use crate::ucs::Result;
use crate::ucs::service::Service;
use crate::ucs_diag;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

/// Called when the process ends.
pub type OnDeath = Box<dyn FnOnce() + Send>;

/// A process is watched as long as this lives. Dropping it takes the order back.
#[derive(Debug)]
pub struct Watch {
    id: u64,
}

struct WatchedProcess {
    id: u64,
    pid: u32,
    start: u64,
    /// `None` if the kernel has no pidfds: then the thread polls.
    fd: Option<OwnedFd>,
    on_death: OnDeath,
}

struct Shared {
    epoll: Epoll,
    wake: EventFd,
    entries: Mutex<Vec<WatchedProcess>>,
    /// The thread shall end.
    end: AtomicBool,
}

static WATCHER: Service<Shared> = Service::new();
/// Unique in a child too, where the parent's watches may be dropped.
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

const WAKE: u64 = 0;
const POLL_MS: i32 = 50;

/// Calls `on_death` when the process `pid` that started at `start` (see `pidfd::start_time`) ends;
/// soon, if it has ended already.
pub fn watch(pid: u32, start: u64, on_death: OnDeath) -> Result<Watch> {
    let watch = WATCHER.join("ucx_death_watch", Shared::new, run, |shared, _| {
        shared.add(pid, start, on_death)
    });
    Ok(watch?)
}

impl Shared {
    fn new() -> io::Result<Shared> {
        let shared = Shared {
            epoll: Epoll::new()?,
            wake: EventFd::new()?,
            entries: Mutex::new(Vec::new()),
            end: AtomicBool::new(false),
        };
        shared
            .epoll
            .add(shared.wake.raw(), libc::EPOLLIN as u32, WAKE)?;
        Ok(shared)
    }

    fn add(&self, pid: u32, start: u64, on_death: OnDeath) -> Watch {
        // Relaxed: only uniqueness matters.
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        let fd = match pidfd::open(pid) {
            Ok(fd) => Some(fd),
            Err(e) if e.raw_os_error() == Some(libc::ESRCH) => None,
            Err(e) => {
                ucs_diag!("no descriptor for process {pid} ({e}): looking every {POLL_MS} ms");
                None
            }
        };
        // The descriptor may belong to a later process of this number; the check after opening decides. Processes that
        // epoll cannot take are polled too. An event before the entry is added comes again.
        let fd = fd.filter(|fd| {
            let watched = self.epoll.add(fd.as_raw_fd(), libc::EPOLLIN as u32, id);
            if let Err(e) = &watched {
                ucs_diag!("process {pid} cannot be waited for ({e}): looking every {POLL_MS} ms");
            }
            watched.is_ok() && pidfd::alive(pid, start)
        });
        let polled = fd.is_none();
        self.entries.lock().push(WatchedProcess {
            id,
            pid,
            start,
            fd,
            on_death,
        });
        if polled {
            self.wake.signal();
        }
        Watch { id }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let leaves = |shared: &Arc<Shared>| {
            let (gone, empty) = {
                let mut entries = shared.entries.lock();
                let gone = entries
                    .iter()
                    .position(|entry| entry.id == self.id)
                    .map(|at| entries.swap_remove(at));
                (gone, entries.is_empty())
            };
            // Closing the descriptor takes it out of the epoll set.
            drop(gone);
            empty
        };
        WATCHER.remove_user(leaves, |shared, _| {
            // Release: pairs with the Acquire in run.
            shared.end.store(true, Ordering::Release);
            shared.wake.signal();
        });
    }
}

fn run(shared: &Shared) {
    let mut events = [NO_EVENT; 16];
    // Acquire: pairs with the Release in Watch::drop.
    while !shared.end.load(Ordering::Acquire) {
        let polled = shared.entries.lock().iter().any(|e| e.fd.is_none());
        let timeout = if polled { POLL_MS } else { -1 };
        let ready: Vec<u64> = match shared.epoll.wait(&mut events, timeout) {
            Ok(ready) => ready.iter().map(|event: &Event| event.u64).collect(),
            Err(_) => Vec::new(),
        };
        if ready.contains(&WAKE) {
            shared.wake.clear();
        }
        for entry in take_dead(shared, &ready) {
            (entry.on_death)();
        }
    }
}

/// Takes the entries out whose process has ended.
fn take_dead(shared: &Shared, ready: &[u64]) -> Vec<WatchedProcess> {
    let mut entries = shared.entries.lock();
    let mut dead = Vec::new();
    let mut at = 0;
    while let Some(entry) = entries.get(at) {
        let ended = match entry.fd {
            Some(_) => ready.contains(&entry.id),
            None => !pidfd::alive(entry.pid, entry.start),
        };
        if ended {
            dead.push(entries.swap_remove(at));
        } else {
            at += 1;
        }
    }
    dead
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command};
    use std::sync::mpsc;
    use std::time::{Duration, Instant};

    fn sleeper() -> (Child, u64) {
        let child = Command::new("sleep").arg("60").spawn().unwrap();
        let start = pidfd::start_time(child.id()).unwrap();
        (child, start)
    }

    #[test]
    fn a_killed_process_is_told_at_once_and_once() {
        let (mut child, start) = sleeper();
        let (mut other, other_start) = sleeper();
        let (tx, rx) = mpsc::channel();
        let tell = |name: &'static str| {
            let tx = tx.clone();
            Box::new(move || tx.send(name).unwrap()) as OnDeath
        };
        let a = watch(child.id(), start, tell("a")).unwrap();
        let b = watch(child.id(), start, tell("b")).unwrap();
        let c = watch(other.id(), other_start, tell("c")).unwrap();
        assert!(rx.try_recv().is_err());
        drop(b);
        let before = Instant::now();
        child.kill().unwrap();
        assert_eq!(rx.recv_timeout(Duration::from_secs(5)), Ok("a"));
        assert!(before.elapsed() < Duration::from_millis(100));
        // Not yet reaped, and then reaped: the end is detected either way.
        let late = watch(child.id(), start, tell("late")).unwrap();
        assert_eq!(rx.recv_timeout(Duration::from_secs(5)), Ok("late"));
        child.wait().unwrap();
        let gone = watch(child.id(), start, tell("gone")).unwrap();
        assert_eq!(rx.recv_timeout(Duration::from_secs(5)), Ok("gone"));
        // A later process of the same number is another one.
        let reused = watch(other.id(), other_start + 1, tell("reused")).unwrap();
        assert_eq!(rx.recv_timeout(Duration::from_secs(5)), Ok("reused"));
        drop((a, c, late, gone, reused));
        other.kill().unwrap();
        other.wait().unwrap();
        assert!(rx.try_recv().is_err());
    }
}
