//! `ucs/type/cpu_set.h`: types and constants.

use crate::c::prelude::*;

/// Processors that a set can hold.
pub const UCS_CPU_SETSIZE: c_uint = 1024;

/// One word of a set.
pub type ucs_cpu_mask_t = c_ulong;

/// A set of processors.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_cpu_set_t {
    /// A bit for each.
    pub ucs_bits: [ucs_cpu_mask_t; 16],
}
const _: () = {
    assert!(size_of::<ucs_cpu_set_t>() == 128);
    assert!(offset_of!(ucs_cpu_set_t, ucs_bits) == 0);
};
