//! `uct.h`, memory allocation by a list of methods.
//!
//! `uct_allocated_memory` grew in 1.19 without a mask: the member that came then is written only
//! for callers who show by their parameters that they have it.

use crate::abi::args::non_null;
use crate::c::*;
use crate::ucs::memtype::MemType;
use crate::ucs::{Result, Status};
use crate::uct::base::iface::base_of;
use crate::uct::base::md::MdHandle;
use crate::uct::base::mem::{self, Block, Request};
use crate::uct::base::params::masked;
use crate::uct::base::params::text;
use crate::{ucs_debug, ucs_error};
use core::ffi::{c_char, c_uint};

masked! {
    AllocArgs of uct_mem_alloc_params_t, field_mask {
        flags: c_uint, UCT_MEM_ALLOC_PARAM_FIELD_FLAGS;
        mem_type: ucs_memory_type_t, UCT_MEM_ALLOC_PARAM_FIELD_MEM_TYPE;
        name: *const c_char, UCT_MEM_ALLOC_PARAM_FIELD_NAME;
        mds: uct_mem_alloc_params_t_mds, UCT_MEM_ALLOC_PARAM_FIELD_MDS;
        address: *mut core::ffi::c_void, UCT_MEM_ALLOC_PARAM_FIELD_ADDRESS;
        sys_device: ucs_sys_device_t, UCT_MEM_ALLOC_PARAM_FIELD_SYS_DEVICE;
    }
}

/// Bytes of `uct_allocated_memory` that every release has.
const OLDEST_SIZE: usize = 40;
const _: () = assert!(core::mem::offset_of!(uct_allocated_memory, sys_device) == OLDEST_SIZE);

/// Writes an allocation to the caller.
///
/// # Safety
/// `out` must have the oldest size, and today's when a device is given.
unsafe fn put(out: *mut uct_allocated_memory_t, block: &Block, device: Option<ucs_sys_device_t>) {
    // SAFETY: each member below lies in the oldest size; the last only with a device.
    unsafe {
        core::ptr::addr_of_mut!((*out).address).write(block.address);
        core::ptr::addr_of_mut!((*out).length).write(block.length);
        core::ptr::addr_of_mut!((*out).method).write(block.method);
        core::ptr::addr_of_mut!((*out).mem_type).write(block.kind);
        core::ptr::addr_of_mut!((*out).md).write(block.md);
        core::ptr::addr_of_mut!((*out).memh).write(block.memh);
        if let Some(device) = device {
            core::ptr::addr_of_mut!((*out).sys_device).write(device);
        }
    }
}

/// Reads an allocation of ours back.
///
/// # Safety
/// `m` must point to what `put` wrote.
unsafe fn get(m: *const uct_allocated_memory_t) -> Block {
    // SAFETY: members of the oldest size.
    unsafe {
        Block {
            address: (*m).address,
            length: (*m).length,
            method: (*m).method,
            kind: (*m).mem_type,
            md: (*m).md,
            memh: (*m).memh,
        }
    }
}

/// Allocates memory by the first method that works; memory of devices is allocated by memory domains alone. `uct_mem_free` frees it.
///
/// - `length` (in): Bytes wanted.
/// - `methods` (in): Methods in the order in which they are tried.
/// - `num_methods` (in): Their number.
/// - `params` (in): Flags, address, memory type, device, memory domains and name; read during the
///   call only.
/// - `mem` (out): Address, length and method; written on success only.
/// - returns: UCS_OK. UCS_ERR_NO_MEMORY when every method failed. UCS_ERR_UNSUPPORTED for memory
///   that none of the memory domains allocates. UCS_ERR_NO_DEVICE when memory of a device is wanted
///   and the device is not there or not in use. UCS_ERR_INVALID_PARAM when an argument is NULL, or
///   no bytes are wanted.
///
/// `uct/api/uct.h`, group `md`.
///
/// # Safety
/// Arrays and masked members valid; `mem` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_mem_alloc(
    length: usize,
    methods: *const uct_alloc_method_t,
    num_methods: c_uint,
    params: *const uct_mem_alloc_params_t,
    mem: *mut uct_allocated_memory_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; methods, params, mem);
    // SAFETY: every release has the mask.
    let args = unsafe { AllocArgs::new(params) };
    let flags = args.flags().unwrap_or(UCT_MD_MEM_ACCESS_ALL);
    let mem_type = args.mem_type().unwrap_or(UCS_MEMORY_TYPE_HOST);
    let name = args.name().unwrap_or(core::ptr::null());
    let mds = args.mds().unwrap_or(uct_mem_alloc_params_t_mds {
        mds: core::ptr::null(),
        count: 0,
    });
    let address = args.address().unwrap_or(core::ptr::null_mut());
    // SAFETY: the caller's arrays.
    let (methods, domains) = unsafe {
        let domains = if mds.count == 0 || mds.mds.is_null() {
            &[]
        } else {
            core::slice::from_raw_parts(mds.mds, mds.count as usize)
        };
        (
            core::slice::from_raw_parts(methods, num_methods as usize),
            domains,
        )
    };
    // SAFETY: open domains of the caller, or null.
    let known = |md: &uct_md_h| unsafe { MdHandle::from_c(*md) };
    let mut known = domains.iter().filter_map(known);
    // "Unknown", whatever its number in the caller's release, is no type that a domain allocates.
    let is_fixed = flags & UCT_MD_MEM_FLAG_FIXED != 0;
    let can_allocate = known.any(|md| {
        let attr = md.md.attr();
        let places = !is_fixed || attr.flags & u64::from(UCT_MD_FLAG_FIXED) != 0;
        attr.allocates(mem_type) && places
    });
    if mem_type != UCS_MEMORY_TYPE_HOST && !can_allocate && !domains.is_empty() {
        ucs_error!(
            "uct_mem_alloc: memory type {}: only host memory can be allocated, and what the memory domains allocate, at an address of their own unless they say otherwise",
            MemType::from_c(mem_type).name()
        );
        return UCS_ERR_UNSUPPORTED;
    }
    let request = Request {
        address,
        length,
        flags,
        kind: mem_type,
        device: args.sys_device().unwrap_or(UCS_SYS_DEVICE_ID_UNKNOWN),
        // SAFETY: null or the caller's string.
        name: unsafe { text(name) }.unwrap_or("uct_mem_alloc"),
    };
    match mem::allocate(&request, methods, domains) {
        Ok(block) => {
            // SAFETY: the device is known only to callers whose struct has the newest size.
            unsafe { put(mem, &block, args.sys_device()) };
            UCS_OK
        }
        Err(e) => e.code(),
    }
}

/// Frees what `uct_mem_alloc` gave.
///
/// - `mem` (in): What `uct_mem_alloc` wrote, once.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when `mem` is NULL; the error of giving the memory
///   back.
///
/// `uct/api/uct.h`, group `md`.
///
/// # Safety
/// `mem` of `uct_mem_alloc`, once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_mem_free(mem: *const uct_allocated_memory_t) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; mem);
    // SAFETY: by the caller's promise.
    crate::ucs::status::code_of(&unsafe { mem::free(&get(mem)) })
}

/// Allocates memory by the methods of the interface's option ALLOC, and registers it with the
/// domain where that is needed. `uct_iface_mem_free` frees it.
///
/// - `iface` (in): Interface of `uct_iface_open`, not closed yet.
/// - `length` (in): Bytes wanted.
/// - `flags` (in): Bits of `uct_md_mem_flags`.
/// - `name` (in): Name for messages, NUL-terminated; may be NULL.
/// - `mem` (out): Address, length and handle; written on success only.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_NO_MEMORY; the error
///   of the registration.
///
/// `uct/api/uct.h`, group `iface`.
///
/// # Safety
/// `iface` open, `mem` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_iface_mem_alloc(
    iface: uct_iface_h,
    length: usize,
    flags: c_uint,
    name: *const c_char,
    mem: *mut uct_allocated_memory_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; iface, mem);
    // SAFETY: an open interface of ours.
    let base = unsafe { base_of(iface) };
    let request = Request {
        address: core::ptr::null_mut(),
        length,
        flags,
        kind: UCS_MEMORY_TYPE_HOST,
        device: UCS_SYS_DEVICE_ID_UNKNOWN,
        // SAFETY: null or the caller's string.
        name: unsafe { text(name) }.unwrap_or("uct_iface_mem_alloc"),
    };
    match allocate_registered(base.md(), &base.alloc_methods(), &request) {
        Ok(block) => {
            // SAFETY: the caller's out parameter; its size is not known to be the newest.
            unsafe { put(mem, &block, None) };
            UCS_OK
        }
        Err(e) => e.code(),
    }
}

fn allocate_registered(md: uct_md_h, methods: &[u32], request: &Request<'_>) -> Result<Block> {
    let mut block = mem::allocate(request, methods, &[md])?;
    if block.method == UCT_ALLOC_METHOD_MD {
        return Ok(block);
    }
    block.md = md;
    // SAFETY: the interface's domain outlives it.
    let Some(handle) = (unsafe { MdHandle::from_c(md) }) else {
        return Ok(block);
    };
    if handle.md.attr().flags & u64::from(UCT_MD_FLAG_REG) == 0 {
        return Ok(block);
    }
    match handle
        .md
        .mem_reg(block.address, block.length, request.flags)
    {
        Ok(memh) => {
            block.memh = memh;
            Ok(block)
        }
        Err(e) => {
            ucs_debug!("{}: registering {} bytes: {e}", handle.name, block.length);
            // SAFETY: just allocated, in no one's hands.
            unsafe { mem::free(&block) }?;
            Err(e)
        }
    }
}

/// Releases what `uct_iface_mem_alloc` gave.
///
/// - `mem` (in): What `uct_iface_mem_alloc` wrote, once.
///
/// `uct/api/uct.h`, group `iface`.
///
/// # Safety
/// `mem` of `uct_iface_mem_alloc`, once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_iface_mem_free(mem: *const uct_allocated_memory_t) {
    non_null!(; mem);
    // SAFETY: by the caller's promise.
    let freed: std::result::Result<(), Status> = unsafe {
        let block = get(mem);
        if block.method != UCT_ALLOC_METHOD_MD
            && !block.memh.is_null()
            && let Some(md) = MdHandle::from_c(block.md)
            && let Err(e) = md.md.mem_dereg(block.memh)
        {
            ucs_error!("{}: releasing a registration: {e}", md.name);
        }
        mem::free(&block)
    };
    if let Err(e) = freed {
        ucs_error!("uct_iface_mem_free: {e}");
    }
}
