//! The `cma` memory domain: any memory of the host is reached as it is, there is nothing to register.
#![forbid(unsafe_code)]

use super::iface::{self, CmaIface};
use super::{config, peer, wire};
use crate::c::*;
use crate::ucs::config::{Config, Table, var};
use crate::ucs::{Failure, Result};
use crate::uct::api::{Component, Device, Md, MdAttr, Transport, Unusable};
use crate::uct::base::md::{DynMd, MemoryNumber};
use crate::uct::base::node;
use crate::uct::base::params::IfaceParams;
use crate::uct::base::worker::WorkerHandle;
use crate::uct::local::ProcessName;

pub struct CmaComponent;

struct CmaMd {
    invalidate: bool,
}

struct CmaTransport;

impl Component for CmaComponent {
    fn name(&self) -> &'static str {
        "cma"
    }

    fn flags(&self) -> u64 {
        0
    }

    fn md_config(&self) -> &'static Table {
        &config::MD
    }

    fn md_resources(&self) -> core::result::Result<Vec<&'static str>, Unusable> {
        peer::available().map(|()| vec!["cma"])
    }

    fn md_open(&self, _name: &str, config: &Config) -> Result<Box<dyn DynMd>> {
        Ok(Box::new(CmaMd {
            invalidate: config.bool(var!(config::MD, "MEMORY_INVALIDATE")),
        }))
    }

    fn transports(&self) -> &'static [&'static dyn Transport] {
        &[&CmaTransport]
    }
}

impl Md for CmaMd {
    type Memory = MemoryNumber;

    fn attr(&self) -> MdAttr {
        let invalidate = u64::from(UCT_MD_FLAG_INVALIDATE)
            | UCT_MD_FLAG_INVALIDATE_RMA
            | UCT_MD_FLAG_INVALIDATE_AMO;
        MdAttr {
            flags: if self.invalidate { invalidate } else { 0 },
            max_reg: usize::MAX,
            access_mem_types: 1 << UCS_MEMORY_TYPE_HOST,
            ..MdAttr::PLAIN
        }
    }
}

impl Transport for CmaTransport {
    fn name(&self) -> &'static str {
        iface::NAME
    }

    fn wire_number(&self) -> Option<u8> {
        Some(3)
    }

    fn groups(&self) -> &'static [&'static str] {
        &["sm", "shm"]
    }

    fn config(&self) -> &'static Table {
        &config::IFACE
    }

    fn devices(&self, _md: &dyn DynMd) -> core::result::Result<Vec<Device>, Unusable> {
        Ok(vec![node::device()])
    }

    fn unreachable(&self, device: &[u8], iface: &[u8]) -> String {
        match node::owner(device, self.address_owner(iface)) {
            Err(why) => why,
            Ok(owner) => match peer::try_reach(owner) {
                Err(why) => why,
                Ok(pid) => format!("process {pid} can be reached now"),
            },
        }
    }

    fn address_owner(&self, iface: &[u8]) -> Option<ProcessName> {
        wire::decode(iface.first_chunk()?)
    }

    fn open(
        &self,
        _md: &dyn DynMd,
        worker: &WorkerHandle,
        device: &str,
        params: IfaceParams,
        config: &Config,
    ) -> core::result::Result<uct_iface_h, Failure> {
        CmaIface::open(worker, device, params, config)
    }
}
