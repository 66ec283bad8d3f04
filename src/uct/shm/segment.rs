//! Segments: how they are made, reserved and attached, for both components.
//!
//! A `Segment` is ours; an `Attached` is a peer's, mapped once in a process and shared by all users. Its owner passes
//! it over the local channel (`uct::local`); kind, size, and that it cannot shrink are checked before use. A segment is
//! freed with its last user.
#![forbid(unsafe_code)]

use super::wire::{SegmentKey, SegmentKind};
use crate::sys::eventfd::EventFd;
use crate::sys::lock::Mutex;
use crate::sys::shm::{self, SharedMap};
use crate::sys::{mem, process};
use crate::ucs::config::Ternary;
use crate::ucs::fork::PerProcess;
use crate::ucs::{Failure, Result, Status};
use crate::uct::local::{self, Export, Membership, ProcessId, Shared};
use crate::{ucs_debug, ucs_error};
use std::collections::HashMap;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, Weak};

/// How a memory domain makes segments.
#[derive(Clone, Debug)]
pub struct Source {
    pub kind: SegmentKind,
    pub huge: Ternary,
}

/// A segment of this process. Others find it once its key is given out.
pub struct Segment {
    map: SharedMap,
    kind: SegmentKind,
    shared: Shared,
    /// While there is a segment, others may ask for it.
    membership: Membership,
}

/// A segment of some process, mapped here.
pub struct Attached {
    map: SharedMap,
    key: SegmentKey,
    /// Its owner, by the kernel's word; 0 where it has no number here.
    pid: u32,
    /// Until pages are reserved for the first time.
    file: Mutex<Option<OwnedFd>>,
    /// What wakes its owner.
    wake: Option<EventFd>,
}

/// The huge page size of x86-64 and of aarch64 with 4 KiB pages.
const HUGE_PAGE: usize = 2 << 20;

/// Why there is no memory, and what to set.
fn no_memory(kind: SegmentKind, len: usize, e: &io::Error) -> Failure {
    let memory = match kind {
        SegmentKind::Posix => "shared memory",
        SegmentKind::Sysv => "System V shared memory",
    };
    let failed = format!("cannot reserve {len} bytes of {memory}: {e}");
    let remedy = match (kind, e.raw_os_error()) {
        (_, Some(libc::EMFILE | libc::ENFILE)) => "raise the limit of open files (ulimit -n)",
        (SegmentKind::Posix, _) => {
            "raise the memory limit of this process group, or lower UCX_POSIX_FIFO_SIZE and UCX_POSIX_SEG_SIZE"
        }
        (SegmentKind::Sysv, _) => "raise kernel.shmmax, kernel.shmall or kernel.shmmni",
    };
    let status = match e.raw_os_error() {
        Some(libc::ENOSPC | libc::ENOMEM | libc::EINVAL | libc::EFAULT | libc::EPERM) => {
            Status::NO_MEMORY
        }
        _ => Status::from_io(e),
    };
    Failure::new(status, format!("{failed}; {remedy}"))
}

/// As `no_memory`, told in the log.
fn out_of_memory(kind: SegmentKind, len: usize, e: &io::Error) -> Status {
    let failure = no_memory(kind, len, e);
    ucs_error!("{failure}");
    failure.status
}

impl Segment {
    /// Makes a segment of at least `len` bytes, mapped at `address` exactly when it is not 0. No page
    /// of it is reserved yet. Huge pages are used when `huge` says so and the machine has them.
    pub fn make(
        source: &Source,
        len: usize,
        huge: Ternary,
        address: usize,
    ) -> core::result::Result<Segment, Failure> {
        Segment::make_with(source, len, huge, address, None)
    }

    /// The same of an interface, which `wake` wakes.
    pub fn make_waking(
        source: &Source,
        len: usize,
        huge: Ternary,
        wake: EventFd,
    ) -> core::result::Result<Segment, Failure> {
        Segment::make_with(source, len, huge, 0, Some(wake))
    }

    fn make_with(
        source: &Source,
        len: usize,
        huge: Ternary,
        address: usize,
        mut wake: Option<EventFd>,
    ) -> core::result::Result<Segment, Failure> {
        if len == 0 || len > isize::MAX as usize - HUGE_PAGE {
            return Err(Status::NO_MEMORY.into());
        }
        if huge != Ternary::No {
            match make_once(
                source,
                len.next_multiple_of(HUGE_PAGE),
                true,
                address,
                &mut wake,
            ) {
                Ok(segment) => return Ok(segment),
                Err(e) if huge == Ternary::Yes => {
                    let cause = format!(
                        "cannot allocate {len} bytes of huge pages: {e}; raise vm.nr_hugepages, \
                         or set the HUGETLB_MODE of the memory domain to try"
                    );
                    return Err(Failure::new(Status::NO_MEMORY, cause));
                }
                Err(e) => ucs_debug!("no huge pages for {len} bytes: {e}"),
            }
        }
        let len = len.next_multiple_of(mem::page_size());
        make_once(source, len, false, address, &mut wake)
    }

    #[inline]
    pub fn base(&self) -> *mut u8 {
        self.map.base()
    }

    pub fn len(&self) -> usize {
        self.map.len()
    }

    pub fn key(&self) -> SegmentKey {
        SegmentKey {
            kind: self.kind,
            serial: self.shared.serial,
            owner: self.membership.name,
        }
    }

    /// What other processes get of it.
    pub fn export(&self) -> &Export {
        &self.shared.export
    }

    /// Reserves a range, so that touching it cannot fail.
    pub fn reserve(&self, offset: usize, len: usize) -> Result<()> {
        self.try_reserve(offset, len)
            .map_err(|e| out_of_memory(self.kind, len, &e))
    }

    /// As `reserve`, without a line in the log.
    pub fn try_reserve(&self, offset: usize, len: usize) -> io::Result<()> {
        reserve(self.shared.export.file.as_ref(), &self.map, offset, len)
    }
}

fn reserve(file: Option<&OwnedFd>, map: &SharedMap, offset: usize, len: usize) -> io::Result<()> {
    match file {
        Some(fd) => shm::reserve(fd.as_raw_fd(), offset, len),
        None => shm::populate(map, offset, len).map(drop),
    }
}

fn make_once(
    source: &Source,
    len: usize,
    huge: bool,
    address: usize,
    wake: &mut Option<EventFd>,
) -> core::result::Result<Segment, Failure> {
    let made = || -> io::Result<_> {
        if source.kind == SegmentKind::Sysv {
            let (id, map) = shm::make_sysv(len, huge, address)?;
            return Ok((map, None, Some(id)));
        }
        let file = shm::memory_file("ucx", len, huge)?;
        if huge {
            // Huge pages that are not there would be a signal at the first touch.
            shm::reserve(file.as_raw_fd(), 0, len)?;
        }
        let map = shm::map_file(&file, len, address)?;
        Ok((map, Some(file), None))
    };
    let (map, file, sysv) = made().map_err(|e| no_memory(source.kind, len, &e))?;
    let export = Export {
        open: None,
        file,
        sysv,
        len: len as u64,
        wake: wake.take(),
    };
    Ok(Segment {
        map,
        kind: source.kind,
        shared: Shared::new(export)?,
        membership: local::join()?,
    })
}

/// What this process has mapped of each segment.
#[derive(Default)]
struct Cache {
    by_name: HashMap<(ProcessId, u32), Weak<Attached>>,
    /// With so many entries those whose mapping is gone are thrown away.
    sweep_at: usize,
}

/// So many entries stay, whatever is mapped.
const LEAST_SWEPT: usize = 64;

static CACHE: PerProcess<Mutex<Cache>> = PerProcess::new(Mutex::default);

/// Maps what its owner gave: a memory file that cannot shrink, or a System V segment that the owner made.
fn map_given(given: &local::Segment, kind: SegmentKind) -> io::Result<SharedMap> {
    let wrong = || io::Error::from_raw_os_error(libc::EBADF);
    let (file, sysv, len, pid) = match given {
        local::Segment::Theirs {
            file,
            sysv,
            len,
            pid,
            ..
        } => (file.as_ref(), *sysv, *len, *pid),
        local::Segment::Own(export) => (
            export.file.as_ref(),
            export.sysv,
            export.len,
            process::pid(),
        ),
    };
    let len = usize::try_from(len)
        .ok()
        .filter(|n| *n > 0)
        .ok_or_else(wrong)?;
    match (kind, file, sysv) {
        (SegmentKind::Posix, Some(file), _) => {
            shm::expect_lasting(file, len)?;
            shm::map_file(file, len, 0)
        }
        (SegmentKind::Sysv, _, Some(id)) => {
            let (real, maker) = shm::sysv_facts(id)?;
            if maker != u64::from(pid) || real < len as u64 {
                return Err(wrong());
            }
            shm::attach_sysv(id, len, 0)
        }
        _ => Err(wrong()),
    }
}

impl Attached {
    /// Maps a segment of any process of this host, or takes the mapping that this process has.
    /// `UNREACHABLE`, with the reason in the log, when its owner does not give it.
    pub fn get(key: SegmentKey) -> Result<Arc<Attached>> {
        Attached::try_get(key).map_err(|why| {
            ucs_debug!("cannot attach {key}: {why}");
            Status::UNREACHABLE
        })
    }

    /// As `get`, with the reason instead of a log line.
    pub fn try_get(key: SegmentKey) -> core::result::Result<Arc<Attached>, String> {
        let known = (key.owner.id, key.serial);
        if let Some(attached) = CACHE
            .get()
            .lock()
            .by_name
            .get(&known)
            .and_then(Weak::upgrade)
            && attached.key.kind == key.kind
        {
            return Ok(attached);
        }
        // The owner is asked without the lock: it may take its time.
        let given = local::segment(key.owner, key.serial).map_err(|e| e.to_string())?;
        let map = map_given(&given, key.kind).map_err(|e| e.to_string())?;
        let (file, pid, wake) = match given {
            local::Segment::Theirs {
                file, pid, wake, ..
            } => (file, pid, wake),
            local::Segment::Own(export) => {
                let wake = export.wake.as_ref().map(EventFd::try_clone).transpose();
                (None, process::pid(), wake.map_err(|e| e.to_string())?)
            }
        };
        let attached = Arc::new(Attached {
            map,
            key,
            pid,
            file: Mutex::new(file),
            wake,
        });
        let mut cache = CACHE.get().lock();
        let len = cache.by_name.len();
        if len >= cache.sweep_at.max(LEAST_SWEPT) {
            cache
                .by_name
                .retain(|_, mapping| mapping.strong_count() > 0);
            cache.sweep_at = 2 * cache.by_name.len();
        }
        cache.by_name.insert(known, Arc::downgrade(&attached));
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

    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Makes what the owner sleeps on readable.
    pub fn wake_owner(&self) {
        if let Some(wake) = &self.wake {
            wake.signal();
        }
    }

    /// Reserves a range by its mapping alone, so that more can be reserved at any time. Returns whether the kernel can do that: then
    /// the owner's file is not needed any more.
    pub fn try_reserve(&self, offset: usize, len: usize) -> io::Result<bool> {
        let can = shm::populate(&self.map, offset, len)?;
        if can {
            self.file.lock().take();
        }
        Ok(can)
    }

    /// There is no memory for a range: the status, and an error in the log.
    pub fn out_of_memory(&self, len: usize, e: &io::Error) -> Status {
        out_of_memory(self.key.kind, len, e)
    }

    /// Reserves a range, so that touching it cannot fail.
    pub fn reserve(&self, offset: usize, len: usize) -> Result<()> {
        let told = |e| self.out_of_memory(len, &e);
        if self.key.kind == SegmentKind::Sysv {
            return shm::populate(&self.map, offset, len)
                .map(drop)
                .map_err(told);
        }
        let kept = self.file.lock().take();
        let given = match kept {
            Some(file) => local::Segment::Theirs {
                file: Some(file),
                sysv: None,
                len: 0,
                pid: self.pid,
                wake: None,
            },
            None => local::segment(self.key.owner, self.key.serial).map_err(|e| {
                ucs_debug!("cannot reserve pages of {}: {e}", self.key);
                Status::UNREACHABLE
            })?,
        };
        let file = match &given {
            local::Segment::Theirs { file, .. } => file.as_ref(),
            local::Segment::Own(export) => export.file.as_ref(),
        };
        reserve(file, &self.map, offset, len).map_err(told)
    }
}
