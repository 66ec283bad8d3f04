//! `uct/api/uct.h`: components, memory domains, transports and devices, as they are listed.

use crate::c::prelude::*;

/// A memory domain of a component.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_md_resource_desc {
    /// Its name, for `uct_md_open`.
    pub md_name: [c_char; UCT_MD_NAME_MAX],
}
const _: () = {
    assert!(size_of::<uct_md_resource_desc>() == 16);
    assert!(offset_of!(uct_md_resource_desc, md_name) == 0);
};

pub type uct_md_resource_desc_t = uct_md_resource_desc;

c_enum! {
    /// Members of `uct_component_attr`.
    pub enum uct_component_attr_field: c_uint {
        /// `name` is wanted.
        UCT_COMPONENT_ATTR_FIELD_NAME = 1 << 0,
        /// `md_resource_count` is wanted.
        UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT = 1 << 1,
        /// `md_resources` is wanted.
        UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES = 1 << 2,
        /// `flags` is wanted.
        UCT_COMPONENT_ATTR_FIELD_FLAGS = 1 << 3,
    }
}

/// What `uct_component_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_component_attr {
    /// In: members to fill, bits of `uct_component_attr_field`.
    pub field_mask: u64,
    /// Name of the component, NUL-terminated.
    pub name: [c_char; UCT_COMPONENT_NAME_MAX],
    /// Number of its memory domains.
    pub md_resource_count: c_uint,
    /// In: array of the caller for as many; out: the domains.
    pub md_resources: *mut uct_md_resource_desc_t,
    /// `UCT_COMPONENT_FLAG_*`.
    pub flags: u64,
}
const _: () = {
    assert!(size_of::<uct_component_attr>() == 48);
    assert!(offset_of!(uct_component_attr, field_mask) == 0);
    assert!(offset_of!(uct_component_attr, name) == 8);
    assert!(offset_of!(uct_component_attr, md_resource_count) == 24);
    assert!(offset_of!(uct_component_attr, md_resources) == 32);
    assert!(offset_of!(uct_component_attr, flags) == 40);
};

pub type uct_component_attr_t = uct_component_attr;

c_enum! {
    /// What a device connects.
    pub enum uct_device_type_t: c_uint {
        /// Machines.
        UCT_DEVICE_TYPE_NET = 0,
        /// Processes of one machine.
        UCT_DEVICE_TYPE_SHM = 1,
        /// Accelerators.
        UCT_DEVICE_TYPE_ACC = 2,
        /// A process with itself.
        UCT_DEVICE_TYPE_SELF = 3,
        /// Number of kinds.
        UCT_DEVICE_TYPE_LAST = 4,
    }
}

/// A transport on a device.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_tl_resource_desc {
    /// Name of the transport.
    pub tl_name: [c_char; UCT_TL_NAME_MAX],
    /// Name of the device.
    pub dev_name: [c_char; UCT_DEVICE_NAME_MAX],
    /// What it connects.
    pub dev_type: uct_device_type_t,
    /// Its place in the machine.
    pub sys_device: ucs_sys_device_t,
}
const _: () = {
    assert!(size_of::<uct_tl_resource_desc>() == 52);
    assert!(offset_of!(uct_tl_resource_desc, tl_name) == 0);
    assert!(offset_of!(uct_tl_resource_desc, dev_name) == 10);
    assert!(offset_of!(uct_tl_resource_desc, dev_type) == 44);
    assert!(offset_of!(uct_tl_resource_desc, sys_device) == 48);
};

pub type uct_tl_resource_desc_t = uct_tl_resource_desc;

c_enum! {
    /// Flags of a component.
    pub enum uct_component_flag_bits: c_uint {
        /// Has a connection manager.
        UCT_COMPONENT_FLAG_CM = 1 << 0,
        /// Remote memory can be reached by a pointer: `uct_rkey_ptr`.
        UCT_COMPONENT_FLAG_RKEY_PTR = 1 << 1,
    }
}
