//! `ucs/datastruct/strided_alloc.h`: types and constants.

use crate::c::prelude::*;

opaque! {
    /// A free object.
    pub struct ucs_strided_alloc_elem
}

pub type ucs_strided_alloc_elem_t = ucs_strided_alloc_elem;

/// An allocator of objects in parts, which lie at a fixed distance from each other.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_strided_alloc {
    /// Free objects.
    pub freelist: *mut ucs_strided_alloc_elem_t,
    /// Memory that was allocated.
    pub chunks: ucs_queue_head_t,
    /// Bytes of a part.
    pub elem_size: usize,
    /// Parts of an object.
    pub stride_count: c_uint,
    /// Objects in use.
    pub inuse_count: c_uint,
}
const _: () = {
    assert!(size_of::<ucs_strided_alloc>() == 40);
    assert!(offset_of!(ucs_strided_alloc, chunks) == 8);
    assert!(offset_of!(ucs_strided_alloc, elem_size) == 24);
    assert!(offset_of!(ucs_strided_alloc, stride_count) == 32);
    assert!(offset_of!(ucs_strided_alloc, inuse_count) == 36);
};

pub type ucs_strided_alloc_t = ucs_strided_alloc;
