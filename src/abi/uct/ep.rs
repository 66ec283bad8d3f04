//! `uct.h`, endpoints: what is not inline.

use super::iface::op;
use crate::abi::args::non_null;
use crate::c::*;
use crate::ucs::status::code_of;
use crate::ucs_error;
use crate::uct::base::params::EpArgs;
use crate::uct::cm::handle::CmHandle;
use core::ffi::c_uint;

/// Creates an endpoint: of an interface (with addresses: connected to that interface; without: to
/// be connected by `uct_ep_connect_to_ep`), or of a connection manager (as a client by `sockaddr`,
/// as a server by `conn_request`). `uct_ep_destroy` ends it.
///
/// - `params` (in): The interface or connection manager, and the peer; read during the call only.
/// - `ep_p` (out): The endpoint; written on success only.
/// - returns: UCS_OK. UCS_ERR_INVALID_PARAM without an interface or connection manager. Or the
///   error of the transport, such as UCS_ERR_UNREACHABLE.
///
/// `uct/api/uct.h`, group `ep`.
///
/// # Safety
/// The masked members of `params` valid, `ep_p` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_ep_create(
    params: *const uct_ep_params_t,
    ep_p: *mut uct_ep_h,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; params, ep_p);
    // SAFETY: every release has the mask.
    let args = unsafe { EpArgs::new(params) };
    let cm = args.cm().unwrap_or(core::ptr::null_mut());
    // SAFETY: null, or the caller's open connection manager.
    if let Some(cm) = unsafe { CmHandle::from_c(cm) } {
        // SAFETY: the caller's struct and out parameter.
        return code_of(&unsafe { cm.ep_create(params, ep_p) });
    }
    let iface = args.iface().unwrap_or(core::ptr::null_mut());
    if iface.is_null() {
        ucs_error!("uct_ep_create: neither an interface nor a connection manager is given");
        return UCS_ERR_INVALID_PARAM;
    }
    op!(iface, ep_create, params, ep_p)
}

/// The op of an endpoint's interface.
macro_rules! ep_op {
    ($ep:expr, $op:ident, $($a:expr),*) => {
        // SAFETY: a live endpoint begins with its interface, whose own op is called.
        op!((*$ep).iface, $op, $($a),*)
    };
}

/// Goes on with the connection of a client's endpoint of a connection manager, after its address
/// was resolved.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `params` (in): Private data for the server; copied.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED on other
///   endpoints.
///
/// `uct/api/uct.h`, group `cm`.
///
/// # Safety
/// `ep` live, the masked members of `params` valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_ep_connect(
    ep: uct_ep_h,
    params: *const uct_ep_connect_params_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; ep, params);
    ep_op!(ep, ep_connect, ep, params)
}

/// Begins to disconnect an endpoint of a connection manager. The disconnect callback follows.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `flags` (in): 0.
/// - returns: UCS_OK or UCS_INPROGRESS; UCS_ERR_UNSUPPORTED on other endpoints; the error when it
///   is not connected.
///
/// `uct/api/uct.h`, group `cm`.
///
/// # Safety
/// `ep` live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_ep_disconnect(ep: uct_ep_h, flags: c_uint) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; ep);
    ep_op!(ep, ep_disconnect, ep, flags)
}

/// Destroys an endpoint. Operations under way are not completed: flush first.
///
/// - `ep` (in): Endpoint; not to be used afterwards. NULL does nothing.
///
/// `uct/api/uct.h`, group `ep`.
///
/// # Safety
/// `ep` must be null or live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_ep_destroy(ep: uct_ep_h) {
    if ep.is_null() {
        return;
    }
    // SAFETY: a live endpoint begins with its interface.
    if let Some(destroy) = unsafe { (*(*ep).iface).ops.ep_destroy } {
        // SAFETY: its own op, for the last time.
        unsafe { destroy(ep) };
    }
}

/// Writes the endpoint's address, for `uct_ep_connect_to_ep` at the peer.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `addr` (out): Room for `ep_addr_len` bytes of the interface's attributes.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED for a
///   transport that connects to interfaces only.
///
/// `uct/api/uct.h`, group `ep`.
///
/// # Safety
/// `ep` live, `addr` of that size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_ep_get_address(
    ep: uct_ep_h,
    addr: *mut uct_ep_addr_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; ep, addr);
    ep_op!(ep, ep_get_address, ep, addr)
}

/// Connects the endpoint to a peer's endpoint.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `dev_addr` (in): Device address of the peer's interface.
/// - `ep_addr` (in): Address of the peer's endpoint.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED for a
///   transport that connects to interfaces only; UCS_ERR_UNREACHABLE.
///
/// `uct/api/uct.h`, group `ep`.
///
/// # Safety
/// `ep` live; addresses of this transport's format.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_ep_connect_to_ep(
    ep: uct_ep_h,
    dev_addr: *const uct_device_addr_t,
    ep_addr: *const uct_ep_addr_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; ep, ep_addr);
    ep_op!(ep, ep_connect_to_ep, ep, dev_addr, ep_addr)
}

/// Checks that the peer is alive. If it is not, the error handler is called.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - `flags` (in): 0.
/// - `comp` (in): NULL.
/// - returns: UCS_OK or UCS_INPROGRESS when the check was begun, or an error: see @ref uct_ep.
///
/// `uct/api/uct.h`, group `ep`.
///
/// # Safety
/// `ep` live; `comp` null or alive until completed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_ep_check(
    ep: uct_ep_h,
    flags: c_uint,
    comp: *mut uct_completion_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; ep);
    ep_op!(ep, ep_check, ep, flags, comp)
}

/// Tells the server that the client's endpoint is connected.
///
/// - `ep` (in): Endpoint of `uct_ep_create`, not destroyed yet.
/// - returns: UCS_OK; UCS_ERR_UNSUPPORTED on endpoints that are not of a connection manager.
///
/// `uct/api/uct.h`, group `cm`.
///
/// # Safety
/// `ep` live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_cm_client_ep_conn_notify(ep: uct_ep_h) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; ep);
    ep_op!(ep, cm_ep_conn_notify, ep)
}
