//! `uct.h`, configuration of memory domains, interfaces and connection managers.
//!
//! A configuration handle is a boxed `Config`; the three kinds share one release function.

use crate::abi::args::non_null;
use crate::c::*;
use crate::ucs::config::{Config, Table};
use crate::ucs::{Result, Status};
use crate::uct::base::md::{ComponentHandle, MdHandle};
use crate::uct::base::params::text;
use crate::{ucs_diag, ucs_error};
use core::ffi::{c_char, c_void};

/// Reads a table for C, with the application's prefix if it has one.
///
/// # Safety
/// `env_prefix` must be null or a C string.
unsafe fn read(table: &'static Table, env_prefix: *const c_char) -> Result<*mut Config> {
    let prefix = if env_prefix.is_null() {
        None
    } else {
        // SAFETY: by the caller's promise.
        Some(unsafe { text(env_prefix) }?)
    };
    Ok(Box::into_raw(Box::new(Config::read(table, prefix)?)))
}

/// Writes a handle to the caller's out parameter.
///
/// # Safety
/// `out` must be writable.
unsafe fn hand_out<T>(config: Result<*mut Config>, out: *mut *mut T) -> ucs_status_t {
    match config {
        Ok(c) => {
            // SAFETY: by the caller's promise.
            unsafe { *out = c.cast() };
            UCS_OK
        }
        Err(e) => e.code(),
    }
}

/// Reads the options of memory domains of a component from ucx.conf and the environment.
/// `uct_config_release` frees them.
///
/// - `component` (in): Component of `uct_query_components`.
/// - `env_prefix` (in): Prefix tried before the plain names, NUL-terminated; NULL for none.
/// - `filename` (in): Not used.
/// - `config_p` (out): The options; written on success only.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL or an option cannot be read.
///
/// `uct/api/uct.h`, group `config`.
///
/// # Safety
/// Pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_md_config_read(
    component: uct_component_h,
    env_prefix: *const c_char,
    _filename: *const c_char,
    config_p: *mut *mut uct_md_config_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; component, config_p);
    // SAFETY: a component handle.
    let Some(handle) = (unsafe { ComponentHandle::from_c(component) }) else {
        return UCS_ERR_INVALID_PARAM;
    };
    // SAFETY: the caller's strings and out parameter.
    unsafe { hand_out(read(handle.component.md_config(), env_prefix), config_p) }
}

/// Reads the options of interfaces from ucx.conf and the environment. `uct_config_release` frees
/// them.
///
/// - `md` (in): Memory domain of `uct_md_open`, not closed yet.
/// - `tl_name` (in): Name of a transport of the domain, NUL-terminated.
/// - `env_prefix` (in): Prefix tried before the plain names, NUL-terminated; NULL for none.
/// - `filename` (in): Not used.
/// - `config_p` (out): The options; written on success only.
/// - returns: UCS_OK. UCS_ERR_NO_DEVICE when the domain has no such transport.
///   UCS_ERR_INVALID_PARAM when an argument is NULL or an option cannot be read.
///
/// `uct/api/uct.h`, group `config`.
///
/// # Safety
/// Pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_md_iface_config_read(
    md: uct_md_h,
    tl_name: *const c_char,
    env_prefix: *const c_char,
    _filename: *const c_char,
    config_p: *mut *mut uct_iface_config_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; md, config_p);
    // SAFETY: an open memory domain.
    let Some(md) = (unsafe { MdHandle::from_c(md) }) else {
        return UCS_ERR_INVALID_PARAM;
    };
    if tl_name.is_null() {
        ucs_diag!(
            "{}: interfaces by socket address are not supported; use a connection manager",
            md.name
        );
        return UCS_ERR_NO_DEVICE;
    }
    // SAFETY: the caller's string.
    let table = unsafe { text(tl_name) }.and_then(|name| {
        let tls = md.component.component.transports();
        match tls.iter().find(|t| t.name() == name) {
            Some(t) => Ok(t.config()),
            None => {
                ucs_error!("memory domain {} has no transport {name}", md.name);
                Err(Status::NO_DEVICE)
            }
        }
    });
    // SAFETY: the caller's string.
    let config = table.and_then(|t| unsafe { read(t, env_prefix) });
    // SAFETY: the caller's out parameter.
    unsafe { hand_out(config, config_p) }
}

/// Reads the options of a component's connection manager from ucx.conf and the environment.
/// `uct_config_release` frees them.
///
/// - `component` (in): Component of `uct_query_components`.
/// - `env_prefix` (in): Prefix tried before the plain names, NUL-terminated; NULL for none.
/// - `filename` (in): Not used.
/// - `config_p` (out): The options; written on success only.
/// - returns: UCS_OK. UCS_ERR_INVALID_PARAM when the component has no connection manager, an
///   argument is NULL or an option cannot be read.
///
/// `uct/api/uct.h`, group `config`.
///
/// # Safety
/// Pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_cm_config_read(
    component: uct_component_h,
    env_prefix: *const c_char,
    _filename: *const c_char,
    config_p: *mut *mut uct_cm_config_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; component, config_p);
    // SAFETY: a component handle.
    let Some(handle) = (unsafe { ComponentHandle::from_c(component) }) else {
        return UCS_ERR_INVALID_PARAM;
    };
    let Some(table) = handle.component.cm_config() else {
        ucs_diag!("{} has no connection manager", handle.component.name());
        return UCS_ERR_INVALID_PARAM;
    };
    // SAFETY: the caller's strings and out parameter.
    unsafe { hand_out(read(table, env_prefix), config_p) }
}

/// Frees a configuration of any of the three kinds.
///
/// - `config` (in): Configuration, once; NULL does nothing. What was opened with it stays.
///
/// `uct/api/uct.h`, group `config`.
///
/// # Safety
/// `config` must be null or such a handle, once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_config_release(config: *mut c_void) {
    if !config.is_null() {
        // SAFETY: boxed by `read`.
        drop(unsafe { Box::from_raw(config.cast::<Config>()) });
    }
}

/// Writes an option as text.
///
/// - `config` (in): Configuration of `uct_md_config_read`, `uct_md_iface_config_read` or
///   `uct_cm_config_read`; used by one thread at a time.
/// - `name` (in): Name without `UCX_` and without the prefix of its kind, NUL-terminated.
/// - `value` (out): Gets the text with its NUL, cut to fit.
/// - `max` (in): Bytes of `value`.
/// - returns: UCS_OK. UCS_ERR_NO_ELEM when there is no such option. UCS_ERR_INVALID_PARAM when an
///   argument is NULL or `max` is 0.
///
/// `uct/api/uct.h`, group `config`.
///
/// # Safety
/// Pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_config_get(
    config: *mut c_void,
    name: *const c_char,
    value: *mut c_char,
    max: usize,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; config, name, value);
    if max == 0 {
        return UCS_ERR_INVALID_PARAM;
    }
    // SAFETY: a configuration handle, used by one thread at a time.
    let config = unsafe { &*config.cast::<Config>() };
    // SAFETY: the caller's string.
    let text = match unsafe { text(name) }.and_then(|name| config.get_text(name)) {
        Ok(t) => t,
        Err(e) => return e.code(),
    };
    let n = text.len().min(max - 1);
    // SAFETY: `n` + 1 bytes fit in the caller's buffer.
    unsafe {
        core::ptr::copy_nonoverlapping(text.as_ptr(), value.cast(), n);
        value.add(n).write(0);
    }
    UCS_OK
}

/// Sets an option. What was opened before does not change.
///
/// - `config` (in): Configuration of `uct_md_config_read`, `uct_md_iface_config_read` or
///   `uct_cm_config_read`; used by one thread at a time.
/// - `name` (in): Name without `UCX_` and without the prefix of its kind, NUL-terminated.
/// - `value` (in): New value as text, NUL-terminated; copied.
/// - returns: UCS_OK. UCS_ERR_NO_ELEM when there is no such option. UCS_ERR_INVALID_PARAM when an
///   argument is NULL or the text does not fit.
///
/// `uct/api/uct.h`, group `config`.
///
/// # Safety
/// Pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_config_modify(
    config: *mut c_void,
    name: *const c_char,
    value: *const c_char,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; config, name, value);
    // SAFETY: a configuration handle, used by one thread at a time.
    let config = unsafe { &mut *config.cast::<Config>() };
    // SAFETY: the caller's strings.
    let set = unsafe { text(name).and_then(|name| config.set(name, text(value)?)) };
    crate::ucs::status::code_of(&set)
}
