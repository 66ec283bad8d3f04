//! Which memory is the host's for certain, so that no driver of a device has to be asked about it.
//!
//! Memory at an address can become a device's only after it was unmapped. So what stays mapped, or is unmapped by this
//! library alone, needs no hook: the program's own file, the heap up to its present end, the first thread's stack,
//! the stack of the calling thread, and what was allocated here.

use super::file::read_kernel_text;
use super::fork::Stamp;
use super::lock::Mutex;
use super::process;
use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};
use once_cell::race::OnceBox;

/// What this library has allocated, beyond which a driver is asked again.
const ALLOCATED: usize = 16;

pub struct HostMemory {
    /// The part of the program's file that its data are in.
    program: Range<usize>,
    /// Where the heap of brk(2) begins.
    heap: Option<usize>,
    /// As much of the first thread's stack as was mapped when it was looked at; it grows, and never shrinks.
    stack: Range<usize>,
    allocated: [AllocatedRange; ALLOCATED],
    /// Changes of `allocated`.
    changes: Mutex<()>,
    /// A child of fork() may lack what its parent has allocated.
    made_by: Stamp,
}

static HOST_MEMORY: OnceBox<HostMemory> = OnceBox::new();

impl HostMemory {
    /// What is known of this process, which is looked at once.
    pub fn of_process() -> &'static HostMemory {
        HOST_MEMORY.get_or_init(|| Box::new(HostMemory::look()))
    }

    fn look() -> HostMemory {
        // Without /proc neither of both is known.
        let maps = read_kernel_text("/proc/self/maps").unwrap_or_default();
        HostMemory {
            program: program(),
            heap: heap_start(&maps),
            stack: named(&maps, "[stack]").unwrap_or(0..0),
            allocated: [const { AllocatedRange::none() }; ALLOCATED],
            changes: Mutex::default(),
            made_by: Stamp::now(),
        }
    }

    /// Whether the memory at an address is the host's for certain.
    pub fn has(&self, address: usize) -> bool {
        self.program.contains(&address)
            || self.stack.contains(&address)
            || self.is_allocated(address)
            || self.is_in_heap(address)
            || own_stack().contains(&address)
    }

    fn is_in_heap(&self, address: usize) -> bool {
        // The end changes, and the C library knows it without a system call.
        let end = || heap_end().unwrap_or(0);
        self.heap.is_some_and(|start| address >= start) && address < end()
    }

    fn is_allocated(&self, address: usize) -> bool {
        self.made_by.is_current() && self.allocated.iter().any(|range| range.has(address))
    }

    fn add(&self, range: Range<usize>) {
        if !self.made_by.is_current() || range.is_empty() {
            return;
        }
        let _changes = self.changes.lock();
        if let Some(free) = self.allocated.iter().find(|slot| slot.is_free()) {
            free.set(range);
        }
    }

    fn remove(&self, start: usize) {
        if !self.made_by.is_current() {
            return;
        }
        let _changes = self.changes.lock();
        let mut all = self.allocated.iter();
        if let Some(slot) = all.find(|slot| slot.start.load(Ordering::Relaxed) == start) {
            slot.clear();
        }
    }
}

/// Memory of the host has been allocated. Kept where somebody asks for it, as far as there is room.
pub fn was_allocated(range: Range<usize>) {
    if let Some(known) = HOST_MEMORY.get() {
        known.add(range);
    }
}

/// What was allocated at an address is about to be freed.
pub fn will_be_freed(start: usize) {
    if let Some(known) = HOST_MEMORY.get() {
        known.remove(start);
    }
}

/// A range that is read without a lock.
struct AllocatedRange {
    /// `FREE` while there is none.
    start: AtomicUsize,
    end: AtomicUsize,
}

const FREE: usize = usize::MAX;

impl AllocatedRange {
    const fn none() -> AllocatedRange {
        AllocatedRange {
            start: AtomicUsize::new(FREE),
            end: AtomicUsize::new(0),
        }
    }

    fn is_free(&self) -> bool {
        self.start.load(Ordering::Relaxed) == FREE
    }

    /// Makes it a range; it is free. One thread at a time.
    fn set(&self, range: Range<usize>) {
        // Release: who reads this end sees that the range of before has gone, or the start below.
        self.end.store(range.end, Ordering::Release);
        // Release: who reads this start reads this end, or a later one.
        self.start.store(range.start, Ordering::Release);
    }

    fn clear(&self) {
        self.start.store(FREE, Ordering::Relaxed);
    }

    fn has(&self, address: usize) -> bool {
        // Acquire: the end is read behind it.
        let start = self.start.load(Ordering::Acquire);
        if address < start {
            return false;
        }
        // Acquire: the start is read again behind it, and differs if this end is another range's.
        let end = self.end.load(Ordering::Acquire);
        address < end && self.start.load(Ordering::Relaxed) == start
    }
}

/// The range of the first mapping of that name.
fn named(maps: &str, name: &str) -> Option<Range<usize>> {
    let line = maps.lines().find(|line| line.ends_with(name))?;
    let (start, end) = line.split_ascii_whitespace().next()?.split_once('-')?;
    let hex = |word| usize::from_str_radix(word, 16).ok();
    Some(hex(start)?..hex(end)?)
}

/// Where the heap begins; where it has nothing yet, that is its end.
fn heap_start(maps: &str) -> Option<usize> {
    match named(maps, "[heap]") {
        Some(heap) => Some(heap.start),
        None => heap_end().filter(|_| !maps.is_empty()),
    }
}

fn heap_end() -> Option<usize> {
    // SAFETY: without an increment it changes nothing.
    let end = unsafe { libc::sbrk(0) }.addr();
    (end != usize::MAX).then_some(end)
}

/// The part of the program's file, without holes, that ends with its data.
fn program() -> Range<usize> {
    let mut found = 0..0;
    // SAFETY: the visitor gets its argument back, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit_program), (&raw mut found).cast()) };
    found
}

/// The first object that the loader tells of is the program.
unsafe extern "C" fn visit_program(
    object: *mut libc::dl_phdr_info,
    _size: usize,
    found: *mut c_void,
) -> c_int {
    // SAFETY: the loader's description of a loaded object.
    let object = unsafe { &*object };
    // SAFETY: the object's program headers.
    let headers =
        unsafe { core::slice::from_raw_parts(object.dlpi_phdr, object.dlpi_phnum as usize) };
    let loaded = headers.iter().filter(|h| h.p_type == libc::PT_LOAD);
    let ranges = loaded.map(|h| {
        let start = (object.dlpi_addr as usize).wrapping_add(h.p_vaddr as usize);
        start..start.saturating_add(h.p_memsz as usize)
    });
    // SAFETY: of `program`, whose only reference this is.
    unsafe { *found.cast::<Range<usize>>() = without_holes(ranges) };
    1
}

/// The last of ascending ranges, with those before it that are on adjacent pages.
fn without_holes(ranges: impl Iterator<Item = Range<usize>>) -> Range<usize> {
    let pages = ranges.map(super::mem::whole_pages);
    pages
        .reduce(|before, next| match before.end >= next.start {
            true => before.start..next.end,
            false => next,
        })
        .unwrap_or(0..0)
}

/// The stack of the calling thread, as long as it is not the first one.
fn own_stack() -> Range<usize> {
    /// Empty for the first thread, whose stack grows.
    const UNKNOWN: (usize, usize) = (1, 0);
    thread_local!(static STACK: Cell<(usize, usize)> = const { Cell::new(UNKNOWN) });
    // A thread that ends has it still: it is no value that is dropped.
    let (start, end) = STACK.get();
    if (start, end) != UNKNOWN {
        return start..end;
    }
    let found = match process::tid() == process::pid() {
        true => 0..0,
        false => stack_of_thread(),
    };
    STACK.set((found.start, found.end));
    found
}

/// The stack of the calling thread. It stays mapped as long as the thread runs.
fn stack_of_thread() -> Range<usize> {
    let mut attributes = core::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
    // SAFETY: takes no argument.
    let this = unsafe { libc::pthread_self() };
    // SAFETY: the calling thread, and room for its attributes.
    if unsafe { libc::pthread_getattr_np(this, attributes.as_mut_ptr()) } != 0 {
        return 0..0;
    }
    let (mut start, mut length) = (core::ptr::null_mut(), 0);
    // SAFETY: attributes that were written, and writable results.
    let asked =
        unsafe { libc::pthread_attr_getstack(attributes.as_ptr(), &mut start, &mut length) };
    // SAFETY: as above, once.
    unsafe { libc::pthread_attr_destroy(attributes.as_mut_ptr()) };
    match asked {
        0 => start.addr()..start.addr().saturating_add(length),
        _ => 0..0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::AtomicBool;

    static OF_PROGRAM: [AtomicUsize; 1000] = [const { AtomicUsize::new(0) }; 1000];

    fn place<T: ?Sized>(of: &T) -> usize {
        core::ptr::from_ref(of).cast::<u8>().addr()
    }

    #[test]
    #[cfg_attr(miri, ignore = "it has neither /proc nor a heap of brk(2)")]
    fn statics_heap_and_stacks_are_the_hosts() {
        let known = HostMemory::look();
        assert!(known.has(place(&OF_PROGRAM)));
        // SAFETY: only moves the end of the heap.
        let grown = unsafe { libc::sbrk(4096) }.addr();
        assert!(known.has(grown + 4095));
        // Other threads may move it.
        let end = heap_end().unwrap();
        assert!(!known.has(end) || heap_end() != Some(end));
        // This thread is none of the first's.
        let local = 1;
        assert!(known.has(place(&local)));
        let of_another = std::thread::scope(|s| s.spawn(|| known.has(place(&local))).join());
        assert!(!of_another.unwrap());
        let stack = known.stack.clone();
        assert!(!stack.is_empty() && known.has(stack.end - 1) && !known.has(stack.end));
    }

    #[test]
    #[cfg_attr(miri, ignore = "it has neither /proc nor a heap of brk(2)")]
    fn what_others_may_unmap_is_not_known() {
        let known = HostMemory::look();
        let long = vec![1_u8; 8 << 20];
        assert!(!known.has(place(&long[..])));
        // A function of a library, which may be unloaded.
        assert!(!known.has(libc::sbrk as *const () as usize));
        assert!(!known.has(0) && !known.has(usize::MAX));
    }

    #[test]
    #[cfg_attr(miri, ignore = "it has neither /proc nor a heap of brk(2)")]
    fn what_is_allocated_here_is_known_until_it_is_freed() {
        let known = HostMemory::look();
        let at = |i: usize| 0x7000_0000_0000 + i * 0x10000;
        let all = 0..ALLOCATED + 1;
        for i in all.clone() {
            known.add(at(i)..at(i) + 100);
        }
        let has = |i| known.has(at(i)) && known.has(at(i) + 99);
        assert_eq!(all.clone().filter(|i| has(*i)).count(), ALLOCATED);
        assert!(!known.has(at(3) + 100) && !known.has(at(3) - 1));
        known.remove(at(3));
        assert!(!known.has(at(3)));
        known.add(at(3) + 50..at(3) + 150);
        assert!(!known.has(at(3) + 49) && known.has(at(3) + 149));
        for i in all {
            known.remove(at(i));
            known.remove(at(i) + 50);
        }
        assert!(known.allocated.iter().all(AllocatedRange::is_free));
    }

    /// Two ranges take turns in one place: nobody sees the start of one with the end of the other.
    #[test]
    fn ranges_are_not_mixed() {
        let slot = AllocatedRange::none();
        let stop = AtomicBool::new(false);
        let turns = if cfg!(miri) { 50 } else { 200_000 };
        std::thread::scope(|s| {
            s.spawn(|| {
                for _ in 0..turns {
                    for range in [100..200, 300..400] {
                        slot.set(range);
                        slot.clear();
                    }
                }
                stop.store(true, Ordering::Relaxed);
            });
            while !stop.load(Ordering::Relaxed) {
                assert!(!slot.has(250));
                core::hint::spin_loop();
            }
        });
    }

    #[test]
    fn the_part_without_holes_ends_with_the_last_range() {
        let page = crate::sys::mem::page_size();
        let of = |ranges: &[(usize, usize)]| {
            without_holes(ranges.iter().map(|(a, b)| a * page + 8..b * page))
        };
        assert_eq!(of(&[]), 0..0);
        assert_eq!(of(&[(1, 2), (2, 5), (5, 7)]), page..7 * page);
        assert_eq!(of(&[(1, 2), (3, 5), (5, 7)]), 3 * page..7 * page);
    }

    #[test]
    fn mappings_are_found_by_name() {
        let maps = "1000-2000 rw-p 00000000 00:00 0 [heap]\n2000-3000 rw-p 0 00:00 0 [heap]\n4000-5000 r--p 0 00:00 0 /a\n";
        assert_eq!(named(maps, "[heap]"), Some(0x1000..0x2000));
        assert_eq!(named(maps, "[stack]"), None);
    }
}
