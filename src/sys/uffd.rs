//! Watching memory of this process by userfaultfd(2): when watched pages are unmapped, dropped or moved there is an event,
//! whoever does that, the C library included.
//!
//! Ranges are registered for write-protection and nothing is ever protected. So there are no page faults to answer, and the
//! right to answer those of the kernel is not needed. The thread that unmaps waits until its event is read; before the
//! pages go the kernel notes that it is about to, which `is_quiet` asks for.
#![forbid(unsafe_code)]

use super::safe_calls;
use core::ops::Range;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// `UFFD_USER_MODE_ONLY`: faults of the kernel are not reported.
const USER_MODE_ONLY: i32 = 1;
/// `UFFD_API`.
const API: u64 = 0xaa;
/// `UFFD_FEATURE_*`.
const FEATURES: u64 = PAGEFAULT_FLAG_WP | EVENT_REMAP | EVENT_REMOVE | EVENT_UNMAP;
const PAGEFAULT_FLAG_WP: u64 = 1 << 0;
const EVENT_REMAP: u64 = 1 << 2;
const EVENT_REMOVE: u64 = 1 << 3;
const EVENT_UNMAP: u64 = 1 << 6;
/// `UFFDIO_REGISTER_MODE_WP`.
const WRITE_PROTECT: u64 = 1 << 1;

/// `struct uffd_msg`: the kind of event, and from byte 8 on what it says.
const EVENT_LEN: usize = 32;
const REMAP: u8 = 0x14;
const REMOVE: u8 = 0x15;
const UNMAP: u8 = 0x16;
/// Events that are read at a time.
const BATCH: usize = 16;

pub struct MemoryWatch {
    fd: OwnedFd,
    /// A watched page, which stays.
    page: u64,
}

impl MemoryWatch {
    /// Fails where the kernel has it not (before 5.11), or does not allow it.
    pub fn new() -> io::Result<MemoryWatch> {
        let fd = safe_calls::userfaultfd(libc::O_CLOEXEC | libc::O_NONBLOCK | USER_MODE_ONLY)?;
        safe_calls::uffd_api(fd.as_raw_fd(), API, FEATURES)?;
        let size = super::mem::page_size();
        let bytes = vec![0u8; 2 * size].leak().as_ptr().addr();
        let page = bytes.next_multiple_of(size);
        let watch = MemoryWatch {
            fd,
            page: page as u64,
        };
        watch.add(page..page + size)?;
        if !watch.is_quiet() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        Ok(watch)
    }

    /// Watches the pages of a range, until they are unmapped. Mappings of most files cannot be watched.
    pub fn add(&self, range: Range<usize>) -> io::Result<()> {
        let pages = super::mem::whole_pages(range);
        safe_calls::uffd_register(
            self.fd.as_raw_fd(),
            (pages.start as u64, pages.len() as u64),
            WRITE_PROTECT,
        )
    }

    /// Whether no unmapping is under way whose event was not read.
    pub fn is_quiet(&self) -> bool {
        // The kernel refuses to change what is protected while memory changes. Nothing is protected, and stays so.
        let page = (self.page, super::mem::page_size() as u64);
        safe_calls::uffd_write_protect(self.fd.as_raw_fd(), page, 0).is_ok()
    }

    /// Waits for events.
    pub fn wait(&self) -> io::Result<()> {
        let mut fds = [super::poll::PollFd {
            fd: self.fd.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        }];
        super::poll::poll(&mut fds, -1).map(drop)
    }

    /// Reads the events that are there, and tells the ranges that are not what they were. Allocates nothing.
    pub fn read(&self, mut each: impl FnMut(Range<usize>)) {
        let mut bytes = [0; BATCH * EVENT_LEN];
        while let Ok(n @ 1..) = safe_calls::read(self.fd.as_raw_fd(), &mut bytes) {
            let events = bytes.as_chunks::<EVENT_LEN>().0;
            events
                .iter()
                .take(n / EVENT_LEN)
                .filter_map(stale)
                .for_each(&mut each);
        }
    }
}

/// The range that an event tells of.
fn stale(event: &[u8; EVENT_LEN]) -> Option<Range<usize>> {
    let words = event.as_chunks::<8>().0;
    let word = |at: usize| words.get(at).map(|bytes| usize::from_ne_bytes(*bytes));
    match event[0] {
        UNMAP | REMOVE => Some(word(1)?..word(2)?),
        // From, to, length.
        REMAP => {
            let start = word(1)?;
            Some(start..start.saturating_add(word(3)?))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_tell_what_is_stale() {
        let mut event = [0; EVENT_LEN];
        for (at, word) in [(8, 0x1000u64), (16, 0x3000), (24, 0x7000)] {
            event[at..at + 8].copy_from_slice(&word.to_ne_bytes());
        }
        let of = |kind| {
            let mut event = event;
            event[0] = kind;
            stale(&event)
        };
        assert_eq!(of(UNMAP), Some(0x1000..0x3000));
        assert_eq!(of(REMOVE), Some(0x1000..0x3000));
        assert_eq!(of(REMAP), Some(0x1000..0x8000));
        assert_eq!(of(0x12), None);
    }
}
