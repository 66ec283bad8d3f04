//! `ucs/memory/rcache.h`.

use crate::abi::args::non_null;
use crate::abi::jump::jump;
use crate::abi::ucs::text_of;
use crate::c::prelude::*;
use crate::ucs::compat::rcache::{Cache, Params, Region, defaults};
use crate::ucs::status::code_of;
use std::sync::Arc;

/// A cache of registrations. UCS_ERR_INVALID_PARAM where a region is smaller than `ucs_rcache_region_t`.
/// `ucs/memory/rcache.h`.
///
/// - `params` (in): Functions and limits; read during the call only.
/// - `name` (in): Name for messages, NUL-terminated.
/// - `stats_parent` (in): Not used.
/// - `rcache_p` (out): The cache.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM where a region is smaller than `ucs_rcache_region_t`.
///
/// # Safety
/// `params` is of any release since 1.13, its functions stay as long as the cache; `name` is a C string, `rcache_p`
/// writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_rcache_create(
    params: *const ucs_rcache_params_t,
    name: *const c_char,
    _stats_parent: *mut ucs_stats_node_t,
    rcache_p: *mut *mut ucs_rcache_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; params, name, rcache_p);
    // SAFETY: the caller's parameters.
    let params = unsafe { Params::read(params) };
    // SAFETY: the caller's string.
    let name = unsafe { text_of(name) };
    // SAFETY: the caller's functions.
    let made = unsafe { Cache::create(params, &name) }.map(|cache| {
        let cache: *const Cache = Arc::into_raw(cache);
        // SAFETY: the caller's place.
        unsafe { rcache_p.write(cache.cast_mut().cast()) };
    });
    code_of(&made)
}

/// The cache behind a handle.
///
/// # Safety
/// The handle is live.
unsafe fn cache<'a>(rcache: *mut ucs_rcache_t) -> &'a Cache {
    // SAFETY: `ucs_rcache_create` made it.
    unsafe { &*rcache.cast::<Cache>() }
}

/// Ends a cache and its registrations. `ucs/memory/rcache.h`.
///
/// - `rcache` (in,out): The cache.
///
/// # Safety
/// `rcache` is live, and nobody uses it or will.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_rcache_destroy(rcache: *mut ucs_rcache_t) {
    non_null!(; rcache);
    // SAFETY: `ucs_rcache_create` made it, and gave its share away.
    Cache::destroy(unsafe { Arc::from_raw(rcache.cast::<Cache>()) });
}

/// A registration that has a range: `(rcache, address, length, alignment, prot, arg, region_p)`. The caller gives it
/// back. UCS_ERR_INVALID_PARAM: there is no such range; or what the client's function answers. `ucs/memory/rcache.h`.
///
/// # Safety
/// `rcache` is live, `arg` what its functions expect, `region_p` writable.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_rcache_get() {
    jump!(get_of_any_release);
}

/// Before 1.17, the arguments are (rcache, address, length, prot, arg, region_p).
///
/// # Safety
/// As for `ucs_rcache_get`. Only a call of the new form passes the last argument.
unsafe extern "C" fn get_of_any_release(
    rcache: *mut ucs_rcache_t,
    address: *mut c_void,
    length: usize,
    alignment_or_prot: usize,
    prot_or_arg: *mut c_void,
    arg_or_region_p: *mut c_void,
    region_p: *mut *mut ucs_rcache_region_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; rcache);
    // SAFETY: the caller's promise.
    let cache = unsafe { cache(rcache) };
    let (alignment, prot, arg, region_p) = match cache.common_alignment() {
        Some(alignment) => (
            alignment,
            alignment_or_prot as c_int,
            prot_or_arg,
            arg_or_region_p.cast(),
        ),
        None => (
            alignment_or_prot,
            prot_or_arg.addr() as c_int,
            arg_or_region_p,
            region_p,
        ),
    };
    non_null!(UCS_ERR_INVALID_PARAM; region_p);
    // SAFETY: the caller's argument.
    let got = unsafe { cache.get(address.addr(), length, alignment, prot, arg) };
    let given = got.map(|region| {
        // SAFETY: the caller's place.
        unsafe { region_p.write(region.raw()) };
    });
    code_of(&given)
}

/// Counts one user more of a registration. `ucs/memory/rcache.h`.
///
/// - `rcache` (in,out): The cache.
/// - `region` (in,out): The registration.
///
/// # Safety
/// `rcache` is live, and `region` is one of its that the caller has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_rcache_region_hold(
    rcache: *mut ucs_rcache_t,
    region: *mut ucs_rcache_region_t,
) {
    non_null!(; rcache, region);
    // SAFETY: the caller's promise.
    let cache = unsafe { cache(rcache) };
    // SAFETY: as above.
    let region = unsafe { Region::of(region, cache.is_old()) };
    region.acquire();
}

/// Gives a registration back. `ucs/memory/rcache.h`.
///
/// - `rcache` (in,out): The cache.
/// - `region` (in,out): The registration.
///
/// # Safety
/// `rcache` is live, and `region` is one of its that the caller has, and has no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_rcache_region_put(
    rcache: *mut ucs_rcache_t,
    region: *mut ucs_rcache_region_t,
) {
    non_null!(; rcache, region);
    // SAFETY: the caller's promise.
    let cache = unsafe { cache(rcache) };
    // SAFETY: as above.
    cache.put(unsafe { Region::of(region, cache.is_old()) });
}

/// Takes a registration out of the cache, so that nobody gets it any more. The caller still gives it back; `cb` is
/// called when it has ended. `ucs/memory/rcache.h`.
///
/// - `rcache` (in,out): The cache.
/// - `region` (in,out): The registration.
/// - `cb` (in): Called when it has ended.
/// - `arg` (in): Its argument.
///
/// # Safety
/// `rcache` is live, and `region` is one of its that the caller has; `cb` may be called with `arg`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_rcache_region_invalidate(
    rcache: *mut ucs_rcache_t,
    region: *mut ucs_rcache_region_t,
    cb: ucs_rcache_invalidate_comp_func_t,
    arg: *mut c_void,
) {
    non_null!(; rcache, region);
    // SAFETY: the caller's promise.
    let cache = unsafe { cache(rcache) };
    // SAFETY: as above.
    let region = unsafe { Region::of(region, cache.is_old()) };
    cache.invalidate_used(region, cb.map(|cb| (cb, arg)));
}

/// Fills parameters with defaults: no events, no limits. `ucs/memory/rcache.h`.
///
/// - `rcache_params` (out): The parameters.
///
/// # Safety
/// `rcache_params` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_rcache_set_default_params(rcache_params: *mut ucs_rcache_params_t) {
    non_null!(; rcache_params);
    // SAFETY: checked above; the caller vouches for it.
    unsafe { rcache_params.write(defaults()) };
}

/// Fills parameters with what a user chose, and defaults for the rest. `ucs/memory/rcache.h`.
///
/// - `rcache_params` (out): The parameters.
/// - `rcache_config` (in): What the user chose.
///
/// # Safety
/// `rcache_params` is null or writable, `rcache_config` null or readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_rcache_set_params(
    rcache_params: *mut ucs_rcache_params_t,
    rcache_config: *const ucs_rcache_config_t,
) {
    non_null!(; rcache_params, rcache_config);
    // SAFETY: checked above; the caller vouches for it.
    let config = unsafe { rcache_config.read() };
    let flags = if config.purge_on_fork != 0 {
        UCS_RCACHE_FLAG_PURGE_ON_FORK as c_int
    } else {
        0
    };
    let params = ucs_rcache_params_t {
        ucm_event_priority: config.event_prio as c_int,
        max_regions: config.max_regions,
        max_size: config.max_size,
        max_unreleased: config.max_unreleased,
        flags,
        ..defaults()
    };
    // SAFETY: as above.
    unsafe { rcache_params.write(params) };
}
