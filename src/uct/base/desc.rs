//! Receive descriptors: memory a handler may keep after it returns (`UCT_CB_PARAM_FLAG_DESC`).
//!
//! Layout of a descriptor: header, then, `headroom` bytes before the payload, the address that clients hold; the eight
//! bytes before that address point to the header's release function, for the inline `uct_iface_release_desc`. A pool
//! lives as long as any of its descriptors is in use.
//!
//! A pool whose memory a device reads and writes allocates descriptors by chunks, registers each chunk once, and fails
//! where that fails; others allocate each descriptor alone.

use crate::c::*;
use crate::ucs::{Result, Status};
use crate::uct::base::params::PAYLOAD_ALIGN;
use core::alloc::Layout;
use core::cell::{Cell, RefCell};
use core::ffi::c_void;
use core::ptr::NonNull;
use core::time::Duration;
use std::any::Any;
use std::rc::Rc;
use std::time::Instant;

#[repr(C)]
struct Header {
    release: uct_recv_desc_t,
    pool: *const Pool,
    /// The next free descriptor, while this one is free.
    next: Cell<Option<NonNull<u8>>>,
    /// The device's key of the memory, in a pool that registers it.
    key: u32,
    /// The user keeps it.
    kept: Cell<bool>,
}

/// Registers a range of memory with a device: the device's key, and what ends the registration when it is dropped.
pub type Register = Box<dyn Fn(*mut u8, usize) -> Result<(u32, Box<dyn Any>)>>;

/// Registered memory of many descriptors.
struct Chunk {
    memory: *mut u8,
    layout: Layout,
    /// Ends before the memory is freed.
    registration: Option<Box<dyn Any>>,
}

impl Drop for Chunk {
    fn drop(&mut self) {
        self.registration = None;
        // SAFETY: allocated with this layout; the pool is gone, and with it all that pointed here.
        unsafe { std::alloc::dealloc(self.memory, self.layout) };
    }
}

/// How a pool of registered memory grows.
struct Registered {
    register: Register,
    /// Descriptors of a chunk.
    count: usize,
    chunks: RefCell<Vec<Chunk>>,
    /// When the last registration was refused.
    refused: Cell<Option<(Instant, Status)>>,
}

/// So long nothing is asked for after a registration was refused: who waits for memory asks with each progress.
const REST: Duration = Duration::from_millis(10);

/// The descriptor that was given back last; each names the one before.
#[derive(Default)]
struct FreeList(Cell<Option<NonNull<u8>>>);

struct Pool {
    /// Free ones that were kept before.
    returned: FreeList,
    /// Bytes before the payload: header, pointer, headroom, padding.
    payload_at: usize,
    headroom: usize,
    layout: Layout,
    capacity: usize,
    registered: Option<Registered>,
}

/// A pool of descriptors with one payload size.
pub struct DescPool {
    /// Free ones that were not kept. Here, as a copy waits for the address of its target: in `pool` it would be found by one load more.
    free: FreeList,
    payload_at: usize,
    pool: Rc<Pool>,
}

/// What stands right before the address that clients hold: where the descriptor begins.
pub type ReleaseWord = NonNull<u8>;

/// A free descriptor. Dropping it returns it to the pool.
pub struct Desc<'a> {
    block: NonNull<u8>,
    pool: &'a DescPool,
}

/// A descriptor that keeps its pool alive. Dropping it gives it back.
pub struct OwnedDesc {
    block: NonNull<u8>,
}

/// The header of a descriptor.
///
/// # Safety
/// `block` must be a descriptor of `grow` that is not freed while the answer is used.
#[inline]
unsafe fn header_of<'a>(block: NonNull<u8>) -> &'a Header {
    // SAFETY: it begins with a header, of which only shared references are made.
    unsafe { block.cast::<Header>().as_ref() }
}

impl FreeList {
    /// Removes the descriptor that was freed last.
    #[inline]
    fn pop(&self) -> Option<NonNull<u8>> {
        let block = self.0.get()?;
        // SAFETY: descriptors of the list live as long as the pool.
        self.0.set(unsafe { header_of(block) }.next.get());
        Some(block)
    }

    /// Adds a descriptor that nobody has any more.
    #[inline]
    fn push(&self, block: NonNull<u8>) {
        // SAFETY: as in `pop`.
        unsafe { header_of(block) }.next.set(self.0.get());
        self.0.set(Some(block));
    }
}

impl DescPool {
    /// Descriptors of `capacity` payload bytes after `headroom` bytes of the user; the payload plus `align_offset` is
    /// aligned to `align` (a power of two; 0 or 1 for none).
    pub fn new(capacity: usize, headroom: usize, align: usize, align_offset: usize) -> DescPool {
        DescPool::make(capacity, (headroom, 0), align, align_offset, None)
    }

    /// The same in memory that `register` has registered, about `chunk` bytes at a time.
    pub fn registered(
        capacity: usize,
        headroom: usize,
        align: (usize, usize),
        chunk: usize,
        register: Register,
    ) -> DescPool {
        DescPool::registered_after(capacity, headroom, 0, align, chunk, register)
    }

    /// As `registered`; the device writes up to `front` bytes right before the payload (`OwnedDesc::release_word`).
    pub fn registered_after(
        capacity: usize,
        headroom: usize,
        front: usize,
        (align, align_offset): (usize, usize),
        chunk: usize,
        register: Register,
    ) -> DescPool {
        let registered = Registered {
            register,
            count: (chunk / (capacity + headroom).max(1)).max(1),
            chunks: RefCell::new(Vec::new()),
            refused: Cell::new(None),
        };
        DescPool::make(
            capacity,
            (headroom, front),
            align,
            align_offset,
            Some(registered),
        )
    }

    fn make(
        capacity: usize,
        (headroom, front): (usize, usize),
        align: usize,
        align_offset: usize,
        registered: Option<Registered>,
    ) -> DescPool {
        let align = align.max(PAYLOAD_ALIGN).next_power_of_two();
        let lead = size_of::<Header>() + (size_of::<*mut c_void>() + headroom).max(front);
        let skew = align_offset % align;
        // The smallest place at or after `lead` for which place + skew is aligned.
        let payload_at = (lead + skew).next_multiple_of(align) - skew;
        let layout = Layout::from_size_align(payload_at + capacity.max(1), align)
            .expect("descriptor sizes are limits of a transport");
        DescPool {
            free: FreeList::default(),
            payload_at,
            pool: Rc::new(Pool {
                returned: FreeList::default(),
                payload_at,
                headroom,
                layout,
                capacity,
                registered,
            }),
        }
    }

    /// Payload bytes of each descriptor.
    pub fn capacity(&self) -> usize {
        self.pool.capacity
    }

    /// How many descriptors a pool of registered memory has made.
    pub fn made(&self) -> usize {
        let registered = self.pool.registered.as_ref();
        registered.map_or(0, |r| r.count * r.chunks.borrow().len())
    }

    /// A free descriptor, warm if there is one.
    #[inline]
    pub fn get(&self) -> Desc<'_> {
        Desc {
            block: self.pop().unwrap_or_else(|| self.grow()),
            pool: self,
        }
    }

    #[inline]
    fn pop(&self) -> Option<NonNull<u8>> {
        self.free.pop().or_else(|| self.pool.returned.pop())
    }

    /// As `get`, of a pool of registered memory: the error is that of the registration.
    #[inline]
    pub fn get_registered(&self) -> Result<Desc<'_>> {
        let block = match self.pop() {
            Some(block) => block,
            None => self.grow_registered()?,
        };
        Ok(Desc { block, pool: self })
    }

    /// The descriptor of registered memory whose payload is at an address.
    fn with_payload(&self, payload: usize) -> Option<NonNull<u8>> {
        let step = self.pool.layout.pad_to_align().size();
        let at = payload.checked_sub(self.payload_at)?;
        let chunks = self.pool.registered.as_ref()?.chunks.borrow();
        chunks.iter().find_map(|chunk| {
            let offset = at.checked_sub(chunk.memory.addr())?;
            let is_one = offset < chunk.layout.size() && offset.is_multiple_of(step);
            is_one.then(|| NonNull::new(chunk.memory.wrapping_add(offset)))?
        })
    }

    /// Whether a descriptor of registered memory has its payload at an address.
    pub fn has_payload(&self, payload: usize) -> bool {
        self.with_payload(payload).is_some()
    }

    /// Gives back the descriptor of registered memory whose payload is at an address, if the user keeps it.
    pub fn take_back(&self, payload: usize) {
        let Some(block) = self.with_payload(payload) else {
            return;
        };
        // SAFETY: a descriptor of this pool.
        if unsafe { header_of(block) }.kept.take() {
            drop(OwnedDesc { block });
        }
    }

    #[cold]
    fn grow(&self) -> NonNull<u8> {
        // SAFETY: the layout is not empty.
        let block = unsafe { std::alloc::alloc(self.pool.layout) };
        let Some(block) = NonNull::new(block) else {
            std::alloc::handle_alloc_error(self.pool.layout);
        };
        // SAFETY: fresh memory of the pool's layout.
        unsafe { self.initialize(block, 0) };
        block
    }

    #[cold]
    fn grow_registered(&self) -> Result<NonNull<u8>> {
        /// The device pins whole pages.
        const PAGE: usize = 4096;
        let Some(registered) = &self.pool.registered else {
            return Err(Status::UNSUPPORTED);
        };
        if let Some((at, status)) = registered.refused.get()
            && at.elapsed() < REST
        {
            return Err(status);
        }
        let step = self.pool.layout.pad_to_align().size();
        let layout = Layout::from_size_align(step * registered.count, PAGE)
            .map_err(|_| Status::NO_MEMORY)?;
        // SAFETY: the layout is not empty.
        let memory = NonNull::new(unsafe { std::alloc::alloc(layout) });
        let memory = memory.ok_or(Status::NO_MEMORY)?;
        let mut chunk = Chunk {
            memory: memory.as_ptr(),
            layout,
            registration: None,
        };
        let (key, registration) = (registered.register)(memory.as_ptr(), layout.size())
            .inspect_err(|status| registered.refused.set(Some((Instant::now(), *status))))?;
        chunk.registration = Some(registration);
        registered.chunks.borrow_mut().push(chunk);
        for i in (0..registered.count).rev() {
            // SAFETY: inside the chunk.
            let block = unsafe { memory.add(i * step) };
            // SAFETY: memory of the pool's layout that nobody else has.
            unsafe { self.initialize(block, key) };
            self.free.push(block);
        }
        self.pop().ok_or(Status::NO_MEMORY)
    }

    /// Makes a descriptor of fresh memory.
    ///
    /// # Safety
    /// `block` must be writable for the pool's layout.
    unsafe fn initialize(&self, block: NonNull<u8>, key: u32) {
        let header = Header {
            release: uct_recv_desc_t { cb: Some(release) },
            pool: Rc::as_ptr(&self.pool),
            next: Cell::new(None),
            key,
            kept: Cell::new(false),
        };
        // SAFETY: fresh memory, aligned to at least 16, larger than the header.
        unsafe { block.cast::<Header>().write(header) };
        // SAFETY: as above.
        unsafe { write_slot(block, &self.pool) };
    }
}

/// Writes the header's address where `uct_iface_release_desc` looks.
///
/// # Safety
/// `block` must be a descriptor of the pool, or become one.
#[inline]
unsafe fn write_slot(block: NonNull<u8>, pool: &Pool) {
    // SAFETY: inside the block by construction; unaligned when the headroom is odd.
    unsafe { slot_of(block, pool).write_unaligned(block) };
}

fn slot_of(block: NonNull<u8>, pool: &Pool) -> *mut ReleaseWord {
    let slot = pool.payload_at - pool.headroom - size_of::<*mut c_void>();
    block.as_ptr().wrapping_add(slot).cast()
}

impl Desc<'_> {
    /// The address of the payload.
    #[inline]
    pub fn payload(&self) -> *mut u8 {
        self.block.as_ptr().wrapping_add(self.pool.payload_at)
    }

    /// The user keeps it, and frees it by its release function.
    pub fn keep(self) {
        self.own().keep();
    }

    /// The same descriptor without the borrow of its pool.
    #[inline]
    pub fn own(self) -> OwnedDesc {
        // SAFETY: ours.
        let pool = unsafe { header_of(self.block) }.pool;
        // SAFETY: its pool as an `Rc` that is alive; `release` takes this count of it back.
        unsafe { Rc::increment_strong_count(pool) };
        let block = self.block;
        core::mem::forget(self);
        OwnedDesc { block }
    }
}

impl Desc<'_> {
    /// It goes with its pool.
    pub fn leave(self) {
        core::mem::forget(self);
    }

    /// The device's key of its memory.
    #[inline(always)]
    pub fn key(&self) -> u32 {
        // SAFETY: ours.
        unsafe { header_of(self.block) }.key
    }
}

impl OwnedDesc {
    /// Where the payload goes.
    #[inline]
    pub fn payload(&self) -> *mut u8 {
        // SAFETY: a descriptor that is out keeps its pool alive.
        let pool = unsafe { &*header_of(self.block).pool };
        self.block.as_ptr().wrapping_add(pool.payload_at)
    }

    /// The device's key of its memory.
    #[inline]
    pub fn key(&self) -> u32 {
        // SAFETY: ours.
        unsafe { header_of(self.block) }.key
    }

    /// The word that `uct_iface_release_desc` reads, and where: bytes that arrive right before the payload may overwrite it.
    pub fn release_word(&self) -> (*mut ReleaseWord, ReleaseWord) {
        // SAFETY: ours; its pool is alive.
        let pool = unsafe { &*header_of(self.block).pool };
        (slot_of(self.block, pool), self.block)
    }

    /// The user keeps it: it comes back through its release function, or by `DescPool::take_back`.
    pub fn keep(self) {
        // SAFETY: ours.
        unsafe { header_of(self.block) }.kept.set(true);
        core::mem::forget(self);
    }
}

impl Drop for OwnedDesc {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the pool count that `own` left behind is taken back here.
        let pool = unsafe { Rc::from_raw(header_of(self.block).pool) };
        pool.returned.push(self.block);
    }
}

impl Drop for Desc<'_> {
    #[inline]
    fn drop(&mut self) {
        self.pool.free.push(self.block);
    }
}

impl Drop for DescPool {
    fn drop(&mut self) {
        // They end with those that are still kept.
        while let Some(block) = self.free.pop() {
            self.pool.returned.push(block);
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if self.registered.is_some() {
            // Chunks are freed as wholes.
            return;
        }
        while let Some(block) = self.returned.pop() {
            // SAFETY: allocated in `grow` with this layout, in no one's hands.
            unsafe { std::alloc::dealloc(block.as_ptr(), self.layout) };
        }
    }
}

/// Called by `uct_iface_release_desc`: returns the descriptor to its pool.
unsafe extern "C" fn release(header: *mut uct_recv_desc_t, _desc: *mut c_void) {
    if let Some(header) = NonNull::new(header) {
        let block = header.cast();
        // SAFETY: the descriptor's own header.
        unsafe { header_of(block) }.kept.set(false);
        drop(OwnedDesc { block });
    }
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
        let other = pool.get();
        assert_ne!(other.payload(), p, "a kept descriptor is not reused");
        // SAFETY: the descriptor starts `headroom` before the payload.
        unsafe { client_release(p.sub(24).cast()) };
        assert_eq!(pool.get().payload(), p);
        drop(other);
        let d = pool.get();
        let p = d.payload();
        d.keep();
        drop(pool);
        // SAFETY: the pool lives on through the kept descriptor.
        unsafe { client_release(p.sub(24).cast()) };
    }

    #[test]
    fn payloads_begin_with_a_line_or_where_the_user_wants() {
        for (headroom, align, offset) in
            [(0, 0, 0), (24, 16, 0), (7, 1, 0), (40, 64, 8), (0, 128, 0)]
        {
            let pool = DescPool::new(8192, headroom, align, offset);
            let at = pool.get().payload().addr();
            assert!(
                (at + offset).is_multiple_of(align.max(64)),
                "{headroom}, {align}, {offset}"
            );
        }
    }

    #[test]
    fn registered_memory_is_registered_by_chunks_and_freed_with_the_last_descriptor() {
        #[derive(Default)]
        struct Device {
            live: Cell<usize>,
            left: Cell<usize>,
        }
        struct Registration(Rc<Device>);
        impl Drop for Registration {
            fn drop(&mut self) {
                self.0.live.set(self.0.live.get() - 1);
            }
        }
        let device = Rc::new(Device::default());
        device.left.set(2);
        let inside = Rc::clone(&device);
        let register = move |_: *mut u8, len: usize| {
            assert!(len >= 3 * 100);
            let left = inside.left.get().checked_sub(1).ok_or(Status::NO_MEMORY)?;
            inside.left.set(left);
            inside.live.set(inside.live.get() + 1);
            let registration: Box<dyn Any> = Box::new(Registration(Rc::clone(&inside)));
            Ok((left as u32 + 7, registration))
        };
        let pool = DescPool::registered(100, 0, (64, 0), 300, Box::new(register));
        let mut out: Vec<OwnedDesc> = (0..6)
            .map(|_| pool.get_registered().unwrap().own())
            .collect();
        let keys: Vec<u32> = out.iter().map(OwnedDesc::key).collect();
        assert_eq!(keys, [8, 8, 8, 7, 7, 7]);
        assert_eq!(pool.get_registered().err(), Some(Status::NO_MEMORY));
        assert!(
            out.iter()
                .all(|d| (d.payload() as usize).is_multiple_of(64))
        );
        // What arrives right before the payload overwrites the word behind the headroom.
        let last = out.pop().unwrap();
        let (place, word) = last.release_word();
        // SAFETY: inside the descriptor, between its header and its payload.
        unsafe { last.payload().sub(8).write_bytes(0xff, 8) };
        // SAFETY: as above.
        unsafe { place.write_unaligned(word) };
        let at = last.payload();
        last.keep();
        drop(out);
        drop(pool);
        assert_eq!(device.live.get(), 2, "a descriptor is still out");
        // SAFETY: a kept descriptor without headroom.
        unsafe { client_release(at.cast()) };
        assert_eq!(device.live.get(), 0);
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
