//! Remote keys: a peer's memory mapped here, and the check that every access passes.

use super::segment::Attached;
use super::wire::{MemKey, SegmentKind};
use crate::c::*;
use crate::ucs::{Result, Status};
use crate::ucs_diag;
use crate::uct::api::{KeyObject, Remote};
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
#[inline]
pub fn locate(remote: Remote, len: usize) -> Result<*mut u8> {
    let key = remote.key();
    if key == 0 || key == UCT_INVALID_RKEY {
        return Err(Status::INVALID_PARAM);
    }
    // SAFETY: a live key of this component, whose keys are addresses of such.
    let key = unsafe { &*(key as *const RemoteKey) };
    key.locate(remote.address(), len)
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
#[inline]
pub fn locate_word<W>(remote: Remote) -> Result<*mut W> {
    let at = locate(remote, size_of::<W>())?.cast::<W>();
    if at.is_aligned() {
        Ok(at)
    } else {
        Err(Status::INVALID_ADDR)
    }
}
