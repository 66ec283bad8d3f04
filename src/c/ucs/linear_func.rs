//! `ucs/datastruct/linear_func.h`: types and constants.

use crate::c::prelude::*;

/// The function `c + m * x`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_linear_func_t {
    /// Value at 0.
    pub c: f64,
    /// Slope.
    pub m: f64,
}
const _: () = {
    assert!(size_of::<ucs_linear_func_t>() == 16);
    assert!(offset_of!(ucs_linear_func_t, c) == 0);
    assert!(offset_of!(ucs_linear_func_t, m) == 8);
};
