//! System devices: PCI functions that transports run on, numbered as they are met, and distances.
//!
//! Distances come from where a device hangs in sysfs and from the NUMA table. They are estimates
//! that only order devices by nearness.

use crate::sys::process;
use crate::ucs::fork::ForkLocked;
use core::ffi::CStr;
use std::ffi::CString;
use std::fs;
use std::path::{Path, PathBuf};

/// A device's number; `UNKNOWN` is none.
pub type SysDevice = u8;
pub const UNKNOWN: SysDevice = crate::c::UCS_SYS_DEVICE_ID_UNKNOWN;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BusId {
    pub domain: u16,
    pub bus: u8,
    pub slot: u8,
    pub function: u8,
}

/// Seconds, and bytes a second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Distance {
    pub latency: f64,
    pub bandwidth: f64,
}

impl Distance {
    /// Between things that are one, or of which nothing is known.
    pub const NONE: Distance = Distance {
        latency: 0.0,
        bandwidth: f64::INFINITY,
    };
}

struct Device {
    bus_id: BusId,
    name: &'static CStr,
    /// Where it hangs, from the top of sysfs's device tree.
    path: Option<PathBuf>,
    numa_node: Option<u32>,
}

/// Devices of the process. Names are handed out for ever, so they are never freed; there are at
/// most 255.
static DEVICES: ForkLocked<Vec<&'static Device>> = ForkLocked::new(Vec::new());

fn device(number: SysDevice) -> Option<&'static Device> {
    DEVICES.with(|all| all.get(usize::from(number)).copied())
}

/// Under one PCI root or one NUMA node, as UCX_DISTANCE_LAT and _BW have it by default: what a link
/// gives is shared by the hops between.
const NEAR_LATENCY: f64 = 300e-9;
const NEAR_BANDWIDTH: f64 = 3500e6;
const LINK_BANDWIDTH: f64 = 19200e6;
/// Across the system.
const FAR_LATENCY: f64 = 500e-9;
const FAR_BANDWIDTH: f64 = 5100e6;

/// One unit of the NUMA table, in seconds: the table says 10 for a node's own memory.
const NUMA_UNIT: f64 = 10e-9;
const NUMA_LOCAL: u32 = 10;

pub fn num_devices() -> usize {
    DEVICES.with(|all| all.len())
}

/// The device's name, or `None` for a number that is no device.
pub fn name(number: SysDevice) -> Option<&'static CStr> {
    device(number).map(|d| d.name)
}

/// The number of the PCI function, new if it was not met before; `UNKNOWN` when numbers run out.
pub fn find_by_bus_id(bus_id: BusId) -> SysDevice {
    let place = |all: &[&Device]| all.iter().position(|d| d.bus_id == bus_id);
    if let Some(known) = DEVICES.with(|all| place(all)) {
        return known as SysDevice;
    }
    let text = bus_id.to_string();
    let sysfs = Path::new("/sys/bus/pci/devices").join(&text);
    let numa_node = read_number(&sysfs.join("numa_node"));
    let fresh = Device {
        bus_id,
        name: Box::leak(CString::new(text).unwrap_or_default().into_boxed_c_str()),
        path: fs::canonicalize(&sysfs).ok(),
        numa_node,
    };
    let number = DEVICES.with(|all| {
        place(all).or_else(|| {
            let room = all.len() < usize::from(UNKNOWN);
            room.then(|| all.push(Box::leak(Box::new(fresh))))?;
            Some(all.len() - 1)
        })
    });
    number.map_or_else(
        || {
            crate::ucs_debug!("there are {UNKNOWN} system devices: no number is left");
            UNKNOWN
        },
        |number| number as SysDevice,
    )
}

/// The PCI function under a network interface; `UNKNOWN` for one that is not on PCI.
pub fn of_net_interface(interface: &str) -> SysDevice {
    if interface.contains('/') {
        return UNKNOWN;
    }
    let link = Path::new("/sys/class/net").join(interface).join("device");
    let Ok(path) = fs::canonicalize(link) else {
        return UNKNOWN;
    };
    // Virtual functions and the like hang below the PCI function.
    path.ancestors()
        .filter_map(|p| p.file_name()?.to_str()?.parse().ok())
        .next()
        .map_or(UNKNOWN, find_by_bus_id)
}

/// How far apart two devices are; `None` when a number is neither a device nor `UNKNOWN`.
pub fn distance(a: SysDevice, b: SysDevice) -> Option<Distance> {
    if a == b || a == UNKNOWN || b == UNKNOWN {
        return Some(Distance::NONE);
    }
    let (a, b) = (device(a)?, device(b)?);
    let (Some(from), Some(to)) = (&a.path, &b.path) else {
        return Some(Distance::NONE);
    };
    let same_node = a.numa_node.is_some() && a.numa_node == b.numa_node;
    Some(path_distance(from, to, same_node))
}

fn path_distance(a: &Path, b: &Path, same_node: bool) -> Distance {
    let shared = a.iter().zip(b.iter()).take_while(|(x, y)| x == y).count();
    // The paths begin with /, sys, devices and a PCI root.
    let same_root = shared >= 4;
    if !same_root && !same_node {
        return Distance {
            latency: FAR_LATENCY,
            bandwidth: FAR_BANDWIDTH,
        };
    }
    let hops = a.iter().count().max(b.iter().count()) - shared;
    Distance {
        latency: NEAR_LATENCY,
        bandwidth: NEAR_BANDWIDTH.min(LINK_BANDWIDTH / hops.max(1) as f64),
    }
}

/// How far a device is from memory, averaged over the processors this thread may run on.
pub fn memory_distance(number: SysDevice) -> Distance {
    if number == UNKNOWN {
        return Distance::NONE;
    }
    let node = device(number).and_then(|d| d.numa_node);
    let units = node
        .and_then(numa_distance)
        .unwrap_or(f64::from(NUMA_LOCAL));
    Distance {
        latency: units * NUMA_UNIT,
        bandwidth: f64::INFINITY,
    }
}

/// The mean of the NUMA table's row over the processors of this thread's affinity.
fn numa_distance(node: u32) -> Option<f64> {
    let base = Path::new("/sys/devices/system/node");
    let row = fs::read_to_string(base.join(format!("node{node}/distance"))).ok()?;
    let affinity = process::affinity().ok()?;
    let (mut sum, mut count) = (0.0, 0u32);
    for (other, distance) in row.split_whitespace().enumerate() {
        let distance: f64 = distance.parse().ok()?;
        let list = fs::read_to_string(base.join(format!("node{other}/cpulist"))).ok()?;
        let here = cpus(&list)
            .filter(|cpu| process::is_set(&affinity, *cpu))
            .count() as u32;
        sum += distance * f64::from(here);
        count += here;
    }
    (count > 0).then(|| sum / f64::from(count))
}

/// The numbers of a sysfs list such as `0-3,8`.
fn cpus(list: &str) -> impl Iterator<Item = usize> + '_ {
    list.trim().split(',').flat_map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        match (first.parse(), last.parse::<usize>()) {
            (Ok(first), Ok(last)) => first..last.saturating_add(1),
            _ => 0..0,
        }
    })
}

fn read_number(path: &Path) -> Option<u32> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

impl core::fmt::Display for BusId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(
            f,
            "{:04x}:{:02x}:{:02x}.{:x}",
            self.domain, self.bus, self.slot, self.function
        )
    }
}

impl core::str::FromStr for BusId {
    type Err = ();

    /// Reads `domain:bus:slot.function`, hexadecimal.
    fn from_str(text: &str) -> Result<BusId, ()> {
        let (rest, function) = text.split_once('.').ok_or(())?;
        let mut parts = rest.split(':');
        let mut part = || parts.next().and_then(|p| u16::from_str_radix(p, 16).ok());
        let (domain, bus, slot) = (part().ok_or(())?, part().ok_or(())?, part().ok_or(())?);
        if parts.next().is_some() {
            return Err(());
        }
        Ok(BusId {
            domain,
            bus: bus.try_into().map_err(|_| ())?,
            slot: slot.try_into().map_err(|_| ())?,
            function: u8::from_str_radix(function, 16).map_err(|_| ())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bus_ids_are_read_and_written() {
        let id: BusId = "0001:af:1f.7".parse().unwrap();
        assert_eq!(
            (id.domain, id.bus, id.slot, id.function),
            (1, 0xaf, 0x1f, 7)
        );
        assert_eq!(id.to_string(), "0001:af:1f.7");
        for bad in ["", "af:1f.7", "1:2:3:4.5", "0:100:0.0", "virtio0", "0:0:0"] {
            assert!(bad.parse::<BusId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn nearer_devices_are_faster_to_reach() {
        let from = Path::new("/sys/devices/pci0000:00/0000:00:01.0/x");
        let to = |path: &str, same_node| path_distance(from, Path::new(path), same_node);
        let near = to("/sys/devices/pci0000:00/0000:00:01.0/y", false);
        let far = to("/sys/devices/pci0000:80/0000:80:01.0/y", false);
        let same_node = to("/sys/devices/pci0000:80/0000:80:01.0/y", true);
        assert!(near.latency < far.latency);
        assert_eq!(near.latency, same_node.latency);
        assert_eq!(distance(UNKNOWN, 3), Some(Distance::NONE));
        assert_eq!(distance(253, 254), None);
        assert_eq!(memory_distance(UNKNOWN), Distance::NONE);
    }

    #[test]
    fn sysfs_lists() {
        assert_eq!(cpus("0-2,8\n").collect::<Vec<_>>(), [0, 1, 2, 8]);
        assert_eq!(cpus("\n").count(), 0);
    }
}
