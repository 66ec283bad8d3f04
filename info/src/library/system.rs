//! What the kernel says of this process: limits, room in a file system, system calls.

use std::ffi::CString;
use std::io;
use std::mem::zeroed;

#[derive(Clone, Copy)]
pub enum Limit {
    OpenFiles,
    LockedMemory,
}

/// The limit in force, and the one up to which the user may raise it; the largest number where there is none.
pub fn limit(of: Limit) -> Option<(u64, u64)> {
    let of = match of {
        Limit::OpenFiles => libc::RLIMIT_NOFILE,
        Limit::LockedMemory => libc::RLIMIT_MEMLOCK,
    };
    let mut found = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: a structure to write to.
    let status = unsafe { libc::getrlimit(of, &mut found) };
    (status == 0).then_some((found.rlim_cur, found.rlim_max))
}

/// Bytes of a folder's file system, and those that are free.
pub fn folder_size(folder: &str) -> io::Result<(u64, u64)> {
    let folder = CString::new(folder)?;
    // SAFETY: all zeros are a value of every member.
    let mut found: libc::statvfs = unsafe { zeroed() };
    // SAFETY: a string and a structure to write to.
    match unsafe { libc::statvfs(folder.as_ptr(), &mut found) } {
        0 => Ok((
            found.f_blocks * found.f_frsize,
            found.f_bavail * found.f_frsize,
        )),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A network interface with its flags (IFF_UP and so on).
pub struct Interface {
    pub name: String,
    pub flags: u32,
    pub index: u32,
}

/// Those of this process's network namespace, each once.
pub fn interfaces() -> Vec<Interface> {
    let mut list = std::ptr::null_mut();
    // SAFETY: a list to write to.
    if unsafe { libc::getifaddrs(&mut list) } != 0 {
        return Vec::new();
    }
    let mut found: Vec<Interface> = Vec::new();
    let mut next = list;
    // SAFETY: null, or an entry of the list.
    while let Some(entry) = unsafe { next.as_ref() } {
        // SAFETY: the entry's string.
        let name = unsafe { super::text(entry.ifa_name) };
        // SAFETY: as above.
        let index = unsafe { libc::if_nametoindex(entry.ifa_name) };
        if found.iter().all(|one| one.name != name) {
            found.push(Interface {
                name,
                flags: entry.ifa_flags,
                index,
            });
        }
        next = entry.ifa_next;
    }
    // SAFETY: the list of above, copied.
    unsafe { libc::freeifaddrs(list) };
    found
}

/// Whether the kernel lets this process call membarrier(2).
pub fn has_membarrier() -> bool {
    const QUERY: i32 = 0;
    // SAFETY: takes integers only.
    let commands = unsafe { libc::syscall(libc::SYS_membarrier, QUERY, 0, 0) };
    commands > 0
}

/// The processor's counter.
pub fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor of this architecture has the instruction.
    unsafe {
        core::arch::x86_64::_rdtsc()
    }
    #[cfg(target_arch = "aarch64")]
    {
        let ticks: u64;
        // SAFETY: reads a register that user programs may read.
        unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks) };
        ticks
    }
}

pub fn effective_user() -> u32 {
    // SAFETY: no arguments.
    unsafe { libc::geteuid() }
}

pub fn page_size() -> u64 {
    // SAFETY: no memory is involved.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(size).unwrap_or(4096)
}
