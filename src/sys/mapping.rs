//! The access rights of memory ranges of this process, as the kernel lists them.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::OnceLock;

/// What all pages of a range may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protection {
    pub read: bool,
    pub write: bool,
}

const ALL: Protection = Protection {
    read: true,
    write: true,
};
const NONE: Protection = Protection {
    read: false,
    write: false,
};

/// The list of this process's mappings, which is opened once. A child of fork() would be told of its parent's.
#[derive(Default)]
pub struct Mappings(OnceLock<Option<File>>);

impl Mappings {
    /// The protection of a range; everything where the kernel tells nothing at all (no /proc).
    pub fn protection(&self, address: usize, len: usize) -> Protection {
        const LIST: &str = "/proc/self/maps";
        let end = address.saturating_add(len);
        let Some(maps) = self.0.get_or_init(|| File::open(LIST).ok()) else {
            return ALL;
        };
        match by_query(maps, address, end) {
            Ok(found) => found,
            Err(_) => {
                std::fs::read_to_string(LIST).map_or(ALL, |maps| in_text(&maps, address, end))
            }
        }
    }
}

/// `struct procmap_query` of `linux/fs.h`, from Linux 6.11 on.
#[repr(C)]
#[derive(Default)]
struct Query {
    size: u64,
    flags: u64,
    address: u64,
    start: u64,
    end: u64,
    /// Of the mapping.
    rights: u64,
    page_size: u64,
    offset: u64,
    inode: u64,
    device: [u32; 2],
    name_size: u32,
    build_id_size: u32,
    name: u64,
    build_id: u64,
}

/// `PROCMAP_QUERY`: `_IOWR('f', 17, struct procmap_query)`.
const QUERY: u64 = 3 << 30 | (size_of::<Query>() as u64) << 16 | (b'f' as u64) << 8 | 17;
const READABLE: u64 = 1;
const WRITABLE: u64 = 2;

/// Asks for one mapping after the other: reading the list would take as long as the process has mappings. An error where
/// the kernel does not know the question.
fn by_query(maps: &File, start: usize, end: usize) -> io::Result<Protection> {
    let (mut found, mut reached) = (ALL, start as u64);
    while reached < end as u64 {
        let mut query = Query {
            size: size_of::<Query>() as u64,
            address: reached,
            ..Query::default()
        };
        // SAFETY: the kernel writes a structure of the stated size; it has room for no name.
        if unsafe { libc::ioctl(maps.as_raw_fd(), QUERY as _, &raw mut query) } != 0 {
            let e = io::Error::last_os_error();
            return match e.raw_os_error() {
                // Nothing is mapped there.
                Some(libc::ENOENT) => Ok(NONE),
                _ => Err(e),
            };
        }
        found.read &= query.rights & READABLE != 0;
        found.write &= query.rights & WRITABLE != 0;
        if query.end <= reached {
            return Err(io::ErrorKind::InvalidData.into());
        }
        reached = query.end;
    }
    Ok(found)
}

/// The same by the text of the list, whose ranges ascend.
fn in_text(maps: &str, start: usize, end: usize) -> Protection {
    let mut found = ALL;
    let mut reached = start;
    for line in maps.lines() {
        let mut words = line.split_ascii_whitespace();
        let (Some(range), Some(rights)) = (words.next(), words.next()) else {
            continue;
        };
        let hex = |word| usize::from_str_radix(word, 16).ok();
        let bounds = range.split_once('-').map(|(a, b)| (hex(a), hex(b)));
        let Some((Some(from), Some(to))) = bounds else {
            continue;
        };
        if to <= reached {
            continue;
        }
        if reached >= end || from > reached {
            break;
        }
        found.read &= rights.starts_with('r');
        found.write &= rights.as_bytes().get(1) == Some(&b'w');
        reached = to;
    }
    if reached < end {
        return NONE;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::mem::page_size;

    /// Asking and reading tell the same of pages with different rights, and of a hole.
    #[test]
    fn the_kernel_tells_what_its_list_says() {
        let page = page_size();
        let map = |prot, at: usize, flags| {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | flags;
            // SAFETY: over pages of this test's own, or at an address of the kernel's choice.
            unsafe {
                libc::mmap(at as *mut _, page * (4 - at.min(1) * 3), prot, flags, -1, 0) as usize
            }
        };
        let start = map(libc::PROT_READ | libc::PROT_WRITE, 0, 0);
        map(libc::PROT_READ, start + page, libc::MAP_FIXED);
        // SAFETY: a page of the mapping above.
        unsafe { libc::munmap((start + 3 * page) as *mut _, page) };
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let mappings = Mappings::default();
        for from in 0..4 {
            for to in from + 1..=4 {
                let (from, to) = (start + from * page + 1, start + to * page - 1);
                let told = mappings.protection(from, to - from);
                assert_eq!(told, in_text(&maps, from, to), "{from:x}-{to:x}");
                let file = File::open("/proc/self/maps").unwrap();
                if let Ok(asked) = by_query(&file, from, to) {
                    assert_eq!(asked, told, "{from:x}-{to:x}");
                }
            }
        }
        // SAFETY: the pages that are left of the mapping above.
        unsafe { libc::munmap(start as *mut _, 3 * page) };
    }

    #[test]
    fn protection_is_that_of_the_weakest_page_of_a_range() {
        let maps = "1000-3000 rw-p 0 0:0 0\n3000-4000 r--p 0 0:0 0\n5000-6000 rw-s 0 0:0 0 x\n\
                    6000-7000 ---p 0\n";
        let rights = |start, end| {
            let p = in_text(maps, start, end);
            (p.read, p.write)
        };
        assert_eq!(rights(0x1000, 0x3000), (true, true));
        assert_eq!(rights(0x1fff, 0x3001), (true, false));
        assert_eq!(rights(0x3800, 0x5800), (false, false), "a hole");
        assert_eq!(rights(0x5800, 0x6800), (false, false));
        assert_eq!(rights(0x5800, 0x6000), (true, true));
        assert_eq!(rights(0x6000, 0x8000), (false, false), "behind the end");
        assert_eq!(rights(0x0, 0x1001), (false, false), "before the start");
    }
}
