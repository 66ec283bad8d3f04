//! Shared memory of several processes: memory files, System V segments.
//!
//! A memory file is sealed against shrinking; it is gone with its last descriptor and mapping, also when its maker is
//! killed. A System V segment is marked for removal as soon as it is made: Linux lets others attach it by its id until
//! the last user is gone. Pages are reserved before use, so that a full file system is an error and not a signal.

use super::mem;
use super::safe_calls::retry;
use core::mem::MaybeUninit;
use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// A mapping shared with other processes; unmapped when dropped.
pub struct SharedMap {
    base: *mut u8,
    len: usize,
    sysv: bool,
}

// SAFETY: a mapping belongs to the process; who touches its bytes answers for the races.
unsafe impl Send for SharedMap {}
// SAFETY: as above.
unsafe impl Sync for SharedMap {}

impl SharedMap {
    #[inline]
    pub fn base(&self) -> *mut u8 {
        self.base
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Drop for SharedMap {
    fn drop(&mut self) {
        // SAFETY: the mapping made by `map_file` or `attach_sysv`; its owner is going, so that nobody
        // holds a pointer into it.
        unsafe {
            if self.sysv {
                libc::shmdt(self.base.cast());
            } else {
                libc::munmap(self.base.cast(), self.len);
            }
        }
    }
}

fn checked(rc: i32) -> io::Result<i32> {
    if rc < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(rc)
    }
}

/// Makes an anonymous memory file of `len` bytes; `huge`: from the pool of huge pages.
pub fn memory_file(name: &str, len: usize, huge: bool) -> io::Result<OwnedFd> {
    let name = CString::new(name)?;
    let mut flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    if huge {
        flags |= libc::MFD_HUGETLB;
    }
    // SAFETY: the name is a C string; the result is checked before it is owned.
    let fd = checked(unsafe { libc::memfd_create(name.as_ptr(), flags) })?;
    // SAFETY: memfd_create just made this descriptor.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    // SAFETY: a descriptor of ours; the call takes no pointer.
    checked(unsafe { libc::fchmod(fd.as_raw_fd(), 0o600) })?;
    set_len(&fd, len)?;
    // SAFETY: a descriptor of ours; the call takes no pointer.
    checked(unsafe {
        libc::fcntl(
            fd.as_raw_fd(),
            libc::F_ADD_SEALS,
            libc::F_SEAL_SHRINK | libc::F_SEAL_SEAL,
        )
    })?;
    Ok(fd)
}

fn set_len(fd: &OwnedFd, len: usize) -> io::Result<()> {
    let len = libc::off_t::try_from(len).map_err(|_| io::Error::from_raw_os_error(libc::ENOMEM))?;
    retry(|| {
        // SAFETY: a descriptor of ours; the call takes no pointer.
        unsafe { libc::ftruncate(fd.as_raw_fd(), len) as isize }
    })
    .map(drop)
}

/// Whether a memory file that another process gave has `len` bytes and keeps them: `EINVAL` when it does not.
pub fn expect_lasting(fd: &OwnedFd, len: usize) -> io::Result<()> {
    // SAFETY: a descriptor of this process; the call takes no pointer. What is no memory file has no seals.
    let seals = checked(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GET_SEALS) })?;
    let size = file_size(fd)?;
    if seals & libc::F_SEAL_SHRINK == 0 || size < len as u64 {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    Ok(())
}

fn file_size(fd: &OwnedFd) -> io::Result<u64> {
    let mut stat = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: a descriptor of this process, and room for what the call writes.
    checked(unsafe { libc::fstat(fd.as_raw_fd(), stat.as_mut_ptr()) })?;
    // SAFETY: the call succeeded, so it is written.
    let stat = unsafe { stat.assume_init() };
    Ok(stat.st_size.cast_unsigned())
}

/// Reserves the pages of a range, so that touching them cannot fail. `ENOSPC` when the file system
/// or the limit of the process group is full.
pub fn reserve(fd: RawFd, offset: usize, len: usize) -> io::Result<()> {
    let (Ok(offset), Ok(len)) = (libc::off_t::try_from(offset), libc::off_t::try_from(len)) else {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    };
    loop {
        // SAFETY: takes no pointer; a bad descriptor is an error.
        match unsafe { libc::posix_fallocate(fd, offset, len) } {
            0 => return Ok(()),
            libc::EINTR => {}
            e => return Err(io::Error::from_raw_os_error(e)),
        }
    }
}

/// Brings the pages of a mapped range into memory, so that touching them cannot fail. False, and nothing is done, where the kernel has
/// no such call (before Linux 5.14) or a sandbox forbids it.
pub fn populate(map: &SharedMap, offset: usize, len: usize) -> io::Result<bool> {
    if offset.checked_add(len).is_none_or(|end| end > map.len) {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    const MADV_POPULATE_WRITE: i32 = 23;
    let before = offset % mem::page_size();
    let (at, len) = (map.base.wrapping_add(offset - before), before + len);
    // SAFETY: the range lies in the mapping; populating changes no contents.
    match checked(unsafe { libc::madvise(at.cast(), len, MADV_POPULATE_WRITE) }) {
        Ok(_) => Ok(true),
        Err(e) => match e.raw_os_error() {
            Some(libc::EINVAL | libc::ENOSYS | libc::EPERM) => Ok(false),
            _ => Err(e),
        },
    }
}

/// Maps `len` bytes of a file, shared, at `address` exactly when it is not 0.
pub fn map_file(fd: &OwnedFd, len: usize, address: usize) -> io::Result<SharedMap> {
    let mut flags = libc::MAP_SHARED;
    if address != 0 {
        flags |= libc::MAP_FIXED_NOREPLACE;
    }
    // SAFETY: a new mapping that replaces none.
    let base = unsafe {
        libc::mmap(
            address as *mut libc::c_void,
            len,
            libc::PROT_READ | libc::PROT_WRITE,
            flags,
            fd.as_raw_fd(),
            0,
        )
    };
    if base == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    let map = SharedMap {
        base: base.cast(),
        len,
        sysv: false,
    };
    if address != 0 && base as usize != address {
        return Err(io::Error::from_raw_os_error(libc::EEXIST));
    }
    Ok(map)
}

/// Makes a System V segment of `len` bytes for this user, attaches it and marks it for removal with
/// its last user. The answer is its id and the mapping.
pub fn make_sysv(len: usize, huge: bool, address: usize) -> io::Result<(i32, SharedMap)> {
    let mut flags = libc::IPC_CREAT | libc::IPC_EXCL | 0o600;
    flags |= if huge {
        libc::SHM_HUGETLB
    } else {
        libc::SHM_NORESERVE
    };
    // SAFETY: takes no pointer.
    let id = checked(unsafe { libc::shmget(libc::IPC_PRIVATE, len, flags) })?;
    let map = attach_sysv(id, len, address);
    // SAFETY: removal takes no pointer; the segment lives on while it is attached.
    let removed = checked(unsafe { libc::shmctl(id, libc::IPC_RMID, core::ptr::null_mut()) });
    let map = map?;
    removed?;
    Ok((id, map))
}

/// Attaches a System V segment of which `len` bytes are to be used.
pub fn attach_sysv(id: i32, len: usize, address: usize) -> io::Result<SharedMap> {
    // SAFETY: a new mapping; without SHM_REMAP it replaces none.
    let base = unsafe { libc::shmat(id, address as *const libc::c_void, 0) };
    if base as isize == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(SharedMap {
        base: base.cast(),
        len,
        sysv: true,
    })
}

/// Size of a System V segment, and the process that made it.
pub fn sysv_facts(id: i32) -> io::Result<(u64, u64)> {
    // SAFETY: `shmid_ds` is plain integers; all zeros is a value of it.
    let mut ds: libc::shmid_ds = unsafe { core::mem::zeroed() };
    // SAFETY: the struct is writable for the call.
    checked(unsafe { libc::shmctl(id, libc::IPC_STAT, &mut ds) })?;
    Ok((ds.shm_segsz as u64, ds.shm_cpid as u64))
}

/// Makes a memory file that can be sealed, and drops it: an error of a kernel or a security filter that has none.
pub fn try_memory_file() -> io::Result<()> {
    memory_file("ucx", 1, false).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn populating_begins_with_the_page_of_the_first_byte() {
        let page = mem::page_size();
        let (_, map) = make_sysv(4 * page, false, 0).unwrap();
        let populated = populate(&map, page + 64, page).unwrap();
        let mut there = [0u8; 4];
        // SAFETY: a byte for each page of the mapping.
        let rc = unsafe { libc::mincore(map.base().cast(), 4 * page, there.as_mut_ptr()) };
        assert_eq!(rc, 0);
        // Kernels before 5.14 populate nothing.
        let there = there.map(|page| page & 1);
        assert!([[0, 1, 1, 0], [0; 4]].contains(&there), "{there:?}");
        assert_eq!(there[1] == 1, populated);
    }
}
