//! What a running process does. `statistics`: counters, where `UCX_STATS_DEST` says. `server` and `report`, for
//! `ferrucx-info dump PID` and `top PID`: workers, endpoints with their lanes and queues, pending requests and what each
//! waits for, counters.
//!
//! The server runs only with `UCX_INFO_SOCKET=y`. A thread answers on a socket of the process's user. It touches nothing of a worker but
//! what any thread may: it has the worker's progress make a report, and waits for it a moment. Of a worker that makes no
//! progress it says so, with the counters. Nothing is read from the socket, so who connects can ask for nothing else.
#![forbid(unsafe_code)]

mod report;
mod server;
mod statistics;

use super::worker_core::{Core, FloorState, Remote};
use crate::ucs_warn;
use core::cell::OnceCell;
use core::ffi::c_uint;
use server::Membership;
use statistics::Counted;

/// The part of a worker that answers.
#[derive(Default)]
pub struct Inspection {
    membership: OnceCell<Membership>,
    counted: OnceCell<Counted>,
}

impl Inspection {
    /// From now on the worker is reported: by its counters, and with `has_socket` to who asks. Where that is not possible
    /// the program runs on, and the log says why.
    pub fn begin(&self, worker: Remote, has_socket: bool) {
        // The cells are empty: a worker begins once.
        if let Some(counted) = statistics::join(worker.clone()) {
            let _ = self.counted.set(counted);
        }
        if !has_socket {
            return;
        }
        match server::join(worker) {
            Ok(membership) => {
                let _ = self.membership.set(membership);
            }
            Err(e) => ucs_warn!("UCX_INFO_SOCKET=y, but nobody can ask this process: {e}"),
        }
    }

    /// Before anything of the worker goes.
    pub fn end(&mut self) {
        drop(self.membership.take());
        drop(self.counted.take());
    }
}

/// In progress: makes the report that was asked for.
extern "C" fn answer(worker: &Core) -> c_uint {
    if let Some(membership) = Inspection::of(worker).membership.get() {
        membership.answer(report::worker(worker));
    }
    0
}
