//! The table of address ranges, `ucs/datastruct/pgtable.h`: a tree with 16 ways at each step.
//!
//! A range is cut into blocks whose size is a power of 16 times 16 bytes and whose address is a multiple of it; an
//! entry of the tree leads to the range that covers its block, or to a directory of 16 smaller blocks. The root covers
//! `1 << shift` bytes at `base` and moves up and down as ranges come and go. Directories are the client's memory.

use crate::c::{
    ucs_pgt_addr_t, ucs_pgt_dir, ucs_pgt_dir_alloc_callback_t, ucs_pgt_dir_release_callback_t,
    ucs_pgt_entry, ucs_pgt_region, ucs_pgtable,
};
use crate::ucs::{Result, Status};
use crate::ucs_warn;

/// Bits of an address below the smallest block.
const ADDR_SHIFT: u32 = 4;
/// Bits of an address at each step.
const STEP: u32 = 4;
const WAYS: usize = 1 << STEP;
const REGION: ucs_pgt_addr_t = 1 << 0;
const DIR: ucs_pgt_addr_t = 1 << 1;
const FLAGS: ucs_pgt_addr_t = REGION | DIR;

const EMPTY: ucs_pgt_entry = ucs_pgt_entry { value: 0 };
/// A directory without entries.
pub const EMPTY_DIR: ucs_pgt_dir = ucs_pgt_dir {
    entries: [EMPTY; WAYS],
    count: 0,
};

/// What an entry leads to.
#[derive(Clone, Copy)]
enum Way {
    Nothing,
    Region(*mut ucs_pgt_region),
    Dir(*mut ucs_pgt_dir),
}

impl ucs_pgt_entry {
    fn way(self) -> Way {
        let address = (self.value & !FLAGS) as usize;
        match self.value & FLAGS {
            REGION => Way::Region(core::ptr::with_exposed_provenance_mut(address)),
            DIR => Way::Dir(core::ptr::with_exposed_provenance_mut(address)),
            _ => Way::Nothing,
        }
    }

    fn to_region(region: *mut ucs_pgt_region) -> Self {
        let value = region.expose_provenance() as ucs_pgt_addr_t | REGION;
        ucs_pgt_entry { value }
    }

    fn to_dir(dir: *mut ucs_pgt_dir) -> Self {
        let value = dir.expose_provenance() as ucs_pgt_addr_t | DIR;
        ucs_pgt_entry { value }
    }
}

/// The bits of an address above `shift` low ones.
fn above(shift: u32) -> ucs_pgt_addr_t {
    (!0 as ucs_pgt_addr_t).checked_shl(shift).unwrap_or(0)
}

/// Which way an address takes in a directory that covers `1 << shift` bytes.
fn index(address: ucs_pgt_addr_t, shift: u32) -> usize {
    (address >> (shift - STEP)) as usize % WAYS
}

/// The blocks of a range, lowest first: address and size as a power of two.
fn blocks(
    start: ucs_pgt_addr_t,
    end: ucs_pgt_addr_t,
) -> impl Iterator<Item = (ucs_pgt_addr_t, u32)> {
    let mut at = start;
    core::iter::from_fn(move || {
        if at == end {
            return None;
        }
        let aligned = if at == 0 { 60 } else { at.trailing_zeros() };
        let fits = (end - at).ilog2();
        let order = (aligned.min(fits) - ADDR_SHIFT) / STEP * STEP + ADDR_SHIFT;
        let block = (at, order);
        at += 1 << order;
        Some(block)
    })
}

/// An empty table.
pub fn empty(
    pgd_alloc_cb: ucs_pgt_dir_alloc_callback_t,
    pgd_release_cb: ucs_pgt_dir_release_callback_t,
) -> ucs_pgtable {
    ucs_pgtable {
        root: EMPTY,
        base: 0,
        mask: above(ADDR_SHIFT),
        shift: ADDR_SHIFT,
        num_regions: 0,
        pgd_alloc_cb,
        pgd_release_cb,
    }
}

/// # Safety
/// `dir` is a directory of a live table.
unsafe fn entry(dir: *mut ucs_pgt_dir, at: usize) -> *mut ucs_pgt_entry {
    // SAFETY: the caller's directory; `at` is below `WAYS`.
    unsafe { (&raw mut (*dir).entries).cast::<ucs_pgt_entry>().add(at) }
}

/// # Safety
/// `dir` is a directory of a live table.
unsafe fn count(dir: *mut ucs_pgt_dir, change: i32) -> u32 {
    // SAFETY: the caller's directory.
    let count = unsafe { &mut (*dir).count };
    *count = count.wrapping_add_signed(change);
    *count
}

/// An empty directory of the client's.
///
/// # Safety
/// `table` is a live table, here and below; its callbacks keep what the header says.
unsafe fn new_dir(table: *mut ucs_pgtable) -> Result<*mut ucs_pgt_dir> {
    // SAFETY: the caller's table.
    let alloc = unsafe { (*table).pgd_alloc_cb };
    let dir = match alloc {
        // SAFETY: the client's function.
        Some(alloc) => unsafe { alloc(table) },
        None => core::ptr::null_mut(),
    };
    if dir.is_null() {
        return Err(Status::NO_MEMORY);
    }
    if dir.addr() as ucs_pgt_addr_t & FLAGS != 0 {
        ucs_warn!("page table: the directory at {dir:p} is not aligned to 4 bytes");
        // SAFETY: as above.
        unsafe { free_dir(table, dir) };
        return Err(Status::INVALID_PARAM);
    }
    // SAFETY: the client's new memory.
    unsafe { dir.write(EMPTY_DIR) };
    Ok(dir)
}

/// # Safety
/// `dir` is a directory that nothing leads to any more.
unsafe fn free_dir(table: *mut ucs_pgtable, dir: *mut ucs_pgt_dir) {
    // SAFETY: the caller's table.
    let release = unsafe { (*table).pgd_release_cb };
    if let Some(release) = release {
        // SAFETY: the client's function, with what it allocated.
        unsafe { release(table, dir) };
    }
}

/// Writes root, base and the size that the root covers.
///
/// # Safety
/// `table` is a live table.
unsafe fn set_root(table: *mut ucs_pgtable, root: ucs_pgt_entry, base: ucs_pgt_addr_t, shift: u32) {
    // SAFETY: the caller's table; no callback runs while this is borrowed.
    let table = unsafe { &mut *table };
    table.root = root;
    table.mask = above(shift);
    table.base = base & table.mask;
    table.shift = shift;
}

/// Lets the root cover a block.
///
/// # Safety
/// `table` is a live table.
unsafe fn reach(table: *mut ucs_pgtable, address: ucs_pgt_addr_t, order: u32) -> Result<()> {
    loop {
        // SAFETY: the caller's table.
        let now = unsafe { table.read() };
        if let Way::Nothing = now.root.way() {
            // SAFETY: as above.
            unsafe { set_root(table, EMPTY, address, order) };
            return Ok(());
        }
        if order <= now.shift && address & now.mask == now.base {
            return Ok(());
        }
        // SAFETY: as above.
        let dir = unsafe { new_dir(table) }?;
        let shift = now.shift + STEP;
        // SAFETY: the new directory.
        unsafe { entry(dir, index(now.base, shift)).write(now.root) };
        // SAFETY: as above.
        unsafe { count(dir, 1) };
        // SAFETY: the caller's table.
        unsafe { set_root(table, ucs_pgt_entry::to_dir(dir), now.base, shift) };
    }
}

/// Enters a block, which overlaps nothing in the table.
///
/// # Safety
/// `table` is a live table.
unsafe fn insert_block(
    table: *mut ucs_pgtable,
    (address, order): (ucs_pgt_addr_t, u32),
    region: *mut ucs_pgt_region,
) -> Result<()> {
    // SAFETY: the caller's table, here and below.
    unsafe { reach(table, address, order) }?;
    // SAFETY: as above.
    let mut shift = unsafe { (*table).shift };
    // SAFETY: as above.
    let mut at = unsafe { &raw mut (*table).root };
    let mut above_it: Option<*mut ucs_pgt_dir> = None;
    while shift > order {
        // SAFETY: an entry of the tree.
        let dir = match unsafe { at.read() }.way() {
            Way::Dir(dir) => dir,
            _ => {
                // SAFETY: the caller's table.
                let dir = unsafe { new_dir(table) }?;
                // SAFETY: an empty entry of the tree.
                unsafe { at.write(ucs_pgt_entry::to_dir(dir)) };
                if let Some(parent) = above_it {
                    // SAFETY: the directory that the entry is in.
                    unsafe { count(parent, 1) };
                }
                dir
            }
        };
        // SAFETY: a directory of the tree.
        at = unsafe { entry(dir, index(address, shift)) };
        above_it = Some(dir);
        shift -= STEP;
    }
    // SAFETY: an empty entry of the tree.
    unsafe { at.write(ucs_pgt_entry::to_region(region)) };
    if let Some(parent) = above_it {
        // SAFETY: the directory that the entry is in.
        unsafe { count(parent, 1) };
    }
    Ok(())
}

/// Takes a block out, and directories that are empty then. A block that is not there, or only directories towards
/// it, is what a failed insertion leaves.
///
/// # Safety
/// `at` is an entry of the live table `table` that covers `1 << shift` bytes; true when it became empty.
unsafe fn remove_block(
    table: *mut ucs_pgtable,
    at: *mut ucs_pgt_entry,
    shift: u32,
    block: (ucs_pgt_addr_t, u32),
) -> bool {
    // SAFETY: the caller's entry.
    match unsafe { at.read() }.way() {
        Way::Nothing => return false,
        Way::Region(_) if shift != block.1 => return false,
        Way::Region(_) => {}
        Way::Dir(_) if shift <= block.1 => return false,
        Way::Dir(dir) => {
            // SAFETY: a directory of the tree.
            let below = unsafe { entry(dir, index(block.0, shift)) };
            // SAFETY: an entry of the tree, one step down.
            let gone = unsafe { remove_block(table, below, shift - STEP, block) };
            // SAFETY: a directory of the tree.
            if unsafe { count(dir, -i32::from(gone)) } > 0 {
                return false;
            }
            // SAFETY: nothing is in it.
            unsafe { free_dir(table, dir) };
        }
    }
    // SAFETY: the caller's entry.
    unsafe { at.write(EMPTY) };
    true
}

/// Lets the root cover no more than it has to.
///
/// # Safety
/// `table` is a live table.
unsafe fn shrink(table: *mut ucs_pgtable) {
    loop {
        // SAFETY: the caller's table.
        let now = unsafe { table.read() };
        let dir = match now.root.way() {
            Way::Nothing => {
                // SAFETY: as above.
                unsafe { set_root(table, EMPTY, 0, ADDR_SHIFT) };
                return;
            }
            Way::Region(_) => return,
            Way::Dir(dir) => dir,
        };
        // SAFETY: a directory of the tree.
        if unsafe { count(dir, 0) } != 1 {
            return;
        }
        let filled = (0..WAYS).find(|at| {
            // SAFETY: as above.
            let entry = unsafe { entry(dir, *at).read() };
            !matches!(entry.way(), Way::Nothing)
        });
        let Some(at) = filled else { return };
        // SAFETY: as above.
        let only = unsafe { entry(dir, at).read() };
        let shift = now.shift - STEP;
        let base = now.base | (at as ucs_pgt_addr_t) << shift;
        // SAFETY: the caller's table.
        unsafe { set_root(table, only, base, shift) };
        // SAFETY: nothing leads to it any more.
        unsafe { free_dir(table, dir) };
    }
}

/// Takes the blocks of a range out of the tree.
///
/// # Safety
/// `table` is a live table.
unsafe fn remove_blocks(table: *mut ucs_pgtable, start: ucs_pgt_addr_t, end: ucs_pgt_addr_t) {
    for block in blocks(start, end) {
        // SAFETY: the caller's table.
        let now = unsafe { table.read() };
        if block.1 > now.shift || block.0 & now.mask != now.base {
            continue;
        }
        // SAFETY: as above.
        let root = unsafe { &raw mut (*table).root };
        // SAFETY: the root covers `1 << shift` bytes.
        unsafe { remove_block(table, root, now.shift, block) };
    }
    // SAFETY: the caller's table.
    unsafe { shrink(table) };
}

fn is_range(region: ucs_pgt_region) -> bool {
    let low = (1 << ADDR_SHIFT) - 1;
    region.start < region.end && (region.start | region.end) & low == 0
}

/// Enters a range: `INVALID_PARAM` when it is empty or not aligned, `ALREADY_EXISTS` when it overlaps another.
///
/// # Safety
/// `table` is a live table, `region` a range that stays where it is and unchanged while it is in the table.
pub unsafe fn insert(table: *mut ucs_pgtable, region: *mut ucs_pgt_region) -> Result<()> {
    // SAFETY: the caller's range.
    let range = unsafe { region.read() };
    if !is_range(range) || region.addr() as ucs_pgt_addr_t & FLAGS != 0 {
        return Err(Status::INVALID_PARAM);
    }
    let mut overlaps = false;
    // SAFETY: the caller's table.
    unsafe {
        search(&*table, range.start, range.end - 1, &mut |_| {
            overlaps = true
        })
    };
    if overlaps {
        return Err(Status::ALREADY_EXISTS);
    }
    for block in blocks(range.start, range.end) {
        // SAFETY: the caller's table.
        if let Err(status) = unsafe { insert_block(table, block, region) } {
            // SAFETY: as above.
            unsafe { remove_blocks(table, range.start, range.end) };
            return Err(status);
        }
    }
    // SAFETY: as above.
    unsafe { (*table).num_regions += 1 };
    Ok(())
}

/// Takes a range out: `NO_ELEM` when it is not in the table.
///
/// # Safety
/// As for `insert`.
pub unsafe fn remove(table: *mut ucs_pgtable, region: *mut ucs_pgt_region) -> Result<()> {
    // SAFETY: the caller's range.
    let range = unsafe { region.read() };
    if !is_range(range) {
        return Err(Status::INVALID_PARAM);
    }
    // SAFETY: the caller's table.
    if unsafe { lookup(&*table, range.start) } != Some(region) {
        return Err(Status::NO_ELEM);
    }
    // SAFETY: as above.
    unsafe { remove_blocks(table, range.start, range.end) };
    // SAFETY: as above.
    unsafe { (*table).num_regions -= 1 };
    Ok(())
}

/// The range that an address is in.
///
/// # Safety
/// `table` is a live table.
pub unsafe fn lookup(table: &ucs_pgtable, address: ucs_pgt_addr_t) -> Option<*mut ucs_pgt_region> {
    if address & table.mask != table.base {
        return None;
    }
    let mut shift = table.shift;
    let mut at = table.root;
    loop {
        match at.way() {
            Way::Nothing => return None,
            Way::Region(region) => return Some(region),
            Way::Dir(dir) => {
                // SAFETY: a directory of the tree.
                let below = unsafe { entry(dir, index(address, shift)) };
                // SAFETY: an entry of the tree.
                at = unsafe { below.read() };
                shift -= STEP;
            }
        }
    }
}

/// Calls `found` with each range that has an address in `from..=to`, once, lowest first.
///
/// # Safety
/// `table` is a live table, which `found` leaves as it is.
pub unsafe fn search(
    table: &ucs_pgtable,
    from: ucs_pgt_addr_t,
    to: ucs_pgt_addr_t,
    found: &mut dyn FnMut(*mut ucs_pgt_region),
) {
    let last = table.base | !table.mask;
    if from > to || to < table.base || from > last {
        return;
    }
    let mut before = core::ptr::null_mut();
    let range = (from, to);
    // SAFETY: the caller's table.
    unsafe {
        search_below(
            table.root,
            table.base,
            table.shift,
            range,
            &mut before,
            found,
        )
    };
}

/// # Safety
/// `at` is an entry of a live table that covers `1 << shift` bytes at `base`.
unsafe fn search_below(
    at: ucs_pgt_entry,
    base: ucs_pgt_addr_t,
    shift: u32,
    (from, to): (ucs_pgt_addr_t, ucs_pgt_addr_t),
    before: &mut *mut ucs_pgt_region,
    found: &mut dyn FnMut(*mut ucs_pgt_region),
) {
    match at.way() {
        Way::Nothing => {}
        // The blocks of one range are neighbours.
        Way::Region(region) if region == *before => {}
        Way::Region(region) => {
            *before = region;
            found(region);
        }
        Way::Dir(dir) => {
            let last = base | !above(shift);
            let first_way = index(from.max(base), shift);
            for way in first_way..=index(to.min(last), shift) {
                // SAFETY: a directory of the tree.
                let below = unsafe { entry(dir, way) };
                let base = base | (way as ucs_pgt_addr_t) << (shift - STEP);
                // SAFETY: an entry of the tree.
                let below = unsafe { below.read() };
                // SAFETY: as above.
                unsafe { search_below(below, base, shift - STEP, (from, to), before, found) };
            }
        }
    }
}

/// All ranges, lowest first.
///
/// # Safety
/// `table` is a live table.
pub unsafe fn regions(table: &ucs_pgtable) -> Vec<*mut ucs_pgt_region> {
    let mut all = Vec::with_capacity(table.num_regions as usize);
    // SAFETY: the caller's table.
    unsafe {
        search(table, 0, ucs_pgt_addr_t::MAX, &mut |region| {
            all.push(region)
        })
    };
    all
}

/// Takes all ranges out and answers them, lowest first.
///
/// # Safety
/// `table` is a live table.
pub unsafe fn purge(table: *mut ucs_pgtable) -> Vec<*mut ucs_pgt_region> {
    // SAFETY: the caller's table.
    let all = unsafe { regions(&*table) };
    for region in &all {
        // SAFETY: a range of the table.
        let range = unsafe { region.read() };
        // SAFETY: the caller's table.
        unsafe { remove_blocks(table, range.start, range.end) };
    }
    // SAFETY: as above.
    unsafe { (*table).num_regions = 0 };
    all
}

#[cfg(test)]
mod tests;
