//! `Service`: a thread of the process that exists as long as it has users.
//!
//! It starts with the first user and has ended when the last user's `remove_user` returns; if the thread itself removes
//! that one, it ends soon. A child of fork() does not have its parent's; it starts its own. Used by `ucs/event_loop` and
//! `uct/tcp/deferred_flush`.
#![forbid(unsafe_code)]

use super::fork::PerProcess;
use crate::sys::lock::Mutex;
use crate::sys::process;
use crate::ucs_diag;
use std::io;
use std::sync::Arc;
use std::thread::{JoinHandle, Thread};

/// A service whose thread shares a `T` with its users.
pub struct Service<T: 'static> {
    running: PerProcess<Mutex<Option<Running<T>>>>,
}

struct Running<T> {
    shared: Arc<T>,
    thread: JoinHandle<()>,
}

impl<T: Send + Sync> Service<T> {
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Service<T> {
        Service {
            running: PerProcess::new(|| Mutex::new(None)),
        }
    }

    /// Calls `add` with the shared state and the thread; first makes the state and starts `run` on a thread of this
    /// name if there is none.
    pub fn join<R>(
        &self,
        name: &str,
        make: impl FnOnce() -> io::Result<T>,
        run: fn(&T),
        add: impl FnOnce(&Arc<T>, &Thread) -> R,
    ) -> io::Result<R> {
        let mut running = self.running.get().lock();
        let r = match running.take() {
            Some(r) => r,
            None => {
                let shared = Arc::new(make()?);
                let inside = Arc::clone(&shared);
                let thread = process::spawn_without_signals(name, move || run(&inside))?;
                Running { shared, thread }
            }
        };
        let r = running.insert(r);
        Ok(add(&r.shared, r.thread.thread()))
    }

    /// `remove` removes a user and returns whether it was the last; then `end` makes `run` return, and the thread is
    /// joined, unless it is the caller. In a child of fork() neither is called for the parent's state: its locks may be held for ever.
    pub fn remove_user(&self, remove: impl FnOnce(&Arc<T>) -> bool, end: impl FnOnce(&T, &Thread)) {
        let mut running = self.running.get().lock();
        if let Some(r) = running.take_if(|r| remove(&r.shared)) {
            end(&r.shared, r.thread.thread());
            let is_itself = r.thread.thread().id() == std::thread::current().id();
            if !is_itself && r.thread.join().is_err() {
                ucs_diag!("a thread of the library ended early");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    #[derive(Default)]
    struct Shared {
        users: AtomicUsize,
        end: AtomicBool,
    }

    static STARTED: AtomicUsize = AtomicUsize::new(0);
    static ENDED: AtomicUsize = AtomicUsize::new(0);

    fn run(shared: &Shared) {
        STARTED.fetch_add(1, Ordering::SeqCst);
        while !shared.end.load(Ordering::SeqCst) {
            std::thread::park();
        }
        ENDED.fetch_add(1, Ordering::SeqCst);
    }

    #[test]
    fn one_thread_serves_all_and_ends_with_the_last() {
        static SERVICE: Service<Shared> = Service::new();
        let join = || {
            let add =
                |shared: &Arc<Shared>, _: &Thread| shared.users.fetch_add(1, Ordering::SeqCst);
            SERVICE
                .join("test", || Ok(Shared::default()), run, add)
                .unwrap()
        };
        let remove = || {
            SERVICE.remove_user(
                |shared| shared.users.fetch_sub(1, Ordering::SeqCst) == 1,
                |shared, thread| {
                    shared.end.store(true, Ordering::SeqCst);
                    thread.unpark();
                },
            )
        };
        for round in 1..=2 {
            assert_eq!((join(), join()), (0, 1));
            remove();
            assert_eq!(ENDED.load(Ordering::SeqCst), round - 1);
            remove();
            assert_eq!(
                (STARTED.load(Ordering::SeqCst), ENDED.load(Ordering::SeqCst)),
                (round, round)
            );
        }
        // Nobody is there any more.
        SERVICE.remove_user(|_| unreachable!(), |_, _| unreachable!());
    }

    #[test]
    fn what_cannot_be_made_is_told_and_tried_again() {
        static SERVICE: Service<Shared> = Service::new();
        let refused = || Err(io::ErrorKind::OutOfMemory.into());
        assert!(SERVICE.join("test", refused, run, |_, _| ()).is_err());
        assert!(SERVICE.join("test", refused, run, |_, _| ()).is_err());
    }
}
