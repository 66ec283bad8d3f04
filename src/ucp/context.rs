//! A context: the application's parameters, the memory domains, and the transports that the configuration allows.
//!
//! Domains are opened at once (they hold nothing); interfaces are opened by workers.
#![forbid(unsafe_code)]

use super::allowed::{self, Here};
use super::device_memory::DeviceMemory;
use super::device_reg_cache::DeviceRegCache;
use super::feature::Told;
use super::nearness::Nearness;
use super::reg_cache::RegCaches;
use crate::c::*;
use crate::sys;
use crate::ucp::config::TABLE;
use crate::ucp::regions::Regions;
use crate::ucs::config::{AUTO, Config, Count, Others, Ternary, Var, var};
use crate::ucs::fork::Stamp;
use crate::ucs::{Result, Status};
use crate::uct::api::{Component, Device, Transport};
use crate::uct::base::md::{ComponentHandle, DynMd, MdHandle};
use crate::uct::registry::{components, numbered, numbered_of};
use crate::{ucs_debug, ucs_diag, ucs_error, ucs_warn};
use core::ops::Range;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::OnceLock;

/// The parameters of `ucp_init_version`.
#[derive(Clone)]
pub struct ContextParams {
    pub features: u64,
    pub request_size: usize,
    pub request_init: ucp_request_init_callback_t,
    pub request_cleanup: ucp_request_cleanup_callback_t,
    /// For transports with tag matching, which UCP does not use.
    pub tag_sender_mask: u64,
    pub mt_workers_shared: bool,
    pub estimated_num_eps: usize,
    pub estimated_num_ppn: usize,
    pub node_local_id: usize,
    pub name: String,
    /// The API minor of the client's headers: some constants differ by it.
    pub api_minor: u32,
}

/// A transport on a device that workers open an interface on.
pub struct Resource {
    /// Index into `Context::mds`.
    pub md: usize,
    pub transport: &'static dyn Transport,
    /// The transport's number in worker addresses.
    pub number: u8,
    pub device: Device,
    /// Devices in the order found, for `ucp_context_print_info`.
    pub device_index: usize,
}

/// A memory domain whose keys peers use.
pub struct KeyDomain {
    /// Index into `Context::mds`.
    pub index: usize,
    /// The types of memory that it registers by their addresses, a bit for each, and those that it may by dmabufs.
    by_address: u64,
    by_dmabuf: u64,
    /// How often it could not, in turn.
    failures: AtomicU32,
    /// Its transports take no memory without a handle.
    pub needs_handle: bool,
    /// Memory is registered with it. Without: its keys have no bytes, and its transports reach all memory as it is.
    pub registers: bool,
}

pub struct Context {
    pub params: ContextParams,
    pub made_by: Stamp,
    pub config: Config,
    /// Before the domains, which they give registrations back to.
    pub reg_caches: RegCaches,
    /// As well, of memory of devices.
    pub device_reg_cache: DeviceRegCache,
    pub mds: Vec<Box<MdHandle>>,
    /// The domains that tell memory of devices apart.
    pub device_memory: DeviceMemory,
    pub resources: Vec<Resource>,
    pub key_domains: Vec<KeyDomain>,
    /// Looked up when it is first asked for.
    nearness: OnceLock<Nearness>,
    upstream_peers: Ternary,
    /// Types of memory that are not to be pinned, as bits.
    unpinned_types: u64,
    pins_if_none_does_without: bool,
    /// Processes of the job on this node, which share its devices.
    pub processes_here: usize,
    /// The transports that no resource is of, by their numbers, and why.
    unused: Vec<(u8, String)>,
    /// Tells this context from every other that its peers may know.
    pub id: u64,
    /// Memory the application mapped, by the ids that remote keys carry.
    pub regions: Regions,
    /// Memory could not be registered, and the log said so.
    unregistered: AtomicBool,
    /// What the log was told of features that were not asked for.
    pub(super) told: Told,
}

/// So many times in turn a domain is asked to register memory of devices that it cannot.
const REGISTRATIONS_TRIED: u32 = 3;

impl KeyDomain {
    /// Whether it takes memory of a type, `UCS_MEMORY_TYPE_*`.
    pub fn takes(&self, kind: ucs_memory_type_t) -> bool {
        (self.by_address | self.by_dmabuf) & bit(kind) != 0
    }

    pub fn takes_addresses_of(&self, kind: ucs_memory_type_t) -> bool {
        self.by_address & bit(kind) != 0
    }

    pub fn takes_dmabufs_of(&self, kind: ucs_memory_type_t) -> bool {
        self.by_dmabuf & bit(kind) != 0
    }

    /// Whether to offer memory of a device to it: not where that has failed again and again.
    fn is_worth_trying(&self) -> bool {
        // Relaxed: it guards nothing else.
        self.failures.load(Ordering::Relaxed) < REGISTRATIONS_TRIED
    }

    /// Memory of a device was registered, or could not be.
    pub fn note_device_memory(&self, is_registered: bool) {
        // Relaxed, as above.
        match is_registered {
            true => self.failures.store(0, Ordering::Relaxed),
            false => {
                self.failures.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// The bit of a memory type in masks.
fn bit(kind: ucs_memory_type_t) -> u64 {
    1u64.unbounded_shl(kind)
}

/// Workers of several threads use one context, and nothing of it takes a thread for granted.
const _: () = {
    const fn shared<T: Sync>() {}
    shared::<Context>();
};

impl Context {
    pub fn create(params: ContextParams, config: Config) -> Result<Box<Context>> {
        let upstream_peers = config.ternary(var!(TABLE, "UPSTREAM_PEERS"));
        let unpinned_types = config.bitmap(var!(TABLE, "REG_NONBLOCK_MEM_TYPES"));
        let pins_if_none_does_without = config.bool(var!(TABLE, "REG_NONBLOCK_FALLBACK"));
        let processes_here = hint(&config, var!(TABLE, "NUM_PPN"), params.estimated_num_ppn);
        let device_reg_cache =
            DeviceRegCache::new(match config.ternary(var!(TABLE, "RCACHE_ENABLE")) {
                Ternary::No => 0,
                _ => config.ulong(var!(TABLE, "RCACHE_MAX_REGIONS")),
            });
        let mut context = Context {
            params,
            made_by: Stamp::now(),
            config,
            reg_caches: RegCaches::default(),
            device_reg_cache,
            mds: Vec::new(),
            device_memory: DeviceMemory::default(),
            resources: Vec::new(),
            key_domains: Vec::new(),
            nearness: OnceLock::new(),
            upstream_peers,
            unpinned_types,
            pins_if_none_does_without,
            processes_here: processes_here.max(1),
            unused: Vec::new(),
            id: unique_id(),
            regions: Regions::default(),
            unregistered: AtomicBool::new(false),
            told: Told::default(),
        };
        context.find_resources()?;
        if context.resources.is_empty() {
            ucs_error!(
                "no usable transports/devices: UCX_TLS={} and UCX_NET_DEVICES={} leave none; try UCX_TLS=all",
                context.config.printed(var!(TABLE, "TLS")),
                context.config.printed(var!(TABLE, "NET_DEVICES")),
            );
            let named = numbered()
                .into_iter()
                .filter(|(_, transport)| allowed::transport(&context.config, *transport));
            for (number, transport) in named {
                if let Some(why) = context.why_unused(number) {
                    ucs_error!("  {}: {why}", transport.name());
                }
            }
            return Err(Status::NO_DEVICE);
        }
        Ok(Box::new(context))
    }

    /// Processes of upstream's may be peers.
    pub fn takes_upstream(&self) -> bool {
        self.upstream_peers != Ternary::No
    }

    /// Processes of upstream's are expected at socket addresses.
    pub fn expects_upstream(&self) -> bool {
        self.upstream_peers == Ternary::Yes
    }

    /// Endpoints to expect on a worker.
    pub fn expected_eps(&self) -> usize {
        let said = self.params.estimated_num_eps;
        hint(&self.config, var!(TABLE, "NUM_EPS"), said)
    }

    /// This process's number among them.
    pub fn number_here(&self) -> usize {
        let said = self.params.node_local_id;
        hint(&self.config, var!(TABLE, "NODE_LOCAL_ID"), said)
    }

    /// The domain as one whose keys peers use; `None` if they use none.
    fn key_domain(&self, index: usize) -> Option<KeyDomain> {
        let md = &self.mds[index];
        let (component, attr) = (md.component.component, md.md.attr());
        let has = |flag: u32| attr.flags & u64::from(flag) != 0;
        let mut resources = self.resources.iter();
        let gives = has(UCT_MD_FLAG_REG)
            && component.key_number().is_some()
            && resources.any(|r| r.md == index && r.transport.uses_keys());
        let by_dmabuf = match has(UCT_MD_FLAG_REG_DMABUF) {
            true => self.device_memory.dmabuf_types(),
            false => 0,
        };
        gives.then_some(KeyDomain {
            index,
            by_address: attr.reg_mem_types,
            by_dmabuf,
            failures: AtomicU32::new(0),
            needs_handle: has(UCT_MD_FLAG_NEED_MEMH),
            registers: component.key_len() > 0 || has(UCT_MD_FLAG_NEED_MEMH),
        })
    }

    /// A domain as one whose keys peers use.
    pub fn key_domain_of(&self, domain: usize) -> Option<&KeyDomain> {
        self.key_domains.iter().find(|key| key.index == domain)
    }

    /// Whether a domain that needs handles is likely to have one of memory of a device of this type.
    pub fn reaches_device_memory(&self, domain: usize, kind: ucs_memory_type_t) -> bool {
        let key = self.key_domain_of(domain);
        key.is_some_and(|key| key.needs_handle && key.takes(kind) && key.is_worth_trying())
    }

    /// The flags (`UCT_MD_MEM_*`) by which a domain registers memory of a type: not pinned if `flags` or the configuration
    /// ask for that and the domain does without. `None`: it pins, which the configuration forbids.
    pub fn registration_flags(
        &self,
        domain: usize,
        kind: ucs_memory_type_t,
        flags: u32,
    ) -> Option<u32> {
        let pinned = flags & !UCT_MD_MEM_FLAG_NONBLOCK;
        let is_unwanted = self.unpinned_types & bit(kind) != 0;
        if pinned == flags && !is_unwanted {
            return Some(flags);
        }
        if self.does_without_pinning(domain, kind) {
            return Some(pinned | UCT_MD_MEM_FLAG_NONBLOCK);
        }
        let is_forbidden = is_unwanted && self.pins(domain) && {
            let mut others = self.key_domains.iter().map(|domain| domain.index);
            !self.pins_if_none_does_without
                || others.any(|other| self.pins(other) && self.does_without_pinning(other, kind))
        };
        (!is_forbidden).then_some(pinned)
    }

    fn does_without_pinning(&self, domain: usize, kind: ucs_memory_type_t) -> bool {
        self.mds[domain].md.attr().reg_nonblock_mem_types & bit(kind) != 0
    }

    /// Whether a domain's registrations are of its device, which pins the memory unless it fetches pages on demand.
    fn pins(&self, domain: usize) -> bool {
        let mut keys = self.key_domains.iter();
        keys.any(|key| key.index == domain && key.needs_handle)
            || self.device_memory.domains().any(|other| other == domain)
    }

    /// How near the devices of the domains are to memory.
    pub fn nearness(&self) -> &Nearness {
        self.nearness.get_or_init(|| {
            let mut devices = vec![UCS_SYS_DEVICE_ID_UNKNOWN; self.mds.len()];
            for resource in &self.resources {
                devices[resource.md] = resource.device.sys_device;
            }
            Nearness::of_devices(&devices)
        })
    }

    /// The node of memory, where that matters and is known.
    pub fn node_of(&self, memory: Range<usize>) -> Option<u32> {
        match self.nearness().matters() {
            true => sys::mem::node_of(memory),
            false => None,
        }
    }

    /// Whether this is the first time that memory could not be registered.
    pub fn is_first_unregistered(&self) -> bool {
        // Relaxed: it guards nothing else.
        !self.unregistered.swap(true, Ordering::Relaxed)
    }

    /// Why no resource is of the transport with this number; `None` if one is.
    pub fn why_unused(&self, number: u8) -> Option<&str> {
        let mut unused = self.unused.iter();
        unused
            .find(|(other, _)| *other == number)
            .map(|(_, why)| why.as_str())
    }

    /// Opens the memory domains and lists the devices of the allowed transports. Others are enumerated only for a
    /// warning about unknown names.
    fn find_resources(&mut self) -> Result<()> {
        let tables = self.config.others();
        let mut devices: Vec<String> = Vec::new();
        let mut here = Vec::new();
        let mut failed = Vec::new();
        for handle in components() {
            let mut wanted: Vec<_> = numbered_of(handle.component).collect();
            wanted.retain(|(number, transport)| {
                let allowed = allowed::transport(&self.config, *transport);
                if !allowed {
                    let why = "UCX_TLS does not name it here".to_owned();
                    self.unused.push((*number, why));
                }
                allowed
            });
            if wanted.is_empty() {
                continue;
            }
            let domains = match open_domains(handle.component, &tables) {
                Ok(domains) => domains,
                Err(why) => {
                    failed.push(handle.component.name());
                    let numbers = wanted.iter().map(|(number, _)| *number);
                    self.unused.extend(numbers.map(|n| (n, why.clone())));
                    continue;
                }
            };
            let before = self.resources.len();
            let mut obstacles: Vec<(u8, String)> = Vec::new();
            for (name, md) in domains {
                let index = self.mds.len();
                let mut used = false;
                for (number, transport) in &wanted {
                    let found = match transport.devices(md.as_ref()) {
                        Ok(found) => found,
                        Err(why) => {
                            ucs_debug!("{}: {why}", transport.name());
                            obstacles.push((*number, why.to_string()));
                            continue;
                        }
                    };
                    for device in found {
                        here.push((*transport, device.clone()));
                        used = true;
                        if !allowed::device(&self.config, &device) {
                            let list = allowed::device_list(device.kind);
                            let why = format!("UCX_{list} does not allow {}", device.name);
                            obstacles.push((*number, why));
                            continue;
                        }
                        let device_index = match devices.iter().position(|d| *d == device.name) {
                            Some(i) => i,
                            None => {
                                devices.push(device.name.clone());
                                devices.len() - 1
                            }
                        };
                        self.resources.push(Resource {
                            md: index,
                            transport: *transport,
                            number: *number,
                            device,
                            device_index,
                        });
                    }
                }
                if used {
                    self.mds.push(Box::new(MdHandle {
                        component: handle,
                        name: name.to_owned(),
                        md,
                    }));
                }
            }
            for (number, _) in wanted {
                if !self.resources[before..].iter().any(|r| r.number == number) {
                    self.unused.push((number, joined(&obstacles, number)));
                }
            }
        }
        for (component, (name, md)) in open_copying(&self.config, &tables, &mut here) {
            if let Some(copier) = md.copier() {
                let attr = md.attr();
                let types = (attr.detect_mem_types, attr.dmabuf_mem_types);
                self.device_memory.add(self.mds.len(), types, copier);
                self.mds.push(Box::new(MdHandle {
                    component,
                    name: name.to_owned(),
                    md,
                }));
            }
        }
        self.key_domains = (0..self.mds.len())
            .filter_map(|index| self.key_domain(index))
            .collect();
        if !allowed::are_known(&self.config, &here) {
            allowed::report(&self.config, &everything_here(&self.config, &failed));
        }
        Ok(())
    }
}

/// The variable's value, or the program's parameter if that is `auto`.
fn hint(config: &Config, var: Var<Count>, said: usize) -> usize {
    match config.ulong(var) {
        AUTO => said,
        value => value,
    }
}

/// The transports of a component by whose domains UCP copies memory, where the component can be used.
fn copying(component: &dyn Component) -> Vec<&'static dyn Transport> {
    let all = component.transports().iter().copied();
    let copying: Vec<_> = all.filter(|transport| transport.copies_memory()).collect();
    match copying.is_empty() || component.is_available() {
        true => copying,
        false => Vec::new(),
    }
}

type CopyingDomain = (&'static ComponentHandle, OpenDomain);

/// Opens the domains that tell memory of devices apart, if `UCX_TLS` allows a transport of theirs.
fn open_copying(config: &Config, tables: &Others<'_>, here: &mut Vec<Here>) -> Vec<CopyingDomain> {
    let mut domains = Vec::new();
    for handle in components() {
        let mut wanted = copying(handle.component);
        wanted.retain(|transport| allowed::transport(config, *transport));
        if wanted.is_empty() {
            continue;
        }
        for domain in open_domains(handle.component, tables).unwrap_or_default() {
            for transport in &wanted {
                let devices = transport.devices(domain.1.as_ref()).unwrap_or_default();
                here.extend(devices.into_iter().map(|device| (*transport, device)));
            }
            domains.push((handle, domain));
        }
    }
    domains
}

impl Drop for Context {
    fn drop(&mut self) {
        let left = self.regions.count();
        if left > 0 {
            ucs_warn!("ucp_cleanup: {left} memory handles are left: ucp_mem_unmap() each before");
        }
    }
}

/// The obstacles of one transport, in one line.
fn joined(obstacles: &[(u8, String)], number: u8) -> String {
    let of_it = obstacles.iter().filter(|(other, _)| *other == number);
    let texts: Vec<&str> = of_it.map(|(_, why)| why.as_str()).collect();
    texts.join(", ")
}

type OpenDomain = (&'static str, Box<dyn DynMd>);

/// The memory domains of a component that can be opened, by their names; at least one, or why there are none.
fn open_domains(
    component: &dyn Component,
    tables: &Others<'_>,
) -> core::result::Result<Vec<OpenDomain>, String> {
    let names = component.md_resources().map_err(|why| {
        ucs_diag!("{}: {why}", component.name());
        why.to_string()
    })?;
    let mut why = format!("component {} has no memory domain here", component.name());
    let mut domains = Vec::new();
    for name in names {
        let config = tables.read(component.md_config());
        match config.and_then(|config| component.md_open(name, &config)) {
            Ok(md) => domains.push((name, md)),
            Err(e) => {
                why = format!("memory domain {name} cannot be opened: {e}");
                ucs_debug!("{why}");
            }
        }
    }
    match domains.is_empty() {
        true => Err(why),
        false => Ok(domains),
    }
}

/// Every transport of this machine that UCP uses, with its devices. Components that `failed` are not tried again.
fn everything_here(config: &Config, failed: &[&str]) -> Vec<Here> {
    let tables = config.others();
    let mut here = Vec::new();
    for handle in components() {
        let mut used = copying(handle.component);
        used.extend(numbered_of(handle.component).map(|(_, transport)| transport));
        if used.is_empty() || failed.contains(&handle.component.name()) {
            continue;
        }
        for (_, md) in open_domains(handle.component, &tables).unwrap_or_default() {
            for transport in &used {
                let devices = transport.devices(md.as_ref()).unwrap_or_default();
                here.extend(devices.into_iter().map(|device| (*transport, device)));
            }
        }
    }
    here
}

/// A number that is unique among contexts and workers of all processes, from time, process id and a counter.
pub fn unique_id() -> u64 {
    static COUNT: AtomicU64 = AtomicU64::new(1);
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |d| d.as_nanos() as u64);
    // Relaxed: only uniqueness matters.
    let n = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut h = now ^ u64::from(std::process::id()).rotate_left(40) ^ n.rotate_left(20);
    // The finishing steps of a 64-bit mixer: near inputs give far outputs.
    h = (h ^ h >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    h = (h ^ h >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    (h ^ h >> 33).max(1)
}

/// The default name of a context or worker: host and process.
pub fn default_name() -> String {
    format!(
        "{}:{}",
        crate::sys::machine::short_host_name(),
        std::process::id()
    )
}
