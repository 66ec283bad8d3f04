//! `uct/api/device/uct_device_types.h`: types and constants.

use crate::c::prelude::*;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_cuda_ipc_md_device_mem_element_t {
    pub mapped_offset: isize,
}
const _: () = {
    assert!(size_of::<uct_cuda_ipc_md_device_mem_element_t>() == 8);
    assert!(offset_of!(uct_cuda_ipc_md_device_mem_element_t, mapped_offset) == 0);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_cuda_ipc_completion_t {}
const _: () = {
    assert!(size_of::<uct_cuda_ipc_completion_t>() == 0);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_ib_md_device_mem_element {
    pub lkey: u32,
    pub rkey: u32,
}
const _: () = {
    assert!(size_of::<uct_ib_md_device_mem_element>() == 8);
    assert!(offset_of!(uct_ib_md_device_mem_element, lkey) == 0);
    assert!(offset_of!(uct_ib_md_device_mem_element, rkey) == 4);
};

pub type uct_ib_md_device_mem_element_t = uct_ib_md_device_mem_element;

c_enum! {
    pub enum uct_device_flags_t: c_uint {
        UCT_DEVICE_FLAG_NODELAY = 1 << 0,
    }
}

c_enum! {
    pub enum uct_device_tl_id_t: c_uint {
        UCT_DEVICE_TL_RC_MLX5_GDA = 0,
        UCT_DEVICE_TL_CUDA_IPC = 1,
        UCT_DEVICE_TL_D2P = 2,
        UCT_DEVICE_TL_LAST = 3,
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_device_ep {
    pub uct_tl_id: u8,
}
const _: () = {
    assert!(size_of::<uct_device_ep>() == 1);
    assert!(offset_of!(uct_device_ep, uct_tl_id) == 0);
};

pub type uct_device_ep_t = uct_device_ep;

opaque! { pub struct uct_device_completion }

pub type uct_device_completion_t = uct_device_completion;

#[repr(C)]
#[derive(Clone, Copy)]
pub union uct_device_mem_elem {
    pub ib_md_mem_element: uct_ib_md_device_mem_element_t,
    pub cuda_ipc_md_mem_element: uct_cuda_ipc_md_device_mem_element_t,
}
const _: () = {
    assert!(size_of::<uct_device_mem_elem>() == 8);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_device_local_mem_elem {
    pub addr: *mut c_void,
    pub tl: [uct_device_mem_elem_t; 0],
}
const _: () = {
    assert!(size_of::<uct_device_local_mem_elem>() == 8);
    assert!(offset_of!(uct_device_local_mem_elem, addr) == 0);
    assert!(offset_of!(uct_device_local_mem_elem, tl) == 8);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_device_remote_tl_elem {
    pub ep: uct_device_ep_h,
    pub uct: uct_device_mem_elem_t,
}
const _: () = {
    assert!(size_of::<uct_device_remote_tl_elem>() == 16);
    assert!(offset_of!(uct_device_remote_tl_elem, ep) == 0);
    assert!(offset_of!(uct_device_remote_tl_elem, uct) == 8);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_device_remote_mem_elem {
    pub addr: u64,
    pub tl: [uct_device_remote_tl_elem_t; 0],
}
const _: () = {
    assert!(size_of::<uct_device_remote_mem_elem>() == 8);
    assert!(offset_of!(uct_device_remote_mem_elem, addr) == 0);
    assert!(offset_of!(uct_device_remote_mem_elem, tl) == 8);
};
