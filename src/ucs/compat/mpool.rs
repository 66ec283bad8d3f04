//! Pools of objects of one size, `ucs/datastruct/mpool.h`.
//!
//! Memory comes in chunks from the client. A chunk begins with its header; each object has one word before it, which
//! leads to the next free object, or to the pool while the object is in use.

use crate::c::{
    ucs_mpool_chunk, ucs_mpool_data, ucs_mpool_elem, ucs_mpool_ops, ucs_mpool_params, ucs_mpool_t,
    ucs_string_buffer_t,
};
use crate::sys::{heap, mem};
use crate::ucs::{Result, Status, status, string_buffer};
use crate::{ucs_error, ucs_warn};
use core::ffi::{CStr, c_char, c_uint, c_void};
use core::ptr::null_mut;

/// Bytes before an object.
const HEAD: usize = size_of::<ucs_mpool_elem>();
/// Bytes at the start of a chunk.
const CHUNK: usize = size_of::<ucs_mpool_chunk>();
/// A quota that is none.
pub const UNLIMITED: c_uint = c_uint::MAX;

/// Where objects lie in a chunk.
#[derive(Clone, Copy)]
struct Shape {
    /// Bytes of an object with its word.
    elem_size: usize,
    /// A power of two.
    alignment: usize,
    /// The aligned byte, from the word on.
    align_offset: usize,
}

impl Shape {
    /// From one object to the next.
    fn stride(self) -> usize {
        self.elem_size.next_multiple_of(self.alignment)
    }

    /// Bytes that hold `count` objects wherever the chunk begins; none when they are too many to count.
    fn chunk_len(self, count: usize) -> Option<usize> {
        self.stride()
            .checked_mul(count)?
            .checked_add(CHUNK + self.alignment)
    }

    /// Address of the first object's word in a chunk at `chunk`.
    fn first(self, chunk: usize) -> usize {
        (chunk + CHUNK + self.align_offset).next_multiple_of(self.alignment) - self.align_offset
    }

    /// Objects in a chunk of `len` bytes at `chunk`.
    fn count(self, chunk: usize, len: usize) -> usize {
        let before = self.first(chunk) - chunk;
        len.saturating_sub(before) / self.stride()
    }
}

/// The defaults of `ucs_mpool_params_reset`.
pub fn defaults() -> ucs_mpool_params {
    ucs_mpool_params {
        priv_size: 0,
        elem_size: 0,
        align_offset: 0,
        alignment: 64,
        malloc_safe: 0,
        elems_per_chunk: 128,
        max_chunk_size: 128 << 20,
        max_elems: UNLIMITED,
        grow_factor: 1.0,
        ops: core::ptr::null(),
        name: c"".as_ptr(),
    }
}

/// Makes a pool without memory for objects.
///
/// # Safety
/// `mp` is writable; `params` has the functions of a client, which stay, and a name or null.
pub unsafe fn init(params: &ucs_mpool_params, mp: *mut ucs_mpool_t) -> Result<()> {
    let sound = params.elem_size > 0
        && params.align_offset <= params.elem_size
        && params.alignment.is_power_of_two()
        && params.elems_per_chunk > 0
        && params.max_elems >= params.elems_per_chunk
        && params.grow_factor >= 1.0
        && !params.ops.is_null();
    let elem_size = params.elem_size.checked_add(HEAD);
    let shape = elem_size.map(|elem_size| Shape {
        elem_size,
        alignment: params.alignment,
        align_offset: params.align_offset + HEAD,
    });
    let (Some(shape), true) = (shape, sound) else {
        ucs_error!(
            "memory pool: an object of {} bytes, aligned to {} at byte {}, {} to {} at a time, growing by {}, is not possible",
            params.elem_size,
            params.alignment,
            params.align_offset,
            params.elems_per_chunk,
            params.max_elems,
            params.grow_factor
        );
        return Err(Status::INVALID_PARAM);
    };
    if shape
        .chunk_len(1)
        .is_none_or(|len| len > params.max_chunk_size)
    {
        ucs_error!(
            "memory pool: a chunk of {} bytes has no room for an object of {}",
            params.max_chunk_size,
            params.elem_size
        );
        return Err(Status::INVALID_PARAM);
    }
    let name = if params.name.is_null() {
        c""
    } else {
        // SAFETY: the caller's string.
        unsafe { CStr::from_ptr(params.name) }
    }
    .to_bytes_with_nul();
    let before_name = size_of::<ucs_mpool_data>()
        .checked_add(params.priv_size)
        .ok_or(Status::INVALID_PARAM)?;
    let len = before_name
        .checked_add(name.len())
        .ok_or(Status::INVALID_PARAM)?;
    let data: *mut ucs_mpool_data = heap::calloc(1, len).cast();
    if data.is_null() {
        return Err(Status::NO_MEMORY);
    }
    // SAFETY: inside the fresh block.
    let name_copy: *mut c_char = unsafe { data.cast::<c_char>().add(before_name) };
    // SAFETY: its last `name.len()` bytes.
    unsafe { core::ptr::copy_nonoverlapping(name.as_ptr().cast(), name_copy, name.len()) };
    let filled = ucs_mpool_data {
        elem_size: shape.elem_size,
        alignment: shape.alignment,
        align_offset: shape.align_offset,
        grow_factor: params.grow_factor,
        max_chunk_size: params.max_chunk_size,
        elems_per_chunk: params.elems_per_chunk,
        quota: params.max_elems,
        malloc_safe: params.malloc_safe,
        tail: null_mut(),
        chunks: null_mut(),
        ops: params.ops,
        name: name_copy,
    };
    // SAFETY: its first bytes.
    unsafe { data.write(filled) };
    let pool = ucs_mpool_t {
        freelist: null_mut(),
        data,
    };
    // SAFETY: the caller's object.
    unsafe { mp.write(pool) };
    Ok(())
}

/// The word before an object, which is aligned only if the client's objects are.
///
/// # Safety
/// `elem` is an object of a live pool.
unsafe fn word_of(elem: *mut ucs_mpool_elem) -> *mut c_void {
    // SAFETY: the caller's object; both meanings of the word are pointers.
    unsafe { elem.cast::<*mut c_void>().read_unaligned() }
}

/// # Safety
/// `elem` is an object of a live pool.
unsafe fn set_word(elem: *mut ucs_mpool_elem, word: *mut c_void) {
    // SAFETY: the caller's object.
    unsafe { elem.cast::<*mut c_void>().write_unaligned(word) };
}

/// A copy of the slow part of a pool.
///
/// # Safety
/// `mp` is a live pool, here and below.
unsafe fn data_of(mp: *mut ucs_mpool_t) -> ucs_mpool_data {
    // SAFETY: the caller's pool.
    let data = unsafe { (*mp).data };
    // SAFETY: `init` made it.
    unsafe { data.read() }
}

/// # Safety
/// `mp` is a live pool.
unsafe fn ops_of(mp: *mut ucs_mpool_t) -> ucs_mpool_ops {
    // SAFETY: the caller's pool.
    let ops = unsafe { data_of(mp) }.ops;
    // SAFETY: the client's functions, which stay as long as the pool.
    unsafe { ops.read() }
}

/// Changes the slow part of a pool. No callback runs meanwhile.
///
/// # Safety
/// `mp` is a live pool.
unsafe fn change(mp: *mut ucs_mpool_t, edit: impl FnOnce(&mut ucs_mpool_data)) {
    // SAFETY: the caller's pool.
    let data = unsafe { (*mp).data };
    // SAFETY: `init` made it, and nothing else refers to it now.
    edit(unsafe { &mut *data });
}

fn shape_of(data: &ucs_mpool_data) -> Shape {
    Shape {
        elem_size: data.elem_size,
        alignment: data.alignment,
        align_offset: data.align_offset,
    }
}

/// What the pool is called.
///
/// # Safety
/// `mp` is a live pool.
pub unsafe fn name(mp: *mut ucs_mpool_t) -> *const c_char {
    // SAFETY: the caller's pool.
    unsafe { data_of(mp) }.name
}

/// The client's own bytes.
///
/// # Safety
/// `mp` is a live pool.
pub unsafe fn private(mp: *mut ucs_mpool_t) -> *mut c_void {
    // SAFETY: the caller's pool.
    let data = unsafe { (*mp).data };
    data.wrapping_add(1).cast()
}

/// Whether nothing can be taken.
///
/// # Safety
/// `mp` is a live pool.
pub unsafe fn is_empty(mp: *mut ucs_mpool_t) -> bool {
    // SAFETY: the caller's pool.
    let free = unsafe { (*mp).freelist };
    // SAFETY: as above.
    free.is_null() && unsafe { data_of(mp) }.quota == 0
}

/// Takes an object; null when there is none and none can be made.
///
/// # Safety
/// `mp` is a live pool.
pub unsafe fn get(mp: *mut ucs_mpool_t) -> *mut c_void {
    // SAFETY: the caller's pool.
    let free = unsafe { (*mp).freelist };
    if free.is_null() {
        // SAFETY: as above.
        return unsafe { get_grow(mp) };
    }
    // SAFETY: as above; the list is not empty.
    unsafe { take(mp, free) }
}

/// # Safety
/// `mp` is a live pool and `free` its first free object.
unsafe fn take(mp: *mut ucs_mpool_t, free: *mut ucs_mpool_elem) -> *mut c_void {
    // SAFETY: a free object's word leads on.
    let next = unsafe { word_of(free) };
    // SAFETY: the caller's pool.
    unsafe { (*mp).freelist = next.cast() };
    // SAFETY: the object is in use from now on.
    unsafe { set_word(free, mp.cast()) };
    free.wrapping_add(1).cast()
}

/// Takes an object from a pool without free ones.
///
/// # Safety
/// `mp` is a live pool.
#[cold]
pub unsafe fn get_grow(mp: *mut ucs_mpool_t) -> *mut c_void {
    // SAFETY: the caller's pool.
    let wanted = unsafe { data_of(mp) }.elems_per_chunk;
    // SAFETY: as above.
    let made = unsafe { grow(mp, wanted) };
    // SAFETY: as above.
    let free = unsafe { (*mp).freelist };
    if free.is_null() {
        return null_mut();
    }
    let next = |data: &mut ucs_mpool_data| {
        let grown = (f64::from(made) * data.grow_factor).round();
        data.elems_per_chunk = (grown as c_uint).max(1);
    };
    if made > 0 {
        // SAFETY: as above.
        unsafe { change(mp, next) };
    }
    // SAFETY: as above; the list is not empty.
    unsafe { take(mp, free) }
}

/// Makes up to `wanted` objects in one chunk; how many.
///
/// # Safety
/// `mp` is a live pool.
pub unsafe fn grow(mp: *mut ucs_mpool_t, wanted: c_uint) -> c_uint {
    // SAFETY: the caller's pool.
    let data = unsafe { data_of(mp) };
    let wanted = wanted.min(data.quota);
    if wanted == 0 {
        return 0;
    }
    let shape = shape_of(&data);
    let mut len = shape
        .chunk_len(wanted as usize)
        .unwrap_or(usize::MAX)
        .min(data.max_chunk_size);
    let mut chunk = null_mut();
    // SAFETY: as above.
    let ops = unsafe { ops_of(mp) };
    let code = match ops.chunk_alloc {
        // SAFETY: the client's function with the arguments that it promises to take.
        Some(alloc) => unsafe { alloc(mp, &mut len, &mut chunk) },
        None => crate::c::UCS_ERR_UNSUPPORTED,
    };
    if code != crate::c::UCS_OK || chunk.is_null() {
        ucs_error!(
            "memory pool {}: no memory for {wanted} more objects ({})",
            // SAFETY: as above.
            unsafe { printable_name(mp) },
            status::text_of(code)
        );
        return 0;
    }
    let count = shape
        .count(chunk.addr(), len)
        .min(data.quota as usize)
        .min(c_uint::MAX as usize - 1) as c_uint;
    let first = chunk.wrapping_byte_add(shape.first(chunk.addr()) - chunk.addr());
    let head = ucs_mpool_chunk {
        next: data.chunks,
        elems: first,
        num_elems: count,
    };
    // SAFETY: the client's memory begins there and is larger.
    unsafe { chunk.cast::<ucs_mpool_chunk>().write_unaligned(head) };
    let enter = |data: &mut ucs_mpool_data| {
        data.chunks = chunk.cast();
        if data.quota != UNLIMITED {
            data.quota -= count;
        }
    };
    // SAFETY: as above.
    unsafe { change(mp, enter) };
    for i in 0..count as usize {
        let elem: *mut ucs_mpool_elem = first.wrapping_byte_add(i * shape.stride()).cast();
        if let Some(obj_init) = ops.obj_init {
            // SAFETY: the client's function, with an object that nobody has yet.
            unsafe { obj_init(mp, elem.wrapping_add(1).cast(), chunk) };
        }
        // SAFETY: a new object of the pool.
        unsafe { free_elem(mp, elem) };
    }
    count
}

/// Puts an object into the list of free ones, first. (Upstream's debug builds can be told to put it last.)
///
/// # Safety
/// `mp` is a live pool and `elem` an object of it that is not free.
unsafe fn free_elem(mp: *mut ucs_mpool_t, elem: *mut ucs_mpool_elem) {
    // SAFETY: the caller's pool.
    let free = unsafe { (*mp).freelist };
    // SAFETY: the caller's object.
    unsafe { set_word(elem, free.cast()) };
    // SAFETY: the caller's pool.
    unsafe { (*mp).freelist = elem };
}

/// Gives an object back.
///
/// # Safety
/// `obj` came from `get` and was not given back.
pub unsafe fn put(obj: *mut c_void) {
    let elem = obj.cast::<ucs_mpool_elem>().wrapping_sub(1);
    // SAFETY: the word of an object in use leads to its pool.
    let mp = unsafe { word_of(elem) };
    // SAFETY: the caller's promise.
    unsafe { free_elem(mp.cast(), elem) };
}

/// Objects that a chunk of `len` bytes holds.
///
/// # Safety
/// `mp` is a live pool.
pub unsafe fn objects_in(
    mp: *mut ucs_mpool_t,
    chunk: *const ucs_mpool_chunk,
    len: usize,
) -> c_uint {
    // SAFETY: the caller's pool.
    let data = unsafe { data_of(mp) };
    let count = shape_of(&data).count(chunk.addr(), len);
    count.min(c_uint::MAX as usize) as c_uint
}

/// Ends the free objects, says which were not given back if `leak_check` is set, and frees all memory.
///
/// # Safety
/// `mp` is a live pool, which this ends.
pub unsafe fn cleanup(mp: *mut ucs_mpool_t, leak_check: bool) {
    // SAFETY: the caller's pool.
    let ops = unsafe { ops_of(mp) };
    loop {
        // SAFETY: the caller's pool.
        let elem = unsafe { (*mp).freelist };
        if elem.is_null() {
            break;
        }
        // SAFETY: a free object's word leads on.
        let next = unsafe { word_of(elem) };
        // SAFETY: the caller's pool.
        unsafe { (*mp).freelist = next.cast() };
        // SAFETY: this one is neither free nor in use.
        unsafe { set_word(elem, null_mut()) };
        if let Some(obj_cleanup) = ops.obj_cleanup {
            // SAFETY: the client's function with an object of the pool.
            unsafe { obj_cleanup(mp, elem.wrapping_add(1).cast()) };
        }
    }
    // SAFETY: the caller's pool.
    let data = unsafe { data_of(mp) };
    let mut chunk = data.chunks;
    while leak_check && !chunk.is_null() {
        // SAFETY: a chunk of the pool.
        let head = unsafe { chunk.read_unaligned() };
        for i in 0..head.num_elems as usize {
            let at = head.elems.wrapping_byte_add(i * shape_of(&data).stride());
            // SAFETY: an object of the pool.
            unsafe { report_leak(mp, at.cast(), &ops) };
        }
        chunk = head.next;
    }
    let mut chunk = data.chunks;
    while !chunk.is_null() {
        // SAFETY: a chunk that is not freed yet.
        let next = unsafe { chunk.read_unaligned() }.next;
        if let Some(release) = ops.chunk_release {
            // SAFETY: the client's function, with memory that it allocated.
            unsafe { release(mp, chunk.cast()) };
        }
        chunk = next;
    }
    // SAFETY: the caller's pool.
    let block = unsafe { (*mp).data };
    // SAFETY: `init` made it.
    unsafe { heap::free(block.cast()) };
    // SAFETY: the caller's object; a second cleanup crashes instead of freeing twice.
    unsafe { (*mp).data = null_mut() };
}

/// One line on an object that is still in use.
///
/// # Safety
/// `elem` is an object of the live pool `mp` and not free.
unsafe fn report_leak(mp: *mut ucs_mpool_t, elem: *mut ucs_mpool_elem, ops: &ucs_mpool_ops) {
    // SAFETY: the word of an object that is not free.
    if unsafe { word_of(elem) }.is_null() {
        return;
    }
    let object: *mut c_void = elem.wrapping_add(1).cast();
    let mut text = ucs_string_buffer_t::EMPTY;
    if let Some(obj_str) = ops.obj_str {
        // SAFETY: the client's function with an object of the pool and a buffer of ours.
        unsafe { obj_str(mp, object, &mut text) };
    }
    ucs_warn!(
        "memory pool {}: object {object:p} {{{}}} was not given back",
        // SAFETY: the caller's pool.
        unsafe { printable_name(mp) },
        // SAFETY: a live buffer.
        unsafe { string_buffer::text(&text) }.to_string_lossy()
    );
    // SAFETY: as above.
    unsafe { string_buffer::cleanup(&mut text) };
}

/// # Safety
/// `mp` is a live pool.
unsafe fn printable_name(mp: *mut ucs_mpool_t) -> String {
    // SAFETY: the caller's pool.
    let name = unsafe { name(mp) };
    // SAFETY: `init` made the string.
    unsafe { CStr::from_ptr(name) }
        .to_string_lossy()
        .into_owned()
}

/// What stands before a chunk that `map_chunk` or `huge_chunk` allocated; a multiple of 16 bytes.
#[repr(C, align(16))]
struct Mapping {
    /// Bytes mapped; 0 for memory of the heap.
    len: usize,
}

const MAPPING: usize = size_of::<Mapping>();

/// A chunk from the heap of at least `len` bytes.
pub fn heap_chunk(len: usize) -> Result<*mut c_void> {
    let chunk = heap::malloc(len);
    if chunk.is_null() {
        return Err(Status::NO_MEMORY);
    }
    Ok(chunk)
}

/// A chunk of whole pages, huge ones if `huge` and there are any; and how many bytes it has.
fn mapped_chunk(len: usize, page: usize, huge: bool) -> Result<(*mut c_void, usize)> {
    let whole = len
        .checked_add(MAPPING)
        .and_then(|len| len.checked_next_multiple_of(page))
        .ok_or(Status::NO_MEMORY)?;
    let options = mem::MapOptions {
        huge,
        ..mem::MapOptions::default()
    };
    let start = mem::map_anonymous(0, whole, options).map_err(|e| Status::from_io(&e))?;
    // SAFETY: fresh memory, larger than this.
    unsafe { start.cast::<Mapping>().write(Mapping { len: whole }) };
    Ok((start.wrapping_byte_add(MAPPING), whole - MAPPING))
}

/// A chunk of whole pages and its bytes.
pub fn map_chunk(len: usize) -> Result<(*mut c_void, usize)> {
    mapped_chunk(len, mem::page_size(), false)
}

/// A chunk of huge pages, or of the heap where there are none, and its bytes.
pub fn huge_chunk(len: usize) -> Result<(*mut c_void, usize)> {
    if let Ok(chunk) = mapped_chunk(len, HUGE_PAGE, true) {
        return Ok(chunk);
    }
    let whole = len.checked_add(MAPPING).ok_or(Status::NO_MEMORY)?;
    let start = heap_chunk(whole)?;
    // SAFETY: fresh memory, larger than this.
    unsafe { start.cast::<Mapping>().write(Mapping { len: 0 }) };
    Ok((start.wrapping_byte_add(MAPPING), len))
}

/// The kernel's default on the processors that we are built for.
const HUGE_PAGE: usize = 2 << 20;

/// Frees what `map_chunk` or `huge_chunk` allocated.
///
/// # Safety
/// `chunk` is such a chunk, given up.
pub unsafe fn unmap_chunk(chunk: *mut c_void) {
    let start = chunk.wrapping_byte_sub(MAPPING);
    // SAFETY: what stands before a chunk.
    let len = unsafe { start.cast::<Mapping>().read() }.len;
    if len == 0 {
        // SAFETY: a block of the heap.
        unsafe { heap::free(start) };
        return;
    }
    // SAFETY: a whole mapping of ours, given up.
    if let Err(e) = unsafe { mem::unmap(start, len) } {
        ucs_warn!("cannot unmap {len} bytes of a memory pool: {e}");
    }
}

#[cfg(test)]
mod tests;
