//! The component `rdmacm`: a connection manager without memory domains and transports.

use super::config;
use super::manager::RdmaManager;
use crate::c::UCT_COMPONENT_FLAG_CM;
use crate::sys::verbs;
use crate::ucs::config::{Config, Table};
use crate::ucs::{Result, Status};
use crate::uct::api::{Component, Transport, Unusable};
use crate::uct::base::md::DynMd;
use crate::uct::base::worker::WorkerHandle;
use crate::uct::cm::Manager;

pub struct RdmaCmComponent;

impl Component for RdmaCmComponent {
    fn name(&self) -> &'static str {
        "rdmacm"
    }

    fn is_available(&self) -> bool {
        verbs::has_devices()
    }

    fn flags(&self) -> u64 {
        u64::from(UCT_COMPONENT_FLAG_CM)
    }

    fn cm_config(&self) -> Option<&'static Table> {
        Some(&config::TABLE)
    }

    fn cm_open(&self, worker: &WorkerHandle, config: &Config) -> Result<Box<dyn Manager>> {
        Ok(Box::new(RdmaManager::open(worker, config)?))
    }

    fn md_config(&self) -> &'static Table {
        &config::MD
    }

    fn md_resources(&self) -> core::result::Result<Vec<&'static str>, Unusable> {
        Ok(Vec::new())
    }

    fn md_open(&self, _name: &str, _config: &Config) -> Result<Box<dyn DynMd>> {
        Err(Status::NO_DEVICE)
    }

    fn transports(&self) -> &'static [&'static dyn Transport] {
        &[]
    }
}
