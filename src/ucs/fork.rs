//! What fork() means to the library: objects of the parent are dead in the child.
//!
//! A `Stamp` is taken where an object is made and checked where that is cheap, by one load. A child
//! that uses an inherited object gets an error; a child that makes its own gets a fresh one.
//! `PerProcess` does the same for statics.

use crate::sys::process;
use crate::ucs::{Result, Status};
use core::sync::atomic::{AtomicPtr, Ordering};

/// The process that made an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stamp(u32);

impl Stamp {
    /// The stamp of this process.
    pub fn now() -> Stamp {
        Stamp(process::cached_pid())
    }

    #[inline]
    pub fn is_current(self) -> bool {
        self.0 == process::cached_pid()
    }

    /// `UNSUPPORTED`, and a line that says so, when `what` came over a fork().
    #[inline]
    pub fn check(self, what: &str) -> Result<()> {
        if self.is_current() {
            return Ok(());
        }
        self.refuse(what)
    }

    #[cold]
    fn refuse(self, what: &str) -> Result<()> {
        crate::ucs_error!(
            "{what} made by process {} was used in process {}: create one after fork",
            self.0,
            process::pid()
        );
        Err(Status::UNSUPPORTED)
    }
}

/// A static that every process makes for itself, at its first use. A child of fork() never touches
/// its parent's, whose locks another thread may have held.
pub struct PerProcess<T: 'static> {
    current: AtomicPtr<Made<T>>,
    make: fn() -> T,
}

struct Made<T> {
    by: Stamp,
    value: T,
    /// The parent's, so that leak checkers see it reachable.
    _inherited: *mut Made<T>,
}

impl<T: Send + Sync> PerProcess<T> {
    pub const fn new(make: fn() -> T) -> PerProcess<T> {
        PerProcess {
            current: AtomicPtr::new(core::ptr::null_mut()),
            make,
        }
    }

    pub fn get(&self) -> &'static T {
        loop {
            // Acquire: pairs with the Release below.
            let current = self.current.load(Ordering::Acquire);
            // SAFETY: what was published is never freed.
            if let Some(made) = unsafe { current.as_ref() }
                && made.by.is_current()
            {
                return &made.value;
            }
            let fresh = Box::into_raw(Box::new(Made {
                by: Stamp::now(),
                value: (self.make)(),
                _inherited: current,
            }));
            // Release: pairs with the Acquire above. A parent's value stays where it is.
            let published =
                self.current
                    .compare_exchange(current, fresh, Ordering::Release, Ordering::Relaxed);
            if published.is_err() {
                // SAFETY: made above and not published.
                drop(unsafe { Box::from_raw(fresh) });
            }
        }
    }
}
