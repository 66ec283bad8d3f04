//! Remote memory access: the exported functions of `ucp.h` and its companions.

use super::ep::{ep, wait};
use super::param::{self, Which, answer, enter};
use crate::abi::args::non_null;
use crate::c::prelude::*;
use crate::ucp::dt::{Data, Way};
use crate::ucp::mem::RemoteKey;
use crate::ucp::request::{Callback, Param, Posted};
use crate::ucp::rma::post;
use crate::ucs::Result;

const NULL_PTR: ucs_status_ptr_t = UCS_ERR_INVALID_PARAM as isize as ucs_status_ptr_t;

/// Which way the data goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Put,
    Get,
}

/// What an access names besides its parameters.
struct Target {
    ep: ucp_ep_h,
    buffer: *mut c_void,
    count: usize,
    address: u64,
    rkey: ucp_rkey_h,
}

/// Posts an access.
///
/// # Safety
/// Handles live; the buffer as the datatype says.
unsafe fn access(way: Access, t: &Target, param: &Param) -> Result<Posted> {
    // SAFETY: by the caller's promise.
    let (ep, key) = unsafe { (ep(t.ep), &*t.rkey.cast::<RemoteKey>()) };
    let _guard = enter(ep.worker());
    let side = if way == Access::Put {
        Way::Send
    } else {
        Way::Receive
    };
    // SAFETY: as above.
    let data = unsafe { Data::new(t.buffer, t.count, param.datatype, side) }?;
    match way {
        Access::Put => post::put(ep, param, data, t.address, key),
        Access::Get => post::get(ep, param, data, t.address, key),
    }
}

/// Accesses and waits.
///
/// # Safety
/// As `access`.
unsafe fn blocking(way: Access, t: &Target) -> ucs_status_t {
    // SAFETY: by the caller's promise.
    unsafe {
        let w = ep(t.ep).worker();
        let _guard = enter(w);
        wait(w, access(way, t, &Param::PLAIN))
    }
}

/// Accesses without a request: only a flush tells the end.
///
/// # Safety
/// As `access`.
unsafe fn implicit(way: Access, t: &Target) -> ucs_status_t {
    // SAFETY: by the caller's promise.
    match unsafe { access(way, t, &Param::PLAIN) } {
        Ok(Posted::Done) => UCS_OK,
        Ok(Posted::Request(req)) => {
            // SAFETY: alive; given back at its end.
            unsafe { req.as_ref() }.release();
            UCS_INPROGRESS
        }
        Err(e) => e.code(),
    }
}

/// Parameters of an old call on bytes with a callback.
fn old(cb: ucp_send_callback_t) -> Param {
    let callback = cb.map_or(Callback::None, Callback::OldSend);
    param::old(Param::PLAIN.datatype, callback, false)
}

/// Writes to memory of the peer, and waits until the caller's memory is free.
///
/// `ucp/api/ucp_compat.h`, group `rma`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_put(
    ep: ucp_ep_h,
    buffer: *const c_void,
    length: usize,
    remote_addr: u64,
    rkey: ucp_rkey_h,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; ep, rkey);
    let buffer = buffer.cast_mut();
    let t = Target {
        ep,
        buffer,
        count: length,
        address: remote_addr,
        rkey,
    };
    // SAFETY: the caller's arguments.
    unsafe { blocking(Access::Put, &t) }
}

/// Reads memory of the peer, and waits.
///
/// `ucp/api/ucp_compat.h`, group `rma`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_get(
    ep: ucp_ep_h,
    buffer: *mut c_void,
    length: usize,
    remote_addr: u64,
    rkey: ucp_rkey_h,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; ep, rkey);
    let t = Target {
        ep,
        buffer,
        count: length,
        address: remote_addr,
        rkey,
    };
    // SAFETY: the caller's arguments.
    unsafe { blocking(Access::Get, &t) }
}

/// Writes to memory of the peer. UCS_OK: the caller's memory is free; UCS_INPROGRESS: after a
/// flush.
///
/// `ucp/api/ucp_compat.h`, group `rma`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_put_nbi(
    ep: ucp_ep_h,
    buffer: *const c_void,
    length: usize,
    remote_addr: u64,
    rkey: ucp_rkey_h,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; ep, rkey);
    let buffer = buffer.cast_mut();
    let t = Target {
        ep,
        buffer,
        count: length,
        address: remote_addr,
        rkey,
    };
    // SAFETY: the caller's arguments.
    unsafe { implicit(Access::Put, &t) }
}

/// Reads memory of the peer. UCS_INPROGRESS: the data is there after a flush.
///
/// `ucp/api/ucp_compat.h`, group `rma`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_get_nbi(
    ep: ucp_ep_h,
    buffer: *mut c_void,
    length: usize,
    remote_addr: u64,
    rkey: ucp_rkey_h,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; ep, rkey);
    let t = Target {
        ep,
        buffer,
        count: length,
        address: remote_addr,
        rkey,
    };
    // SAFETY: the caller's arguments.
    unsafe { implicit(Access::Get, &t) }
}

/// Old form of `ucp_put_nbx`.
///
/// `ucp/api/ucp_compat.h`, group `rma`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_put_nb(
    ep: ucp_ep_h,
    buffer: *const c_void,
    length: usize,
    remote_addr: u64,
    rkey: ucp_rkey_h,
    cb: ucp_send_callback_t,
) -> ucs_status_ptr_t {
    non_null!(NULL_PTR; ep, rkey);
    let buffer = buffer.cast_mut();
    let t = Target {
        ep,
        buffer,
        count: length,
        address: remote_addr,
        rkey,
    };
    // SAFETY: the caller's arguments.
    answer(unsafe { access(Access::Put, &t, &old(cb)) })
}

/// Old form of `ucp_get_nbx`.
///
/// `ucp/api/ucp_compat.h`, group `rma`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_get_nb(
    ep: ucp_ep_h,
    buffer: *mut c_void,
    length: usize,
    remote_addr: u64,
    rkey: ucp_rkey_h,
    cb: ucp_send_callback_t,
) -> ucs_status_ptr_t {
    non_null!(NULL_PTR; ep, rkey);
    let t = Target {
        ep,
        buffer,
        count: length,
        address: remote_addr,
        rkey,
    };
    // SAFETY: the caller's arguments.
    answer(unsafe { access(Access::Get, &t, &old(cb)) })
}

/// Writes `count` elements to the peer's memory at `remote_addr`. Done when the caller's memory is
/// free; the peer sees it after a flush. Returns NULL when done, a request, or an error.
///
/// `ucp/api/ucp.h`, group `rma`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_put_nbx(
    ep: ucp_ep_h,
    buffer: *const c_void,
    count: usize,
    remote_addr: u64,
    rkey: ucp_rkey_h,
    param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    non_null!(NULL_PTR; ep, rkey, param);
    let buffer = buffer.cast_mut();
    let t = Target {
        ep,
        buffer,
        count,
        address: remote_addr,
        rkey,
    };
    // SAFETY: the caller's arguments.
    answer(unsafe { access(Access::Put, &t, &param::read(param, Which::Send)) })
}

/// Reads `count` elements of the peer's memory at `remote_addr`. Returns NULL when done, a
/// request, or an error.
///
/// `ucp/api/ucp.h`, group `rma`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_get_nbx(
    ep: ucp_ep_h,
    buffer: *mut c_void,
    count: usize,
    remote_addr: u64,
    rkey: ucp_rkey_h,
    param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    non_null!(NULL_PTR; ep, rkey, param);
    let t = Target {
        ep,
        buffer,
        count,
        address: remote_addr,
        rkey,
    };
    // SAFETY: the caller's arguments.
    answer(unsafe { access(Access::Get, &t, &param::read(param, Which::Send)) })
}
