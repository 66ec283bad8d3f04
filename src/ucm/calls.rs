//! The memory calls of the API: each runs the handlers of its event around the system's call, and
//! tells about the range that appears or goes.
//!
//! A handler before the call may answer in its place by setting the result.

use super::events::{around, mapped, unmapped};
use crate::c::*;
use crate::sys::fork::ForkLocked;
use crate::sys::vm_calls::{self, FAILED};
use core::ffi::{c_int, c_void};
use libc::off_t;

/// Segments that `shmat` attached: address and size.
static SEGMENTS: ForkLocked<Vec<(usize, usize)>> = ForkLocked::new(Vec::new());

/// # Safety
/// As mmap(2).
pub unsafe fn mmap(
    address: *mut c_void,
    size: usize,
    prot: c_int,
    flags: c_int,
    fd: c_int,
    offset: off_t,
) -> *mut c_void {
    let mut event = ucm_event_t {
        mmap: ucm_event_mmap {
            result: FAILED,
            address,
            size,
            prot,
            flags,
            fd,
            offset,
        },
    };
    around(UCM_EVENT_MMAP, &mut event, |event| {
        // SAFETY: an event of this kind; handlers keep it so.
        let e = unsafe { &mut event.mmap };
        if e.result == FAILED {
            // SAFETY: the caller's promise.
            e.result =
                unsafe { vm_calls::mmap(e.address, e.size, e.prot, e.flags, e.fd, e.offset) };
        }
    });
    // SAFETY: as above.
    let result = unsafe { event.mmap.result };
    if result != FAILED {
        mapped(result, size);
    }
    result
}

/// # Safety
/// As munmap(2).
pub unsafe fn munmap(address: *mut c_void, size: usize) -> c_int {
    unmapped(address, size);
    let mut event = ucm_event_t {
        munmap: ucm_event_munmap {
            result: -1,
            address,
            size,
        },
    };
    around(UCM_EVENT_MUNMAP, &mut event, |event| {
        // SAFETY: an event of this kind; handlers keep it so.
        let e = unsafe { &mut event.munmap };
        if e.result == -1 {
            // SAFETY: the caller's promise.
            e.result = unsafe { vm_calls::munmap(e.address, e.size) };
        }
    });
    // SAFETY: as above.
    unsafe { event.munmap.result }
}

/// # Safety
/// As mremap(2).
pub unsafe fn mremap(
    address: *mut c_void,
    old_size: usize,
    new_size: usize,
    flags: c_int,
    new_address: *mut c_void,
) -> *mut c_void {
    unmapped(address, old_size);
    let mut event = ucm_event_t {
        mremap: ucm_event_mremap {
            result: FAILED,
            address,
            old_size,
            new_size,
            flags,
            new_address,
        },
    };
    around(UCM_EVENT_MREMAP, &mut event, |event| {
        // SAFETY: an event of this kind; handlers keep it so.
        let e = unsafe { &mut event.mremap };
        if e.result == FAILED {
            // SAFETY: the caller's promise.
            e.result = unsafe {
                vm_calls::mremap(e.address, e.old_size, e.new_size, e.flags, e.new_address)
            };
        }
    });
    // SAFETY: as above.
    let result = unsafe { event.mremap.result };
    if result != FAILED {
        mapped(result, new_size);
    }
    result
}

/// # Safety
/// As shmat(2).
pub unsafe fn shmat(shmid: c_int, shmaddr: *const c_void, shmflg: c_int) -> *mut c_void {
    let size = vm_calls::segment_size(shmid);
    let mut event = ucm_event_t {
        shmat: ucm_event_shmat {
            result: FAILED,
            shmid,
            shmaddr,
            shmflg,
        },
    };
    around(UCM_EVENT_SHMAT, &mut event, |event| {
        // SAFETY: an event of this kind; handlers keep it so.
        let e = unsafe { &mut event.shmat };
        if e.result == FAILED {
            // SAFETY: the caller's promise.
            e.result = unsafe { vm_calls::shmat(e.shmid, e.shmaddr, e.shmflg) };
        }
    });
    // SAFETY: as above.
    let result = unsafe { event.shmat.result };
    if result != FAILED {
        remember_segment(result as usize, size);
        mapped(result, size);
    }
    result
}

/// # Safety
/// As shmdt(2).
pub unsafe fn shmdt(shmaddr: *const c_void) -> c_int {
    unmapped(shmaddr.cast_mut(), segment_at(shmaddr as usize));
    let mut event = ucm_event_t {
        shmdt: ucm_event_shmdt {
            result: -1,
            shmaddr,
        },
    };
    around(UCM_EVENT_SHMDT, &mut event, |event| {
        // SAFETY: an event of this kind; handlers keep it so.
        let e = unsafe { &mut event.shmdt };
        if e.result == -1 {
            // SAFETY: the caller's promise.
            e.result = unsafe { vm_calls::shmdt(e.shmaddr) };
        }
    });
    // SAFETY: as above.
    let result = unsafe { event.shmdt.result };
    if result == 0 {
        forget_segment(shmaddr as usize);
    }
    result
}

/// # Safety
/// As sbrk(3).
pub unsafe fn sbrk(increment: isize) -> *mut c_void {
    if increment < 0 {
        unmapped(
            current_break().wrapping_offset(increment),
            increment.unsigned_abs(),
        );
    }
    let mut event = ucm_event_t {
        sbrk: ucm_event_sbrk {
            result: FAILED,
            increment,
        },
    };
    around(UCM_EVENT_SBRK, &mut event, |event| {
        // SAFETY: an event of this kind; handlers keep it so.
        let e = unsafe { &mut event.sbrk };
        if e.result == FAILED {
            // SAFETY: the caller's promise.
            e.result = unsafe { vm_calls::sbrk(e.increment) };
        }
    });
    // SAFETY: as above.
    let result = unsafe { event.sbrk.result };
    if increment > 0 && result != FAILED {
        mapped(
            current_break().wrapping_offset(-increment),
            increment as usize,
        );
    }
    result
}

/// # Safety
/// As brk(2).
pub unsafe fn brk(addr: *mut c_void) -> c_int {
    let old = current_break();
    let growth = (addr as isize).wrapping_sub(old as isize);
    if growth < 0 && !addr.is_null() {
        unmapped(addr, growth.unsigned_abs());
    }
    let mut event = ucm_event_t {
        brk: ucm_event_brk { result: -1, addr },
    };
    around(UCM_EVENT_BRK, &mut event, |event| {
        // SAFETY: an event of this kind; handlers keep it so.
        let e = unsafe { &mut event.brk };
        if e.result == -1 {
            // SAFETY: the caller's promise.
            e.result = unsafe { vm_calls::brk(e.addr) };
        }
    });
    // SAFETY: as above.
    let result = unsafe { event.brk.result };
    if growth > 0 && result != -1 {
        mapped(old, growth as usize);
    }
    result
}

/// # Safety
/// As madvise(2).
pub unsafe fn madvise(addr: *mut c_void, length: usize, advice: c_int) -> c_int {
    // Advice after which the pages are gone.
    if matches!(
        advice,
        libc::MADV_DONTNEED | libc::MADV_REMOVE | libc::MADV_FREE
    ) {
        unmapped(addr, length);
    }
    let mut event = ucm_event_t {
        madvise: ucm_event_madvise {
            result: -1,
            addr,
            length,
            advice,
        },
    };
    around(UCM_EVENT_MADVISE, &mut event, |event| {
        // SAFETY: an event of this kind; handlers keep it so.
        let e = unsafe { &mut event.madvise };
        if e.result == -1 {
            // SAFETY: the caller's promise.
            e.result = unsafe { vm_calls::madvise(e.addr, e.length, e.advice) };
        }
    });
    // SAFETY: as above.
    unsafe { event.madvise.result }
}

fn current_break() -> *mut c_void {
    // SAFETY: moves the break by nothing.
    unsafe { vm_calls::sbrk(0) }
}

fn remember_segment(address: usize, size: usize) {
    SEGMENTS.with(|segments| {
        segments.retain(|s| s.0 != address);
        segments.push((address, size));
    });
}

fn forget_segment(address: usize) {
    SEGMENTS.with(|segments| segments.retain(|s| s.0 != address));
}

/// The size of the segment attached at an address, also when it was attached past us.
fn segment_at(address: usize) -> usize {
    let known = SEGMENTS.with(|segments| segments.iter().find(|s| s.0 == address).map(|s| s.1));
    known.unwrap_or_else(|| vm_calls::mapping_len(address))
}
