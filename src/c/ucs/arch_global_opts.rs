//! `ucs/arch/x86_64/global_opts.h`: types and constants.

use crate::c::prelude::*;

/// Options of x86-64.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_arch_global_opts {
    /// Shortest copy by a string instruction, bytes.
    pub builtin_memcpy_min: usize,
    /// Longest copy by a string instruction, bytes.
    pub builtin_memcpy_max: usize,
    /// Shortest copy past the caches, bytes.
    pub nt_buffer_transfer_min: usize,
    /// Longest copy whose destination stays in the caches, bytes.
    pub nt_dest_threshold: usize,
}
const _: () = {
    assert!(size_of::<ucs_arch_global_opts>() == 32);
    assert!(offset_of!(ucs_arch_global_opts, builtin_memcpy_max) == 8);
    assert!(offset_of!(ucs_arch_global_opts, nt_buffer_transfer_min) == 16);
    assert!(offset_of!(ucs_arch_global_opts, nt_dest_threshold) == 24);
};

pub type ucs_arch_global_opts_t = ucs_arch_global_opts;
