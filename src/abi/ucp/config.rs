//! Configuration: the exported functions of `ucp.h` and its companions.

use crate::abi::args::{self, non_null};
use crate::abi::ucs::config::style_of;
use crate::abi::ucs::opts;
use crate::c::prelude::*;
use crate::ucp::config;
use crate::ucs::config::{Config, PREFIX, print};
use crate::ucs::status::code_of;
use crate::uct::base::params::text;
use core::fmt::Write;

/// Reads the options from ucx.conf and the environment: `UCX_*`, and before it `PREFIX_UCX_*` if a
/// prefix is given. The result is freed by `ucp_config_release`.
///
/// - `env_prefix` (in): Prefix, NUL-terminated; NULL for none.
/// - `filename` (in): Not used: NULL. The library finds ucx.conf by itself.
/// - `config_p` (out): The options; written on success only.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when `config_p` is NULL; the error of an option that
///   cannot be read.
///
/// `ucp/api/ucp.h`, group `config`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_config_read(
    env_prefix: *const c_char,
    filename: *const c_char,
    config_p: *mut *mut ucp_config_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; config_p);
    if !filename.is_null() {
        crate::ucs_debug!(
            "ucp_config_read: the file name is not used; ucx.conf is found by itself"
        );
    }
    let prefix = if env_prefix.is_null() {
        None
    } else {
        // SAFETY: the caller's string.
        match unsafe { text(env_prefix) } {
            Ok(p) => Some(p),
            Err(e) => return e.code(),
        }
    };
    match Config::read(&config::TABLE, prefix) {
        Ok(c) => {
            // SAFETY: the caller's out parameter.
            unsafe { *config_p = Box::into_raw(Box::new(c)).cast() };
            UCS_OK
        }
        Err(e) => e.code(),
    }
}

/// Frees what `ucp_config_read` made. Contexts that were created with it keep their own copy.
///
/// - `config` (in): Options of `ucp_config_read`; NULL does nothing.
///
/// `ucp/api/ucp.h`, group `config`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_config_release(config: *mut ucp_config_t) {
    if !config.is_null() {
        // SAFETY: boxed by `ucp_config_read`.
        drop(unsafe { Box::from_raw(config.cast::<Config>()) });
    }
}

/// Sets an option by name: one of contexts, or a global one, which changes at once for the whole
/// process, or one of a component, which is read where a context with this configuration opens it.
/// Contexts that exist do not change.
///
/// - `config` (in): Options of `ucp_config_read`, used by one thread at a time.
/// - `name` (in): Name without the prefix `UCX_`, NUL-terminated; copied.
/// - `value` (in): New value as text, NUL-terminated; copied.
/// - returns: UCS_OK. UCS_ERR_INVALID_PARAM: no such option that may change now, or the value does
///   not fit.
///
/// `ucp/api/ucp.h`, group `config`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_config_modify(
    config: *mut ucp_config_t,
    name: *const c_char,
    value: *const c_char,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; config, name, value);
    // SAFETY: a configuration, used by one thread at a time.
    let config = unsafe { &mut *config.cast::<Config>() };
    // SAFETY: the caller's strings.
    let done = unsafe { text(name).and_then(|name| config::modify(config, name, text(value)?)) };
    opts::rewrite();
    code_of(&done)
}

/// Prints options as text that ucx.conf or a shell can read back.
///
/// - `config` (in): Options of `ucp_config_read`.
/// - `stream` (in): Open for writing.
/// - `title` (in): Line before the options, NUL-terminated; NULL for none.
/// - `print_flags` (in): What to print, bits of `ucs_config_print_flags_t`.
///
/// `ucp/api/ucp.h`, group `config`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_config_print(
    config: *const ucp_config_t,
    stream: *mut FILE,
    title: *const c_char,
    print_flags: ucs_config_print_flags_t,
) {
    non_null!(; config, stream);
    // SAFETY: a configuration and the caller's string or null.
    let (config, title) = unsafe { (&*config.cast::<Config>(), text(title).unwrap_or("")) };
    let mut text = String::new();
    let style = style_of(print_flags);
    print::print(config, title, PREFIX, style, None, &mut text);
    if style.values {
        for (name, value) in config.kept_for_others() {
            let _ = writeln!(text, "{name}={value}");
        }
    }
    // SAFETY: the caller's stream.
    unsafe { args::print(stream, &text) };
}
