//! `ucs/datastruct/list.h`: types and constants.

use crate::c::prelude::*;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_list_link {
    pub prev: *mut ucs_list_link,
    pub next: *mut ucs_list_link,
}
const _: () = {
    assert!(size_of::<ucs_list_link>() == 16);
    assert!(offset_of!(ucs_list_link, prev) == 0);
    assert!(offset_of!(ucs_list_link, next) == 8);
};

pub type ucs_list_link_t = ucs_list_link;
