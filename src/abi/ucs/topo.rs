//! `ucs/sys/topo/base/topo.h`, as far as clients use it.

use crate::abi::args::non_null;
use crate::c::prelude::*;
use crate::ucs::topo::{self, Distance};

/// No way at all: what is assumed between devices of which nothing is known.
#[unsafe(no_mangle)]
pub static ucs_topo_default_distance: ucs_sys_dev_distance_t = ucs_sys_dev_distance_t {
    latency: 0.0,
    bandwidth: f64::INFINITY,
};

/// The longest way: nothing ever arrives.
#[unsafe(no_mangle)]
pub static ucs_topo_max_distance: ucs_sys_dev_distance_t = ucs_sys_dev_distance_t {
    latency: f64::INFINITY,
    bandwidth: 0.0,
};

/// How many system devices were met. `ucs/sys/topo/base/topo.h`.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_topo_num_devices() -> c_uint {
    topo::num_devices() as c_uint
}

/// A device's name, or words that say that there is none. `ucs/sys/topo/base/topo.h`.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_topo_sys_device_get_name(sys_dev: ucs_sys_device_t) -> *const c_char {
    match topo::name(sys_dev) {
        Some(name) => name.as_ptr(),
        None if sys_dev == topo::UNKNOWN => c"<unknown>".as_ptr(),
        None => c"<invalid>".as_ptr(),
    }
}

/// How far apart two devices are, in seconds and bytes a second; nothing and infinite when one is
/// unknown. `ucs/sys/topo/base/topo.h`.
///
/// # Safety
/// `distance` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_topo_get_distance(
    device1: ucs_sys_device_t,
    device2: ucs_sys_device_t,
    distance: *mut ucs_sys_dev_distance_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; distance);
    let found = topo::distance(device1, device2).unwrap_or_else(|| {
        crate::ucs_error!(
            "system devices {device1} and {device2}: there are {}",
            topo::num_devices()
        );
        Distance::NONE
    });
    // SAFETY: checked above; the caller vouches for it.
    unsafe { distance.write(in_c(found)) };
    UCS_OK
}

/// How far a device is from memory, averaged over the processors this thread may run on.
/// `ucs/sys/topo/base/topo.h`.
///
/// # Safety
/// `distance` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_topo_get_memory_distance(
    device: ucs_sys_device_t,
    distance: *mut ucs_sys_dev_distance_t,
) {
    non_null!(; distance);
    // SAFETY: checked above; the caller vouches for it.
    unsafe { distance.write(in_c(topo::memory_distance(device))) };
}

fn in_c(distance: Distance) -> ucs_sys_dev_distance_t {
    ucs_sys_dev_distance_t {
        latency: distance.latency,
        bandwidth: distance.bandwidth,
    }
}
