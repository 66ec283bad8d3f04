//! `ucs/datastruct/pgtable.h`: types and constants.

use crate::c::prelude::*;

/// An address.
pub type ucs_pgt_addr_t = c_ulong;

pub type ucs_pgtable_t = ucs_pgtable;

pub type ucs_pgt_region_t = ucs_pgt_region;

pub type ucs_pgt_entry_t = ucs_pgt_entry;

pub type ucs_pgt_dir_t = ucs_pgt_dir;

/// Allocates a directory; NULL without memory.
///
/// - `pgtable` (in): The table.
/// - returns: The directory, or NULL.
pub type ucs_pgt_dir_alloc_callback_t =
    Option<unsafe extern "C" fn(pgtable: *const ucs_pgtable_t) -> *mut ucs_pgt_dir_t>;

/// Frees a directory.
///
/// - `pgtable` (in): The table.
/// - `pgdir` (in): The directory.
pub type ucs_pgt_dir_release_callback_t =
    Option<unsafe extern "C" fn(pgtable: *const ucs_pgtable_t, pgdir: *mut ucs_pgt_dir_t)>;

/// Is handed a region; must not change the table.
///
/// - `pgtable` (in): The table.
/// - `region` (in): The region.
/// - `arg` (in): As it was given with the callback.
pub type ucs_pgt_search_callback_t = Option<
    unsafe extern "C" fn(
        pgtable: *const ucs_pgtable_t,
        region: *mut ucs_pgt_region_t,
        arg: *mut c_void,
    ),
>;

/// A range of addresses, a part of an object of the client.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_pgt_region {
    /// Its first byte.
    pub start: ucs_pgt_addr_t,
    /// The byte behind its last.
    pub end: ucs_pgt_addr_t,
}
const _: () = {
    assert!(size_of::<ucs_pgt_region>() == 16);
    assert!(align_of::<ucs_pgt_region>() == 8);
};

/// A way down the tree: an address and the two flags of its kind.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_pgt_entry {
    /// Pointer to a region or a directory, and bits that tell which.
    pub value: ucs_pgt_addr_t,
}
const _: () = assert!(size_of::<ucs_pgt_entry>() == 8);

/// A node of the tree.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_pgt_dir {
    /// The entries.
    pub entries: [ucs_pgt_entry_t; 16],
    /// How many of them are not empty.
    pub count: c_uint,
}
const _: () = {
    assert!(size_of::<ucs_pgt_dir>() == 136);
    assert!(offset_of!(ucs_pgt_dir, count) == 128);
};

/// A table. It covers the addresses whose bits under `mask` are `base`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_pgtable {
    /// The topmost entry.
    pub root: ucs_pgt_entry_t,
    /// Bits that all addresses have in common.
    pub base: ucs_pgt_addr_t,
    /// Which bits these are.
    pub mask: ucs_pgt_addr_t,
    /// Bits of an address below the root.
    pub shift: c_uint,
    /// Regions in the table.
    pub num_regions: c_uint,
    /// Allocates a directory.
    pub pgd_alloc_cb: ucs_pgt_dir_alloc_callback_t,
    /// Frees a directory.
    pub pgd_release_cb: ucs_pgt_dir_release_callback_t,
}
const _: () = {
    assert!(size_of::<ucs_pgtable>() == 48);
    assert!(offset_of!(ucs_pgtable, base) == 8);
    assert!(offset_of!(ucs_pgtable, mask) == 16);
    assert!(offset_of!(ucs_pgtable, shift) == 24);
    assert!(offset_of!(ucs_pgtable, num_regions) == 28);
    assert!(offset_of!(ucs_pgtable, pgd_alloc_cb) == 32);
    assert!(offset_of!(ucs_pgtable, pgd_release_cb) == 40);
};
