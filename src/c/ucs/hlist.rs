//! `ucs/datastruct/hlist.h`: types and constants.

use crate::c::prelude::*;

/// A link of a list whose head is one pointer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_hlist_link {
    /// Link of the list.
    pub list: ucs_list_link_t,
}
const _: () = assert!(size_of::<ucs_hlist_link>() == 16);

pub type ucs_hlist_link_t = ucs_hlist_link;

/// The head of such a list.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_hlist_head {
    /// The first link; NULL for an empty list.
    pub ptr: *mut ucs_hlist_link_t,
}
const _: () = assert!(size_of::<ucs_hlist_head>() == 8);

pub type ucs_hlist_head_t = ucs_hlist_head;
