//! Buffers in memory that processors cannot access. Messages are made from a window of their bytes, which is copied to memory
//! of the host, and received bytes are gathered in one before they are copied into the buffer.

use crate::c::ucs_memory_type_t;
use crate::ucs::{Result, Status};
use crate::uct::api::MemoryCopier;
use crate::uct::base::copy::copy;
use core::cell::RefCell;
use std::sync::Arc;

/// Bytes of a window: so much host memory a message takes, however long it is. Copies of fewer bytes are much slower a byte.
const WINDOW: usize = 512 << 10;

/// Bytes that follow each other.
#[derive(Clone, Copy)]
pub struct Block {
    pub at: *mut u8,
    pub length: usize,
}

/// A buffer of blocks, some of which are in memory that only a copier reaches. They stay valid as long as this.
pub struct Staged {
    copier: Arc<dyn MemoryCopier>,
    kind: ucs_memory_type_t,
    blocks: Box<[Block]>,
    length: usize,
    window: RefCell<Window>,
}

/// A copy of the bytes from `offset` on.
#[derive(Default)]
struct Window {
    offset: usize,
    bytes: Vec<u8>,
    /// They were received, and are not in the buffer yet.
    is_received: bool,
}

impl Window {
    fn holds(&self, offset: usize, length: usize) -> bool {
        offset
            .checked_sub(self.offset)
            .is_some_and(|skipped| skipped + length <= self.bytes.len())
    }
}

impl Staged {
    /// `kind` is the memory type of the blocks that the copier is for.
    pub fn new(copier: Arc<dyn MemoryCopier>, kind: ucs_memory_type_t, blocks: Vec<Block>) -> Self {
        Staged {
            copier,
            kind,
            length: blocks.iter().map(|block| block.length).sum(),
            blocks: blocks.into(),
            window: RefCell::default(),
        }
    }

    /// `UCS_MEMORY_TYPE_*`
    pub fn kind(&self) -> ucs_memory_type_t {
        self.kind
    }

    /// Calls `each` with the parts of `[offset, offset + length)`, until one fails.
    fn parts(
        &self,
        mut offset: usize,
        mut length: usize,
        mut each: impl FnMut(*mut u8, usize) -> Result<()>,
    ) -> Result<()> {
        for block in &self.blocks {
            if offset >= block.length {
                offset -= block.length;
                continue;
            }
            let part = length.min(block.length - offset);
            if part == 0 {
                break;
            }
            each(block.at.wrapping_add(offset), part)?;
            length -= part;
            offset = 0;
        }
        Ok(())
    }

    /// Has the next `pack` find the bytes at `offset`, at most as many as given.
    pub fn fetch(&self, offset: usize, most: usize) -> Result<()> {
        let left = self.length.saturating_sub(offset);
        let wanted = most.min(left);
        let mut window = self.window.borrow_mut();
        if window.holds(offset, wanted) {
            return Ok(());
        }
        let length = wanted.max(WINDOW.min(left));
        window.bytes.clear();
        window
            .bytes
            .try_reserve_exact(length)
            .map_err(|_| Status::NO_MEMORY)?;
        window.offset = offset;
        window.is_received = false;
        // SAFETY: room for as many.
        unsafe { self.copy_out(offset, window.bytes.as_mut_ptr(), length) }?;
        // SAFETY: so many were just written.
        unsafe { window.bytes.set_len(length) };
        Ok(())
    }

    /// Copies bytes that `fetch` has brought, at most `most`; returns how many.
    ///
    /// # Safety
    /// `to` must have room for `most` bytes.
    pub unsafe fn pack(&self, offset: usize, to: *mut u8, most: usize) -> usize {
        let mut window = self.window.borrow_mut();
        let held = offset
            .checked_sub(window.offset)
            .and_then(|skipped| window.bytes.get(skipped..));
        let bytes = held.unwrap_or_default();
        let count = bytes.len().min(most);
        // SAFETY: readable so far; the room by the caller's promise.
        unsafe { copy(bytes.as_ptr(), to, count) };
        if offset + count == self.length {
            *window = Window::default();
        }
        count
    }

    /// Copies `length` bytes from `offset` on, past the window.
    ///
    /// # Safety
    /// `to` must have room for `length` bytes.
    pub unsafe fn copy_out(&self, offset: usize, to: *mut u8, length: usize) -> Result<()> {
        let mut done = 0;
        self.parts(offset, length, |at, part| {
            let to = to.wrapping_add(done);
            done += part;
            // SAFETY: a part of the buffer; the parts are as long as `length` together.
            unsafe { self.copier.copy(to, at, part) }
        })
    }

    /// Receives `length` bytes for `offset`. They are in the buffer after `finish`, or when this is dropped.
    ///
    /// # Safety
    /// `from` must be readable for `length` bytes.
    pub unsafe fn unpack(&self, offset: usize, from: *const u8, length: usize) -> Result<()> {
        let mut window = self.window.borrow_mut();
        let follows = offset == window.offset + window.bytes.len();
        if !window.bytes.is_empty() && (!follows || window.bytes.len() + length > WINDOW) {
            self.empty(&mut window)?;
        }
        let is_last = offset + length == self.length;
        if window.bytes.is_empty() && (length >= WINDOW || is_last) {
            // SAFETY: by the caller's promise.
            return unsafe { self.copy_in(offset, from, length) };
        }
        if window.bytes.is_empty() {
            window.offset = offset;
            window.is_received = true;
            let room = WINDOW.min(self.length - offset);
            window
                .bytes
                .try_reserve_exact(room)
                .map_err(|_| Status::NO_MEMORY)?;
        }
        // SAFETY: by the caller's promise.
        let bytes = unsafe { core::slice::from_raw_parts(from, length) };
        window.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// Has all received bytes in the buffer.
    pub fn finish(&self) -> Result<()> {
        let mut window = self.window.borrow_mut();
        if !window.is_received {
            return Ok(());
        }
        let result = self.empty(&mut window);
        *window = Window::default();
        result
    }

    /// Copies what was gathered into the buffer. It is given up if that fails.
    fn empty(&self, window: &mut Window) -> Result<()> {
        let (at, length) = (window.bytes.as_ptr(), window.bytes.len());
        // SAFETY: as many bytes.
        let copied = unsafe { self.copy_in(window.offset, at, length) };
        window.bytes.clear();
        copied
    }

    /// Copies `length` bytes to `offset`, as far as the buffer goes.
    ///
    /// # Safety
    /// `from` must be readable for `length` bytes.
    unsafe fn copy_in(&self, offset: usize, from: *const u8, length: usize) -> Result<()> {
        let mut done = 0;
        self.parts(offset, length, |at, part| {
            let from = from.wrapping_add(done);
            done += part;
            // SAFETY: as in `copy_out`.
            unsafe { self.copier.copy(at, from, part) }
        })
    }
}

impl Drop for Staged {
    /// A receive that ends early has what came.
    fn drop(&mut self) {
        // The copier has logged it, and the receive has an error already.
        let _ = self.finish();
    }
}

/// Copies between memory of the host and memory that `copier` is for; without one, both are the host's.
///
/// # Safety
/// Both ranges must be valid, `to` for writing; they do not overlap.
#[inline]
pub unsafe fn copy_by(
    copier: Option<&dyn MemoryCopier>,
    from: *const u8,
    to: *mut u8,
    length: usize,
) -> Result<()> {
    // SAFETY: by the caller's promise.
    unsafe {
        match copier {
            None => core::ptr::copy_nonoverlapping(from, to, length),
            Some(copier) => copier.copy(to, from, length)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicUsize, Ordering};

    /// Copies memory of the host, and fails once as many copies were made as it may make.
    struct Counting(AtomicUsize);

    impl MemoryCopier for Counting {
        unsafe fn copy(&self, to: *mut u8, from: *const u8, length: usize) -> Result<()> {
            let left = self
                .0
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
            left.map_err(|_| Status::IO_ERROR)?;
            // SAFETY: by the caller's promise.
            unsafe { copy(from, to, length) };
            Ok(())
        }
    }

    fn buffer(parts: &mut [&mut [u8]], copies: usize) -> (Staged, Arc<Counting>) {
        let copier = Arc::new(Counting(AtomicUsize::new(copies)));
        let blocks = parts.iter_mut().map(|part| Block {
            at: part.as_mut_ptr(),
            length: part.len(),
        });
        let blocks = blocks.collect();
        (Staged::new(copier.clone(), 1, blocks), copier)
    }

    #[test]
    fn bytes_are_packed_from_windows_and_copied_into_the_blocks() {
        let length = 2 * WINDOW + 100;
        let bytes: Vec<u8> = (0..length).map(|i| (i * 7 + i / 256) as u8).collect();
        let mut memory = bytes.clone();
        let (first, rest) = memory.split_at_mut(1000);
        let (staged, copier) = buffer(&mut [first, &mut [], rest], 100);
        let mut out = vec![0; length];
        let mut at = 0;
        while at < length {
            staged.fetch(at, 8192).unwrap();
            let room = (length - at).min(8192);
            // SAFETY: there is room.
            let n = unsafe { staged.pack(at, out[at..].as_mut_ptr(), room) };
            assert_eq!(n, room);
            at += n;
        }
        assert!(out == bytes);
        // The first window is in two blocks, and windows begin where a fragment did not fit the one before.
        assert_eq!(copier.0.load(Ordering::Relaxed), 100 - 4);
        assert!(staged.window.borrow().bytes.is_empty(), "it is given back");
        let (head, tail) = ([1u8; 1500], [2u8; 10]);
        // SAFETY: arrays.
        unsafe {
            staged.unpack(500, head.as_ptr(), 700).unwrap();
            staged.unpack(1200, head[700..].as_ptr(), 800).unwrap();
            // Gathered, and written where the next bytes do not follow.
            assert_eq!(copier.0.load(Ordering::Relaxed), 100 - 4);
            staged.unpack(length - 10, tail.as_ptr(), 10).unwrap();
            assert_eq!(copier.0.load(Ordering::Relaxed), 100 - 7);
        }
        let same = |from: usize, to: usize, value| memory[from..to].iter().all(|b| *b == value);
        assert!(same(500, 2000, 1) && same(length - 10, length, 2));
        assert_eq!(memory[499], bytes[499]);
        assert_eq!(memory[2000], bytes[2000]);
    }

    #[test]
    fn received_bytes_are_in_the_buffer_at_the_end() {
        let mut memory = [5u8; 300];
        let bytes: Vec<u8> = (0..200).collect();
        for finishes in [true, false] {
            let (staged, copier) = buffer(&mut [&mut memory], 1);
            // SAFETY: a vector.
            unsafe { staged.unpack(50, bytes.as_ptr(), 200) }.unwrap();
            assert_eq!(copier.0.load(Ordering::Relaxed), 1);
            if finishes {
                staged.finish().unwrap();
            }
            drop(staged);
            assert_eq!(memory[50..250], bytes[..]);
            assert_eq!((memory[49], memory[250]), (5, 5));
            memory = [5; 300];
        }
        let (staged, _) = buffer(&mut [&mut memory], 0);
        // SAFETY: a vector.
        unsafe { staged.unpack(0, bytes.as_ptr(), 200) }.unwrap();
        assert_eq!(staged.finish(), Err(Status::IO_ERROR));
    }

    #[test]
    fn a_copy_that_fails_leaves_nothing_to_pack() {
        let mut memory = [5u8; 300];
        let (head, tail) = memory.split_at_mut(100);
        let (staged, _) = buffer(&mut [head, tail], 1);
        assert_eq!(staged.fetch(0, 300), Err(Status::IO_ERROR));
        let mut out = [0u8; 300];
        // SAFETY: an array.
        assert_eq!(unsafe { staged.pack(0, out.as_mut_ptr(), 300) }, 0);
        assert_eq!(staged.fetch(300, 10), Ok(()), "nothing is to be fetched");
    }
}
