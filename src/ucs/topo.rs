//! System devices: PCI functions that transports run on, numbered as they are met, and distances.
//!
//! Distances come from where a device hangs in sysfs and from the NUMA table. They are estimates
//! that only order devices by nearness. A client may put a source of its own in their place.
#![forbid(unsafe_code)]

use crate::c::ucs_cpu_set_t;
use crate::sys::{cpu, numa};
use crate::ucs::fork::ForkLocked;
use crate::ucs::{Result, Status};
use core::ffi::CStr;
use std::ffi::CString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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

pub struct Device {
    bus_id: BusId,
    /// What tells devices of one function apart; none but with clients.
    user_value: Option<usize>,
    name: &'static CStr,
    /// A name takes the place of one with a lower priority.
    name_priority: u32,
    /// Where it hangs, from the top of sysfs's device tree.
    path: Option<Arc<Path>>,
    numa_node: Option<u32>,
}

/// Devices of the process. Names are handed out for ever, so they are never freed; there are at
/// most 255.
static DEVICES: ForkLocked<Vec<Device>> = ForkLocked::new(Vec::new());

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
pub fn name(device: SysDevice) -> Option<&'static CStr> {
    look(device, |d| d.name)
}

/// The number of the PCI function, new if it was not met before; `UNKNOWN` when numbers run out.
pub fn find_by_bus_id(bus_id: BusId) -> SysDevice {
    find(bus_id, None).unwrap_or(UNKNOWN)
}

/// The same of a client, which may have several devices with one function.
pub fn find(bus_id: BusId, user_value: Option<usize>) -> Option<SysDevice> {
    let place = |all: &[Device]| {
        all.iter()
            .position(|d| d.bus_id == bus_id && d.user_value == user_value)
    };
    if let Some(known) = DEVICES.with(|all| place(all)) {
        return Some(known as SysDevice);
    }
    let full = bus_id.to_string();
    let sysfs = Path::new("/sys/bus/pci/devices").join(&full);
    let numa_node = read_number(&sysfs.join("numa_node"));
    let fresh = Device {
        bus_id,
        user_value,
        name: kept(full.strip_prefix("0000:").unwrap_or(&full)),
        name_priority: 0,
        path: fs::canonicalize(&sysfs).ok().map(Arc::from),
        numa_node,
    };
    let number = DEVICES.with(|all| {
        place(all).or_else(|| {
            let room = all.len() < usize::from(UNKNOWN);
            room.then(|| all.push(fresh))?;
            Some(all.len() - 1)
        })
    });
    if number.is_none() {
        crate::ucs_debug!("there are {UNKNOWN} system devices: no number is left");
    }
    number.map(|number| number as SysDevice)
}

/// A name for ever.
fn kept(name: &str) -> &'static CStr {
    Box::leak(CString::new(name).unwrap_or_default().into_boxed_c_str())
}

/// Looks at a device; none for a number that is no device. As for `ForkLocked::with`.
pub fn look<R>(device: SysDevice, look: impl FnOnce(&Device) -> R) -> Option<R> {
    DEVICES.with(|all| all.get(usize::from(device)).map(look))
}

/// Changes a device. `INVALID_PARAM`, with a message, for a number that is no device.
pub fn change(device: SysDevice, change: impl FnOnce(&mut Device)) -> Result<()> {
    if DEVICES
        .with(|all| all.get_mut(usize::from(device)).map(change))
        .is_some()
    {
        return Ok(());
    }
    let count = num_devices();
    crate::ucs_error!("{device} is no system device: there are {count}");
    Err(Status::INVALID_PARAM)
}

impl Device {
    pub fn bus_id(&self) -> BusId {
        self.bus_id
    }

    pub fn name(&self) -> &'static CStr {
        self.name
    }

    pub fn user_value(&self) -> Option<usize> {
        self.user_value
    }

    pub fn numa_node(&self) -> Option<u32> {
        self.numa_node
    }

    pub fn set_numa_node(&mut self, node: Option<u32>) {
        self.numa_node = node;
    }

    /// Keeps a name of the same or a higher priority.
    pub fn set_name(&mut self, name: &str, priority: u32) {
        if priority > self.name_priority {
            (self.name, self.name_priority) = (kept(name), priority);
        }
    }
}

/// Takes all devices away.
pub fn take_all() -> Vec<Device> {
    DEVICES.with(core::mem::take)
}

/// Puts devices in the place of all.
pub fn put_all(devices: Vec<Device>) {
    drop(DEVICES.with(|all| core::mem::replace(all, devices)));
}

/// Sources of distances of clients; the last one counts.
static SOURCES: ForkLocked<Vec<Arc<dyn Source>>> = ForkLocked::new(Vec::new());

/// A client's distances. `None` where it has none.
pub trait Source: Send + Sync {
    fn between(&self, a: SysDevice, b: SysDevice) -> Option<Distance>;
    fn to_memory(&self, device: SysDevice) -> Option<Distance>;
    fn to_memory_near(&self, device: SysDevice, cpus: &ucs_cpu_set_t) -> Option<Distance>;
}

/// Puts a source in the place of those before.
pub fn push_source(source: Arc<dyn Source>) {
    SOURCES.with(|all| all.push(source));
}

/// Takes the last source away.
pub fn pop_source() {
    SOURCES.with(Vec::pop);
}

/// The client's source that counts.
fn source() -> Option<Arc<dyn Source>> {
    SOURCES.with(|all| all.last().cloned())
}

/// The folder of the PCI function that a device of sysfs hangs below: two steps up.
pub fn folder_of_function(path: &Path) -> Option<PathBuf> {
    let full = fs::canonicalize(path).ok()?;
    let folder = full.ancestors().nth(2)?;
    let is_function =
        |part: &std::ffi::OsStr| part.to_str().is_some_and(|p| p.parse::<BusId>().is_ok());
    folder.iter().any(is_function).then(|| folder.to_path_buf())
}

/// Bytes a second of the link that a function in sysfs has; infinite where sysfs does not say.
pub fn link_bandwidth(folder: &Path) -> f64 {
    let read = |file: &str| fs::read_to_string(folder.join(file)).ok();
    let bandwidth = || {
        let width: f64 = read("current_link_width")?.trim().parse().ok()?;
        let speed: f64 = read("current_link_speed")?
            .split_whitespace()
            .next()?
            .parse()
            .ok()?;
        // Up to 5 GT/s, 8 bits are sent as 10, then 128 as 130.
        let coded = if speed > 5.0 { 128.0 / 130.0 } else { 0.8 };
        Some(width * speed * 1e9 / 8.0 * coded)
    };
    bandwidth().filter(|b| *b > 0.0).unwrap_or(f64::INFINITY)
}

/// The PCI function of a device of a class of sysfs, which is named like it with this priority, and its link's bytes a second.
/// `None` for one that is not a part of such a function, or of a part of it that is no device of its own: as with upstream, one
/// behind virtio is on no PCI.
pub fn of_class(class: &str, name: &str, priority: u32) -> Option<(SysDevice, f64)> {
    let link = Path::new("/sys/class")
        .join(class)
        .join(name)
        .join("device");
    let path = fs::canonicalize(link).ok()?;
    // Subfunctions hang below the function, and have no number of a device.
    let mut folders = path.ancestors().take(2);
    let folder = folders.find(|folder| folder.join("device").is_file())?;
    let id: BusId = folder.file_name()?.to_str()?.parse().ok()?;
    let device = find(id, None)?;
    // It was just found.
    let _ = change(device, |device| device.set_name(name, priority));
    Some((device, link_bandwidth(folder)))
}

/// How far apart two devices are; `None` when a number is neither a device nor `UNKNOWN`.
pub fn distance(a: SysDevice, b: SysDevice) -> Option<Distance> {
    let told = source().and_then(|source| source.between(a, b));
    if told.is_some() {
        return told;
    }
    if a == b || a == UNKNOWN || b == UNKNOWN {
        return Some(Distance::NONE);
    }
    let place = |device: &Device| (device.path.clone(), device.numa_node);
    let ((from, a), (to, b)) = (look(a, place)?, look(b, place)?);
    let (Some(from), Some(to)) = (from, to) else {
        return Some(Distance::NONE);
    };
    Some(path_distance(&from, &to, a.is_some() && a == b))
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
pub fn memory_distance(device: SysDevice) -> Distance {
    let told = source().and_then(|source| source.to_memory(device));
    told.unwrap_or_else(|| match cpu::affinity() {
        Ok(affinity) => near(device, |number| cpu::is_set(&affinity, number)),
        Err(_) => near(device, |_| true),
    })
}

/// How far a device is from memory, averaged over some processors.
pub fn memory_distance_of(device: SysDevice, cpus: &ucs_cpu_set_t) -> Distance {
    let told = source().and_then(|source| source.to_memory_near(device, cpus));
    told.unwrap_or_else(|| near(device, |cpu| has(cpus, cpu)))
}

/// How far a device is from the memory of a node.
pub fn distance_of_node(device: SysDevice, node: u32) -> Distance {
    let told = source().and_then(|source| source.to_memory_near(device, &cpus_of(node)));
    told.unwrap_or_else(|| {
        let own = look(device, Device::numa_node).flatten();
        let units = own.and_then(|own| numa::distance(own, node));
        Distance {
            latency: f64::from(units.unwrap_or(NUMA_LOCAL)) * NUMA_UNIT,
            bandwidth: f64::INFINITY,
        }
    })
}

/// The processors of a node.
fn cpus_of(node: u32) -> ucs_cpu_set_t {
    let mut set = ucs_cpu_set_t { ucs_bits: [0; 16] };
    for cpu in numa::cpus_of(node).into_iter().flatten() {
        if let Some(word) = set.ucs_bits.get_mut(cpu / 64) {
            *word |= 1 << (cpu % 64);
        }
    }
    set
}

fn has(cpus: &ucs_cpu_set_t, cpu: usize) -> bool {
    let word = cpus.ucs_bits.get(cpu / 64);
    word.is_some_and(|word| word >> (cpu % 64) & 1 == 1)
}

fn near(device: SysDevice, chosen: impl Fn(usize) -> bool) -> Distance {
    let cpus = 0..crate::c::UCS_CPU_SETSIZE as usize;
    if device == UNKNOWN || !cpus.into_iter().any(&chosen) {
        return Distance::NONE;
    }
    let node = look(device, Device::numa_node).flatten();
    let units = node.and_then(|node| numa_distance(node, chosen));
    Distance {
        latency: units.unwrap_or(f64::from(NUMA_LOCAL)) * NUMA_UNIT,
        bandwidth: f64::INFINITY,
    }
}

/// The mean of the NUMA table's row over some processors.
fn numa_distance(node: u32, chosen: impl Fn(usize) -> bool) -> Option<f64> {
    let row = numa::distances(node)?;
    let (mut sum, mut count) = (0.0, 0u32);
    for (other, distance) in row {
        let here = numa::cpus_of(other)?;
        let here = here.into_iter().filter(|cpu| chosen(*cpu)).count() as u32;
        sum += f64::from(distance) * f64::from(here);
        count += here;
    }
    (count > 0).then(|| sum / f64::from(count))
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
    fn from_str(text: &str) -> core::result::Result<BusId, ()> {
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
}
