//! Configuration: the exported functions of `ucp.h` and its companions.

use crate::c::prelude::*;
use crate::ucs::Status;

/// `ucp/api/ucp.h`, group `config`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_config_read(
    _env_prefix: *const c_char,
    _filename: *const c_char,
    _config_p: *mut *mut ucp_config_t,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// `ucp/api/ucp.h`, group `config`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_config_release(_config: *mut ucp_config_t) {}

/// `ucp/api/ucp.h`, group `config`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_config_modify(
    _config: *mut ucp_config_t,
    _name: *const c_char,
    _value: *const c_char,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// `ucp/api/ucp.h`, group `config`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_config_print(
    _config: *const ucp_config_t,
    _stream: *mut FILE,
    _title: *const c_char,
    _print_flags: ucs_config_print_flags_t,
) {
}
