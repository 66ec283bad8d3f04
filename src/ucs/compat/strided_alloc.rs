//! Objects in parts that lie far apart, `ucs/datastruct/strided_alloc.h`.
//!
//! Memory is mapped as `stride_count` areas of one stride. An object has the same bytes of each; a free one leads to
//! the next from its first word. A page behind the areas has the chunk's place in the queue of all, and its length.

use crate::c::{ucs_queue_elem, ucs_strided_alloc};
use crate::sys::mem;
use crate::ucs_warn;
use core::ffi::{c_uint, c_void};
use core::ptr::null_mut;

/// Bytes from one part of an object to the next.
const STRIDE: usize = 128 << 10;

#[repr(C)]
struct Chunk {
    link: ucs_queue_elem,
    start: *mut c_void,
    len: usize,
}

/// An allocator without memory, at its place: its queue leads to itself.
///
/// # Safety
/// `sa` is writable and stays there.
pub unsafe fn init(sa: *mut ucs_strided_alloc, elem_size: usize, stride_count: c_uint) {
    // SAFETY: the caller's object.
    let first = unsafe { &raw mut (*sa).chunks.head };
    let made = ucs_strided_alloc {
        freelist: null_mut(),
        chunks: crate::c::ucs_queue_head {
            head: null_mut(),
            ptail: first,
        },
        elem_size: elem_size.max(size_of::<*mut c_void>()),
        stride_count,
        inuse_count: 0,
    };
    // SAFETY: as above.
    unsafe { sa.write(made) };
}

/// Takes an object: where its first part is, or null.
///
/// # Safety
/// `sa` is a live allocator, here and below.
pub unsafe fn get(sa: *mut ucs_strided_alloc) -> *mut c_void {
    // SAFETY: the caller's object.
    if unsafe { (*sa).freelist }.is_null() {
        // SAFETY: as above.
        unsafe { grow(sa) };
    }
    // SAFETY: as above.
    let free: *mut c_void = unsafe { (*sa).freelist }.cast();
    if free.is_null() {
        return null_mut();
    }
    // SAFETY: a free object leads to the next.
    let next = unsafe { free.cast::<*mut c_void>().read_unaligned() };
    // SAFETY: the caller's object; no callback exists that could see it half changed.
    let sa = unsafe { &mut *sa };
    sa.freelist = next.cast();
    sa.inuse_count += 1;
    free
}

/// Gives an object back.
///
/// # Safety
/// `base` came from `get` and was not given back.
pub unsafe fn put(sa: *mut ucs_strided_alloc, base: *mut c_void) {
    // SAFETY: the caller's object.
    let sa = unsafe { &mut *sa };
    // SAFETY: the first bytes of an object.
    unsafe {
        base.cast::<*mut c_void>()
            .write_unaligned(sa.freelist.cast())
    };
    sa.freelist = base.cast();
    sa.inuse_count = sa.inuse_count.saturating_sub(1);
}

/// Maps one more chunk and frees its objects, lowest first.
///
/// # Safety
/// `sa` is a live allocator without free objects.
unsafe fn grow(sa: *mut ucs_strided_alloc) {
    // SAFETY: the caller's object.
    let now = unsafe { sa.read() };
    let count = STRIDE / now.elem_size;
    let areas = STRIDE.checked_mul(now.stride_count as usize);
    let Some(len) = areas.and_then(|areas| areas.checked_add(mem::page_size())) else {
        return;
    };
    if count == 0 || now.stride_count == 0 {
        ucs_warn!(
            "strided allocator: an object of {} bytes exceeds a stride",
            now.elem_size
        );
        return;
    }
    let start = match mem::map_anonymous(0, len, mem::MapOptions::default()) {
        Ok(start) => start,
        Err(e) => {
            ucs_warn!("strided allocator: cannot map {len} bytes: {e}");
            return;
        }
    };
    let chunk: *mut Chunk = start.wrapping_byte_add(len - mem::page_size()).cast();
    let head = Chunk {
        link: ucs_queue_elem { next: null_mut() },
        start,
        len,
    };
    // SAFETY: the page behind the areas.
    unsafe { chunk.write(head) };
    // SAFETY: the pointer that leads to the next element of the queue.
    unsafe { now.chunks.ptail.write(chunk.cast()) };
    // SAFETY: the link is the chunk's first member.
    let end = unsafe { &raw mut (*chunk).link.next };
    // SAFETY: the caller's object.
    unsafe { (*sa).chunks.ptail = end };
    let mut next = now.freelist.cast::<c_void>();
    for i in (0..count).rev() {
        let object = start.wrapping_byte_add(i * now.elem_size);
        // SAFETY: the first bytes of a new object.
        unsafe { object.cast::<*mut c_void>().write_unaligned(next) };
        next = object;
    }
    // SAFETY: the caller's object.
    unsafe { (*sa).freelist = next.cast() };
}

/// Unmaps all memory.
///
/// # Safety
/// `sa` is a live allocator, which this ends.
pub unsafe fn cleanup(sa: *mut ucs_strided_alloc) {
    // SAFETY: the caller's object.
    let now = unsafe { sa.read() };
    if now.inuse_count > 0 {
        ucs_warn!(
            "strided allocator: {} objects were not given back",
            now.inuse_count
        );
    }
    let mut chunk: *mut Chunk = now.chunks.head.cast();
    while !chunk.is_null() {
        // SAFETY: a chunk of the queue.
        let head = unsafe { chunk.read() };
        chunk = head.link.next.cast();
        // SAFETY: a whole mapping of ours; its head was read before.
        if let Err(e) = unsafe { mem::unmap(head.start, head.len) } {
            ucs_warn!("strided allocator: cannot unmap {} bytes: {e}", head.len);
        }
    }
    // SAFETY: the caller's object.
    unsafe { init(sa, now.elem_size, now.stride_count) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::mem::MaybeUninit;
    use std::collections::BTreeSet;

    #[test]
    fn parts_of_objects_never_overlap() {
        for (size, strides) in [(8, 1), (100, 3), (1, 2), (4096, 2), (STRIDE, 2)] {
            let mut sa = MaybeUninit::uninit();
            let sa = sa.as_mut_ptr();
            // SAFETY: an allocator of this test, here and below.
            unsafe { init(sa, size, strides) };
            let wanted = (2 * STRIDE / size.max(8) + 1).min(3000);
            let mut held = BTreeSet::new();
            for _ in 0..wanted {
                // SAFETY: as above.
                let object = unsafe { get(sa) };
                assert!(!object.is_null() && held.insert(object));
                for part in 0..strides as usize {
                    let bytes = object.wrapping_byte_add(part * STRIDE).cast::<u8>();
                    // SAFETY: the object's part.
                    unsafe { bytes.write_bytes(part as u8 + 1, size) };
                }
            }
            // SAFETY: as above.
            assert_eq!(unsafe { (*sa).inuse_count } as usize, wanted);
            for object in &held {
                for part in 0..strides as usize {
                    let bytes = object.wrapping_byte_add(part * STRIDE).cast::<u8>();
                    assert_eq!(
                        // SAFETY: the object's part.
                        unsafe { bytes.wrapping_add(size - 1).read() },
                        part as u8 + 1
                    );
                }
            }
            let last = *held.last().unwrap();
            // SAFETY: it came from the allocator.
            unsafe { put(sa, last) };
            // SAFETY: as above.
            assert_eq!(unsafe { get(sa) }, last);
            for object in held {
                // SAFETY: as above.
                unsafe { put(sa, object) };
            }
            // SAFETY: as above.
            unsafe { cleanup(sa) };
        }
    }

    #[test]
    fn an_object_larger_than_a_stride_is_none() {
        let mut sa = MaybeUninit::uninit();
        // SAFETY: an allocator of this test, here and below.
        unsafe { init(sa.as_mut_ptr(), STRIDE + 1, 1) };
        // SAFETY: as above.
        assert!(unsafe { get(sa.as_mut_ptr()) }.is_null());
        // SAFETY: as above.
        unsafe { cleanup(sa.as_mut_ptr()) };
    }
}
