//! The local channel: processes of one host prove their identity by the kernel.
//!
//! What a peer says of itself over a network ("I am process P, my memory is segment S") is a claim. Every process that
//! shares memory listens on an AF_UNIX socket, whose random id stands in its addresses and keys. Who wants its memory
//! asks there: the kernel tells each side the other's user and process id (`SO_PEERCRED`), and descriptors of segments
//! come with the answer (`SCM_RIGHTS`). Only processes of the same user are served. A thread of the library answers, so
//! that nobody waits for the application; nothing of this is in the path of a message.
//!
//! | file | holds |
//! |---|---|
//! | `wire` | the name of a process, requests, answers |
//! | `server` | the sockets, the thread that answers, what other processes may ask for |
//! | `own_listener` | the sockets that a child of fork() closes |
//! | `client` | asking, with a limit of time, and what is known of processes that answered |
#![forbid(unsafe_code)]

mod client;
mod own_listener;
mod server;
#[cfg(test)]
mod tests;
pub mod wire;

pub use client::{Confirmed, Known, Refusal, SILENCE, Segment, confirm, look, process, segment};
pub use server::{Export, Membership, Shared, is_own, join, own_id};
pub use wire::{NAME_LEN, ProcessName};

use crate::sys::local_socket::is_one_user;
use crate::ucs::fork::PerProcess;
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

/// Identifies a process of a host, among past ones too.
pub type ProcessId = u64;

/// The secret of this process from which its tickets are made.
static SECRET: PerProcess<RandomState> = PerProcess::new(RandomState::new);

/// A number that worker `from` of this process gives to worker `to`, and nobody else can make: shown with a claim of
/// `from`, it is confirmed by this process.
pub fn ticket(from: u64, to: u64) -> u64 {
    SECRET.get().hash_one((from, to))
}

/// A user number that means one user here. The kernel does not change that, so a yes is remembered.
static ONE_USER: PerProcess<OnceLock<u32>> = PerProcess::new(OnceLock::new);

/// Whether a user number means one user in this user namespace.
fn means_one_user(uid: u32) -> bool {
    let known = ONE_USER.get();
    if known.get() == Some(&uid) {
        return true;
    }
    let is_one = is_one_user(uid);
    if is_one {
        // Another thread may have noted one.
        let _ = known.set(uid);
    }
    is_one
}
