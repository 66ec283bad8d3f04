//! `ucs/datastruct/mpool.h` and `mpool_set.h`.

use crate::abi::args::non_null;
use crate::abi::jump::jump;
use crate::c::prelude::*;
use crate::sys::heap;
use crate::ucs::compat::{mpool, mpool_set};
use crate::ucs::{Result, status::code_of};
use core::ptr::null_mut;

/// Fills parameters with defaults. `ucs/datastruct/mpool.h`.
///
/// - `params` (out): The parameters.
///
/// # Safety
/// `params` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_mpool_params_reset(params: *mut ucs_mpool_params_t) {
    non_null!(; params);
    // SAFETY: checked above; the caller vouches for it.
    unsafe { params.write(mpool::defaults()) };
}

/// Makes a pool: `(const ucs_mpool_params_t *params, ucs_mpool_t *mp)`. UCS_ERR_INVALID_PARAM for sizes that are not
/// possible. `ucs/datastruct/mpool.h`.
///
/// # Safety
/// `params` has functions that stay as long as the pool, `mp` is writable.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_mpool_init() {
    jump!(init_of_any_release);
}

/// Release 1.13 passes (mp, priv_size, elem_size, align_offset, alignment, elems_per_chunk, max_elems, ops, name): a
/// size stands where an address does since.
const LARGEST_PRIVATE: usize = 1 << 16;

/// # Safety
/// As for `ucs_mpool_init`. Only a call of the old form passes what follows the second argument.
unsafe extern "C" fn init_of_any_release(
    params_or_pool: *mut c_void,
    pool_or_size: usize,
    elem_size: usize,
    align_offset: usize,
    alignment: usize,
    elems_per_chunk: c_uint,
    max_elems: c_uint,
    ops: *const ucs_mpool_ops_t,
    name: *const c_char,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; params_or_pool);
    let (params, mp) = if pool_or_size < LARGEST_PRIVATE {
        let params = ucs_mpool_params_t {
            priv_size: pool_or_size,
            elem_size,
            align_offset,
            alignment,
            elems_per_chunk,
            max_elems,
            max_chunk_size: usize::MAX,
            ops,
            name,
            ..mpool::defaults()
        };
        (params, params_or_pool.cast())
    } else {
        // SAFETY: checked above; the caller vouches for it.
        let params = unsafe { params_or_pool.cast::<ucs_mpool_params_t>().read() };
        (params, core::ptr::with_exposed_provenance_mut(pool_or_size))
    };
    // SAFETY: the caller's promise.
    code_of(&unsafe { mpool::init(&params, mp) })
}

/// Ends a pool; with `leak_check`, tells of objects that were not given back. `ucs/datastruct/mpool.h`.
///
/// - `mp` (in,out): The pool.
/// - `leak_check` (in): Nonzero: objects that were not given back are logged.
///
/// # Safety
/// `mp` is a live pool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_mpool_cleanup(mp: *mut ucs_mpool_t, leak_check: c_int) {
    non_null!(; mp);
    // SAFETY: the caller's promise.
    unsafe { mpool::cleanup(mp, leak_check != 0) };
}

/// The pool's name. `ucs/datastruct/mpool.h`.
///
/// - `mp` (in,out): The pool.
/// - returns: Text that lives as long as the pool.
///
/// # Safety
/// `mp` is a live pool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_mpool_name(mp: *mut ucs_mpool_t) -> *const c_char {
    non_null!(c"".as_ptr(); mp);
    // SAFETY: the caller's promise.
    unsafe { mpool::name(mp) }
}

/// The owner's `priv_size` bytes. `ucs/datastruct/mpool.h`.
///
/// - `mp` (in,out): The pool.
/// - returns: Start of these bytes.
///
/// # Safety
/// `mp` is a live pool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_mpool_priv(mp: *mut ucs_mpool_t) -> *mut c_void {
    non_null!(null_mut(); mp);
    // SAFETY: the caller's promise.
    unsafe { mpool::private(mp) }
}

/// 1 when nothing can be taken any more, else 0. `ucs/datastruct/mpool.h`.
///
/// - `mp` (in,out): The pool.
/// - returns: 1 or 0.
///
/// # Safety
/// `mp` is a live pool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_mpool_is_empty(mp: *mut ucs_mpool_t) -> c_int {
    non_null!(1; mp);
    // SAFETY: the caller's promise.
    c_int::from(unsafe { mpool::is_empty(mp) })
}

/// Takes an object; NULL when there is none and none can be made. `ucs/datastruct/mpool.h`.
///
/// - `mp` (in,out): The pool.
/// - returns: The object, or NULL.
///
/// # Safety
/// `mp` is a live pool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_mpool_get(mp: *mut ucs_mpool_t) -> *mut c_void {
    non_null!(null_mut(); mp);
    // SAFETY: the caller's promise.
    unsafe { mpool::get(mp) }
}

/// Gives an object back to its pool. `ucs/datastruct/mpool.h`.
///
/// - `obj` (in): The object; not to be used afterwards.
///
/// # Safety
/// `obj` was taken from a pool that lives, and not given back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_mpool_put(obj: *mut c_void) {
    non_null!(; obj);
    // SAFETY: the caller's promise.
    unsafe { mpool::put(obj) };
}

/// Makes up to `num_elems` objects. `ucs/datastruct/mpool.h`.
///
/// - `mp` (in,out): The pool.
/// - `num_elems` (in): Number of objects.
///
/// # Safety
/// `mp` is a live pool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_mpool_grow(mp: *mut ucs_mpool_t, num_elems: c_uint) {
    non_null!(; mp);
    // SAFETY: the caller's promise.
    unsafe { mpool::grow(mp, num_elems) };
}

/// Takes an object from a pool that has no free one. `ucs/datastruct/mpool.h`.
///
/// - `mp` (in,out): The pool.
/// - returns: The object, or NULL.
///
/// # Safety
/// `mp` is a live pool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_mpool_get_grow(mp: *mut ucs_mpool_t) -> *mut c_void {
    non_null!(null_mut(); mp);
    // SAFETY: the caller's promise.
    unsafe { mpool::get_grow(mp) }
}

/// Objects that a chunk of `chunk_size` bytes at `chunk` has room for. `ucs/datastruct/mpool.h`.
///
/// - `mp` (in,out): The pool.
/// - `chunk` (in): The chunk.
/// - `chunk_size` (in): Its bytes.
/// - returns: Their number.
///
/// # Safety
/// `mp` is a live pool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_mpool_num_elems_per_chunk(
    mp: *mut ucs_mpool_t,
    chunk: *mut ucs_mpool_chunk_t,
    chunk_size: usize,
) -> c_uint {
    non_null!(0; mp);
    // SAFETY: the caller's promise.
    unsafe { mpool::objects_in(mp, chunk, chunk_size) }
}

/// Hands out a chunk and its bytes.
///
/// # Safety
/// Both are null or writable.
unsafe fn put_chunk(
    made: Result<(*mut c_void, usize)>,
    size_p: *mut usize,
    chunk_p: *mut *mut c_void,
) -> ucs_status_t {
    match made {
        Ok((chunk, len)) => {
            // SAFETY: the caller's promise.
            unsafe { size_p.write(len) };
            // SAFETY: as above.
            unsafe { chunk_p.write(chunk) };
            UCS_OK
        }
        Err(status) => status.code(),
    }
}

/// Allocates a chunk from the heap. `ucs/datastruct/mpool.h`.
///
/// - `mp` (in,out): The pool.
/// - `size_p` (in,out): Bytes wanted; then bytes there are.
/// - `chunk_p` (out): The memory.
/// - returns: UCS_OK or UCS_ERR_NO_MEMORY.
///
/// # Safety
/// `size_p` and `chunk_p` are writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_mpool_chunk_malloc(
    _mp: *mut ucs_mpool_t,
    size_p: *mut usize,
    chunk_p: *mut *mut c_void,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; size_p, chunk_p);
    // SAFETY: the caller's promise.
    let len = unsafe { size_p.read() };
    let made = mpool::heap_chunk(len).map(|chunk| (chunk, len));
    // SAFETY: as above.
    unsafe { put_chunk(made, size_p, chunk_p) }
}

/// Frees such a chunk. `ucs/datastruct/mpool.h`.
///
/// - `mp` (in,out): The pool.
/// - `chunk` (in): The memory.
///
/// # Safety
/// `chunk` came from `ucs_mpool_chunk_malloc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_mpool_chunk_free(_mp: *mut ucs_mpool_t, chunk: *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe { heap::free(chunk) };
}

/// Maps pages for a chunk. `ucs/datastruct/mpool.h`.
///
/// - `mp` (in,out): The pool.
/// - `size_p` (in,out): Bytes wanted; then bytes there are.
/// - `chunk_p` (out): The memory.
/// - returns: UCS_OK or UCS_ERR_NO_MEMORY.
///
/// # Safety
/// `size_p` and `chunk_p` are writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_mpool_chunk_mmap(
    _mp: *mut ucs_mpool_t,
    size_p: *mut usize,
    chunk_p: *mut *mut c_void,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; size_p, chunk_p);
    // SAFETY: the caller's promise.
    let len = unsafe { size_p.read() };
    // SAFETY: as above.
    unsafe { put_chunk(mpool::map_chunk(len), size_p, chunk_p) }
}

/// Unmaps such a chunk. `ucs/datastruct/mpool.h`.
///
/// - `mp` (in,out): The pool.
/// - `chunk` (in): The memory.
///
/// # Safety
/// `chunk` came from `ucs_mpool_chunk_mmap`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_mpool_chunk_munmap(_mp: *mut ucs_mpool_t, chunk: *mut c_void) {
    non_null!(; chunk);
    // SAFETY: the caller's promise.
    unsafe { mpool::unmap_chunk(chunk) };
}

/// Allocates a chunk of huge pages, or from the heap where there are none. `ucs/datastruct/mpool.h`.
///
/// - `mp` (in,out): The pool.
/// - `size_p` (in,out): Bytes wanted; then bytes there are.
/// - `chunk_p` (out): The memory.
/// - returns: UCS_OK or UCS_ERR_NO_MEMORY.
///
/// # Safety
/// `size_p` and `chunk_p` are writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_mpool_hugetlb_malloc(
    _mp: *mut ucs_mpool_t,
    size_p: *mut usize,
    chunk_p: *mut *mut c_void,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; size_p, chunk_p);
    // SAFETY: the caller's promise.
    let len = unsafe { size_p.read() };
    // SAFETY: as above.
    unsafe { put_chunk(mpool::huge_chunk(len), size_p, chunk_p) }
}

/// Frees such a chunk. `ucs/datastruct/mpool.h`.
///
/// - `mp` (in,out): The pool.
/// - `chunk` (in): The memory.
///
/// # Safety
/// `chunk` came from `ucs_mpool_hugetlb_malloc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_mpool_hugetlb_free(_mp: *mut ucs_mpool_t, chunk: *mut c_void) {
    non_null!(; chunk);
    // SAFETY: the caller's promise.
    unsafe { mpool::unmap_chunk(chunk) };
}

/// Makes pools for objects of `sizes`, powers of two, and of `max_mp_entry_size`. Each object has `priv_elem_size` bytes
/// more. `ucs/datastruct/mpool_set.h`.
///
/// - `mp_set` (out): The set.
/// - `sizes` (in): Bytes of the objects of each pool.
/// - `sizes_count` (in): Number of pools.
/// - `max_mp_entry_size` (in): Bytes of the largest objects.
/// - `priv_size` (in): Bytes of the owner.
/// - `priv_elem_size` (in): Bytes that each object has more.
/// - `align_offset` (in): Bytes of an object before what is aligned.
/// - `alignment` (in): Alignment, a power of two.
/// - `elems_per_chunk` (in): Objects allocated at once.
/// - `max_elems` (in): Most objects of a pool.
/// - `ops` (in): Functions of the pools.
/// - `name` (in): Name for messages, NUL-terminated.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM; UCS_ERR_NO_MEMORY.
///
/// # Safety
/// `sizes` has `sizes_count` numbers; `ops` stay as long as the set; `mp_set` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_mpool_set_init(
    mp_set: *mut ucs_mpool_set_t,
    sizes: *mut usize,
    sizes_count: c_uint,
    max_mp_entry_size: usize,
    priv_size: usize,
    priv_elem_size: usize,
    align_offset: usize,
    alignment: usize,
    elems_per_chunk: c_uint,
    max_elems: c_uint,
    ops: *mut ucs_mpool_ops_t,
    name: *const c_char,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; mp_set);
    let sizes = if sizes.is_null() {
        &[][..]
    } else {
        // SAFETY: the caller's array.
        unsafe { core::slice::from_raw_parts(sizes, sizes_count as usize) }
    };
    let params = mpool_set::Params {
        sizes,
        max_size: max_mp_entry_size,
        priv_size,
        priv_elem_size,
        align_offset,
        alignment,
        elems_per_chunk,
        max_elems,
        ops,
        name,
    };
    // SAFETY: the caller's functions and name.
    match unsafe { mpool_set::init(&params) } {
        Ok(set) => {
            // SAFETY: checked above; the caller vouches for it.
            unsafe { mp_set.write(set) };
            UCS_OK
        }
        Err(status) => status.code(),
    }
}

/// Ends a set; with `leak_check`, tells of objects that were not given back. `ucs/datastruct/mpool_set.h`.
///
/// - `mp_set` (in,out): The set.
/// - `leak_check` (in): Nonzero: objects that were not given back are logged.
///
/// # Safety
/// `mp_set` is a live set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_mpool_set_cleanup(mp_set: *mut ucs_mpool_set_t, leak_check: c_int) {
    non_null!(; mp_set);
    // SAFETY: the caller's promise.
    unsafe { mpool_set::cleanup(&mut *mp_set, leak_check != 0) };
}

/// The owner's `priv_size` bytes. `ucs/datastruct/mpool_set.h`.
///
/// - `mp_set` (in,out): The set.
/// - returns: Start of these bytes.
///
/// # Safety
/// `mp_set` is a live set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_mpool_set_priv(mp_set: *mut ucs_mpool_set_t) -> *mut c_void {
    non_null!(null_mut(); mp_set);
    // SAFETY: the caller's promise.
    unsafe { mpool_set::private(&*mp_set) }
}

/// The set's name. `ucs/datastruct/mpool_set.h`.
///
/// - `mp_set` (in,out): The set.
/// - returns: Text that lives as long as the pool.
///
/// # Safety
/// `mp_set` is a live set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_mpool_set_name(mp_set: *mut ucs_mpool_set_t) -> *const c_char {
    non_null!(c"".as_ptr(); mp_set);
    // SAFETY: the caller's promise.
    unsafe { mpool_set::name(&*mp_set) }
}
