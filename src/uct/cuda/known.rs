//! Memory types, and what is remembered of allocations.
//!
//! No hook tells when memory is allocated or freed, so the driver is asked about each address, in one call. What follows
//! for the allocation that it names is worked out once and remembered by the allocation's number, which never comes
//! again: an address whose memory was freed and given out anew finds nothing that is old.
#![forbid(unsafe_code)]

use super::config::{self, GPU, MANAGED};
use crate::c::*;
use crate::sys::cuda::{Allocation, Driver};
use crate::sys::fork::ForkLocked;
use crate::sys::mem::whole_pages;
use crate::ucs::config::{Config, OnOff, Ternary, global, var};
use crate::ucs::topo::{self, BusId};
use crate::ucs::{Result, Status};
use crate::ucs_debug;
use crate::uct::api::MemoryInfo;
use once_cell::race::OnceBool;
use std::collections::VecDeque;
use std::os::fd::OwnedFd;

/// Allocations that are remembered. Programs use few at a time, and look-ups begin with the newest.
const REMEMBERED: usize = 64;

/// What is known of an allocation beyond its range.
#[derive(Clone, Copy)]
struct Known {
    id: u64,
    /// The device as the rest of the library numbers devices.
    device: ucs_sys_device_t,
    /// Whether to tell the whole allocation for a part of it.
    whole: bool,
}

/// A device, by its ordinal number, as the rest of the library numbers devices. Those before it are numbered before it.
fn system_device(driver: Driver, ordinal: i32) -> ucs_sys_device_t {
    let mut number = UCS_SYS_DEVICE_ID_UNKNOWN;
    for device in 0..=ordinal {
        number = match driver.pci_address(device) {
            Ok((domain, bus, slot)) => topo::find_by_bus_id(BusId {
                domain,
                bus,
                slot,
                function: 0,
            }),
            Err(e) => {
                ucs_debug!("cuda_copy: device {device} is not known: {e}");
                UCS_SYS_DEVICE_ID_UNKNOWN
            }
        };
    }
    number
}

/// The ordinal number of a device that the rest of the library numbers so; `None` for what is no device of the driver's.
pub fn ordinal_of(driver: Driver, device: ucs_sys_device_t) -> Option<i32> {
    // Behind the last device there is an error.
    let known = (0..).take_while(|ordinal| driver.pci_address(*ordinal).is_ok());
    let mut known = known.map(|ordinal| (ordinal, system_device(driver, ordinal)));
    known
        .find(|(_, number)| *number == device)
        .map(|(ordinal, _)| ordinal)
}

/// The device of the context that is current, which stands for all in lists of resources.
pub fn current_device(driver: Driver) -> ucs_sys_device_t {
    let current = driver.current_device();
    current.map_or(UCS_SYS_DEVICE_ID_UNKNOWN, |ordinal| {
        system_device(driver, ordinal)
    })
}

/// The newest is first. Of the whole process, as allocations are.
static KNOWN: ForkLocked<VecDeque<Known>> = ForkLocked::new(VecDeque::new());

/// Tells memory types apart, by the variables of a memory domain.
pub struct Detector {
    driver: Driver,
    remember: bool,
    whole: OnOff,
    ratio: f64,
    managed_at_device: bool,
    pooled_is_managed: bool,
    gives_dmabufs: bool,
    /// What the first device says of them.
    has_dmabufs: OnceBool,
}

impl Detector {
    pub fn new(driver: Driver, config: &Config) -> Detector {
        let cache = global::current().ternary(var!(global::TABLE, "MEMTYPE_CACHE"));
        Detector {
            driver,
            remember: cache != Ternary::No,
            whole: config.on_off(var!(config::MD, "REG_WHOLE_ALLOC")),
            ratio: config.double(var!(config::MD, "MAX_REG_RATIO")),
            managed_at_device: config.enum_index(var!(config::MD, "PREF_LOC")) == GPU,
            pooled_is_managed: config.enum_index(var!(config::MD, "ASYNC_MEM_TYPE")) == MANAGED,
            has_dmabufs: OnceBool::new(),
            gives_dmabufs: config.ternary(var!(config::MD, "DMABUF")) != Ternary::No,
        }
    }

    /// What there is at an address. `INVALID_ADDR` for memory that the driver does not know, or that is the host's.
    pub fn look(&self, address: usize, length: usize) -> Result<MemoryInfo> {
        if address == 0 {
            return Ok(MemoryInfo {
                kind: UCS_MEMORY_TYPE_HOST,
                device: UCS_SYS_DEVICE_ID_UNKNOWN,
                base: 0,
                length,
                host_access: true,
                id: 0,
            });
        }
        let found = self.driver.allocation_of(address).map_err(|e| {
            crate::ucs_error!("the memory type at {address:#x} is not known: {e}");
            Status::IO_ERROR
        })?;
        let found = found.ok_or(Status::INVALID_ADDR)?;
        let managed = found.managed || (found.pooled && self.pooled_is_managed);
        let known = self.known(&found, address);
        // What is mapped in steps may go on behind the end of this step.
        let rest = found
            .base
            .saturating_add(found.length)
            .saturating_sub(address);
        let is_whole =
            known.whole && found.length > 0 && !(found.is_mapped_in_steps() && rest < length);
        Ok(MemoryInfo {
            kind: if managed {
                UCS_MEMORY_TYPE_CUDA_MANAGED
            } else {
                UCS_MEMORY_TYPE_CUDA
            },
            device: if found.managed && !self.managed_at_device {
                UCS_SYS_DEVICE_ID_UNKNOWN
            } else {
                known.device
            },
            base: if is_whole { found.base } else { address },
            length: if is_whole { found.length } else { length },
            host_access: found.managed,
            id: if rest < length { 0 } else { found.id },
        })
    }

    /// The types of memory that may have dmabuf descriptors.
    pub fn dmabuf_types(&self) -> u64 {
        let ask = || self.driver.has_dmabufs(0);
        // A driver that was not initialised yet cannot be asked.
        let has = || self.has_dmabufs.get_or_try_init(ask).unwrap_or(true);
        match self.gives_dmabufs && has() {
            true => 1 << UCS_MEMORY_TYPE_CUDA,
            false => 0,
        }
    }

    /// A dmabuf descriptor of the pages of what `look` told of the memory at an address. Managed memory has none.
    pub fn dmabuf(&self, told: &MemoryInfo, address: usize) -> Option<OwnedFd> {
        if !self.gives_dmabufs {
            return None;
        }
        let of = self.driver.allocation_of(address).ok()?;
        let of = of.filter(|of| !of.managed)?;
        let end = told.base.checked_add(told.length)?;
        let pages = whole_pages(told.base..end);
        let given = self.driver.dmabuf(&of, pages).inspect_err(|e| {
            ucs_debug!("cuda_copy: no dmabuf descriptor of the memory at {address:#x}: {e}");
        });
        given.ok().flatten()
    }

    fn known(&self, found: &Allocation, address: usize) -> Known {
        let find = |all: &VecDeque<Known>| all.iter().find(|k| k.id == found.id).copied();
        // Without a number it cannot be told from another one.
        let remember = self.remember && found.id != 0;
        if remember && let Some(known) = KNOWN.with(|all| find(all)) {
            return known;
        }
        let known = self.work_out(found, address);
        if remember {
            KNOWN.with(|all| {
                all.truncate(REMEMBERED - 1);
                all.push_front(known);
            });
        }
        known
    }

    #[cold]
    fn work_out(&self, found: &Allocation, address: usize) -> Known {
        // Memory of pools and memory that is mapped in steps is of no context, and has no flag of its own.
        let synchronized = match (found.managed, self.driver.synchronize_all_copies()) {
            (true, _) => Ok(true),
            (false, of_context) if found.context.is_none() => of_context,
            (false, _) => self.driver.synchronize_copies_to(address).map(|()| true),
        };
        match synchronized {
            Ok(true) => {}
            Ok(false) => ucs_debug!(
                "cuda_copy: copies to {address:#x} may return early: no context is current, or the driver cannot set flags"
            ),
            Err(e) => ucs_debug!("cuda_copy: copies to {address:#x} may return early: {e}"),
        }
        Known {
            id: found.id,
            device: system_device(self.driver, found.device),
            whole: !found.managed && self.is_told_whole(found),
        }
    }

    fn is_told_whole(&self, found: &Allocation) -> bool {
        match self.whole {
            OnOff::On => true,
            OnOff::Off => false,
            OnOff::Auto => match self.driver.memory_size(found.device) {
                Ok(size) => (found.length as f64) < self.ratio * size as f64,
                Err(e) => {
                    ucs_debug!(
                        "cuda_copy: the memory of device {} is not known: {e}",
                        found.device
                    );
                    false
                }
            },
        }
    }
}
