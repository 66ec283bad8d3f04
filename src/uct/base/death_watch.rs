//! `death_watch`: detects the end of other processes, at no cost for processes that do not use it.
//!
//! The thread of `ucs/event_loop` waits for pidfds. Without pidfds in the kernel it polls every 50 ms. The callback of a
//! watch runs on that thread, once; it must be short, and take no lock that is held while a watch is made.
#![forbid(unsafe_code)]

use crate::sys::lock::Mutex;
use crate::sys::pidfd;
use crate::ucs::Result;
use crate::ucs::event_loop::{Descriptors, EventService, Handler};
use crate::ucs_diag;
use core::sync::atomic::{AtomicU64, Ordering};
use std::collections::HashMap;
use std::os::fd::{AsRawFd, OwnedFd};

/// Called when the process ends.
pub type OnDeath = Box<dyn FnOnce() + Send>;

/// A process is watched as long as this lives. Dropping it takes the order back.
#[derive(Debug)]
pub struct Watch {
    id: u64,
}

/// The processes by the ids of their watches.
#[derive(Default)]
struct Watched {
    /// Those whose pidfd the thread waits for.
    waited: Mutex<HashMap<u64, (OwnedFd, OnDeath)>>,
    /// Those that it polls, with pid and start time.
    polled: Mutex<HashMap<u64, (u32, u64, OnDeath)>>,
}

static WATCHED: EventService<Watched> = EventService::new();
/// Unique in a child too, where the parent's watches may be dropped.
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

const POLL_MS: i32 = 50;

/// Calls `on_death` when the process `pid` that started at `start` (see `pidfd::start_time`) ends;
/// soon, if it has ended already.
pub fn watch(pid: u32, start: u64, on_death: OnDeath) -> Result<Watch> {
    let watch = WATCHED.join(
        |_| Ok(Watched::default()),
        |watched, descriptors| watched.add(descriptors, pid, start, on_death),
    );
    Ok(watch?)
}

impl Watched {
    fn add(&self, descriptors: &Descriptors, pid: u32, start: u64, on_death: OnDeath) -> Watch {
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
            let watched = descriptors.add(fd.as_raw_fd(), id);
            if let Err(e) = &watched {
                ucs_diag!("process {pid} cannot be waited for ({e}): looking every {POLL_MS} ms");
            }
            watched.is_ok() && pidfd::alive(pid, start)
        });
        match fd {
            Some(fd) => drop(self.waited.lock().insert(id, (fd, on_death))),
            None => {
                self.polled.lock().insert(id, (pid, start, on_death));
                descriptors.wake();
            }
        }
        Watch { id }
    }
}

impl Handler for Watched {
    fn on_ready(&self, _: &Descriptors, word: u64) {
        let dead = self.waited.lock().remove(&word);
        if let Some((_, on_death)) = dead {
            on_death();
        }
    }

    fn after_events(&self, _: &Descriptors) -> Option<i32> {
        let mut polled = self.polled.lock();
        let ended = polled.extract_if(|_, (pid, start, _)| !pidfd::alive(*pid, *start));
        let dead: Vec<_> = ended.collect();
        let again = (!polled.is_empty()).then_some(POLL_MS);
        drop(polled);
        for (_, (_, _, on_death)) in dead {
            on_death();
        }
        again
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        WATCHED.remove_user(|watched| {
            // Closing the descriptor takes it out of the epoll set.
            let waited = watched.waited.lock().remove(&self.id);
            let polled = watched.polled.lock().remove(&self.id);
            drop((waited, polled));
            watched.waited.lock().is_empty() && watched.polled.lock().is_empty()
        });
    }
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
