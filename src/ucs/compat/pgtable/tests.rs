//! A table against a plain model, by random calls.

use super::*;
use crate::ucs::test_rng::TestRng;
use core::cell::Cell;
use std::collections::BTreeMap;

thread_local! {
    /// Directories that live, and how many more may be made.
    static DIRS: Cell<(usize, usize)> = const { Cell::new((0, usize::MAX)) };
}

unsafe extern "C" fn alloc(_table: *const ucs_pgtable) -> *mut ucs_pgt_dir {
    let (live, more) = DIRS.get();
    if more == 0 {
        return core::ptr::null_mut();
    }
    DIRS.set((live + 1, more - 1));
    let garbage = ucs_pgt_dir {
        entries: [ucs_pgt_entry { value: !0 }; WAYS],
        count: 77,
    };
    Box::into_raw(Box::new(garbage))
}

unsafe extern "C" fn release(_table: *const ucs_pgtable, dir: *mut ucs_pgt_dir) {
    let (live, more) = DIRS.get();
    DIRS.set((live - 1, more));
    // SAFETY: `alloc` made it.
    drop(unsafe { Box::from_raw(dir) });
}

fn table() -> ucs_pgtable {
    DIRS.set((0, usize::MAX));
    empty(Some(alloc), Some(release))
}

/// The same contents as a map from the first byte to the end and the range.
type Oracle = BTreeMap<u64, (u64, *mut ucs_pgt_region)>;

fn overlapping(oracle: &Oracle, from: u64, to: u64) -> Vec<*mut ucs_pgt_region> {
    let all = oracle.iter();
    all.filter(|(start, (end, _))| **start <= to && *end > from)
        .map(|(_, (_, region))| *region)
        .collect()
}

fn compare(table: &ucs_pgtable, oracle: &Oracle, rng: &TestRng, spread: u32) {
    assert_eq!(table.num_regions as usize, oracle.len());
    for _ in 0..20 {
        let from = rng.next() >> spread;
        let to =
            from.saturating_add(rng.next() >> (rng.below(64 - spread as usize) as u32 + spread));
        let mut found = Vec::new();
        // SAFETY: a table of this test.
        unsafe { search(table, from, to, &mut |region| found.push(region)) };
        assert_eq!(found, overlapping(oracle, from, to), "{from:x}..={to:x}");
        // SAFETY: as above.
        let one = unsafe { lookup(table, from) };
        assert_eq!(one, overlapping(oracle, from, from).first().copied());
    }
}

#[test]
fn a_table_has_what_a_map_has() {
    for seed in 1..60 {
        let rng = TestRng::new(seed);
        let spread = [0, 16, 40, 52][seed as usize % 4];
        let mut table = table();
        let mut oracle = Oracle::new();
        for _ in 0..300 {
            if rng.below(3) > 0 {
                let start = rng.next() >> spread & !15;
                let len = (rng.next() >> (rng.below(60 - spread as usize) as u32 + spread)) & !15;
                let end = start.saturating_add(len) & !15;
                let region = Box::into_raw(Box::new(ucs_pgt_region { start, end }));
                // SAFETY: a table of this test; the range stays.
                let entered = unsafe { insert(&mut table, region) };
                if start >= end {
                    assert_eq!(entered, Err(Status::INVALID_PARAM));
                } else if !overlapping(&oracle, start, end - 1).is_empty() {
                    assert_eq!(entered, Err(Status::ALREADY_EXISTS));
                } else {
                    assert_eq!(entered, Ok(()));
                    oracle.insert(start, (end, region));
                    continue;
                }
                // SAFETY: it did not get into the table.
                assert!(unsafe { remove(&mut table, region) }.is_err());
                // SAFETY: made above.
                drop(unsafe { Box::from_raw(region) });
            } else if let Some((&start, _)) = oracle.iter().nth(rng.below(oracle.len().max(1))) {
                let (_, region) = oracle.remove(&start).unwrap();
                // SAFETY: a range of the table.
                assert_eq!(unsafe { remove(&mut table, region) }, Ok(()));
                // SAFETY: made above.
                drop(unsafe { Box::from_raw(region) });
            }
        }
        compare(&table, &oracle, &rng, spread);
        // SAFETY: a table of this test.
        let all = unsafe { purge(&mut table) };
        assert_eq!(
            all,
            oracle
                .values()
                .map(|(_, region)| *region)
                .collect::<Vec<_>>()
        );
        for region in all {
            // SAFETY: made above.
            drop(unsafe { Box::from_raw(region) });
        }
        assert_eq!(DIRS.get().0, 0, "directories are left");
        assert_eq!((table.root.value, table.num_regions), (0, 0));
    }
}

#[test]
fn the_ends_of_the_address_space_are_addresses() {
    let mut table = table();
    let mut low = ucs_pgt_region { start: 0, end: 16 };
    let mut high = ucs_pgt_region {
        start: !0 - 31,
        end: !15,
    };
    let mut all = ucs_pgt_region { start: 0, end: !15 };
    // SAFETY: a table of this test, here and below; the ranges outlive it.
    unsafe { insert(&mut table, &mut low) }.unwrap();
    // SAFETY: as above.
    unsafe { insert(&mut table, &mut high) }.unwrap();
    assert_eq!(
        // SAFETY: as above.
        unsafe { insert(&mut table, &mut all) },
        Err(Status::ALREADY_EXISTS)
    );
    // SAFETY: as above.
    assert_eq!(unsafe { lookup(&table, 15) }, Some(&raw mut low));
    // SAFETY: as above.
    assert_eq!(unsafe { lookup(&table, !0 - 16) }, Some(&raw mut high));
    // SAFETY: as above.
    assert_eq!(unsafe { lookup(&table, !0) }, None);
    // SAFETY: as above.
    assert_eq!(unsafe { purge(&mut table) }, [&raw mut low, &raw mut high]);
    // SAFETY: as above.
    unsafe { insert(&mut table, &mut all) }.unwrap();
    // SAFETY: as above.
    assert_eq!(unsafe { lookup(&table, 1 << 63) }, Some(&raw mut all));
    assert_eq!(
        // SAFETY: as above.
        unsafe { remove(&mut table, &mut low) },
        Err(Status::NO_ELEM)
    );
    // SAFETY: as above.
    unsafe { remove(&mut table, &mut all) }.unwrap();
    assert_eq!(DIRS.get().0, 0);
}

#[test]
fn an_insertion_without_memory_leaves_nothing() {
    for allowed in 0..40 {
        let mut table = table();
        let mut first = ucs_pgt_region {
            start: 0x7000,
            end: 0x9010,
        };
        let mut second = ucs_pgt_region {
            start: 0x7fff_1230,
            end: 0x9fff_5670,
        };
        // SAFETY: a table of this test, here and below; the ranges outlive it.
        unsafe { insert(&mut table, &mut first) }.unwrap();
        let before = DIRS.get().0;
        DIRS.set((before, allowed));
        // SAFETY: as above.
        match unsafe { insert(&mut table, &mut second) } {
            Ok(()) => {
                assert!(allowed > 2);
                // SAFETY: as above.
                unsafe { remove(&mut table, &mut second) }.unwrap();
            }
            Err(status) => assert_eq!(status, Status::NO_MEMORY),
        }
        assert_eq!(DIRS.get().0, before, "after {allowed} directories");
        // SAFETY: as above.
        assert_eq!(unsafe { purge(&mut table) }, [&raw mut first]);
        assert_eq!(DIRS.get().0, 0);
    }
}
