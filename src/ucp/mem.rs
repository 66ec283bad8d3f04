//! Memory for remote access: regions that the application maps.
//!
//! A region is registered with every memory domain that supports it and whose keys peers get; memory that the library allocates comes from a
//! shared-memory domain if there is one, so that peers on this host access it by plain loads and stores. A peer's
//! access by messages names a region by its id and is checked against its range.

use super::context::{Context, KeyDomain};
use super::reg::Registration;
use super::regions::{Exported, within};
use super::rkey::{Mapping, shareable};
use crate::c::*;
use crate::sys;
use crate::ucp::config::TABLE;
use crate::ucs::config::var;
use crate::ucs::fork::PerProcess;
use crate::ucs::mpool::{Pool, PoolBox, Pooled};
use crate::ucs::sync::{AtomicU64, word64};
use crate::ucs::{Result, Status};
use crate::uct::base::config::ALLOC_METHODS;
use crate::uct::base::copy::Room;
use crate::uct::base::md::MdHandle;
use crate::uct::base::mem::{self, Block, Request};
use crate::uct::base::memory_copier::{DeviceBlock, KeptBytes, KeptRoom};
use crate::uct::internal::MEM_ONE_TRANSFER;
use crate::wire::rkey::{EXPORTED, MdKey, MdKeyList, MdKeys, READ, Rkey, WRITE};
use crate::{ucs_debug, ucs_error};
use core::ffi::c_void;
use core::ops::Range;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

/// The parameters of `ucp_mem_map`.
pub struct MapParams<'a> {
    pub address: *mut c_void,
    pub length: usize,
    pub flags: u32,
    pub prot: u32,
    /// `UCS_MEMORY_TYPE_*`, known to the context.
    pub kind: ucs_memory_type_t,
    pub purpose: Purpose<'a>,
}

/// Whom a region serves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Purpose<'a> {
    /// The application, and all peers that it gives a key.
    Application,
    /// One transfer of the library, by the keys of these domains.
    Transfer(&'a [usize]),
    /// The library; peers map it, or read it by a device.
    Read,
    /// The library, whose devices copy from and to it; peers map it, or write it by the keys of a domain.
    Copies(Option<usize>),
}

/// A mapped region: the object of `ucp_mem_h`.
pub struct Region {
    /// Its address for the application; for imported memory, its address in the exporting process.
    pub address: *mut c_void,
    pub length: usize,
    /// `UCS_MEMORY_TYPE_*`
    pub kind: ucs_memory_type_t,
    /// Set when the memory is ours.
    block: Option<Box<Block>>,
    /// Set when the memory is another process's.
    imported: Option<Box<Imported>>,
    /// The pages are held in memory.
    locked: bool,
    registration: Registration,
    /// The node of the memory, where that matters, is known and is one.
    node: Option<u32>,
    context: *const Context,
    /// Its name for peers.
    pub id: u64,
    /// The access rights of peers: `READ`, `WRITE`.
    pub rights: u8,
}

/// Memory of another process: its mapping here and its key.
struct Imported {
    mapping: Mapping,
    key: MdKeys,
}

impl Pooled for Region {
    #[inline]
    fn pool() -> &'static Pool<Region> {
        static POOL: PerProcess<Pool<Region>> = PerProcess::new(Pool::default);
        POOL.get()
    }
}

impl Region {
    pub fn map(context: &Context, params: &MapParams<'_>) -> Result<PoolBox<Region>> {
        let allocate = params.flags & UCP_MEM_MAP_ALLOCATE != 0;
        let fixed = params.flags & UCP_MEM_MAP_FIXED != 0;
        let lock = params.flags & UCP_MEM_MAP_LOCK != 0;
        if params.address.is_null() && params.length > 0 && (!allocate || fixed) {
            ucs_error!("ucp_mem_map: the address is NULL; give one, or UCP_MEM_MAP_ALLOCATE");
            return Err(Status::INVALID_PARAM);
        }
        if fixed && !(params.address as usize).is_multiple_of(sys::mem::page_size()) {
            ucs_error!(
                "ucp_mem_map: UCP_MEM_MAP_FIXED needs an address on a page, not {:p}",
                params.address
            );
            return Err(Status::INVALID_PARAM);
        }
        if lock && params.flags & UCP_MEM_MAP_NONBLOCK != 0 {
            ucs_error!("ucp_mem_map: UCP_MEM_MAP_LOCK and UCP_MEM_MAP_NONBLOCK exclude each other");
            return Err(Status::INVALID_PARAM);
        }
        let end = (params.address as usize).checked_add(params.length);
        if !allocate && end.is_none() {
            ucs_error!(
                "ucp_mem_map: {} bytes at {:p} are beyond the end of the address space",
                params.length,
                params.address
            );
            return Err(Status::INVALID_PARAM);
        }
        let mut region = Region::empty(context, params.address, params.length);
        region.kind = params.kind;
        for (bit, right) in [
            (UCP_MEM_MAP_PROT_REMOTE_READ, READ),
            (UCP_MEM_MAP_PROT_REMOTE_WRITE, WRITE),
        ] {
            if params.prot & bit != 0 {
                region.rights |= right;
            }
        }
        if params.length > 0 {
            if allocate {
                region.allocate(context, fixed, params)?;
            }
            // Memory of devices is not paged out.
            if lock
                && !region.is_of_device()
                && let Err(e) = region.lock()
            {
                region.free()?;
                return Err(e);
            }
            let unpinned = match params.flags & UCP_MEM_MAP_NONBLOCK {
                0 => 0,
                _ => UCT_MD_MEM_FLAG_NONBLOCK,
            };
            region.register(context, params.purpose, unpinned);
            if params.purpose == Purpose::Application && !region.is_of_device() {
                let start = region.address as usize;
                region.node = context.node_of(start..start + region.length);
            }
        }
        region.publish(context, params.purpose == Purpose::Application);
        Ok(region)
    }

    /// Maps memory that another process of this machine exported. `UNREACHABLE` when none of its
    /// keys can be used here.
    pub fn import(context: &Context, info: &Rkey, keys: MdKeyList<'_>) -> Result<PoolBox<Region>> {
        let Some((mapping, key)) = Mapping::find(context, (info, keys), |_| true) else {
            ucs_error!(
                "ucp_mem_map: the exported memory cannot be mapped here: its owner is on another host or in another namespace, or UCX_TLS leaves out its transport"
            );
            return Err(Status::UNREACHABLE);
        };
        let length = usize::try_from(info.length).map_err(|_| Status::INVALID_PARAM)?;
        let mut region = Region::empty(context, info.address as *mut c_void, length);
        region.rights = READ | WRITE;
        region.imported = Some(Box::new(Imported {
            mapping,
            key: key.into(),
        }));
        region.publish(context, true);
        Ok(region)
    }

    fn empty(context: &Context, address: *mut c_void, length: usize) -> PoolBox<Region> {
        PoolBox::new(Region {
            address,
            length,
            kind: UCS_MEMORY_TYPE_HOST,
            block: None,
            imported: None,
            locked: false,
            registration: Registration::default(),
            node: None,
            context,
            id: 0,
            rights: 0,
        })
    }

    /// Gives it the name that peers' messages use.
    fn publish(&mut self, context: &Context, application: bool) {
        let exported = Exported {
            address: self.address as u64,
            length: self.length,
            delta: self.delta(),
            rights: self.rights,
            foreign: application
                && self.block.is_none()
                && self.imported.is_none()
                && !self.is_of_device(),
            kind: self.kind,
            internal: !application,
        };
        self.id = context.regions.insert(exported);
        if application && let Some(key) = self.key_to_map(context) {
            context.regions.allow_mapping(self.id, &exported, &key);
        }
    }

    /// Holds the pages in memory.
    fn lock(&mut self) -> Result<()> {
        if let Err(e) = sys::mem::lock(self.address as usize, self.length) {
            ucs_error!(
                "ucp_mem_map: {} bytes cannot be locked in memory: {e}; see ulimit -l",
                self.length
            );
            return Err(Status::NO_MEMORY);
        }
        self.locked = true;
        Ok(())
    }

    /// Whether processors cannot access it.
    fn is_of_device(&self) -> bool {
        self.kind != UCS_MEMORY_TYPE_HOST
    }

    pub fn is_imported(&self) -> bool {
        self.imported.is_some()
    }

    /// Offset from an address of the region to its address in this process.
    fn delta(&self) -> isize {
        self.imported.as_ref().map_or(0, |i| i.mapping.delta)
    }

    /// `INVALID_PARAM` when the region has not all `bytes` at `buffer`.
    pub fn expect(&self, buffer: *mut c_void, bytes: usize) -> Result<()> {
        if bytes == 0 || self.contains(buffer as u64, bytes) {
            return Ok(());
        }
        ucs_error!(
            "a buffer of {bytes} bytes at {buffer:p} is not in the memory of its handle, {} bytes at {:p}",
            self.length,
            self.address
        );
        Err(Status::INVALID_PARAM)
    }

    /// The address of `bytes` at `buffer` in this process. Imported memory must contain all of them, else
    /// `INVALID_PARAM`. Other memory needs no handle here, and some programs pass a handle of other memory, which
    /// upstream tolerates.
    pub fn locate(&self, buffer: *mut c_void, bytes: usize) -> Result<*mut c_void> {
        if self.is_imported() {
            self.expect(buffer, bytes)?;
        }
        Ok(buffer.wrapping_byte_offset(self.delta()))
    }

    /// How the memory was allocated: the name of the domain or method, or that it is the user's.
    pub fn method<'a>(&self, context: &'a Context) -> &'a str {
        match &self.block {
            None => "the caller",
            Some(b) => match self.own_domain(context) {
                Some(i) => &context.mds[i].name,
                None => ALLOC_METHODS.get(b.method as usize).copied().unwrap_or("?"),
            },
        }
    }

    /// The names of the domains whose transports access it.
    pub fn domains<'a>(&self, context: &'a Context) -> Vec<&'a str> {
        let own = self.own_domain(context).into_iter();
        let others = context.key_domains.iter();
        let unregistered = others.filter(|domain| !domain.registers && self.is_for(domain));
        let mut known: Vec<usize> = own
            .chain(self.registration.all().map(|(i, _)| i))
            .chain(unregistered.map(|domain| domain.index))
            .collect();
        known.sort_unstable();
        known
            .into_iter()
            .map(|i| context.mds[i].name.as_str())
            .collect()
    }

    /// Whether a domain takes memory of its type.
    fn is_for(&self, domain: &KeyDomain) -> bool {
        domain.takes(self.kind)
    }

    /// The domain that allocated it.
    fn own_domain(&self, context: &Context) -> Option<usize> {
        let block = self.block.as_ref()?;
        context.mds.iter().position(|md| handle_of(md) == block.md)
    }

    /// Takes memory by the order of `UCX_ALLOC_PRIO`.
    fn allocate(&mut self, context: &Context, fixed: bool, params: &MapParams<'_>) -> Result<()> {
        let request = Request {
            address: params.address,
            length: params.length,
            flags: UCT_MD_MEM_ACCESS_ALL | if fixed { UCT_MD_MEM_FLAG_FIXED } else { 0 },
            kind: self.kind,
            device: UCS_SYS_DEVICE_ID_UNKNOWN,
            name: "ucp_mem_map",
        };
        if self.is_of_device() {
            let domains = context.device_memory.domains();
            let mds: Vec<uct_md_h> = domains.map(|i| handle_of(&context.mds[i])).collect();
            let block = mem::allocate(&request, &[UCT_ALLOC_METHOD_MD], &mds)?;
            self.address = block.address;
            self.block = Some(Box::new(block));
            return Ok(());
        }
        let mut tried = Vec::new();
        for item in context.config.list(var!(TABLE, "ALLOC_PRIO")) {
            let (method, mds): (u32, Vec<uct_md_h>) = match item.strip_prefix("md:") {
                Some(name) => (
                    UCT_ALLOC_METHOD_MD,
                    context
                        .mds
                        .iter()
                        .filter(|md| name == "*" || md.component.component.name() == name)
                        .map(|md| handle_of(md))
                        .filter(|md| !tried.contains(md))
                        .collect(),
                ),
                None => match ALLOC_METHODS.iter().position(|m| m == item) {
                    Some(i) => (i as u32, Vec::new()),
                    None => continue,
                },
            };
            tried.extend_from_slice(&mds);
            if let Ok(block) = mem::allocate(&request, &[method], &mds) {
                self.address = block.address;
                self.length = params.length;
                self.block = Some(Box::new(block));
                return Ok(());
            }
        }
        ucs_error!("ucp_mem_map: {} bytes cannot be allocated", params.length);
        Err(Status::NO_MEMORY)
    }

    /// Registers with every domain that can and whose keys peers use: others would serve only who guesses a device's
    /// key. Domains guard against what the rights do not allow, if they guard at all. Atomics are the owner's
    /// processor's, not the device's: both together would not be atomic. `unpinned`: `UCT_MD_MEM_FLAG_NONBLOCK`, or 0.
    fn register(&mut self, context: &Context, purpose: Purpose<'_>, unpinned: u32) {
        let mut flags = UCT_MD_MEM_ACCESS_LOCAL_READ | unpinned;
        // The data of a send may be in memory that is only readable.
        if !matches!(purpose, Purpose::Transfer(_)) || self.rights & WRITE != 0 {
            flags |= UCT_MD_MEM_ACCESS_LOCAL_WRITE;
        }
        for (right, flag) in [
            (READ, UCT_MD_MEM_ACCESS_REMOTE_GET),
            (WRITE, UCT_MD_MEM_ACCESS_REMOTE_PUT),
        ] {
            if self.rights & right != 0 {
                flags |= flag;
            }
        }
        if let Purpose::Transfer(_) = purpose {
            flags |= MEM_ONE_TRANSFER;
        }
        let (memory, kind) = ((self.address, self.length), self.kind);
        let all = context.key_domains.iter();
        self.registration = match purpose {
            Purpose::Application => {
                let takes = all.filter(|domain| domain.registers && self.is_for(domain));
                // Memory of the host is pinned: devices copy it without a detour.
                let pins = context.device_memory.domains();
                let pins = pins.filter(|_| !self.is_of_device());
                let domains = takes.map(|domain| domain.index).chain(pins);
                Registration::new(context, domains, memory, kind, flags)
            }
            Purpose::Read => {
                let needs = all.filter(|domain| domain.needs_handle);
                let domains = needs.map(|domain| domain.index);
                Registration::new(context, domains, memory, kind, flags)
            }
            Purpose::Copies(writer) => {
                let domains = context.device_memory.domains().chain(writer);
                Registration::new(context, domains, memory, kind, flags)
            }
            // What peers may write is closed to them when the transfer ends.
            Purpose::Transfer(domains) if self.rights == READ => {
                let memory = (self.address.cast(), self.length);
                Registration::of_buffer(context, domains, memory, kind, flags)
            }
            Purpose::Transfer(domains) => {
                Registration::new(context, domains.iter().copied(), memory, kind, flags)
            }
        };
    }

    /// The handle by which a domain knows `bytes` at `buffer`, for local use, if it knows them.
    pub fn handle(&self, domain: usize, buffer: *mut u8, bytes: usize) -> Option<uct_mem_h> {
        let holds = !self.is_imported() && self.contains(buffer as u64, bytes);
        self.registration.handle(domain).filter(|_| holds)
    }

    /// The node of `bytes` at `buffer`, if it is known.
    pub fn node(&self, buffer: *mut u8, bytes: usize) -> Option<u32> {
        self.node
            .filter(|_| !self.is_imported() && self.contains(buffer as u64, bytes))
    }

    /// The key for peers, for messages.
    fn pack(&self, context: &Context) -> Vec<u8> {
        let (key, keys) = self.key(context);
        key.pack(keys.list())
    }

    /// The same for applications.
    pub fn pack_for_application(&self, context: &Context) -> Vec<u8> {
        let (key, keys) = self.key(context);
        if context.takes_upstream() {
            context.regions.publish(self.id);
            // The keys of imported memory are of its owner's domains.
            if !self.is_imported() {
                admit_upstream(context, keys.list(), None);
            }
        }
        key.to_envelope(keys.list())
    }

    fn key(&self, context: &Context) -> (Rkey, MdKeys) {
        let rights = context.regions.grant(self.id);
        (self.describe(context, rights), self.keys(context, rights))
    }

    /// The key, of memory that peers on this host can map.
    fn key_to_map(&self, context: &Context) -> Option<Vec<u8>> {
        let md = &context.mds[self.own_domain(context)?];
        let maps = md.component.component.flags() & u64::from(UCT_COMPONENT_FLAG_RKEY_PTR) != 0;
        maps.then(|| self.pack(context))
    }

    /// A handle for other processes of this machine. `UNSUPPORTED` when the memory cannot be mapped
    /// by them.
    pub fn export(&self, context: &Context) -> Result<Vec<u8>> {
        if context.params.features & u64::from(UCP_FEATURE_EXPORTED_MEMH) == 0 {
            ucs_error!("ucp_memh_pack: UCP_FEATURE_EXPORTED_MEMH was not asked for at ucp_init");
            return Err(Status::UNSUPPORTED);
        }
        if self.rights != READ | WRITE {
            ucs_error!("ucp_memh_pack: memory that peers may not read and write is not exported");
            return Err(Status::UNSUPPORTED);
        }
        let mut keys = self.keys(context, self.rights);
        keys.retain(|key| shareable(context, key).is_some());
        if keys.is_empty() {
            ucs_error!(
                "ucp_memh_pack: only memory of posix or sysv can be exported: map it with UCP_MEM_MAP_ALLOCATE, and see UCX_ALLOC_PRIO"
            );
            return Err(Status::UNSUPPORTED);
        }
        Ok(self
            .describe(context, self.rights | EXPORTED)
            .to_envelope(keys.list()))
    }

    fn describe(&self, context: &Context, uses: u8) -> Rkey {
        Rkey {
            context: context.id,
            region: self.id,
            address: self.address as u64,
            length: self.length as u64,
            mem_type: self.kind as u8,
            uses,
        }
    }

    /// The domains' keys of memory with these rights. A domain knows only the rights that were requested at
    /// registration.
    fn keys(&self, context: &Context, rights: u8) -> MdKeys {
        if let Some(imported) = &self.imported {
            return imported.key.clone();
        }
        let mut keys = MdKeys::default();
        let own = self
            .own_domain(context)
            .zip(self.block.as_ref().map(|b| b.memh));
        let registered = self.registration.all();
        let registered = registered.filter(|_| rights == self.rights);
        for (i, memh) in own.into_iter().chain(registered) {
            let md = &context.mds[i];
            let size = md.component.component.key_len();
            let number = md.component.component.key_number();
            let (Some(number), Ok(domain), 1..256) = (number, u8::try_from(i), size) else {
                continue;
            };
            // SAFETY: a live handle of this domain.
            match unsafe { md.md.mkey_pack(memh) } {
                Ok(key) => keys.add(MdKey {
                    component: number,
                    domain,
                    key: &key,
                }),
                Err(e) => ucs_debug!("{}: packing a key: {e}", md.name),
            }
        }
        keys
    }

    /// Ends the mapping, after accesses of other threads on behalf of peers have ended.
    pub fn unmap(mut region: PoolBox<Region>) -> Result<()> {
        region.context().regions.remove(region.id);
        region.free()
    }

    fn free(&mut self) -> Result<()> {
        if self.locked
            && let Err(e) = sys::mem::unlock(self.address as usize, self.length)
        {
            ucs_debug!("unlocking {} bytes: {e}", self.length);
        }
        let result = self.registration.release();
        if let Some(block) = &self.block {
            // SAFETY: allocated by this region, freed once.
            unsafe { mem::free(block) }?;
        }
        result
    }

    pub fn context(&self) -> &Context {
        // SAFETY: a context outlives its regions (C contract of ucp_cleanup).
        unsafe { &*self.context }
    }

    /// Passes an advice on a part of the region.
    pub fn advise(&self, address: u64, length: usize, advice: ucp_mem_advice_t) -> Result<()> {
        let advice = match advice {
            UCP_MADV_NORMAL => sys::mem::ADVISE_NORMAL,
            UCP_MADV_WILLNEED => sys::mem::ADVISE_WILLNEED,
            _ => {
                ucs_error!("ucp_mem_advise: advice {advice} is unknown");
                return Err(Status::INVALID_PARAM);
            }
        };
        if !self.contains(address, length) {
            ucs_error!("ucp_mem_advise: {length} bytes at {address:#x} are outside the region");
            return Err(Status::INVALID_PARAM);
        }
        // The system moves no pages of devices, so there is nothing to do for it.
        if self.is_of_device() {
            return Ok(());
        }
        let here = (address as usize).wrapping_add_signed(self.delta());
        let pages = sys::mem::whole_pages(here..here + length);
        sys::mem::advise(pages.start, pages.len(), advice)?;
        Ok(())
    }

    /// Whether `[address, address + length)` lies in the region.
    pub fn contains(&self, address: u64, length: usize) -> bool {
        within(self.address as u64, self.length, address, length)
    }
}

/// Lets processes of upstream's write memory with these keys by its address, where a domain's transports take such puts:
/// all processes, or the one whose interfaces listen there. Returns whether one does.
fn admit_upstream(
    context: &Context,
    keys: MdKeyList<'_>,
    writers: Option<&Arc<[SocketAddr]>>,
) -> bool {
    let admits = |key: MdKey<'_>| {
        let md = context.mds.get(usize::from(key.domain))?;
        md.md.admit_upstream(key.key, writers.cloned()).ok()
    };
    keys.iter().filter_map(admits).count() > 0
}

/// A domain, for C.
fn handle_of(md: &MdHandle) -> uct_md_h {
    core::ptr::from_ref(md).cast_mut().cast()
}

/// Memory that peers may access while this lives.
pub struct Window {
    region: Option<PoolBox<Region>>,
    /// The key for them.
    pub key: Vec<u8>,
}

impl Window {
    /// A buffer that a peer may read or write, as `prot` says (`UCP_MEM_MAP_PROT_REMOTE_*`), by the keys of domains.
    /// `NO_MEMORY` when the first cannot register it; others that cannot are left out.
    pub fn open(
        context: &Context,
        domains: &[usize],
        memory: (*mut u8, usize),
        prot: u32,
    ) -> Result<Window> {
        Window::of(context, domains, memory, UCS_MEMORY_TYPE_HOST, prot)
    }

    /// As `open`, of memory of a type, `UCS_MEMORY_TYPE_*`.
    pub fn of(
        context: &Context,
        domains: &[usize],
        (address, length): (*mut u8, usize),
        kind: ucs_memory_type_t,
        prot: u32,
    ) -> Result<Window> {
        let window = Window::name(context, domains, (address, length), kind, prot)?;
        let first = domains.first().ok_or(Status::INVALID_PARAM)?;
        let is_known = length == 0 || window.handle(*first).is_some();
        is_known.then_some(window).ok_or(Status::NO_MEMORY)
    }

    /// Lets the process of upstream's whose interfaces listen there write it by its address.
    pub fn admit_upstream(&self, context: &Context, writers: &Arc<[SocketAddr]>) -> Result<()> {
        let (_, keys) = Rkey::unpack(&self.key).map_err(|_| Status::INVALID_PARAM)?;
        let is_admitted = admit_upstream(context, keys, Some(writers));
        is_admitted.then_some(()).ok_or(Status::UNSUPPORTED)
    }

    /// As `of`, but where no domain can register the memory, its key tells address, length and type alone.
    pub fn name(
        context: &Context,
        domains: &[usize],
        (address, length): (*mut u8, usize),
        kind: ucs_memory_type_t,
        prot: u32,
    ) -> Result<Window> {
        let params = MapParams {
            address: address.cast(),
            length,
            flags: 0,
            prot,
            kind,
            purpose: Purpose::Transfer(domains),
        };
        let region = Region::map(context, &params)?;
        Ok(Window {
            key: region.pack(context),
            region: Some(region),
        })
    }

    /// Memory of the library's that devices copy from and to, and which peers may read or write, as `prot` says: those that map it, or
    /// by the keys of the domain `writer`. `UNSUPPORTED` if they cannot.
    pub fn for_copies(
        context: &Context,
        length: usize,
        prot: u32,
        writer: Option<usize>,
    ) -> Result<Window> {
        let params = MapParams {
            address: core::ptr::null_mut(),
            length,
            flags: UCP_MEM_MAP_ALLOCATE,
            prot,
            kind: UCS_MEMORY_TYPE_HOST,
            purpose: Purpose::Copies(writer),
        };
        let region = Region::map(context, &params)?;
        let key = match writer {
            None => region.key_to_map(context),
            Some(domain) => {
                let handle = region.registration.handle(domain);
                handle.map(|_| region.pack(context))
            }
        };
        let window = Window {
            key: key.clone().unwrap_or_default(),
            region: Some(region),
        };
        key.map(|_| window).ok_or(Status::UNSUPPORTED)
    }

    /// One that has no memory and no key.
    #[cfg(test)]
    pub fn without_memory() -> Window {
        Window {
            region: None,
            key: Vec::new(),
        }
    }

    /// Some bytes of such memory.
    pub fn part(&self, range: Range<usize>) -> Option<Room<'_>> {
        self.region.as_ref()?.block.as_ref()?.part(range)
    }

    /// A word of the library that peers may read. Has no key if they can neither map it nor read it by a device.
    fn for_word(context: &Context) -> Result<Window> {
        let params = MapParams {
            address: core::ptr::null_mut(),
            length: size_of::<u64>(),
            flags: UCP_MEM_MAP_ALLOCATE,
            prot: UCP_MEM_MAP_PROT_REMOTE_READ,
            kind: UCS_MEMORY_TYPE_HOST,
            purpose: Purpose::Read,
        };
        let region = Region::map(context, &params)?;
        let key = match region.registration.all().next() {
            Some(_) => region.pack(context),
            None => region.key_to_map(context).unwrap_or_default(),
        };
        Ok(Window {
            key,
            region: Some(region),
        })
    }

    /// Whether the domain still knows the memory when this is closed, unless the memory goes.
    pub fn is_remembered(&self) -> bool {
        let region = self.region.as_ref();
        region.is_some_and(|region| region.registration.is_remembered())
    }

    /// The handle by which the domain knows the memory.
    pub fn handle(&self, domain: usize) -> Option<uct_mem_h> {
        self.region.as_ref()?.registration.handle(domain)
    }

    pub fn address(&self) -> *mut c_void {
        self.region
            .as_ref()
            .map_or(core::ptr::null_mut(), |r| r.address)
    }
}

/// Some bytes of a window's memory for copies, which stays as long as this.
pub struct WindowPart {
    window: Rc<Window>,
    range: Range<usize>,
}

impl WindowPart {
    /// `None` where the window has them not.
    pub fn of(window: &Rc<Window>, range: Range<usize>) -> Option<WindowPart> {
        window.part(range.clone())?;
        let window = Rc::clone(window);
        Some(WindowPart { window, range })
    }

    fn place(&self) -> (*mut u8, usize) {
        let none = (core::ptr::null_mut(), 0);
        let room = self.window.part(self.range.clone());
        room.map_or(none, |room| (room.as_mut_ptr(), room.len()))
    }
}

// SAFETY: the memory of a window is allocated once, and stays until the window is closed. The caller has these bytes to himself.
unsafe impl KeptRoom for WindowPart {
    fn room(&self) -> (*mut u8, usize) {
        self.place()
    }
}

// SAFETY: as above.
unsafe impl KeptBytes for WindowPart {
    fn bytes(&self) -> (*const u8, usize) {
        let (at, length) = self.place();
        (at, length)
    }
}

/// Memory of a device that the library allocates, and that devices of peers may read while this lives.
pub struct DeviceWindow {
    /// Closed before the memory goes.
    window: Window,
    memory: Box<dyn DeviceBlock>,
}

impl DeviceWindow {
    /// So many bytes of a type on the device of `near`, with a key by this domain.
    pub fn new(
        context: &Context,
        domain: usize,
        length: usize,
        (near, kind): (*mut u8, ucs_memory_type_t),
    ) -> Result<DeviceWindow> {
        let copier = context.device_memory.copier(kind);
        let memory = copier.ok_or(Status::UNSUPPORTED)?.allocate(length, near)?;
        let at = core::ptr::with_exposed_provenance_mut(memory.address());
        let prot = UCP_MEM_MAP_PROT_REMOTE_READ;
        let window = Window::of(context, &[domain], (at, length), kind, prot)?;
        Ok(DeviceWindow { window, memory })
    }

    pub fn key(&self) -> &[u8] {
        &self.window.key
    }

    pub fn memory(&self) -> &dyn DeviceBlock {
        &*self.memory
    }
}

/// Some bytes of such memory for copies, which stays as long as this.
pub struct DeviceWindowPart {
    window: Rc<DeviceWindow>,
    range: Range<usize>,
}

impl DeviceWindowPart {
    /// `None` where the window has them not.
    pub fn of(window: &Rc<DeviceWindow>, range: Range<usize>) -> Option<DeviceWindowPart> {
        let is_inside = range.start <= range.end && range.end <= window.memory.length();
        let window = Rc::clone(window);
        is_inside.then_some(DeviceWindowPart { window, range })
    }
}

// SAFETY: the memory is allocated once, and stays until the window is closed. The caller has these bytes to himself.
unsafe impl KeptRoom for DeviceWindowPart {
    fn room(&self) -> (*mut u8, usize) {
        let at = self.window.memory.address() + self.range.start;
        (core::ptr::with_exposed_provenance_mut(at), self.range.len())
    }
}

/// A word of the library that peers may read while this lives.
pub struct SharedWord(Window);

impl SharedWord {
    pub fn new(context: &Context) -> Result<SharedWord> {
        Window::for_word(context).map(SharedWord)
    }

    pub fn word(&self) -> &AtomicU64 {
        // SAFETY: the window consists of this word, at the start of an allocation; peers only read it.
        unsafe { word64(self.0.address().cast()) }
    }

    /// Empty if peers cannot map it.
    pub fn key(&self) -> &[u8] {
        &self.0.key
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        if let Some(region) = self.region.take()
            && let Err(e) = Region::unmap(region)
        {
            ucs_debug!("closing a receive buffer to the peer: {e}");
        }
    }
}
