//! `ucp/api/ucp.h`: how buffers are laid out: pieces, lists, and functions of the caller.

use crate::c::prelude::*;

c_enum! {
    /// Classes of datatypes, the low bits of a `ucp_datatype_t`.
    pub enum ucp_dt_type: c_uint {
        /// One piece; the other bits are the size of an element.
        UCP_DATATYPE_CONTIG = 0,
        /// Reserved.
        UCP_DATATYPE_STRIDED = 1,
        /// A `ucp_dt_iov_t` array.
        UCP_DATATYPE_IOV = 2,
        /// Lists of addresses: `ucp_dt_local_sgl_t`, and `ucp_dt_remote_sgl_t` for the other side.
        UCP_DATATYPE_SGL = 4,
        /// Packed and unpacked by the caller's functions.
        UCP_DATATYPE_GENERIC = 7,
        /// Bits of the class.
        UCP_DATATYPE_SHIFT = 3,
        /// Mask of the class.
        UCP_DATATYPE_CLASS_MASK = 7,
    }
}

c_enum! {
    /// Members of `ucp_datatype_attr`.
    pub enum ucp_datatype_attr_field: c_uint {
        /// `packed_size` is wanted.
        UCP_DATATYPE_ATTR_FIELD_PACKED_SIZE = 1 << 0,
        /// `buffer` is wanted.
        UCP_DATATYPE_ATTR_FIELD_BUFFER = 1 << 1,
        /// `count` is wanted.
        UCP_DATATYPE_ATTR_FIELD_COUNT = 1 << 2,
    }
}

/// One piece of a scattered buffer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_dt_iov {
    /// Start.
    pub buffer: *mut c_void,
    /// Bytes.
    pub length: usize,
}
const _: () = {
    assert!(size_of::<ucp_dt_iov>() == 16);
    assert!(offset_of!(ucp_dt_iov, buffer) == 0);
    assert!(offset_of!(ucp_dt_iov, length) == 8);
};

pub type ucp_dt_iov_t = ucp_dt_iov;

c_enum! {
    /// Members of `ucp_dt_local_sgl_t`.
    pub enum ucp_dt_local_sgl_field: c_uint {
        /// `buffers` is set.
        UCP_DT_LOCAL_SGL_FIELD_BUFFERS = 1 << 0,
        /// `lengths` is set.
        UCP_DT_LOCAL_SGL_FIELD_LENGTHS = 1 << 1,
        /// `memhs` is set.
        UCP_DT_LOCAL_SGL_FIELD_MEMHS = 1 << 2,
        /// `counts` is set.
        UCP_DT_LOCAL_SGL_FIELD_COUNTS = 1 << 3,
        /// `strides` is set.
        UCP_DT_LOCAL_SGL_FIELD_STRIDES = 1 << 4,
    }
}

c_enum! {
    /// Members of `ucp_dt_remote_sgl_t`.
    pub enum ucp_dt_remote_sgl_field: c_uint {
        /// `remote_addrs` is set.
        UCP_DT_REMOTE_SGL_FIELD_REMOTE_ADDRS = 1 << 0,
        /// `lengths` is set.
        UCP_DT_REMOTE_SGL_FIELD_LENGTHS = 1 << 1,
        /// `rkeys` is set.
        UCP_DT_REMOTE_SGL_FIELD_RKEYS = 1 << 2,
    }
}

/// A local scatter-gather list: arrays of one length, the count of the operation.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_dt_local_sgl_t {
    /// Members that are set, bits of `ucp_dt_local_sgl_field`.
    pub field_mask: u64,
    /// Starts of the pieces.
    pub buffers: *const *mut c_void,
    /// Their bytes.
    pub lengths: *const usize,
    /// Their memory handles.
    pub memhs: *const ucp_mem_h,
    /// How often each is repeated.
    pub counts: *const usize,
    /// Bytes from one repetition to the next.
    pub strides: *const usize,
}
const _: () = {
    assert!(size_of::<ucp_dt_local_sgl_t>() == 48);
    assert!(offset_of!(ucp_dt_local_sgl_t, field_mask) == 0);
    assert!(offset_of!(ucp_dt_local_sgl_t, buffers) == 8);
    assert!(offset_of!(ucp_dt_local_sgl_t, lengths) == 16);
    assert!(offset_of!(ucp_dt_local_sgl_t, memhs) == 24);
    assert!(offset_of!(ucp_dt_local_sgl_t, counts) == 32);
    assert!(offset_of!(ucp_dt_local_sgl_t, strides) == 40);
};

/// The other side of a scatter-gather list.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_dt_remote_sgl_t {
    /// Members that are set, bits of `ucp_dt_remote_sgl_field`.
    pub field_mask: u64,
    /// Addresses in the peer's memory.
    pub remote_addrs: *const u64,
    /// Bytes at each.
    pub lengths: *const usize,
    /// Keys to each.
    pub rkeys: *const ucp_rkey_h,
}
const _: () = {
    assert!(size_of::<ucp_dt_remote_sgl_t>() == 32);
    assert!(offset_of!(ucp_dt_remote_sgl_t, field_mask) == 0);
    assert!(offset_of!(ucp_dt_remote_sgl_t, remote_addrs) == 8);
    assert!(offset_of!(ucp_dt_remote_sgl_t, lengths) == 16);
    assert!(offset_of!(ucp_dt_remote_sgl_t, rkeys) == 24);
};

/// A datatype that the caller packs. Each function gets the context of `ucp_dt_create_generic`
/// first, or the state that a start function returned.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_generic_dt_ops {
    /// Begins to pack `count` items of a buffer; returns a state.
    pub start_pack: Option<unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> *mut c_void>,
    /// Begins to unpack into a buffer; returns a state.
    pub start_unpack: Option<unsafe extern "C" fn(*mut c_void, *mut c_void, usize) -> *mut c_void>,
    /// Bytes of the packed form.
    pub packed_size: Option<unsafe extern "C" fn(*mut c_void) -> usize>,
    /// Packs from an offset into at most so many bytes; returns the bytes.
    pub pack: Option<unsafe extern "C" fn(*mut c_void, usize, *mut c_void, usize) -> usize>,
    /// Unpacks bytes at an offset.
    pub unpack:
        Option<unsafe extern "C" fn(*mut c_void, usize, *const c_void, usize) -> ucs_status_t>,
    /// Ends a state.
    pub finish: Option<unsafe extern "C" fn(*mut c_void)>,
}
const _: () = {
    assert!(size_of::<ucp_generic_dt_ops>() == 48);
    assert!(offset_of!(ucp_generic_dt_ops, start_pack) == 0);
    assert!(offset_of!(ucp_generic_dt_ops, start_unpack) == 8);
    assert!(offset_of!(ucp_generic_dt_ops, packed_size) == 16);
    assert!(offset_of!(ucp_generic_dt_ops, pack) == 24);
    assert!(offset_of!(ucp_generic_dt_ops, unpack) == 32);
    assert!(offset_of!(ucp_generic_dt_ops, finish) == 40);
};

pub type ucp_generic_dt_ops_t = ucp_generic_dt_ops;

/// What `ucp_dt_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_datatype_attr {
    /// Members that are set or wanted, bits of `ucp_datatype_attr_field`.
    pub field_mask: u64,
    /// Out: bytes of the packed form.
    pub packed_size: usize,
    /// In: the buffer, where the size depends on it.
    pub buffer: *const c_void,
    /// In: number of elements; 1 when not set.
    pub count: usize,
}
const _: () = {
    assert!(size_of::<ucp_datatype_attr>() == 32);
    assert!(offset_of!(ucp_datatype_attr, field_mask) == 0);
    assert!(offset_of!(ucp_datatype_attr, packed_size) == 8);
    assert!(offset_of!(ucp_datatype_attr, buffer) == 16);
    assert!(offset_of!(ucp_datatype_attr, count) == 24);
};

pub type ucp_datatype_attr_t = ucp_datatype_attr;
