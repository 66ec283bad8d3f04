//! Memory that processors cannot access, as that of GPUs: which domains know it, and of which type an address is.
//!
//! Buffers in it are staged through memory of the host (`uct/base/staged.rs`). Contexts without such a domain look at no
//! address.
#![forbid(unsafe_code)]

use super::context::Context;
use crate::c::*;
use crate::ucs::memtype::MemType;
use crate::ucs::{Result, Status};
use crate::ucs_error;
use crate::uct::api::MemoryInfo;
use crate::uct::base::memory_copier::MemoryCopier;
use core::ffi::c_void;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// The domains that tell such memory apart.
#[derive(Default)]
pub struct DeviceMemory(Vec<Known>);

struct Known {
    /// Index into `Context::mds`.
    domain: usize,
    /// Mask of `UCS_MEMORY_TYPE_*`.
    types: u64,
    /// Those among them of which there may be dmabufs.
    dmabuf_types: u64,
    copier: Arc<dyn MemoryCopier>,
}

impl DeviceMemory {
    /// Adds a domain that detects these types, and has dmabufs of the second ones.
    pub fn add(
        &mut self,
        domain: usize,
        (types, dmabuf_types): (u64, u64),
        copier: Arc<dyn MemoryCopier>,
    ) {
        self.0.push(Known {
            domain,
            types,
            dmabuf_types,
            copier,
        });
    }

    /// Whether memory can be of another type than the host's.
    pub fn is_there(&self) -> bool {
        !self.0.is_empty()
    }

    /// All types besides the host's, as a mask.
    pub fn types(&self) -> u64 {
        self.0.iter().fold(0, |all, known| all | known.types)
    }

    /// The types of which there may be dmabufs, as a mask.
    pub fn dmabuf_types(&self) -> u64 {
        self.0.iter().fold(0, |all, known| all | known.dmabuf_types)
    }

    /// What copies memory of a type; `None` for the host's, which needs nothing.
    #[inline]
    pub fn copier(&self, kind: ucs_memory_type_t) -> Option<&Arc<dyn MemoryCopier>> {
        if kind == UCS_MEMORY_TYPE_HOST {
            return None;
        }
        let of_kind = |known: &&Known| known.types & 1u64.unbounded_shl(kind) != 0;
        self.0.iter().find(of_kind).map(|known| &known.copier)
    }

    /// Indices into `Context::mds`.
    pub fn domains(&self) -> impl Iterator<Item = usize> {
        self.0.iter().map(|known| known.domain)
    }
}

impl Context {
    /// The type of the memory at an address. Nothing tells when memory is allocated or freed, so that is found out each time.
    pub fn memory_type(&self, address: *const c_void, length: usize) -> Result<ucs_memory_type_t> {
        for domain in self.device_memory.domains() {
            match self.mds[domain].md.mem_query(address, length) {
                Ok(found) => return Ok(found.kind),
                Err(Status::INVALID_ADDR) => {}
                Err(e) => return Err(e),
            }
        }
        Ok(UCS_MEMORY_TYPE_HOST)
    }

    /// What is told of memory of a device, with the index of the domain that tells it.
    pub fn told_of(&self, address: *const c_void, length: usize) -> Option<(usize, MemoryInfo)> {
        self.device_memory.domains().find_map(|domain| {
            let told = self.mds[domain].md.mem_query(address, length).ok()?;
            Some((domain, told))
        })
    }

    /// A dmabuf of memory of a device, and what it has.
    pub fn dmabuf_of(&self, at: *const c_void, length: usize) -> Option<(OwnedFd, MemoryInfo)> {
        let (domain, told) = self.told_of(at, length)?;
        let file = self.mds[domain].md.dmabuf(&told, at)?;
        Some((file, told))
    }

    /// Whether processors access the memory at an address of a type that is not the host's.
    pub fn is_reached_by_processors(&self, address: *const u8) -> bool {
        let mut domains = self.device_memory.domains();
        domains.any(|domain| {
            let found = self.mds[domain].md.mem_query(address.cast(), 1);
            found.is_ok_and(|found| found.host_access)
        })
    }

    /// The memory type that a caller means, by the number that he gives; `None` when he wants it found out. `UNSUPPORTED`
    /// for a type that there is no memory of.
    pub fn memory_type_of(&self, given: ucs_memory_type_t) -> Result<Option<ucs_memory_type_t>> {
        match MemType::from_c(given) {
            MemType::Host => Ok(Some(UCS_MEMORY_TYPE_HOST)),
            MemType::Unknown => Ok(None),
            MemType::Device(_) if self.device_memory.copier(given).is_some() => Ok(Some(given)),
            kind @ MemType::Device(_) => {
                ucs_error!(
                    "memory of type {} is not used: there is no such device or driver here, or UCX_TLS leaves out its transport",
                    kind.name()
                );
                Err(Status::UNSUPPORTED)
            }
        }
    }
}
