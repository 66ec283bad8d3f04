//! Calls of libc that are safe with any argument: they take integers, slices and C strings, and the kernel checks
//! descriptors.
//!
//! Each function is one call. The files beside build on them without unsafe code of their own.

use core::ffi::{CStr, c_ulong};
use core::mem::MaybeUninit;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// The bytes that a call moved, called again while a signal interrupts it.
#[inline]
pub fn retry(mut call: impl FnMut() -> isize) -> io::Result<usize> {
    loop {
        let n = call();
        if n >= 0 {
            return Ok(n as usize);
        }
        let e = io::Error::last_os_error();
        if e.kind() != io::ErrorKind::Interrupted {
            return Err(e);
        }
    }
}

#[inline]
fn check(rc: i32) -> io::Result<i32> {
    if rc < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(rc)
    }
}

/// The descriptor that a call has just made.
fn made(fd: i32) -> io::Result<OwnedFd> {
    let fd = check(fd)?;
    // SAFETY: the callers are below: the kernel just made it, and nobody else holds it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

pub fn epoll() -> io::Result<OwnedFd> {
    // SAFETY: takes no pointer.
    made(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })
}

pub fn epoll_ctl(epfd: RawFd, op: i32, fd: RawFd, mut event: libc::epoll_event) -> io::Result<()> {
    // SAFETY: `event` lives through the call and the kernel copies it.
    check(unsafe { libc::epoll_ctl(epfd, op, fd, &mut event) }).map(drop)
}

/// The events that were written into `room`.
#[inline]
pub fn epoll_wait(
    epfd: RawFd,
    room: &mut [MaybeUninit<libc::epoll_event>],
    timeout_ms: i32,
) -> io::Result<&[libc::epoll_event]> {
    let max = room.len().min(i32::MAX as usize) as i32;
    // SAFETY: the pointer and the count describe `room`, which is writable for the whole call.
    let n = unsafe { libc::epoll_wait(epfd, room.as_mut_ptr().cast(), max, timeout_ms) };
    let written = &room[..check(n)? as usize];
    // SAFETY: the kernel has written so many.
    Ok(unsafe { core::slice::from_raw_parts(written.as_ptr().cast(), written.len()) })
}

pub fn eventfd(flags: i32) -> io::Result<OwnedFd> {
    // SAFETY: takes no pointer.
    made(unsafe { libc::eventfd(0, flags) })
}

pub fn timerfd(clock: i32, flags: i32) -> io::Result<OwnedFd> {
    // SAFETY: takes no pointer.
    made(unsafe { libc::timerfd_create(clock, flags) })
}

pub fn timerfd_settime(fd: RawFd, flags: i32, to: &libc::itimerspec) -> io::Result<()> {
    // SAFETY: `to` lives through the call; the old value is not asked for.
    check(unsafe { libc::timerfd_settime(fd, flags, to, core::ptr::null_mut()) }).map(drop)
}

pub fn pidfd_open(pid: u32) -> io::Result<OwnedFd> {
    // SAFETY: takes integers only.
    made(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) } as i32)
}

pub fn userfaultfd(flags: i32) -> io::Result<OwnedFd> {
    // SAFETY: takes integers only.
    made(unsafe { libc::syscall(libc::SYS_userfaultfd, flags) } as i32)
}

/// `UFFDIO_API`: asks for features.
pub fn uffd_api(fd: RawFd, api: u64, features: u64) -> io::Result<()> {
    const REQUEST: u64 = 0xc018_aa3f;
    let mut arg = [api, features, 0];
    // SAFETY: `struct uffdio_api` is three words.
    check(unsafe { libc::ioctl(fd, REQUEST as _, arg.as_mut_ptr()) }).map(drop)
}

/// `UFFDIO_REGISTER` of pages: their address and length in bytes.
pub fn uffd_register(fd: RawFd, (start, len): (u64, u64), mode: u64) -> io::Result<()> {
    const REQUEST: u64 = 0xc020_aa00;
    let mut arg = [start, len, mode, 0];
    // SAFETY: `struct uffdio_register` is four words; pages stay as they are.
    check(unsafe { libc::ioctl(fd, REQUEST as _, arg.as_mut_ptr()) }).map(drop)
}

/// `UFFDIO_WRITEPROTECT` of pages; mode 0 lets them be written.
pub fn uffd_write_protect(fd: RawFd, (start, len): (u64, u64), mode: u64) -> io::Result<()> {
    const REQUEST: u64 = 0xc018_aa06;
    let mut arg = [start, len, mode];
    // SAFETY: `struct uffdio_writeprotect` is three words; what is written waits at most for the reader of `fd`.
    check(unsafe { libc::ioctl(fd, REQUEST as _, arg.as_mut_ptr()) }).map(drop)
}

pub fn poll(fds: &mut [libc::pollfd], timeout_ms: i32) -> io::Result<usize> {
    // SAFETY: the pointer and the count describe `fds`, which is writable for the whole call.
    let n = unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, timeout_ms) };
    check(n).map(|n| n as usize)
}

#[inline]
pub fn read(fd: RawFd, bytes: &mut [u8]) -> io::Result<usize> {
    retry(|| {
        // SAFETY: the pointer and the length describe `bytes`, which is writable for the whole call.
        unsafe { libc::read(fd, bytes.as_mut_ptr().cast(), bytes.len()) }
    })
}

#[inline]
pub fn write(fd: RawFd, bytes: &[u8]) -> io::Result<usize> {
    retry(|| {
        // SAFETY: the pointer and the length describe `bytes`.
        unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) }
    })
}

/// `O_NONBLOCK` and so on of an open file.
pub fn status_flags(fd: RawFd) -> io::Result<i32> {
    // SAFETY: takes no pointer.
    check(unsafe { libc::fcntl(fd, libc::F_GETFL) })
}

pub fn set_status_flags(fd: RawFd, flags: i32) -> io::Result<()> {
    // SAFETY: takes no pointer.
    check(unsafe { libc::fcntl(fd, libc::F_SETFL, flags) }).map(drop)
}

pub fn dup3(from: RawFd, to: RawFd, flags: i32) -> io::Result<()> {
    // SAFETY: takes no pointer.
    check(unsafe { libc::dup3(from, to, flags) }).map(drop)
}

/// For a descriptor that a client gives up; one that an object of ours owns is closed by its drop.
pub fn close(fd: RawFd) -> io::Result<()> {
    // SAFETY: takes no pointer.
    check(unsafe { libc::close(fd) }).map(drop)
}

pub fn setsockopt(fd: RawFd, level: i32, name: i32, value: &[u8]) -> io::Result<()> {
    let (at, len) = (value.as_ptr().cast(), value.len() as libc::socklen_t);
    // SAFETY: the pointer and the length describe `value`.
    check(unsafe { libc::setsockopt(fd, level, name, at, len) }).map(drop)
}

pub fn getrandom(bytes: &mut [u8]) -> io::Result<usize> {
    retry(|| {
        // SAFETY: the pointer and the length describe `bytes`, which is writable for the whole call.
        unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) }
    })
}

/// A command of membarrier(2); negative on failure.
pub fn membarrier(command: i32) -> i64 {
    // SAFETY: takes integers only; an unknown command is an error.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) }
}

/// Negative where the system does not say.
pub fn sysconf(name: i32) -> i64 {
    // SAFETY: takes no pointer.
    unsafe { libc::sysconf(name) }
}

/// What the processor says of itself in a leaf of CPUID, in its subleaf 0.
#[cfg(target_arch = "x86_64")]
#[allow(unused_unsafe, reason = "safe in newer releases of Rust")]
pub fn cpuid(leaf: u32) -> core::arch::x86_64::CpuidResult {
    // SAFETY: every processor of x86-64 has this instruction, and it answers any leaf.
    unsafe { core::arch::x86_64::__cpuid_count(leaf, 0) }
}

/// The CRC-32C of the bytes of all parts, by the processor's instruction; `None` if it has none.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn crc32c(parts: &[&[u8]]) -> Option<u32> {
    if !std::arch::is_x86_feature_detected!("sse4.2") {
        return None;
    }
    // SAFETY: the processor has the instruction.
    Some(unsafe { crc32c_by_instruction(parts) })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.2")]
fn crc32c_by_instruction(parts: &[&[u8]]) -> u32 {
    use core::arch::x86_64::{_mm_crc32_u8, _mm_crc32_u32, _mm_crc32_u64};
    let mut sum = u32::MAX;
    for part in parts {
        let (words, rest) = part.as_chunks();
        let long = words.iter().fold(u64::from(sum), |sum, word| {
            _mm_crc32_u64(sum, u64::from_le_bytes(*word))
        });
        let (halves, rest) = rest.as_chunks();
        sum = halves.iter().fold(long as u32, |sum, half| {
            _mm_crc32_u32(sum, u32::from_le_bytes(*half))
        });
        sum = rest.iter().fold(sum, |sum, byte| _mm_crc32_u8(sum, *byte));
    }
    !sum
}

/// Processors by number, a bit for each.
pub type CpuMask = [c_ulong; 16];
const _: () = assert!(size_of::<CpuMask>() == size_of::<libc::cpu_set_t>());

/// The processors that the calling thread may run on.
pub fn sched_getaffinity(mask: &mut CpuMask) -> io::Result<()> {
    let size = size_of::<CpuMask>();
    // SAFETY: 0 is the calling thread; the mask has the stated size.
    check(unsafe { libc::sched_getaffinity(0, size, mask.as_mut_ptr().cast()) }).map(drop)
}

pub fn sched_setaffinity(mask: &CpuMask) -> io::Result<()> {
    let size = size_of::<CpuMask>();
    // SAFETY: as above.
    check(unsafe { libc::sched_setaffinity(0, size, mask.as_ptr().cast()) }).map(drop)
}

/// Whether `text` is of the form `pattern`, as glob(7) has it.
pub fn fnmatch(pattern: &CStr, text: &CStr) -> bool {
    // SAFETY: two C strings.
    unsafe { libc::fnmatch(pattern.as_ptr(), text.as_ptr(), 0) == 0 }
}
