//! Listeners and connection requests: the exported functions of `ucp.h` and its companions.

use crate::c::prelude::*;
use crate::ucs::Status;

/// Binds a socket and accepts clients while the worker progresses. UCS_ERR_BUSY: the address is in
/// use.
///
/// `ucp/api/ucp.h`, group `listener`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_listener_create(
    _worker: ucp_worker_h,
    _params: *const ucp_listener_params_t,
    _listener_p: *mut ucp_listener_h,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// Closes a listener. Endpoints made through it stay.
///
/// `ucp/api/ucp.h`, group `listener`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_listener_destroy(_listener: ucp_listener_h) {}

/// Tells about a listener.
///
/// `ucp/api/ucp.h`, group `listener`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_listener_query(
    _listener: ucp_listener_h,
    _attr: *mut ucp_listener_attr_t,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// Tells about a waiting client.
///
/// `ucp/api/ucp.h`, group `listener`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_conn_request_query(
    _conn_request: ucp_conn_request_h,
    _attr: *mut ucp_conn_request_attr_t,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// Refuses a waiting client, who gets UCS_ERR_REJECTED.
///
/// `ucp/api/ucp.h`, group `listener`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_listener_reject(
    _listener: ucp_listener_h,
    _conn_request: ucp_conn_request_h,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}
