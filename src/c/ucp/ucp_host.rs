//! `ucp/api/device/ucp_host.h`: types and constants.

use crate::c::prelude::*;

c_enum! {
    /// Members of `ucp_device_mem_list_elem`.
    pub enum ucp_device_mem_list_elem_field: c_uint {
        /// `memh` is set.
        UCP_DEVICE_MEM_LIST_ELEM_FIELD_MEMH = 1 << 0,
        /// `rkey` is set.
        UCP_DEVICE_MEM_LIST_ELEM_FIELD_RKEY = 1 << 1,
        /// `local_addr` is set.
        UCP_DEVICE_MEM_LIST_ELEM_FIELD_LOCAL_ADDR = 1 << 2,
        /// `remote_addr` is set.
        UCP_DEVICE_MEM_LIST_ELEM_FIELD_REMOTE_ADDR = 1 << 3,
        /// `length` is set.
        UCP_DEVICE_MEM_LIST_ELEM_FIELD_LENGTH = 1 << 4,
        /// `ep` is set.
        UCP_DEVICE_MEM_LIST_ELEM_FIELD_EP = 1 << 5,
    }
}

/// One piece of memory for device code.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_device_mem_list_elem {
    /// Members that are set, bits of `ucp_device_mem_list_elem_field`.
    pub field_mask: u64,
    /// Handle of local memory.
    pub memh: ucp_mem_h,
    /// Its start.
    pub local_addr: *mut c_void,
    /// Bytes.
    pub length: usize,
    /// Start of remote memory.
    pub remote_addr: u64,
    /// Key to it.
    pub rkey: ucp_rkey_h,
    /// Endpoint to its owner.
    pub ep: ucp_ep_h,
}
const _: () = {
    assert!(size_of::<ucp_device_mem_list_elem>() == 56);
    assert!(offset_of!(ucp_device_mem_list_elem, field_mask) == 0);
    assert!(offset_of!(ucp_device_mem_list_elem, memh) == 8);
    assert!(offset_of!(ucp_device_mem_list_elem, local_addr) == 16);
    assert!(offset_of!(ucp_device_mem_list_elem, length) == 24);
    assert!(offset_of!(ucp_device_mem_list_elem, remote_addr) == 32);
    assert!(offset_of!(ucp_device_mem_list_elem, rkey) == 40);
    assert!(offset_of!(ucp_device_mem_list_elem, ep) == 48);
};

pub type ucp_device_mem_list_elem_t = ucp_device_mem_list_elem;

c_enum! {
    /// Members of `ucp_device_mem_list_params`.
    pub enum ucp_device_mem_list_params_field: c_uint {
        /// `elements` is set.
        UCP_DEVICE_MEM_LIST_PARAMS_FIELD_ELEMENTS = 1 << 0,
        /// `element_size` is set.
        UCP_DEVICE_MEM_LIST_PARAMS_FIELD_ELEMENT_SIZE = 1 << 1,
        /// `num_elements` is set.
        UCP_DEVICE_MEM_LIST_PARAMS_FIELD_NUM_ELEMENTS = 1 << 2,
        /// `worker` is set.
        UCP_DEVICE_MEM_LIST_PARAMS_FIELD_WORKER = 1 << 3,
    }
}

/// What a list for device code is made of.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_device_mem_list_params {
    /// Members that are set, bits of `ucp_device_mem_list_params_field`.
    pub field_mask: u64,
    /// Bytes of one element, as the caller was compiled with.
    pub element_size: usize,
    /// Number of elements.
    pub num_elements: usize,
    /// The worker.
    pub worker: ucp_worker_h,
    /// The elements.
    pub elements: *const ucp_device_mem_list_elem_t,
}
const _: () = {
    assert!(size_of::<ucp_device_mem_list_params>() == 40);
    assert!(offset_of!(ucp_device_mem_list_params, field_mask) == 0);
    assert!(offset_of!(ucp_device_mem_list_params, element_size) == 8);
    assert!(offset_of!(ucp_device_mem_list_params, num_elements) == 16);
    assert!(offset_of!(ucp_device_mem_list_params, worker) == 24);
    assert!(offset_of!(ucp_device_mem_list_params, elements) == 32);
};

pub type ucp_device_mem_list_params_t = ucp_device_mem_list_params;

c_enum! {
    /// Members of `ucp_device_counter_params`.
    pub enum ucp_device_counter_params_field: c_uint {
        /// `mem_type` is set.
        UCP_DEVICE_COUNTER_PARAMS_FIELD_MEM_TYPE = 1 << 0,
        /// `memh` is set.
        UCP_DEVICE_COUNTER_PARAMS_FIELD_MEMH = 1 << 1,
    }
}

/// Where a device counter is.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_device_counter_params {
    /// Members that are set, bits of `ucp_device_counter_params_field`.
    pub field_mask: u64,
    /// Kind of its memory.
    pub mem_type: ucs_memory_type_t,
    /// Handle of its memory.
    pub memh: ucp_mem_h,
}
const _: () = {
    assert!(size_of::<ucp_device_counter_params>() == 24);
    assert!(offset_of!(ucp_device_counter_params, field_mask) == 0);
    assert!(offset_of!(ucp_device_counter_params, mem_type) == 8);
    assert!(offset_of!(ucp_device_counter_params, memh) == 16);
};

pub type ucp_device_counter_params_t = ucp_device_counter_params;
