//! A child of fork() cannot use the workers of its parent.
//!
//! Both processes have the same sockets and the same shared memory. A message that the child sent, a byte that it read
//! or a connection that it closed would be its parent's; peers, which identify processes by the kernel, would take the
//! parent's end for the worker's; and the library's threads exist in the parent only. So workers and endpoints are
//! registered when they are made, and a child first disables all that are registered. Then sending, receiving and
//! progress take their slow paths, which end at `Core::check_process`, as every other function begins with it;
//! incomplete requests end there. Processes that never fork pay nothing.
//!
//! Another thread of the parent may have been modifying a worker when it was copied: only members that are written once
//! are read here.

use super::counters::Sent;
use super::worker_core::{Core, as_callback};
use crate::ucs::fork::{self, ForkLocked};
use crate::ucs::sync::biased_lock::BiasedLock;
use core::ffi::c_uint;
use std::collections::BTreeSet;

/// The workers and endpoints of this process, by their addresses.
struct Registered {
    workers: BTreeSet<usize>,
    /// Each endpoint knows its place.
    eps: Vec<Place>,
    /// The place that was freed last.
    free: Option<u32>,
    /// What endpoints are asked.
    calls: Option<EpCalls>,
}

enum Place {
    /// Of the endpoint at this address.
    Ep(usize),
    /// Free, as is the one that was freed before it.
    Free(Option<u32>),
}

impl Place {
    fn ep(&self) -> Option<usize> {
        match self {
            Place::Ep(address) => Some(*address),
            Place::Free(_) => None,
        }
    }
}

/// Functions on the address of a registered endpoint.
#[derive(Clone, Copy)]
pub struct EpCalls {
    /// Disables it, in a process of one thread.
    pub disable: unsafe fn(usize),
    /// Its worker, and what it has sent, on any thread.
    pub sent: unsafe fn(usize) -> (*const Core, *const Sent),
}

static REGISTERED: ForkLocked<Registered> = ForkLocked::new(Registered {
    workers: BTreeSet::new(),
    eps: Vec::new(),
    free: None,
    calls: None,
});

/// From now on a child of fork() cannot use this worker. It must not move, and be unregistered before it is freed.
pub fn register(worker: &Core) {
    fork::call_in_child(in_child);
    REGISTERED.with(|all| all.workers.insert(core::ptr::from_ref(worker) as usize));
}

/// The worker is destroyed.
pub fn unregister(worker: &Core) {
    REGISTERED.with(|all| all.workers.remove(&(core::ptr::from_ref(worker) as usize)));
}

/// The same for an endpoint at that address. Returns its place in the list.
pub fn register_ep(address: usize, calls: EpCalls) -> u32 {
    REGISTERED.with(|all| {
        all.calls = Some(calls);
        let freed = all.free.and_then(|place| {
            let at = all.eps.get_mut(place as usize)?;
            if let Place::Free(before) = core::mem::replace(at, Place::Ep(address)) {
                all.free = before;
            }
            Some(place)
        });
        freed.unwrap_or_else(|| {
            all.eps.push(Place::Ep(address));
            all.eps.len() as u32 - 1
        })
    })
}

/// The endpoint at that place is destroyed.
pub fn unregister_ep(place: u32) {
    REGISTERED.with(|all| {
        if let Some(at) = all.eps.get_mut(place as usize) {
            *at = Place::Free(all.free.replace(place));
        }
    });
}

/// What all endpoints of a worker have sent, those that are destroyed among them. Any thread may ask.
pub fn sent_by(worker: &Core) -> Sent {
    REGISTERED.with(|all| {
        let calls = all.calls;
        let eps = all.eps.iter().filter_map(Place::ep);
        let sent = eps.filter_map(|ep| {
            // SAFETY: registered, so alive as long as the lock is held.
            let (of, sent) = unsafe { (calls?.sent)(ep) };
            // SAFETY: as above; counters may be read by any thread.
            core::ptr::eq(of, worker).then(|| unsafe { &*sent })
        });
        worker.counters.sent(sent)
    })
}

fn in_child() {
    let (workers, eps, calls) = REGISTERED.with(|all| {
        all.free = None;
        let workers = core::mem::take(&mut all.workers);
        (workers, core::mem::take(&mut all.eps), all.calls)
    });
    for worker in workers {
        // SAFETY: registered, so alive; nobody else runs.
        unsafe { disable(worker as *mut Core) };
    }
    let Some(calls) = calls else { return };
    for ep in eps.iter().filter_map(Place::ep) {
        // SAFETY: as above.
        unsafe { (calls.disable)(ep) };
    }
}

/// # Safety
/// `worker` alive, in a process of one thread.
unsafe fn disable(worker: *mut Core) {
    // SAFETY: alive, by the caller's promise.
    let w = unsafe { &*worker };
    w.inherited.set(true);
    w.queue()
        .replace(as_callback(refuse_progress), worker.cast());
    w.rounds.stop();
    // Receives take their slow paths, too.
    (w.hooks().on_pause)(w, true);
    if !w.lock.is_held_here() {
        // The thread that may have held it is not here to give it back.
        // SAFETY: nobody holds it or waits for it in this process, and it owns no memory.
        unsafe { (&raw mut (*worker).lock).write(BiasedLock::default()) };
    }
}

/// Progress of a worker in a child: does nothing, and logs why.
extern "C" fn refuse_progress(worker: &Core) -> c_uint {
    let _ = worker.check_process();
    0
}
