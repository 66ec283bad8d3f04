//! Memory that memory domains of a context know: a handle of each domain, given back when the last user is done.
//!
//! Mapped regions have one for as long as they are mapped. Transfers take theirs from a registration cache, which keeps it
//! for the next (`reg_cache.rs`), or have one for their own duration. A domain that cannot register the memory is left
//! out, and who asked goes another way; the log says so once for a context, as the usual cause, the limit of locked
//! memory, stays.
//!
//! Memory of a device is registered by its dmabuf, or by its address where the kernel knows that.
#![forbid(unsafe_code)]

use super::context::{Context, KeyDomain};
use super::device_reg_cache::{Held, Kept, Wanted};
use super::reg_cache::Remembered;
use crate::c::*;
use crate::sys;
use crate::ucs::{Result, Status};
use crate::uct::api::Dmabuf;
use crate::uct::base::md::{MdHandle, Registered};
use crate::{ucs_debug, ucs_diag, ucs_warn};
use core::ffi::c_void;
use smallvec::SmallVec;
use std::os::fd::AsRawFd;
use std::sync::Arc;

/// How a transport reaches the local memory of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalMemory {
    /// As the process itself.
    Plain,
    /// It is memory of a device, which copies.
    Device,
    /// By this handle of the lane's domain.
    Registered(uct_mem_h),
    /// Through the transport's own buffers, one after the other.
    Copied,
}

#[derive(Default)]
pub struct Registration {
    /// The domains, by their indices in the context, that know the memory. Most contexts have one that registers it.
    handles: SmallVec<[(usize, Registered); 1]>,
    /// Those that the caches of their domains keep.
    remembered: SmallVec<[InCache; 1]>,
}

/// A registration that a cache keeps.
enum InCache {
    OfHost(Remembered),
    OfDevice(Arc<Kept>),
}

impl InCache {
    /// The domain, and its handle.
    fn handle(&self) -> (usize, uct_mem_h) {
        match self {
            InCache::OfHost(remembered) => remembered.handle(),
            InCache::OfDevice(kept) => kept.handle(),
        }
    }
}

impl Registration {
    /// Tells `domains` of memory of a type. `flags`: `UCT_MD_MEM_*`.
    pub fn new(
        context: &Context,
        domains: impl Iterator<Item = usize>,
        memory: (*mut c_void, usize),
        kind: ucs_memory_type_t,
        flags: u32,
    ) -> Registration {
        let mut made = Registration::default();
        for domain in domains {
            made.add(context, domain, memory, kind, flags);
        }
        made
    }

    fn add(
        &mut self,
        context: &Context,
        domain: usize,
        (address, length): (*mut c_void, usize),
        kind: ucs_memory_type_t,
        flags: u32,
    ) {
        let md: &MdHandle = &context.mds[domain];
        let Some(flags) = context.registration_flags(domain, kind, flags) else {
            ucs_debug!(
                "{}: {length} bytes are not registered, as they would be pinned",
                md.name
            );
            return;
        };
        let flags = flags | UCT_MD_MEM_FLAG_HIDE_ERRORS;
        let registered = match kind {
            UCS_MEMORY_TYPE_HOST => md.register(address, length, flags),
            _ => register_of_device(context, domain, (address, length), address, kind, flags),
        };
        match registered {
            Ok(registered) => self.handles.push((domain, registered)),
            // No such memory can be registered there: no limit of this machine's.
            Err(e @ Status::UNSUPPORTED) => {
                ucs_debug!("{}: registering {length} bytes: {e}", md.name);
            }
            Err(e) => report(context, md, (length, kind), e),
        }
    }

    /// Tells domains of a buffer, as far as they do not know it yet.
    pub fn of_buffer(
        context: &Context,
        domains: &[usize],
        memory: (*mut u8, usize),
        kind: ucs_memory_type_t,
        flags: u32,
    ) -> Registration {
        let mut made = Registration::default();
        for domain in domains {
            match kind {
                UCS_MEMORY_TYPE_HOST => made.add_buffer(context, *domain, memory, flags),
                _ => made.add_device_buffer(context, *domain, memory, kind, flags),
            }
        }
        made
    }

    fn add_buffer(
        &mut self,
        context: &Context,
        domain: usize,
        (buffer, bytes): (*mut u8, usize),
        flags: u32,
    ) {
        let caches = &context.reg_caches;
        match caches.get(context, domain, (buffer, bytes), flags) {
            Some(Ok(found)) => self.remembered.push(InCache::OfHost(found)),
            Some(Err(e)) => {
                let memory = (bytes, UCS_MEMORY_TYPE_HOST);
                report(context, &context.mds[domain], memory, e);
            }
            None => {
                let memory = (buffer.cast(), bytes);
                self.add(context, domain, memory, UCS_MEMORY_TYPE_HOST, flags);
            }
        }
    }

    #[cold]
    fn add_device_buffer(
        &mut self,
        context: &Context,
        domain: usize,
        (buffer, bytes): (*mut u8, usize),
        kind: ucs_memory_type_t,
        flags: u32,
    ) {
        match keep_of_device(context, domain, (buffer, bytes), kind, flags) {
            Some(Ok(kept)) => self.remembered.push(InCache::OfDevice(kept)),
            Some(Err(Status::UNSUPPORTED)) => {}
            Some(Err(e)) => report(context, &context.mds[domain], (bytes, kind), e),
            None => self.add(context, domain, (buffer.cast(), bytes), kind, flags),
        }
    }

    /// How the domain's transports reach the memory.
    pub fn local_memory(&self, domain: usize) -> LocalMemory {
        self.handle(domain)
            .map_or(LocalMemory::Copied, LocalMemory::Registered)
    }

    /// The handle of a domain, if it knows the memory.
    pub fn handle(&self, domain: usize) -> Option<uct_mem_h> {
        self.all().find(|(i, _)| *i == domain).map(|(_, memh)| memh)
    }

    /// Whether caches keep it for all its domains.
    pub fn is_remembered(&self) -> bool {
        self.handles.is_empty() && !self.remembered.is_empty()
    }

    /// The domains that know the memory, with their handles.
    pub fn all(&self) -> impl Iterator<Item = (usize, uct_mem_h)> {
        self.handles
            .iter()
            .map(|(domain, registered)| (*domain, registered.memh()))
            .chain(self.remembered.iter().map(InCache::handle))
    }

    /// Gives the handles back; returns the first error.
    #[inline]
    pub fn release(&mut self) -> Result<()> {
        match self.handles.is_empty() && self.remembered.is_empty() {
            true => Ok(()),
            false => self.release_all(),
        }
    }

    #[inline(never)]
    fn release_all(&mut self) -> Result<()> {
        self.remembered.clear();
        let mut result = Ok(());
        for (_, registered) in self.handles.drain(..) {
            result = result.and(registered.release());
        }
        result
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        // The error was logged.
        let _ = self.release();
    }
}

/// A registration of a buffer in memory of a device that is kept. `None` if it cannot be.
fn keep_of_device(
    context: &Context,
    domain: usize,
    (buffer, bytes): (*mut u8, usize),
    kind: ucs_memory_type_t,
    flags: u32,
) -> Option<Result<Arc<Kept>>> {
    const KEPT: u32 =
        UCT_MD_MEM_ACCESS_LOCAL_READ | UCT_MD_MEM_ACCESS_LOCAL_WRITE | UCT_MD_MEM_ACCESS_REMOTE_GET;
    let access = flags & UCT_MD_MEM_ACCESS_ALL;
    // As of memory of the host, peers never get the right to write into what is kept. Without a handle nothing is registered.
    let is_kept = context.device_reg_cache.keeps()
        && access & !KEPT == 0
        && context.reaches_device_memory(domain, kind);
    if bytes == 0 || !is_kept {
        return None;
    }
    let (_, told) = context.told_of(buffer.cast(), bytes)?;
    if told.id == 0 {
        return None;
    }
    let start = buffer.addr();
    let wanted = Wanted {
        domain,
        id: told.id,
        address: start,
        range: sys::mem::whole_pages(start..start + bytes),
        access,
    };
    let flags = context.registration_flags(domain, kind, access)? | UCT_MD_MEM_FLAG_HIDE_ERRORS;
    let register = |wanted: &Wanted| {
        let memory = (
            buffer.with_addr(wanted.range.start).cast(),
            wanted.range.len(),
        );
        register_of_device(context, domain, memory, buffer.cast(), kind, flags).map(Held::new)
    };
    let id_at = |address: usize| {
        let told = context.told_of(core::ptr::without_provenance(address), 1);
        told.map(|(_, told)| told.id)
    };
    Some(context.device_reg_cache.get(wanted, id_at, register))
}

/// Registers memory of a device, which an allocation has that `inside` is of: by a dmabuf, if there is one that the domain
/// takes, else by its address.
fn register_of_device(
    context: &Context,
    domain: usize,
    (address, length): (*mut c_void, usize),
    inside: *mut c_void,
    kind: ucs_memory_type_t,
    flags: u32,
) -> Result<Registered> {
    let (md, key) = (&context.mds[domain], context.key_domain_of(domain));
    let takes_address = key.is_none_or(|key| key.takes_addresses_of(kind));
    let takes_dmabuf = |key: &&KeyDomain| key.takes_dmabufs_of(kind);
    let dmabuf = key.filter(takes_dmabuf);
    let ahead = inside.addr() - address.addr();
    let dmabuf = dmabuf.and_then(|_| context.dmabuf_of(inside, length - ahead));
    let by_dmabuf = dmabuf.map(|(file, told)| {
        let dmabuf = Dmabuf {
            file: file.as_raw_fd(),
            offset: told.dmabuf_offset(address.addr()),
        };
        md.register_dmabuf(address, length, flags, dmabuf)
    });
    let registered = match by_dmabuf {
        Some(Ok(registered)) => Ok(registered),
        Some(Err(e)) if !takes_address => Err(e),
        None if !takes_address => Err(Status::UNSUPPORTED),
        _ => md.register(address, length, flags),
    };
    if let Some(key) = key.filter(|key| key.needs_handle) {
        key.note_device_memory(registered.is_ok());
    }
    registered
}

#[cold]
fn report(context: &Context, md: &MdHandle, (length, kind): (usize, ucs_memory_type_t), e: Status) {
    if kind != UCS_MEMORY_TYPE_HOST {
        return ucs_diag!(
            "{}: {length} bytes of memory of a device cannot be registered: {e}; they are staged",
            md.name
        );
    }
    if !context.is_first_unregistered() {
        return ucs_debug!("{}: registering {length} bytes: {e}", md.name);
    }
    let limit = sys::mem::locked_limit()
        .map_or_else(|| "infinite".to_owned(), |bytes| format!("{bytes} bytes"));
    ucs_warn!(
        "{}: {length} bytes cannot be registered: {e}; such memory is copied instead. The limit of locked memory is \
         {limit} (ulimit -l); UCX_LOG_LEVEL=debug tells more (not logged again)",
        md.name
    );
}
