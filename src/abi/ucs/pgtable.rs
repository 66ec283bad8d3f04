//! `ucs/datastruct/pgtable.h`.

use crate::abi::args::non_null;
use crate::c::prelude::*;
use crate::ucs::compat::pgtable;
use crate::ucs::log;
use crate::ucs::status::code_of;
use crate::ucs_warn;
use core::ptr::null_mut;

/// Makes an empty table. `ucs/datastruct/pgtable.h`.
///
/// - `pgtable` (out): The table.
/// - `alloc_cb` (in): Allocates a directory.
/// - `release_cb` (in): Frees a directory.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM; UCS_ERR_NO_MEMORY.
///
/// # Safety
/// `pgtable` is writable; the functions stay as long as it is used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_pgtable_init(
    pgtable: *mut ucs_pgtable_t,
    alloc_cb: ucs_pgt_dir_alloc_callback_t,
    release_cb: ucs_pgt_dir_release_callback_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; pgtable);
    // SAFETY: checked above; the caller vouches for it.
    unsafe { pgtable.write(pgtable::empty(alloc_cb, release_cb)) };
    UCS_OK
}

/// Ends a table; its regions stay the owner's. `ucs/datastruct/pgtable.h`.
///
/// - `pgtable` (in,out): The table.
///
/// # Safety
/// `pgtable` is a live table.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_pgtable_cleanup(pgtable: *mut ucs_pgtable_t) {
    non_null!(; pgtable);
    // SAFETY: the caller's promise.
    let left = unsafe { pgtable::purge(pgtable) };
    if !left.is_empty() {
        ucs_warn!("page table: {} regions were not removed", left.len());
    }
}

/// Enters a region. UCS_ERR_INVALID_PARAM when it is empty or not aligned, UCS_ERR_ALREADY_EXISTS when it overlaps
/// another, UCS_ERR_NO_MEMORY. `ucs/datastruct/pgtable.h`.
///
/// - `pgtable` (in,out): The table.
/// - `region` (in): The region; it stays the owner's and lives while it is in the table.
/// - returns: UCS_OK. UCS_ERR_INVALID_PARAM when it is empty or not aligned. UCS_ERR_ALREADY_EXISTS
///   when it overlaps another. UCS_ERR_NO_MEMORY.
///
/// # Safety
/// `pgtable` is a live table; the region stays where it is and unchanged while it is in the table.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_pgtable_insert(
    pgtable: *mut ucs_pgtable_t,
    region: *mut ucs_pgt_region_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; pgtable, region);
    // SAFETY: the caller's promise.
    code_of(&unsafe { pgtable::insert(pgtable, region) })
}

/// Takes a region out. UCS_ERR_NO_ELEM when it is not in the table. `ucs/datastruct/pgtable.h`.
///
/// - `pgtable` (in,out): The table.
/// - `region` (in): The region.
/// - returns: UCS_OK; UCS_ERR_NO_ELEM when it is not in the table.
///
/// # Safety
/// As for `ucs_pgtable_insert`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_pgtable_remove(
    pgtable: *mut ucs_pgtable_t,
    region: *mut ucs_pgt_region_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; pgtable, region);
    // SAFETY: the caller's promise.
    code_of(&unsafe { pgtable::remove(pgtable, region) })
}

/// The region that has an address, or NULL. `ucs/datastruct/pgtable.h`.
///
/// - `pgtable` (in): The table.
/// - `address` (in): The address.
/// - returns: The region, or NULL.
///
/// # Safety
/// `pgtable` is a live table.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_pgtable_lookup(
    pgtable: *const ucs_pgtable_t,
    address: ucs_pgt_addr_t,
) -> *mut ucs_pgt_region_t {
    non_null!(null_mut(); pgtable);
    // SAFETY: the caller's promise.
    unsafe { pgtable::lookup(&*pgtable, address) }.unwrap_or(null_mut())
}

/// Hands each region that has an address in `from..to`, both included, to a function. `ucs/datastruct/pgtable.h`.
///
/// - `pgtable` (in): The table.
/// - `from` (in): First address.
/// - `to` (in): Last address.
/// - `cb` (in): The function.
/// - `arg` (in): Its last argument.
///
/// # Safety
/// `pgtable` is a live table, which the function does not change.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_pgtable_search_range(
    pgtable: *const ucs_pgtable_t,
    from: ucs_pgt_addr_t,
    to: ucs_pgt_addr_t,
    cb: ucs_pgt_search_callback_t,
    arg: *mut c_void,
) {
    non_null!(; pgtable);
    let Some(cb) = cb else { return };
    let mut found = |region| {
        // SAFETY: the caller's function.
        unsafe { cb(pgtable, region, arg) }
    };
    // SAFETY: the caller's promise.
    unsafe { pgtable::search(&*pgtable, from, to, &mut found) };
}

/// Takes all regions out, then hands each to a function. `ucs/datastruct/pgtable.h`.
///
/// - `pgtable` (in,out): The table.
/// - `cb` (in): The function.
/// - `arg` (in): Its last argument.
///
/// # Safety
/// `pgtable` is a live table, which the function does not change.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_pgtable_purge(
    pgtable: *mut ucs_pgtable_t,
    cb: ucs_pgt_search_callback_t,
    arg: *mut c_void,
) {
    non_null!(; pgtable);
    // SAFETY: the caller's promise.
    let all = unsafe { pgtable::purge(pgtable) };
    let Some(cb) = cb else { return };
    for region in all {
        // SAFETY: the caller's function.
        unsafe { cb(pgtable, region, arg) };
    }
}

/// Logs a table: one line, and one for each region. `ucs/datastruct/pgtable.h`.
///
/// - `pgtable` (in): The table.
/// - `log_level` (in): Level of the lines.
///
/// # Safety
/// `pgtable` is a live table.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_pgtable_dump(
    pgtable: *const ucs_pgtable_t,
    log_level: ucs_log_level_t,
) {
    non_null!(; pgtable);
    if log_level > log::level() {
        return;
    }
    // SAFETY: the caller's promise.
    let table = unsafe { pgtable.read() };
    let write = |text: &str| log::emit(log_level, file!(), line!(), "UCX", None, text);
    write(&format!(
        "page table {pgtable:p}: {} regions, {:#x}..{:#x}",
        table.num_regions,
        table.base,
        table.base | !table.mask
    ));
    // SAFETY: as above.
    for region in unsafe { pgtable::regions(&table) } {
        // SAFETY: a region of the table.
        let range = unsafe { region.read() };
        write(&format!(
            "region {region:p} [{:#x}..{:#x}]",
            range.start, range.end
        ));
    }
}
