//! Remote keys: a peer's memory mapped here, and the check that every access passes.

use super::segment::Attached;
use super::wire::{MemKey, SegmentKind};
use crate::c::*;
use crate::ucs::{Result, Status};
use crate::ucs_diag;
use crate::uct::api::KeyObject;
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

impl RemoteKey {
    /// Maps the segment of the key, which must be of this kind.
    pub fn map(key: &MemKey, kind: SegmentKind) -> Result<RemoteKey> {
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
        Ok(RemoteKey {
            remote: key.base,
            len: key.len,
            local: attached.base(),
            _attached: attached,
        })
    }

    /// The local address of `len` bytes at `remote`. `INVALID_ADDR` if they are not inside the key's range.
    #[inline(always)]
    fn locate(&self, remote: u64, len: usize) -> Result<*mut u8> {
        let offset = remote.wrapping_sub(self.remote);
        if offset > self.len || len as u64 > self.len - offset {
            return Err(out_of_range(self, remote, len));
        }
        Ok(self.local.wrapping_add(offset as usize))
    }
}

impl KeyObject for RemoteKey {
    fn pointer(&self, remote: u64) -> Result<*mut c_void> {
        self.locate(remote, 1).map(<*mut u8>::cast)
    }
}

/// `RemoteKey::locate` of a transport's key.
///
/// # Safety
/// `rkey` must be 0, `UCT_INVALID_RKEY`, or the address of a live key; the answer is valid as long as
/// the key is.
#[inline]
pub unsafe fn locate(rkey: uct_rkey_t, remote: u64, len: usize) -> Result<*mut u8> {
    if rkey == 0 || rkey == UCT_INVALID_RKEY {
        return Err(Status::INVALID_PARAM);
    }
    // SAFETY: by the caller's promise.
    let key = unsafe { &*(rkey as *const RemoteKey) };
    key.locate(remote, len)
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
