//! Memory from the OS and from C's heap.

use core::ffi::c_void;
use core::num::NonZeroUsize;
use core::ops::Range;
use once_cell::race::OnceNonZeroUsize;
use std::io;

/// The page size, asked once.
pub fn page_size() -> usize {
    static SIZE: OnceNonZeroUsize = OnceNonZeroUsize::new();
    let asked = || {
        // SAFETY: sysconf has no preconditions.
        let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        usize::try_from(size).ok().and_then(NonZeroUsize::new)
    };
    const USUAL: NonZeroUsize = NonZeroUsize::new(4096).unwrap();
    SIZE.get_or_init(|| asked().unwrap_or(USUAL)).get()
}

/// The whole pages that a range reaches into.
pub fn whole_pages(range: Range<usize>) -> Range<usize> {
    let page = page_size();
    let end = range.end.checked_next_multiple_of(page);
    range.start & !(page - 1)..end.unwrap_or(usize::MAX & !(page - 1))
}

/// The memory node that has a range, as a look at some of its pages shows. `None` if they are of several nodes, or the kernel
/// does not say: it has one node, no page is there yet, or the call is forbidden.
pub fn node_of(range: Range<usize>) -> Option<u32> {
    const LOOKED_AT: usize = 16;
    let page = page_size();
    let pages = whole_pages(range);
    let step = (pages.len() / page).div_ceil(LOOKED_AT).max(1) * page;
    let mut at = [core::ptr::null::<c_void>(); LOOKED_AT];
    let mut count = 0;
    for (slot, address) in at.iter_mut().zip(pages.step_by(step)) {
        *slot = core::ptr::without_provenance(address);
        count += 1;
    }
    let mut nodes = [-1i32; LOOKED_AT];
    const TO_NONE: *const i32 = core::ptr::null();
    // SAFETY: without nodes to move to the call moves nothing; both arrays have `count` places.
    let asked = unsafe {
        libc::syscall(
            libc::SYS_move_pages,
            0,
            count,
            at.as_ptr(),
            TO_NONE,
            nodes.as_mut_ptr(),
            0,
        )
    };
    if asked != 0 {
        return None;
    }
    // Pages that are not there have a negative status.
    let mut found = nodes
        .into_iter()
        .filter_map(|node| u32::try_from(node).ok());
    let first = found.next()?;
    found.all(|node| node == first).then_some(first)
}

/// C heap memory, for what C code frees or what outlives Rust's view of it.
pub fn heap_alloc(len: usize, align: usize) -> io::Result<*mut c_void> {
    let mut p = core::ptr::null_mut();
    let align = align.max(size_of::<*mut c_void>()).next_power_of_two();
    // SAFETY: `p` is a valid out pointer, the alignment a power of two and a multiple of a word.
    match unsafe { libc::posix_memalign(&mut p, align, len.max(1)) } {
        0 => Ok(p),
        e => Err(io::Error::from_raw_os_error(e)),
    }
}

/// Frees `heap_alloc`'s memory.
///
/// # Safety
/// `p` must be null or come from C's heap, once.
pub unsafe fn heap_free(p: *mut c_void) {
    // SAFETY: by the caller's promise.
    unsafe { libc::free(p) };
}

/// How private anonymous memory is to be mapped.
#[derive(Clone, Copy, Default)]
pub struct MapOptions {
    /// Exactly at the address given; fails with EEXIST rather than replace a mapping.
    pub fixed: bool,
    /// From the huge page pool.
    pub huge: bool,
    /// Populated and locked at once.
    pub populate: bool,
}

/// Maps `len` bytes of private anonymous memory.
pub fn map_anonymous(address: usize, len: usize, options: MapOptions) -> io::Result<*mut c_void> {
    let mut flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    if options.fixed {
        flags |= libc::MAP_FIXED_NOREPLACE;
    }
    if options.huge {
        flags |= libc::MAP_HUGETLB;
    }
    if options.populate {
        flags |= libc::MAP_POPULATE;
    }
    let prot = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping; NOREPLACE keeps a fixed one from covering memory in use.
    let p = unsafe { libc::mmap(address as *mut c_void, len, prot, flags, -1, 0) };
    if p == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    if options.fixed && p as usize != address {
        // A kernel without NOREPLACE takes the address as a hint.
        // SAFETY: the mapping just made.
        unsafe { libc::munmap(p, len) };
        return Err(io::Error::from_raw_os_error(libc::EEXIST));
    }
    Ok(p)
}

/// Unmaps.
///
/// # Safety
/// The range must be a mapping of the caller's that nothing uses any more.
pub unsafe fn unmap(address: *mut c_void, len: usize) -> io::Result<()> {
    // SAFETY: by the caller's promise.
    if unsafe { libc::munmap(address, len) } == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Holds the pages of a range in memory, and brings them in.
pub fn lock(address: usize, len: usize) -> io::Result<()> {
    // SAFETY: changes no contents; a range that is not mapped is an error.
    if unsafe { libc::mlock(address as *const c_void, len) } == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Lets the pages of a range go again.
pub fn unlock(address: usize, len: usize) -> io::Result<()> {
    // SAFETY: as above.
    if unsafe { libc::munlock(address as *const c_void, len) } == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Most bytes that this process may lock; `None` without a limit.
pub fn locked_limit() -> Option<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: a writable struct.
    let asked = unsafe { libc::getrlimit(libc::RLIMIT_MEMLOCK, &mut limit) };
    (asked == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

/// Passes an advice (`MADV_*`) on a range of the caller's.
pub fn advise(address: usize, len: usize, advice: i32) -> io::Result<()> {
    // SAFETY: the advices used (WILLNEED, HUGEPAGE) change no contents.
    if unsafe { libc::madvise(address as *mut c_void, len, advice) } == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Advices that change no contents.
pub const ADVISE_WILLNEED: i32 = libc::MADV_WILLNEED;
pub const ADVISE_NORMAL: i32 = libc::MADV_NORMAL;
pub const ADVISE_HUGE: i32 = libc::MADV_HUGEPAGE;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_rounded_to_whole_pages() {
        let page = page_size();
        assert_eq!(whole_pages(page + 1..2 * page + 1), page..3 * page);
        assert_eq!(whole_pages(page..2 * page), page..2 * page);
        assert_eq!(whole_pages(page + 5..page + 5), page..2 * page);
        let last = usize::MAX & !(page - 1);
        assert_eq!(whole_pages(last - 1..usize::MAX), last - page..last);
    }
}
