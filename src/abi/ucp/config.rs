//! Configuration: the exported functions of `ucp.h` and its companions.

use crate::c::prelude::*;
use crate::ucs::Status;

/// Reads the options from the environment: `UCX_*`, and before it `PREFIX_UCX_*` if a prefix is
/// given. `filename` is reserved: NULL. The result is freed by `ucp_config_release`.
///
/// `ucp/api/ucp.h`, group `config`. Not implemented yet.
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

/// Frees what `ucp_config_read` made.
///
/// `ucp/api/ucp.h`, group `config`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_config_release(_config: *mut ucp_config_t) {}

/// Sets an option by name, without the prefix `UCX_`. UCS_ERR_NO_ELEM: no such option;
/// UCS_ERR_INVALID_PARAM: the value does not fit.
///
/// `ucp/api/ucp.h`, group `config`. Not implemented yet.
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

/// Prints options to `stream`, under a title, as `print_flags` say.
///
/// `ucp/api/ucp.h`, group `config`. Not implemented yet.
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
