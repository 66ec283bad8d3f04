//! The `self` memory domain: all memory of the process, no keys.
#![forbid(unsafe_code)]

use super::config;
use super::iface::{self, SelfIface};
use crate::c::*;
use crate::ucs::config::{Config, Table, var};
use crate::ucs::{Failure, Result, Status};
use crate::uct::api::{Component, Device, Md, MdAttr, PackedKey, Transport, Unusable};
use crate::uct::base::md::{DynMd, MemoryNumber};
use crate::uct::base::params::IfaceParams;
use crate::uct::base::worker::WorkerHandle;
use core::ffi::c_void;

pub struct SelfComponent;

struct SelfMd {
    devices: usize,
}

struct SelfTransport;

/// A memory handle that stands for nothing: any memory is accessible.
const MEMH: MemoryNumber = MemoryNumber(0xf00d);
const HOST: u64 = 1 << UCS_MEMORY_TYPE_HOST;
/// More loopback devices than this serve no one.
const MAX_DEVICES: usize = 64;

impl Component for SelfComponent {
    fn name(&self) -> &'static str {
        "self"
    }

    fn flags(&self) -> u64 {
        UCT_COMPONENT_FLAG_RKEY_PTR as u64
    }

    fn md_config(&self) -> &'static Table {
        &config::MD
    }

    fn md_resources(&self) -> core::result::Result<Vec<&'static str>, Unusable> {
        Ok(vec!["self"])
    }

    fn md_open(&self, _name: &str, config: &Config) -> Result<Box<dyn DynMd>> {
        let devices = usize::try_from(config.int(var!(config::MD, "NUM_DEVICES"))).unwrap_or(0);
        if !(1..=MAX_DEVICES).contains(&devices) {
            crate::ucs_error!("UCX_SELF_NUM_DEVICES must be between 1 and {MAX_DEVICES}");
            return Err(Status::INVALID_PARAM);
        }
        Ok(Box::new(SelfMd { devices }))
    }

    fn transports(&self) -> &'static [&'static dyn Transport] {
        &[&SelfTransport]
    }

    fn rkey_ptr(&self, _rkey: uct_rkey_t, remote: u64) -> Result<*mut c_void> {
        Ok(remote as *mut c_void)
    }
}

impl Md for SelfMd {
    type Memory = MemoryNumber;

    fn attr(&self) -> MdAttr {
        MdAttr {
            // Keys of no bytes, as upstream: programs that look for keys find them here too.
            flags: (UCT_MD_FLAG_REG | UCT_MD_FLAG_RKEY_PTR | UCT_MD_FLAG_NEED_RKEY) as u64,
            max_reg: usize::MAX,
            reg_mem_types: HOST,
            reg_nonblock_mem_types: HOST,
            cache_mem_types: HOST,
            access_mem_types: HOST,
            ..MdAttr::PLAIN
        }
    }

    fn mem_reg(&self, _address: *mut c_void, _length: usize, _flags: u32) -> Result<MemoryNumber> {
        Ok(MEMH)
    }

    fn mem_dereg(&self, memory: MemoryNumber) -> Result<()> {
        if memory == MEMH {
            Ok(())
        } else {
            Err(Status::INVALID_PARAM)
        }
    }

    fn mkey_pack(&self, _memory: &MemoryNumber) -> Result<PackedKey> {
        Ok(PackedKey::new())
    }
}

impl Transport for SelfTransport {
    fn name(&self) -> &'static str {
        iface::NAME
    }

    fn wire_number(&self) -> Option<u8> {
        Some(0)
    }

    fn config(&self) -> &'static Table {
        &config::IFACE
    }

    fn devices(&self, md: &dyn DynMd) -> core::result::Result<Vec<Device>, Unusable> {
        let count = md
            .as_any()
            .downcast_ref::<SelfMd>()
            .map_or(1, |md| md.devices);
        let devices = (0..count).map(|i| Device {
            name: if i == 0 {
                "memory".to_owned()
            } else {
                format!("memory{i}")
            },
            kind: UCT_DEVICE_TYPE_SELF,
            sys_device: UCS_SYS_DEVICE_ID_UNKNOWN,
        });
        Ok(devices.collect())
    }

    fn unreachable(&self, _device: &[u8], _iface: &[u8]) -> String {
        "the peer is another worker".to_owned()
    }

    fn open(
        &self,
        _md: &dyn DynMd,
        worker: &WorkerHandle,
        device: &str,
        params: IfaceParams,
        config: &Config,
    ) -> core::result::Result<uct_iface_h, Failure> {
        SelfIface::open(worker, device, params, config)
    }
}
