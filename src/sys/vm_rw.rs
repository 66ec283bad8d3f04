//! Memory of another process, read and written by the kernel: `process_vm_readv` and `_writev`.
//!
//! The kernel checks both sides and the right to reach the other process; a bad address is an error
//! (`EFAULT`), never a fault.

use crate::sys::file::read_kernel_text;
use std::io::{self, Read};
use std::os::fd::AsRawFd;

/// The direction of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyDirection {
    /// From the other process into local memory.
    Read,
    /// From local memory into the other process.
    Write,
}

/// A range of the other process's memory.
pub fn range(at: u64, length: usize) -> libc::iovec {
    libc::iovec {
        iov_base: at as *mut libc::c_void,
        iov_len: length,
    }
}

/// Copies bytes between the local blocks and the ranges of process `pid`, both in order, as many as the shorter list
/// has. Returns their number, at least one. `ESRCH` when the process is gone, `EPERM` without permission, `EFAULT` when
/// the first byte has no memory on either side.
///
/// # Safety
/// With `CopyDirection::Read` the blocks must be memory that may be overwritten now: the kernel checks that it is
/// there, not whose it is.
pub unsafe fn transfer(
    pid: u32,
    way: CopyDirection,
    blocks: &[libc::iovec],
    ranges: &[libc::iovec],
) -> io::Result<usize> {
    let (here, there, pid) = (blocks.as_ptr(), ranges.as_ptr(), pid as libc::pid_t);
    let (count, far) = (blocks.len() as libc::c_ulong, ranges.len() as libc::c_ulong);
    let done = match way {
        // SAFETY: both are readable lists; the local memory is the caller's promise.
        CopyDirection::Read => unsafe { libc::process_vm_readv(pid, here, count, there, far, 0) },
        // SAFETY: as above; local memory is only read.
        CopyDirection::Write => unsafe { libc::process_vm_writev(pid, here, count, there, far, 0) },
    };
    match usize::try_from(done) {
        Ok(0) => Err(io::Error::from_raw_os_error(libc::EFAULT)),
        Ok(n) => Ok(n),
        Err(_) => Err(io::Error::last_os_error()),
    }
}

/// Reads one word of another process.
pub fn read_word(pid: u32, remote: u64) -> io::Result<u64> {
    let mut word = 0u64;
    let block = [libc::iovec {
        iov_base: core::ptr::from_mut(&mut word).cast(),
        iov_len: size_of::<u64>(),
    }];
    // SAFETY: the block is a local.
    match unsafe {
        transfer(
            pid,
            CopyDirection::Read,
            &block,
            &[range(remote, size_of::<u64>())],
        )
    }? {
        n if n == size_of::<u64>() => Ok(word),
        _ => Err(io::Error::from_raw_os_error(libc::EFAULT)),
    }
}

/// The bytes of this process from `at` on, at most `most`: fewer where they end before, none where `at` has
/// no memory. The kernel reads, so that a bad address is no fault.
pub fn copy_of_own(at: usize, most: usize) -> io::Result<Vec<u8>> {
    match copy_by_call(at, most) {
        // A sandbox may forbid the call.
        Err(e) if matches!(e.raw_os_error(), Some(libc::ENOSYS | libc::EPERM)) => {
            copy_by_pipe(at, most)
        }
        other => other,
    }
}

/// The ranges of `most` bytes from `at` on, none of which crosses a page.
fn by_pages(at: usize, most: usize) -> impl Iterator<Item = libc::iovec> {
    let end = at.saturating_add(most);
    let mut next = at;
    core::iter::from_fn(move || {
        let start = next;
        next = end.min((start | (PAGE - 1)).saturating_add(1));
        (start < next).then(|| range(start as u64, next - start))
    })
}

/// No system has smaller pages.
pub const PAGE: usize = 4096;

fn copy_by_call(at: usize, most: usize) -> io::Result<Vec<u8>> {
    let mut out = vec![0u8; most];
    let ranges: Vec<libc::iovec> = by_pages(at, most).collect();
    let block = [libc::iovec {
        iov_base: out.as_mut_ptr().cast(),
        iov_len: most,
    }];
    // SAFETY: the block is a local.
    let n = match unsafe { transfer(std::process::id(), CopyDirection::Read, &block, &ranges) } {
        Ok(n) => n,
        Err(e) if e.raw_os_error() == Some(libc::EFAULT) => 0,
        Err(e) => return Err(e),
    };
    out.truncate(n);
    Ok(out)
}

/// The same through a pipe, into which the kernel copies from here.
fn copy_by_pipe(at: usize, most: usize) -> io::Result<Vec<u8>> {
    let (mut reader, writer) = io::pipe()?;
    let mut out = Vec::with_capacity(most);
    for part in by_pages(at, most) {
        // SAFETY: the kernel reads the memory, and checks that it is there. An empty pipe has room for a page.
        let n = unsafe { libc::write(writer.as_raw_fd(), part.iov_base, part.iov_len) };
        let Ok(n @ 1..) = usize::try_from(n) else {
            break;
        };
        let old = out.len();
        out.resize(old + n, 0);
        reader.read_exact(&mut out[old..])?;
        if n < part.iov_len {
            break;
        }
    }
    Ok(out)
}

/// Reads and writes a word of this process as if it were another's.
pub fn try_on_ourselves() -> io::Result<()> {
    let me = std::process::id();
    let (mut word, mut copy) = (0x5eed_u64, 0u64);
    let blocks = [libc::iovec {
        iov_base: (&raw mut copy).cast(),
        iov_len: size_of::<u64>(),
    }];
    let ranges = [range((&raw mut word) as u64, size_of::<u64>())];
    // SAFETY: both sides are locals.
    unsafe { transfer(me, CopyDirection::Read, &blocks, &ranges) }?;
    // SAFETY: as above.
    unsafe { transfer(me, CopyDirection::Write, &blocks, &ranges) }.map(drop)
}

/// Lets any process of this user reach this one's memory where the Yama module would ask for a parent
/// (`ptrace_scope` 1). `EINVAL` where there is no Yama.
pub fn allow_any_tracer() -> io::Result<()> {
    // SAFETY: changes an attribute of this process, takes no pointers.
    match unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY, 0, 0, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Yama's `ptrace_scope`, 0 where there is no Yama.
pub fn ptrace_scope() -> u32 {
    read_kernel_text("/proc/sys/kernel/yama/ptrace_scope")
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(0)
}

/// Whether this process may trace others whatever Yama's scope 2 says (`CAP_SYS_PTRACE`).
pub fn may_trace() -> bool {
    const CAP_SYS_PTRACE: u32 = 19;
    let status = read_kernel_text("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))
        .and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok())
        .is_some_and(|caps| caps >> CAP_SYS_PTRACE & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::mem;

    #[test]
    fn own_memory_moves_and_bad_addresses_are_errors() {
        let me = std::process::id();
        let word = 0x1122_3344_5566_7788u64;
        assert_eq!(read_word(me, &raw const word as u64).unwrap(), word);
        let bad = read_word(me, 8).unwrap_err();
        assert_eq!(bad.raw_os_error(), Some(libc::EFAULT));
        let mut to = [0u8; 4];
        let mut from = *b"abcd";
        let blocks = [0, 2].map(|at| libc::iovec {
            iov_base: from[at..].as_mut_ptr().cast(),
            iov_len: 2,
        });
        // SAFETY: both sides are locals.
        let n = unsafe {
            transfer(
                me,
                CopyDirection::Write,
                &blocks,
                &[range(to.as_mut_ptr() as u64, 4)],
            )
        };
        assert_eq!(n.unwrap(), 4);
        // Written behind the compiler's back: read it as such.
        // SAFETY: a readable local.
        assert_eq!(&unsafe { (&raw mut to).read_volatile() }, b"abcd");
    }

    #[test]
    fn a_process_that_is_gone_is_told() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let gone = read_word(child.id(), 8).unwrap_err();
        assert_eq!(gone.raw_os_error(), Some(libc::ESRCH));
    }

    #[test]
    fn copies_end_where_the_memory_does() {
        // Three pages, of which the last may not be read.
        let page = mem::page_size();
        let at = mem::map_anonymous(0, 3 * page, mem::MapOptions::default()).unwrap();
        // SAFETY: the mapping is this test's own, and its first two pages are writable.
        unsafe {
            let last = at.wrapping_byte_add(2 * page);
            assert_eq!(libc::mprotect(last, page, libc::PROT_NONE), 0);
            for i in 0..2 * page {
                at.cast::<u8>().wrapping_add(i).write(i as u8);
            }
        }
        let end = at as usize + 2 * page;
        type Copy = fn(usize, usize) -> io::Result<Vec<u8>>;
        for copy in [copy_of_own as Copy, copy_by_call, copy_by_pipe] {
            for len in [1, 5, page - 1, page, page + 1, 2 * page] {
                let got = copy(end - len, 4 * page).unwrap();
                assert_eq!(got.len(), len);
                assert!(
                    got.iter()
                        .enumerate()
                        .all(|(i, b)| *b == (2 * page - len + i) as u8)
                );
                assert_eq!(copy(end - len, len.min(7)).unwrap().len(), len.min(7));
            }
            for nowhere in [end, end + page - 1, 8, usize::MAX - 1] {
                assert_eq!(copy(nowhere, 100).unwrap(), [], "{nowhere:#x}");
            }
        }
        // SAFETY: mapped above, used by nobody.
        unsafe { mem::unmap(at, 3 * page) }.unwrap();
    }
}
