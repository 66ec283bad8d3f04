//! Endpoints: the exported functions of `ucp.h` and its companions.

use crate::c::prelude::*;
use crate::ucs::Status;

/// Flushes and closes an endpoint, and waits.
///
/// `ucp/api/ucp_compat.h`, group `ep`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_ep_destroy(_ep: ucp_ep_h) {}

/// Old form of `ucp_ep_close_nbx`: flushes and closes.
///
/// `ucp/api/ucp_compat.h`, group `ep`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_disconnect_nb(_ep: ucp_ep_h) -> ucs_status_ptr_t {
    Status::NOT_IMPLEMENTED.code() as isize as ucs_status_ptr_t
}

/// Waits until all operations on an endpoint are complete at the peer.
///
/// `ucp/api/ucp_compat.h`, group `ep`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_ep_flush(_ep: ucp_ep_h) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// Changes an endpoint's parameters.
///
/// `ucp/api/ucp_compat.h`, group `ep`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_ep_modify_nb(
    _ep: ucp_ep_h,
    _params: *const ucp_ep_params_t,
) -> ucs_status_ptr_t {
    Status::NOT_IMPLEMENTED.code() as isize as ucs_status_ptr_t
}

/// Old form of `ucp_ep_close_nbx`, with a mode.
///
/// `ucp/api/ucp_compat.h`, group `ep`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_ep_close_nb(_ep: ucp_ep_h, _mode: c_uint) -> ucs_status_ptr_t {
    Status::NOT_IMPLEMENTED.code() as isize as ucs_status_ptr_t
}

/// Old form of `ucp_ep_flush_nbx`.
///
/// `ucp/api/ucp_compat.h`, group `ep`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_ep_flush_nb(
    _ep: ucp_ep_h,
    _flags: c_uint,
    _cb: ucp_send_callback_t,
) -> ucs_status_ptr_t {
    Status::NOT_IMPLEMENTED.code() as isize as ucs_status_ptr_t
}

/// Connects to a worker, to a server, or to a waiting client. Returns before the connection
/// stands: operations wait for it. UCS_ERR_INVALID_PARAM without a peer; UCS_ERR_UNREACHABLE when
/// no transport reaches it.
///
/// `ucp/api/ucp.h`, group `ep`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_ep_create(
    _worker: ucp_worker_h,
    _params: *const ucp_ep_params_t,
    _ep_p: *mut ucp_ep_h,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// Closes an endpoint, after a flush or with force. The endpoint must not be used any more.
/// Returns NULL when done, a request, or an error.
///
/// `ucp/api/ucp.h`, group `ep`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_ep_close_nbx(
    _ep: ucp_ep_h,
    _param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    Status::NOT_IMPLEMENTED.code() as isize as ucs_status_ptr_t
}

/// Prints the transports of an endpoint.
///
/// `ucp/api/ucp.h`, group `ep`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_ep_print_info(_ep: ucp_ep_h, _stream: *mut FILE) {}

/// Completes all operations on an endpoint, at the peer too. Returns NULL when done, a request, or
/// an error.
///
/// `ucp/api/ucp.h`, group `ep`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_ep_flush_nbx(
    _ep: ucp_ep_h,
    _param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    Status::NOT_IMPLEMENTED.code() as isize as ucs_status_ptr_t
}

/// Estimates how long a message takes.
///
/// `ucp/api/ucp.h`, group `ep`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_ep_evaluate_perf(
    _ep: ucp_ep_h,
    _param: *const ucp_ep_evaluate_perf_param_t,
    _attr: *mut ucp_ep_evaluate_perf_attr_t,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// Tells about an endpoint.
///
/// `ucp/api/ucp.h`, group `ep`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_ep_query(_ep: ucp_ep_h, _attr: *mut ucp_ep_attr_t) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}
