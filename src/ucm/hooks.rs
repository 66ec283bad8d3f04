//! Which memory events are reported without the program's help: none by default, and with `UCX_MEM_MMAP_HOOK_MODE=reloc` those of
//! calls that loaded objects make through their linkage tables.
//!
//! The library patches no code, so this does not see unmappings by the kernel (registration caches do, by `ucs::unmapped`). A program
//! with hooks of its own declares the events "external" and delivers them; it can test whether it does. Handlers may be
//! registered in any case, because clients take a refusal for a failure. They get the calls of `calls` and what the
//! program reports.

use super::{EventSet, events};
use crate::c::{
    UCM_EVENT_BRK, UCM_EVENT_FLAG_EXISTING_ALLOC, UCM_EVENT_FLAG_NO_INSTALL, UCM_EVENT_MADVISE,
    UCM_EVENT_MEM_TYPE_ALLOC, UCM_EVENT_MEM_TYPE_FREE, UCM_EVENT_MMAP, UCM_EVENT_MREMAP,
    UCM_EVENT_MUNMAP, UCM_EVENT_SBRK, UCM_EVENT_SHMAT, UCM_EVENT_SHMDT, UCM_EVENT_VM_MAPPED,
    UCM_EVENT_VM_UNMAPPED, ucm_event_t,
};
use crate::sys::vm_calls;
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

static EXTERNAL: AtomicU32 = AtomicU32::new(0);
/// Whether handlers may be registered, and whether the user says that there are to be no hooks: then a handler that needs
/// them is refused.
static ALLOWED: AtomicU8 = AtomicU8::new(UNSET);

/// Values of `ALLOWED`. Registration is on until somebody decides.
const UNSET: u8 = 0;
const ALL: u8 = 1;
const WITHOUT_HOOKS: u8 = 2;
const NONE: u8 = 3;
/// Linkage tables are to be changed for handlers that need hooks.
const BY_LINKAGE: u8 = 4;

/// What the user says of hooks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Forbidden,
    ByApi,
    ByLinkage,
}

/// What hooks in the process would report.
const NEED_HOOKS: EventSet = UCM_EVENT_MMAP
    | UCM_EVENT_MUNMAP
    | UCM_EVENT_MREMAP
    | UCM_EVENT_SHMAT
    | UCM_EVENT_SHMDT
    | UCM_EVENT_SBRK
    | UCM_EVENT_MADVISE
    | UCM_EVENT_BRK
    | UCM_EVENT_VM_MAPPED
    | UCM_EVENT_VM_UNMAPPED;
/// All events and flags that there are.
const KNOWN: EventSet = NEED_HOOKS
    | UCM_EVENT_MEM_TYPE_ALLOC
    | UCM_EVENT_MEM_TYPE_FREE
    | UCM_EVENT_FLAG_NO_INSTALL
    | UCM_EVENT_FLAG_EXISTING_ALLOC;

/// Declares events that the program delivers.
pub fn set_external(events: EventSet) {
    EXTERNAL.fetch_or(events, Ordering::Relaxed);
}

pub fn unset_external(events: EventSet) {
    EXTERNAL.fetch_and(!events, Ordering::Relaxed);
}

/// What the program says, in place of the configuration.
pub fn set(enabled: bool, mode: Mode) {
    ALLOWED.store(allowed(enabled, mode), Ordering::Relaxed);
}

/// Whether nobody has decided yet.
pub fn is_unset() -> bool {
    ALLOWED.load(Ordering::Relaxed) == UNSET
}

/// What the configuration says, where nobody has decided yet.
pub fn set_default(enabled: bool, mode: Mode) {
    let allowed = allowed(enabled, mode);
    let _ = ALLOWED.compare_exchange(UNSET, allowed, Ordering::Relaxed, Ordering::Relaxed);
}

/// A value of `ALLOWED`.
fn allowed(enabled: bool, mode: Mode) -> u8 {
    match (enabled, mode) {
        (false, _) => NONE,
        (true, Mode::Forbidden) => WITHOUT_HOOKS,
        (true, Mode::ByApi) => ALL,
        (true, Mode::ByLinkage) => BY_LINKAGE,
    }
}

/// Why a handler may not be registered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// Some of the bits are neither events nor flags.
    NoEvent,
    /// By configuration there are no memory events.
    Disabled,
    /// By configuration there are no hooks, and nobody else delivers these.
    NoHooks,
}

impl core::fmt::Display for Refusal {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Refusal::NoEvent => "some bits are no events",
            Refusal::Disabled => "UCX_MEM_EVENTS=n disables them",
            Refusal::NoHooks => "UCX_MEM_MMAP_HOOK_MODE=none delivers none of them",
        })
    }
}

/// Why a handler for `events` may not be registered; none when it may.
pub fn refusal(events: EventSet) -> Option<Refusal> {
    let allowed = ALLOWED.load(Ordering::Relaxed);
    if events & !KNOWN != 0 {
        Some(Refusal::NoEvent)
    } else if events == 0 {
        None
    } else if allowed == NONE {
        Some(Refusal::Disabled)
    } else if allowed == WITHOUT_HOOKS && undelivered(events) != 0 {
        Some(Refusal::NoHooks)
    } else {
        None
    }
}

/// Whether linkage tables are to be changed for a handler of these.
pub fn needs_linkage(events: EventSet) -> bool {
    ALLOWED.load(Ordering::Relaxed) == BY_LINKAGE && undelivered(events) != 0
}

/// Those of `events` of which nobody tells but calls of the API.
pub fn undelivered(events: EventSet) -> EventSet {
    if events & UCM_EVENT_FLAG_NO_INSTALL != 0 {
        return 0;
    }
    events & NEED_HOOKS & !EXTERNAL.load(Ordering::Relaxed)
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
    fn known_events_have_handlers_unless_hooks_are_forbidden() {
        assert_eq!(refusal(UCM_EVENT_MMAP), None);
        assert_eq!(refusal(UCM_EVENT_MMAP | 1 << 10), Some(Refusal::NoEvent));
        ALLOWED.store(WITHOUT_HOOKS, Ordering::Relaxed);
        assert_eq!(refusal(UCM_EVENT_MMAP), Some(Refusal::NoHooks));
        assert_eq!(refusal(UCM_EVENT_MEM_TYPE_FREE), None);
        assert_eq!(refusal(UCM_EVENT_MMAP | UCM_EVENT_FLAG_NO_INSTALL), None);
        assert!(test_external(UCM_EVENT_VM_UNMAPPED));
        set_external(UCM_EVENT_VM_UNMAPPED);
        assert_eq!(refusal(UCM_EVENT_VM_UNMAPPED), None);
        // This test program has no hooks.
        assert!(!test_external(UCM_EVENT_VM_UNMAPPED));
        unset_external(UCM_EVENT_VM_UNMAPPED);
        assert_eq!(refusal(UCM_EVENT_VM_UNMAPPED), Some(Refusal::NoHooks));
        assert_eq!(undelivered(UCM_EVENT_VM_UNMAPPED), UCM_EVENT_VM_UNMAPPED);
        ALLOWED.store(UNSET, Ordering::Relaxed);
    }
}
