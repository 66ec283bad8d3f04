//! Option tables that tables of clients include: of registration caches and of copies.

use super::parser_types::{
    ucs_config_clone_int, ucs_config_clone_uint, ucs_config_clone_ulong, ucs_config_doc_nop,
    ucs_config_help_generic, ucs_config_release_nop, ucs_config_sprintf_bool,
    ucs_config_sprintf_memunits, ucs_config_sprintf_time_units, ucs_config_sprintf_uint,
    ucs_config_sprintf_ulunits, ucs_config_sscanf_bool, ucs_config_sscanf_memunits,
    ucs_config_sscanf_time_units, ucs_config_sscanf_uint, ucs_config_sscanf_ulunits,
};
use crate::c::prelude::*;

/// A table that C reads, with its end.
#[repr(transparent)]
pub struct Fields<const N: usize>([ucs_config_field_t; N]);

// SAFETY: nothing writes it; its pointers lead to constants and to functions.
unsafe impl<const N: usize> Sync for Fields<N> {}

const UINT: ucs_config_parser_t = ucs_config_parser_t {
    read: Some(ucs_config_sscanf_uint),
    write: Some(ucs_config_sprintf_uint),
    clone: Some(ucs_config_clone_uint),
    release: Some(ucs_config_release_nop),
    help: Some(ucs_config_help_generic),
    doc: Some(ucs_config_doc_nop),
    arg: c"a whole number without a sign".as_ptr().cast(),
};
const ULUNITS: ucs_config_parser_t = ucs_config_parser_t {
    read: Some(ucs_config_sscanf_ulunits),
    write: Some(ucs_config_sprintf_ulunits),
    clone: Some(ucs_config_clone_ulong),
    arg: c"a whole number without a sign, \"inf\" or \"auto\""
        .as_ptr()
        .cast(),
    ..UINT
};
const MEMUNITS: ucs_config_parser_t = ucs_config_parser_t {
    read: Some(ucs_config_sscanf_memunits),
    write: Some(ucs_config_sprintf_memunits),
    arg: c"bytes: a number with b, kb, mb or gb, \"inf\" or \"auto\""
        .as_ptr()
        .cast(),
    ..ULUNITS
};
const TIME: ucs_config_parser_t = ucs_config_parser_t {
    read: Some(ucs_config_sscanf_time_units),
    write: Some(ucs_config_sprintf_time_units),
    arg: c"a time: a number with s, us, ms or ns, \"inf\" or \"auto\""
        .as_ptr()
        .cast(),
    ..ULUNITS
};
const BOOL: ucs_config_parser_t = ucs_config_parser_t {
    read: Some(ucs_config_sscanf_bool),
    write: Some(ucs_config_sprintf_bool),
    clone: Some(ucs_config_clone_int),
    arg: c"y or n".as_ptr().cast(),
    ..UINT
};

const fn field(
    name: &'static CStr,
    default: &'static CStr,
    doc: &'static CStr,
    offset: usize,
    parser: ucs_config_parser_t,
) -> ucs_config_field_t {
    ucs_config_field_t {
        name: name.as_ptr(),
        dfl_value: default.as_ptr(),
        doc: doc.as_ptr(),
        offset,
        parser,
    }
}

const END: ucs_config_field_t = ucs_config_field_t {
    name: core::ptr::null(),
    dfl_value: core::ptr::null(),
    doc: core::ptr::null(),
    offset: 0,
    parser: ucs_config_parser_t {
        read: None,
        write: None,
        clone: None,
        release: None,
        help: None,
        doc: None,
        arg: core::ptr::null(),
    },
};

/// The options of a registration cache, for `ucs_rcache_config_t`. `ucs/memory/rcache.h`.
#[unsafe(no_mangle)]
pub static ucs_config_rcache_table: Fields<7> = Fields([
    field(
        c"RCACHE_MEM_PRIO",
        c"1000",
        c"Priority of the cache's handler of memory events",
        offset_of!(ucs_rcache_config, event_prio),
        UINT,
    ),
    field(
        c"RCACHE_OVERHEAD",
        c"auto",
        c"Time of a lookup",
        offset_of!(ucs_rcache_config, overhead),
        TIME,
    ),
    field(
        c"RCACHE_MAX_REGIONS",
        c"inf",
        c"Most registrations in the cache",
        offset_of!(ucs_rcache_config, max_regions),
        ULUNITS,
    ),
    field(
        c"RCACHE_MAX_SIZE",
        c"inf",
        c"Most bytes of all registrations in the cache",
        offset_of!(ucs_rcache_config, max_size),
        MEMUNITS,
    ),
    field(
        c"RCACHE_MAX_UNRELEASED",
        c"inf",
        c"Bytes of stale registrations that may wait for the next use of the cache",
        offset_of!(ucs_rcache_config, max_unreleased),
        MEMUNITS,
    ),
    field(
        c"RCACHE_PURGE_ON_FORK",
        c"y",
        c"End all registrations before a fork",
        offset_of!(ucs_rcache_config, purge_on_fork),
        BOOL,
    ),
    END,
]);

/// From which size on copies are made in which way, for `ucs_arch_global_opts_t`. `ucs/arch/global_opts.h`.
#[unsafe(no_mangle)]
pub static ucs_arch_global_opts_table: Fields<4> = Fields([
    field(
        c"BUILTIN_MEMCPY_MIN",
        c"auto",
        c"From this size on, copies use the processor's string instructions",
        offset_of!(ucs_arch_global_opts, builtin_memcpy_min),
        MEMUNITS,
    ),
    field(
        c"BUILTIN_MEMCPY_MAX",
        c"auto",
        c"Up to this size, copies use the processor's string instructions",
        offset_of!(ucs_arch_global_opts, builtin_memcpy_max),
        MEMUNITS,
    ),
    field(
        c"NT_BUFFER_TRANSFER_MIN",
        c"auto",
        c"From this size on, copies go past the caches",
        offset_of!(ucs_arch_global_opts, nt_buffer_transfer_min),
        MEMUNITS,
    ),
    END,
]);
