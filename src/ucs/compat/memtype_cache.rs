//! The cache of memory types, `ucs/memory/memtype_cache.h`: ranges of addresses whose memory type a client entered.
//! The library itself works on host memory and enters nothing.

use super::pgtable;
use crate::c::{
    UCS_MEM_FLAG_REGISTRABLE, UCS_MEMORY_TYPE_UNKNOWN, UCS_SYS_DEVICE_ID_UNKNOWN, ucs_memory_info,
    ucs_memory_type_t, ucs_memtype_cache, ucs_pgt_dir, ucs_pgt_region, ucs_pgtable, ucs_spinlock,
    ucs_sys_device_t,
};
use crate::ucs::{Result, Status};
use core::mem::offset_of;

/// Ranges begin and end at multiples of this.
const ALIGN: u64 = 16;

/// What is known of a range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Memory {
    pub kind: ucs_memory_type_t,
    pub device: ucs_sys_device_t,
    pub flags: u8,
}

/// An entry of the page table, which points to its first member.
#[repr(C)]
struct Region {
    range: ucs_pgt_region,
    memory: Memory,
}

/// The object that clients see. Their inline code asks it for the number of ranges, at another place before 1.16: a lock
/// of another kind came first.
#[repr(C)]
struct Object {
    cache: ucs_memtype_cache,
    unused: [u8; 28],
    num_regions_before_1_16: u32,
    rest: [u8; 16],
}

const _: () = {
    assert!(offset_of!(Object, num_regions_before_1_16) == 84);
    assert!(size_of::<Object>() == 104);
};

/// The ranges, in the page table of the object. One thread at a time uses it.
pub struct Cache(Box<Object>);

// SAFETY: the regions and directories are its own.
unsafe impl Send for Cache {}

unsafe extern "C" fn new_directory(_: *const ucs_pgtable) -> *mut ucs_pgt_dir {
    Box::into_raw(Box::new(pgtable::EMPTY_DIR))
}

unsafe extern "C" fn free_directory(_: *const ucs_pgtable, dir: *mut ucs_pgt_dir) {
    // SAFETY: the table hands back what `new_directory` gave it, once.
    drop(unsafe { Box::from_raw(dir) });
}

/// The bytes of a range, with both ends moved outward to multiples of `ALIGN`. `INVALID_PARAM` when it does not fit
/// below the highest address.
fn aligned(address: usize, size: usize) -> Result<ucs_pgt_region> {
    let end = (address as u64).checked_add(size as u64);
    let end = end.and_then(|end| end.checked_next_multiple_of(ALIGN));
    Ok(ucs_pgt_region {
        start: address as u64 & !(ALIGN - 1),
        end: end.ok_or(Status::INVALID_PARAM)?,
    })
}

impl Default for Cache {
    /// An empty cache.
    fn default() -> Self {
        Cache(Box::new(Object {
            cache: ucs_memtype_cache {
                lock: ucs_spinlock { lock: 0 },
                pgtable: pgtable::empty(Some(new_directory), Some(free_directory)),
            },
            unused: [0; 28],
            num_regions_before_1_16: 0,
            rest: [0; 16],
        }))
    }
}

impl Cache {
    /// The object's address, which stays.
    pub fn object(&mut self) -> *mut ucs_memtype_cache {
        (&raw mut *self.0).cast()
    }

    fn table(&mut self) -> *mut ucs_pgtable {
        &raw mut self.0.cache.pgtable
    }

    fn insert(&mut self, range: ucs_pgt_region, memory: Memory) -> Result<()> {
        let region = Box::into_raw(Box::new(Region { range, memory }));
        // SAFETY: the region stays until `take_out` or `drop`.
        let done = unsafe { pgtable::insert(self.table(), region.cast()) };
        if done.is_err() {
            // SAFETY: the table did not take it.
            drop(unsafe { Box::from_raw(region) });
        }
        done
    }

    /// Takes out the regions that have an address in `range`.
    fn take_out(&mut self, range: ucs_pgt_region) -> Result<Vec<Region>> {
        let mut found: Vec<*mut ucs_pgt_region> = Vec::new();
        let mut collect = |region| found.push(region);
        // SAFETY: a table of this cache, which does not change meanwhile.
        unsafe {
            pgtable::search(
                &self.0.cache.pgtable,
                range.start,
                range.end - 1,
                &mut collect,
            )
        };
        let mut regions = Vec::with_capacity(found.len());
        for region in found {
            // SAFETY: a region of the table.
            unsafe { pgtable::remove(self.table(), region) }?;
            // SAFETY: `insert` made it, and the table has it no more.
            regions.push(*unsafe { Box::from_raw(region.cast::<Region>()) });
        }
        Ok(regions)
    }

    /// Enters a range again without the part that is in `hole`.
    fn put_back_around(&mut self, region: &Region, hole: ucs_pgt_region) -> Result<()> {
        let ucs_pgt_region { start, end } = region.range;
        let before = ucs_pgt_region {
            start,
            end: hole.start,
        };
        let behind = ucs_pgt_region {
            start: hole.end,
            end,
        };
        for part in [before, behind] {
            if part.start < part.end {
                self.insert(part, region.memory)?;
            }
        }
        Ok(())
    }

    /// Enters what is known of a range. It becomes one with ranges of the same type and flags that it overlaps, and
    /// replaces the overlapping part of others.
    pub fn update(&mut self, address: usize, size: usize, memory: Memory) -> Result<()> {
        if size == 0 {
            return Ok(());
        }
        let new = aligned(address, size)?;
        let mut whole = new;
        for old in self.take_out(new)? {
            if (old.memory.kind, old.memory.flags) == (memory.kind, memory.flags) {
                whole.start = whole.start.min(old.range.start);
                whole.end = whole.end.max(old.range.end);
            } else {
                self.put_back_around(&old, new)?;
            }
        }
        let done = self.insert(whole, memory);
        self.count();
        done
    }

    fn count(&mut self) {
        self.0.num_regions_before_1_16 = self.0.cache.pgtable.num_regions;
    }

    /// Forgets a range.
    pub fn remove(&mut self, address: usize, size: usize) -> Result<()> {
        if size == 0 {
            return Ok(());
        }
        let hole = aligned(address, size)?;
        for old in self.take_out(hole)? {
            self.put_back_around(&old, hole)?;
        }
        self.count();
        Ok(())
    }

    /// What is known of a range: the entry that covers it, or the unknown type where an entry covers its beginning only.
    /// `NO_ELEM` when none covers its first byte.
    pub fn lookup(&self, address: usize, size: usize) -> Result<ucs_memory_info> {
        // SAFETY: a table of this cache.
        let found = unsafe { pgtable::lookup(&self.0.cache.pgtable, address as u64) };
        let region = found.ok_or(Status::NO_ELEM)?.cast::<Region>();
        // SAFETY: `insert` made each region of the table.
        let Region { range, memory } = unsafe { &*region };
        let end = (address as u64).saturating_add(size as u64);
        if end > range.end {
            return Ok(ucs_memory_info {
                r#type: UCS_MEMORY_TYPE_UNKNOWN,
                sys_dev: UCS_SYS_DEVICE_ID_UNKNOWN,
                base_address: core::ptr::null_mut(),
                alloc_length: usize::MAX,
                mem_flags: UCS_MEM_FLAG_REGISTRABLE as u8,
            });
        }
        Ok(ucs_memory_info {
            r#type: memory.kind,
            sys_dev: memory.device,
            base_address: core::ptr::with_exposed_provenance_mut(range.start as usize),
            alloc_length: (range.end - range.start) as usize,
            mem_flags: memory.flags,
        })
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        // SAFETY: a table of this cache.
        for region in unsafe { pgtable::purge(self.table()) } {
            // SAFETY: `insert` made it, and the table has it no more.
            drop(unsafe { Box::from_raw(region.cast::<Region>()) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ucs::test_rng::TestRng;

    const BASE: usize = 0x7f00_0000_0000;

    fn memory(kind: u32, device: u8, flags: u8) -> Memory {
        Memory {
            kind,
            device,
            flags,
        }
    }

    /// Type, device, and the range relative to `BASE`.
    fn known(cache: &Cache, at: usize, size: usize) -> Option<(u32, u8, usize, usize)> {
        let info = cache.lookup(BASE + at, size).ok()?;
        let start = info.base_address.addr().wrapping_sub(BASE);
        Some((info.r#type, info.sys_dev, start, info.alloc_length))
    }

    /// What UCX 1.22 answers to the same calls.
    #[test]
    fn ranges_merge_split_and_go_as_upstream_has_it() {
        let mut cache = Cache::default();
        let cuda = memory(1, 3, 1);
        cache.update(BASE, 4096, cuda).unwrap();
        cache.update(BASE + 2048, 4096, cuda).unwrap();
        assert_eq!(known(&cache, 5000, 16), Some((1, 3, 0, 6144)));
        cache.update(BASE + 8192, 4096, cuda).unwrap();
        cache.update(BASE + 12288, 4096, cuda).unwrap();
        assert_eq!(known(&cache, 8192, 4096), Some((1, 3, 8192, 4096)));
        assert_eq!(known(&cache, 8192, 0), Some((1, 3, 8192, 4096)));
        let unknown = (10, 255, 0usize.wrapping_sub(BASE), usize::MAX);
        assert_eq!(known(&cache, 12287, 2), Some(unknown));
        assert_eq!(known(&cache, 7000, 2048), None);
        // Another device and the same flags: one range; other flags: a part of their own.
        cache.update(BASE + 9216, 1024, memory(1, 4, 1)).unwrap();
        assert_eq!(known(&cache, 8192, 16), Some((1, 4, 8192, 4096)));
        cache
            .update(BASE + 8192 + 100, 200, memory(1, 4, 0))
            .unwrap();
        assert_eq!(known(&cache, 8192, 16), Some((1, 4, 8192, 96)));
        assert_eq!(known(&cache, 8192 + 96, 16), Some((1, 4, 8192 + 96, 208)));
        assert_eq!(
            known(&cache, 8192 + 304, 16),
            Some((1, 4, 8192 + 304, 3792))
        );
        cache.remove(BASE + 12288 + 100, 200).unwrap();
        assert_eq!(known(&cache, 12288, 16), Some((1, 3, 12288, 96)));
        assert_eq!(known(&cache, 12288 + 96, 16), None);
        assert_eq!(
            known(&cache, 12288 + 304, 16),
            Some((1, 3, 12288 + 304, 3792))
        );
        assert_eq!(
            cache.update(usize::MAX - 4095, 4096, cuda),
            Err(Status::INVALID_PARAM)
        );
        assert_eq!(
            cache.update(usize::MAX - 4095, 4095, cuda),
            Err(Status::INVALID_PARAM)
        );
    }

    #[test]
    fn random_ranges_agree_with_a_map_of_blocks() {
        const BLOCKS: usize = 256;
        let mut cache = Cache::default();
        let mut model: [Option<(u32, u8)>; BLOCKS] = [None; BLOCKS];
        let rng = TestRng::new(11);
        for _ in 0..20_000 {
            let from = rng.below(BLOCKS * 16);
            let size = 1 + rng.below(600).min(BLOCKS * 16 - from - 1);
            let blocks = from / 16..(from + size).div_ceil(16);
            let (kind, flags) = (1 + rng.below(3) as u32, rng.below(2) as u8);
            let is_removal = rng.below(3) == 0;
            if is_removal {
                cache.remove(BASE + from, size).unwrap();
            } else {
                cache
                    .update(BASE + from, size, memory(kind, 0, flags))
                    .unwrap();
            }
            model[blocks].fill((!is_removal).then_some((kind, flags)));
            let at = rng.below(BLOCKS);
            let info = cache.lookup(BASE + at * 16, 16).ok();
            assert_eq!(
                info.map(|info| (info.r#type, info.mem_flags)),
                model[at],
                "block {at}"
            );
        }
        cache.remove(BASE, BLOCKS * 16).unwrap();
        assert_eq!(cache.0.cache.pgtable.num_regions, 0);
        assert_eq!(cache.0.num_regions_before_1_16, 0);
    }
}
