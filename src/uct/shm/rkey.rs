//! Remote keys: a peer's memory mapped here, and the check that every access passes.

use super::segment::Attached;
use super::wire::{MemKey, SegmentKind};
use crate::c::*;
use crate::ucs::{Result, Status};
use crate::ucs_diag;
use crate::uct::api::RkeyParts;
use core::ffi::c_void;
use std::sync::Arc;

/// The object of `uct_rkey_t`.
pub struct RemoteKey {
    /// The range as its owner sees it.
    remote: u64,
    len: u64,
    /// Its local address.
    local: *mut u8,
    /// Keeps the mapping.
    _attached: Arc<Attached>,
}

/// Maps the segment of the key, which must be of this kind.
pub fn unpack(key: &MemKey, kind: SegmentKind) -> Result<RkeyParts> {
    if key.segment.kind != kind {
        return Err(Status::INVALID_PARAM);
    }
    let attached = Attached::get(key.segment)?;
    if key.len > attached.len() as u64 {
        ucs_diag!(
            "a remote key claims {} bytes of a segment of {}",
            key.len,
            attached.len()
        );
        return Err(Status::INVALID_ADDR);
    }
    let key = Box::new(RemoteKey {
        remote: key.base,
        len: key.len,
        local: attached.base(),
        _attached: attached,
    });
    let handle = Box::into_raw(key);
    Ok(RkeyParts {
        rkey: handle as uct_rkey_t,
        handle: handle.cast(),
    })
}

/// # Safety
/// `handle` must come from `unpack`, once.
pub unsafe fn release(handle: *mut c_void) -> Result<()> {
    if handle.is_null() {
        return Err(Status::INVALID_PARAM);
    }
    // SAFETY: boxed by `unpack`.
    drop(unsafe { Box::from_raw(handle.cast::<RemoteKey>()) });
    Ok(())
}

/// The local address of `len` bytes at `remote`. `INVALID_ADDR` if they are not inside the key's range.
///
/// # Safety
/// `rkey` must be 0, `UCT_INVALID_RKEY`, or a live key of `unpack`; the answer is valid as long as
/// the key is.
#[inline]
pub unsafe fn locate(rkey: uct_rkey_t, remote: u64, len: usize) -> Result<*mut u8> {
    if rkey == 0 || rkey == UCT_INVALID_RKEY {
        return Err(Status::INVALID_PARAM);
    }
    // SAFETY: by the caller's promise.
    let key = unsafe { &*(rkey as *const RemoteKey) };
    let offset = remote.wrapping_sub(key.remote);
    if offset > key.len || len as u64 > key.len - offset {
        return Err(out_of_range(key, remote, len));
    }
    Ok(key.local.wrapping_add(offset as usize))
}

#[cold]
fn out_of_range(key: &RemoteKey, remote: u64, len: usize) -> Status {
    ucs_diag!(
        "remote access to {len} bytes at {remote:#x} is outside the key's range of {} bytes at {:#x}",
        key.len,
        key.remote
    );
    Status::INVALID_ADDR
}

/// As `locate`, for one word that must be aligned.
///
/// # Safety
/// As `locate`.
#[inline]
pub unsafe fn locate_word<W>(rkey: uct_rkey_t, remote: u64) -> Result<*mut W> {
    // SAFETY: by the caller's promise.
    let at = unsafe { locate(rkey, remote, size_of::<W>()) }?.cast::<W>();
    if at.is_aligned() {
        Ok(at)
    } else {
        Err(Status::INVALID_ADDR)
    }
}
