//! Allocation of memory by methods (`UCT_ALLOC_METHOD_*`), first that works.

use super::copy::Room;
use super::md::MdHandle;
use crate::c::*;
use crate::sys::host_memory;
use crate::sys::mem::{self, MapOptions};
use crate::ucs::{Result, Status};
use crate::uct::api::Alloc;
use crate::{ucs_debug, ucs_error};
use core::ffi::c_void;
use core::ops::Range;

/// The parameters of an allocation.
pub struct Request<'a> {
    /// A wish, or with `UCT_MD_MEM_FLAG_FIXED` a demand; null for anywhere.
    pub address: *mut c_void,
    pub length: usize,
    /// `UCT_MD_MEM_*`.
    pub flags: u32,
    /// `UCS_MEMORY_TYPE_*`. Memory of devices comes from memory domains alone.
    pub kind: ucs_memory_type_t,
    /// On which device, if it matters: `UCS_SYS_DEVICE_ID_UNKNOWN` for any.
    pub device: ucs_sys_device_t,
    pub name: &'a str,
}

/// The result of an allocation.
pub struct Block {
    pub address: *mut c_void,
    pub length: usize,
    pub method: uct_alloc_method_t,
    /// `UCS_MEMORY_TYPE_*`
    pub kind: ucs_memory_type_t,
    /// Set when the method is MD.
    pub md: uct_md_h,
    pub memh: uct_mem_h,
}

impl Block {
    /// Some bytes of memory of the host that was allocated here; `None` where it is no such, or has them not.
    pub fn part(&self, range: Range<usize>) -> Option<Room<'_>> {
        if self.kind != UCS_MEMORY_TYPE_HOST || range.start > range.end || range.end > self.length {
            return None;
        }
        let at = self.address.cast::<u8>().wrapping_add(range.start);
        // SAFETY: inside the allocation, which lives as long as this.
        Some(unsafe { Room::new(at, range.len()) })
    }
}

/// Heap blocks are aligned to a cache line.
const HEAP_ALIGN: usize = 64;
/// The huge page size of x86-64 and aarch64 with 4 KiB pages.
const HUGE_PAGE: usize = 2 << 20;

/// Allocates by the first of `methods` that works. When none does, what the domain says of memory of devices, else `NO_MEMORY`.
pub fn allocate(request: &Request<'_>, methods: &[u32], mds: &[uct_md_h]) -> Result<Block> {
    let fixed = request.flags & UCT_MD_MEM_FLAG_FIXED != 0;
    if request.length == 0 {
        ucs_error!("memory allocation of 0 bytes for {}", request.name);
        return Err(Status::INVALID_PARAM);
    }
    if fixed
        && (request.address.is_null()
            || !(request.address as usize).is_multiple_of(mem::page_size()))
    {
        ucs_error!(
            "fixed allocation for {}: address {:p} is not on a page",
            request.name,
            request.address
        );
        return Err(Status::INVALID_PARAM);
    }
    if request.length > isize::MAX as usize - HUGE_PAGE {
        return Err(Status::NO_MEMORY);
    }
    let is_host = request.kind == UCS_MEMORY_TYPE_HOST;
    let mut last = Status::NO_MEMORY;
    for &method in methods {
        let got = match method {
            UCT_ALLOC_METHOD_MD => by_md(request, mds),
            UCT_ALLOC_METHOD_THP..=UCT_ALLOC_METHOD_HUGE if !is_host => continue,
            UCT_ALLOC_METHOD_HEAP if !fixed => by_heap(request, HEAP_ALIGN),
            UCT_ALLOC_METHOD_THP if !fixed && request.length >= HUGE_PAGE => by_thp(request),
            UCT_ALLOC_METHOD_MMAP => by_mmap(request, fixed, false),
            UCT_ALLOC_METHOD_HUGE => by_mmap(request, fixed, true),
            UCT_ALLOC_METHOD_HEAP | UCT_ALLOC_METHOD_THP => continue,
            _ => {
                ucs_error!("allocation method {method} is unknown");
                return Err(Status::INVALID_PARAM);
            }
        };
        match got {
            Ok(block) => {
                if is_host {
                    let start = block.address.addr();
                    host_memory::was_allocated(start..start.saturating_add(block.length));
                }
                return Ok(block);
            }
            Err(e) => {
                ucs_debug!(
                    "allocation method {method} for {} bytes of {}: {e}",
                    request.length,
                    request.name
                );
                last = e;
            }
        }
    }
    ucs_debug!(
        "no method could allocate {} bytes for {}",
        request.length,
        request.name
    );
    Err(if is_host { Status::NO_MEMORY } else { last })
}

fn by_md(request: &Request<'_>, mds: &[uct_md_h]) -> Result<Block> {
    let mut last = Status::NO_MEMORY;
    for &h in mds {
        // SAFETY: open domains of the caller, or null.
        let Some(md) = (unsafe { MdHandle::from_c(h) }) else {
            continue;
        };
        let attr = md.md.attr();
        let fixed = request.flags & UCT_MD_MEM_FLAG_FIXED != 0;
        if attr.flags & u64::from(UCT_MD_FLAG_ALLOC) == 0
            || (fixed && attr.flags & u64::from(UCT_MD_FLAG_FIXED) == 0)
            || request.length as u64 > attr.max_alloc
            || !attr.allocates(request.kind)
        {
            continue;
        }
        let mut alloc = Alloc {
            address: request.address,
            length: request.length,
            flags: request.flags,
            kind: request.kind,
            device: request.device,
            name: request.name,
        };
        match md.md.mem_alloc(&mut alloc) {
            Ok(memh) => {
                return Ok(Block {
                    address: alloc.address,
                    length: alloc.length,
                    method: UCT_ALLOC_METHOD_MD,
                    kind: request.kind,
                    md: h,
                    memh,
                });
            }
            Err(e) => {
                ucs_debug!("{}: allocating {} bytes: {e}", md.name, request.length);
                last = e;
            }
        }
    }
    Err(last)
}

fn plain(address: *mut c_void, length: usize, method: uct_alloc_method_t) -> Block {
    Block {
        address,
        length,
        method,
        kind: UCS_MEMORY_TYPE_HOST,
        md: core::ptr::null_mut(),
        memh: core::ptr::null_mut(),
    }
}

fn by_heap(request: &Request<'_>, align: usize) -> Result<Block> {
    let p = mem::heap_alloc(request.length, align)?;
    Ok(plain(p, request.length, UCT_ALLOC_METHOD_HEAP))
}

fn by_thp(request: &Request<'_>) -> Result<Block> {
    let length = request.length.next_multiple_of(HUGE_PAGE);
    let p = mem::heap_alloc(length, HUGE_PAGE)?;
    if let Err(e) = mem::advise(p as usize, length, mem::ADVISE_HUGE) {
        // SAFETY: just allocated.
        unsafe { mem::heap_free(p) };
        return Err(e.into());
    }
    Ok(plain(p, length, UCT_ALLOC_METHOD_THP))
}

fn by_mmap(request: &Request<'_>, fixed: bool, huge: bool) -> Result<Block> {
    let page = if huge { HUGE_PAGE } else { mem::page_size() };
    let length = request.length.next_multiple_of(page);
    let options = MapOptions {
        fixed,
        huge,
        populate: false,
    };
    let p = mem::map_anonymous(request.address as usize, length, options)?;
    let method = if huge {
        UCT_ALLOC_METHOD_HUGE
    } else {
        UCT_ALLOC_METHOD_MMAP
    };
    Ok(plain(p, length, method))
}

/// Gives a block back.
///
/// # Safety
/// `block` must come from `allocate` and be freed once.
pub unsafe fn free(block: &Block) -> Result<()> {
    host_memory::will_be_freed(block.address.addr());
    match block.method {
        UCT_ALLOC_METHOD_MD => {
            // SAFETY: the domain outlives what was allocated from it.
            match unsafe { MdHandle::from_c(block.md) } {
                // SAFETY: the handle of this block, once.
                Some(md) => unsafe { md.md.mem_free(block.memh) },
                None => Err(Status::INVALID_PARAM),
            }
        }
        UCT_ALLOC_METHOD_HEAP | UCT_ALLOC_METHOD_THP => {
            // SAFETY: from `heap_alloc`.
            unsafe { mem::heap_free(block.address) };
            Ok(())
        }
        UCT_ALLOC_METHOD_MMAP | UCT_ALLOC_METHOD_HUGE => {
            // SAFETY: from `map_anonymous`, with this length.
            unsafe { mem::unmap(block.address, block.length) }?;
            Ok(())
        }
        other => {
            ucs_error!("freeing memory of unknown allocation method {other}");
            Err(Status::INVALID_PARAM)
        }
    }
}
