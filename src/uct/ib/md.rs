//! The component `ib` and its memory domains: one for each device, named like it.
#![forbid(unsafe_code)]

use super::config;
use super::events::Watch;
use super::port::Port;
use super::rc::{self, RcIface};
use super::subnets::{Subnets, subnet_prefix};
use super::ud::{self, UdIface};
use super::wire::{self, KEY_LEN, SHORT_DEVICE_LEN, SHORT_PAIR_LEN, decode_key, encode_key};
use crate::c::verbs::{IBV_ATOMIC_NONE, ibv_device_attr};
use crate::c::*;
use crate::sys::verbs::{self, Access, Device, Region};
use crate::ucs::config::{AUTO, Config, Table, Ternary, var};
use crate::ucs::sync::{AtomicBool, Ordering};
use crate::ucs::{Failure, Result, Status, topo};
use crate::uct::api::{
    Component, Device as TlDevice, Dmabuf, Md, MdAttr, PackedKey, Transport, UnpackedKey, Unusable,
};
use crate::uct::auth;
use crate::uct::base::iface::md_as;
use crate::uct::base::md::{DynMd, MemoryHandle};
use crate::uct::base::params::IfaceParams;
use crate::uct::base::worker::WorkerHandle;
use crate::{ucs_debug, ucs_diag, ucs_error};
use core::ffi::c_void;
use once_cell::race::OnceBox;
use std::any::Any;
use std::sync::Arc;

pub struct IbComponent;

/// An open device, for interfaces that outlive no domain.
pub struct Domain {
    pub device: Arc<Device>,
    pub name: String,
    pub limits: ibv_device_attr,
    pub watch: Watch,
    /// Where it is on PCI, and the bytes a second that its link there takes.
    place: Option<(ucs_sys_device_t, f64)>,
    /// Which address of a port to use, where the user chose.
    gid_index: Option<usize>,
    /// The subnet of the InfiniBand ports that are used.
    subnet: Option<[u8; 8]>,
    /// It was logged that memory of the library's own was not registered.
    refusal_told: AtomicBool,
}

struct IbMd {
    domain: Arc<Domain>,
    reg_cost: (f64, f64),
    /// Types of memory that need not be pinned.
    on_demand_types: u64,
    /// Fetch the pages of such memory as it is registered.
    prefetches: bool,
    gpus: GpuMemory,
}

/// How the device reaches memory of GPUs.
#[derive(Clone, Copy, Default)]
struct GpuMemory {
    /// The types that are registered as the host's: a kernel module knows their addresses.
    by_address: u64,
    by_dmabuf: bool,
}

impl GpuMemory {
    /// `UNSUPPORTED` where the configuration wants what is not there.
    fn look(device: &Arc<Device>, name: &str, config: &Config) -> Result<GpuMemory> {
        let wanted = config.ternary(var!(config::MD, "GPU_DIRECT_RDMA"));
        if wanted == Ternary::No {
            return Ok(GpuMemory::default());
        }
        let found = GpuMemory {
            by_address: match verbs::has_peer_memory() {
                true => 1 << UCS_MEMORY_TYPE_CUDA,
                false => 0,
            },
            by_dmabuf: device.takes_dmabufs(),
        };
        if wanted == Ternary::Yes && found.by_address == 0 && !found.by_dmabuf {
            ucs_error!(
                "{name}: UCX_IB_GPU_DIRECT_RDMA=y: the device takes no dmabufs, and neither nvidia_peermem nor nv_peer_mem is \
                 loaded"
            );
            return Err(Status::UNSUPPORTED);
        }
        Ok(found)
    }
}

struct RcTransport;
struct UdTransport;

/// Whether there is no device, or connections shall be proven, which those of RDMA devices cannot be: then UCP tries them
/// for who says so.
fn is_only_by_name(config: &Config) -> bool {
    if !verbs::has_devices() {
        return true;
    }
    let auth = config.others().read(&auth::TABLE);
    auth.map_or(true, |auth| {
        !auth.str(var!(auth::TABLE, "AUTH_FILE")).is_empty()
    })
}

const HOST: u64 = 1 << UCS_MEMORY_TYPE_HOST;

/// Above the names that network interfaces give to their PCI functions.
const NAME_PRIORITY: u32 = 20;

/// The devices that this process may open, as they were when it first asked.
fn names() -> &'static [String] {
    static NAMES: OnceBox<Vec<String>> = OnceBox::new();
    NAMES.get_or_init(|| {
        let blocked = |name: &str, why: &str| {
            ucs_debug!("RDMA device {name} is left out: {why}");
        };
        let found = verbs::device_names(blocked).unwrap_or_else(|e| {
            ucs_diag!("RDMA devices are left out: {e}; is rdma-core installed?");
            Vec::new()
        });
        Box::new(found)
    })
}

impl Component for IbComponent {
    fn name(&self) -> &'static str {
        "ib"
    }

    fn is_available(&self) -> bool {
        verbs::has_devices()
    }

    fn flags(&self) -> u64 {
        0
    }

    fn md_config(&self) -> &'static Table {
        &config::MD
    }

    fn md_resources(&self) -> core::result::Result<Vec<&'static str>, Unusable> {
        Ok(names().iter().map(String::as_str).collect())
    }

    fn md_open(&self, name: &str, config: &Config) -> Result<Box<dyn DynMd>> {
        let fork = config.ternary(var!(config::MD, "FORK_INIT"));
        if fork != Ternary::No
            && let Err(e) = verbs::prepare_fork()
        {
            if fork == Ternary::Yes {
                ucs_error!("{name}: UCX_IB_FORK_INIT=y: fork() cannot be prepared for: {e}");
                return Err(e.into());
            }
            ucs_debug!("{name}: fork() is not prepared for: {e}");
        }
        let opened = Device::open(name).and_then(|device| Ok((device.attributes()?, device)));
        let (limits, device) = opened.map_err(|e| {
            ucs_error!("RDMA device {name} cannot be opened: {e}");
            Status::from(e)
        })?;
        let subnet = subnet_prefix(config.str(var!(config::MD, "SUBNET_PREFIX")))?;
        let on_demand_types = match device.pages_on_demand() {
            true => HOST & config.bitmap(var!(config::MD, "ODP_MEM_TYPES")),
            false => 0,
        };
        let gpus = GpuMemory::look(&device, name, config)?;
        let watch = match config.bool(var!(config::MD, "ASYNC_EVENTS")) {
            true => Watch::start(&device, name)?,
            false => Watch::none(),
        };
        Ok(Box::new(IbMd {
            domain: Arc::new(Domain {
                device,
                name: name.to_owned(),
                limits,
                watch,
                place: topo::of_class("infiniband", name, NAME_PRIORITY),
                gid_index: Some(config.ulong(var!(config::MD, "GID_INDEX")))
                    .filter(|&index| index != AUTO),
                subnet,
                refusal_told: AtomicBool::new(false),
            }),
            reg_cost: (
                config.time(var!(config::MD, "MEM_REG_OVERHEAD")),
                config.time(var!(config::MD, "MEM_REG_GROWTH")),
            ),
            on_demand_types,
            prefetches: config.bool(var!(config::MD, "ODP_PREFETCH")),
            gpus,
        }))
    }

    fn transports(&self) -> &'static [&'static dyn Transport] {
        &[&RcTransport, &UdTransport]
    }

    fn key_len(&self) -> usize {
        KEY_LEN
    }

    fn rkey_unpack(&self, packed: &[u8]) -> Result<UnpackedKey> {
        let key = packed.first_chunk().copied().and_then(decode_key);
        let Some(key) = key else {
            ucs_error!("a remote key is damaged or of another library: it is not unpacked");
            return Err(Status::INVALID_PARAM);
        };
        Ok(UnpackedKey::Word(key as uct_rkey_t))
    }
}

impl Domain {
    fn port(&self, number: u8, subnets: &Subnets) -> core::result::Result<Port, String> {
        let choice = (self.gid_index, self.subnet);
        let mut port = Port::look(&self.device, &self.name, number, choice, subnets)?;
        if let Some((_, link)) = self.place {
            port.link = link;
        }
        Ok(port)
    }

    /// Whether the device has 64-bit atomics.
    pub fn has_atomics(&self) -> bool {
        self.limits.atomic_cap != IBV_ATOMIC_NONE
    }

    /// The system device, as lists of resources name it.
    fn system_device(&self) -> ucs_sys_device_t {
        self.place
            .map_or(UCS_SYS_DEVICE_ID_UNKNOWN, |(device, _)| device)
    }

    /// Registers memory of the library's own, that the device alone writes.
    pub fn register_own(
        self: &Arc<Domain>,
        at: *mut u8,
        len: usize,
    ) -> Result<(u32, Box<dyn Any>)> {
        let access = Access {
            local_write: true,
            ..Access::default()
        };
        let region = self
            .device
            .register(at as usize, len, access)
            .map_err(|e| {
                // Who needs it asks again.
                if !self.refusal_told.swap(true, Ordering::Relaxed) {
                    ucs_error!("{}; this is logged once", self.refusal(len, &e));
                }
                Status::from(e)
            })?;
        Ok((region.local_key(), Box::new(region)))
    }

    /// Why memory is not registered.
    fn refusal(&self, len: usize, e: &std::io::Error) -> String {
        let limit = crate::sys::mem::locked_limit();
        let limit = limit.map_or_else(|| "infinite".to_owned(), |bytes| format!("{bytes} bytes"));
        format!(
            "{}: {len} bytes cannot be registered: {e}; the limit of locked memory is {limit} (ulimit -l)",
            self.name
        )
    }
}

impl MemoryHandle for Region {}

impl IbMd {
    /// What a registration allows, by `UCT_MD_MEM_*`.
    fn access(&self, flags: u32) -> Access {
        let asks = |flag: u32| flags & flag != 0;
        Access {
            local_write: asks(UCT_MD_MEM_ACCESS_LOCAL_WRITE),
            remote_read: asks(UCT_MD_MEM_ACCESS_REMOTE_GET),
            remote_write: asks(UCT_MD_MEM_ACCESS_REMOTE_PUT),
            remote_atomic: asks(UCT_MD_MEM_ACCESS_REMOTE_ATOMIC) && self.domain.has_atomics(),
            on_demand: asks(UCT_MD_MEM_FLAG_NONBLOCK) && self.on_demand_types & HOST != 0,
        }
    }
}

impl Md for IbMd {
    type Memory = Region;

    fn attr(&self) -> MdAttr {
        let takes_advice = self.on_demand_types != 0 && self.domain.device.takes_advice();
        let advice = if takes_advice { UCT_MD_FLAG_ADVISE } else { 0 };
        let dmabufs = match self.gpus.by_dmabuf {
            true => UCT_MD_FLAG_REG_DMABUF,
            false => 0,
        };
        MdAttr {
            flags: u64::from(
                UCT_MD_FLAG_REG | UCT_MD_FLAG_NEED_MEMH | UCT_MD_FLAG_NEED_RKEY | advice | dmabufs,
            ),
            reg_nonblock_mem_types: self.on_demand_types,
            max_reg: usize::try_from(self.domain.limits.max_mr_size).unwrap_or(usize::MAX),
            reg_mem_types: HOST | self.gpus.by_address,
            cache_mem_types: HOST,
            access_mem_types: HOST,
            reg_cost: self.reg_cost,
            ..MdAttr::PLAIN
        }
    }

    fn mem_reg(&self, address: *mut c_void, length: usize, flags: u32) -> Result<Region> {
        let at = address as usize;
        let access = self.access(flags);
        let registered = self.domain.device.register(at, length, access);
        let region = registered.map_err(|e| match flags & UCT_MD_MEM_FLAG_HIDE_ERRORS {
            0 => {
                ucs_error!("{}", self.domain.refusal(length, &e));
                Status::from(e)
            }
            _ => {
                ucs_debug!("{}: registering {length} bytes: {e}", self.domain.name);
                Status::from(e)
            }
        })?;
        if region.is_on_demand() && self.prefetches {
            // Without it the pages come when the device needs them.
            if let Err(e) = region.prefetch(at, length) {
                ucs_debug!(
                    "{}: {length} bytes are not fetched ahead: {e}",
                    self.domain.name
                );
            }
        }
        Ok(region)
    }

    fn mem_reg_dmabuf(
        &self,
        address: *mut c_void,
        length: usize,
        flags: u32,
        dmabuf: Dmabuf,
    ) -> Result<Region> {
        let access = Access {
            // What is behind a dmabuf its owner holds.
            on_demand: false,
            ..self.access(flags)
        };
        let (name, from) = (&self.domain.name, (dmabuf.file, dmabuf.offset));
        let device = &self.domain.device;
        let registered = device.register_dmabuf(from, address as usize, length, access);
        registered.map_err(|e| {
            match flags & UCT_MD_MEM_FLAG_HIDE_ERRORS {
                0 => ucs_error!("{name}: {length} bytes of a dmabuf cannot be registered: {e}"),
                _ => ucs_debug!("{name}: registering {length} bytes of a dmabuf: {e}"),
            }
            Status::from(e)
        })
    }

    /// The device forgets it with the region.
    fn mem_dereg(&self, _memory: Region) -> Result<()> {
        Ok(())
    }

    /// Memory that is pinned is there.
    fn mem_advise(
        &self,
        region: &Region,
        address: *mut c_void,
        length: usize,
        advice: uct_mem_advice_t,
    ) -> Result<()> {
        let at = address as usize;
        if !region.contains(at, length) {
            ucs_error!(
                "{}: {length} bytes at {at:#x} are outside the region",
                self.domain.name
            );
            return Err(Status::INVALID_PARAM);
        }
        match advice {
            UCT_MADV_NORMAL => Ok(()),
            UCT_MADV_WILLNEED if region.is_on_demand() => Ok(region.prefetch(at, length)?),
            UCT_MADV_WILLNEED => Ok(()),
            _ => Err(Status::INVALID_PARAM),
        }
    }

    fn mkey_pack(&self, region: &Region) -> Result<PackedKey> {
        Ok(PackedKey::from_slice(&encode_key(region.remote_key())))
    }
}

/// A port as users name it.
fn device_name(domain: &Domain, port: u8) -> String {
    format!("{}:{port}", domain.name)
}

impl Domain {
    /// The ports that can be used.
    fn ports(&self) -> core::result::Result<Vec<TlDevice>, Unusable> {
        let mut found = Vec::new();
        let mut unusable = format!("{} has no port", self.name);
        for number in 1..=self.limits.phys_port_cnt {
            let name = device_name(self, number);
            match self.port(number, &Subnets::ALL) {
                Ok(_) => found.push(TlDevice {
                    name,
                    kind: UCT_DEVICE_TYPE_NET,
                    sys_device: self.system_device(),
                }),
                Err(why) => {
                    unusable = format!("{name}: {why}");
                    ucs_debug!("{name} is left out: {why}");
                }
            }
        }
        match found.is_empty() {
            true => Err(Unusable(unusable)),
            false => Ok(found),
        }
    }

    /// The port that users call `device`.
    fn port_called(&self, device: &str, transport: &str, config: &Config) -> Result<Port> {
        let subnets = Subnets::read(config)?;
        let number = (1..=self.limits.phys_port_cnt).find(|n| device_name(self, *n) == device);
        let Some(number) = number else {
            ucs_error!("{transport}: there is no port {device}");
            return Err(Status::NO_DEVICE);
        };
        self.port(number, &subnets).map_err(|why| {
            ucs_error!("{transport}: {device} cannot be used: {why}");
            Status::NO_DEVICE
        })
    }
}

impl Transport for RcTransport {
    fn name(&self) -> &'static str {
        rc::NAME
    }

    fn config(&self) -> &'static Table {
        &config::RC_VERBS
    }

    fn wire_number(&self) -> Option<u8> {
        Some(6)
    }

    fn groups(&self) -> &'static [&'static str] {
        &["rc_v", "rc", "ib"]
    }

    fn is_only_by_name(&self, config: &Config) -> bool {
        is_only_by_name(config)
    }

    /// Also those of this host: each adapter moves its own data.
    fn has_rails(&self, _device: &[u8]) -> bool {
        true
    }

    fn devices(&self, md: &dyn DynMd) -> core::result::Result<Vec<TlDevice>, Unusable> {
        let domain = &md_as::<IbMd>(md)
            .map_err(|e| Unusable(e.to_string()))?
            .domain;
        domain.ports()
    }

    fn short_lengths(&self) -> Option<(usize, usize)> {
        Some((SHORT_DEVICE_LEN, SHORT_PAIR_LEN))
    }

    fn shorten(&self, device: &[u8], iface: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
        wire::shorten(device, iface, rc::wire::decode_iface)
    }

    fn lengthen(&self, device: &[u8], iface: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
        wire::lengthen(device, iface, rc::wire::encode_iface)
    }

    fn open(
        &self,
        md: &dyn DynMd,
        worker: &WorkerHandle,
        device: &str,
        params: IfaceParams,
        config: &Config,
    ) -> core::result::Result<uct_iface_h, Failure> {
        let domain = &md_as::<IbMd>(md)?.domain;
        let port = domain.port_called(device, self.name(), config)?;
        RcIface::open(domain, port, worker, device, params, config)
    }
}

impl Transport for UdTransport {
    fn name(&self) -> &'static str {
        ud::NAME
    }

    fn config(&self) -> &'static Table {
        &ud::UD_VERBS
    }

    fn wire_number(&self) -> Option<u8> {
        Some(5)
    }

    fn groups(&self) -> &'static [&'static str] {
        &["ud_v", "ud", "ib"]
    }

    /// It sends messages only.
    fn uses_keys(&self) -> bool {
        false
    }

    fn is_only_by_name(&self, config: &Config) -> bool {
        is_only_by_name(config)
    }

    fn devices(&self, md: &dyn DynMd) -> core::result::Result<Vec<TlDevice>, Unusable> {
        md_as::<IbMd>(md)
            .map_err(|e| Unusable(e.to_string()))?
            .domain
            .ports()
    }

    fn short_lengths(&self) -> Option<(usize, usize)> {
        Some((SHORT_DEVICE_LEN, SHORT_PAIR_LEN))
    }

    fn shorten(&self, device: &[u8], iface: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
        wire::shorten(device, iface, ud::wire::decode_iface)
    }

    fn lengthen(&self, device: &[u8], iface: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
        wire::lengthen(device, iface, ud::wire::encode_iface)
    }

    fn open(
        &self,
        md: &dyn DynMd,
        worker: &WorkerHandle,
        device: &str,
        params: IfaceParams,
        config: &Config,
    ) -> core::result::Result<uct_iface_h, Failure> {
        let domain = &md_as::<IbMd>(md)?.domain;
        let port = domain.port_called(device, self.name(), config)?;
        UdIface::open(domain, port, worker, device, params, config)
    }
}
