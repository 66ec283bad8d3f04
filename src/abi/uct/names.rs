//! The two tables of names in `uct.h`. Programs may hold copies of them, so their sizes never change.

use crate::abi::ucs::names::Names;
use crate::c::prelude::*;

/// Names by `uct_alloc_method_t`, then NULL.
#[unsafe(no_mangle)]
pub static uct_alloc_method_names: Names<{ UCT_ALLOC_METHOD_LAST as usize + 1 }> = Names([
    c"thp".as_ptr(),
    c"md".as_ptr(),
    c"heap".as_ptr(),
    c"mmap".as_ptr(),
    c"huge".as_ptr(),
    core::ptr::null(),
]);

/// Names by `uct_device_type_t`; no NULL behind them.
#[unsafe(no_mangle)]
pub static uct_device_type_names: Names<{ UCT_DEVICE_TYPE_LAST as usize }> = Names([
    c"network".as_ptr(),
    c"intra-node".as_ptr(),
    c"accelerator".as_ptr(),
    c"loopback".as_ptr(),
]);
