//! A child of fork() that uses an object of its parent gets `UNSUPPORTED`, and one log line.
#![forbid(unsafe_code)]

use crate::sys::process;
use crate::ucs::{Result, Status};

pub use crate::sys::fork::{ForkLocked, PerProcess, Stamp, call_in_child};

/// `UNSUPPORTED`, with a log line, if `what` was not made by this process.
#[inline]
pub fn check(made_by: Stamp, what: &str) -> Result<()> {
    if made_by.is_current() {
        return Ok(());
    }
    refuse(what);
    Err(Status::UNSUPPORTED)
}

/// Logs that `what` belongs to a parent.
#[cold]
pub fn refuse(what: &str) {
    crate::ucs_error!(
        "process {} is a child of fork() and cannot use {what}, which its parent made: call fork() or daemon() before \
         ucp_init(), or make a context and a worker of its own here",
        process::pid()
    );
}
