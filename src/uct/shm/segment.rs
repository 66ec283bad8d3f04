//! Segments: how they are made, named, reserved and attached, for both components.
//!
//! A `Segment` is ours; an `Attached` is a peer's, mapped once a process and shared by all who use
//! it. What a peer names is checked before use: identity (handles are reused), size, kind. Nothing
//! of a segment stays behind when its last user ends; named files of killed processes are swept by
//! the next process that makes one.

use super::wire::{Kind, SegmentKey};
use crate::sys::shm::{self, SharedMap};
use crate::sys::{mem, pidfd, process};
use crate::ucs::config::Ternary;
use crate::ucs::{Result, Status};
use crate::{ucs_debug, ucs_diag, ucs_error};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};

/// How a memory domain makes segments and finds those of others.
#[derive(Clone, Debug)]
pub struct Source {
    pub kind: Kind,
    /// Where named files stand.
    pub dir: PathBuf,
    pub huge: Ternary,
}

/// A segment of this process.
pub struct Segment {
    map: SharedMap,
    key: SegmentKey,
    file: Option<OwnedFd>,
    name: Option<PathBuf>,
}

/// A segment of some process, mapped here.
pub struct Attached {
    map: SharedMap,
    key: SegmentKey,
    dir: PathBuf,
}

/// The huge page size of x86-64 and of aarch64 with 4 KiB pages.
const HUGE_PAGE: usize = 2 << 20;
const NAME_START: &str = "ucx_shm_posix_";

fn file_name(dir: &Path, pid: u32, serial: u32) -> PathBuf {
    dir.join(format!("{NAME_START}{pid:x}_{serial:x}"))
}

/// Says once and clearly why there is no memory.
fn out_of_memory(source: &Source, len: usize, e: &io::Error) -> Status {
    match source.kind {
        Kind::Named => ucs_error!(
            "cannot reserve {len} bytes of shared memory in {}: {e}; enlarge that file system, \
             or set UCX_POSIX_DIR to one with more room",
            source.dir.display()
        ),
        Kind::ProcLink => ucs_error!(
            "cannot reserve {len} bytes of shared memory: {e}; raise the memory limit of this \
             process group, or lower UCX_POSIX_FIFO_SIZE and UCX_POSIX_SEG_SIZE"
        ),
        Kind::Sysv => ucs_error!(
            "cannot reserve {len} bytes of System V shared memory: {e}; raise kernel.shmmax, \
             kernel.shmall or kernel.shmmni"
        ),
    }
    match e.raw_os_error() {
        Some(libc::ENOSPC | libc::ENOMEM | libc::EINVAL | libc::EFAULT | libc::EPERM) => {
            Status::NO_MEMORY
        }
        _ => Status::from_io(e),
    }
}

impl Segment {
    /// Makes a segment of at least `len` bytes, mapped at `address` exactly when it is not 0. No page
    /// of it is reserved yet. Huge pages are used when `huge` says so and the machine has them.
    pub fn make(source: &Source, len: usize, huge: Ternary, address: usize) -> Result<Segment> {
        if len == 0 || len > isize::MAX as usize - HUGE_PAGE {
            return Err(Status::NO_MEMORY);
        }
        if huge != Ternary::No && source.kind != Kind::Named {
            match make_once(source, len.next_multiple_of(HUGE_PAGE), true, address) {
                Ok(segment) => return Ok(segment),
                Err(e) if huge == Ternary::Yes => {
                    ucs_error!(
                        "cannot allocate {len} bytes of huge pages: {e}; raise vm.nr_hugepages, \
                         or set the HUGETLB_MODE of the memory domain to try"
                    );
                    return Err(Status::NO_MEMORY);
                }
                Err(e) => ucs_debug!("no huge pages for {len} bytes: {e}"),
            }
        }
        let len = len.next_multiple_of(mem::page_size());
        make_once(source, len, false, address).map_err(|e| out_of_memory(source, len, &e))
    }

    #[inline]
    pub fn base(&self) -> *mut u8 {
        self.map.base()
    }

    pub fn len(&self) -> usize {
        self.map.len()
    }

    pub fn key(&self) -> SegmentKey {
        self.key
    }

    /// Reserves a range, so that touching it cannot fail.
    pub fn reserve(&self, source: &Source, offset: usize, len: usize) -> Result<()> {
        reserve(self.file.as_ref(), &self.map, offset, len)
            .map_err(|e| out_of_memory(source, len, &e))
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        if let Some(name) = &self.name
            && let Err(e) = std::fs::remove_file(name)
        {
            ucs_diag!("removing {}: {e}", name.display());
        }
    }
}

fn reserve(file: Option<&OwnedFd>, map: &SharedMap, offset: usize, len: usize) -> io::Result<()> {
    match file {
        Some(fd) => shm::reserve(fd.as_raw_fd(), offset, len),
        None => shm::populate(map, offset, len),
    }
}

fn make_once(source: &Source, len: usize, huge: bool, address: usize) -> io::Result<Segment> {
    let pid = process::pid();
    if source.kind == Kind::Sysv {
        let (id, stamp, map) = shm::make_sysv(len, huge, address)?;
        let key = SegmentKey {
            kind: Kind::Sysv,
            pid,
            handle: id as u32,
            stamp: stamp as u32,
        };
        return Ok(Segment {
            map,
            key,
            file: None,
            name: None,
        });
    }
    let (file, handle, name) = if source.kind == Kind::Named {
        let (file, serial, path) = make_named(&source.dir, pid, len)?;
        (file, serial, Some(path))
    } else {
        let file = shm::memory_file("ucx", len, huge)?;
        let number = file.as_raw_fd() as u32;
        (file, number, None)
    };
    if huge {
        // Huge pages that are not there would be a signal at the first touch.
        shm::reserve(file.as_raw_fd(), 0, len)?;
    }
    let (_, stamp) = shm::identity(&file)?;
    let key = SegmentKey {
        kind: source.kind,
        pid,
        handle,
        stamp: stamp as u32,
    };
    Ok(Segment {
        map: shm::map_file(&file, len, address)?,
        key,
        file: Some(file),
        name,
    })
}

fn make_named(dir: &Path, pid: u32, len: usize) -> io::Result<(OwnedFd, u32, PathBuf)> {
    static SERIAL: AtomicU32 = AtomicU32::new(0);
    sweep(dir);
    loop {
        // Relaxed: only uniqueness matters.
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let path = file_name(dir, pid, serial);
        match shm::named_file(&path, len) {
            Ok(file) => return Ok((file, serial, path)),
            // A name left by an earlier process of our number.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
}

/// Removes files whose makers are gone.
fn sweep(dir: &Path) {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let pid = name
            .to_str()
            .and_then(|name| name.strip_prefix(NAME_START))
            .and_then(|rest| rest.split('_').next())
            .and_then(|hex| u32::from_str_radix(hex, 16).ok());
        if let Some(pid) = pid
            && pidfd::start_time(pid).is_none()
            && std::fs::remove_file(entry.path()).is_ok()
        {
            ucs_diag!("removed {} of a dead process", entry.path().display());
        }
    }
}

type Cache = HashMap<SegmentKey, Weak<Attached>>;
static CACHE: Mutex<Option<Cache>> = Mutex::new(None);

/// Opens what `key` names.
fn open_file(key: SegmentKey, dir: &Path) -> io::Result<OwnedFd> {
    match key.kind {
        Kind::ProcLink => shm::open(Path::new(&format!("/proc/{}/fd/{}", key.pid, key.handle))),
        Kind::Named => shm::open(&file_name(dir, key.pid, key.handle)),
        Kind::Sysv => Err(io::Error::from_raw_os_error(libc::EINVAL)),
    }
}

fn attach_new(key: SegmentKey, dir: &Path) -> io::Result<SharedMap> {
    let wrong = || io::Error::from_raw_os_error(libc::ESTALE);
    if key.kind == Kind::Sysv {
        let id = key.handle as i32;
        let (len, stamp) = shm::sysv_identity(id)?;
        if stamp as u32 != key.stamp {
            return Err(wrong());
        }
        return shm::attach_sysv(id, usize::try_from(len).map_err(|_| wrong())?, 0);
    }
    let file = open_file(key, dir)?;
    let (len, stamp) = shm::identity(&file)?;
    if stamp as u32 != key.stamp || len == 0 {
        return Err(wrong());
    }
    shm::map_file(&file, usize::try_from(len).map_err(|_| wrong())?, 0)
}

impl Attached {
    /// Maps a segment of any process of this host, or takes the mapping that this process has.
    /// `UNREACHABLE` when the segment is gone or may not be opened.
    pub fn get(key: SegmentKey, dir: &Path) -> Result<Arc<Attached>> {
        let mut cache = CACHE.lock();
        let cache = cache.get_or_insert_with(HashMap::new);
        if let Some(attached) = cache.get(&key).and_then(Weak::upgrade) {
            return Ok(attached);
        }
        cache.retain(|_, mapping| mapping.strong_count() > 0);
        let map = attach_new(key, dir).map_err(|e| {
            ucs_debug!("cannot attach the shared memory {key:?}: {e}");
            Status::UNREACHABLE
        })?;
        let attached = Arc::new(Attached {
            map,
            key,
            dir: dir.to_owned(),
        });
        cache.insert(key, Arc::downgrade(&attached));
        Ok(attached)
    }

    #[inline]
    pub fn base(&self) -> *mut u8 {
        self.map.base()
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.map.len()
    }

    pub fn key(&self) -> SegmentKey {
        self.key
    }

    /// Reserves a range, so that touching it cannot fail.
    pub fn reserve(&self, offset: usize, len: usize) -> Result<()> {
        let source = Source {
            kind: self.key.kind,
            dir: self.dir.clone(),
            huge: Ternary::No,
        };
        let file = match self.key.kind {
            Kind::Sysv => None,
            _ => Some(open_file(self.key, &self.dir).map_err(|e| {
                ucs_debug!("cannot open the shared memory {:?} again: {e}", self.key);
                Status::UNREACHABLE
            })?),
        };
        reserve(file.as_ref(), &self.map, offset, len).map_err(|e| out_of_memory(&source, len, &e))
    }
}
