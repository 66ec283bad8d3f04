//! `ucs/datastruct/list.h`: types and constants.

use crate::c::prelude::*;

/// A link of a doubly linked ring.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_list_link {
    /// The one before.
    pub prev: *mut ucs_list_link,
    /// The one after.
    pub next: *mut ucs_list_link,
}
const _: () = {
    assert!(size_of::<ucs_list_link>() == 16);
    assert!(offset_of!(ucs_list_link, prev) == 0);
    assert!(offset_of!(ucs_list_link, next) == 8);
};

pub type ucs_list_link_t = ucs_list_link;
