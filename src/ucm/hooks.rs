//! Which memory events come by themselves.
//!
//! This library patches no code, so the kernel's unmapping is not seen, and nothing in it depends on
//! seeing it. A program that has hooks of its own declares the events "external" and delivers them;
//! whether it does can be tested.

use super::{EventSet, events};
use crate::c::{
    UCM_EVENT_FLAG_NO_INSTALL, UCM_EVENT_MMAP, UCM_EVENT_MUNMAP, UCM_EVENT_VM_MAPPED,
    UCM_EVENT_VM_UNMAPPED, ucm_event_t,
};
use crate::sys::vm_calls;
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

static EXTERNAL: AtomicU32 = AtomicU32::new(0);
static ENABLED: AtomicU8 = AtomicU8::new(UNSET);

/// Values of `ENABLED`. Registration is on until somebody decides.
const UNSET: u8 = 2;

/// Declares events that the program delivers.
pub fn set_external(events: EventSet) {
    EXTERNAL.fetch_or(events, Ordering::Relaxed);
}

pub fn unset_external(events: EventSet) {
    EXTERNAL.fetch_and(!events, Ordering::Relaxed);
}

/// Turns registration of handlers on or off.
pub fn set_enabled(enabled: bool) {
    ENABLED.store(enabled.into(), Ordering::Relaxed);
}

/// Whether nobody has decided yet.
pub fn is_unset() -> bool {
    ENABLED.load(Ordering::Relaxed) == UNSET
}

/// The same as `set_enabled` where nobody has decided yet.
pub fn set_default(enabled: bool) {
    let _ = ENABLED.compare_exchange(UNSET, enabled.into(), Ordering::Relaxed, Ordering::Relaxed);
}

/// Why a handler for `events` would never run; `None` when it may be registered.
pub fn refusal(events: EventSet) -> Option<&'static str> {
    let by_program = UCM_EVENT_FLAG_NO_INSTALL | EXTERNAL.load(Ordering::Relaxed);
    if ENABLED.load(Ordering::Relaxed) == u8::from(false) {
        Some("memory events are disabled by configuration")
    } else if events & by_program == 0 {
        Some(
            "memory calls are not hooked: deliver events with ucm_vm_munmap and the like and \
             declare them by ucm_set_external_event, or pass UCM_EVENT_FLAG_NO_INSTALL",
        )
    } else {
        None
    }
}

/// Whether the hooks that this library installed for `events` work: it installs none, and needs
/// none for what it does.
pub fn test_own(_events: EventSet) -> bool {
    true
}

/// Whether the program delivers those of `events` that it declared external. Makes a mapping and
/// removes it by libc's calls, and looks what arrives.
pub fn test_external(events: EventSet) -> bool {
    // Others of the declared events need calls that would change the process.
    const TESTED: EventSet =
        UCM_EVENT_VM_MAPPED | UCM_EVENT_VM_UNMAPPED | UCM_EVENT_MMAP | UCM_EVENT_MUNMAP;
    let expected = events & EXTERNAL.load(Ordering::Relaxed) & TESTED;
    if expected == 0 {
        return true;
    }
    let seen = AtomicU32::new(0);
    let arg = (&raw const seen).cast_mut().cast::<c_void>();
    // SAFETY: `note` takes the address of an atomic, which lives until `remove` returns.
    if unsafe { events::add(expected, c_int::MIN, note, arg) }.is_err() {
        return false;
    }
    let made = vm_calls::map_and_unmap_a_page();
    events::remove(expected, note, arg);
    made && seen.load(Ordering::Relaxed) & expected == expected
}

unsafe extern "C" fn note(kind: EventSet, _event: *mut ucm_event_t, arg: *mut c_void) {
    // SAFETY: `test_external` registers the address of an atomic that outlives the registration.
    unsafe { &*arg.cast::<AtomicU32>() }.fetch_or(kind, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handlers_need_somebody_who_delivers() {
        assert!(refusal(UCM_EVENT_MMAP).is_some());
        assert!(refusal(UCM_EVENT_MMAP | UCM_EVENT_FLAG_NO_INSTALL).is_none());
        assert!(test_external(UCM_EVENT_VM_UNMAPPED));
        set_external(UCM_EVENT_VM_UNMAPPED);
        assert!(refusal(UCM_EVENT_VM_UNMAPPED).is_none());
        // This test program has no hooks.
        assert!(!test_external(UCM_EVENT_VM_UNMAPPED));
        unset_external(UCM_EVENT_VM_UNMAPPED);
        assert!(refusal(UCM_EVENT_VM_UNMAPPED).is_some());
    }
}
