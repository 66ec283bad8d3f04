//! What a child of fork() hears when it uses an object of its parent: `UNSUPPORTED`, and one line of the log.

use crate::sys::process;
use crate::ucs::{Result, Status};

pub use crate::sys::fork::{ForkLocked, PerProcess, Stamp, call_in_child};

/// `UNSUPPORTED`, and a line that says so, when `what` was not made by this process.
#[inline]
pub fn check(made_by: Stamp, what: &str) -> Result<()> {
    if made_by.is_current() {
        return Ok(());
    }
    refuse(what);
    Err(Status::UNSUPPORTED)
}

/// Says that `what` is a parent's.
#[cold]
pub fn refuse(what: &str) {
    crate::ucs_error!(
        "process {} is a child of fork() and cannot use {what}, which its parent made: call fork() or daemon() before \
         ucp_init(), or make a context and a worker of its own here",
        process::pid()
    );
}
