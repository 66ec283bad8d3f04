//! `ucs/datastruct/string_set.h`, whose type is a khash set, and `ucs/debug/table.h`, which is not installed.

use crate::c::prelude::*;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_string_set {
    pub n_buckets: u32,
    pub size: u32,
    pub n_occupied: u32,
    pub upper_bound: u32,
    pub flags: *mut u32,
    pub keys: *mut *mut c_char,
    pub vals: *mut c_char,
}
const _: () = {
    assert!(size_of::<ucs_string_set>() == 40);
    assert!(offset_of!(ucs_string_set, keys) == 24);
};

impl ucs_string_set {
    pub const EMPTY: ucs_string_set = ucs_string_set {
        n_buckets: 0,
        size: 0,
        n_occupied: 0,
        upper_bound: 0,
        flags: core::ptr::null_mut(),
        keys: core::ptr::null_mut(),
        vals: core::ptr::null_mut(),
    };
}

pub type ucs_string_set_t = ucs_string_set;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_table_config {
    pub n_cols: c_uint,
    pub row_prefix: *const c_char,
    pub equal_widths: c_int,
}
const _: () = {
    assert!(size_of::<ucs_table_config>() == 24);
    assert!(offset_of!(ucs_table_config, row_prefix) == 8);
    assert!(offset_of!(ucs_table_config, equal_widths) == 16);
};

pub type ucs_table_config_t = ucs_table_config;

/// 48 bytes of the client, whose tool reads `config`; the word behind it is ours.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_table {
    pub config: ucs_table_config,
    pub object: *mut c_void,
    pub unused: usize,
    pub status: ucs_status_t,
}
const _: () = {
    assert!(size_of::<ucs_table>() == 48);
    assert!(offset_of!(ucs_table, object) == 24);
    assert!(offset_of!(ucs_table, status) == 40);
};

pub type ucs_table_t = ucs_table;

/// A row is a number of 32 bits.
pub type ucs_table_row_h = u32;

c_enum! {
    pub enum ucs_table_align_t: c_uint {
        UCS_TABLE_ALIGN_LEFT = 0,
        UCS_TABLE_ALIGN_RIGHT = 1,
        UCS_TABLE_ALIGN_CENTER = 2,
    }
}
