//! Receive descriptors: memory a handler may keep after it returns (`UCT_CB_PARAM_FLAG_DESC`).
//!
//! Layout of a descriptor: header, then, `headroom` bytes before the payload, the address that clients hold; the eight
//! bytes before that address point to the header's release function, for the inline `uct_iface_release_desc`. A pool
//! lives as long as any of its descriptors is in use.

use crate::c::*;
use core::alloc::Layout;
use core::cell::Cell;
use core::ffi::c_void;
use std::rc::Rc;

/// The default alignment of the payload.
const MIN_ALIGN: usize = 16;

#[repr(C)]
struct Header {
    release: uct_recv_desc_t,
    pool: *const Pool,
    /// The next free descriptor, while this one is free.
    next: Cell<*mut u8>,
}

struct Pool {
    /// The descriptor that was given back last, or null; each names the one before.
    free: Cell<*mut u8>,
    /// Bytes before the payload: header, pointer, headroom, padding.
    payload_at: usize,
    headroom: usize,
    layout: Layout,
    capacity: usize,
}

/// A pool of descriptors with one payload size.
pub struct DescPool(Rc<Pool>);

/// A free descriptor. Dropping it returns it to the pool.
pub struct Desc<'a> {
    block: *mut u8,
    pool: &'a Pool,
}

/// The header of a descriptor.
///
/// # Safety
/// `block` must be a descriptor of `grow` that is not freed while the answer is used.
#[inline]
unsafe fn header_of<'a>(block: *mut u8) -> &'a Header {
    // SAFETY: it begins with a header, of which only shared references are made.
    unsafe { &*block.cast::<Header>() }
}

impl Pool {
    /// Removes the descriptor that was freed last; null when there is none.
    #[inline]
    fn pop(&self) -> *mut u8 {
        let block = self.free.get();
        if !block.is_null() {
            // SAFETY: descriptors of the list live as long as the pool.
            self.free.set(unsafe { header_of(block) }.next.get());
        }
        block
    }
}

impl DescPool {
    /// Descriptors of `capacity` payload bytes after `headroom` bytes of the user; the payload plus `align_offset` is
    /// aligned to `align` (a power of two; 0 or 1 for none).
    pub fn new(capacity: usize, headroom: usize, align: usize, align_offset: usize) -> DescPool {
        let align = align.max(MIN_ALIGN).next_power_of_two();
        let lead = size_of::<Header>() + size_of::<*mut c_void>() + headroom;
        let skew = align_offset % align;
        // The smallest place at or after `lead` for which place + skew is aligned.
        let payload_at = (lead + skew).next_multiple_of(align) - skew;
        let layout = Layout::from_size_align(payload_at + capacity.max(1), align)
            .expect("descriptor sizes are limits of a transport");
        DescPool(Rc::new(Pool {
            free: Cell::new(core::ptr::null_mut()),
            payload_at,
            headroom,
            layout,
            capacity,
        }))
    }

    /// Payload bytes of each descriptor.
    pub fn capacity(&self) -> usize {
        self.0.capacity
    }

    /// A free descriptor, warm if there is one.
    #[inline]
    pub fn get(&self) -> Desc<'_> {
        let warm = self.0.pop();
        Desc {
            block: if warm.is_null() { self.grow() } else { warm },
            pool: &self.0,
        }
    }

    #[cold]
    fn grow(&self) -> *mut u8 {
        // SAFETY: the layout is not empty.
        let block = unsafe { std::alloc::alloc(self.0.layout) };
        if block.is_null() {
            std::alloc::handle_alloc_error(self.0.layout);
        }
        let header = Header {
            release: uct_recv_desc_t { cb: Some(release) },
            pool: Rc::as_ptr(&self.0),
            next: Cell::new(core::ptr::null_mut()),
        };
        // SAFETY: fresh memory, aligned to at least 16, larger than the header.
        unsafe { block.cast::<Header>().write(header) };
        let slot = self.0.payload_at - self.0.headroom - size_of::<*mut c_void>();
        // SAFETY: inside the block by construction; unaligned when the headroom is odd.
        unsafe {
            block
                .add(slot)
                .cast::<*mut c_void>()
                .write_unaligned(block.cast())
        };
        block
    }
}

impl Desc<'_> {
    /// The address of the payload.
    #[inline]
    pub fn payload(&self) -> *mut u8 {
        self.block.wrapping_add(self.pool.payload_at)
    }

    /// The user keeps it, and frees it by its release function.
    pub fn keep(self) {
        // SAFETY: ours.
        let pool = unsafe { header_of(self.block) }.pool;
        // SAFETY: its pool as an `Rc` that is alive; `release` takes this count of it back.
        unsafe { Rc::increment_strong_count(pool) };
        core::mem::forget(self);
    }
}

impl Drop for Desc<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: ours until it is in the list.
        let header = unsafe { header_of(self.block) };
        header.next.set(self.pool.free.get());
        self.pool.free.set(self.block);
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        loop {
            let block = self.pop();
            if block.is_null() {
                return;
            }
            // SAFETY: allocated in `grow` with this layout, in no one's hands.
            unsafe { std::alloc::dealloc(block, self.layout) };
        }
    }
}

/// Called by `uct_iface_release_desc`: returns the descriptor to its pool.
unsafe extern "C" fn release(header: *mut uct_recv_desc_t, _desc: *mut c_void) {
    // SAFETY: the header `grow` wrote; the pool count that `keep` left behind is taken back here.
    let pool = unsafe { Rc::from_raw((*header.cast::<Header>()).pool) };
    drop(Desc {
        block: header.cast(),
        pool: &pool,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The inline function of all UCX releases.
    unsafe fn client_release(desc: *mut c_void) {
        // SAFETY: `desc` is a descriptor address, the word before it is ours.
        unsafe {
            let r = desc.cast::<*mut uct_recv_desc_t>().sub(1).read_unaligned();
            ((*r).cb.unwrap())(r, desc);
        }
    }

    #[test]
    fn kept_descriptors_come_back_and_outlive_their_pool() {
        let pool = DescPool::new(100, 24, 0, 0);
        let d = pool.get();
        let p = d.payload();
        d.keep();
        assert_ne!(pool.get().payload(), p, "a kept descriptor is not reused");
        // SAFETY: the descriptor starts `headroom` before the payload.
        unsafe { client_release(p.sub(24).cast()) };
        assert!([pool.get().payload()].contains(&p));
        let d = pool.get();
        let p = d.payload();
        d.keep();
        drop(pool);
        // SAFETY: the pool lives on through the kept descriptor.
        unsafe { client_release(p.sub(24).cast()) };
    }

    #[test]
    fn alignment_is_of_payload_plus_offset() {
        for (align, off, headroom) in [(64, 0, 0), (64, 8, 3), (256, 40, 24), (1, 0, 7)] {
            let pool = DescPool::new(10, headroom, align, off);
            let p = pool.get().payload() as usize;
            assert_eq!((p + off) % align.max(1), 0, "{align} {off} {headroom}");
        }
    }
}
