//! `uct/api/device/uct_device_types.h`: types and constants.

use crate::c::prelude::*;

/// CUDA memory for device code.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_cuda_ipc_md_device_mem_element_t {
    /// From the owner's addresses to the mapped ones.
    pub mapped_offset: isize,
}
const _: () = {
    assert!(size_of::<uct_cuda_ipc_md_device_mem_element_t>() == 8);
    assert!(offset_of!(uct_cuda_ipc_md_device_mem_element_t, mapped_offset) == 0);
};

/// A completion of CUDA transports: nothing.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_cuda_ipc_completion_t {}
const _: () = {
    assert!(size_of::<uct_cuda_ipc_completion_t>() == 0);
};

/// InfiniBand memory for device code.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_ib_md_device_mem_element {
    /// Local key.
    pub lkey: u32,
    /// Remote key.
    pub rkey: u32,
}
const _: () = {
    assert!(size_of::<uct_ib_md_device_mem_element>() == 8);
    assert!(offset_of!(uct_ib_md_device_mem_element, lkey) == 0);
    assert!(offset_of!(uct_ib_md_device_mem_element, rkey) == 4);
};

pub type uct_ib_md_device_mem_element_t = uct_ib_md_device_mem_element;

c_enum! {
    /// Flags of operations of device code.
    pub enum uct_device_flags_t: c_uint {
        /// Send at once.
        UCT_DEVICE_FLAG_NODELAY = 1 << 0,
    }
}

c_enum! {
    /// Transports that device code knows.
    pub enum uct_device_tl_id_t: c_uint {
        /// InfiniBand, driven by the device.
        UCT_DEVICE_TL_RC_MLX5_GDA = 0,
        /// Memory of another device.
        UCT_DEVICE_TL_CUDA_IPC = 1,
        /// From device to host process.
        UCT_DEVICE_TL_D2P = 2,
        /// Number of transports.
        UCT_DEVICE_TL_LAST = 3,
    }
}

/// An endpoint for device code.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_device_ep {
    /// Which transport, a `uct_device_tl_id_t`.
    pub uct_tl_id: u8,
}
const _: () = {
    assert!(size_of::<uct_device_ep>() == 1);
    assert!(offset_of!(uct_device_ep, uct_tl_id) == 0);
};

pub type uct_device_ep_t = uct_device_ep;

/// Memory of one transport for device code.
#[repr(C)]
#[derive(Clone, Copy)]
pub union uct_device_mem_elem {
    /// InfiniBand.
    pub ib_md_mem_element: uct_ib_md_device_mem_element_t,
    /// CUDA.
    pub cuda_ipc_md_mem_element: uct_cuda_ipc_md_device_mem_element_t,
}
const _: () = {
    assert!(size_of::<uct_device_mem_elem>() == 8);
};

/// A piece of local memory for device code.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_device_local_mem_elem {
    /// Start.
    pub addr: *mut c_void,
    /// Its forms, one a transport.
    pub tl: [uct_device_mem_elem_t; 0],
}
const _: () = {
    assert!(size_of::<uct_device_local_mem_elem>() == 8);
    assert!(offset_of!(uct_device_local_mem_elem, addr) == 0);
    assert!(offset_of!(uct_device_local_mem_elem, tl) == 8);
};

/// Remote memory by one transport.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_device_remote_tl_elem {
    /// Endpoint to its owner.
    pub ep: uct_device_ep_h,
    /// Form of the memory.
    pub uct: uct_device_mem_elem_t,
}
const _: () = {
    assert!(size_of::<uct_device_remote_tl_elem>() == 16);
    assert!(offset_of!(uct_device_remote_tl_elem, ep) == 0);
    assert!(offset_of!(uct_device_remote_tl_elem, uct) == 8);
};

/// A piece of remote memory for device code.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_device_remote_mem_elem {
    /// Start.
    pub addr: u64,
    /// Ways to it, one a transport.
    pub tl: [uct_device_remote_tl_elem_t; 0],
}
const _: () = {
    assert!(size_of::<uct_device_remote_mem_elem>() == 8);
    assert!(offset_of!(uct_device_remote_mem_elem, addr) == 0);
    assert!(offset_of!(uct_device_remote_mem_elem, tl) == 8);
};
