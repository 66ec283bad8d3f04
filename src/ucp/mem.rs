//! Memory for remote access: regions that the application maps, and keys that peers unpack.
//!
//! A region is registered with every memory domain that supports it; memory that the library allocates comes from a
//! shared-memory domain if there is one, so that peers on this host access it by plain loads and stores. A peer's
//! access by messages names a region by its id and is checked against its range.

use super::context::Context;
use super::ep::{Capability, Ep};
use super::regions::{Exported, within};
use crate::c::*;
use crate::sys;
use crate::ucp::config::TABLE;
use crate::ucs::config::var;
use crate::ucs::{Result, Status};
use crate::uct::api::RkeyParts;
use crate::uct::base::config::ALLOC_METHODS;
use crate::uct::base::md::MdHandle;
use crate::uct::base::mem::{self, Block, Request};
use crate::uct::internal::MEM_ONE_TRANSFER;
use crate::uct::local::ProcessId;
use crate::wire::rkey::{EXPORTED, MdKey, READ, Rkey, WRITE};
use crate::{ucs_debug, ucs_error};
use core::ffi::c_void;
use std::collections::VecDeque;
use std::rc::Rc;

/// The parameters of `ucp_mem_map`.
pub struct MapParams {
    pub address: *mut c_void,
    pub length: usize,
    pub flags: u32,
    pub prot: u32,
    /// Not for the application.
    pub internal: bool,
}

/// A mapped region: the object of `ucp_mem_h`.
pub struct Region {
    /// Its address for the application; for imported memory, its address in the exporting process.
    pub address: *mut c_void,
    pub length: usize,
    /// Set when the memory is ours.
    block: Option<Block>,
    /// Set when the memory is another process's.
    imported: Option<Imported>,
    /// The pages are held in memory.
    locked: bool,
    /// Registrations: index of the domain, handle.
    handles: Vec<(usize, uct_mem_h)>,
    context: *const Context,
    /// Its name for peers.
    pub id: u64,
    /// The access rights of peers: `READ`, `WRITE`.
    pub rights: u8,
}

/// Memory of another process: its mapping here and its key.
struct Imported {
    mapping: Mapping,
    key: MdKey,
}

/// Memory types that need a device, of those whose numbers mean the same in every release: a number
/// above them means "detect" in one release or another. `UNSUPPORTED` for these.
pub fn refuse_devices(kind: ucs_memory_type_t) -> Result<()> {
    if (UCS_MEMORY_TYPE_CUDA..=UCS_MEMORY_TYPE_ROCM_MANAGED).contains(&kind) {
        ucs_error!("memory type {kind} needs a GPU transport, which this library has not");
        return Err(Status::UNSUPPORTED);
    }
    Ok(())
}

impl Region {
    pub fn map(context: &Context, params: &MapParams) -> Result<Box<Region>> {
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
            if lock && let Err(e) = region.lock() {
                region.free(context)?;
                return Err(e);
            }
            region.register(context, params.internal);
        }
        region.publish(context, params.internal);
        Ok(region)
    }

    /// Maps memory that another process of this machine exported. `UNREACHABLE` when none of its
    /// keys can be used here.
    pub fn import(context: &Context, info: &Rkey) -> Result<Box<Region>> {
        let Some((mapping, key)) = Mapping::find(context, info, |_| true) else {
            ucs_error!(
                "ucp_mem_map: the exported memory cannot be mapped here: its owner is on another host or in another namespace, or UCX_TLS leaves out its transport"
            );
            return Err(Status::UNREACHABLE);
        };
        let length = usize::try_from(info.length).map_err(|_| Status::INVALID_PARAM)?;
        let mut region = Region::empty(context, info.address as *mut c_void, length);
        region.rights = READ | WRITE;
        region.imported = Some(Imported { mapping, key });
        region.publish(context, false);
        Ok(region)
    }

    fn empty(context: &Context, address: *mut c_void, length: usize) -> Box<Region> {
        Box::new(Region {
            address,
            length,
            block: None,
            imported: None,
            locked: false,
            handles: Vec::new(),
            context,
            id: 0,
            rights: 0,
        })
    }

    /// Gives it the name that peers' messages use.
    fn publish(&mut self, context: &Context, internal: bool) {
        let exported = Exported {
            address: self.address as u64,
            length: self.length,
            delta: self.delta(),
            rights: self.rights,
            foreign: !internal && self.block.is_none() && self.imported.is_none(),
            internal,
        };
        self.id = context.regions.insert(exported);
        if !internal && let Some(key) = self.key_to_map(context) {
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

    /// The names of the domains it is known to.
    pub fn domains<'a>(&self, context: &'a Context) -> Vec<&'a str> {
        let own = self.own_domain(context).into_iter();
        let mut known: Vec<usize> = own.chain(self.handles.iter().map(|(i, _)| *i)).collect();
        known.sort_unstable();
        known
            .into_iter()
            .map(|i| context.mds[i].name.as_str())
            .collect()
    }

    /// The domain that allocated it.
    fn own_domain(&self, context: &Context) -> Option<usize> {
        let block = self.block.as_ref()?;
        context
            .mds
            .iter()
            .position(|md| core::ptr::from_ref::<MdHandle>(md).cast_mut().cast() == block.md)
    }

    /// Takes memory by the order of `UCX_ALLOC_PRIO`.
    fn allocate(&mut self, context: &Context, fixed: bool, params: &MapParams) -> Result<()> {
        let request = Request {
            address: params.address,
            length: params.length,
            flags: UCT_MD_MEM_ACCESS_ALL | if fixed { UCT_MD_MEM_FLAG_FIXED } else { 0 },
            name: "ucp_mem_map",
        };
        for item in context.config.list(var!(TABLE, "ALLOC_PRIO")) {
            let (method, mds): (u32, Vec<uct_md_h>) = match item.strip_prefix("md:") {
                Some(name) => (
                    UCT_ALLOC_METHOD_MD,
                    context
                        .mds
                        .iter()
                        .filter(|md| name == "*" || md.component.component.name() == name)
                        .map(|md| core::ptr::from_ref::<MdHandle>(md).cast_mut().cast())
                        .collect(),
                ),
                None => match ALLOC_METHODS.iter().position(|m| m == item) {
                    Some(i) => (i as u32, Vec::new()),
                    None => continue,
                },
            };
            if let Ok(block) = mem::allocate(&request, &[method], &mds) {
                self.address = block.address;
                self.length = params.length;
                self.block = Some(block);
                return Ok(());
            }
        }
        ucs_error!("ucp_mem_map: {} bytes cannot be allocated", params.length);
        Err(Status::NO_MEMORY)
    }

    /// Registers with every domain that can. Domains guard against writes, if any.
    fn register(&mut self, context: &Context, internal: bool) {
        let mut flags = UCT_MD_MEM_ACCESS_ALL;
        if self.rights & WRITE == 0 {
            flags &= !UCT_MD_MEM_ACCESS_REMOTE_PUT;
        }
        if internal {
            flags |= MEM_ONE_TRANSFER;
        }
        for (i, md) in context.mds.iter().enumerate() {
            if md.md.attr().flags & u64::from(UCT_MD_FLAG_REG) == 0 {
                continue;
            }
            match md.md.mem_reg(self.address, self.length, flags) {
                Ok(memh) => self.handles.push((i, memh)),
                Err(e) => ucs_debug!("{}: registering {} bytes: {e}", md.name, self.length),
            }
        }
    }

    /// The key for peers, for messages.
    fn pack(&self, context: &Context) -> Vec<u8> {
        self.key(context).pack()
    }

    /// The same for applications.
    pub fn pack_for_application(&self, context: &Context) -> Vec<u8> {
        self.key(context).to_envelope()
    }

    fn key(&self, context: &Context) -> Rkey {
        let rights = context.regions.grant(self.id);
        self.describe(context, rights, self.keys(context, rights))
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
        keys.retain(|k| shareable(context, k).is_some());
        if keys.is_empty() {
            ucs_error!(
                "ucp_memh_pack: only memory of posix or sysv can be exported: map it with UCP_MEM_MAP_ALLOCATE, and see UCX_ALLOC_PRIO"
            );
            return Err(Status::UNSUPPORTED);
        }
        Ok(self
            .describe(context, self.rights | EXPORTED, keys)
            .to_envelope())
    }

    fn describe(&self, context: &Context, uses: u8, keys: Vec<MdKey>) -> Rkey {
        Rkey {
            context: context.id,
            region: self.id,
            address: self.address as u64,
            length: self.length as u64,
            mem_type: UCS_MEMORY_TYPE_HOST as u8,
            uses,
            keys,
        }
    }

    /// The domains' keys of memory with these rights. A domain knows only the rights that were requested at
    /// registration.
    fn keys(&self, context: &Context, rights: u8) -> Vec<MdKey> {
        if let Some(imported) = &self.imported {
            return vec![imported.key.clone()];
        }
        let mut keys = Vec::new();
        let own = self
            .own_domain(context)
            .zip(self.block.as_ref().map(|b| b.memh));
        let registered = self.handles.iter().filter(|_| rights == self.rights);
        for (i, memh) in own.into_iter().chain(registered.copied()) {
            let md = &context.mds[i];
            let size = md.md.attr().rkey_packed_size;
            let number = md.component.component.key_number();
            let (Some(number), true) = (number, size > 0 && size < 256) else {
                continue;
            };
            let mut key = vec![0; size];
            // SAFETY: a live handle of this domain, a buffer of the size it asks for.
            let packed = unsafe {
                md.md
                    .mkey_pack(memh, self.address, self.length, key.as_mut_ptr())
            };
            match packed {
                Ok(()) => keys.push(MdKey {
                    component: number,
                    key,
                }),
                Err(e) => ucs_debug!("{}: packing a key: {e}", md.name),
            }
        }
        keys
    }

    /// Ends the mapping, after accesses of other threads on behalf of peers have ended.
    pub fn unmap(self, context: &Context) -> Result<()> {
        context.regions.remove(self.id);
        self.free(context)
    }

    fn free(&self, context: &Context) -> Result<()> {
        let mut result = Ok(());
        if self.locked
            && let Err(e) = sys::mem::unlock(self.address as usize, self.length)
        {
            ucs_debug!("unlocking {} bytes: {e}", self.length);
        }
        for (i, memh) in &self.handles {
            // SAFETY: a registration of this domain, released once.
            if let Err(e) = unsafe { context.mds[*i].md.mem_dereg(*memh) } {
                result = Err(e);
            }
        }
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
        let page = sys::mem::page_size();
        let here = (address as usize).wrapping_add_signed(self.delta());
        let start = here & !(page - 1);
        let end = (here + length).next_multiple_of(page);
        sys::mem::advise(start, end - start, advice)?;
        Ok(())
    }

    /// Whether `[address, address + length)` lies in the region.
    pub fn contains(&self, address: u64, length: usize) -> bool {
        within(self.address as u64, self.length, address, length)
    }
}

/// Memory that peers may access while this lives.
pub struct Window {
    region: Option<Box<Region>>,
    /// The key for them.
    pub key: Vec<u8>,
}

impl Window {
    /// A buffer that a peer may write to.
    pub fn open(context: &Context, address: *mut u8, length: usize) -> Result<Window> {
        let params = MapParams {
            address: address.cast(),
            length,
            flags: 0,
            prot: UCP_MEM_MAP_PROT_REMOTE_WRITE,
            internal: true,
        };
        let region = Region::map(context, &params)?;
        Ok(Window {
            key: region.pack(context),
            region: Some(region),
        })
    }

    /// A word of the library that peers may read. Has no key if they cannot map it.
    pub fn for_word(context: &Context) -> Result<Window> {
        let params = MapParams {
            address: core::ptr::null_mut(),
            length: size_of::<u64>(),
            flags: UCP_MEM_MAP_ALLOCATE,
            prot: UCP_MEM_MAP_PROT_REMOTE_READ,
            internal: true,
        };
        let region = Region::map(context, &params)?;
        Ok(Window {
            key: region.key_to_map(context).unwrap_or_default(),
            region: Some(region),
        })
    }

    pub fn address(&self) -> *mut c_void {
        self.region
            .as_ref()
            .map_or(core::ptr::null_mut(), |r| r.address)
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        if let Some(region) = self.region.take() {
            let context = region.context;
            // SAFETY: a context outlives its requests.
            if let Err(e) = region.unmap(unsafe { &*context }) {
                ucs_debug!("closing a receive buffer to the peer: {e}");
            }
        }
    }
}

/// A cache of the keys of RTS messages, with their mappings.
#[derive(Default)]
pub struct KeyCache(VecDeque<(Vec<u8>, Rc<RemoteKey>)>);

impl KeyCache {
    /// Keys that one endpoint keeps, at most.
    const MOST: usize = 16;

    /// The key of one of the peer's regions, if it is still kept.
    pub fn of_region(&self, region: u64) -> Option<Rc<RemoteKey>> {
        let mut all = self.0.iter();
        let (_, key) = all.find(|(_, key)| key.info.region == region)?;
        Some(Rc::clone(key))
    }

    /// The key that a peer sent as `blob`, unpacked now or before.
    pub fn get(&mut self, ep: &Ep, blob: &[u8]) -> Option<Rc<RemoteKey>> {
        if let Some((_, key)) = self.0.iter().find(|(b, _)| b == blob) {
            return Some(Rc::clone(key));
        }
        let info = Rkey::unpack(blob).ok()?;
        let key = Rc::from(RemoteKey::unpack_of_peer(ep, info)?);
        if self.0.len() == Self::MOST {
            self.0.pop_front();
        }
        self.0.push_back((blob.to_vec(), Rc::clone(&key)));
        Some(key)
    }
}

/// How a peer's memory is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Mapped here: local minus remote address.
    Direct(isize),
    /// By the kernel, with the lane for single copies.
    SingleCopy,
    /// Written with this key by the lane for puts; read by messages.
    Written(uct_rkey_t),
    /// By messages to its owner.
    Messages,
}

/// The memory domain whose component maps a key's memory into this process, if open.
fn shareable(context: &Context, key: &MdKey) -> Option<usize> {
    let i = context
        .mds
        .iter()
        .position(|md| md.component.component.key_number() == Some(key.component))?;
    let md = &context.mds[i];
    let maps = md.component.component.flags() & u64::from(UCT_COMPONENT_FLAG_RKEY_PTR) != 0;
    (maps && key.key.len() == md.md.attr().rkey_packed_size).then_some(i)
}

/// Another process's memory, mapped here by a component; unmapped when dropped.
struct Mapping {
    domain: usize,
    parts: RkeyParts,
    /// Local minus remote address.
    delta: isize,
    context: *const Context,
}

impl Mapping {
    /// Maps by the first key that can be, of memory whose owner `may`.
    fn find(
        context: &Context,
        info: &Rkey,
        may: impl Fn(Option<ProcessId>) -> bool,
    ) -> Option<(Mapping, MdKey)> {
        info.keys.iter().find_map(|k| {
            let domain = shareable(context, k)?;
            let component = context.mds[domain].component.component;
            if !may(component.key_owner(&k.key).map(|o| o.id)) {
                ucs_debug!(
                    "{}: a remote key names memory of another process than the peer's: not mapped",
                    component.name()
                );
                return None;
            }
            // SAFETY: a key of this component's length.
            let parts = unsafe { component.rkey_unpack(k.key.as_ptr()) }.ok()?;
            let mut mapping = Mapping {
                domain,
                parts,
                delta: 0,
                context,
            };
            let here = |remote| {
                // SAFETY: a live key.
                unsafe { component.rkey_ptr(mapping.parts.rkey, mapping.parts.handle, remote) }.ok()
            };
            let first = here(info.address)? as isize;
            // The key's memory may be shorter than the blob says.
            here(info.address.checked_add(info.length.saturating_sub(1))?)?;
            mapping.delta = first.wrapping_sub(info.address as isize);
            Some((mapping, k.clone()))
        })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the context outlives its keys and regions; the key was unpacked here, released
        // once.
        unsafe {
            let component = (&(*self.context).mds)[self.domain].component.component;
            if let Err(e) = component.rkey_release(self.parts.rkey, self.parts.handle) {
                ucs_debug!("releasing a remote key: {e}");
            }
        }
    }
}

/// A remote key: the object of `ucp_rkey_h`.
pub struct RemoteKey {
    pub info: Rkey,
    pub access: Access,
    /// Keeps the memory mapped.
    _mapping: Option<Mapping>,
}

impl RemoteKey {
    /// Makes a key of `ep`'s peer usable here.
    pub fn unpack(ep: &Ep, info: Rkey) -> Box<RemoteKey> {
        let context = ep.worker().context();
        let mut mapping = None;
        let access = if info.context == context.id {
            match context.regions.locate_own(&info) {
                Some(here) => Access::Direct((here as isize).wrapping_sub(info.address as isize)),
                None => Access::Messages,
            }
        } else if let Some((found, _)) =
            Mapping::find(context, &info, |owner| owner == ep.peer_process())
        {
            let delta = found.delta;
            mapping = Some(found);
            Access::Direct(delta)
        } else if ep.lane_with(Capability::SingleCopy).is_some() {
            Access::SingleCopy
        } else if let Some(written) = RemoteKey::for_writing(ep, &info) {
            let rkey = written.parts.rkey;
            mapping = Some(written);
            Access::Written(rkey)
        } else {
            Access::Messages
        };
        Box::new(RemoteKey {
            info,
            access,
            _mapping: mapping,
        })
    }

    /// As `unpack`, for a key that a peer sent: memory of this process is used only if it was mapped here.
    fn unpack_of_peer(ep: &Ep, info: Rkey) -> Option<Box<RemoteKey>> {
        let context = ep.worker().context();
        if info.context == context.id {
            context.regions.locate_own(&info)?;
        }
        Some(RemoteKey::unpack(ep, info))
    }

    /// The key that the lane for puts writes by.
    fn for_writing(ep: &Ep, info: &Rkey) -> Option<Mapping> {
        let lane = ep.lane_with(Capability::PutByKey)?;
        let context = ep.worker().context();
        let domain = context.resources[ep.worker().ifaces[lane.iface].resource].md;
        let md = &context.mds[domain];
        let component = md.component.component;
        let key = info.keys.iter().find(|k| {
            component.key_number() == Some(k.component)
                && k.key.len() == md.md.attr().rkey_packed_size
        })?;
        // SAFETY: a key of this component's length.
        let parts = unsafe { component.rkey_unpack(key.key.as_ptr()) }.ok()?;
        Some(Mapping {
            domain,
            parts,
            delta: 0,
            context,
        })
    }

    /// The local address of `length` bytes at `address`, if they are mapped here and the key permits `right`.
    #[inline]
    pub fn mapped_range(&self, address: u64, length: usize, right: u8) -> Option<*mut u8> {
        let at = self.pointer(address).ok()?;
        (self.info.uses & right == right && self.covers(address, length)).then_some(at)
    }

    /// Whether the range is the key's.
    #[inline]
    fn covers(&self, address: u64, length: usize) -> bool {
        let offset = address.wrapping_sub(self.info.address);
        offset <= self.info.length && length as u64 <= self.info.length - offset
    }

    /// Whether the key allows an access that needs `right`; one log line when not.
    #[inline]
    pub fn check(&self, address: u64, length: usize, right: u8) -> Result<()> {
        if self.info.uses & right != right {
            ucs_error!(
                "remote access of {length} bytes at {address:#x} is forbidden by the memory's protection: see UCP_MEM_MAP_PARAM_FIELD_PROT of its owner"
            );
            return Err(Status::INVALID_ADDR);
        }
        if length == 0 || self.covers(address, length) {
            return Ok(());
        }
        ucs_error!(
            "remote access of {length} bytes at {address:#x} is outside the key's range of {} bytes at {:#x}",
            self.info.length,
            self.info.address
        );
        Err(Status::INVALID_PARAM)
    }

    /// An order among keys: the same for keys that mean the same memory by the same ways.
    pub fn order(&self, other: &RemoteKey) -> core::cmp::Ordering {
        let of = |k: &RemoteKey| (k.info.context, k.info.region, k.info.address, k.info.length);
        of(self).cmp(&of(other))
    }

    /// The local address of remote memory that is mapped here.
    #[inline]
    pub fn pointer(&self, address: u64) -> Result<*mut u8> {
        match self.access {
            Access::Direct(delta) => Ok((address as isize).wrapping_add(delta) as *mut u8),
            _ => Err(Status::UNREACHABLE),
        }
    }
}
