//! What fork() means to the library: objects of the parent are dead in the child.
//!
//! A `Stamp` is taken where an object is made and checked where that is cheap, by one load. A child
//! that uses an inherited object gets an error; a child that makes its own gets a fresh one.

use crate::sys::process;
use crate::ucs::{Result, Status};

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
