//! `ucs/config/parser.h`: types and constants.

use crate::c::prelude::*;

/// How values of one type are read, written, copied and freed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_config_parser {
    /// Reads a value from a text; 1, or 0 for a text that is not of the type.
    pub read: Option<unsafe extern "C" fn(*const c_char, *mut c_void, *const c_void) -> c_int>,
    /// Writes a value as text, cut to fit; the characters of the whole.
    pub write:
        Option<unsafe extern "C" fn(*mut c_char, usize, *const c_void, *const c_void) -> c_int>,
    /// Copies a value.
    pub clone:
        Option<unsafe extern "C" fn(*const c_void, *mut c_void, *const c_void) -> ucs_status_t>,
    /// Frees what a value owns.
    pub release: Option<unsafe extern "C" fn(*mut c_void, *const c_void)>,
    /// Writes what texts are accepted.
    pub help: Option<unsafe extern "C" fn(*mut c_char, usize, *const c_void)>,
    /// Appends a description of the values, or is the description.
    pub doc: Option<unsafe extern "C" fn(*mut ucs_string_buffer_t, *const c_void)>,
    /// Last argument of these functions.
    pub arg: *const c_void,
}
const _: () = {
    assert!(size_of::<ucs_config_parser>() == 56);
    assert!(offset_of!(ucs_config_parser, read) == 0);
    assert!(offset_of!(ucs_config_parser, write) == 8);
    assert!(offset_of!(ucs_config_parser, clone) == 16);
    assert!(offset_of!(ucs_config_parser, release) == 24);
    assert!(offset_of!(ucs_config_parser, help) == 32);
    assert!(offset_of!(ucs_config_parser, doc) == 40);
    assert!(offset_of!(ucs_config_parser, arg) == 48);
};

pub type ucs_config_parser_t = ucs_config_parser;

/// An array of values of one type.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_config_array {
    /// Bytes of an element.
    pub elem_size: usize,
    /// Type of the value.
    pub parser: ucs_config_parser_t,
}
const _: () = {
    assert!(size_of::<ucs_config_array>() == 64);
    assert!(offset_of!(ucs_config_array, elem_size) == 0);
    assert!(offset_of!(ucs_config_array, parser) == 8);
};

pub type ucs_config_array_t = ucs_config_array;

/// One option of a table.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_config_field {
    /// Name behind the prefix of its table.
    pub name: *const c_char,
    /// Default as text.
    pub dfl_value: *const c_char,
    /// Appends a description of the values, or is the description.
    pub doc: *const c_char,
    /// Where the value is in the structure, bytes.
    pub offset: usize,
    /// Type of the value.
    pub parser: ucs_config_parser_t,
}
const _: () = {
    assert!(size_of::<ucs_config_field>() == 88);
    assert!(offset_of!(ucs_config_field, name) == 0);
    assert!(offset_of!(ucs_config_field, dfl_value) == 8);
    assert!(offset_of!(ucs_config_field, doc) == 16);
    assert!(offset_of!(ucs_config_field, offset) == 24);
    assert!(offset_of!(ucs_config_field, parser) == 32);
};

pub type ucs_config_field_t = ucs_config_field;

/// One key of an option that holds keys and values.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_config_key_field_t {
    /// The key.
    pub name: *const c_char,
    /// Appends a description of the values, or is the description.
    pub doc: *const c_char,
    /// Where the value is in the structure, bytes.
    pub offset: usize,
}
const _: () = {
    assert!(size_of::<ucs_config_key_field_t>() == 24);
    assert!(offset_of!(ucs_config_key_field_t, name) == 0);
    assert!(offset_of!(ucs_config_key_field_t, doc) == 8);
    assert!(offset_of!(ucs_config_key_field_t, offset) == 16);
};

/// The keys of an option, and how their values are read.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_config_key_value_param_t {
    /// Type of the value.
    pub parser: ucs_config_parser_t,
    /// The keys, ended by one without a name.
    pub keys: *const ucs_config_key_field_t,
}
const _: () = {
    assert!(size_of::<ucs_config_key_value_param_t>() == 64);
    assert!(offset_of!(ucs_config_key_value_param_t, parser) == 0);
    assert!(offset_of!(ucs_config_key_value_param_t, keys) == 56);
};

/// A line of a configuration file.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_config_cached_key {
    /// Name of the key.
    pub key: *mut c_char,
    /// Text of the value.
    pub value: *mut c_char,
    /// Nonzero when somebody has read it.
    pub used: c_int,
    /// Link of the list.
    pub list: ucs_list_link_t,
}
const _: () = {
    assert!(size_of::<ucs_config_cached_key>() == 40);
    assert!(offset_of!(ucs_config_cached_key, key) == 0);
    assert!(offset_of!(ucs_config_cached_key, value) == 8);
    assert!(offset_of!(ucs_config_cached_key, used) == 16);
    assert!(offset_of!(ucs_config_cached_key, list) == 24);
};

pub type ucs_config_cached_key_t = ucs_config_cached_key;

/// A port of an InfiniBand device.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_ib_port_spec {
    /// Name of the device.
    pub device_name: *mut c_char,
    /// Number of the port.
    pub port_num: c_uint,
}
const _: () = {
    assert!(size_of::<ucs_ib_port_spec>() == 16);
    assert!(offset_of!(ucs_ib_port_spec, device_name) == 0);
    assert!(offset_of!(ucs_ib_port_spec, port_num) == 8);
};

pub type ucs_ib_port_spec_t = ucs_ib_port_spec;

/// A range of numbers, both ends included.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_range_spec {
    /// First number of the range.
    pub first: c_uint,
    /// Last number of the range.
    pub last: c_uint,
}
const _: () = {
    assert!(size_of::<ucs_range_spec>() == 8);
    assert!(offset_of!(ucs_range_spec, first) == 0);
    assert!(offset_of!(ucs_range_spec, last) == 4);
};

pub type ucs_range_spec_t = ucs_range_spec;

c_enum! {
    /// State of a table.
    pub enum ucs_config_table_flags_t: c_uint {
        /// It was read.
        UCS_CONFIG_TABLE_FLAG_LOADED = 1 << 0,
    }
}

/// A table that is known to the printer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_config_global_list_entry {
    /// What it is called in a title.
    pub name: *const c_char,
    /// Prefix of the options.
    pub prefix: *const c_char,
    /// The options.
    pub table: *mut ucs_config_field_t,
    /// Bytes of the structure that it fills.
    pub size: usize,
    /// Link of the list.
    pub list: ucs_list_link_t,
    /// Bits of `ucs_config_table_flags_t`.
    pub flags: u8,
}
const _: () = {
    assert!(size_of::<ucs_config_global_list_entry>() == 56);
    assert!(offset_of!(ucs_config_global_list_entry, name) == 0);
    assert!(offset_of!(ucs_config_global_list_entry, prefix) == 8);
    assert!(offset_of!(ucs_config_global_list_entry, table) == 16);
    assert!(offset_of!(ucs_config_global_list_entry, size) == 24);
    assert!(offset_of!(ucs_config_global_list_entry, list) == 32);
    assert!(offset_of!(ucs_config_global_list_entry, flags) == 48);
};

pub type ucs_config_global_list_entry_t = ucs_config_global_list_entry;

/// A bandwidth, of a named device or of any.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_config_bw_spec {
    /// The device.
    pub name: *mut c_char,
    /// Bytes a second.
    pub bw: f64,
}
const _: () = {
    assert!(size_of::<ucs_config_bw_spec>() == 16);
    assert!(offset_of!(ucs_config_bw_spec, name) == 0);
    assert!(offset_of!(ucs_config_bw_spec, bw) == 8);
};

pub type ucs_config_bw_spec_t = ucs_config_bw_spec;
