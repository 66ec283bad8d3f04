//! A client's second attempt beside its first. Where nobody answers, a device's connection manager waits for a minute; so
//! the next manager is asked after a second and a half, and the connection that stands first is taken.
//!
//! The second greeting says that it is one. A server that gets both shows its application the one that came first, and
//! turns the other away (`Asked`), so no client has two connections. The client then waits for the answer to that one.
#![forbid(unsafe_code)]

use super::cm::{self, Event, Inbox};
use super::greeting::{ASKS_TWICE, Greeting};
use crate::ucp::ep::Ep;
use crate::ucp::timer::Timer;
use crate::ucp::worker_core::Core;
use crate::ucs::{Result, Status};
use crate::ucs_debug;
use crate::uct::cm::Manager;
use crate::wire::id::EpName;
use core::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// A server on a device answers sooner, unless its application makes no progress.
const PATIENCE: Duration = Duration::from_millis(1500);

/// Clients that are remembered: more do not ask within a minute, or some are shown twice.
const REMEMBERED: usize = 256;

/// Starts the time after which a client's attempt by this manager gets a second beside it, if there is another manager.
pub(super) fn watch(
    managers: &[Box<dyn Manager>],
    inbox: &Arc<Inbox>,
    ep: u64,
    manager: usize,
) -> Result<Option<Timer>> {
    let is_last = manager + 1 >= managers.len();
    if is_last || managers[manager].of_devices().is_none() {
        return Ok(None);
    }
    let inbox = Arc::clone(inbox);
    let patience = move || inbox.put(Event::Unanswered { ep, manager });
    Timer::start(PATIENCE, patience).map(Some)
}

/// No server has answered in that time.
pub(super) fn begin(worker: &Core, ep: &Ep, manager: usize) {
    let to = {
        let mut connection = ep.cm_connection.borrow_mut();
        let first = connection.as_mut().filter(|c| c.manager == manager);
        first.and_then(|c| c.patience.take().map(|_| (c.remote, c.from)))
    };
    let (Some((remote, from)), Some(cm)) = (to, worker.wireup().cm.get()) else {
        return;
    };
    let others = manager + 1..cm.managers().len();
    match cm::dial_first(worker, ep.id.get(), remote, from, others) {
        Ok(mut second) => {
            ucs_debug!(
                "the server at {remote} has not answered to connection manager {manager}: the next one is asked too"
            );
            if let Some(first) = ep.cm_connection.borrow_mut().as_mut() {
                second.is_second = true;
                // That of the first holds for both.
                second.deadline = None;
                first.second = Some(Box::new(second));
            }
        }
        Err(e) => ucs_debug!("the server at {remote} is not asked by another manager too: {e}"),
    }
}

/// The attempt by this manager stands: the other is given up.
pub(super) fn taken(ep: &Ep, manager: usize) {
    let mut connection = ep.cm_connection.borrow_mut();
    let Some(first) = connection.as_mut() else {
        return;
    };
    first.patience = None;
    let left = match first.second.take() {
        Some(second) if second.manager == manager => connection.replace(second),
        second => second,
    };
    drop(connection);
    drop(left);
}

/// The attempt by this manager has failed. `None`: another one goes on.
pub(super) fn failed(ep: &Ep, manager: usize, status: Status) -> Option<Status> {
    let mut connection = ep.cm_connection.borrow_mut();
    let first = connection.as_mut()?;
    let is_first = first.manager == manager;
    let left = match (first.second.take(), status) {
        (None, _) => return Some(status),
        // The server's application, or a server that nothing can come of.
        (Some(_), Status::REJECTED) => return Some(status),
        (Some(mut second), Status::UNREACHABLE | Status::BUSY) if is_first => {
            second.deadline = first.deadline.take();
            connection.replace(second)
        }
        (Some(_), _) if is_first => return Some(status),
        (Some(second), _) => Some(second),
    };
    drop(connection);
    ucs_debug!("of two attempts to connect, that by manager {manager} has failed: {status}");
    drop(left);
    None
}

/// The clients of a server that may ask by two managers, and the manager of each that came first.
#[derive(Default)]
pub struct Asked(RefCell<VecDeque<(EpName, usize)>>);

impl Asked {
    /// Whether this client has asked by another manager.
    pub(super) fn before(&self, client: &Greeting, manager: usize, of_devices: bool) -> bool {
        // Who was not answered by a device may ask a last time.
        if !of_devices && client.ticket != ASKS_TWICE {
            return false;
        }
        self.note(client.ep_name(), manager)
    }

    fn note(&self, client: EpName, manager: usize) -> bool {
        let mut all = self.0.borrow_mut();
        if let Some((_, first)) = all.iter().find(|(name, _)| *name == client) {
            return *first != manager;
        }
        if all.len() == REMEMBERED {
            all.pop_front();
        }
        all.push_back((client, manager));
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::id::EpId;

    #[test]
    fn a_client_is_shown_once() {
        let asked = Asked::default();
        let client = |ep| EpName {
            uuid: 7,
            id: EpId(ep),
        };
        assert!(!asked.note(client(1), 0));
        assert!(asked.note(client(1), 1), "by the other manager");
        assert!(!asked.note(client(1), 0), "not by the same");
        assert!(!asked.note(client(2), 1));
        assert!(asked.note(client(2), 0), "in either order");
        for ep in 3..REMEMBERED as u64 + 2 {
            assert!(!asked.note(client(ep), 0));
        }
        assert!(!asked.note(client(1), 1), "the oldest is forgotten");
        assert!(asked.note(client(REMEMBERED as u64 + 1), 1));
    }
}
