//! `ucs/datastruct/queue_types.h`: types and constants.

use crate::c::prelude::*;

pub type ucs_queue_elem_t = ucs_queue_elem;

pub type ucs_queue_head_t = ucs_queue_head;

/// A place in a queue: the pointer that leads to an element.
pub type ucs_queue_iter_t = *mut *mut ucs_queue_elem_t;

/// A link of a queue.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_queue_elem {
    /// The next link.
    pub next: *mut ucs_queue_elem_t,
}
const _: () = assert!(size_of::<ucs_queue_elem>() == 8);

/// A queue: elements are taken from the head and added behind the tail.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_queue_head {
    /// The first link; NULL when the queue is empty.
    pub head: *mut ucs_queue_elem_t,
    /// The pointer that leads to the next element to be added.
    pub ptail: *mut *mut ucs_queue_elem_t,
}
const _: () = {
    assert!(size_of::<ucs_queue_head>() == 16);
    assert!(offset_of!(ucs_queue_head, ptail) == 8);
};
