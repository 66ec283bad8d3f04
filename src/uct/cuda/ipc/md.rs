//! The component `cuda_ipc` and its memory domain, which registers allocations of devices for other processes.
#![forbid(unsafe_code)]

use super::cache::Cache;
use super::config;
use super::iface::{self, CudaIpcIface};
use super::wire::{self, Handle, KEY_LEN, Key};
use crate::c::*;
use crate::sys::cuda::{Allocation, Driver, IpcHandle, Streams};
use crate::sys::lock::Mutex;
use crate::ucs::config::{Config, Table, var};
use crate::ucs::status::Failure;
use crate::ucs::{Result, Status};
use crate::uct::api::{
    Component, Device, KeyObject, Md, MdAttr, PackedKey, Transport, UnpackedKey, Unusable,
};
use crate::uct::base::iface::md_as;
use crate::uct::base::md::{DynMd, MemoryHandle};
use crate::uct::base::params::IfaceParams;
use crate::uct::base::worker::WorkerHandle;
use crate::uct::cuda::driver;
use crate::uct::cuda::known::current_device;
use crate::uct::local::{self, Membership, ProcessName};
use crate::{ucs_debug, ucs_diag, ucs_error};
use core::convert::Infallible;
use core::ffi::c_void;
use core::fmt;
use std::collections::VecDeque;
use std::sync::Arc;

pub const NAME: &str = "cuda_ipc";

pub struct CudaIpcComponent;

struct CudaIpcTransport;

pub struct CudaIpcMd {
    shared: Arc<Shared>,
}

/// What the domain and its interfaces share.
pub struct Shared {
    pub driver: Driver,
    pub streams: Streams,
    pub cache: Cache,
    pub membership: Membership,
    handles: Handles,
}

/// A handle of an own allocation. A descriptor is there for other processes as long as it.
type OwnHandle = Arc<IpcHandle<local::Shared>>;

/// Handles of own allocations by their numbers, the newest first, and those without one. The number of an allocation never
/// comes again, nor does its handle change.
#[derive(Default)]
struct Handles(Mutex<VecDeque<(u64, Option<OwnHandle>)>>);

impl Handles {
    /// Most that are kept. Programs send from few allocations at a time.
    const MOST: usize = 64;

    /// The handle of an allocation, if it has one, which the driver is asked for once.
    fn of(&self, driver: Driver, of: &Allocation) -> Result<Option<OwnHandle>> {
        if let Some((_, handle)) = self.0.lock().iter().find(|(id, _)| *id == of.id) {
            return Ok(handle.clone());
        }
        let handle = driver.export(of).map_err(|e| {
            ucs_diag!(
                "{NAME}: the driver has no handle for other processes of the memory at {:#x}: {e}",
                of.base
            );
            Status::UNSUPPORTED
        })?;
        // A descriptor that is open would keep memory that its owner has freed.
        let of = *of;
        let share = |()| {
            local::Shared::new(local::Export {
                file: None,
                open: Some(Box::new(move || driver.open_descriptor(&of).ok()?)),
                sysv: None,
                len: of.length as u64,
                wake: None,
            })
        };
        let handle = handle.map(|handle| handle.with(share)).transpose()?;
        let handle = handle.map(Arc::new);
        if handle.is_none() {
            ucs_diag!(
                "{NAME}: the memory at {:#x} has no handle for other processes: memory of cudaMalloc() has one, and that of cuMemCreate() and \
                 of pools if it was made for descriptors or fabric handles",
                of.base
            );
        }
        // Without a number it cannot be told from another one.
        if of.id != 0 {
            let mut all = self.0.lock();
            all.truncate(Self::MOST - 1);
            all.push_front((of.id, handle.clone()));
        }
        Ok(handle)
    }
}

/// A handle as keys have it.
fn numbered(of: &IpcHandle<local::Shared>) -> Handle {
    let number = |shared: &local::Shared| Ok::<_, Infallible>(shared.serial);
    let Ok(handle) = of.as_ref().with(number);
    handle
}

/// What a memory handle points to: a registered part of an allocation.
pub struct Exported {
    handle: OwnHandle,
    of: Allocation,
    address: usize,
    length: usize,
}

impl Component for CudaIpcComponent {
    fn name(&self) -> &'static str {
        NAME
    }

    fn is_available(&self) -> bool {
        driver::is_wanted()
    }

    fn flags(&self) -> u64 {
        0
    }

    fn md_config(&self) -> &'static Table {
        &config::MD
    }

    fn md_resources(&self) -> core::result::Result<Vec<&'static str>, Unusable> {
        driver::available().map(|_| vec![NAME])
    }

    fn md_open(&self, _name: &str, config: &Config) -> Result<Box<dyn DynMd>> {
        let driver = driver::get().map_err(|why| {
            ucs_error!("{NAME}: {why}");
            Status::NO_DEVICE
        })?;
        let membership = local::join().map_err(|failure| {
            ucs_error!("{NAME}: {failure}");
            failure.status
        })?;
        let (regions, bytes) = (
            config.ulong(var!(config::MD, "CACHE_MAX_REGIONS")),
            config.memunits(var!(config::MD, "CACHE_MAX_SIZE")),
        );
        Ok(Box::new(CudaIpcMd {
            shared: Arc::new(Shared {
                driver,
                streams: Streams::new(driver),
                cache: Cache::new(driver, regions, bytes),
                membership,
                handles: Handles::default(),
            }),
        }))
    }

    fn transports(&self) -> &'static [&'static dyn Transport] {
        &[&CudaIpcTransport]
    }

    fn key_len(&self) -> usize {
        KEY_LEN
    }

    fn rkey_unpack(&self, packed: &[u8]) -> Result<UnpackedKey> {
        let key = packed.first_chunk().and_then(Key::decode).ok_or_else(|| {
            ucs_error!("{NAME}: these bytes are no remote key of this transport");
            Status::INVALID_PARAM
        })?;
        Ok(UnpackedKey::Object(Box::new(key)))
    }
}

/// Nothing is mapped at this address: copies open the peer's memory themselves.
impl KeyObject for Key {}

impl MemoryHandle for Exported {}

impl Transport for CudaIpcTransport {
    fn name(&self) -> &'static str {
        NAME
    }

    fn wire_number(&self) -> Option<u8> {
        Some(7)
    }

    fn groups(&self) -> &'static [&'static str] {
        &["cuda"]
    }

    /// Where there is no driver nobody is troubled with it.
    fn is_only_by_name(&self, _config: &Config) -> bool {
        !driver::is_wanted()
    }

    fn config(&self) -> &'static Table {
        &config::IFACE
    }

    fn devices(&self, md: &dyn DynMd) -> core::result::Result<Vec<Device>, Unusable> {
        let md = md_as::<CudaIpcMd>(md).ok();
        Ok(vec![Device {
            name: "cuda".to_owned(),
            kind: UCT_DEVICE_TYPE_SHM,
            sys_device: md.map_or(UCS_SYS_DEVICE_ID_UNKNOWN, |md| {
                current_device(md.shared.driver)
            }),
        }])
    }

    fn unreachable(&self, device: &[u8], iface: &[u8]) -> String {
        match iface::find_process(device, self.address_owner(iface)) {
            Err(why) => why,
            Ok(name) => format!("process {} can be reached now", name.pid),
        }
    }

    fn address_owner(&self, iface: &[u8]) -> Option<ProcessName> {
        wire::decode_address(iface.first_chunk()?)
    }

    fn open(
        &self,
        md: &dyn DynMd,
        worker: &WorkerHandle,
        device: &str,
        params: IfaceParams,
        config: &Config,
    ) -> core::result::Result<uct_iface_h, Failure> {
        let md: &CudaIpcMd = md_as(md)?;
        Ok(CudaIpcIface::open(
            &md.shared, worker, device, params, config,
        ))
    }
}

impl Md for CudaIpcMd {
    type Memory = Exported;

    fn attr(&self) -> MdAttr {
        MdAttr {
            flags: (UCT_MD_FLAG_REG | UCT_MD_FLAG_NEED_RKEY) as u64,
            max_reg: usize::MAX,
            reg_mem_types: 1 << UCS_MEMORY_TYPE_CUDA,
            cache_mem_types: 1 << UCS_MEMORY_TYPE_CUDA,
            access_mem_types: 1 << UCS_MEMORY_TYPE_CUDA,
            ..MdAttr::PLAIN
        }
    }

    /// `INVALID_ADDR` for what is no memory of a device, `UNSUPPORTED` for what the driver has no such handle of.
    fn mem_reg(&self, address: *mut c_void, length: usize, flags: u32) -> Result<Exported> {
        let complain = |what: fmt::Arguments<'_>| match flags & UCT_MD_MEM_FLAG_HIDE_ERRORS {
            0 => ucs_error!("{NAME}: {what}"),
            _ => ucs_debug!("{NAME}: {what}"),
        };
        let (address, driver) = (address.addr(), self.shared.driver);
        let found = driver.allocation_of(address).map_err(|e| {
            complain(format_args!("the memory at {address:#x} is not known: {e}"));
            Status::from(e)
        })?;
        let is_inside = |of: &Allocation| {
            let before = address.checked_sub(of.base);
            let rest = before.and_then(|before| of.length.checked_sub(before));
            rest.is_some_and(|rest| length <= rest)
        };
        let of = match found {
            Some(of) if is_inside(&of) => of,
            // What is mapped in steps may go on behind the end of this step, and has one handle for each.
            Some(of) if of.is_mapped_in_steps() => return Err(Status::UNSUPPORTED),
            _ => {
                complain(format_args!(
                    "{length} bytes at {address:#x} are not of one allocation of a device"
                ));
                return Err(Status::INVALID_ADDR);
            }
        };
        let handle = self.shared.handles.of(driver, &of)?;
        Ok(Exported {
            handle: handle.ok_or(Status::UNSUPPORTED)?,
            of,
            address,
            length,
        })
    }

    fn mem_dereg(&self, _memory: Exported) -> Result<()> {
        Ok(())
    }

    fn mkey_pack(&self, of: &Exported) -> Result<PackedKey> {
        let key = Key {
            owner: self.shared.membership.name,
            handle: numbered(&of.handle),
            id: of.of.id,
            base: of.of.base as u64,
            extent: of.of.length as u64,
            address: of.address as u64,
            length: of.length as u64,
        };
        Ok(PackedKey::from_slice(&key.encode()))
    }
}
