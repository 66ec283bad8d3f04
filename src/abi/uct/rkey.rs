//! `uct.h`, remote keys.

use crate::abi::args::non_null;
use crate::c::*;
use crate::uct::base::md::{ComponentHandle, MdHandle, RkeyHandle};
use core::ffi::c_void;
use core::mem::ManuallyDrop;

/// Packs the remote key of registered memory, for peers.
///
/// - `md` (in): Memory domain of `uct_md_open`, not closed yet.
/// - `memh` (in): Handle of `uct_md_mem_reg` or `uct_mem_alloc`; has to stay as long as peers use
///   the key.
/// - `rkey_buffer` (out): Room for `rkey_packed_size` bytes of the domain's attributes.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED for a
///   domain without keys.
///
/// `uct/api/uct.h`, group `md`.
///
/// # Safety
/// `md` open, `memh` of it, the buffer of that size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_md_mkey_pack(
    md: uct_md_h,
    memh: uct_mem_h,
    rkey_buffer: *mut c_void,
) -> ucs_status_t {
    // SAFETY: as promised by the caller; the whole of the handle is packed.
    unsafe {
        uct_md_mkey_pack_v2(
            md,
            memh,
            core::ptr::null_mut(),
            usize::MAX,
            core::ptr::null(),
            rkey_buffer,
        )
    }
}

/// Writes the remote key of a part of `memh`, for upstream's tools. Invalidation and export, which
/// `params` may ask for, are answered with `UNSUPPORTED`.
///
/// - `md` (in): Memory domain of `uct_md_open`, not closed yet.
/// - `memh` (in): Handle of `uct_md_mem_reg` or `uct_mem_alloc`; has to stay as long as peers use
///   the key.
/// - `address` (in): Start of the part that the key is for.
/// - `length` (in): Bytes of that part.
/// - `params` (in): Its `flags` must be 0; may be NULL.
/// - `mkey_buffer` (out): Room for `rkey_packed_size` bytes of the domain's attributes.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED for flags
///   and for a domain without keys.
///
/// `uct/api/uct.h`, group `md`.
///
/// # Safety
/// As `uct_md_mkey_pack`; `params` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_md_mkey_pack_v2(
    md: uct_md_h,
    memh: uct_mem_h,
    address: *mut c_void,
    length: usize,
    params: *const uct_md_mkey_pack_params_t,
    mkey_buffer: *mut c_void,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; md, mkey_buffer);
    if !params.is_null() {
        // SAFETY: every release has the mask; the flags are read behind their bit.
        let flags = unsafe {
            if (*params).field_mask & UCT_MD_MKEY_PACK_FIELD_FLAGS as u64 != 0 {
                (*params).flags
            } else {
                0
            }
        };
        if flags != 0 {
            crate::ucs_error!("uct_md_mkey_pack_v2: flags {flags:#x} are not supported");
            return UCS_ERR_UNSUPPORTED;
        }
    }
    // A key is for all of the handle's memory.
    let _ = (address, length);
    // SAFETY: an open memory domain.
    let Some(md) = (unsafe { MdHandle::from_c(md) }) else {
        return UCS_ERR_INVALID_PARAM;
    };
    // SAFETY: a handle of this domain.
    match unsafe { md.md.mkey_pack(memh) } {
        Ok(key) => {
            // SAFETY: the buffer has the promised size, that of the component's keys.
            unsafe { core::ptr::copy_nonoverlapping(key.as_ptr(), mkey_buffer.cast(), key.len()) };
            UCS_OK
        }
        Err(e) => e.code(),
    }
}

/// Turns a packed remote key into access. `uct_rkey_release` frees it.
///
/// - `component` (in): Component of `uct_query_components`.
/// - `rkey_buffer` (in): Bytes of `uct_md_mkey_pack` at the peer.
/// - `rkey_ob` (out): The key; written on success only.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNREACHABLE or
///   another error for a key that is of no use here.
///
/// `uct/api/uct.h`, group `md`.
///
/// # Safety
/// `rkey_buffer` as written by a peer's `uct_md_mkey_pack` of the same component.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_rkey_unpack(
    component: uct_component_h,
    rkey_buffer: *const c_void,
    rkey_ob: *mut uct_rkey_bundle_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; component, rkey_buffer, rkey_ob);
    // SAFETY: a component handle.
    let Some(of) = (unsafe { ComponentHandle::from_c(component) }) else {
        return UCS_ERR_INVALID_PARAM;
    };
    // SAFETY: a buffer of the component's format.
    let packed = unsafe { core::slice::from_raw_parts(rkey_buffer.cast(), of.component.key_len()) };
    match RkeyHandle::unpack(of.component, packed) {
        Ok(key) => {
            let (rkey, handle) = key.into_c();
            // SAFETY: the caller's out parameter.
            unsafe {
                rkey_ob.write(uct_rkey_bundle_t {
                    rkey,
                    handle,
                    r#type: component.cast(),
                });
            }
            UCS_OK
        }
        Err(e) => e.code(),
    }
}

/// Gives the local address at which memory of a peer is mapped. It is valid as long as the key.
///
/// - `component` (in): Component of `uct_query_components`.
/// - `rkey_ob` (in): Key of `uct_rkey_unpack`.
/// - `remote_addr` (in): Address in the peer's memory, as the peer sees it.
/// - `addr_p` (out): The local address; written on success only.
/// - returns: UCS_OK; UCS_ERR_UNSUPPORTED when the memory is not mapped; UCS_ERR_INVALID_PARAM when
///   an argument is NULL.
///
/// `uct/api/uct.h`, group `md`.
///
/// # Safety
/// `rkey_ob` live and of this component, `addr_p` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_rkey_ptr(
    component: uct_component_h,
    rkey_ob: *mut uct_rkey_bundle_t,
    remote_addr: u64,
    addr_p: *mut *mut c_void,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; component, rkey_ob, addr_p);
    // SAFETY: a component handle and its key, which stays the caller's.
    let Some(key) = (unsafe { key_of(component, rkey_ob) }).map(ManuallyDrop::new) else {
        return UCS_ERR_INVALID_PARAM;
    };
    match key.pointer(remote_addr) {
        Ok(p) => {
            // SAFETY: the caller's out parameter.
            unsafe { *addr_p = p };
            UCS_OK
        }
        Err(e) => e.code(),
    }
}

/// Releases a remote key.
///
/// - `component` (in): Component of `uct_query_components`.
/// - `rkey_ob` (in): Key of `uct_rkey_unpack`, once; no operation may use it any more.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL.
///
/// `uct/api/uct.h`, group `md`.
///
/// # Safety
/// `rkey_ob` of `uct_rkey_unpack` with this component, once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_rkey_release(
    component: uct_component_h,
    rkey_ob: *const uct_rkey_bundle_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; component, rkey_ob);
    // SAFETY: a component handle and its key, given up here.
    match unsafe { key_of(component, rkey_ob) } {
        Some(_) => UCS_OK,
        None => UCS_ERR_INVALID_PARAM,
    }
}

/// The key of a bundle; `None` for a null component.
///
/// # Safety
/// The bundle must be of `uct_rkey_unpack` with this component, and the key be dropped once in all.
unsafe fn key_of(
    component: uct_component_h,
    bundle: *const uct_rkey_bundle_t,
) -> Option<RkeyHandle> {
    // SAFETY: by the caller's promise.
    unsafe {
        let of = ComponentHandle::from_c(component)?;
        Some(RkeyHandle::from_c(
            of.component,
            (*bundle).rkey,
            (*bundle).handle,
        ))
    }
}
