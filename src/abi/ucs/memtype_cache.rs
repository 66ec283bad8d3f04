//! `ucs/memory/memtype_cache.h`.

use crate::abi::args::non_null;
use crate::c::prelude::*;
use crate::sys::fork::ForkLocked;
use crate::ucs::compat::memtype_cache::{Cache, Memory};
use crate::ucs::config::{Ternary, global, var};
use crate::ucs::{Result, Status};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

/// The cache; null before its first use, after `ucs_memtype_cache_cleanup`, and where UCX_MEMTYPE_CACHE is `n`.
#[unsafe(no_mangle)]
pub static ucs_memtype_cache_global_instance: AtomicPtr<ucs_memtype_cache_t> =
    AtomicPtr::new(null_mut());

/// What the pointer above leads to.
static CACHE: ForkLocked<Option<Cache>> = ForkLocked::new(None);

/// Calls `f` with the cache, made where there is none. `UNSUPPORTED` where it is off.
fn with_cache<R>(f: impl FnOnce(&mut Cache) -> Result<R>) -> Result<R> {
    if global::current().ternary(var!(global::TABLE, "MEMTYPE_CACHE")) == Ternary::No {
        return Err(Status::UNSUPPORTED);
    }
    CACHE.with(|cache| {
        let cache = cache.get_or_insert_default();
        // Release: a client reads the object behind it.
        ucs_memtype_cache_global_instance.store(cache.object(), Ordering::Release);
        f(cache)
    })
}

/// Nothing to do: the cache is made at its first use. `ucs/memory/memtype_cache.h`.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_memtype_cache_global_init() {}

/// Forgets all ranges and frees the cache; its next use makes another. `ucs/memory/memtype_cache.h`.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_memtype_cache_cleanup() {
    let ended = CACHE.with(|cache| {
        ucs_memtype_cache_global_instance.store(null_mut(), Ordering::Release);
        cache.take()
    });
    drop(ended);
}

/// What a client entered for a range. UCS_ERR_NO_ELEM when there is no entry for its first byte, UCS_ERR_UNSUPPORTED
/// where the cache is off. `mem_info->mem_flags` is left as it is: before 1.22 the structure ends in front of it.
/// `ucs/memory/memtype_cache.h`.
///
/// - `address` (in): Start.
/// - `size` (in): Bytes.
/// - `mem_info` (out): What is known; may be NULL where nothing is.
/// - returns: UCS_OK. UCS_ERR_NO_ELEM when nothing is known of the first byte. UCS_ERR_UNSUPPORTED
///   where the cache is off.
///
/// # Safety
/// `mem_info` is null or writable up to its `mem_flags`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_memtype_cache_lookup(
    address: *const c_void,
    size: usize,
    mem_info: *mut ucs_memory_info_t,
) -> ucs_status_t {
    match with_cache(|cache| cache.lookup(address.addr(), size)) {
        Ok(found) => {
            // Not before: libfabric asks for nothing, without a place for an answer, to have the cache made.
            non_null!(UCS_ERR_INVALID_PARAM; mem_info);
            let from = (&raw const found).cast::<u8>();
            let known = offset_of!(ucs_memory_info_t, mem_flags);
            // SAFETY: checked above; the caller vouches for these bytes.
            unsafe { core::ptr::copy_nonoverlapping(from, mem_info.cast::<u8>(), known) };
            UCS_OK
        }
        Err(status) => status.code(),
    }
}

/// Says what could not be entered or removed. A cache that is off takes nothing, and nothing is said.
fn report(done: Result<()>, what: &str, address: *const c_void, size: usize) {
    match done {
        Ok(()) | Err(Status::UNSUPPORTED) => {}
        Err(status) => {
            crate::ucs_error!("cache of memory types: {what} {size} bytes at {address:p}: {status}")
        }
    }
}

/// Enters the memory type, device and flags of a range. `ucs/memory/memtype_cache.h`.
///
/// - `address` (in): Start.
/// - `size` (in): Bytes.
/// - `mem_type` (in): Type.
/// - `sys_dev` (in): Device.
/// - `mem_flags` (in): Flags.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_memtype_cache_update(
    address: *const c_void,
    size: usize,
    mem_type: ucs_memory_type_t,
    sys_dev: ucs_sys_device_t,
    mem_flags: u8,
) {
    let memory = Memory {
        kind: mem_type,
        device: sys_dev,
        flags: mem_flags,
    };
    let done = with_cache(|cache| cache.update(address.addr(), size, memory));
    report(done, "cannot enter", address, size);
}

/// Forgets what is known of a range. `ucs/memory/memtype_cache.h`.
///
/// - `address` (in): Start.
/// - `size` (in): Bytes.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_memtype_cache_remove(address: *const c_void, size: usize) {
    let done = with_cache(|cache| cache.remove(address.addr(), size));
    report(done, "cannot remove", address, size);
}
