//! `ucs/datastruct/mpool_set.h`: types and constants.

use crate::c::prelude::*;

/// Sizes that a set can have.
pub const UCS_MPOOL_SET_SIZE: usize = 32;

/// Pools for objects of different sizes, each a power of two; the largest may be any number.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_mpool_set {
    /// Bit `i` is set where there is a pool of `1 << i` bytes; the highest one for a largest size between.
    pub bitmap: u32,
    /// The smallest pool for objects of up to `1 << i` bytes.
    pub map: [*mut ucs_mpool_t; 32],
    /// The pools, and the owner's bytes.
    pub data: *mut c_void,
}
const _: () = {
    assert!(size_of::<ucs_mpool_set>() == 272);
    assert!(offset_of!(ucs_mpool_set, map) == 8);
    assert!(offset_of!(ucs_mpool_set, data) == 264);
};

pub type ucs_mpool_set_t = ucs_mpool_set;
