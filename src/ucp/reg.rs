//! Memory that memory domains of a context know: a handle of each domain, given back when the last user is done.
//!
//! Mapped regions have one for as long as they are mapped. Transfers take theirs from a registration cache, which keeps it
//! for the next (`reg_cache.rs`), or have one for their own duration. A domain that cannot register the memory is left
//! out, and who asked goes another way; the log says so once for a context, as the usual cause, the limit of locked
//! memory, stays.
#![forbid(unsafe_code)]

use super::context::Context;
use super::reg_cache::Remembered;
use crate::c::*;
use crate::sys;
use crate::ucs::{Result, Status};
use crate::uct::base::md::{MdHandle, Registered};
use crate::{ucs_debug, ucs_warn};
use core::ffi::c_void;
use smallvec::SmallVec;

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
    remembered: SmallVec<[Remembered; 1]>,
}

impl Registration {
    /// Tells `domains` of the memory. `flags`: `UCT_MD_MEM_*`.
    pub fn new(
        context: &Context,
        domains: impl Iterator<Item = usize>,
        memory: (*mut c_void, usize),
        flags: u32,
    ) -> Registration {
        let mut made = Registration::default();
        for domain in domains {
            made.add(context, domain, memory, flags);
        }
        made
    }

    fn add(
        &mut self,
        context: &Context,
        domain: usize,
        (address, length): (*mut c_void, usize),
        flags: u32,
    ) {
        let md: &MdHandle = &context.mds[domain];
        let Some(flags) = context.registration_flags(domain, flags) else {
            ucs_debug!(
                "{}: {length} bytes are not registered, as they would be pinned",
                md.name
            );
            return;
        };
        match md.register(address, length, flags | UCT_MD_MEM_FLAG_HIDE_ERRORS) {
            Ok(registered) => self.handles.push((domain, registered)),
            // No such memory can be registered there: no limit of this machine's.
            Err(e @ Status::UNSUPPORTED) => {
                ucs_debug!("{}: registering {length} bytes: {e}", md.name);
            }
            Err(e) => report(context, md, length, e),
        }
    }

    /// Tells domains of a buffer, as far as they do not know it yet.
    pub fn of_buffer(
        context: &Context,
        domains: &[usize],
        memory: (*mut u8, usize),
        flags: u32,
    ) -> Registration {
        let mut made = Registration::default();
        for domain in domains {
            made.add_buffer(context, *domain, memory, flags);
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
            Some(Ok(found)) => self.remembered.push(found),
            Some(Err(e)) => report(context, &context.mds[domain], bytes, e),
            None => self.add(context, domain, (buffer.cast(), bytes), flags),
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
            .chain(self.remembered.iter().map(Remembered::handle))
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

#[cold]
fn report(context: &Context, md: &MdHandle, length: usize, e: Status) {
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
