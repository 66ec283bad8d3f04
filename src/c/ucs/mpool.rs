//! `ucs/datastruct/mpool.h`: types and constants.

use crate::c::prelude::*;

pub type ucs_mpool_chunk_t = ucs_mpool_chunk;

pub type ucs_mpool_elem_t = ucs_mpool_elem;

pub type ucs_mpool_t = ucs_mpool;

pub type ucs_mpool_data_t = ucs_mpool_data;

pub type ucs_mpool_ops_t = ucs_mpool_ops;

#[repr(C)]
#[derive(Clone, Copy)]
pub union ucs_mpool_elem {
    pub next: *mut ucs_mpool_elem_t,
    pub mpool: *mut ucs_mpool_t,
}
const _: () = {
    assert!(size_of::<ucs_mpool_elem>() == 8);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_mpool_chunk {
    pub next: *mut ucs_mpool_chunk_t,
    pub elems: *mut c_void,
    pub num_elems: c_uint,
}
const _: () = {
    assert!(size_of::<ucs_mpool_chunk>() == 24);
    assert!(offset_of!(ucs_mpool_chunk, next) == 0);
    assert!(offset_of!(ucs_mpool_chunk, elems) == 8);
    assert!(offset_of!(ucs_mpool_chunk, num_elems) == 16);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_mpool {
    pub freelist: *mut ucs_mpool_elem_t,
    pub data: *mut ucs_mpool_data_t,
}
const _: () = {
    assert!(size_of::<ucs_mpool>() == 16);
    assert!(offset_of!(ucs_mpool, freelist) == 0);
    assert!(offset_of!(ucs_mpool, data) == 8);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_mpool_data {
    pub elem_size: usize,
    pub alignment: usize,
    pub align_offset: usize,
    pub grow_factor: f64,
    pub max_chunk_size: usize,
    pub elems_per_chunk: c_uint,
    pub quota: c_uint,
    pub malloc_safe: c_int,
    pub tail: *mut ucs_mpool_elem_t,
    pub chunks: *mut ucs_mpool_chunk_t,
    pub ops: *const ucs_mpool_ops_t,
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

pub type ucs_mpool_chunk_alloc_func_t = Option<
    unsafe extern "C" fn(
        mp: *mut ucs_mpool_t,
        size_p: *mut usize,
        chunk_p: *mut *mut c_void,
    ) -> ucs_status_t,
>;

pub type ucs_mpool_chunk_release_func_t =
    Option<unsafe extern "C" fn(mp: *mut ucs_mpool_t, chunk: *mut c_void)>;

pub type ucs_mpool_obj_init_func_t =
    Option<unsafe extern "C" fn(mp: *mut ucs_mpool_t, obj: *mut c_void, chunk: *mut c_void)>;

pub type ucs_mpool_obj_cleanup_func_t =
    Option<unsafe extern "C" fn(mp: *mut ucs_mpool_t, obj: *mut c_void)>;

pub type ucs_mpool_obj_str_func_t = Option<
    unsafe extern "C" fn(mp: *mut ucs_mpool_t, obj: *mut c_void, strb: *mut ucs_string_buffer_t),
>;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_mpool_ops {
    pub chunk_alloc: ucs_mpool_chunk_alloc_func_t,
    pub chunk_release: ucs_mpool_chunk_release_func_t,
    pub obj_init: ucs_mpool_obj_init_func_t,
    pub obj_cleanup: ucs_mpool_obj_cleanup_func_t,
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

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_mpool_params {
    pub priv_size: usize,
    pub elem_size: usize,
    pub align_offset: usize,
    pub alignment: usize,
    pub malloc_safe: c_int,
    pub elems_per_chunk: c_uint,
    pub max_chunk_size: usize,
    pub max_elems: c_uint,
    pub grow_factor: f64,
    pub ops: *const ucs_mpool_ops_t,
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
