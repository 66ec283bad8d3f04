//! The smallest transport: one folder, registered by one line. UCP runs over it without another change.
//!
//! It carries messages between workers of one thread, through a queue for each interface. `iface`: the data path.

mod iface;

use ferrucx::c::*;
use ferrucx::ucs::config::{Config, Table};
use ferrucx::ucs::{Failure, Result};
use ferrucx::uct::api::{Component, Device, Md, MdAttr, Transport, Unusable};
use ferrucx::uct::base::config as shared;
use ferrucx::uct::base::md::{DynMd, MemoryNumber};
use ferrucx::uct::base::params::IfaceParams;
use ferrucx::uct::base::worker::WorkerHandle;

pub struct SkeletonComponent;
struct SkeletonMd;
struct SkeletonTransport;

const NAME: &str = "skeleton";

static MD: Table = Table {
    name: "skeleton memory domain",
    prefix: "SKELETON_",
    parent: None,
    rows: &[],
};

static IFACE: Table = Table {
    name: "skeleton transport",
    prefix: "SKELETON_",
    parent: Some(&shared::IFACE),
    rows: &[],
};

impl Component for SkeletonComponent {
    fn name(&self) -> &'static str {
        NAME
    }
    fn flags(&self) -> u64 {
        0
    }
    fn md_config(&self) -> &'static Table {
        &MD
    }
    fn md_resources(&self) -> core::result::Result<Vec<&'static str>, Unusable> {
        Ok(vec![NAME])
    }
    fn md_open(&self, _name: &str, _config: &Config) -> Result<Box<dyn DynMd>> {
        Ok(Box::new(SkeletonMd))
    }
    fn transports(&self) -> &'static [&'static dyn Transport] {
        &[&SkeletonTransport]
    }
}

impl Md for SkeletonMd {
    type Memory = MemoryNumber;
    fn attr(&self) -> MdAttr {
        MdAttr::PLAIN
    }
}

impl Transport for SkeletonTransport {
    fn name(&self) -> &'static str {
        NAME
    }
    fn wire_number(&self) -> Option<u8> {
        Some(200)
    }
    fn groups(&self) -> &'static [&'static str] {
        &["bones"]
    }
    fn config(&self) -> &'static Table {
        &IFACE
    }
    fn devices(&self, _md: &dyn DynMd) -> core::result::Result<Vec<Device>, Unusable> {
        Ok(vec![Device {
            name: "thread".to_owned(),
            kind: UCT_DEVICE_TYPE_SHM,
            sys_device: UCS_SYS_DEVICE_ID_UNKNOWN,
        }])
    }
    fn unreachable(&self, _device: &[u8], _iface: &[u8]) -> String {
        "the peer is not of this thread".to_owned()
    }
    fn open(
        &self,
        _md: &dyn DynMd,
        worker: &WorkerHandle,
        device: &str,
        params: IfaceParams,
        _config: &Config,
    ) -> core::result::Result<uct_iface_h, Failure> {
        Ok(iface::open(worker, device, params))
    }
}
