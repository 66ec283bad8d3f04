//! `ucs/sys/topo/base/topo.h`.

use super::{put_text, text_of};
use crate::abi::args::non_null;
use crate::c::prelude::*;
use crate::ucs::topo::{self, BusId, Device, Distance};
use crate::ucs::{Status, status::code_of};
use std::path::Path;
use std::sync::Arc;

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
///
/// - returns: Their number.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_topo_num_devices() -> c_uint {
    topo::num_devices() as c_uint
}

/// A device's name, or words that say that there is none. `ucs/sys/topo/base/topo.h`.
///
/// - `sys_dev` (in): Number of a device.
/// - returns: Text that is not freed.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_topo_sys_device_get_name(sys_dev: ucs_sys_device_t) -> *const c_char {
    match topo::look(sys_dev, Device::name) {
        Some(name) => name.as_ptr(),
        None if sys_dev == topo::UNKNOWN => c"<unknown>".as_ptr(),
        None => c"<invalid>".as_ptr(),
    }
}

/// How far apart two devices are, in seconds and bytes a second; nothing and infinite when one is
/// unknown. `ucs/sys/topo/base/topo.h`.
///
/// - `device1` (in): Number of a device.
/// - `device2` (in): Number of another one.
/// - `distance` (out): Seconds, and bytes a second.
/// - returns: UCS_OK, or UCS_ERR_INVALID_PARAM.
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
/// - `device` (in): Number of a device.
/// - `distance` (out): Seconds, and bytes a second.
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

impl From<ucs_sys_bus_id_t> for BusId {
    fn from(id: ucs_sys_bus_id_t) -> BusId {
        BusId {
            domain: id.domain,
            bus: id.bus,
            slot: id.slot,
            function: id.function,
        }
    }
}

/// Writes the number of a device, new if it was not met before.
///
/// # Safety
/// `out` is writable.
unsafe fn find(
    bus_id: BusId,
    user_value: Option<usize>,
    out: *mut ucs_sys_device_t,
) -> ucs_status_t {
    let found = topo::find(bus_id, user_value).ok_or(Status::NO_RESOURCE);
    code_of(&found.map(|device| {
        // SAFETY: the caller's promise.
        unsafe { out.write(device) };
    }))
}

/// The device of a PCI function, new if it was not met before. `ucs/sys/topo/base/topo.h`.
///
/// - `bus_id` (in): The PCI function.
/// - `sys_dev` (out): Number of the device.
/// - returns: UCS_OK, or an error.
///
/// # Safety
/// `bus_id` is null or readable, `sys_dev` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_topo_find_device_by_bus_id(
    bus_id: *const ucs_sys_bus_id_t,
    sys_dev: *mut ucs_sys_device_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; bus_id, sys_dev);
    // SAFETY: checked above; the caller vouches for both.
    unsafe { find((*bus_id).into(), None, sys_dev) }
}

/// The same where several devices have one function, told apart by a value. `ucs/sys/topo/base/topo.h`.
///
/// - `bus_id` (in): The PCI function.
/// - `user_value` (in): The value.
/// - `sys_dev_p` (out): Number of the device.
/// - returns: UCS_OK, or an error.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_topo_find_device_by_bus_id_and_user_value(
    bus_id: *const ucs_sys_bus_id_t,
    user_value: usize,
    sys_dev_p: *mut ucs_sys_device_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; bus_id, sys_dev_p);
    if user_value == UCS_SYS_DEVICE_USER_VALUE_EMPTY {
        crate::ucs_error!("a device cannot have the value that stands for none");
        return UCS_ERR_INVALID_PARAM;
    }
    // SAFETY: checked above; the caller vouches for both.
    unsafe { find((*bus_id).into(), Some(user_value), sys_dev_p) }
}

/// The device of a PCI function named as 0000:01:02.3, or without a domain. UCS_ERR_INVALID_PARAM for other names.
/// `ucs/sys/topo/base/topo.h`.
///
/// - `name` (in): Name, NUL-terminated.
/// - `sys_dev` (out): Number of the device.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM for another name.
///
/// # Safety
/// `name` is null or a C string, `sys_dev` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_topo_find_device_by_bdf_name(
    name: *const c_char,
    sys_dev: *mut ucs_sys_device_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; name, sys_dev);
    // SAFETY: the caller's string.
    let name = unsafe { text_of(name) };
    match bus_id_of(&name) {
        // SAFETY: checked above; the caller vouches for it.
        Some(bus_id) => unsafe { find(bus_id, None, sys_dev) },
        None => UCS_ERR_INVALID_PARAM,
    }
}

fn bus_id_of(name: &str) -> Option<BusId> {
    let full = name.parse().ok();
    full.or_else(|| format!("0000:{name}").parse().ok())
}

/// The PCI function of a device. UCS_ERR_NO_ELEM. `ucs/sys/topo/base/topo.h`.
///
/// - `sys_dev` (in): Number of a device.
/// - `bus_id` (out): The PCI function.
/// - returns: UCS_OK; UCS_ERR_NO_ELEM when it has none.
///
/// # Safety
/// `bus_id` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_topo_get_device_bus_id(
    sys_dev: ucs_sys_device_t,
    bus_id: *mut ucs_sys_bus_id_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; bus_id);
    let Some(id) = topo::look(sys_dev, Device::bus_id) else {
        return UCS_ERR_NO_ELEM;
    };
    let id = ucs_sys_bus_id_t {
        domain: id.domain,
        bus: id.bus,
        slot: id.slot,
        function: id.function,
    };
    // SAFETY: checked above; the caller vouches for it.
    unsafe { bus_id.write(id) };
    UCS_OK
}

/// A PCI function as one number. `ucs/sys/topo/base/topo.h`.
///
/// - `bus_id` (in): The PCI function.
/// - returns: The number.
///
/// # Safety
/// `bus_id` is null or readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_topo_get_bus_id_bit_repr(
    bus_id: *const ucs_sys_bus_id_t,
) -> ucs_bus_id_bit_rep_t {
    non_null!(0; bus_id);
    // SAFETY: checked above; the caller vouches for it.
    let id = unsafe { bus_id.read() };
    let parts = [id.bus, id.slot, id.function];
    parts
        .iter()
        .fold(ucs_bus_id_bit_rep_t::from(id.domain), |number, part| {
            number << 8 | ucs_bus_id_bit_rep_t::from(*part)
        })
}

/// A device's PCI function as text, or words that say that there is none; answers `buffer`. `ucs/sys/topo/base/topo.h`.
///
/// - `sys_dev` (in): Number of a device.
/// - `buffer` (out): Gets the text with its NUL.
/// - `max` (in): Bytes of `buffer`.
/// - returns: Text.
///
/// # Safety
/// `buffer` is null or writable for `max` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_topo_sys_device_bdf_name(
    sys_dev: ucs_sys_device_t,
    buffer: *mut c_char,
    max: usize,
) -> *const c_char {
    let text = match topo::look(sys_dev, Device::bus_id) {
        Some(id) => id.to_string(),
        None if sys_dev == topo::UNKNOWN => "<unknown>".to_owned(),
        None => "<invalid>".to_owned(),
    };
    // SAFETY: the caller's room.
    unsafe { put_text(buffer, max, &text) };
    buffer
}

/// Names a device, unless it has a name of the same or a higher priority. UCS_ERR_INVALID_PARAM.
/// `ucs/sys/topo/base/topo.h`.
///
/// - `sys_dev` (in): Number of a device.
/// - `name` (in): Name, NUL-terminated; copied.
/// - `priority` (in): Its priority.
/// - returns: UCS_OK, or UCS_ERR_INVALID_PARAM.
///
/// # Safety
/// `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_topo_sys_device_set_name(
    sys_dev: ucs_sys_device_t,
    name: *const c_char,
    priority: c_uint,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; name);
    // SAFETY: the caller's string.
    let name = unsafe { text_of(name) };
    code_of(&topo::change(sys_dev, |device| {
        device.set_name(&name, priority)
    }))
}

/// The value that a device was found by; UCS_SYS_DEVICE_USER_VALUE_EMPTY without any. `ucs/sys/topo/base/topo.h`.
///
/// - `sys_dev` (in): Number of a device.
/// - returns: The value.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_topo_sys_device_get_user_value(sys_dev: ucs_sys_device_t) -> usize {
    let value = topo::look(sys_dev, Device::user_value).flatten();
    value.unwrap_or(UCS_SYS_DEVICE_USER_VALUE_EMPTY)
}

/// The memory node of a device; UCS_NUMA_NODE_UNDEFINED without any. `ucs/sys/topo/base/topo.h`.
///
/// - `sys_dev` (in): Number of a device.
/// - returns: The node.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_topo_sys_device_get_numa_node(sys_dev: ucs_sys_device_t) -> ucs_numa_node_t {
    let node = topo::look(sys_dev, Device::numa_node).flatten();
    node.and_then(|node| node.try_into().ok())
        .unwrap_or(UCS_NUMA_NODE_UNDEFINED as ucs_numa_node_t)
}

/// Says which memory node a device has. UCS_ERR_INVALID_PARAM. `ucs/sys/topo/base/topo.h`.
///
/// - `sys_dev` (in): Number of a device.
/// - `numa_node` (in): The node.
/// - returns: UCS_OK, or UCS_ERR_INVALID_PARAM.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_topo_sys_device_set_numa_node(
    sys_dev: ucs_sys_device_t,
    numa_node: ucs_numa_node_t,
) -> ucs_status_t {
    let node = numa_node.try_into().ok();
    code_of(&topo::change(sys_dev, |device| device.set_numa_node(node)))
}

/// Names a further way to a device: accepted, as no transport here has two. `ucs/sys/topo/base/topo.h`.
///
/// - `sys_dev` (in): Number of a device.
/// - `sys_dev_aux` (in): Number of another one.
/// - returns: UCS_OK, or UCS_ERR_INVALID_PARAM.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_topo_sys_device_set_sys_dev_aux(
    sys_dev: ucs_sys_device_t,
    _sys_dev_aux: ucs_sys_device_t,
) -> ucs_status_t {
    code_of(&topo::change(sys_dev, |_| ()))
}

/// Allows the further way: accepted, as no transport here has two. `ucs/sys/topo/base/topo.h`.
///
/// - `sys_dev` (in): Number of a device.
/// - returns: UCS_OK, or UCS_ERR_INVALID_PARAM.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_topo_sys_device_enable_aux_path(sys_dev: ucs_sys_device_t) -> ucs_status_t {
    code_of(&topo::change(sys_dev, |_| ()))
}

/// Whether a device reaches memory of another: all do that are known here. `ucs/sys/topo/base/topo.h`.
///
/// - `sys_dev` (in): Number of a device.
/// - `sys_dev_mem` (in): Number of another one.
/// - returns: 1 or 0.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_topo_is_reachable(
    _sys_dev: ucs_sys_device_t,
    _sys_dev_mem: ucs_sys_device_t,
) -> c_int {
    1
}

/// Whether two devices are one with two functions: none that is known here. `ucs/sys/topo/base/topo.h`.
///
/// - `sys_dev` (in): Number of a device.
/// - `sys_dev_mem` (in): Number of another one.
/// - returns: 1 or 0.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_topo_is_sibling(
    _sys_dev: ucs_sys_device_t,
    _sys_dev_mem: ucs_sys_device_t,
) -> c_int {
    0
}

/// Whether a device has such another: none that is known here. `ucs/sys/topo/base/topo.h`.
///
/// - `sys_dev` (in): Number of a device.
/// - returns: 1 or 0.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_topo_device_has_sibling(_sys_dev: ucs_sys_device_t) -> c_int {
    0
}

/// How far a device is from memory, averaged over some processors. `ucs/sys/topo/base/topo.h`.
///
/// - `device` (in): Number of a device.
/// - `cpuset` (in): The processors.
/// - `distance` (out): Seconds, and bytes a second.
///
/// # Safety
/// `cpuset` is null or readable, `distance` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_topo_get_memory_distance_for_cpuset(
    device: ucs_sys_device_t,
    cpuset: *const ucs_cpu_set_t,
    distance: *mut ucs_sys_dev_distance_t,
) {
    non_null!(; cpuset, distance);
    // SAFETY: checked above; the caller vouches for it.
    let found = topo::memory_distance_of(device, unsafe { &*cpuset });
    // SAFETY: as above.
    unsafe { distance.write(in_c(found)) };
}

/// A distance as text; answers `buffer`. `ucs/sys/topo/base/topo.h`.
///
/// - `distance` (in): The distance.
/// - `buffer` (out): Gets the text with its NUL.
/// - `max` (in): Bytes of `buffer`.
/// - returns: `buffer`.
///
/// # Safety
/// `distance` is null or readable, `buffer` null or writable for `max` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_topo_distance_str(
    distance: *const ucs_sys_dev_distance_t,
    buffer: *mut c_char,
    max: usize,
) -> *const c_char {
    non_null!(buffer; distance);
    /// A higher bandwidth is not told exactly.
    const PETABYTE: f64 = (1u64 << 50) as f64;
    const MEGABYTE: f64 = (1u64 << 20) as f64;
    // SAFETY: checked above; the caller vouches for it.
    let distance = unsafe { distance.read() };
    let bandwidth = if distance.bandwidth > PETABYTE {
        ">1PB/s".to_owned()
    } else {
        format!("{:.2}MB/s", distance.bandwidth / MEGABYTE)
    };
    let text = format!("{:.0}ns {bandwidth}", distance.latency * 1e9);
    // SAFETY: the caller's room.
    unsafe { put_text(buffer, max, &text) };
    buffer
}

/// Compares distances: by latency, then by bandwidth, of which more is nearer. `ucs/sys/topo/base/topo.h`.
///
/// - `distance1` (in): A distance.
/// - `distance2` (in): Another one.
/// - returns: Negative, 0 or positive.
///
/// # Safety
/// Both are null or readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_topo_distance_cmp(
    distance1: *const ucs_sys_dev_distance_t,
    distance2: *const ucs_sys_dev_distance_t,
) -> c_int {
    non_null!(0; distance1, distance2);
    // SAFETY: checked above; the caller vouches for it.
    let first = unsafe { distance1.read() };
    // SAFETY: as above.
    let second = unsafe { distance2.read() };
    let by_latency = first.latency.total_cmp(&second.latency);
    by_latency.then(second.bandwidth.total_cmp(&first.bandwidth)) as c_int
}

/// The device of a folder that is named as a PCI function, with a name for it; UCS_SYS_DEVICE_ID_UNKNOWN for others.
/// `ucs/sys/topo/base/topo.h`.
///
/// - `dev_name` (in): Name, NUL-terminated.
/// - `sysfs_path` (in): Folder in sysfs, NUL-terminated.
/// - `name_priority` (in): Priority of the name.
/// - returns: Number of the device.
///
/// # Safety
/// `dev_name` and `sysfs_path` are null or C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_topo_get_sysfs_dev(
    dev_name: *const c_char,
    sysfs_path: *const c_char,
    name_priority: c_uint,
) -> ucs_sys_device_t {
    if sysfs_path.is_null() {
        return topo::UNKNOWN;
    }
    // SAFETY: the caller's string.
    let path = unsafe { text_of(sysfs_path) };
    let function = path.rsplit('/').next().and_then(bus_id_of);
    let Some(device) = function.and_then(|id| topo::find(id, None)) else {
        return topo::UNKNOWN;
    };
    if !dev_name.is_null() {
        // SAFETY: the caller's string.
        let name = unsafe { text_of(dev_name) };
        // It was just found.
        let _ = topo::change(device, |device| device.set_name(&name, name_priority));
    }
    device
}

/// Bytes a second of the link of a PCI function, by its folder in sysfs; infinite where that does not say.
/// `ucs/sys/topo/base/topo.h`.
///
/// - `dev_name` (in): Name, NUL-terminated.
/// - `sysfs_path` (in): Folder in sysfs, NUL-terminated.
/// - returns: Bytes a second.
///
/// # Safety
/// `sysfs_path` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_topo_get_pci_bw(
    _dev_name: *const c_char,
    sysfs_path: *const c_char,
) -> c_double {
    // SAFETY: the caller's string.
    let path = unsafe { text_of(sysfs_path) };
    topo::link_bandwidth(Path::new(path.as_ref()))
}

/// The folder two steps above a device in sysfs, where it is on PCI; answers `path_buffer`, or NULL.
/// `ucs/sys/topo/base/topo.h`.
///
/// - `dev_path` (in): Folder in sysfs, NUL-terminated.
/// - `path_buffer` (out): Gets the path with its NUL; PATH_MAX bytes.
/// - returns: `path_buffer`, or NULL.
///
/// # Safety
/// `dev_path` is null or a C string, `path_buffer` null or has room for any path.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_topo_resolve_sysfs_path(
    dev_path: *const c_char,
    path_buffer: *mut c_char,
) -> *const c_char {
    // SAFETY: the caller's string.
    let path = unsafe { text_of(dev_path) };
    match topo::folder_of_function(Path::new(path.as_ref())) {
        Some(folder) => {
            let text = folder.to_string_lossy();
            // SAFETY: the caller's room.
            unsafe { put_text(path_buffer, libc::PATH_MAX as usize, &text) };
            path_buffer
        }
        None => core::ptr::null(),
    }
}

/// A client's functions, which may be called until the source is taken away.
struct ClientSource(ucs_sys_topo_ops_t);

impl ClientSource {
    /// What the client writes, if `ask` says that it did.
    fn answer(ask: impl FnOnce(&mut ucs_sys_dev_distance_t) -> Option<()>) -> Option<Distance> {
        let mut answer = ucs_sys_dev_distance_t {
            latency: Distance::NONE.latency,
            bandwidth: Distance::NONE.bandwidth,
        };
        ask(&mut answer)?;
        Some(Distance {
            latency: answer.latency,
            bandwidth: answer.bandwidth,
        })
    }
}

impl topo::Source for ClientSource {
    fn between(&self, a: topo::SysDevice, b: topo::SysDevice) -> Option<Distance> {
        ClientSource::answer(|answer| {
            // SAFETY: the client's function.
            let status = unsafe { (self.0.get_distance?)(a, b, answer) };
            (status == UCS_OK).then_some(())
        })
    }

    fn to_memory(&self, device: topo::SysDevice) -> Option<Distance> {
        ClientSource::answer(|answer| {
            // SAFETY: the client's function.
            unsafe { (self.0.get_memory_distance?)(device, answer) };
            Some(())
        })
    }

    fn to_memory_near(&self, device: topo::SysDevice, cpus: &ucs_cpu_set_t) -> Option<Distance> {
        ClientSource::answer(|answer| {
            // SAFETY: the client's function.
            unsafe { (self.0.get_memory_distance_for_cpuset?)(device, cpus, answer) };
            Some(())
        })
    }
}

/// Puts a source of distances in the place of those before. `ucs/sys/topo/base/topo.h`.
///
/// - `ops` (in): The functions; alive until the source is taken away.
/// - returns: UCS_OK, or an error.
///
/// # Safety
/// `ops` is null or readable; its functions may be called until it is taken away.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_sys_topo_provider_push(
    ops: *const ucs_sys_topo_ops_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; ops);
    // SAFETY: checked above; the caller vouches for it.
    topo::push_source(Arc::new(ClientSource(unsafe { ops.read() })));
    UCS_OK
}

/// Takes the last source of distances away. `ucs/sys/topo/base/topo.h`.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_sys_topo_provider_pop() {
    topo::pop_source();
}

/// Has `UCX_TOPO_PRIO` looked at again: nothing is kept of it. `ucs/sys/topo/base/topo.h`.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_sys_topo_reset_provider() {}

/// Writes the devices. `ucs/sys/topo/base/topo.h`.
///
/// - `stream` (in): Open for writing.
///
/// # Safety
/// `stream` is an open stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_topo_print_info(stream: *mut FILE) {
    non_null!(; stream);
    let mut text = String::new();
    for device in 0..topo::num_devices() {
        let both = topo::look(device as u8, |found| (found.bus_id(), found.name()));
        if let Some((id, name)) = both {
            text += &format!(
                " {device}  {:>16}  {}\n",
                id.to_string(),
                name.to_string_lossy()
            );
        }
    }
    // SAFETY: the caller's stream.
    unsafe { crate::abi::args::print(stream, &text) };
}

/// Takes all devices away; they are given back once. `ucs/sys/topo/base/topo.h`.
///
/// - returns: The devices, for `ucs_topo_restore_state`.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_topo_extract_state() -> *mut ucs_global_state_t {
    Box::into_raw(Box::new(topo::take_all())).cast()
}

/// Gives devices back, in the place of all. `ucs/sys/topo/base/topo.h`.
///
/// - `state` (in): Devices of `ucs_topo_extract_state`, once.
///
/// # Safety
/// `state` is null or an answer of `ucs_topo_extract_state`, given back once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_topo_restore_state(state: *mut ucs_global_state_t) {
    non_null!(; state);
    // SAFETY: boxed above.
    topo::put_all(*unsafe { Box::from_raw(state.cast::<Vec<Device>>()) });
}

/// Begins: devices are looked at when they are asked for. `ucs/sys/topo/base/topo.h`.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_topo_init() {}

/// Ends: forgets all devices. `ucs/sys/topo/base/topo.h`.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_topo_cleanup() {
    topo::take_all();
}
