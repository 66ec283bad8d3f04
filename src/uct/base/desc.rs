//! Receive descriptors: memory a handler may keep after it returns (`UCT_CB_PARAM_FLAG_DESC`).
//!
//! Layout of one: header, then, `headroom` bytes before the payload, the address that clients hold;
//! the eight bytes before that address point to the header's release function, where the inline
//! `uct_iface_release_desc` looks. A pool lives as long as any of its descriptors is out.

use crate::c::*;
use core::alloc::Layout;
use core::cell::RefCell;
use core::ffi::c_void;
use std::rc::Rc;

/// Payload alignment when nothing else is asked for.
const MIN_ALIGN: usize = 16;

#[repr(C)]
struct Header {
    release: uct_recv_desc_t,
    pool: *const Pool,
}

struct Pool {
    free: RefCell<Vec<*mut u8>>,
    /// Bytes before the payload: header, pointer, headroom, padding.
    payload_at: usize,
    headroom: usize,
    layout: Layout,
    capacity: usize,
}

/// A pool of descriptors with one payload size.
pub struct DescPool(Rc<Pool>);

/// A descriptor with nobody's data in it. Dropping it gives it back.
pub struct Desc {
    block: *mut u8,
    pool: Rc<Pool>,
}

impl DescPool {
    /// Descriptors of `capacity` payload bytes behind `headroom` bytes of the user's; the payload
    /// plus `align_offset` is aligned to `align` (a power of two; 0 or 1 for no wish).
    pub fn new(capacity: usize, headroom: usize, align: usize, align_offset: usize) -> DescPool {
        let align = align.max(MIN_ALIGN).next_power_of_two();
        let lead = size_of::<Header>() + size_of::<*mut c_void>() + headroom;
        let skew = align_offset % align;
        // The smallest place at or after `lead` for which place + skew is aligned.
        let payload_at = (lead + skew).next_multiple_of(align) - skew;
        let layout = Layout::from_size_align(payload_at + capacity.max(1), align)
            .expect("descriptor sizes are limits of a transport");
        DescPool(Rc::new(Pool {
            free: RefCell::new(Vec::new()),
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
    pub fn get(&self) -> Desc {
        let warm = self.0.free.borrow_mut().pop();
        Desc {
            block: match warm {
                Some(b) => b,
                None => self.grow(),
            },
            pool: Rc::clone(&self.0),
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

impl Desc {
    /// Where the payload goes.
    #[inline]
    pub fn payload(&self) -> *mut u8 {
        self.block.wrapping_add(self.pool.payload_at)
    }

    /// The user keeps it: it comes back through its release function.
    pub fn keep(self) {
        // Its count of the pool stays behind for `release`.
        core::mem::forget(self);
    }
}

impl Drop for Desc {
    #[inline]
    fn drop(&mut self) {
        self.pool.free.borrow_mut().push(self.block);
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        for block in self.free.get_mut().drain(..) {
            // SAFETY: allocated in `grow` with this layout, in no one's hands.
            unsafe { std::alloc::dealloc(block, self.layout) };
        }
    }
}

/// What `uct_iface_release_desc` calls: the descriptor returns to its pool.
unsafe extern "C" fn release(header: *mut uct_recv_desc_t, _desc: *mut c_void) {
    // SAFETY: the header `grow` wrote; the pool count that `keep` left behind is taken back here.
    let pool = unsafe { Rc::from_raw((*header.cast::<Header>()).pool) };
    drop(Desc {
        block: header.cast(),
        pool,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the inline function of every release does.
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
