//! `Block`: bytes of the allocator, which may begin with a line of the cache.

use super::params::PAYLOAD_ALIGN;
use core::ptr::NonNull;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ops::{Deref, DerefMut};

/// As `Box<[u8]>`, of which an aligned one would be freed with another layout than it was allocated with.
pub struct Block {
    at: NonNull<u8>,
    /// With `ALIGNED`.
    len: usize,
}

/// Allocated with `PAYLOAD_ALIGN`; no length has this bit.
const ALIGNED: usize = 1 << (usize::BITS - 1);

impl Block {
    /// Zeros; `None` without memory.
    pub fn aligned(len: usize) -> Option<Block> {
        let layout = Layout::from_size_align(len, PAYLOAD_ALIGN).ok()?;
        if len == 0 {
            return Some(Block::default());
        }
        // SAFETY: not empty.
        let at = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Block {
            at,
            len: len | ALIGNED,
        })
    }

    #[inline(always)]
    fn bytes(&self) -> usize {
        self.len & !ALIGNED
    }

    #[cold]
    #[inline(never)]
    fn free(&mut self) {
        let align = if self.len & ALIGNED != 0 {
            PAYLOAD_ALIGN
        } else {
            1
        };
        // SAFETY: it was allocated with this length and alignment, which were valid.
        let layout = unsafe { Layout::from_size_align_unchecked(self.bytes(), align) };
        // SAFETY: of the allocator, with this layout; nobody else has it.
        unsafe { dealloc(self.at.as_ptr(), layout) };
    }
}

impl Default for Block {
    #[inline(always)]
    fn default() -> Block {
        Block {
            at: NonNull::dangling(),
            len: 0,
        }
    }
}

impl From<Vec<u8>> for Block {
    fn from(bytes: Vec<u8>) -> Block {
        let all = NonNull::from(Box::leak(bytes.into_boxed_slice()));
        Block {
            at: all.cast(),
            len: all.len(),
        }
    }
}

impl From<Block> for Vec<u8> {
    /// The same memory, unless it is aligned.
    fn from(block: Block) -> Vec<u8> {
        if block.len & ALIGNED != 0 {
            return block.to_vec();
        }
        let (at, len) = (block.at.as_ptr(), block.len);
        core::mem::forget(block);
        // SAFETY: of a boxed slice of this length, which nobody else has.
        unsafe { Vec::from_raw_parts(at, len, len) }
    }
}

impl Deref for Block {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        // SAFETY: initialised memory of this block.
        unsafe { core::slice::from_raw_parts(self.at.as_ptr(), self.bytes()) }
    }
}

impl DerefMut for Block {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above.
        unsafe { core::slice::from_raw_parts_mut(self.at.as_ptr(), self.bytes()) }
    }
}

impl Drop for Block {
    #[inline(always)]
    fn drop(&mut self) {
        if self.len != 0 {
            self.free();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_stay_where_they_are_but_for_vectors_of_aligned_ones() {
        for len in [0, 1, 63, 64, 1000] {
            let mut block = Block::aligned(len).unwrap();
            assert!(block[..] == vec![0; len]);
            assert!(len == 0 || block.as_ptr().addr().is_multiple_of(PAYLOAD_ALIGN));
            block.fill(len as u8);
            assert_eq!(Vec::from(block), vec![len as u8; len]);
            let bytes = vec![7; len];
            let at = bytes.as_ptr();
            let block = Block::from(bytes);
            assert!(block.as_ptr() == at && block[..] == vec![7; len]);
            let bytes = Vec::from(block);
            assert!(bytes.as_ptr() == at && bytes == vec![7; len]);
        }
        assert!(Block::aligned(ALIGNED).is_none());
    }
}
