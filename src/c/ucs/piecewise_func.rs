//! `ucs/datastruct/piecewise_func.h`: types and constants.

use crate::c::prelude::*;

/// A part of a function: linear from the end of the part before, or 0, up to `end`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_piecewise_segment_t {
    /// The function.
    pub func: ucs_linear_func_t,
    /// The last argument that belongs to it.
    pub end: usize,
    /// Link of the list.
    pub list: ucs_list_link_t,
}
const _: () = {
    assert!(size_of::<ucs_piecewise_segment_t>() == 40);
    assert!(offset_of!(ucs_piecewise_segment_t, end) == 16);
    assert!(offset_of!(ucs_piecewise_segment_t, list) == 24);
};

/// A function of whole numbers that is linear in parts.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_piecewise_func_t {
    /// The parts; there is at least one.
    pub head: ucs_list_link_t,
}
const _: () = assert!(size_of::<ucs_piecewise_func_t>() == 16);
