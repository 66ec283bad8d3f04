//! `ucs/memory/numa.h`.

use super::names::Names;
use super::text_of;
use crate::c::prelude::*;
use crate::sys::numa;
use std::path::Path;

/// A node's own memory, in the units of the system: what is said where it says nothing.
const LOCAL: ucs_numa_distance_t = 10;

/// Names of policies, then NULL. Upstream declares them and exports none.
#[unsafe(no_mangle)]
pub static ucs_numa_policy_names: Names<4> = Names([
    c"default".as_ptr(),
    c"bind".as_ptr(),
    c"preferred".as_ptr(),
    core::ptr::null(),
]);

/// Begins: what is asked for is read when it is. `ucs/memory/numa.h`.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_numa_init() {}

/// Ends: nothing is kept. `ucs/memory/numa.h`.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_numa_cleanup() {}

/// Processors that the system may have. `ucs/memory/numa.h`.
///
/// - returns: Their number.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_numa_num_configured_cpus() -> c_uint {
    numa::cpus()
}

/// Memory nodes that the system may have. `ucs/memory/numa.h`.
///
/// - returns: Their number.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_numa_num_configured_nodes() -> c_uint {
    numa::nodes()
}

fn node(node: Option<u32>) -> ucs_numa_node_t {
    node.and_then(|node| node.try_into().ok())
        .unwrap_or(UCS_NUMA_NODE_UNDEFINED as ucs_numa_node_t)
}

/// The node of a processor; the first one where the system has but one. `ucs/memory/numa.h`.
///
/// - `cpu` (in): Number of the processor.
/// - returns: The node.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_numa_node_of_cpu(cpu: c_int) -> ucs_numa_node_t {
    let found = u32::try_from(cpu).ok().and_then(numa::node_of_cpu);
    node(found.or(Some(UCS_NUMA_NODE_DEFAULT)))
}

/// The node of a device by its folder in sysfs; UCS_NUMA_NODE_UNDEFINED where it has none. `ucs/memory/numa.h`.
///
/// - `dev_path` (in): Folder, NUL-terminated.
/// - returns: The node.
///
/// # Safety
/// `dev_path` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_numa_node_of_device(dev_path: *const c_char) -> ucs_numa_node_t {
    // SAFETY: the caller's string.
    let path = unsafe { text_of(dev_path) };
    node(numa::node_of_device(Path::new(path.as_ref())))
}

/// How far two nodes are apart, as the system counts it. `ucs/memory/numa.h`.
///
/// - `node1` (in): A node.
/// - `node2` (in): Another one.
/// - returns: The distance.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_numa_distance(
    node1: ucs_numa_node_t,
    node2: ucs_numa_node_t,
) -> ucs_numa_distance_t {
    let distance = || {
        let distance = numa::distance(node1.try_into().ok()?, node2.try_into().ok()?)?;
        distance.try_into().ok()
    };
    distance().unwrap_or(LOCAL)
}
