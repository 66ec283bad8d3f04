//! `ucs/datastruct/mpool.h`: types and constants.

use crate::c::prelude::*;

pub type ucs_mpool_chunk_t = ucs_mpool_chunk;

pub type ucs_mpool_elem_t = ucs_mpool_elem;

pub type ucs_mpool_t = ucs_mpool;

pub type ucs_mpool_data_t = ucs_mpool_data;

pub type ucs_mpool_ops_t = ucs_mpool_ops;

/// A free object of a pool.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ucs_mpool_elem {
    /// The next free one.
    pub next: *mut ucs_mpool_elem_t,
    /// The pool, while it is in use.
    pub mpool: *mut ucs_mpool_t,
}
const _: () = {
    assert!(size_of::<ucs_mpool_elem>() == 8);
};

/// Objects that were allocated together.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_mpool_chunk {
    /// The next chunk.
    pub next: *mut ucs_mpool_chunk_t,
    /// The first object.
    pub elems: *mut c_void,
    /// Number of objects.
    pub num_elems: c_uint,
}
const _: () = {
    assert!(size_of::<ucs_mpool_chunk>() == 24);
    assert!(offset_of!(ucs_mpool_chunk, next) == 0);
    assert!(offset_of!(ucs_mpool_chunk, elems) == 8);
    assert!(offset_of!(ucs_mpool_chunk, num_elems) == 16);
};

/// A pool of objects of one size.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_mpool {
    /// Free objects.
    pub freelist: *mut ucs_mpool_elem_t,
    /// The rest.
    pub data: *mut ucs_mpool_data_t,
}
const _: () = {
    assert!(size_of::<ucs_mpool>() == 16);
    assert!(offset_of!(ucs_mpool, freelist) == 0);
    assert!(offset_of!(ucs_mpool, data) == 8);
};

/// What a pool seldom needs.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_mpool_data {
    /// Bytes of an object, with its header.
    pub elem_size: usize,
    /// Alignment of objects, bytes.
    pub alignment: usize,
    /// Where in an object that counts from, bytes.
    pub align_offset: usize,
    /// How much larger each chunk is than the one before.
    pub grow_factor: f64,
    /// Largest chunk, bytes.
    pub max_chunk_size: usize,
    /// Objects of a chunk.
    pub elems_per_chunk: c_uint,
    /// Objects that may still be allocated.
    pub quota: c_uint,
    /// Nonzero: never use malloc().
    pub malloc_safe: c_int,
    /// Last free object.
    pub tail: *mut ucs_mpool_elem_t,
    /// All chunks.
    pub chunks: *mut ucs_mpool_chunk_t,
    /// Functions of the pool.
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

/// Allocates a chunk of at least `*size_p` bytes, and tells how large it is.
pub type ucs_mpool_chunk_alloc_func_t = Option<
    unsafe extern "C" fn(
        mp: *mut ucs_mpool_t,
        size_p: *mut usize,
        chunk_p: *mut *mut c_void,
    ) -> ucs_status_t,
>;

/// Frees a chunk.
pub type ucs_mpool_chunk_release_func_t =
    Option<unsafe extern "C" fn(mp: *mut ucs_mpool_t, chunk: *mut c_void)>;

/// Prepares a new object.
pub type ucs_mpool_obj_init_func_t =
    Option<unsafe extern "C" fn(mp: *mut ucs_mpool_t, obj: *mut c_void, chunk: *mut c_void)>;

/// Undoes that.
pub type ucs_mpool_obj_cleanup_func_t =
    Option<unsafe extern "C" fn(mp: *mut ucs_mpool_t, obj: *mut c_void)>;

/// Describes an object.
pub type ucs_mpool_obj_str_func_t = Option<
    unsafe extern "C" fn(mp: *mut ucs_mpool_t, obj: *mut c_void, strb: *mut ucs_string_buffer_t),
>;

/// Functions of a pool.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_mpool_ops {
    /// Allocates a chunk.
    pub chunk_alloc: ucs_mpool_chunk_alloc_func_t,
    /// Frees a chunk.
    pub chunk_release: ucs_mpool_chunk_release_func_t,
    /// Prepares a new object; may be NULL.
    pub obj_init: ucs_mpool_obj_init_func_t,
    /// Undoes that; may be NULL.
    pub obj_cleanup: ucs_mpool_obj_cleanup_func_t,
    /// Describes an object; may be NULL.
    pub obj_str: ucs_mpool_obj_str_func_t,
}
const _: () = {
    assert!(size_of::<ucs_mpool_ops>() == 40);
    assert!(offset_of!(ucs_mpool_ops, chunk_alloc) == 0);
    assert!(offset_of!(ucs_mpool_ops, chunk_release) == 8);
    assert!(offset_of!(ucs_mpool_ops, obj_init) == 16);
    assert!(offset_of!(ucs_mpool_ops, obj_cleanup) == 24);
    assert!(offset_of!(ucs_mpool_ops, obj_str) == 32);
};

/// How a pool is made.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_mpool_params {
    /// Bytes of the caller behind the pool.
    pub priv_size: usize,
    /// Bytes of an object.
    pub elem_size: usize,
    /// Where in an object that counts from, bytes.
    pub align_offset: usize,
    /// Alignment of objects, bytes.
    pub alignment: usize,
    /// Nonzero: never use malloc().
    pub malloc_safe: c_int,
    /// Objects of a chunk.
    pub elems_per_chunk: c_uint,
    /// Largest chunk, bytes.
    pub max_chunk_size: usize,
    /// Most objects.
    pub max_elems: c_uint,
    /// How much larger each chunk is than the one before.
    pub grow_factor: f64,
    /// Functions of the pool.
    pub ops: *const ucs_mpool_ops_t,
    /// Name for messages.
    pub name: *const c_char,
}
const _: () = {
    assert!(size_of::<ucs_mpool_params>() == 80);
    assert!(offset_of!(ucs_mpool_params, priv_size) == 0);
    assert!(offset_of!(ucs_mpool_params, elem_size) == 8);
    assert!(offset_of!(ucs_mpool_params, align_offset) == 16);
    assert!(offset_of!(ucs_mpool_params, alignment) == 24);
    assert!(offset_of!(ucs_mpool_params, malloc_safe) == 32);
    assert!(offset_of!(ucs_mpool_params, elems_per_chunk) == 36);
    assert!(offset_of!(ucs_mpool_params, max_chunk_size) == 40);
    assert!(offset_of!(ucs_mpool_params, max_elems) == 48);
    assert!(offset_of!(ucs_mpool_params, grow_factor) == 56);
    assert!(offset_of!(ucs_mpool_params, ops) == 64);
    assert!(offset_of!(ucs_mpool_params, name) == 72);
};

pub type ucs_mpool_params_t = ucs_mpool_params;
