//! The component `cuda_cpy` and its memory domain, which tells memory types apart, allocates and pins memory.
#![forbid(unsafe_code)]

use super::config;
use super::copier::Copier;
use super::driver;
use super::iface::{self, CudaIface};
use super::known::{Detector, current_device, ordinal_of};
use crate::c::*;
use crate::sys::cuda::{Allocate, Block, Context, Driver};
use crate::ucs::config::{Config, Table, Ternary, var};
use crate::ucs::status::Failure;
use crate::ucs::{Result, Status};
use crate::uct::api::{
    Alloc, Component, Device, Md, MdAttr, MemoryInfo, PackedKey, Transport, Unusable,
};
use crate::uct::base::iface::md_as;
use crate::uct::base::md::{DynMd, MemoryHandle};
use crate::uct::base::memory_copier::MemoryCopier;
use crate::uct::base::params::IfaceParams;
use crate::uct::base::worker::WorkerHandle;
use crate::{ucs_debug, ucs_error};
use core::ffi::c_void;
use std::os::fd::OwnedFd;
use std::sync::Arc;

pub const NAME: &str = "cuda_cpy";

pub struct CudaComponent;

struct CudaTransport;

pub struct CudaMd {
    driver: Driver,
    detector: Detector,
    copier: Arc<Copier>,
    primary: bool,
    /// Whether device memory is allocated for other nodes of a fabric.
    fabric: Ternary,
}

/// What a memory handle points to.
pub enum Handle {
    Allocated(Block),
    /// Memory of the host that was pinned here, by its address, in a context.
    Pinned(usize, Context),
    /// Device memory, and memory of the host that could not be pinned, need no registration.
    Plain,
}

/// The types that device memory has.
const DEVICE: u64 = 1 << UCS_MEMORY_TYPE_CUDA | 1 << UCS_MEMORY_TYPE_CUDA_MANAGED;
const ALL: u64 = 1 << UCS_MEMORY_TYPE_HOST | DEVICE;

impl Component for CudaComponent {
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
        let detector = Detector::new(driver, config);
        let is_needed = config.ternary(var!(config::MD, "DMABUF")) == Ternary::Yes;
        if is_needed && detector.dmabuf_types() == 0 {
            ucs_error!(
                "{NAME}: UCX_CUDA_COPY_DMABUF=y: the device or its driver gives no dmabuf descriptors"
            );
            return Err(Status::UNSUPPORTED);
        }
        let bandwidths = config::bandwidths(&config.others().read(&config::IFACE)?)?;
        Ok(Box::new(CudaMd {
            driver,
            detector,
            copier: Arc::new(Copier::new(driver, bandwidths)),
            primary: config.bool(var!(config::MD, "RETAIN_PRIMARY_CTX")),
            fabric: config.ternary(var!(config::MD, "ENABLE_FABRIC")),
        }))
    }

    fn transports(&self) -> &'static [&'static dyn Transport] {
        &[&CudaTransport]
    }
}

impl Transport for CudaTransport {
    fn name(&self) -> &'static str {
        iface::NAME
    }

    fn copies_memory(&self) -> bool {
        true
    }

    fn groups(&self) -> &'static [&'static str] {
        &["cuda"]
    }

    fn config(&self) -> &'static Table {
        &config::IFACE
    }

    fn devices(&self, md: &dyn DynMd) -> core::result::Result<Vec<Device>, Unusable> {
        let md = md_as::<CudaMd>(md).ok();
        Ok(vec![Device {
            name: "cuda".to_owned(),
            kind: UCT_DEVICE_TYPE_ACC,
            sys_device: md.map_or(UCS_SYS_DEVICE_ID_UNKNOWN, |md| current_device(md.driver)),
        }])
    }

    fn open(
        &self,
        md: &dyn DynMd,
        worker: &WorkerHandle,
        device: &str,
        params: IfaceParams,
        config: &Config,
    ) -> core::result::Result<uct_iface_h, Failure> {
        let md: &CudaMd = md_as(md)?;
        Ok(CudaIface::open(&md.copier, worker, device, params, config)?)
    }
}

impl MemoryHandle for Handle {}

impl Md for CudaMd {
    type Memory = Handle;

    fn attr(&self) -> MdAttr {
        MdAttr {
            flags: (UCT_MD_FLAG_ALLOC | UCT_MD_FLAG_REG) as u64,
            max_alloc: u64::MAX,
            max_reg: usize::MAX,
            reg_mem_types: ALL,
            cache_mem_types: 1 << UCS_MEMORY_TYPE_CUDA_MANAGED,
            detect_mem_types: DEVICE,
            alloc_mem_types: DEVICE,
            access_mem_types: ALL,
            dmabuf_mem_types: self.detector.dmabuf_types(),
            ..MdAttr::PLAIN
        }
    }

    fn mem_query(&self, address: *const c_void, length: usize) -> Result<MemoryInfo> {
        self.detector.look(address.addr(), length)
    }

    fn dmabuf(&self, told: &MemoryInfo, address: *const c_void) -> Option<OwnedFd> {
        self.detector.dmabuf(told, address.addr())
    }

    fn copier(&self) -> Option<Arc<dyn MemoryCopier>> {
        let copier: Arc<dyn MemoryCopier> = self.copier.clone();
        Some(copier)
    }

    fn mem_alloc(&self, alloc: &mut Alloc<'_>) -> Result<Handle> {
        let kind = match alloc.kind {
            UCS_MEMORY_TYPE_CUDA => Allocate::Device,
            UCS_MEMORY_TYPE_CUDA_MANAGED => Allocate::Managed,
            _ => return Err(Status::UNSUPPORTED),
        };
        if alloc.flags & UCT_MD_MEM_FLAG_FIXED != 0 {
            return Err(Status::UNSUPPORTED);
        }
        let device = match alloc.device {
            UCS_SYS_DEVICE_ID_UNKNOWN => None,
            device => Some(ordinal_of(self.driver, device).ok_or_else(|| {
                ucs_error!(
                    "{NAME}: memory for {} on device {device}, which is none of NVIDIA's",
                    alloc.name
                );
                Status::NO_DEVICE
            })?),
        };
        let allocate = |kind| {
            self.driver
                .allocate(kind, alloc.length, device, self.primary)
        };
        let allocated = match kind {
            Allocate::Device if self.fabric != Ternary::No => match allocate(Allocate::Fabric) {
                Err(e) if self.fabric != Ternary::Yes => {
                    ucs_debug!("{NAME}: no memory for other nodes of a fabric: {e}");
                    allocate(kind)
                }
                result => result,
            },
            _ => allocate(kind),
        };
        let block = allocated.map_err(|e| {
            ucs_error!(
                "{NAME}: {} bytes of device memory for {}: {e}; a thread needs a context (cudaSetDevice()), or UCX_CUDA_COPY_RETAIN_PRIMARY_CTX=y",
                alloc.length,
                alloc.name
            );
            match self.fabric {
                // As upstream, whatever the driver says.
                Ternary::Yes if kind == Allocate::Device => Status::NO_MEMORY,
                _ => Status::from(e),
            }
        })?;
        alloc.address = core::ptr::with_exposed_provenance_mut(block.address());
        alloc.length = block.length();
        Ok(Handle::Allocated(block))
    }

    fn mem_free(&self, memory: Handle) -> Result<()> {
        match memory {
            Handle::Allocated(block) => block.free().map_err(|e| {
                ucs_error!("{NAME}: freeing device memory: {e}");
                Status::from(e)
            }),
            Handle::Pinned(..) | Handle::Plain => Err(Status::INVALID_PARAM),
        }
    }

    fn mem_reg(&self, address: *mut c_void, length: usize, _flags: u32) -> Result<Handle> {
        let address = address.expose_provenance();
        Ok(match self.detector.look(address, length) {
            Ok(_) => Handle::Plain,
            Err(_) => match self.copier.pin(address, length) {
                Ok(Some(context)) => Handle::Pinned(address, context),
                Ok(None) => Handle::Plain,
                // Copies from and to it are slower, no more.
                Err(e) => {
                    ucs_debug!("{NAME}: {length} bytes at {address:#x} stay unpinned: {e}");
                    Handle::Plain
                }
            },
        })
    }

    fn mem_dereg(&self, memory: Handle) -> Result<()> {
        match memory {
            Handle::Pinned(address, context) => {
                // With a context that was destroyed, all its pinning has ended.
                if let Err(e) = self.copier.unpin(address, context) {
                    ucs_debug!("{NAME}: memory at {address:#x} stays pinned: {e}");
                }
                Ok(())
            }
            Handle::Plain => Ok(()),
            Handle::Allocated(_) => Err(Status::INVALID_PARAM),
        }
    }

    /// Keys of no bytes, as upstream's: only this process reaches its memory by this domain.
    fn mkey_pack(&self, _memory: &Handle) -> Result<PackedKey> {
        Ok(PackedKey::new())
    }
}
