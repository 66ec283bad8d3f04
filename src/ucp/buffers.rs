//! Buffers for unexpected messages and stream data.
//!
//! Buffers of some size classes (`UCX_RX_MPOOL_SIZES`, and up to 8 KiB) are pooled, so that a warm worker allocates nothing;
//! longer messages get memory of their own length. Those of up to 4 MiB use a few long buffers again. A buffer
//! returns to its pool when it is dropped, also after its worker.

use crate::ucs::{Result, Status};
use crate::uct::base::block::Block;
use crate::uct::base::copy::Room;
use core::cell::{Cell, RefCell};
use core::mem::MaybeUninit;
use core::ops::RangeInclusive;
use core::ptr::NonNull;
use std::alloc::{Layout, alloc_zeroed};
use std::ops::Deref;
use std::rc::Rc;

/// Most free bytes that a class keeps.
const KEPT: usize = 4 << 20;
/// Buffers are allocated so many bytes at a time.
const CHUNK: usize = 4 << 10;
/// Classes beside those that are configured, up to what transports of this host send whole.
const LONG: [usize; 3] = [2 << 10, 4 << 10, 8 << 10];

/// Free long buffers that are kept, at most `KEPT` bytes of them, and how long they are. The allocator has shorter ones at hand; longer
/// ones it gets from the kernel and gives back each time, or has to clear them, which takes half as long as to copy a message into them.
const LONG_KEPT: usize = 8;
const LONG_SIZES: RangeInclusive<usize> = (8 << 10) + 1..=LONG_MAX;
/// The longest buffers that are used again.
const LONG_MAX: usize = KEPT;
/// The longest message to itself that a worker copies as a whole; parts of longer ones stay in the cache from one copy to the next.
pub const WHOLE_MAX: usize = 512 << 10;
/// A message takes no buffer of more than so many times its length, which it might hold for long.
const LONGER: usize = 8;

/// Zeros; `None` without memory.
pub fn zeroed(len: usize) -> Option<Vec<u8>> {
    if len == 0 {
        return Some(Vec::new());
    }
    let layout = Layout::array::<u8>(len).ok()?;
    // SAFETY: not empty.
    let at = NonNull::new(unsafe { alloc_zeroed(layout) })?;
    // SAFETY: of the global allocator, with this layout, and written.
    Some(unsafe { Vec::from_raw_parts(at.as_ptr(), len, len) })
}

struct Class {
    size: usize,
    /// Most free buffers.
    most: usize,
    free: RefCell<Vec<Block>>,
    /// How many were made.
    made: Cell<usize>,
}

/// The buffers of a worker.
pub struct Buffers {
    classes: Vec<Rc<Class>>,
    /// Buffers of any of `LONG_SIZES`.
    long: Rc<Class>,
}

/// Received bytes.
pub struct Buffer {
    bytes: Block,
    len: usize,
    /// The pool it returns to.
    home: Option<Rc<Class>>,
}

/// The bytes of a message that comes in pieces.
#[derive(Default)]
pub struct Pieces {
    /// The first `len` bytes are here.
    bytes: Vec<u8>,
    len: usize,
    home: Option<Rc<Class>>,
}

/// Up to `MAX` bytes, stored in place.
pub struct InlineBytes<const MAX: usize> {
    len: u8,
    bytes: [MaybeUninit<u8>; MAX],
}

impl<const MAX: usize> InlineBytes<MAX> {
    #[inline(always)]
    pub fn empty() -> InlineBytes<MAX> {
        InlineBytes {
            len: 0,
            bytes: [MaybeUninit::uninit(); MAX],
        }
    }

    /// The first `len` bytes, at most `MAX`, which have to be written before they are read.
    #[inline(always)]
    fn room(&mut self, len: usize) -> Room<'_> {
        let len = len.min(MAX);
        self.len = len as u8;
        // SAFETY: there are as many.
        unsafe { Room::new(self.bytes.as_mut_ptr().cast(), len) }
    }

    /// Stores the first `MAX` of `bytes`.
    #[inline(always)]
    pub fn fill(&mut self, bytes: &[u8]) {
        let len = bytes.len().min(MAX);
        self.room(len).fill(bytes[..len].into());
    }

    /// Stores `len` bytes, at most `MAX`, which `write` writes.
    #[inline(always)]
    pub fn fill_by(&mut self, len: usize, write: impl FnOnce(Room<'_>)) {
        self.bytes = [MaybeUninit::new(0); MAX];
        write(self.room(len));
    }

    #[inline(always)]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: `fill` wrote the first `len` bytes.
        unsafe { core::slice::from_raw_parts(self.bytes.as_ptr().cast(), usize::from(self.len)) }
    }
}

impl Buffers {
    /// `sizes` are those of the classes, in any order; without any nothing is pooled.
    pub fn new(sizes: &[usize]) -> Buffers {
        let configured = sizes.iter().copied().max().unwrap_or(0);
        let long = LONG.into_iter().filter(|_| configured > 0);
        let mut sizes: Vec<usize> = sizes
            .iter()
            .copied()
            .chain(long)
            .filter(|s| *s > 0 && *s <= KEPT)
            .collect();
        sizes.sort_unstable();
        sizes.dedup();
        let class = |size| {
            Rc::new(Class {
                size,
                most: KEPT / size,
                free: RefCell::new(Vec::new()),
                made: Cell::new(0),
            })
        };
        let long = Class {
            size: 0,
            most: if configured > 0 { LONG_KEPT } else { 0 },
            free: RefCell::new(Vec::with_capacity(LONG_KEPT)),
            made: Cell::new(0),
        };
        Buffers {
            classes: sizes.into_iter().map(class).collect(),
            long: Rc::new(long),
        }
    }

    /// For a message of `total` bytes, of which none is here: a buffer that is used again, or none yet.
    pub fn pieces(&self, total: usize) -> Pieces {
        if !LONG_SIZES.contains(&total) {
            return Pieces::default();
        }
        Pieces {
            bytes: self.free_long(total).unwrap_or_default().into(),
            len: 0,
            home: Some(Rc::clone(&self.long)),
        }
    }

    /// A free long buffer of at least `len` bytes.
    fn free_long(&self, len: usize) -> Option<Block> {
        let mut free = self.long.free.borrow_mut();
        let suits = len..=len.saturating_mul(LONGER);
        if let Some(at) = free.iter().rposition(|b| suits.contains(&b.len())) {
            return Some(free.swap_remove(at));
        }
        // Messages have got another length: room for the new buffer's return.
        while !free.is_empty() && !self.long.keeps(&free, len) {
            free.swap_remove(0);
        }
        None
    }

    /// A buffer of `len` bytes for stream data, whatever they are: a long one that is used again, or zeros. `None` without memory.
    pub fn room(&self, len: usize) -> Option<Buffer> {
        let Some((bytes, class)) = self.take_long(len) else {
            return zeroed(len).map(Buffer::from);
        };
        Some(Buffer {
            bytes,
            len,
            home: Some(Rc::clone(class)),
        })
    }

    /// A copy of `bytes`. Inlined, so that the buffer's description is built in its final place: one that is written by
    /// narrow stores and moved by wide loads stalls, as store forwarding fails.
    #[inline(always)]
    pub fn copy(&self, bytes: &[u8]) -> Buffer {
        self.filled(bytes.len(), |mut room| room.fill(bytes.into()))
    }

    /// A buffer of `len` bytes, which `fill` writes.
    #[inline(always)]
    pub fn filled(&self, len: usize, fill: impl FnOnce(Room<'_>)) -> Buffer {
        let (mut bytes, home) = match self.take(len) {
            Some((bytes, class)) => (bytes, Some(Rc::clone(class))),
            None => (Block::from(vec![0; len]), None),
        };
        fill(Room::from(&mut bytes[..len]));
        Buffer { bytes, len, home }
    }

    /// A buffer of at least `len` bytes, whatever they are, and where it returns to; `None` if all that are kept are in use.
    #[inline(always)]
    fn take(&self, len: usize) -> Option<(Block, &Rc<Class>)> {
        let Some(class) = self.classes.iter().find(|c| len <= c.size) else {
            return self.take_long(len);
        };
        let warm = class.free.borrow_mut().pop();
        Some((warm.or_else(|| class.grow())?, class))
    }

    /// The same of a long one; `None` if `len` is none of `LONG_SIZES`.
    fn take_long(&self, len: usize) -> Option<(Block, &Rc<Class>)> {
        if !LONG_SIZES.contains(&len) {
            return None;
        }
        let bytes = match self.free_long(len) {
            Some(bytes) => bytes,
            None => zeroed(len)?.into(),
        };
        Some((bytes, &self.long))
    }
}

impl Class {
    /// Whether a buffer of `len` bytes is kept beside those that are free.
    #[inline(always)]
    fn keeps(&self, free: &[Block], len: usize) -> bool {
        let is_long = self.size == 0;
        free.len() < self.most
            && !(is_long && free.iter().map(|b| b.len()).sum::<usize>() + len > KEPT)
    }

    /// A new buffer; `None` if all that are kept are in use.
    #[cold]
    fn grow(&self) -> Option<Block> {
        if self.made.get() >= self.most {
            return None;
        }
        let mut free = self.free.borrow_mut();
        let count = CHUNK / self.size;
        self.made.set(self.made.get() + count + 1);
        // Reserved for all buffers that may return, so that returning one never allocates.
        let room = self.made.get().min(self.most);
        free.reserve(room);
        free.extend((0..count).map_while(|_| Block::aligned(self.size)));
        Block::aligned(self.size)
    }
}

impl Pieces {
    /// Growth: at most so many times the bytes that have come, so that a peer pays for the memory it takes.
    const AHEAD: usize = 8;

    /// Appends bytes of a message of `total`. `NO_MEMORY` when there is no room for them.
    pub fn append(&mut self, piece: &[u8], total: usize) -> Result<()> {
        let end = self.len + piece.len();
        if let Some(room) = self.bytes.get_mut(self.len..end) {
            room.copy_from_slice(piece);
        } else {
            self.bytes.truncate(self.len);
            if self.bytes.capacity() < end {
                let grown = piece.len().max(self.len / Self::AHEAD);
                let left = total.saturating_sub(self.len);
                let room = grown.saturating_mul(Self::AHEAD).min(left);
                self.bytes
                    .try_reserve_exact(room.max(piece.len()))
                    .map_err(|_| Status::NO_MEMORY)?;
            }
            self.bytes.extend_from_slice(piece);
        }
        self.len = end;
        Ok(())
    }

    pub fn into_buffer(self) -> Buffer {
        let is_long = LONG_SIZES.contains(&self.bytes.len());
        Buffer {
            bytes: self.bytes.into(),
            len: self.len,
            home: self.home.filter(|_| is_long),
        }
    }

    /// The bytes and, behind them, a few others.
    pub fn into_buffer_with(mut self, behind: &[u8]) -> Buffer {
        let end = self.len + behind.len();
        if let Some(room) = self.bytes.get_mut(self.len..end) {
            room.copy_from_slice(behind);
        } else {
            self.bytes.truncate(self.len);
            self.bytes.extend_from_slice(behind);
        }
        self.len = end;
        self.into_buffer()
    }

    pub fn into_vec(mut self) -> Vec<u8> {
        self.bytes.truncate(self.len);
        self.bytes
    }
}

impl Deref for Pieces {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl From<Vec<u8>> for Buffer {
    fn from(bytes: Vec<u8>) -> Buffer {
        Buffer {
            len: bytes.len(),
            bytes: bytes.into(),
            home: None,
        }
    }
}

impl Deref for Buffer {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl Buffer {
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.bytes.as_mut_ptr()
    }

    /// Returns the buffer to its pool in place, without a move.
    #[inline(always)]
    pub fn give_back(&mut self) {
        self.len = 0;
        let bytes = core::mem::take(&mut self.bytes);
        if let Some(class) = self.home.take() {
            let mut free = class.free.borrow_mut();
            if class.keeps(&free, bytes.len()) {
                free.push(bytes);
            }
        }
    }
}

impl Drop for Buffer {
    #[inline(never)]
    fn drop(&mut self) {
        self.give_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_hold_what_was_given_and_are_used_again() {
        let all = Buffers::new(&[1024, 64, 64, 0]);
        for len in [0, 1, 63, 64, 65, 1024, 1025, 100_000] {
            let bytes: Vec<u8> = (0..len).map(|i| i as u8).collect();
            let b = all.copy(&bytes);
            assert_eq!(&b[..], bytes);
            assert!(b.home.is_some(), "{len}");
        }
        let at = all.copy(b"x").as_ptr();
        assert_eq!(all.copy(b"y").as_ptr(), at);
        let kept = all.copy(&[7; 64]);
        drop(all);
        assert_eq!(&kept[..], [7; 64]);
    }

    #[test]
    fn memory_comes_with_the_pieces() {
        let mut pieces = Pieces::default();
        assert_eq!(pieces.bytes.capacity(), 0);
        let mut all = Vec::new();
        for i in 0..5000usize {
            let piece = vec![i as u8; i % 97 + 1];
            all.extend_from_slice(&piece);
            pieces.append(&piece, 1 << 30).unwrap();
            let most = (Pieces::AHEAD + 1) * all.len();
            assert!(pieces.bytes.capacity() <= most, "{i}");
        }
        assert_eq!(pieces[..], all);
        let mut short = Pieces::default();
        short.append(&[1; 4], 10).unwrap();
        short.append(&[2; 6], 10).unwrap();
        assert_eq!(short.bytes.capacity(), 10);
        assert_eq!(short.into_vec(), [1, 1, 1, 1, 2, 2, 2, 2, 2, 2]);
    }

    #[test]
    fn long_buffers_are_used_again() {
        let all = Buffers::new(&[64]);
        let message = |total: usize, with: u8| {
            let mut pieces = all.pieces(total);
            for _ in 0..8 {
                pieces.append(&vec![with; total / 8], total).unwrap();
            }
            let buffer = pieces.into_buffer();
            assert!(buffer.len() == total && buffer.iter().all(|b| *b == with));
            buffer
        };
        let first = message(128 << 10, 1).as_ptr();
        assert_eq!(message(64 << 10, 2).as_ptr(), first);
        assert_eq!(message(128 << 10, 3).as_ptr(), first);
        // What is too short or too long is not kept.
        for total in [8 << 10, LONG_MAX + 8] {
            assert!(message(total, 4).home.is_none());
        }
        // Nor does a message take a much longer one.
        assert_ne!(message(9 << 10, 4).as_ptr(), first);
        // A few at most, and longer ones take the place of those that are too short.
        let many: Vec<Buffer> = (0..2 * LONG_KEPT)
            .map(|i| message(16 << 10, i as u8))
            .collect();
        drop(many);
        assert_eq!(all.long.free.borrow().len(), LONG_KEPT);
        let longest = message(512 << 10, 5).as_ptr();
        assert_eq!(message(512 << 10, 6).as_ptr(), longest);
        // So many bytes at most.
        let two = [message(3 << 20, 7), message(3 << 20, 8)];
        let kept = two[0].as_ptr();
        drop(two);
        let is_long = |block: &&Block| block.len() == 3 << 20;
        assert_eq!(all.long.free.borrow().iter().filter(is_long).count(), 1);
        assert_eq!(message(3 << 20, 9).as_ptr(), kept);
        assert!(Buffers::new(&[]).long.most == 0);
    }

    #[test]
    fn long_copies_use_buffers_again() {
        let all = Buffers::new(&[64]);
        for len in [LONG[2] + 1, 100_000, LONG_MAX] {
            let bytes = vec![len as u8; len];
            let first = all.copy(&bytes);
            assert!(first[..] == bytes);
            let at = first.as_ptr();
            drop(first);
            assert_eq!(all.copy(&bytes).as_ptr(), at);
            let room = all.room(len).unwrap();
            assert!(room.as_ptr() == at && room.len() == len);
        }
        for len in [0, 100, LONG_MAX + 1] {
            assert_eq!(all.copy(&vec![1; len])[..], vec![1; len]);
            assert_eq!(all.room(len).unwrap()[..], vec![0; len]);
        }
    }

    #[test]
    fn no_more_buffers_are_pooled_than_are_kept() {
        let all = Buffers::new(&[64]);
        let most = KEPT / LONG[2];
        let made: Vec<Buffer> = (0..most + 10).map(|_| all.copy(&[3; 5000])).collect();
        assert_eq!(made.iter().filter(|b| b.home.is_some()).count(), most);
        assert!(made.iter().all(|b| b[..] == [3; 5000]));
        drop(made);
        assert!(all.copy(&[4; 5000]).home.is_some());
    }
}
