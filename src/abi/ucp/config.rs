//! Configuration: the exported functions of `ucp.h` and its companions.

use crate::abi::args::non_null;
use crate::abi::ucs::config::style_of;
use crate::abi::ucs::opts;
use crate::c::prelude::*;
use crate::ucp::config;
use crate::ucs::config::{Config, PREFIX, print};
use crate::ucs::status::code_of;
use crate::uct::base::params::text;
use core::fmt::Write;

/// Reads the options from the environment: `UCX_*`, and before it `PREFIX_UCX_*` if a prefix is
/// given. `filename` is reserved: NULL. The result is freed by `ucp_config_release`.
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

/// Frees what `ucp_config_read` made.
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

/// Sets an option by name, without the prefix `UCX_`: one of contexts, or a global one, which changes at once for the
/// whole process, or one of a component, which is read where a context with this configuration opens it.
/// UCS_ERR_INVALID_PARAM: no such option that may change now, or the value does not fit.
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

/// Prints options to `stream`, under a title, as `print_flags` say.
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
    unsafe { super::print::put(stream, &text) };
}
