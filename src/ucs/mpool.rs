//! `Mpool`: objects of one size and alignment, reused through a free list.
//!
//! A request, a descriptor or a send buffer comes from here. Memory grows by whole chunks up to a
//! limit; once warm, `get` and `put` only move a pointer. An object's bytes survive between `put`
//! and `get`, except for its first word. One thread at a time.

use crate::sys::lock::Mutex;
use crate::ucs::{Result, Status};
use core::alloc::Layout;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;

/// What a pool holds and how it grows.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    pub name: &'static str,
    /// Bytes of an object; at least a word is taken.
    pub size: usize,
    /// A power of two.
    pub align: usize,
    /// The byte of the object that `align` holds for.
    pub align_offset: usize,
    /// Objects in the first chunk; each chunk has twice as many as the one before.
    pub first_chunk: usize,
    pub max_chunk: usize,
    /// Objects in all.
    pub max_objects: usize,
}

/// Run on every object when its memory is new; not when it is reused.
pub type OnNew = Box<dyn FnMut(NonNull<u8>) + Send>;

pub struct Mpool {
    free: Option<NonNull<FreeObject>>,
    /// Free objects on the list; the rest of all are in use.
    free_count: usize,
    count: usize,
    params: Params,
    stride: usize,
    next_chunk: usize,
    chunks: Vec<Chunk>,
    on_new: Option<OnNew>,
    /// New memory is zeros.
    is_zeroed: bool,
}

struct FreeObject {
    next: Option<NonNull<FreeObject>>,
}

struct Chunk {
    memory: NonNull<u8>,
    layout: Layout,
    first: NonNull<u8>,
    objects: usize,
}

// SAFETY: the pool owns its chunks; the pointers lead nowhere else.
unsafe impl Send for Mpool {}

impl Mpool {
    /// `INVALID_PARAM` for a size or alignment that no memory can have. Allocates nothing yet.
    pub fn new(params: Params, on_new: Option<OnNew>) -> Result<Mpool> {
        let align = params.align.max(align_of::<FreeObject>());
        let size = params.size.max(size_of::<FreeObject>());
        let fits =
            params.align.is_power_of_two() && size < isize::MAX as usize / 4 && align <= 1 << 30;
        if !fits || !params.align_offset.is_multiple_of(align_of::<FreeObject>()) {
            crate::ucs_error!(
                "memory pool {}: objects of {} bytes aligned to {} at {} are not possible",
                params.name,
                params.size,
                params.align,
                params.align_offset
            );
            return Err(Status::INVALID_PARAM);
        }
        let params = Params { align, ..params };
        Ok(Mpool::of_stride(
            params,
            size.next_multiple_of(align),
            on_new,
        ))
    }

    /// Of objects so many bytes apart, a multiple of the alignment.
    fn of_stride(params: Params, stride: usize, on_new: Option<OnNew>) -> Mpool {
        Mpool {
            free: None,
            free_count: 0,
            count: 0,
            params,
            stride,
            next_chunk: params.first_chunk.max(1),
            chunks: Vec::new(),
            on_new,
            is_zeroed: true,
        }
    }

    /// An object, or `NO_MEMORY` at the limit or when the system has none.
    #[inline]
    pub fn get(&mut self) -> Result<NonNull<u8>> {
        match self.free {
            Some(object) => Ok(self.pop(object)),
            None => self.grow_and_get(),
        }
    }

    /// Gives an object back.
    ///
    /// # Safety
    /// `object` is from `get` of this pool and is not used after.
    #[inline]
    pub unsafe fn put(&mut self, object: NonNull<u8>) {
        let object = object.cast::<FreeObject>();
        // SAFETY: the caller gives up an object of ours, which is as large and aligned as a
        // `FreeObject`.
        unsafe { object.write(FreeObject { next: self.free }) };
        self.free = Some(object);
        self.free_count += 1;
    }

    /// Objects handed out now.
    pub fn in_use(&self) -> usize {
        self.count - self.free_count
    }

    /// Every object there is, handed out or not: for cleaning up what `OnNew` set up.
    pub fn objects(&self) -> impl Iterator<Item = NonNull<u8>> + '_ {
        self.chunks.iter().flat_map(|c| {
            // SAFETY: the chunk has that many objects, a stride apart.
            (0..c.objects).map(|i| unsafe { c.first.add(i * self.stride) })
        })
    }

    #[inline]
    fn pop(&mut self, object: NonNull<FreeObject>) -> NonNull<u8> {
        // SAFETY: objects on the list are ours and were written by `put`.
        self.free = unsafe { object.read() }.next;
        self.free_count -= 1;
        object.cast()
    }

    #[cold]
    fn grow_and_get(&mut self) -> Result<NonNull<u8>> {
        let room = self.params.max_objects - self.count;
        let objects = self.next_chunk.min(self.params.max_chunk.max(1)).min(room);
        if objects == 0 {
            crate::ucs_debug!(
                "memory pool {}: all {} objects are in use",
                self.params.name,
                self.count
            );
            return Err(Status::NO_MEMORY);
        }
        let chunk = self.allocate(objects)?;
        self.next_chunk = self.next_chunk.saturating_mul(2);
        self.count += objects;
        // Backwards, so that objects are handed out in the order of their addresses.
        for i in (0..objects).rev() {
            // SAFETY: the chunk has that many objects, a stride apart.
            let object = unsafe { chunk.first.add(i * self.stride) };
            if let Some(on_new) = &mut self.on_new {
                on_new(object);
            }
            // SAFETY: an object of ours that nobody has yet.
            unsafe { self.put(object) };
        }
        self.chunks.push(chunk);
        match self.free {
            Some(object) => Ok(self.pop(object)),
            None => Err(Status::NO_MEMORY),
        }
    }

    fn allocate(&self, objects: usize) -> Result<Chunk> {
        let align = self.params.align;
        // Up to `align` bytes in front bring the offset, not the object, onto the boundary.
        let shift = (align - self.params.align_offset % align) % align;
        let layout = self
            .stride
            .checked_mul(objects)
            .and_then(|n| n.checked_add(shift))
            .and_then(|n| Layout::from_size_align(n, align).ok())
            .ok_or(Status::NO_MEMORY)?;
        let allocate = match self.is_zeroed {
            true => std::alloc::alloc_zeroed,
            false => std::alloc::alloc,
        };
        // SAFETY: the layout has a size, as there is at least one object of at least a word.
        let memory = NonNull::new(unsafe { allocate(layout) });
        let Some(memory) = memory else {
            crate::ucs_error!(
                "memory pool {}: no memory for {objects} objects",
                self.params.name
            );
            return Err(Status::NO_MEMORY);
        };
        // SAFETY: the layout has `shift` bytes in front of the objects.
        let first = unsafe { memory.add(shift) };
        Ok(Chunk {
            memory,
            layout,
            first,
            objects,
        })
    }
}

impl Drop for Mpool {
    fn drop(&mut self) {
        if self.in_use() > 0 {
            crate::ucs_warn!(
                "memory pool {}: {} objects were not returned",
                self.params.name,
                self.in_use()
            );
        }
        for chunk in &self.chunks {
            // SAFETY: allocated with this layout by `allocate`.
            unsafe { std::alloc::dealloc(chunk.memory.as_ptr(), chunk.layout) };
        }
    }
}

/// Values of one type, for all threads of a process. Its memory is never given back.
pub struct Pool<T>(Mutex<Mpool>, PhantomData<fn(T)>);

impl<T> Default for Pool<T> {
    fn default() -> Pool<T> {
        let each = Layout::new::<T>().align_to(align_of::<FreeObject>());
        let each = each.unwrap_or(Layout::new::<T>()).pad_to_align();
        let params = Params {
            name: core::any::type_name::<T>(),
            size: each.size(),
            align: each.align(),
            align_offset: 0,
            first_chunk: 8,
            max_chunk: 512,
            max_objects: usize::MAX,
        };
        let stride = each.size().max(size_of::<FreeObject>());
        let mut pool = Mpool::of_stride(params, stride, None);
        pool.is_zeroed = false;
        Pool(Mutex::new(pool), PhantomData)
    }
}

/// A type with a pool: what C has a handle of, of which a program may make thousands.
pub trait Pooled: Sized + 'static {
    /// That of this process.
    fn pool() -> &'static Pool<Self>;
}

/// A value in the pool of its type, as a `Box` is one on the heap.
pub struct PoolBox<T: Pooled>(NonNull<T>);

impl<T: Pooled> PoolBox<T> {
    #[inline]
    pub fn new(value: T) -> PoolBox<T> {
        let object = T::pool().0.lock().get();
        let Ok(object) = object else {
            std::alloc::handle_alloc_error(Layout::new::<T>());
        };
        let object = object.cast::<T>();
        // SAFETY: an object of the pool has the size and the alignment of the type.
        unsafe { object.write(value) };
        PoolBox(object)
    }

    /// For C.
    #[inline]
    pub fn into_raw(self) -> *mut T {
        core::mem::ManuallyDrop::new(self).0.as_ptr()
    }

    /// # Safety
    /// `at` is of `into_raw`, once.
    #[inline]
    pub unsafe fn from_raw(at: *mut T) -> PoolBox<T> {
        // SAFETY: never null, by the caller's promise.
        PoolBox(unsafe { NonNull::new_unchecked(at) })
    }
}

impl<T: Pooled> Deref for PoolBox<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: written by `new`, and this box's alone.
        unsafe { self.0.as_ref() }
    }
}

impl<T: Pooled> DerefMut for PoolBox<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`.
        unsafe { self.0.as_mut() }
    }
}

impl<T: Pooled> Drop for PoolBox<T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: as in `deref`; nobody has it after this.
        unsafe { self.0.drop_in_place() };
        // SAFETY: of the pool of this process, or of that of one that it descends from by fork(): either's memory stays.
        unsafe { T::pool().0.lock().put(self.0.cast()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ucs::fork::PerProcess;
    use std::collections::HashSet;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn params() -> Params {
        Params {
            name: "test",
            size: 40,
            align: 64,
            align_offset: 16,
            first_chunk: 2,
            max_chunk: 8,
            max_objects: 21,
        }
    }

    #[test]
    fn objects_are_distinct_aligned_and_limited() {
        let made = Arc::new(AtomicUsize::new(0));
        let count = made.clone();
        let on_new: OnNew = Box::new(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
        });
        let mut pool = Mpool::new(params(), Some(on_new)).unwrap();
        for _ in 0..3 {
            let all: Vec<_> = (0..21).map(|_| pool.get().unwrap()).collect();
            assert_eq!(pool.get(), Err(Status::NO_MEMORY));
            assert_eq!(all.iter().collect::<HashSet<_>>().len(), 21);
            for object in &all {
                assert_eq!((object.as_ptr() as usize + 16) % 64, 0);
                // SAFETY: an object of 40 bytes.
                unsafe { object.write_bytes(0xaa, 40) };
            }
            assert_eq!(pool.in_use(), 21);
            for object in all {
                // SAFETY: from `get`.
                unsafe { pool.put(object) };
            }
        }
        assert_eq!((pool.in_use(), pool.objects().count()), (0, 21));
        assert_eq!(made.load(Ordering::Relaxed), 21);
    }

    struct Word(Arc<AtomicUsize>, u8);

    impl Drop for Word {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    impl Pooled for Word {
        fn pool() -> &'static Pool<Word> {
            static POOL: PerProcess<Pool<Word>> = PerProcess::new(Pool::default);
            POOL.get()
        }
    }

    #[test]
    fn values_in_a_pool_are_dropped_once_and_their_memory_is_used_again() {
        let dropped = Arc::new(AtomicUsize::new(0));
        let make = |n| PoolBox::new(Word(dropped.clone(), n));
        let mut all: Vec<_> = (0..100).map(make).collect();
        for (n, word) in all.iter_mut().enumerate() {
            assert_eq!(usize::from(word.1), n);
            word.1 += 1;
        }
        let places: HashSet<_> = all
            .iter()
            .map(|word| core::ptr::from_ref(&**word))
            .collect();
        assert_eq!(places.len(), 100);
        let raw = all.pop().unwrap().into_raw();
        assert_eq!(dropped.load(Ordering::Relaxed), 0);
        // SAFETY: of `into_raw`.
        let last = unsafe { PoolBox::from_raw(raw) };
        assert_eq!(last.1, 100);
        drop((all, last));
        assert_eq!(dropped.load(Ordering::Relaxed), 100);
        let again: Vec<_> = (0..100).map(make).collect();
        assert!(
            again
                .iter()
                .all(|word| places.contains(&core::ptr::from_ref(&**word)))
        );
    }

    #[test]
    fn a_warm_pool_gives_the_last_object_back() {
        let mut pool = Mpool::new(params(), None).unwrap();
        let a = pool.get().unwrap();
        // SAFETY: from `get`.
        unsafe { pool.put(a) };
        assert_eq!(pool.get(), Ok(a));
        // SAFETY: from `get`.
        unsafe { pool.put(a) };
    }

    #[test]
    fn impossible_objects_are_refused() {
        for (size, align) in [(8, 3), (usize::MAX, 8), (8, 1 << 40)] {
            let bad = Params {
                size,
                align,
                ..params()
            };
            assert_eq!(Mpool::new(bad, None).err(), Some(Status::INVALID_PARAM));
        }
    }
}
