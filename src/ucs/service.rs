//! What exists as long as it has users: `WhileUsed`, and `Service`, a thread of the process.
//!
//! It is made for the first user and has ended when the last user's `remove_user` returns; a thread that removes its own
//! last user ends soon. A child of fork() does not have its parent's; it makes its own. `ucs/event_loop` uses both,
//! `uct/base/deferred_work` the thread.
#![forbid(unsafe_code)]

use super::fork::PerProcess;
use crate::sys::lock::Mutex;
use crate::sys::process;
use crate::ucs_diag;
use std::io;
use std::sync::Arc;
use std::thread::{JoinHandle, Thread};

/// Something of the process that exists as long as it has users.
pub struct WhileUsed<R: 'static> {
    made: PerProcess<Mutex<Option<R>>>,
}

impl<R: Send> WhileUsed<R> {
    #[allow(clippy::new_without_default)]
    pub const fn new() -> WhileUsed<R> {
        WhileUsed {
            made: PerProcess::new(|| Mutex::new(None)),
        }
    }

    /// Adds a user by `add`; `make` is called for the first.
    pub fn join<U>(
        &self,
        make: impl FnOnce() -> io::Result<R>,
        add: impl FnOnce(&R) -> U,
    ) -> io::Result<U> {
        let mut made = self.made.get().lock();
        let r = match made.take() {
            Some(r) => r,
            None => make()?,
        };
        Ok(add(made.insert(r)))
    }

    /// `remove` removes a user and returns whether it was the last; then `end` is called. In a child of fork() neither
    /// is called for what the parent made: its locks may be held for ever.
    pub fn remove_user(&self, remove: impl FnOnce(&R) -> bool, end: impl FnOnce(R)) {
        let mut made = self.made.get().lock();
        if let Some(r) = made.take_if(|r| remove(r)) {
            end(r);
        }
    }
}

/// A service whose thread shares a `T` with its users.
pub struct Service<T: 'static>(WhileUsed<Running<T>>);

struct Running<T> {
    shared: Arc<T>,
    thread: JoinHandle<()>,
}

impl<T: Send + Sync> Service<T> {
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Service<T> {
        Service(WhileUsed::new())
    }

    /// Calls `add` with the shared state and the thread; first makes the state and starts `run` on a thread of this
    /// name if there is none.
    pub fn join<U>(
        &self,
        name: &str,
        make: impl FnOnce() -> io::Result<T>,
        run: fn(&T),
        add: impl FnOnce(&Arc<T>, &Thread) -> U,
    ) -> io::Result<U> {
        let start = || {
            let shared = Arc::new(make()?);
            let inside = Arc::clone(&shared);
            let thread = process::spawn_without_signals(name, move || run(&inside))?;
            Ok(Running { shared, thread })
        };
        self.0.join(start, |r| add(&r.shared, r.thread.thread()))
    }

    /// `remove` removes a user and returns whether it was the last; then `end` makes `run` return, and the thread is
    /// joined, unless it is the caller. See `WhileUsed::remove_user`.
    pub fn remove_user(&self, remove: impl FnOnce(&Arc<T>) -> bool, end: impl FnOnce(&T, &Thread)) {
        let stop = |r: Running<T>| {
            end(&r.shared, r.thread.thread());
            let is_itself = r.thread.thread().id() == std::thread::current().id();
            if !is_itself && r.thread.join().is_err() {
                ucs_diag!("a thread of the library ended early");
            }
        };
        self.0.remove_user(|r| remove(&r.shared), stop);
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
