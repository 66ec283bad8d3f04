//! Buffers in memory that processors cannot access. Messages are made from a window of their bytes, which is copied to memory
//! of the host, and received bytes are gathered in one before they are copied into the buffer.
//!
//! Of a message that is longer than a window, the device copies some windows while the transport works on another: `reader`
//! reads ahead, `writer` writes behind, and `pace` says how long windows are and how many are copied at a time.

mod pace;
mod reader;
mod writer;

use crate::c::ucs_memory_type_t;
use crate::ucs::{Result, Status};
use crate::uct::base::copy::Room;
use crate::uct::base::memory_copier::{
    CopyCost, Direction, HostBuffer, KeptBytes, KeptRoom, MemoryCopier, MessageLength, PINNED_FROM,
    PendingCopy, STAGING_BUFFER,
};
use core::cell::RefCell;
use core::ops::Range;
use reader::Reader;
use std::sync::Arc;
use writer::Writer;

/// Bytes of the longest window: so much host memory a message takes a few times, however long it is. Longer copies are hardly
/// faster a byte.
const WINDOW: usize = 512 << 10;

/// What of a window may be left over, and stands in front of the next one: a part of a fragment.
const REST: usize = STAGING_BUFFER - WINDOW;

/// Bytes that follow each other.
#[derive(Clone, Copy)]
pub struct Block {
    pub at: *mut u8,
    pub length: usize,
}

/// A buffer of blocks, some of which are in memory that only a copier reaches. They stay valid as long as this.
pub struct Staged {
    blocks: Blocks,
    kind: ucs_memory_type_t,
    reader: RefCell<Reader>,
    writer: RefCell<Writer>,
}

impl Staged {
    /// `kind` is the memory type of the blocks that the copier is for.
    pub fn new(copier: Arc<dyn MemoryCopier>, kind: ucs_memory_type_t, blocks: Vec<Block>) -> Self {
        Staged {
            kind,
            blocks: Blocks {
                copier,
                length: blocks.iter().map(|block| block.length).sum(),
                blocks: blocks.into(),
            },
            reader: RefCell::default(),
            writer: RefCell::default(),
        }
    }

    /// `UCS_MEMORY_TYPE_*`
    pub fn kind(&self) -> ucs_memory_type_t {
        self.kind
    }

    /// Its bytes, if they follow each other.
    pub fn block(&self) -> Option<Block> {
        match *self.blocks.blocks {
            [block] => Some(block),
            _ => None,
        }
    }

    /// Has the next `pack` find the bytes at `offset`, at most as many as given.
    pub fn fetch(&self, offset: usize, most: usize) -> Result<()> {
        self.reader.borrow_mut().fetch(&self.blocks, offset, most)
    }

    /// As `fetch`, but may only start a copy, of which the next call asks whether it has ended. Returns whether the bytes are there.
    pub fn begin_fetch(&self, offset: usize, most: usize) -> Result<bool> {
        let mut reader = self.reader.borrow_mut();
        reader.begin_fetch(&self.blocks, offset, most)
    }

    /// Whether one staging buffer has room for all bytes.
    pub fn is_short(&self) -> bool {
        self.blocks.length <= WINDOW
    }

    /// Copies bytes that `fetch` has brought, as far as there is room; returns how many.
    pub fn pack(&self, offset: usize, room: &mut Room<'_>) -> usize {
        let mut reader = self.reader.borrow_mut();
        let bytes = reader.held(offset);
        let count = bytes.len().min(room.len());
        room.fill(bytes[..count].into());
        if offset + count == self.blocks.length {
            *reader = Reader::default();
        }
        count
    }

    /// Copies the first bytes, past the window, as far as there is room.
    pub fn copy_out(&self, room: &mut Room<'_>) -> Result<()> {
        self.blocks.read_into(0, room.bytes())
    }

    /// Starts to copy the bytes from `offset` on, past the window, as far as there is room.
    pub fn start_copy_out<M: KeptRoom>(
        &self,
        offset: usize,
        to: M,
    ) -> Result<Box<dyn PendingCopy>> {
        let (at, room) = to.room();
        let length = room.min(self.blocks.length.saturating_sub(offset));
        // SAFETY: there is room, which stays until the copies have ended.
        let copies = unsafe { self.blocks.start_reading(offset, at, length) }?;
        Ok(Box::new(InFlight { copies, buffer: to }))
    }

    /// Starts to copy bytes to `offset` of the buffer, as far as it goes.
    pub fn start_unpack<M: KeptBytes>(
        &self,
        offset: usize,
        from: M,
    ) -> Result<Box<dyn PendingCopy>> {
        let (at, length) = from.bytes();
        // SAFETY: so many bytes, which stay until the copies have ended.
        let copies = unsafe { self.blocks.start_writing(offset, at, length) }?;
        let buffer = from;
        Ok(Box::new(InFlight { copies, buffer }))
    }

    /// Receives bytes for `offset`. They are in the buffer after `finish`, or when this is dropped.
    pub fn unpack(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        self.writer.borrow_mut().write(&self.blocks, offset, bytes)
    }

    /// Starts to copy what has been received and is not in the buffer yet. `None` where nothing is left.
    pub fn start_finish(&self) -> Result<Option<Box<dyn PendingCopy>>> {
        self.writer.borrow_mut().start_finish(&self.blocks)
    }

    /// Has all received bytes in the buffer.
    pub fn finish(&self) -> Result<()> {
        self.writer.borrow_mut().finish(&self.blocks)
    }
}

impl Drop for Staged {
    /// A receive that ends early has what came.
    fn drop(&mut self) {
        // The copier has logged it, and the receive has an error already.
        let _ = self.finish();
    }
}

/// The memory of a buffer, and what copies it.
struct Blocks {
    copier: Arc<dyn MemoryCopier>,
    blocks: Box<[Block]>,
    length: usize,
}

/// Copies from or to memory of the host that were started, one for each block.
struct InFlight<M = HostBuffer> {
    /// Dropped before the buffer, which they use until then.
    copies: Vec<Box<dyn PendingCopy>>,
    buffer: M,
}

impl<M> InFlight<M> {
    /// Whether all have ended.
    fn is_done(&self) -> bool {
        self.copies.iter().all(|copy| copy.is_done())
    }

    /// Waits for all. Returns the buffer.
    fn wait(self) -> Result<M> {
        self.copies.into_iter().try_for_each(|copy| copy.wait())?;
        Ok(self.buffer)
    }
}

impl<M> PendingCopy for InFlight<M> {
    fn is_done(&self) -> bool {
        InFlight::is_done(self)
    }

    fn wait(self: Box<Self>) -> Result<()> {
        InFlight::wait(*self).map(drop)
    }
}

impl Blocks {
    /// Calls `each` with the parts of `[offset, offset + length)`, and with the bytes before them, until one fails.
    fn parts(
        &self,
        mut offset: usize,
        length: usize,
        mut each: impl FnMut(*mut u8, usize, usize) -> Result<()>,
    ) -> Result<()> {
        let mut done = 0;
        for block in &self.blocks {
            if offset >= block.length {
                offset -= block.length;
                continue;
            }
            let part = (length - done).min(block.length - offset);
            if part == 0 {
                break;
            }
            each(block.at.wrapping_add(offset), part, done)?;
            done += part;
            offset = 0;
        }
        Ok(())
    }

    /// Copies `length` bytes from `offset` on.
    ///
    /// # Safety
    /// `to` must have room for `length` bytes.
    unsafe fn copy_out(&self, offset: usize, to: *mut u8, length: usize) -> Result<()> {
        self.parts(offset, length, |at, part, done| {
            // SAFETY: a part of the buffer; the parts are as long as `length` together.
            unsafe { self.copier.copy(to.wrapping_add(done), at, part) }
        })
    }

    /// Copies `length` bytes from `offset` on to new memory.
    fn read(&self, offset: usize, length: usize) -> Result<HostBuffer> {
        let mut bytes = Vec::new();
        bytes
            .try_reserve_exact(length)
            .map_err(|_| Status::NO_MEMORY)?;
        // SAFETY: room for as many.
        unsafe { self.copy_out(offset, bytes.as_mut_ptr(), length) }?;
        // SAFETY: so many were just written.
        unsafe { bytes.set_len(length) };
        Ok(HostBuffer::new(bytes, None))
    }

    /// Fills memory with the bytes from `offset` on.
    fn read_into(&self, offset: usize, bytes: &mut [u8]) -> Result<()> {
        // SAFETY: room for as many.
        unsafe { self.copy_out(offset, bytes.as_mut_ptr(), bytes.len()) }
    }

    /// Starts to fill a part of a buffer with the bytes from `offset` on.
    fn start_out(
        &self,
        offset: usize,
        mut buffer: HostBuffer,
        part: Range<usize>,
    ) -> Result<InFlight> {
        let room = &mut buffer[part];
        let (to, length) = (room.as_mut_ptr(), room.len());
        // SAFETY: the room stays until the copies have ended.
        let copies = unsafe { self.start_reading(offset, to, length) }?;
        Ok(InFlight { copies, buffer })
    }

    /// Starts to copy `length` bytes from `offset` on.
    ///
    /// # Safety
    /// `to` must have room for `length` bytes until the copies are dropped.
    unsafe fn start_reading(
        &self,
        offset: usize,
        to: *mut u8,
        length: usize,
    ) -> Result<Vec<Box<dyn PendingCopy>>> {
        let mut copies = Vec::new();
        self.parts(offset, length, |at, part, done| {
            // SAFETY: a part of the buffer; the room by the caller's promise.
            copies.push(unsafe { self.copier.start(to.wrapping_add(done), at, part) }?);
            Ok(())
        })?;
        Ok(copies)
    }

    /// Copies bytes to `offset`, as far as the buffer goes.
    fn copy_in(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        self.parts(offset, bytes.len(), |at, part, done| {
            let from = bytes.as_ptr().wrapping_add(done);
            // SAFETY: as in `copy_out`.
            unsafe { self.copier.copy(at, from, part) }
        })
    }

    /// As `copy_in`, of the first `length` bytes of a buffer, but only starts.
    fn start_in(&self, offset: usize, buffer: HostBuffer, length: usize) -> Result<InFlight> {
        let from = buffer[..length].as_ptr();
        // SAFETY: the bytes stay until the copies have ended.
        let copies = unsafe { self.start_writing(offset, from, length) }?;
        Ok(InFlight { copies, buffer })
    }

    /// Starts to copy bytes to `offset`, as far as the buffer goes.
    ///
    /// # Safety
    /// At `from` there must be `length` bytes until the copies are dropped.
    unsafe fn start_writing(
        &self,
        offset: usize,
        from: *const u8,
        length: usize,
    ) -> Result<Vec<Box<dyn PendingCopy>>> {
        let mut copies = Vec::new();
        self.parts(offset, length, |at, part, done| {
            // SAFETY: a part of the buffer; the bytes by the caller's promise.
            copies.push(unsafe { self.copier.start(at, from.wrapping_add(done), part) }?);
            Ok(())
        })?;
        Ok(copies)
    }

    fn cost(&self, direction: Direction) -> &CopyCost {
        self.copier.cost(direction)
    }

    /// A staging buffer for the bytes at `offset`; `None` where there is no memory for it, and where the message is so short that
    /// copies take as long without.
    fn staging_buffer(&self, offset: usize) -> Option<HostBuffer> {
        let length = match self.length {
            ..PINNED_FROM => return None,
            PINNED_FROM..=WINDOW => MessageLength::Short,
            _ => MessageLength::Long,
        };
        let mut near = core::ptr::null();
        let each = |at: *mut u8, _, _| {
            near = at.cast_const();
            Ok(())
        };
        self.parts(offset, 1, each).ok()?;
        self.copier.staging_buffer(near, length).ok()
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
    use crate::uct::base::copy::copy;
    use crate::uct::base::memory_copier::BufferPool;
    use core::cell::Cell;
    use core::sync::atomic::{AtomicUsize, Ordering};

    /// Copies memory of the host, and fails once as many copies were made as it may make. Copies that are only started happen
    /// when somebody waits.
    struct Counting {
        left: AtomicUsize,
        started: AtomicUsize,
        /// How often each that was started answers that it has not ended.
        late: AtomicUsize,
        /// Staging buffers in use.
        buffers: Arc<AtomicUsize>,
        cost: CopyCost,
    }

    struct Late {
        left: Cell<usize>,
        to: *mut u8,
        from: *const u8,
        length: usize,
    }

    impl PendingCopy for Late {
        fn is_done(&self) -> bool {
            let left = self.left.get();
            self.left.set(left.saturating_sub(1));
            left == 0
        }

        fn wait(self: Box<Self>) -> Result<()> {
            Ok(())
        }
    }

    impl Drop for Late {
        fn drop(&mut self) {
            // SAFETY: valid until now, by the promise of `start`.
            unsafe { copy(self.from, self.to, self.length) };
        }
    }

    struct Free(Arc<AtomicUsize>);

    impl BufferPool for Free {
        fn put(&self, _: Vec<u8>) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }

        fn is_exhausted(&self) -> bool {
            self.0.load(Ordering::Relaxed) >= 16
        }
    }

    impl Counting {
        fn count(&self) -> Result<()> {
            let left = self
                .left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
            left.map(|_| ()).map_err(|_| Status::IO_ERROR)
        }
    }

    impl MemoryCopier for Counting {
        unsafe fn copy(&self, to: *mut u8, from: *const u8, length: usize) -> Result<()> {
            self.count()?;
            // SAFETY: by the caller's promise.
            unsafe { copy(from, to, length) };
            Ok(())
        }

        unsafe fn start(
            &self,
            to: *mut u8,
            from: *const u8,
            length: usize,
        ) -> Result<Box<dyn PendingCopy>> {
            self.count()?;
            self.started.fetch_add(1, Ordering::Relaxed);
            let left = Cell::new(self.late.load(Ordering::Relaxed));
            Ok(Box::new(Late {
                left,
                to,
                from,
                length,
            }))
        }

        fn staging_buffer(&self, _: *const u8, _: MessageLength) -> Result<HostBuffer> {
            self.buffers.fetch_add(1, Ordering::Relaxed);
            let pool = Free(Arc::clone(&self.buffers));
            Ok(HostBuffer::new(
                vec![0; STAGING_BUFFER],
                Some(Arc::new(pool)),
            ))
        }

        fn cost(&self, _: Direction) -> &CopyCost {
            &self.cost
        }
    }

    fn buffer(parts: &mut [&mut [u8]], copies: usize) -> (Staged, Arc<Counting>) {
        let copier = Arc::new(Counting {
            left: AtomicUsize::new(copies),
            started: AtomicUsize::new(0),
            late: AtomicUsize::new(usize::MAX),
            buffers: Arc::default(),
            cost: CopyCost::new(1e-6, 1e10),
        });
        let blocks = parts.iter_mut().map(|part| Block {
            at: part.as_mut_ptr(),
            length: part.len(),
        });
        let blocks = blocks.collect();
        (Staged::new(copier.clone(), 1, blocks), copier)
    }

    fn pattern(length: usize) -> Vec<u8> {
        (0..length).map(|i| (i * 7 + i / 256) as u8).collect()
    }

    /// Packs `[from, from + out.len())` in fragments.
    fn read(staged: &Staged, from: usize, out: &mut [u8], fragment: usize) -> Result<()> {
        for (i, part) in out.chunks_mut(fragment).enumerate() {
            let at = from + i * fragment;
            staged.fetch(at, part.len())?;
            let count = staged.pack(at, &mut Room::from(&mut *part));
            assert_eq!(count, part.len());
        }
        Ok(())
    }

    #[test]
    fn long_messages_are_read_ahead_in_fragments_of_any_length() {
        let length = 4 * WINDOW + 100;
        let bytes = pattern(length);
        for fragment in [5000, 8192, 65_536, 300_000, WINDOW + 1, 2 * WINDOW] {
            let mut memory = bytes.clone();
            let (first, rest) = memory.split_at_mut(1000);
            let (staged, copier) = buffer(&mut [first, &mut [], rest], 100);
            let mut out = vec![0; length];
            read(&staged, 0, &mut out, fragment).unwrap();
            assert!(out == bytes, "fragments of {fragment}");
            assert_eq!(copier.buffers.load(Ordering::Relaxed), 0, "given back");
            let started = copier.started.load(Ordering::Relaxed);
            // All windows but the first, as long as a window holds a fragment. How long they are is a matter of time.
            let windows = match fragment <= WINDOW {
                true => 4..=(length - 1) / (pace::SHORTEST / fragment).max(1) / fragment,
                false => 0..=0,
            };
            assert!(
                windows.contains(&started),
                "fragments of {fragment}: {started}"
            );
        }
    }

    #[test]
    fn who_jumps_about_gets_the_right_bytes() {
        let length = 6 * WINDOW;
        let bytes = pattern(length);
        let mut memory = bytes.clone();
        let (staged, copier) = buffer(&mut [&mut memory], 1000);
        for (from, count) in [
            (0, 10_000),
            (3 * WINDOW, 2 * WINDOW),
            (10_000, WINDOW),
            (WINDOW - 7, 100),
            (5 * WINDOW, WINDOW - 1),
            (0, WINDOW / 2),
        ] {
            let mut out = vec![0; count];
            read(&staged, from, &mut out, 8192).unwrap();
            assert!(out == bytes[from..from + count], "{count} from {from}");
            assert!(copier.buffers.load(Ordering::Relaxed) <= pace::DEEPEST + 2);
        }
        drop(staged);
        assert_eq!(copier.buffers.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn long_messages_are_written_behind() {
        let length = 4 * WINDOW + 100;
        let bytes = pattern(length);
        for fragment in [5000, 8192, 65_536, WINDOW / 2 + 1] {
            for finishes in [true, false] {
                let mut memory = vec![0; length];
                let (first, rest) = memory.split_at_mut(1000);
                let (staged, copier) = buffer(&mut [first, rest], 100);
                for (i, part) in bytes.chunks(fragment).enumerate() {
                    staged.unpack(i * fragment, part).unwrap();
                    assert!(copier.buffers.load(Ordering::Relaxed) <= pace::DEEPEST + 1);
                }
                if finishes {
                    staged.finish().unwrap();
                }
                drop(staged);
                assert!(memory == bytes, "fragments of {fragment}");
                assert!(copier.started.load(Ordering::Relaxed) >= 3);
                assert_eq!(copier.buffers.load(Ordering::Relaxed), 0, "given back");
            }
        }
    }

    #[test]
    fn every_copy_that_fails_is_told_and_leaves_no_buffer() {
        let length = 4 * WINDOW;
        let mut memory = pattern(length);
        for copies in 0..5 {
            let (staged, copier) = buffer(&mut [&mut memory], copies);
            let mut out = vec![0; length];
            let result = read(&staged, 0, &mut out, 8192);
            // The short first windows alone make them more than these.
            assert_eq!(result.err(), Some(Status::IO_ERROR));
            copier.left.store(0, Ordering::Relaxed);
            let mut parts = out.chunks(8192).enumerate();
            let result = parts.try_for_each(|(i, part)| staged.unpack(i * 8192, part));
            assert_eq!(result, Err(Status::IO_ERROR), "no copy is left");
            drop(staged);
            assert_eq!(copier.buffers.load(Ordering::Relaxed), 0);
        }
    }

    #[test]
    fn bytes_are_gathered_until_others_do_not_follow() {
        let length = 2 * WINDOW + 100;
        let bytes = pattern(length);
        let mut memory = bytes.clone();
        let (first, rest) = memory.split_at_mut(1000);
        let (staged, copier) = buffer(&mut [first, &mut [], rest], 100);
        let (head, tail) = ([1u8; 1500], [2u8; 10]);
        staged.unpack(500, &head[..700]).unwrap();
        staged.unpack(1200, &head[700..]).unwrap();
        // Gathered, and written where the next bytes do not follow.
        assert_eq!(copier.left.load(Ordering::Relaxed), 100);
        staged.unpack(length - 10, &tail).unwrap();
        assert_eq!(copier.left.load(Ordering::Relaxed), 100 - 2);
        staged.finish().unwrap();
        assert_eq!(copier.left.load(Ordering::Relaxed), 100 - 3);
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
            staged.unpack(50, &bytes).unwrap();
            assert_eq!(copier.left.load(Ordering::Relaxed), 1);
            if finishes {
                staged.finish().unwrap();
            }
            drop(staged);
            assert_eq!(memory[50..250], bytes[..]);
            assert_eq!((memory[49], memory[250]), (5, 5));
            memory = [5; 300];
        }
        let (staged, _) = buffer(&mut [&mut memory], 0);
        staged.unpack(0, &bytes).unwrap();
        assert_eq!(staged.finish(), Err(Status::IO_ERROR));
    }

    #[test]
    fn who_does_not_wait_asks_until_the_bytes_are_there() {
        for length in [PINNED_FROM, WINDOW, 3 * WINDOW + 100] {
            let bytes = pattern(length);
            let mut memory = bytes.clone();
            let (first, rest) = memory.split_at_mut(1000);
            let (staged, copier) = buffer(&mut [first, rest], 100);
            copier.late.store(2, Ordering::Relaxed);
            let mut out = vec![0; length];
            let mut refusals = 0;
            for (i, part) in out.chunks_mut(8192).enumerate() {
                while !staged.begin_fetch(i * 8192, part.len()).unwrap() {
                    refusals += 1;
                }
                staged.pack(i * 8192, &mut Room::from(&mut *part));
            }
            assert!(out == bytes, "{length} bytes");
            assert!(refusals > 0);
            let started = copier.started.load(Ordering::Relaxed);
            assert_eq!(
                started + copier.left.load(Ordering::Relaxed),
                100,
                "nothing was copied within a call"
            );
            assert_eq!(copier.buffers.load(Ordering::Relaxed), 0, "given back");
        }
        // Short messages are copied at once.
        let mut memory = pattern(PINNED_FROM - 1);
        let (staged, copier) = buffer(&mut [&mut memory], 100);
        assert_eq!(staged.begin_fetch(0, PINNED_FROM), Ok(true));
        assert_eq!(copier.started.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn who_does_not_wait_hears_of_copies_that_fail() {
        for copies in 0..4 {
            let mut memory = vec![1; 4 * WINDOW];
            let (staged, copier) = buffer(&mut [&mut memory], copies);
            copier.late.store(1, Ordering::Relaxed);
            let mut out = vec![0; 4096];
            let mut at = 0;
            let end = loop {
                match staged.begin_fetch(at, out.len()) {
                    Ok(false) => {}
                    Ok(true) => at += staged.pack(at, &mut Room::from(&mut out[..])),
                    Err(e) => break e,
                }
            };
            assert_eq!(end, Status::IO_ERROR);
            assert!(at < 4 * WINDOW);
            drop(staged);
            assert_eq!(copier.buffers.load(Ordering::Relaxed), 0);
        }
    }

    #[test]
    fn the_end_of_a_receive_is_only_started() {
        for length in [PINNED_FROM, WINDOW + 5, 4 * WINDOW] {
            let bytes = pattern(length);
            let mut memory = vec![0; length];
            let (staged, copier) = buffer(&mut [&mut memory], 100);
            copier.late.store(0, Ordering::Relaxed);
            for (i, part) in bytes.chunks(8192).enumerate() {
                staged.unpack(i * 8192, part).unwrap();
            }
            let copy = staged.start_finish().unwrap().unwrap();
            let started = copier.started.load(Ordering::Relaxed);
            assert_eq!(started + copier.left.load(Ordering::Relaxed), 100);
            copy.wait().unwrap();
            assert_eq!(copier.buffers.load(Ordering::Relaxed), 0, "given back");
            assert!(staged.start_finish().unwrap().is_none());
            drop(staged);
            assert!(memory == bytes, "{length} bytes");
        }
    }

    struct Bytes(Vec<u8>);

    // SAFETY: the memory of a vector stays where it is.
    unsafe impl KeptBytes for Bytes {
        fn bytes(&self) -> (*const u8, usize) {
            (self.0.as_ptr(), self.0.len())
        }
    }

    #[test]
    fn memory_is_kept_until_the_copies_have_ended() {
        let bytes = pattern(5000);
        let mut memory = vec![0; 5000];
        let (first, rest) = memory.split_at_mut(700);
        let (staged, copier) = buffer(&mut [first, rest], 2);
        copier.late.store(1, Ordering::Relaxed);
        let copy = staged.start_unpack(0, Bytes(bytes.clone())).unwrap();
        assert!(!copy.is_done() && !copy.is_done() && copy.is_done());
        copy.wait().unwrap();
        // The second of two copies cannot be started: the first has ended when that is told.
        let (first, rest) = memory.split_at_mut(700);
        let (staged, _) = buffer(&mut [first, rest], 1);
        assert_eq!(
            staged.start_unpack(0, Bytes(bytes.clone())).err(),
            Some(Status::IO_ERROR)
        );
        assert!(memory == bytes);
    }

    #[test]
    fn a_copy_that_fails_leaves_nothing_to_pack() {
        let mut memory = [5u8; 300];
        let (head, tail) = memory.split_at_mut(100);
        let (staged, _) = buffer(&mut [head, tail], 1);
        assert_eq!(staged.fetch(0, 300), Err(Status::IO_ERROR));
        let mut out = [0u8; 300];
        assert_eq!(staged.pack(0, &mut Room::from(&mut out[..])), 0);
        assert_eq!(staged.fetch(300, 10), Ok(()), "nothing is to be fetched");
    }
}
