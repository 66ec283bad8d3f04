//! `uct.h`, connection managers and listeners: not there yet, every call answers so.

use crate::c::*;
use libc::{sockaddr, socklen_t};

/// Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_cm_open(
    _component: uct_component_h,
    _worker: uct_worker_h,
    _config: *const uct_cm_config_t,
    _cm_p: *mut uct_cm_h,
) -> ucs_status_t {
    UCS_ERR_NOT_IMPLEMENTED
}

/// Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_cm_close(_cm: uct_cm_h) {}

/// Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_cm_query(_cm: uct_cm_h, _cm_attr: *mut uct_cm_attr_t) -> ucs_status_t {
    UCS_ERR_NOT_IMPLEMENTED
}

/// Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_listener_create(
    _cm: uct_cm_h,
    _saddr: *const sockaddr,
    _socklen: socklen_t,
    _params: *const uct_listener_params_t,
    _listener_p: *mut uct_listener_h,
) -> ucs_status_t {
    UCS_ERR_NOT_IMPLEMENTED
}

/// Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_listener_destroy(_listener: uct_listener_h) {}

/// Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_listener_reject(
    _listener: uct_listener_h,
    _conn_request: uct_conn_request_h,
) -> ucs_status_t {
    UCS_ERR_NOT_IMPLEMENTED
}

/// Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_listener_query(
    _listener: uct_listener_h,
    _listener_attr: *mut uct_listener_attr_t,
) -> ucs_status_t {
    UCS_ERR_NOT_IMPLEMENTED
}
