//! Listening sockets that a child of fork() does not keep.
//!
//! A child's copy would keep the socket's address taken after its owner closed it, and let processes connect that nobody
//! answers. The sockets are listed from before their first moment to after their last, as seen from fork().

use crate::sys::{process, raw_socket};
use crate::ucs::fork::{ForkLocked, call_in_child};
use std::collections::BTreeSet;
use std::io;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixListener;

static OPEN: ForkLocked<BTreeSet<RawFd>> = ForkLocked::new(BTreeSet::new());

/// A listening socket of this process alone. Its drop closes it, within the list's lock.
pub struct OwnListener(ManuallyDrop<UnixListener>);

impl OwnListener {
    /// What `make` makes, which has to be quick: fork() waits for it.
    pub fn new(make: impl FnOnce() -> io::Result<UnixListener>) -> io::Result<OwnListener> {
        call_in_child(close_all);
        OPEN.with(|open| {
            let listener = make()?;
            open.insert(listener.as_raw_fd());
            Ok(OwnListener(ManuallyDrop::new(listener)))
        })
    }
}

impl Deref for OwnListener {
    type Target = UnixListener;
    fn deref(&self) -> &UnixListener {
        &self.0
    }
}

impl Drop for OwnListener {
    fn drop(&mut self) {
        OPEN.with(|open| {
            open.remove(&self.0.as_raw_fd());
            let _ = raw_socket::close(self.0.as_raw_fd());
        });
    }
}

/// In a child: its parent's objects are never dropped here.
fn close_all() {
    for fd in OPEN.with(core::mem::take) {
        process::close_inherited(fd);
    }
}
