//! The handlers of memory events, in order of priority, and their dispatch.
//!
//! Removing a handler waits until no thread runs it. A handler that removes handlers cannot wait for itself, so it only
//! marks them. A handler may make memory calls of the API, which nest.
//!
//! MPIs report an unmapping from inside the C library's allocator, which holds its locks. Nothing on the path of an event
//! may allocate: no lock that parks threads, no thread-local variable.

use super::EventSet;
use super::lock::{Dispatching, Published};
use crate::c::{UCM_EVENT_VM_MAPPED, UCM_EVENT_VM_UNMAPPED, ucm_event_t, ucm_event_vm_mapped};
use crate::sys::fork::call_in_child;
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

/// A handler of the API.
pub type Callback = unsafe extern "C" fn(EventSet, *mut ucm_event_t, *mut c_void);

struct EventHandler {
    /// What it still wants; zero once removed.
    events: AtomicU32,
    priority: c_int,
    cb: Callback,
    arg: *mut c_void,
}

// SAFETY: the argument is handed back to the callback that came with it, which the registering
// program wrote for calls on any thread.
unsafe impl Send for EventHandler {}
// SAFETY: as above; nothing else is mutable but the atomic.
unsafe impl Sync for EventHandler {}

/// Ascending priority; equal ones in the order of registration.
static HANDLERS: Published<Vec<Arc<EventHandler>>> = Published::new();

fn in_child() {
    HANDLERS.keep_own_readers(Dispatching::keep_own());
}

/// Why a handler cannot be registered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// From inside a callback, which holds the list.
    Busy,
}

/// Adds a handler. Those below priority 0 run before the call that makes an event, others after.
///
/// # Safety
/// `cb` may be called with `arg`, on any thread, until it is removed.
pub unsafe fn add(
    events: EventSet,
    priority: c_int,
    cb: Callback,
    arg: *mut c_void,
) -> Result<(), Refused> {
    if Dispatching::here() {
        return Err(Refused::Busy);
    }
    call_in_child(in_child);
    let handler = Arc::new(EventHandler {
        events: AtomicU32::new(events),
        priority,
        cb,
        arg,
    });
    HANDLERS.replace(|before| {
        let mut list = before.cloned().unwrap_or_default();
        let at = list.partition_point(|h| h.priority <= priority);
        list.insert(at, handler.clone());
        list
    });
    Ok(())
}

/// Takes `events` from every registration of `cb` with `arg`, and drops those that want nothing
/// more. Unless called from inside a callback, none of them runs when this returns.
pub fn remove(events: EventSet, cb: Callback, arg: *mut c_void) {
    let Some(handlers) = HANDLERS.read() else {
        return;
    };
    for handler in handlers.iter() {
        if core::ptr::fn_addr_eq(handler.cb, cb) && handler.arg == arg {
            handler.events.fetch_and(!events, Ordering::Relaxed);
        }
    }
    drop(handlers);
    if !Dispatching::here() {
        let wanted = |h: &&Arc<EventHandler>| h.events.load(Ordering::Relaxed) & EVERYTHING != 0;
        HANDLERS.replace(|list| list.into_iter().flatten().filter(wanted).cloned().collect());
    }
}

/// All bits that are events, not flags.
const EVERYTHING: EventSet = 0x00ff_ffff;

/// Runs the handlers of priority below 0, `call`, and the others, each with `event`.
pub fn around(kind: EventSet, event: &mut ucm_event_t, call: impl FnOnce(&mut ucm_event_t)) {
    let handlers = HANDLERS.read().filter(|list| !list.is_empty());
    let Some(handlers) = handlers else {
        return call(event);
    };
    let _inside = Dispatching::enter();
    let (before, after) = handlers.split_at(handlers.partition_point(|h| h.priority < 0));
    run(before, kind, event);
    call(event);
    run(after, kind, event);
}

/// Tells the handlers that a range was mapped.
pub fn mapped(address: *mut c_void, size: usize) {
    tell(UCM_EVENT_VM_MAPPED, address, size);
}

/// Tells the handlers that a range will be, or was, unmapped.
pub fn unmapped(address: *mut c_void, size: usize) {
    tell(UCM_EVENT_VM_UNMAPPED, address, size);
}

fn tell(kind: EventSet, address: *mut c_void, size: usize) {
    let mut event = ucm_event_t {
        vm_mapped: ucm_event_vm_mapped { address, size },
    };
    around(kind, &mut event, |_| ());
}

fn run(handlers: &[Arc<EventHandler>], kind: EventSet, event: &mut ucm_event_t) {
    for handler in handlers {
        if handler.events.load(Ordering::Relaxed) & kind != 0 {
            // SAFETY: whoever registered the pair promised it until removal; removal waits for the
            // shared lock that the caller holds.
            unsafe { (handler.cb)(kind, event, handler.arg) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::lock::Mutex;

    struct Seen {
        log: Mutex<Vec<(u32, usize)>>,
    }

    struct Arg<'a> {
        seen: &'a Seen,
        name: u32,
        removes_itself: bool,
    }

    unsafe extern "C" fn note(kind: EventSet, event: *mut ucm_event_t, arg: *mut c_void) {
        // SAFETY: tests register `Arg`s that outlive the registration.
        let this = unsafe { &*arg.cast::<Arg>() };
        // SAFETY: the test makes mapping events only.
        let size = unsafe { (*event).vm_mapped.size };
        this.seen.log.lock().push((this.name, size));
        if this.removes_itself {
            remove(kind, note, arg);
            // SAFETY: refused before anything is kept.
            let nested = unsafe { add(kind, 0, note, arg) };
            assert_eq!(nested, Err(Refused::Busy));
        }
    }

    #[test]
    fn handlers_run_in_order_and_may_remove_themselves() {
        let seen = Seen {
            log: Mutex::default(),
        };
        let arg = |name, removes_itself| {
            Box::new(Arg {
                seen: &seen,
                name,
                removes_itself,
            })
        };
        let args = [arg(1, false), arg(2, true), arg(3, false)];
        let word = |i: usize| (&raw const *args[i]).cast_mut().cast::<c_void>();
        for (i, priority) in [(0, 5), (1, -5), (2, -7)] {
            // SAFETY: removed below, before the arguments go.
            unsafe { add(UCM_EVENT_VM_MAPPED, priority, note, word(i)) }.unwrap();
        }
        for size in [41, 42] {
            mapped(core::ptr::null_mut(), size);
        }
        let ours: Vec<_> = seen.log.lock().iter().copied().collect();
        assert_eq!(ours, [(3, 41), (2, 41), (1, 41), (3, 42), (1, 42)]);
        for i in 0..3 {
            remove(UCM_EVENT_VM_MAPPED, note, word(i));
        }
        mapped(core::ptr::null_mut(), 43);
        assert_eq!(seen.log.lock().len(), 5);
    }
}
