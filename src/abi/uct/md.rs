//! `uct.h`, memory domains.

use crate::abi::args::{free_list, non_null, put_list, put_name};
use crate::c::*;
use crate::ucs::config::Config;
use crate::ucs::status::code_of;
use crate::ucs::{Result, Status};
use crate::uct::api::{Dmabuf, MdAttr, MemoryInfo};
use crate::uct::base::md::{ComponentHandle, MdHandle};
use crate::uct::base::params::text;
use crate::{ucs_debug, ucs_error};
use core::ffi::{c_char, c_int, c_uint, c_void};
use std::os::fd::{IntoRawFd, OwnedFd};

/// Opens a memory domain. `uct_md_close` closes it.
///
/// - `component` (in): Component of `uct_query_components`.
/// - `md_name` (in): Name as `uct_component_query` gave it, NUL-terminated.
/// - `config` (in): Configuration of `uct_md_config_read`; stays the caller's.
/// - `md_p` (out): The memory domain; written on success only.
/// - returns: UCS_OK. UCS_ERR_INVALID_PARAM when an argument is NULL. UCS_ERR_NO_DEVICE when the
///   component has none of that name. Or the error of the domain.
///
/// `uct/api/uct.h`, group `md`.
///
/// # Safety
/// `config` from `uct_md_config_read` of this component; the rest as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_md_open(
    component: uct_component_h,
    md_name: *const c_char,
    config: *const uct_md_config_t,
    md_p: *mut uct_md_h,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; component, md_name, config, md_p);
    // SAFETY: a component handle.
    let Some(handle) = (unsafe { ComponentHandle::from_c(component) }) else {
        return UCS_ERR_INVALID_PARAM;
    };
    // SAFETY: the caller's string.
    let name = match unsafe { text(md_name) } {
        Ok(n) => n,
        Err(e) => return e.code(),
    };
    let Some(name) = handle.domains().into_iter().find(|n| *n == name) else {
        ucs_error!(
            "component {} has no memory domain {name}",
            handle.component.name()
        );
        return UCS_ERR_NO_DEVICE;
    };
    // SAFETY: a configuration handle.
    let config = unsafe { &*config.cast::<Config>() };
    match handle.component.md_open(name, config) {
        Ok(md) => {
            let md = Box::new(MdHandle {
                component: handle,
                name: name.to_owned(),
                md,
            });
            // SAFETY: the caller's out parameter.
            unsafe { *md_p = Box::into_raw(md).cast() };
            UCS_OK
        }
        Err(e) => e.code(),
    }
}

/// Closes a memory domain on which no interface is open.
///
/// - `md` (in): Memory domain of `uct_md_open` without interfaces and registrations; not to be used
///   afterwards. NULL does nothing.
///
/// `uct/api/uct.h`, group `md`.
///
/// # Safety
/// `md` must be null or an open memory domain.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_md_close(md: uct_md_h) {
    if !md.is_null() {
        // SAFETY: boxed by `uct_md_open`.
        drop(unsafe { Box::from_raw(md.cast::<MdHandle>()) });
    }
}

/// Lists transports and devices of a memory domain. `uct_release_tl_resource_list` frees the list.
///
/// - `md` (in): Memory domain of `uct_md_open`, not closed yet.
/// - `resources_p` (out): Array with an entry for each transport on each device.
/// - `num_resources_p` (out): Number of entries.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_NO_MEMORY.
///
/// `uct/api/uct.h`, group `md`.
///
/// # Safety
/// `md` open, the out parameters writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_md_query_tl_resources(
    md: uct_md_h,
    resources_p: *mut *mut uct_tl_resource_desc_t,
    num_resources_p: *mut c_uint,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; md, resources_p, num_resources_p);
    // SAFETY: an open memory domain.
    let Some(md) = (unsafe { MdHandle::from_c(md) }) else {
        return UCS_ERR_INVALID_PARAM;
    };
    let mut all = Vec::new();
    for tl in md.component.component.transports() {
        for device in md.devices(*tl) {
            let mut r = uct_tl_resource_desc_t {
                tl_name: [0; UCT_TL_NAME_MAX],
                dev_name: [0; UCT_DEVICE_NAME_MAX],
                dev_type: device.kind,
                sys_device: device.sys_device,
            };
            put_name(&mut r.tl_name, tl.name());
            put_name(&mut r.dev_name, &device.name);
            all.push(r);
        }
    }
    // SAFETY: the caller's out parameters.
    unsafe { put_list(&all, resources_p, num_resources_p) }
}

/// Frees the list of `uct_md_query_tl_resources`.
///
/// - `resources` (in): Array of `uct_md_query_tl_resources`, once; NULL does nothing.
///
/// `uct/api/uct.h`, group `md`.
///
/// # Safety
/// `resources` must be null or such a list, once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_release_tl_resource_list(resources: *mut uct_tl_resource_desc_t) {
    // SAFETY: by the caller's promise.
    unsafe { free_list(resources) };
}

/// All CPUs: no domain of ours is nearer to some.
fn all_cpus() -> ucs_cpu_set_t {
    ucs_cpu_set_t { ucs_bits: [!0; 16] }
}

fn reg_cost(attr: &MdAttr) -> ucs_linear_func_t {
    ucs_linear_func_t {
        c: attr.reg_cost.0,
        m: attr.reg_cost.1,
    }
}

/// Flags of 1.22 that `uct_md_attr` of every release knows.
const V1_FLAGS: u64 = UCT_MD_FLAG_LAST as u64 - 1;

/// Fills the attributes of a memory domain, all of the struct.
///
/// - `md` (in): Memory domain of `uct_md_open`, not closed yet.
/// - `md_attr` (out): The attributes, all members.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL.
///
/// `uct/api/uct.h`, group `md`.
///
/// # Safety
/// `md` open, `md_attr` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_md_query(md: uct_md_h, md_attr: *mut uct_md_attr_t) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; md, md_attr);
    // SAFETY: an open memory domain.
    let Some(md) = (unsafe { MdHandle::from_c(md) }) else {
        return UCS_ERR_INVALID_PARAM;
    };
    let a = md.md.attr();
    let mut out = uct_md_attr {
        cap: uct_md_attr_cap {
            max_alloc: a.max_alloc,
            max_reg: a.max_reg,
            flags: a.flags & V1_FLAGS,
            reg_mem_types: a.reg_mem_types,
            detect_mem_types: a.detect_mem_types,
            alloc_mem_types: a.alloc_mem_types,
            access_mem_types: a.access_mem_types,
        },
        reg_cost: reg_cost(&a),
        component_name: [0; UCT_COMPONENT_NAME_MAX],
        rkey_packed_size: md.component.component.key_len(),
        local_cpus: all_cpus(),
    };
    put_name(&mut out.component_name, md.component.component.name());
    // SAFETY: the struct has had this size in every release.
    unsafe { md_attr.write(out) };
    UCS_OK
}

/// Fills the masked attributes of a memory domain: the second generation's query, for upstream's
/// tools. Members that the mask does not name are left alone.
///
/// - `md` (in): Memory domain of `uct_md_open`, not closed yet.
/// - `md_attr` (in,out): `field_mask` says which members are written.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL.
///
/// `uct/api/uct.h`, group `md`.
///
/// # Safety
/// `md` open; the masked members of `md_attr` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_md_query_v2(
    md: uct_md_h,
    md_attr: *mut uct_md_attr_v2_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; md, md_attr);
    // SAFETY: an open memory domain.
    let Some(md) = (unsafe { MdHandle::from_c(md) }) else {
        return UCS_ERR_INVALID_PARAM;
    };
    let a = md.md.attr();
    // SAFETY: every release has the mask.
    let mask = unsafe { (*md_attr).field_mask };
    macro_rules! put {
        ($bit:ident, $member:ident, $value:expr) => {
            if mask & $bit as u64 != 0 {
                // SAFETY: the caller set the bit, so its struct has the member.
                unsafe { core::ptr::addr_of_mut!((*md_attr).$member).write($value) };
            }
        };
    }
    put!(UCT_MD_ATTR_FIELD_MAX_ALLOC, max_alloc, a.max_alloc);
    put!(UCT_MD_ATTR_FIELD_MAX_REG, max_reg, a.max_reg);
    put!(UCT_MD_ATTR_FIELD_FLAGS, flags, a.flags);
    put!(
        UCT_MD_ATTR_FIELD_REG_MEM_TYPES,
        reg_mem_types,
        a.reg_mem_types
    );
    put!(
        UCT_MD_ATTR_FIELD_REG_NONBLOCK_MEM_TYPES,
        reg_nonblock_mem_types,
        a.reg_nonblock_mem_types
    );
    put!(
        UCT_MD_ATTR_FIELD_CACHE_MEM_TYPES,
        cache_mem_types,
        a.cache_mem_types
    );
    put!(
        UCT_MD_ATTR_FIELD_GVA_MEM_TYPES,
        gva_mem_types,
        a.gva_mem_types
    );
    put!(
        UCT_MD_ATTR_FIELD_DETECT_MEM_TYPES,
        detect_mem_types,
        a.detect_mem_types
    );
    put!(
        UCT_MD_ATTR_FIELD_ALLOC_MEM_TYPES,
        alloc_mem_types,
        a.alloc_mem_types
    );
    put!(
        UCT_MD_ATTR_FIELD_ACCESS_MEM_TYPES,
        access_mem_types,
        a.access_mem_types
    );
    put!(
        UCT_MD_ATTR_FIELD_DMABUF_MEM_TYPES,
        dmabuf_mem_types,
        a.dmabuf_mem_types
    );
    put!(UCT_MD_ATTR_FIELD_REG_COST, reg_cost, reg_cost(&a));
    let mut component = [0; UCT_COMPONENT_NAME_MAX];
    put_name(&mut component, md.component.component.name());
    put!(UCT_MD_ATTR_FIELD_COMPONENT_NAME, component_name, component);
    put!(
        UCT_MD_ATTR_FIELD_RKEY_PACKED_SIZE,
        rkey_packed_size,
        md.component.component.key_len()
    );
    put!(UCT_MD_ATTR_FIELD_LOCAL_CPUS, local_cpus, all_cpus());
    put!(
        UCT_MD_ATTR_FIELD_EXPORTED_MKEY_PACKED_SIZE,
        exported_mkey_packed_size,
        0
    );
    put!(
        UCT_MD_ATTR_FIELD_GLOBAL_ID,
        global_id,
        [0; UCT_MD_GLOBAL_ID_MAX]
    );
    put!(UCT_MD_ATTR_FIELD_REG_ALIGNMENT, reg_alignment, 1);
    put!(UCT_MD_ATTR_FIELD_REG_MEM_FLAGS, reg_mem_flags, 0);
    UCS_OK
}

/// Passes an advice on registered or allocated memory.
///
/// - `md` (in): Memory domain of `uct_md_open`, not closed yet.
/// - `memh` (in): Handle of the memory.
/// - `addr` (in): Start, inside that memory.
/// - `length` (in): Bytes; not 0.
/// - `advice` (in): The advice.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL or 0; UCS_ERR_UNSUPPORTED.
///
/// `uct/api/uct.h`, group `md`.
///
/// # Safety
/// `md` open, `memh` of this domain, the range mapped.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_md_mem_advise(
    md: uct_md_h,
    memh: uct_mem_h,
    addr: *mut c_void,
    length: usize,
    advice: uct_mem_advice_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; md, addr);
    if length == 0 {
        ucs_error!("uct_md_mem_advise: length is 0");
        return UCS_ERR_INVALID_PARAM;
    }
    // SAFETY: an open memory domain.
    let Some(md) = (unsafe { MdHandle::from_c(md) }) else {
        return UCS_ERR_INVALID_PARAM;
    };
    // SAFETY: null or a handle of this domain.
    code_of(&unsafe { md.md.mem_advise(memh, addr, length, advice) })
}

/// What a registration asks for, checked against the domain.
fn register(
    md: &MdHandle,
    (address, length): (*mut c_void, usize),
    flags: u64,
    dmabuf: Option<Dmabuf>,
    memh_p: *mut uct_mem_h,
) -> ucs_status_t {
    let quiet = flags & UCT_MD_MEM_FLAG_HIDE_ERRORS as u64 != 0;
    let access = u64::from(UCT_MD_MEM_ACCESS_ALL) | u64::from(UCT_MD_MEM_ACCESS_RMA);
    let attr = md.md.attr();
    let wrong = if address.is_null() {
        Some("the address is NULL")
    } else if length == 0 {
        Some("the length is 0")
    } else if flags & access == 0 {
        Some("no access flag is given")
    } else {
        None
    };
    if let Some(why) = wrong {
        if quiet {
            ucs_debug!("memory registration with {}: {why}", md.name);
        } else {
            ucs_error!("memory registration with {}: {why}", md.name);
        }
        return UCS_ERR_INVALID_PARAM;
    }
    if attr.flags & UCT_MD_FLAG_REG as u64 == 0 {
        return UCS_ERR_UNSUPPORTED;
    }
    let registered = match dmabuf {
        None => md.md.mem_reg(address, length, flags as u32),
        Some(dmabuf) => md.md.mem_reg_dmabuf(address, length, flags as u32, dmabuf),
    };
    match registered {
        Ok(memh) => {
            // SAFETY: the caller's out parameter, checked by it.
            unsafe { *memh_p = memh };
            UCS_OK
        }
        Err(e) => e.code(),
    }
}

/// Registers memory. `uct_md_mem_dereg` takes that back.
///
/// - `md` (in): Memory domain of `uct_md_open`, not closed yet.
/// - `address` (in): Start of the memory.
/// - `length` (in): Bytes; not 0.
/// - `flags` (in): Bits of `uct_md_mem_flags`, at least one access.
/// - `memh_p` (out): The handle; written on success only.
/// - returns: UCS_OK. UCS_ERR_INVALID_PARAM for no memory or no access. UCS_ERR_UNSUPPORTED for a
///   domain that registers nothing. Or the error of the device.
///
/// `uct/api/uct.h`, group `md`.
///
/// # Safety
/// `md` open, the range mapped, `memh_p` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_md_mem_reg(
    md: uct_md_h,
    address: *mut c_void,
    length: usize,
    flags: c_uint,
    memh_p: *mut uct_mem_h,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; md, memh_p);
    // SAFETY: an open memory domain.
    match unsafe { MdHandle::from_c(md) } {
        Some(md) => register(md, (address, length), flags.into(), None, memh_p),
        None => UCS_ERR_INVALID_PARAM,
    }
}

/// Registers memory with the second generation's parameters, for upstream's tools.
///
/// - `md` (in): Memory domain of `uct_md_open`, not closed yet.
/// - `address` (in): Start of the memory.
/// - `length` (in): Bytes; not 0.
/// - `params` (in): `flags` with at least one access; a dmabuf descriptor that holds the memory, and
///   where the memory begins in it, for domains with `UCT_MD_FLAG_REG_DMABUF`, which others leave
///   aside. Read during the call only; the descriptor stays the caller's.
/// - `memh_p` (out): The handle; written on success only.
/// - returns: As `uct_md_mem_reg`.
///
/// `uct/api/uct.h`, group `md`.
///
/// # Safety
/// As `uct_md_mem_reg`; the masked members of `params` valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_md_mem_reg_v2(
    md: uct_md_h,
    address: *mut c_void,
    length: usize,
    params: *const uct_md_mem_reg_params_t,
    memh_p: *mut uct_mem_h,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; md, params, memh_p);
    // SAFETY: every release has the mask.
    let mask = unsafe { (*params).field_mask };
    macro_rules! get {
        ($bit:ident, $member:ident, $none:expr) => {
            match mask & u64::from($bit) {
                0 => $none,
                // SAFETY: the caller set the bit, so its struct has the member.
                _ => unsafe { (*params).$member },
            }
        };
    }
    let flags = get!(UCT_MD_MEM_REG_FIELD_FLAGS, flags, 0);
    let file = get!(
        UCT_MD_MEM_REG_FIELD_DMABUF_FD,
        dmabuf_fd,
        UCT_DMABUF_FD_INVALID
    );
    let offset = get!(UCT_MD_MEM_REG_FIELD_DMABUF_OFFSET, dmabuf_offset, 0);
    let dmabuf = (file != UCT_DMABUF_FD_INVALID).then_some(Dmabuf { file, offset });
    // SAFETY: an open memory domain.
    match unsafe { MdHandle::from_c(md) } {
        Some(md) => register(md, (address, length), flags, dmabuf, memh_p),
        None => UCS_ERR_INVALID_PARAM,
    }
}

/// Releases a registration. No operation may use it any more.
///
/// - `md` (in): Memory domain of `uct_md_open`, not closed yet.
/// - `memh` (in): Handle of `uct_md_mem_reg`, once.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; the error of the device.
///
/// `uct/api/uct.h`, group `md`.
///
/// # Safety
/// `md` open, `memh` of `uct_md_mem_reg` on it, once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_md_mem_dereg(md: uct_md_h, memh: uct_mem_h) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; md, memh);
    // SAFETY: an open memory domain and its handle.
    unsafe {
        match MdHandle::from_c(md) {
            Some(md) => code_of(&md.md.mem_dereg(memh)),
            None => UCS_ERR_INVALID_PARAM,
        }
    }
}

/// Tells about memory that a device may have.
///
/// - `md` (in): Memory domain of `uct_md_open`, not closed yet.
/// - `address` (in): Start of the memory; not accessed.
/// - `length` (in): Bytes.
/// - `mem_attr` (in,out): `field_mask` says which members are written; on success only.
/// - returns: UCS_OK. UCS_ERR_UNSUPPORTED when the domain does not tell memory types apart.
///   UCS_ERR_INVALID_ADDR for memory of another type than the domain's `detect_mem_types`.
///   UCS_ERR_INVALID_PARAM when `md` or `mem_attr` is NULL.
///
/// `uct/api/uct.h`, group `md`.
///
/// # Safety
/// `md` open, `mem_attr` writable where masked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_md_mem_query(
    md: uct_md_h,
    address: *const c_void,
    length: usize,
    mem_attr: *mut uct_md_mem_attr_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; md, mem_attr);
    // SAFETY: an open memory domain.
    let found = match unsafe { query(md, address, length) } {
        Ok(found) => found,
        // Who asks for nothing is not told that there is nothing.
        // SAFETY: the caller's struct; every release has the mask.
        Err(Status::INVALID_ADDR) if unsafe { (*mem_attr).field_mask } == 0 => return UCS_OK,
        Err(e) => return e.code(),
    };
    // SAFETY: the caller's struct, written as masked.
    unsafe {
        let mask = (*mem_attr).field_mask;
        let has = |bit: u32| mask & u64::from(bit) != 0;
        if has(UCT_MD_MEM_ATTR_FIELD_MEM_TYPE) {
            (*mem_attr).mem_type = found.kind;
        }
        if has(UCT_MD_MEM_ATTR_FIELD_SYS_DEV) {
            (*mem_attr).sys_dev = found.device;
        }
        if has(UCT_MD_MEM_ATTR_FIELD_BASE_ADDRESS) {
            (*mem_attr).base_address = core::ptr::with_exposed_provenance_mut(found.base);
        }
        if has(UCT_MD_MEM_ATTR_FIELD_ALLOC_LENGTH) {
            (*mem_attr).alloc_length = found.length;
        }
        // The caller closes it. As upstream says that there is none.
        if has(UCT_MD_MEM_ATTR_FIELD_DMABUF_FD) {
            let file = dmabuf(md, &found, address);
            (*mem_attr).dmabuf_fd = file.map_or(-1, IntoRawFd::into_raw_fd);
        }
        if has(UCT_MD_MEM_ATTR_FIELD_DMABUF_OFFSET) {
            (*mem_attr).dmabuf_offset = found.dmabuf_offset(address.addr());
        }
    }
    UCS_OK
}

/// A dmabuf descriptor for memory that a domain has told of.
///
/// # Safety
/// `md` open.
unsafe fn dmabuf(md: uct_md_h, told: &MemoryInfo, address: *const c_void) -> Option<OwnedFd> {
    // SAFETY: by the caller's promise.
    let md = unsafe { MdHandle::from_c(md) }?;
    md.md.dmabuf(told, address)
}

/// What a domain tells of memory.
///
/// # Safety
/// `md` open.
unsafe fn query(md: uct_md_h, address: *const c_void, length: usize) -> Result<MemoryInfo> {
    // SAFETY: by the caller's promise.
    let md = unsafe { MdHandle::from_c(md) }.ok_or(Status::INVALID_PARAM)?;
    md.md.mem_query(address, length)
}

/// Tells the type of memory.
///
/// - `md` (in): Memory domain of `uct_md_open`, not closed yet.
/// - `addr` (in): Start of the memory; not accessed.
/// - `length` (in): Bytes.
/// - `mem_type_p` (out): The type; written on success only.
/// - returns: As `uct_md_mem_query`.
///
/// `uct/api/uct.h`, group `md`.
///
/// # Safety
/// `md` open, `mem_type_p` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_md_detect_memory_type(
    md: uct_md_h,
    addr: *const c_void,
    length: usize,
    mem_type_p: *mut ucs_memory_type_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; md, mem_type_p);
    // SAFETY: an open memory domain.
    match unsafe { query(md, addr, length) } {
        Ok(found) => {
            // SAFETY: the caller's out parameter.
            unsafe { *mem_type_p = found.kind };
            UCS_OK
        }
        Err(e) => e.code(),
    }
}

/// Tells whether an address can be listened on or reached by interfaces by socket address, of which
/// there are none; see `uct_cm_open`.
///
/// - `md` (in): Not read.
/// - `sockaddr` (in): Not read.
/// - `mode` (in): Not read.
/// - returns: 0.
///
/// `uct/api/uct.h`, group `md`.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_md_is_sockaddr_accessible(
    _md: uct_md_h,
    _sockaddr: *const ucs_sock_addr_t,
    _mode: uct_sockaddr_accessibility_t,
) -> c_int {
    0
}
