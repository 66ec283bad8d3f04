//! `ucs/sys/topo/base/topo.h`: types and constants.

use crate::c::prelude::*;

/// System devices that can be known at a time.
pub const UCS_SYS_DEVICE_ID_MAX: u8 = 255;
/// No device, or one that is not known.
pub const UCS_SYS_DEVICE_ID_UNKNOWN: u8 = 255;
/// A device without a user value.
pub const UCS_SYS_DEVICE_USER_VALUE_EMPTY: usize = usize::MAX;
/// Bytes of the name of a bus address, with its NUL.
pub const UCS_SYS_BDF_NAME_MAX: usize = 16;

/// Place of a device on the PCI bus.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_sys_bus_id {
    /// Domain.
    pub domain: u16,
    /// Bus.
    pub bus: u8,
    /// Device on the bus.
    pub slot: u8,
    /// Function of the device.
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

/// A place on the PCI bus as one number.
pub type ucs_bus_id_bit_rep_t = i64;

/// Number of a device of this machine, in the order of discovery.
pub type ucs_sys_device_t = u8;

opaque! {
    /// State of the library.
    pub struct ucs_global_state
}

pub type ucs_global_state_t = ucs_global_state;

/// Way from one device to another.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_sys_dev_distance {
    /// Seconds.
    pub latency: f64,
    /// Bytes a second.
    pub bandwidth: f64,
}
const _: () = {
    assert!(size_of::<ucs_sys_dev_distance>() == 16);
    assert!(offset_of!(ucs_sys_dev_distance, latency) == 0);
    assert!(offset_of!(ucs_sys_dev_distance, bandwidth) == 8);
};

pub type ucs_sys_dev_distance_t = ucs_sys_dev_distance;

/// Tells the distance of two devices.
///
/// - `device1` (in): Number of a device.
/// - `device2` (in): Number of another one.
/// - `distance` (out): Seconds, and bytes a second.
/// - returns: UCS_OK, or UCS_ERR_INVALID_PARAM.
pub type ucs_topo_get_distance_func_t = Option<
    unsafe extern "C" fn(
        device1: ucs_sys_device_t,
        device2: ucs_sys_device_t,
        distance: *mut ucs_sys_dev_distance_t,
    ) -> ucs_status_t,
>;

/// Tells the distance of a device from the host's memory.
///
/// - `device` (in): Number of a device.
/// - `distance` (out): Seconds, and bytes a second.
pub type ucs_topo_get_memory_distance_func_t =
    Option<unsafe extern "C" fn(device: ucs_sys_device_t, distance: *mut ucs_sys_dev_distance_t)>;

/// Tells the distance of a device from memory near processors.
///
/// - `device` (in): Number of a device.
/// - `cpuset` (in): The processors.
/// - `distance` (out): Seconds, and bytes a second.
pub type ucs_topo_get_memory_distance_for_cpuset_func_t = Option<
    unsafe extern "C" fn(
        device: ucs_sys_device_t,
        cpuset: *const ucs_cpu_set_t,
        distance: *mut ucs_sys_dev_distance_t,
    ),
>;

/// Source of distances.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_sys_topo_ops {
    /// Of two devices.
    pub get_distance: ucs_topo_get_distance_func_t,
    /// Of a device and memory.
    pub get_memory_distance: ucs_topo_get_memory_distance_func_t,
    /// Of a device and memory near processors.
    pub get_memory_distance_for_cpuset: ucs_topo_get_memory_distance_for_cpuset_func_t,
}
const _: () = {
    assert!(size_of::<ucs_sys_topo_ops>() == 24);
    assert!(offset_of!(ucs_sys_topo_ops, get_distance) == 0);
    assert!(offset_of!(ucs_sys_topo_ops, get_memory_distance) == 8);
    assert!(offset_of!(ucs_sys_topo_ops, get_memory_distance_for_cpuset) == 16);
};

pub type ucs_sys_topo_ops_t = ucs_sys_topo_ops;
