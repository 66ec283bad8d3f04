//! `DeviceMapping`: how code on a device reaches a peer's memory.

use crate::c::*;
use crate::ucs::{Result, Status};
use crate::uct::base::memory_copier::{KeptBytes, MemoryCopier};
use core::any::Any;
use std::sync::Arc;

/// How code on a device reaches a peer's memory. `uct/api/device/uct_device_types.h` says what such code reads.
pub struct DeviceMapping {
    /// Which functions the code calls.
    pub transport: uct_device_tl_id_t,
    /// The bytes of the transport's part of `uct_device_mem_elem`.
    pub element: [u8; size_of::<uct_device_mem_elem>()],
    /// Where `remote` is in the addresses of this process's devices, and its bytes.
    pub mapped: (usize, usize),
    /// Keeps the memory mapped.
    pub mapping: Option<Arc<dyn Any + Send + Sync>>,
}

impl DeviceMapping {
    /// Some of the bytes at `remote`. `None` where they are others, and for own memory, which its owner may free.
    pub fn bytes(&self, offset: usize, length: usize) -> Option<DeviceBytes> {
        let (at, all) = self.mapped;
        let is_inside = offset <= all && length <= all - offset;
        let mapping = self.mapping.as_ref().filter(|_| is_inside)?;
        Some(DeviceBytes {
            at: at + offset,
            length,
            _mapping: Arc::clone(mapping),
        })
    }

    /// The word at `remote`, if access to one was asked for.
    pub fn read_word(&self, copier: &dyn MemoryCopier) -> Result<u64> {
        let mut word = [0; size_of::<u64>()];
        if self.mapped.1 < word.len() {
            return Err(Status::INVALID_PARAM);
        }
        let from = core::ptr::with_exposed_provenance(self.mapped.0);
        // SAFETY: so many bytes, which the transport has mapped for as long as this lives.
        unsafe { copier.copy(word.as_mut_ptr(), from, word.len()) }?;
        Ok(u64::from_ne_bytes(word))
    }
}

/// A peer's memory that is mapped for this process's devices, and stays so as long as this.
pub struct DeviceBytes {
    at: usize,
    length: usize,
    _mapping: Arc<dyn Any + Send + Sync>,
}

// SAFETY: mapped there until the mapping is dropped.
unsafe impl KeptBytes for DeviceBytes {
    fn bytes(&self) -> (*const u8, usize) {
        (core::ptr::with_exposed_provenance(self.at), self.length)
    }
}
