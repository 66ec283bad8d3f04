//! `ucs/datastruct/mpool.h`: types and constants.

use crate::c::prelude::*;

pub type ucs_mpool_chunk_t = ucs_mpool_chunk;

pub type ucs_mpool_elem_t = ucs_mpool_elem;

pub type ucs_mpool_t = ucs_mpool;

pub type ucs_mpool_data_t = ucs_mpool_data;

pub type ucs_mpool_ops_t = ucs_mpool_ops;

/// What stands before an object.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ucs_mpool_elem {
    /// While it is free: the next free one.
    pub next: *mut ucs_mpool_elem_t,
    /// While it is in use: its pool.
    pub mpool: *mut ucs_mpool_t,
}
const _: () = assert!(size_of::<ucs_mpool_elem>() == 8);

/// Memory of several objects.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_mpool_chunk {
    /// The chunk that was made before it.
    pub next: *mut ucs_mpool_chunk_t,
    /// The first object, with what stands before it.
    pub elems: *mut c_void,
    /// Objects of the chunk.
    pub num_elems: c_uint,
}
const _: () = {
    assert!(size_of::<ucs_mpool_chunk>() == 24);
    assert!(offset_of!(ucs_mpool_chunk, elems) == 8);
    assert!(offset_of!(ucs_mpool_chunk, num_elems) == 16);
};

/// A pool of objects of one size.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_mpool {
    /// Free objects.
    pub freelist: *mut ucs_mpool_elem_t,
    /// The rest of the pool.
    pub data: *mut ucs_mpool_data_t,
}
const _: () = {
    assert!(size_of::<ucs_mpool>() == 16);
    assert!(offset_of!(ucs_mpool, data) == 8);
};

/// The part of a pool that taking an object does not need.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_mpool_data {
    /// Bytes of an object with what stands before it.
    pub elem_size: usize,
    /// Alignment of the objects, bytes.
    pub alignment: usize,
    /// Where in an object the alignment counts, with what stands before it.
    pub align_offset: usize,
    /// Each chunk has so many times the objects of the one before.
    pub grow_factor: f64,
    /// Bytes that no chunk exceeds.
    pub max_chunk_size: usize,
    /// Objects of the next chunk.
    pub elems_per_chunk: c_uint,
    /// Objects that may still be made.
    pub quota: c_uint,
    /// Nonzero to call malloc at no time but at the start.
    pub malloc_safe: c_int,
    /// The last free object, where objects are taken in the order of their return.
    pub tail: *mut ucs_mpool_elem_t,
    /// The newest chunk.
    pub chunks: *mut ucs_mpool_chunk_t,
    /// Functions.
    pub ops: *const ucs_mpool_ops_t,
    /// Name for messages.
    pub name: *mut c_char,
}
const _: () = {
    assert!(size_of::<ucs_mpool_data>() == 88);
    assert!(offset_of!(ucs_mpool_data, elem_size) == 0);
    assert!(offset_of!(ucs_mpool_data, alignment) == 8);
    assert!(offset_of!(ucs_mpool_data, align_offset) == 16);
    assert!(offset_of!(ucs_mpool_data, grow_factor) == 24);
    assert!(offset_of!(ucs_mpool_data, max_chunk_size) == 32);
    assert!(offset_of!(ucs_mpool_data, elems_per_chunk) == 40);
    assert!(offset_of!(ucs_mpool_data, quota) == 44);
    assert!(offset_of!(ucs_mpool_data, malloc_safe) == 48);
    assert!(offset_of!(ucs_mpool_data, tail) == 56);
    assert!(offset_of!(ucs_mpool_data, chunks) == 64);
    assert!(offset_of!(ucs_mpool_data, ops) == 72);
    assert!(offset_of!(ucs_mpool_data, name) == 80);
};

/// Allocates at least `*size_p` bytes, and says how many they are.
///
/// - `mp` (in,out): The pool.
/// - `size_p` (in,out): Bytes wanted; then bytes there are.
/// - `chunk_p` (out): The memory.
/// - returns: UCS_OK or UCS_ERR_NO_MEMORY.
pub type ucs_mpool_chunk_alloc_func_t = Option<
    unsafe extern "C" fn(
        mp: *mut ucs_mpool_t,
        size_p: *mut usize,
        chunk_p: *mut *mut c_void,
    ) -> ucs_status_t,
>;

/// Frees such memory.
///
/// - `mp` (in,out): The pool.
/// - `chunk` (in): The memory.
pub type ucs_mpool_chunk_release_func_t =
    Option<unsafe extern "C" fn(mp: *mut ucs_mpool_t, chunk: *mut c_void)>;

/// Prepares a new object, once; `chunk` is what the allocation answered.
///
/// - `mp` (in,out): The pool.
/// - `obj` (in): The object.
/// - `chunk` (in): Memory that it is in.
pub type ucs_mpool_obj_init_func_t =
    Option<unsafe extern "C" fn(mp: *mut ucs_mpool_t, obj: *mut c_void, chunk: *mut c_void)>;

/// Called with an object before its memory is freed.
///
/// - `mp` (in,out): The pool.
/// - `obj` (in): The object.
pub type ucs_mpool_obj_cleanup_func_t =
    Option<unsafe extern "C" fn(mp: *mut ucs_mpool_t, obj: *mut c_void)>;

/// Appends a description of an object.
///
/// - `mp` (in,out): The pool.
/// - `obj` (in): The object.
/// - `strb` (in,out): Gets the text behind what it holds.
pub type ucs_mpool_obj_str_func_t = Option<
    unsafe extern "C" fn(mp: *mut ucs_mpool_t, obj: *mut c_void, strb: *mut ucs_string_buffer_t),
>;

/// What the owner of a pool does itself. All but the first two may be NULL.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_mpool_ops {
    /// Allocates a chunk.
    pub chunk_alloc: ucs_mpool_chunk_alloc_func_t,
    /// Frees a chunk.
    pub chunk_release: ucs_mpool_chunk_release_func_t,
    /// Prepares an object.
    pub obj_init: ucs_mpool_obj_init_func_t,
    /// Ends an object.
    pub obj_cleanup: ucs_mpool_obj_cleanup_func_t,
    /// Describes an object, for the message on one that was not returned.
    pub obj_str: ucs_mpool_obj_str_func_t,
}
const _: () = {
    assert!(size_of::<ucs_mpool_ops>() == 40);
    assert!(offset_of!(ucs_mpool_ops, obj_str) == 32);
};

/// How a pool is made; `ucs_mpool_params_reset` gives defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_mpool_params {
    /// Bytes that the owner has for itself, see `ucs_mpool_priv`.
    pub priv_size: usize,
    /// Bytes of an object.
    pub elem_size: usize,
    /// The byte of an object that is aligned.
    pub align_offset: usize,
    /// Its alignment, a power of two.
    pub alignment: usize,
    /// Nonzero when a pool is used in handlers of memory events: it never calls malloc then.
    pub malloc_safe: c_int,
    /// Objects of the first chunk.
    pub elems_per_chunk: c_uint,
    /// Bytes that no chunk exceeds.
    pub max_chunk_size: usize,
    /// Most objects; UINT_MAX for no limit.
    pub max_elems: c_uint,
    /// Each chunk has so many times the objects of the one before.
    pub grow_factor: f64,
    /// Functions.
    pub ops: *const ucs_mpool_ops_t,
    /// What it is called in messages.
    pub name: *const c_char,
}
const _: () = {
    assert!(size_of::<ucs_mpool_params>() == 80);
    assert!(offset_of!(ucs_mpool_params, malloc_safe) == 32);
    assert!(offset_of!(ucs_mpool_params, elems_per_chunk) == 36);
    assert!(offset_of!(ucs_mpool_params, max_chunk_size) == 40);
    assert!(offset_of!(ucs_mpool_params, max_elems) == 48);
    assert!(offset_of!(ucs_mpool_params, grow_factor) == 56);
    assert!(offset_of!(ucs_mpool_params, ops) == 64);
    assert!(offset_of!(ucs_mpool_params, name) == 72);
};

pub type ucs_mpool_params_t = ucs_mpool_params;
