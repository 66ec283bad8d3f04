//! Contexts and versions: the exported functions of `ucp.h` and its companions.

use crate::abi::args::{self, non_null, put_name};
use crate::c::prelude::*;
use crate::ucp::config;
use crate::ucp::context::{Context, ContextParams};
use crate::ucp::info::describe_build;
use crate::ucp::request::Request;
use crate::ucs::config::Config;
use crate::uct::base::params::{masked, text};
use crate::{ucs_error, ucs_warn};

masked! {
    ContextArgs of ucp_params, field_mask {
        features: u64, UCP_PARAM_FIELD_FEATURES;
        name: *const c_char, UCP_PARAM_FIELD_NAME;
        request_size: usize, UCP_PARAM_FIELD_REQUEST_SIZE;
        request_init: ucp_request_init_callback_t, UCP_PARAM_FIELD_REQUEST_INIT;
        request_cleanup: ucp_request_cleanup_callback_t, UCP_PARAM_FIELD_REQUEST_CLEANUP;
        tag_sender_mask: u64, UCP_PARAM_FIELD_TAG_SENDER_MASK;
        mt_workers_shared: c_int, UCP_PARAM_FIELD_MT_WORKERS_SHARED;
        estimated_num_eps: usize, UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
        estimated_num_ppn: usize, UCP_PARAM_FIELD_ESTIMATED_NUM_PPN;
        node_local_id: usize, UCP_PARAM_FIELD_NODE_LOCAL_ID;
    }
}

const VERSION: (u32, u32, u32) = (1, 22, 0);

/// Features of `ucp_feature` that this library serves, or accepts without effect.
const FEATURES: u64 = (UCP_FEATURE_TAG
    | UCP_FEATURE_RMA
    | UCP_FEATURE_AMO32
    | UCP_FEATURE_AMO64
    | UCP_FEATURE_WAKEUP
    | UCP_FEATURE_STREAM
    | UCP_FEATURE_AM
    | UCP_FEATURE_EXPORTED_MEMH
    | UCP_FEATURE_DEVICE) as u64;

/// Tells what the library can do, before any context.
///
/// - `attr` (in,out): `field_mask` says which members are written; not NULL.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when `attr` is NULL.
///
/// `ucp/api/ucp.h`, group `context`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_lib_query(attr: *mut ucp_lib_attr_t) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; attr);
    // SAFETY: the caller's struct, written as masked.
    unsafe {
        if (*attr).field_mask & u64::from(UCP_LIB_ATTR_FIELD_MAX_THREAD_LEVEL) != 0 {
            (*attr).max_thread_level = UCS_THREAD_MODE_MULTI;
        }
    }
    UCS_OK
}

/// Tells the version: 1, 22, 0.
///
/// - `major_version` (out): Major version.
/// - `minor_version` (out): Minor version.
/// - `release_number` (out): Release of this version.
///
/// `ucp/api/ucp.h`, group `context`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_get_version(
    major_version: *mut c_uint,
    minor_version: *mut c_uint,
    release_number: *mut c_uint,
) {
    non_null!(; major_version, minor_version, release_number);
    // SAFETY: the caller's out parameters.
    unsafe {
        *major_version = VERSION.0;
        *minor_version = VERSION.1;
        *release_number = VERSION.2;
    }
}

/// The version as text; static.
///
/// - returns: Text that lives as long as the library and is not freed.
///
/// `ucp/api/ucp.h`, group `context`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_get_version_string() -> *const c_char {
    c"1.22.0".as_ptr()
}

/// Prints which library this is and how it was built: lines `name=value`, of which `name=ferrucx`,
/// `version` and `commit` (the commit of its sources, or `unknown`) are always there. No other
/// library of UCX has this function.
///
/// - `stream` (in): Where the lines go; open for writing.
///
/// `ucp/api/ferrucx.h`, group `context`.
///
/// # Safety
/// `stream` must be an open C stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrucx_print_build(stream: *mut FILE) {
    non_null!(; stream);
    // SAFETY: the caller's stream.
    unsafe { args::print(stream, &describe_build()) };
}

/// Creates a context, for a program that was compiled with the given version of this interface;
/// `ucp_init` passes it. `ucp_cleanup` frees the context. A program that is newer than the library
/// gets a warning in the log, and may ask for what is not there.
///
/// - `api_major_version` (in): UCP_API_MAJOR of the program.
/// - `api_minor_version` (in): UCP_API_MINOR of the program.
/// - `params` (in): What the context is for; `features` must be set. Read during the call only.
/// - `config` (in): Options of `ucp_config_read`, which stay the caller's; NULL for those of the
///   environment.
/// - `context_p` (out): The context; written on success only.
/// - returns: UCS_OK. UCS_ERR_INVALID_PARAM without features, with unknown ones, or when an option
///   does not fit. UCS_ERR_NO_DEVICE when no transport is left.
///
/// `ucp/api/ucp.h`, group `context`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_init_version(
    api_major_version: c_uint,
    api_minor_version: c_uint,
    params: *const ucp_params_t,
    config: *const ucp_config_t,
    context_p: *mut ucp_context_h,
) -> ucs_status_t {
    // At INFO people look here for which library they have.
    crate::ucs::log::start();
    non_null!(UCS_ERR_INVALID_PARAM; params, context_p);
    if (api_major_version, api_minor_version) > (VERSION.0, VERSION.1) {
        ucs_warn!(
            "UCP API version is incompatible: required >= {api_major_version}.{api_minor_version}, actual {}.{}.{}",
            VERSION.0,
            VERSION.1,
            VERSION.2
        );
    }
    // SAFETY: every release has the mask; members are read behind their bits.
    let args = unsafe { ContextArgs::new(params) };
    let features = args.features().unwrap_or(0);
    if features == 0 {
        ucs_error!("ucp_init: no features are asked for; set ucp_params.features");
        return UCS_ERR_INVALID_PARAM;
    }
    if features & !FEATURES != 0 {
        ucs_error!("ucp_init: features {:#x} are unknown", features & !FEATURES);
        return UCS_ERR_INVALID_PARAM;
    }
    let name = args.name().unwrap_or(core::ptr::null());
    let parsed = ContextParams {
        features,
        request_size: args.request_size().unwrap_or(0),
        request_init: args.request_init().flatten(),
        request_cleanup: args.request_cleanup().flatten(),
        tag_sender_mask: args.tag_sender_mask().unwrap_or(0),
        mt_workers_shared: args.mt_workers_shared().unwrap_or(0) != 0,
        estimated_num_eps: args.estimated_num_eps().unwrap_or(0),
        estimated_num_ppn: args.estimated_num_ppn().unwrap_or(0),
        node_local_id: args.node_local_id().unwrap_or(0),
        // SAFETY: null or the caller's string.
        name: match unsafe { text(name) } {
            Ok(n) => n.to_owned(),
            Err(_) => crate::ucp::context::default_name(),
        },
        api_minor: api_minor_version,
    };
    let config = if config.is_null() {
        Config::read(&config::TABLE, None)
    } else {
        // SAFETY: a configuration of `ucp_config_read`.
        Ok(unsafe { (*config.cast::<Config>()).clone() })
    };
    match config.and_then(|config| Context::create(parsed, config)) {
        Ok(context) => {
            // SAFETY: the caller's out parameter.
            unsafe { *context_p = Box::into_raw(context).cast() };
            UCS_OK
        }
        Err(e) => e.code(),
    }
}

/// Frees a context. Destroy its workers and unmap its memory first. In a child of fork() it does
/// nothing.
///
/// - `context_p` (in): Context of `ucp_init`; not to be used afterwards.
///
/// `ucp/api/ucp.h`, group `context`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_cleanup(context_p: ucp_context_h) {
    non_null!(; context_p);
    // SAFETY: a live context.
    let made_by = unsafe { (*context_p.cast::<Context>()).made_by };
    // A child of fork() may tidy up: there is nothing to do.
    if !made_by.is_current() {
        return;
    }
    // SAFETY: boxed by `ucp_init_version`.
    drop(unsafe { Box::from_raw(context_p.cast::<Context>()) });
}

/// Tells about a context.
///
/// - `context_p` (in): Context of `ucp_init`, not cleaned up yet.
/// - `attr` (in,out): `field_mask` says which members are written; not NULL.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL.
///
/// `ucp/api/ucp.h`, group `context`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_context_query(
    context_p: ucp_context_h,
    attr: *mut ucp_context_attr_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; context_p, attr);
    // SAFETY: a live context.
    let context = unsafe { &*context_p.cast::<Context>() };
    // SAFETY: the caller's struct, written only as masked: older ones are shorter.
    unsafe {
        let mask = (*attr).field_mask;
        let has = |bit: u32| mask & u64::from(bit) != 0;
        if has(UCP_ATTR_FIELD_REQUEST_SIZE) {
            (*attr).request_size = Request::SIZE;
        }
        if has(UCP_ATTR_FIELD_THREAD_MODE) {
            (*attr).thread_mode = if context.params.mt_workers_shared {
                UCS_THREAD_MODE_MULTI
            } else {
                UCS_THREAD_MODE_SINGLE
            };
        }
        if has(UCP_ATTR_FIELD_MEMORY_TYPES) {
            (*attr).memory_types = 1 << UCS_MEMORY_TYPE_HOST | context.device_memory.types();
        }
        if has(UCP_ATTR_FIELD_NAME) {
            put_name(&mut (*attr).name, &context.params.name);
        }
        if has(UCP_ATTR_FIELD_DEVICE_COUNTER_SIZE) {
            (*attr).device_counter_size = size_of::<u64>();
        }
    }
    UCS_OK
}

/// Prints what a context found: one line for each resource.
///
/// - `context` (in): Context of `ucp_init`, not cleaned up yet.
/// - `stream` (in): Open for writing.
///
/// `ucp/api/ucp.h`, group `context`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_context_print_info(context: ucp_context_h, stream: *mut FILE) {
    non_null!(; context, stream);
    // SAFETY: a live context.
    let context = unsafe { &*context.cast::<Context>() };
    // SAFETY: the caller's stream.
    unsafe { args::print(stream, &context.describe()) };
}
