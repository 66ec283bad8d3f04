//! Memory for remote access: regions that the application maps, and keys that peers unpack.
//!
//! A region is registered with every domain that can; memory the library allocates comes from a
//! shared-memory domain if there is one, so that peers on this host reach it by plain loads and
//! stores. A peer's access by messages names a region by its id and is checked against its range.

use super::context::Context;
use super::ep::Ep;
use super::wireup::select;
use crate::c::*;
use crate::sys;
use crate::ucs::{Result, Status};
use crate::uct::api::RkeyParts;
use crate::uct::base::config::ALLOC_METHODS;
use crate::uct::base::md::MdHandle;
use crate::uct::base::mem::{self, Block, Request};
use crate::wire::address::TRANSPORTS;
use crate::wire::rkey::{MdKey, Rkey};
use crate::{ucs_debug, ucs_error};
use core::ffi::c_void;

/// What `ucp_mem_map` was given.
pub struct MapParams {
    pub address: *mut c_void,
    pub length: usize,
    pub flags: u32,
    pub prot: u32,
}

/// A mapped region: what `ucp_mem_h` points to.
pub struct Region {
    pub address: *mut c_void,
    pub length: usize,
    /// Set when the memory is ours.
    block: Option<Block>,
    /// Registrations: index of the domain, handle.
    handles: Vec<(usize, uct_mem_h)>,
    context: *const Context,
    /// Its name for peers.
    pub id: u64,
    /// Peers may write, and read.
    pub writable: bool,
    pub readable: bool,
}

impl Region {
    pub fn map(context: &Context, params: &MapParams) -> Result<Box<Region>> {
        let allocate = params.flags & UCP_MEM_MAP_ALLOCATE != 0;
        let fixed = params.flags & UCP_MEM_MAP_FIXED != 0;
        if params.address.is_null() && params.length > 0 && (!allocate || fixed) {
            ucs_error!("ucp_mem_map: the address is NULL; give one, or UCP_MEM_MAP_ALLOCATE");
            return Err(Status::INVALID_PARAM);
        }
        let mut region = Box::new(Region {
            address: params.address,
            length: params.length,
            block: None,
            handles: Vec::new(),
            context,
            id: 0,
            writable: params.prot & UCP_MEM_MAP_PROT_REMOTE_WRITE != 0,
            readable: params.prot & UCP_MEM_MAP_PROT_REMOTE_READ != 0,
        });
        if params.length > 0 {
            if allocate {
                region.allocate(context, fixed, params)?;
            }
            region.register(context);
        }
        region.id = context
            .regions
            .lock()
            .insert(core::ptr::from_ref(region.as_ref()) as usize);
        Ok(region)
    }

    /// How the memory came: the domain's or the method's name, or that it is the user's.
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
        self.own_domain(context)
            .into_iter()
            .chain(self.handles.iter().map(|(i, _)| *i))
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
        for item in context.config.list("ALLOC_PRIO") {
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

    /// Registers with every domain that can.
    fn register(&mut self, context: &Context) {
        for (i, md) in context.mds.iter().enumerate() {
            if md.md.attr().flags & u64::from(UCT_MD_FLAG_REG) == 0 {
                continue;
            }
            match md
                .md
                .mem_reg(self.address, self.length, UCT_MD_MEM_ACCESS_ALL)
            {
                Ok(memh) => self.handles.push((i, memh)),
                Err(e) => ucs_debug!("{}: registering {} bytes: {e}", md.name, self.length),
            }
        }
    }

    /// The key for peers.
    pub fn pack(&self, context: &Context) -> Vec<u8> {
        let mut keys = Vec::new();
        let own = self
            .own_domain(context)
            .zip(self.block.as_ref().map(|b| b.memh));
        for (i, memh) in own.into_iter().chain(self.handles.iter().copied()) {
            let md = &context.mds[i];
            let size = md.md.attr().rkey_packed_size;
            let number = TRANSPORTS
                .iter()
                .position(|t| *t == md.component.component.name());
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
                    component: number as u8,
                    key,
                }),
                Err(e) => ucs_debug!("{}: packing a key: {e}", md.name),
            }
        }
        Rkey {
            context: context.id,
            region: self.id,
            address: self.address as u64,
            length: self.length as u64,
            mem_type: UCS_MEMORY_TYPE_HOST as u8,
            keys,
        }
        .pack()
    }

    /// Ends the mapping.
    pub fn unmap(self, context: &Context) -> Result<()> {
        context.regions.lock().remove(self.id);
        let mut result = Ok(());
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
        let start = address as usize & !(page - 1);
        let end = (address as usize + length).next_multiple_of(page);
        sys::mem::advise(start, end - start, advice)?;
        Ok(())
    }

    /// Whether `[address, address + length)` lies in the region.
    pub fn contains(&self, address: u64, length: usize) -> bool {
        let start = self.address as u64;
        address >= start
            && address
                .checked_add(length as u64)
                .is_some_and(|end| end <= start + self.length as u64)
    }
}

/// Looks a region up by what a peer says, and checks the range; the answer is a local pointer.
pub fn resolve(context: &Context, id: u64, address: u64, length: usize) -> Option<(*mut u8, u32)> {
    let regions = context.regions.lock();
    let at = *regions.get(id)?;
    // SAFETY: a region leaves the table before it is freed, under this lock.
    let region = unsafe { &*(at as *const Region) };
    let rights = u32::from(region.readable) | u32::from(region.writable) << 1;
    region
        .contains(address, length)
        .then_some((address as *mut u8, rights))
}

/// How a peer's memory is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Mapped here: local minus remote address.
    Direct(isize),
    /// By the kernel, with the endpoint's bulk lane.
    SingleCopy,
    /// By messages to its owner.
    Messages,
}

/// A remote key: what `ucp_rkey_h` points to.
pub struct RemoteKey {
    pub info: Rkey,
    pub access: Access,
    mapped: Option<(usize, RkeyParts)>,
    context: *const Context,
}

impl RemoteKey {
    /// Makes a key of `ep`'s peer usable here.
    pub fn unpack(ep: &Ep, info: Rkey) -> Box<RemoteKey> {
        let context = ep.worker().context();
        let mut key = Box::new(RemoteKey {
            info,
            access: Access::Messages,
            mapped: None,
            context,
        });
        if key.info.context == context.id {
            key.access = Access::Direct(0);
            return key;
        }
        let keys = key.info.keys.clone();
        for k in &keys {
            let name = TRANSPORTS.get(usize::from(k.component)).copied();
            let found = context
                .mds
                .iter()
                .position(|md| Some(md.component.component.name()) == name);
            let Some(i) = found else { continue };
            let md = &context.mds[i];
            let flags = md.component.component.flags();
            if k.key.len() != md.md.attr().rkey_packed_size
                || flags & u64::from(UCT_COMPONENT_FLAG_RKEY_PTR) == 0
            {
                continue;
            }
            // SAFETY: a key of this component's length.
            let Ok(parts) = (unsafe { md.component.component.rkey_unpack(k.key.as_ptr()) }) else {
                continue;
            };
            // SAFETY: a live key.
            let local = unsafe {
                md.component
                    .component
                    .rkey_ptr(parts.rkey, parts.handle, key.info.address)
            };
            let direct = local
                .ok()
                .map(|p| (p as isize).wrapping_sub(key.info.address as isize));
            key.mapped = Some((i, parts));
            if let Some(delta) = direct {
                key.access = Access::Direct(delta);
                return key;
            }
            key.release();
        }
        if ep.bulk(select::bulk_lane).is_some() {
            key.access = Access::SingleCopy;
        }
        key
    }

    fn release(&mut self) {
        if let Some((i, parts)) = self.mapped.take() {
            // SAFETY: the context outlives its keys; the key was unpacked here, released once.
            unsafe {
                let component = (&(*self.context).mds)[i].component.component;
                if let Err(e) = component.rkey_release(parts.rkey, parts.handle) {
                    ucs_debug!("releasing a remote key: {e}");
                }
            }
        }
    }

    /// Whether the key allows an access; one log line when not.
    pub fn check(&self, address: u64, length: usize) -> Result<()> {
        let end = self.info.address.saturating_add(self.info.length);
        let fits = address >= self.info.address
            && address
                .checked_add(length as u64)
                .is_some_and(|last| last <= end);
        if fits || length == 0 {
            return Ok(());
        }
        ucs_error!(
            "remote access of {length} bytes at {address:#x} is outside the key's range {:#x}..{end:#x}",
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
    pub fn pointer(&self, address: u64) -> Result<*mut u8> {
        match self.access {
            Access::Direct(delta) => Ok((address as isize).wrapping_add(delta) as *mut u8),
            _ => Err(Status::UNREACHABLE),
        }
    }
}

impl Drop for RemoteKey {
    fn drop(&mut self) {
        self.release();
    }
}
