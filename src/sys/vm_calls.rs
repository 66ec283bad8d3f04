//! The memory calls that the UCM API offers, as the OS has them: results and errno as in C.
//!
//! Those that have a system call go to the kernel directly: a program may have patched the libc
//! functions to report to UCM, and "original" must not report. The break is libc's own variable, so
//! brk and sbrk are libc's.

use crate::sys::file::read_kernel_text;
use core::ffi::{c_int, c_void};
use libc::off_t;

/// What mmap, mremap and shmat answer when they fail.
pub const FAILED: *mut c_void = libc::MAP_FAILED;

/// # Safety
/// As mmap(2): with MAP_FIXED, nothing lives in the range.
pub unsafe fn mmap(
    addr: *mut c_void,
    len: usize,
    prot: c_int,
    flags: c_int,
    fd: c_int,
    offset: off_t,
) -> *mut c_void {
    // SAFETY: the caller's promise is the call's own.
    unsafe { libc::syscall(libc::SYS_mmap, addr, len, prot, flags, fd, offset) as *mut c_void }
}

/// # Safety
/// As munmap(2): nothing lives in the range.
pub unsafe fn munmap(addr: *mut c_void, len: usize) -> c_int {
    // SAFETY: the caller's promise is the call's own.
    unsafe { libc::syscall(libc::SYS_munmap, addr, len) as c_int }
}

/// # Safety
/// As mremap(2): nothing refers to the old range any more.
pub unsafe fn mremap(
    addr: *mut c_void,
    old_len: usize,
    new_len: usize,
    flags: c_int,
    new_addr: *mut c_void,
) -> *mut c_void {
    // SAFETY: the caller's promise is the call's own.
    unsafe {
        libc::syscall(libc::SYS_mremap, addr, old_len, new_len, flags, new_addr) as *mut c_void
    }
}

/// # Safety
/// As madvise(2): with advice that drops pages, nothing lives in them.
pub unsafe fn madvise(addr: *mut c_void, len: usize, advice: c_int) -> c_int {
    // SAFETY: the caller's promise is the call's own.
    unsafe { libc::syscall(libc::SYS_madvise, addr, len, advice) as c_int }
}

/// # Safety
/// As shmat(2): with SHM_REMAP, nothing lives in the range.
pub unsafe fn shmat(id: c_int, addr: *const c_void, flags: c_int) -> *mut c_void {
    // SAFETY: the caller's promise is the call's own.
    unsafe { libc::syscall(libc::SYS_shmat, id, addr, flags) as *mut c_void }
}

/// # Safety
/// As shmdt(2): nothing lives in the segment.
pub unsafe fn shmdt(addr: *const c_void) -> c_int {
    // SAFETY: the caller's promise is the call's own.
    unsafe { libc::syscall(libc::SYS_shmdt, addr) as c_int }
}

/// # Safety
/// As sbrk(3): a shrinking break leaves nothing behind it.
pub unsafe fn sbrk(increment: isize) -> *mut c_void {
    // SAFETY: the caller's promise is the call's own.
    unsafe { libc::sbrk(increment) }
}

/// # Safety
/// As brk(2): a shrinking break leaves nothing behind it.
pub unsafe fn brk(addr: *mut c_void) -> c_int {
    // SAFETY: the caller's promise is the call's own.
    unsafe { libc::brk(addr) }
}

/// The size of a System V segment, 0 when there is none.
pub fn segment_size(id: c_int) -> usize {
    // SAFETY: shmid_ds is plain integers; all zeros is a value of it.
    let mut info: libc::shmid_ds = unsafe { core::mem::zeroed() };
    // SAFETY: a writable local.
    match unsafe { libc::shmctl(id, libc::IPC_STAT, &mut info) } {
        0 => info.shm_segsz,
        _ => 0,
    }
}

/// The length of the mapping that begins at `addr`, 0 when there is none.
pub fn mapping_len(addr: usize) -> usize {
    let Ok(maps) = read_kernel_text("/proc/self/maps") else {
        return 0;
    };
    let ranges = maps.lines().filter_map(|line| {
        let (range, _) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let start = usize::from_str_radix(start, 16).ok()?;
        Some((start, usize::from_str_radix(end, 16).ok()?))
    });
    ranges
        .into_iter()
        .find(|(start, _)| *start == addr)
        .map_or(0, |(start, end)| end - start)
}

/// dlopen(3).
///
/// # Safety
/// `file` is null or a C string; constructors of the object run.
pub unsafe fn dlopen(file: *const core::ffi::c_char, flags: c_int) -> *mut c_void {
    // SAFETY: the caller's promise is the call's own.
    unsafe { libc::dlopen(file, flags) }
}

/// Maps a page with libc's functions and unmaps it: what a program's own hooks see.
pub fn map_and_unmap_a_page() -> bool {
    const LEN: usize = 4096;
    // SAFETY: a new anonymous mapping at an address of the kernel's choice.
    let page = unsafe {
        libc::mmap(
            core::ptr::null_mut(),
            LEN,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    // SAFETY: the mapping made above, which nothing refers to.
    page != FAILED && unsafe { libc::munmap(page, LEN) } == 0
}
