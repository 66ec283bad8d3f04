//! Registrations of buffers that are kept for the next transfer of the same memory (`UCX_RCACHE_*`), a cache for each
//! memory domain that needs them.
//!
//! A kept registration is of the pages that were there. So a cache is used only where it hears of unmappings: by the kernel
//! (`ucs::unmapped`), or by the events that the program delivers to `ucm`. Memory that cannot be watched, as most mapped
//! files, is registered for one transfer. Peers never get the right to write into what is kept.

use super::context::Context;
use crate::c::*;
use crate::sys;
use crate::ucm::hooks;
use crate::ucp::config::TABLE;
use crate::ucs::compat::rcache::{Cache, Operations, Params, Region};
use crate::ucs::config::{INF, Ternary, var};
use crate::ucs::unmapped::{Listener, Unmappings};
use crate::ucs::{Result, Status};
use crate::uct::base::md::MdHandle;
use crate::{ucs_debug, ucs_warn};
use core::ffi::{c_int, c_void};
use core::ops::Range;
use std::sync::{Arc, OnceLock};

/// Bits of a region's rights; without any, transfers out of the memory may use it.
const LOCAL_WRITE: c_int = 1 << 0;
const REMOTE_READ: c_int = 1 << 1;

/// A region of a cache: C's part, and ours.
#[repr(C)]
struct CachedRegion {
    base: ucs_rcache_region,
    known: Known,
}

/// What is known of registered memory.
#[derive(Clone, Copy)]
struct Known {
    memh: uct_mem_h,
    /// The memory node, where that matters, is known and is one.
    node: Option<u32>,
}

/// What is known of a live region of one of our caches.
fn known(region: Region) -> Known {
    let region = region.raw().cast::<CachedRegion>();
    // SAFETY: regions of these caches have our part, which was written before anybody got them.
    unsafe { (*region).known }
}

/// The caches of a context, by domain; made when they are first asked for.
#[derive(Default)]
pub struct RegCaches(OnceLock<Box<[OnceLock<Option<RegCache>>]>>);

impl RegCaches {
    /// The registration of a buffer by a domain, for transfers that ask for these `UCT_MD_MEM_ACCESS_*`: a kept one, or a new
    /// one that will be. `None` if none can be kept.
    pub fn get(
        &self,
        context: &Context,
        domain: usize,
        memory: (*mut u8, usize),
        flags: u32,
    ) -> Option<Result<Remembered>> {
        let all = self.0.get_or_init(|| {
            let of_each = core::iter::repeat_with(OnceLock::new);
            of_each.take(context.mds.len()).collect()
        });
        let cache = all.get(domain)?;
        let cache = cache.get_or_init(|| RegCache::new(context, domain));
        cache.as_ref()?.get(memory, flags)
    }

    /// The node of a buffer's memory, if a domain keeps a registration of it that knows.
    pub fn node_of(&self, memory: Range<usize>) -> Option<u32> {
        let made = self
            .0
            .get()?
            .iter()
            .filter_map(|cache| cache.get()?.as_ref());
        made.filter_map(|cache| {
            let found = cache.cache.look(memory.clone(), known)?;
            found.node
        })
        .next()
    }
}

/// What a cache's functions are called with.
struct Owner {
    md: *const MdHandle,
    /// `UCT_MD_MEM_*` of each registration.
    flags: u32,
    /// The kernel is asked for the node of what is registered.
    finds_nodes: bool,
    unmappings: Option<&'static Unmappings>,
}

struct RegCache {
    cache: Arc<Cache>,
    /// As `unmappings` knows it.
    listener: Arc<dyn Listener>,
    owner: Box<Owner>,
    domain: usize,
}

// SAFETY: the domain is the context's, which any thread may use; the cache has a lock.
unsafe impl Send for RegCache {}
// SAFETY: as above.
unsafe impl Sync for RegCache {}

impl RegCache {
    fn new(context: &Context, domain: usize) -> Option<RegCache> {
        let config = &context.config;
        let wanted = config.ternary(var!(TABLE, "RCACHE_ENABLE"));
        if wanted == Ternary::No {
            return None;
        }
        let unmappings = Unmappings::of_process();
        if unmappings.is_none() && hooks::undelivered(UCM_EVENT_VM_UNMAPPED) != 0 {
            let md = &context.mds[domain].name;
            match wanted {
                Ternary::Yes => ucs_warn!(
                    "{md}: UCX_RCACHE_ENABLE=y, but unmappings of memory are not seen here: userfaultfd(2) is missing or \
                     forbidden, and the program delivers no memory events; each transfer registers its memory"
                ),
                _ => ucs_debug!("{md}: unmappings are not seen, so registrations are not kept"),
            }
            return None;
        }
        let owner = Box::new(Owner {
            md: core::ptr::from_ref(&*context.mds[domain]),
            flags: context.registration_flags(
                domain,
                UCS_MEMORY_TYPE_HOST,
                UCT_MD_MEM_ACCESS_LOCAL_READ | UCT_MD_MEM_FLAG_HIDE_ERRORS,
            )?,
            finds_nodes: context.nearness().matters(),
            unmappings,
        });
        let params = Params {
            region_size: size_of::<CachedRegion>(),
            events: match unmappings {
                Some(_) => 0,
                None => UCM_EVENT_VM_UNMAPPED,
            },
            event_priority: c_int::try_from(config.uint(var!(TABLE, "RCACHE_MEM_PRIO")))
                .unwrap_or(c_int::MAX),
            ops: Operations {
                mem_reg: Some(register),
                mem_dereg: Some(deregister),
                merge: None,
                dump_region: None,
            },
            context: core::ptr::from_ref(&*owner).cast_mut().cast(),
            max_regions: config.ulong(var!(TABLE, "RCACHE_MAX_REGIONS")),
            max_size: match config.memunits(var!(TABLE, "RCACHE_MAX_SIZE")) {
                INF => default_size(),
                bytes => bytes,
            },
            max_unreleased: config.memunits(var!(TABLE, "RCACHE_MAX_UNRELEASED")),
            synchronous: false,
            purge_on_fork: config.bool(var!(TABLE, "RCACHE_PURGE_ON_FORK")),
            old: false,
            alignment: 0,
        };
        // SAFETY: the functions take an `Owner`, which stays until the cache is destroyed.
        let cache = unsafe { Cache::create(params, &context.mds[domain].name) }.ok()?;
        let listener: Arc<dyn Listener> = cache.clone();
        if let Some(unmappings) = unmappings {
            unmappings.add(Arc::clone(&listener));
        }
        Some(RegCache {
            cache,
            listener,
            owner,
            domain,
        })
    }

    fn get(&self, (buffer, bytes): (*mut u8, usize), flags: u32) -> Option<Result<Remembered>> {
        const WRITABLE_BY_PEERS: u32 =
            UCT_MD_MEM_ACCESS_REMOTE_PUT | UCT_MD_MEM_ACCESS_REMOTE_ATOMIC;
        // An unmapping that is under way could be of memory that is mapped again already.
        let knows = match self.owner.unmappings {
            Some(unmappings) => unmappings.is_told(),
            None => hooks::undelivered(UCM_EVENT_VM_UNMAPPED) == 0,
        };
        if !knows || bytes == 0 || flags & WRITABLE_BY_PEERS != 0 {
            return None;
        }
        let mut rights = 0;
        for (flag, right) in [
            (UCT_MD_MEM_ACCESS_LOCAL_WRITE, LOCAL_WRITE),
            (UCT_MD_MEM_ACCESS_REMOTE_GET, REMOTE_READ),
        ] {
            if flags & flag != 0 {
                rights |= right;
            }
        }
        let get = || {
            // SAFETY: the functions take no argument.
            unsafe {
                self.cache
                    .get(buffer.addr(), bytes, 0, rights, core::ptr::null_mut())
            }
        };
        let mut found = get();
        if !matches!(found, Ok(_) | Err(Status::UNSUPPORTED)) {
            // Perhaps what is kept takes what is needed.
            self.cache.purge();
            found = get();
        }
        match found {
            Ok(region) => Some(Ok(Remembered {
                cache: self,
                region,
            })),
            Err(Status::UNSUPPORTED) => None,
            Err(e) => Some(Err(e)),
        }
    }
}

impl Drop for RegCache {
    fn drop(&mut self) {
        if let Some(unmappings) = self.owner.unmappings {
            unmappings.remove(&self.listener);
        }
        Cache::destroy(Arc::clone(&self.cache));
    }
}

/// A registration that a cache keeps; a user of it while this lives.
pub struct Remembered {
    cache: *const RegCache,
    region: Region,
}

impl Remembered {
    /// The domain, and its handle.
    pub fn handle(&self) -> (usize, uct_mem_h) {
        let memh = known(self.region).memh;
        // SAFETY: a context outlives its regions and requests, and so do its caches.
        (unsafe { (*self.cache).domain }, memh)
    }
}

impl Drop for Remembered {
    fn drop(&mut self) {
        // SAFETY: as in `handle`.
        let cache = unsafe { &*self.cache };
        cache.cache.put(self.region);
    }
}

/// A quarter of what the process may lock, so that applications get the rest.
fn default_size() -> usize {
    sys::mem::locked_limit().map_or(INF, |bytes| usize::try_from(bytes / 4).unwrap_or(INF))
}

/// Registers the range of a region. `UNSUPPORTED` if it cannot be watched.
unsafe extern "C" fn register(
    owner: *mut c_void,
    _cache: *mut ucs_rcache_t,
    _arg: *mut c_void,
    region: *mut ucs_rcache_region_t,
    _flags: u16,
) -> ucs_status_t {
    // SAFETY: `RegCache::new` gave it, and keeps it as long as the cache.
    let owner = unsafe { &*owner.cast::<Owner>() };
    // SAFETY: a new region of the cache, in today's layout.
    let range = unsafe { Region::of(region, false) };
    let (start, end) = (range.start(), range.end());
    // First, so that what is unmapped while it is registered is noticed.
    if owner.unmappings.is_some_and(|u| !u.watch(start..end)) {
        return UCS_ERR_UNSUPPORTED;
    }
    let mut flags = owner.flags;
    for (right, flag) in [
        (LOCAL_WRITE, UCT_MD_MEM_ACCESS_LOCAL_WRITE),
        (REMOTE_READ, UCT_MD_MEM_ACCESS_REMOTE_GET),
    ] {
        if range.prot() & right != 0 {
            flags |= flag;
        }
    }
    // SAFETY: a context outlives its caches, and so do its domains.
    let md = unsafe { &*owner.md };
    let address = core::ptr::with_exposed_provenance_mut(start);
    match md.md.mem_reg(address, end - start, flags) {
        Ok(memh) => {
            let node = || sys::mem::node_of(start..end);
            let node = owner.finds_nodes.then(node).flatten();
            // SAFETY: regions of this cache have room for our part.
            unsafe { (*region.cast::<CachedRegion>()).known = Known { memh, node } };
            UCS_OK
        }
        // What cannot be watched is told apart.
        Err(Status::UNSUPPORTED) => UCS_ERR_IO_ERROR,
        Err(e) => e.code(),
    }
}

unsafe extern "C" fn deregister(
    owner: *mut c_void,
    _cache: *mut ucs_rcache_t,
    region: *mut ucs_rcache_region_t,
) {
    // SAFETY: as in `register`.
    let owner = unsafe { &*owner.cast::<Owner>() };
    // SAFETY: as above; `register` wrote it.
    let memh = unsafe { (*region.cast::<CachedRegion>()).known.memh };
    // SAFETY: as above.
    let md = unsafe { &*owner.md };
    // SAFETY: a registration of this domain, released once.
    if let Err(e) = unsafe { md.md.mem_dereg(memh) } {
        ucs_debug!("{}: ending a registration: {e}", md.name);
    }
}
