//! `ucs/sys/topo/base/topo.h`: types and constants.

use crate::c::prelude::*;

pub const UCS_SYS_DEVICE_ID_MAX: u8 = 255;
pub const UCS_SYS_DEVICE_ID_UNKNOWN: u8 = 255;
pub const UCS_SYS_DEVICE_USER_VALUE_EMPTY: usize = usize::MAX;
pub const UCS_SYS_BDF_NAME_MAX: usize = 16;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_sys_bus_id {
    pub domain: u16,
    pub bus: u8,
    pub slot: u8,
    pub function: u8,
}
const _: () = {
    assert!(size_of::<ucs_sys_bus_id>() == 6);
    assert!(offset_of!(ucs_sys_bus_id, domain) == 0);
    assert!(offset_of!(ucs_sys_bus_id, bus) == 2);
    assert!(offset_of!(ucs_sys_bus_id, slot) == 3);
    assert!(offset_of!(ucs_sys_bus_id, function) == 4);
};

pub type ucs_sys_bus_id_t = ucs_sys_bus_id;

pub type ucs_bus_id_bit_rep_t = i64;

pub type ucs_sys_device_t = u8;

opaque! { pub struct ucs_global_state }

pub type ucs_global_state_t = ucs_global_state;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_sys_dev_distance {
    pub latency: f64,
    pub bandwidth: f64,
}
const _: () = {
    assert!(size_of::<ucs_sys_dev_distance>() == 16);
    assert!(offset_of!(ucs_sys_dev_distance, latency) == 0);
    assert!(offset_of!(ucs_sys_dev_distance, bandwidth) == 8);
};

pub type ucs_sys_dev_distance_t = ucs_sys_dev_distance;

pub type ucs_topo_get_distance_func_t = Option<
    unsafe extern "C" fn(
        device1: ucs_sys_device_t,
        device2: ucs_sys_device_t,
        distance: *mut ucs_sys_dev_distance_t,
    ) -> ucs_status_t,
>;

pub type ucs_topo_get_memory_distance_func_t =
    Option<unsafe extern "C" fn(device: ucs_sys_device_t, distance: *mut ucs_sys_dev_distance_t)>;

pub type ucs_topo_get_memory_distance_for_cpuset_func_t = Option<
    unsafe extern "C" fn(
        device: ucs_sys_device_t,
        cpuset: *const ucs_cpu_set_t,
        distance: *mut ucs_sys_dev_distance_t,
    ),
>;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_sys_topo_ops {
    pub get_distance: ucs_topo_get_distance_func_t,
    pub get_memory_distance: ucs_topo_get_memory_distance_func_t,
    pub get_memory_distance_for_cpuset: ucs_topo_get_memory_distance_for_cpuset_func_t,
}
const _: () = {
    assert!(size_of::<ucs_sys_topo_ops>() == 24);
    assert!(offset_of!(ucs_sys_topo_ops, get_distance) == 0);
    assert!(offset_of!(ucs_sys_topo_ops, get_memory_distance) == 8);
    assert!(offset_of!(ucs_sys_topo_ops, get_memory_distance_for_cpuset) == 16);
};

pub type ucs_sys_topo_ops_t = ucs_sys_topo_ops;
