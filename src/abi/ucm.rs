//! `ucm/api/ucm.h`: memory events and the memory calls that make them.

use crate::abi::jump::{hidden_name, jump};
use crate::c::prelude::*;
use crate::sys::{library, vm_calls};
use crate::ucm::hooks::Refusal;
use crate::ucm::{EventSet, calls, events, hooks};
use crate::ucs::Status;
use crate::ucs::config::{Config, ucm, var};
use crate::ucs_diag;
use core::arch::global_asm;
use core::cell::UnsafeCell;
use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, Ordering};

/// The head of `ucm_global_config_t` that every release has: 48 bytes, so that no executable's
/// copy is smaller.
#[repr(C)]
pub struct GlobalOpts {
    log_level: ucs_log_level_t,
    enable_events: c_int,
    mmap_hook_mode: ucm_mmap_hook_mode_t,
    enable_malloc_hooks: c_int,
    enable_malloc_reloc: c_int,
    rest: [u32; 7],
}
const _: () = assert!(size_of::<GlobalOpts>() == 48);

#[repr(transparent)]
pub struct Exported(UnsafeCell<GlobalOpts>);

// SAFETY: the library never touches the object; programs may, before they use UCM.
unsafe impl Sync for Exported {}

// Room behind the object for upstream's longer one (72 bytes in 1.22), as behind `ucs_global_opts`.
global_asm!(
    ".section .data.ucm_global_opts, \"aw\", @progbits",
    ".subsection 1",
    ".zero 80",
    ".subsection 0",
    ".text",
);

/// Options that a program may change before it uses UCM, in the first 1.12 releases' way. Nothing
/// is hooked here, so none has an effect; `ucm_set_global_opts` and `UCX_MEM_EVENTS` do.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".data.ucm_global_opts")]
pub static ucm_global_opts: Exported = Exported(UnsafeCell::new(GlobalOpts {
    log_level: UCS_LOG_LEVEL_WARN,
    enable_events: 1,
    mmap_hook_mode: UCM_MMAP_HOOK_NONE,
    enable_malloc_hooks: 0,
    enable_malloc_reloc: 0,
    rest: [0; 7],
}));

/// Reads `UCX_MEM_*`, unless the program has set options already.
fn configure() {
    if hooks::is_unset() {
        let config = Config::read_lenient(&ucm::TABLE);
        let mode = match config.enum_index(var!(ucm::TABLE, "MMAP_HOOK_MODE")) {
            ucm::NO_HOOKS => hooks::Mode::Forbidden,
            ucm::BY_LINKAGE => hooks::Mode::ByLinkage,
            _ => hooks::Mode::ByApi,
        };
        hooks::set_default(config.bool(var!(ucm::TABLE, "EVENTS")), mode);
    }
}

/// Has the memory calls of loaded objects go to those of this header, where the user wants it. Objects that were loaded since the
/// last handler was registered are included.
fn change_linkage() {
    let targets: [(&CStr, *const ()); 9] = [
        (c"mmap", ucm_mmap as *const ()),
        (c"mmap64", ucm_mmap as *const ()),
        (c"munmap", ucm_munmap as *const ()),
        (c"mremap", ucm_mremap as *const ()),
        (c"shmat", ucm_shmat as *const ()),
        (c"shmdt", ucm_shmdt as *const ()),
        (c"sbrk", ucm_sbrk as *const ()),
        (c"brk", ucm_brk as *const ()),
        (c"madvise", ucm_madvise as *const ()),
    ];
    let targets = targets.map(|(name, at)| (name, at.expose_provenance()));
    // SAFETY: each takes the arguments of the call of its name, does the same, and runs the handlers.
    let changed = unsafe { library::redirect(&targets) };
    crate::ucs_debug!("{changed} memory calls of loaded objects run handlers of memory events now");
}

/// Says once what a client may miss that waits for these events.
fn tell_of_undelivered(events: EventSet) {
    static TOLD: AtomicBool = AtomicBool::new(false);
    if hooks::undelivered(events) != 0 && !TOLD.swap(true, Ordering::Relaxed) {
        ucs_diag!(
            "memory events {events:#x} come from calls of ucm.h and from ucm_vm_munmap() and the like only: \
             mappings that others change are not seen"
        );
    }
}

/// Sets options, in place of what the environment says: `enable_events` as `UCX_MEM_EVENTS`, `mmap_hook_mode` as
/// `UCX_MEM_MMAP_HOOK_MODE`, from the next handler on. The others are about hooks of malloc() and patched code, of which there are none.
/// `ucm/api/ucm.h`.
///
/// - `ucm_opts` (in): The options; copied.
///
/// # Safety
/// `ucm_opts` is null or options of any release, of which three words are read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucm_set_global_opts(ucm_opts: *const ucm_global_config_t) {
    if ucm_opts.is_null() {
        crate::ucs_error!("ucm_set_global_opts: argument `ucm_opts` is NULL");
        return;
    }
    // SAFETY: checked above; only the fields are read, as older options are shorter.
    let enabled = unsafe { (&raw const (*ucm_opts).enable_events).read() };
    // SAFETY: as above.
    let mode = match unsafe { (&raw const (*ucm_opts).mmap_hook_mode).read() } {
        UCM_MMAP_HOOK_NONE => hooks::Mode::Forbidden,
        UCM_MMAP_HOOK_RELOC => hooks::Mode::ByLinkage,
        _ => hooks::Mode::ByApi,
    };
    hooks::set(enabled != 0, mode);
}

/// Registers a handler of memory events. It hears of the calls of this header, and with
/// `UCX_MEM_MMAP_HOOK_MODE=reloc` of those of loaded objects. `ucm/api/ucm.h`.
///
/// - `events` (in): Bits of `ucm_event_type_t`.
/// - `priority` (in): Lower ones run first, those below 0 before the call itself.
/// - `cb` (in): The handler.
/// - `arg` (in): Its last argument.
/// - returns: UCS_OK. UCS_ERR_INVALID_PARAM for what is no event. UCS_ERR_UNSUPPORTED where the
///   configuration allows none (`UCX_MEM_EVENTS`, `UCX_MEM_MMAP_HOOK_MODE`).
///
/// # Safety
/// `cb` may be called with `arg` until it is removed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucm_set_event_handler(
    events: c_int,
    priority: c_int,
    cb: ucm_event_callback_t,
    arg: *mut c_void,
) -> ucs_status_t {
    let Some(cb) = cb else {
        crate::ucs_error!("ucm_set_event_handler: argument `cb` is NULL");
        return UCS_ERR_INVALID_PARAM;
    };
    configure();
    let refused = hooks::refusal(events as u32);
    if let Some(reason) = refused {
        crate::ucs_debug!("no handler for memory events {events:#x}: {reason}");
    }
    match refused {
        Some(Refusal::NoEvent) => return UCS_ERR_INVALID_PARAM,
        Some(Refusal::Disabled | Refusal::NoHooks) => return UCS_ERR_UNSUPPORTED,
        None => {}
    }
    let needs_linkage = hooks::needs_linkage(events as u32);
    if !needs_linkage {
        tell_of_undelivered(events as u32);
    }
    // SAFETY: the caller's promise.
    match unsafe { events::add(events as u32, priority, cb, arg) } {
        Ok(()) => {
            if needs_linkage {
                change_linkage();
            }
            UCS_OK
        }
        Err(events::Refused::Busy) => {
            crate::ucs_error!("a memory event handler cannot be added from inside a handler");
            Status::BUSY.code()
        }
    }
}

/// Removes events from a handler; waits for callbacks under way. `ucm/api/ucm.h`.
///
/// - `events` (in): Bits of `ucm_event_type_t`.
/// - `cb` (in): The handler.
/// - `arg` (in): As it was given with the handler.
#[unsafe(no_mangle)]
pub extern "C" fn ucm_unset_event_handler(
    events: c_int,
    cb: ucm_event_callback_t,
    arg: *mut c_void,
) {
    if let Some(cb) = cb {
        events::remove(events as u32, cb, arg);
    }
}

/// Declares events that the program delivers by itself. `ucm/api/ucm.h`.
///
/// - `events` (in): Bits of `ucm_event_type_t`.
#[unsafe(no_mangle)]
pub extern "C" fn ucm_set_external_event(events: c_int) {
    hooks::set_external(events as u32);
}

/// Takes a declaration back. `ucm/api/ucm.h`.
///
/// - `events` (in): Bits of `ucm_event_type_t`.
#[unsafe(no_mangle)]
pub extern "C" fn ucm_unset_external_event(events: c_int) {
    hooks::unset_external(events as u32);
}

/// Tells whether the hooks that the library installed work. `ucm/api/ucm.h`.
///
/// - `events` (in): Bits of `ucm_event_type_t`.
/// - returns: UCS_OK or UCS_ERR_UNSUPPORTED.
#[unsafe(no_mangle)]
pub extern "C" fn ucm_test_events(events: c_int) -> ucs_status_t {
    status_of(hooks::test_own(events as u32))
}

/// Whether the program delivers the events that it declared. `ucm/api/ucm.h`.
///
/// - `events` (in): Bits of `ucm_event_type_t`.
/// - returns: UCS_OK or UCS_ERR_UNSUPPORTED.
#[unsafe(no_mangle)]
pub extern "C" fn ucm_test_external_events(events: c_int) -> ucs_status_t {
    status_of(hooks::test_external(events as u32))
}

fn status_of(works: bool) -> ucs_status_t {
    if works { UCS_OK } else { UCS_ERR_UNSUPPORTED }
}

/// Tells the handlers that the program mapped a range. `ucm/api/ucm.h`.
///
/// - `addr` (in): Start of the range.
/// - `length` (in): Bytes of the range.
#[unsafe(no_mangle)]
pub extern "C" fn ucm_vm_mmap(addr: *mut c_void, length: usize) {
    events::mapped(addr, length);
}

/// Tells the handlers that the program unmaps a range. `ucm/api/ucm.h`.
///
/// - `addr` (in): Start of the range.
/// - `length` (in): Bytes of the range.
#[unsafe(no_mangle)]
pub extern "C" fn ucm_vm_munmap(addr: *mut c_void, length: usize) {
    events::unmapped(addr, length);
}

/// mmap(2) without events. `ucm/api/ucm.h`.
///
/// - `addr` (in): Address wanted, or NULL.
/// - `length` (in): Bytes of the range.
/// - `prot` (in): As of the system call.
/// - `flags` (in): As of the system call.
/// - `fd` (in): As of the system call.
/// - `offset` (in): As of the system call.
/// - returns: As the system call: an address, or the error value with errno set.
///
/// # Safety
/// As the system's call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucm_orig_mmap(
    addr: *mut c_void,
    length: usize,
    prot: c_int,
    flags: c_int,
    fd: c_int,
    offset: off_t,
) -> *mut c_void {
    // SAFETY: the caller's promise is the call's own.
    unsafe { vm_calls::mmap(addr, length, prot, flags, fd, offset) }
}

/// munmap(2) without events. `ucm/api/ucm.h`.
///
/// - `addr` (in): Start of the range.
/// - `length` (in): Bytes of the range.
/// - returns: 0, or -1 with errno set.
///
/// # Safety
/// As the system's call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucm_orig_munmap(addr: *mut c_void, length: usize) -> c_int {
    // SAFETY: the caller's promise is the call's own.
    unsafe { vm_calls::munmap(addr, length) }
}

/// mremap(2) without events. `ucm/api/ucm.h`.
///
/// - `old_address` (in): Start of the range.
/// - `old_size` (in): Its bytes.
/// - `new_size` (in): Bytes wanted.
/// - `flags` (in): As of the system call.
/// - `new_address` (in): Where it shall be, with MREMAP_FIXED.
/// - returns: As the system call: an address, or the error value with errno set.
///
/// # Safety
/// As the system's call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucm_orig_mremap(
    old_address: *mut c_void,
    old_size: usize,
    new_size: usize,
    flags: c_int,
    new_address: *mut c_void,
) -> *mut c_void {
    // SAFETY: the caller's promise is the call's own.
    unsafe { vm_calls::mremap(old_address, old_size, new_size, flags, new_address) }
}

/// shmat(2) without events. `ucm/api/ucm.h`.
///
/// - `shmid` (in): Segment.
/// - `shmaddr` (in): Address of the segment, as of the system call.
/// - `shmflg` (in): As of the system call.
/// - returns: As the system call: an address, or the error value with errno set.
///
/// # Safety
/// As the system's call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucm_orig_shmat(
    shmid: c_int,
    shmaddr: *const c_void,
    shmflg: c_int,
) -> *mut c_void {
    // SAFETY: the caller's promise is the call's own.
    unsafe { vm_calls::shmat(shmid, shmaddr, shmflg) }
}

/// shmdt(2) without events. `ucm/api/ucm.h`.
///
/// - `shmaddr` (in): Address of the segment, as of the system call.
/// - returns: 0, or -1 with errno set.
///
/// # Safety
/// As the system's call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucm_orig_shmdt(shmaddr: *const c_void) -> c_int {
    // SAFETY: the caller's promise is the call's own.
    unsafe { vm_calls::shmdt(shmaddr) }
}

/// sbrk(3) without events. `ucm/api/ucm.h`.
///
/// - `increment` (in): Bytes by which the break moves.
/// - returns: As the system call: an address, or the error value with errno set.
///
/// # Safety
/// As the system's call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucm_orig_sbrk(increment: isize) -> *mut c_void {
    // SAFETY: the caller's promise is the call's own.
    unsafe { vm_calls::sbrk(increment) }
}

/// brk(2) without events. `ucm/api/ucm.h`.
///
/// - `addr` (in): New end of the heap.
/// - returns: 0, or -1 with errno set.
///
/// # Safety
/// As the system's call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucm_orig_brk(addr: *mut c_void) -> c_int {
    // SAFETY: the caller's promise is the call's own.
    unsafe { vm_calls::brk(addr) }
}

/// madvise(2) without events. `ucm/api/ucm.h`.
///
/// - `addr` (in): Start of the range.
/// - `length` (in): Bytes of the range.
/// - `advice` (in): As of the system call.
/// - returns: 0, or -1 with errno set.
///
/// # Safety
/// As the system's call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucm_orig_madvise(
    addr: *mut c_void,
    length: usize,
    advice: c_int,
) -> c_int {
    // SAFETY: the caller's promise is the call's own.
    unsafe { vm_calls::madvise(addr, length, advice) }
}

/// mmap(2) with events. `ucm/api/ucm.h`.
///
/// - `addr` (in): Address wanted, or NULL.
/// - `length` (in): Bytes of the range.
/// - `prot` (in): As of the system call.
/// - `flags` (in): As of the system call.
/// - `fd` (in): As of the system call.
/// - `offset` (in): As of the system call.
/// - returns: As the system call: an address, or the error value with errno set.
///
/// # Safety
/// As the system's call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucm_mmap(
    addr: *mut c_void,
    length: usize,
    prot: c_int,
    flags: c_int,
    fd: c_int,
    offset: off_t,
) -> *mut c_void {
    // SAFETY: the caller's promise is the call's own.
    unsafe { calls::mmap(addr, length, prot, flags, fd, offset) }
}

/// munmap(2) with events. `ucm/api/ucm.h`.
///
/// - `addr` (in): Start of the range.
/// - `length` (in): Bytes of the range.
/// - returns: 0, or -1 with errno set.
///
/// # Safety
/// As the system's call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucm_munmap(addr: *mut c_void, length: usize) -> c_int {
    // SAFETY: the caller's promise is the call's own.
    unsafe { calls::munmap(addr, length) }
}

/// shmat(2) with events. `ucm/api/ucm.h`.
///
/// - `shmid` (in): Segment.
/// - `shmaddr` (in): Address of the segment, as of the system call.
/// - `shmflg` (in): As of the system call.
/// - returns: As the system call: an address, or the error value with errno set.
///
/// # Safety
/// As the system's call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucm_shmat(
    shmid: c_int,
    shmaddr: *const c_void,
    shmflg: c_int,
) -> *mut c_void {
    // SAFETY: the caller's promise is the call's own.
    unsafe { calls::shmat(shmid, shmaddr, shmflg) }
}

/// shmdt(2) with events. `ucm/api/ucm.h`.
///
/// - `shmaddr` (in): Address of the segment, as of the system call.
/// - returns: 0, or -1 with errno set.
///
/// # Safety
/// As the system's call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucm_shmdt(shmaddr: *const c_void) -> c_int {
    // SAFETY: the caller's promise is the call's own.
    unsafe { calls::shmdt(shmaddr) }
}

/// sbrk(3) with events. `ucm/api/ucm.h`.
///
/// - `increment` (in): Bytes by which the break moves.
/// - returns: As the system call: an address, or the error value with errno set.
///
/// # Safety
/// As the system's call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucm_sbrk(increment: isize) -> *mut c_void {
    // SAFETY: the caller's promise is the call's own.
    unsafe { calls::sbrk(increment) }
}

/// brk(2) with events. `ucm/api/ucm.h`.
///
/// - `addr` (in): New end of the heap.
/// - returns: 0, or -1 with errno set.
///
/// # Safety
/// As the system's call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucm_brk(addr: *mut c_void) -> c_int {
    // SAFETY: the caller's promise is the call's own.
    unsafe { calls::brk(addr) }
}

/// madvise(2) with events. `ucm/api/ucm.h`.
///
/// - `addr` (in): Start of the range.
/// - `length` (in): Bytes of the range.
/// - `advice` (in): As of the system call.
/// - returns: 0, or -1 with errno set.
///
/// # Safety
/// As the system's call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucm_madvise(addr: *mut c_void, length: usize, advice: c_int) -> c_int {
    // SAFETY: the caller's promise is the call's own.
    unsafe { calls::madvise(addr, length, advice) }
}

/// dlopen(3); nothing is hooked in the new object. `ucm/api/ucm.h`.
///
/// - `filename` (in): Name of the object, NUL-terminated, or NULL.
/// - `flag` (in): As of dlopen(3).
/// - returns: Handle of the object, or NULL.
///
/// # Safety
/// As the system's call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucm_dlopen(filename: *const c_char, flag: c_int) -> *mut c_void {
    // SAFETY: the caller's promise is the call's own.
    unsafe { vm_calls::dlopen(filename, flag) }
}

unsafe extern "C" {
    fn ferrucx_ucm_mremap();
}

/// mremap(2) with events: `(void *old_address, size_t old_size, size_t new_size, int flags, ...)`,
/// the new address last where `MREMAP_FIXED` asks for it. `ucm/api/ucm.h`.
///
/// # Safety
/// As mremap(2).
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucm_mremap() {
    jump!(ferrucx_ucm_mremap);
}

/// The C part's way back.
unsafe extern "C" fn mremap(
    old_address: *mut c_void,
    old_size: usize,
    new_size: usize,
    flags: c_int,
    new_address: *mut c_void,
) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { calls::mremap(old_address, old_size, new_size, flags, new_address) }
}

hidden_name!("ferrucx_mremap", mremap);
