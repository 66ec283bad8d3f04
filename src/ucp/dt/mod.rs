//! Datatypes: a buffer, a count and a `ucp_datatype_t` become one `Data` that can be packed and unpacked at any offset.

pub mod generic;

use crate::c::*;
use crate::ucs::{Result, Status};
use crate::uct::base::copy::{Payload, Room, copy};
use crate::uct::base::memory_copier::{KeptBytes, KeptRoom, MemoryCopier, PendingCopy};
use crate::uct::base::staged::{Block, Staged};
use core::cell::Cell;
use core::ffi::c_void;
use generic::{Generic, Opaque};
use std::sync::Arc;

/// A user's buffer of any datatype, ready to be packed from or unpacked into.
pub enum Data {
    Contig {
        ptr: *mut u8,
        len: usize,
    },
    Iov {
        list: *const ucp_dt_iov_t,
        count: usize,
        len: usize,
        /// The end of the last access, where the next one mostly begins.
        reached: Cell<IovPosition>,
    },
    /// Read and written by functions alone.
    Opaque {
        state: Opaque,
        len: usize,
    },
}

/// An entry of an IOV list, and how many bytes stand before it.
#[derive(Clone, Copy, Default)]
pub struct IovPosition {
    entry: usize,
    before: usize,
}

/// Whether a buffer is sent or received: generic datatypes have a state for each.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Send,
    Receive,
}

/// The class of a datatype: its low bits.
#[inline]
fn class(dt: ucp_datatype_t) -> u64 {
    dt & u64::from(UCP_DATATYPE_CLASS_MASK)
}

/// Bytes of `count` elements of a contiguous datatype; `None` for other classes.
#[inline]
pub fn contiguous_bytes(dt: ucp_datatype_t, count: usize) -> Option<Result<usize>> {
    is_contiguous(dt).then(|| plain_bytes(dt, count).ok_or_else(too_long))
}

#[inline]
fn is_contiguous(dt: ucp_datatype_t) -> bool {
    class(dt) == u64::from(UCP_DATATYPE_CONTIG)
}

/// As above, for a caller that falls back to another path on `None`: an overflow is not logged.
#[inline]
pub fn plain_bytes(dt: ucp_datatype_t, count: usize) -> Option<usize> {
    let size = (dt >> UCP_DATATYPE_SHIFT) as usize;
    is_contiguous(dt).then(|| size.checked_mul(count))?
}

/// Bytes of a list.
#[inline]
fn list_bytes(list: &[ucp_dt_iov_t]) -> Result<usize> {
    let mut len = 0usize;
    for e in list {
        if is_missing(e) {
            return Err(missing_entry(list));
        }
        len = len.checked_add(e.length).ok_or_else(too_long)?;
    }
    Ok(len)
}

/// Whether the bytes of an entry cannot be there.
#[inline]
fn is_missing(e: &ucp_dt_iov_t) -> bool {
    e.buffer.is_null() && e.length > 0
}

#[cold]
fn missing_entry(list: &[ucp_dt_iov_t]) -> Status {
    if let Some((i, e)) = list.iter().enumerate().find(|(_, e)| is_missing(e)) {
        let length = e.length;
        crate::ucs_error!("entry {i} of an IOV list has {length} bytes at NULL");
    }
    Status::INVALID_PARAM
}

/// More bytes than there are addresses.
#[cold]
fn too_long() -> Status {
    crate::ucs_error!(
        "a buffer's elements and their count make more bytes than there are addresses"
    );
    Status::INVALID_PARAM
}

impl Data {
    /// Bytes without a datatype.
    #[inline]
    pub fn contig(ptr: *mut u8, len: usize) -> Data {
        Data::Contig { ptr, len }
    }

    /// Without bytes.
    #[inline(always)]
    pub fn empty() -> Data {
        Data::contig(core::ptr::null_mut(), 0)
    }

    /// Leaves nothing behind.
    #[inline(always)]
    pub fn take(&mut self) -> Data {
        core::mem::replace(self, Data::empty())
    }

    /// As an assignment, to one that is empty: nothing has to be dropped, which the compiler does not see.
    #[inline(always)]
    fn put(&mut self, data: Data) {
        debug_assert!(matches!(self, Data::Contig { len: 0, .. }));
        core::mem::forget(core::mem::replace(self, data));
    }

    /// Reads a buffer as C describes it into an empty one, in place: what a call returned would be moved, and stores by words that are loaded in pairs
    /// wait until the stores before them are done, which of a message to another process is long.
    ///
    /// # Safety
    /// The buffer must be what the datatype says, until the operation completes.
    #[inline]
    pub unsafe fn describe(
        &mut self,
        buffer: *mut c_void,
        count: usize,
        dt: ucp_datatype_t,
        side: Side,
    ) -> Result<()> {
        if let Some(len) = contiguous_bytes(dt, count) {
            let len = len?;
            if buffer.is_null() && len > 0 {
                crate::ucs_error!("a buffer of {len} bytes is NULL");
                return Err(Status::INVALID_PARAM);
            }
            self.put(Data::contig(buffer.cast(), len));
        } else if class(dt) == u64::from(UCP_DATATYPE_IOV) {
            if buffer.is_null() && count > 0 {
                crate::ucs_error!("an IOV list of {count} entries is NULL");
                return Err(Status::INVALID_PARAM);
            }
            self.put(Data::Iov {
                list: buffer.cast(),
                count,
                len: 0,
                reached: Cell::default(),
            });
            let bytes = list_bytes(self.list())?;
            if let Data::Iov { len, .. } = self {
                *len = bytes;
            }
        } else {
            // SAFETY: by the caller's promise.
            *self = unsafe { Data::generic(buffer, count, dt, side) }?;
        }
        Ok(())
    }

    /// The same of the datatypes that are left.
    ///
    /// # Safety
    /// As `describe`.
    #[inline(never)]
    unsafe fn generic(
        buffer: *mut c_void,
        count: usize,
        dt: ucp_datatype_t,
        side: Side,
    ) -> Result<Data> {
        if class(dt) != u64::from(UCP_DATATYPE_GENERIC) {
            crate::ucs_error!("datatype {dt:#x} is not supported here");
            return Err(Status::INVALID_PARAM);
        }
        // SAFETY: a datatype of `ucp_dt_create_generic`.
        let state = unsafe { Generic::start(dt, buffer, count, side) }?;
        // A receive is limited by its buffer's size.
        let len = state.packed_size();
        Ok(Data::Opaque {
            state: Opaque::Generic(state),
            len,
        })
    }

    /// Bytes of the whole buffer.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Data::Contig { len, .. } | Data::Iov { len, .. } | Data::Opaque { len, .. } => *len,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The address of a contiguous buffer; a list may be one too.
    pub fn contiguous(&self) -> Option<*mut u8> {
        match self {
            Data::Contig { ptr, .. } => Some(*ptr),
            Data::Iov { len, .. } => {
                let (at, length) = self.extents().next()?;
                (length == *len).then_some(at)
            }
            Data::Opaque { .. } => None,
        }
    }

    /// The memory of a list: entries that follow each other there are one extent, and empty ones none.
    pub fn extents(&self) -> impl Iterator<Item = (*mut u8, usize)> {
        let filled = self.list().iter().filter(|e| e.length > 0);
        let mut blocks = filled.map(|e| (e.buffer.cast::<u8>(), e.length)).peekable();
        core::iter::from_fn(move || {
            let (at, mut length) = blocks.next()?;
            while let Some((_, more)) = blocks.next_if(|b| b.0 == at.wrapping_add(length)) {
                length += more;
            }
            Some((at, length))
        })
    }

    /// The number of entries of a buffer that processors access without functions of a datatype; a contiguous one has one.
    pub fn entries(&self) -> Option<usize> {
        match self {
            Data::Contig { .. } => Some(1),
            Data::Iov { count, .. } => Some(*count),
            Data::Opaque { .. } => None,
        }
    }

    /// The bytes of a contiguous buffer without a list.
    #[inline]
    pub fn payload(&self) -> Option<Payload<'_>> {
        match self {
            // SAFETY: the user's buffer, which stays until the operation completes.
            Data::Contig { ptr, len } => Some(unsafe { Payload::new(*ptr, *len) }),
            _ => None,
        }
    }

    /// The memory of a contiguous buffer of a receive, without a list.
    pub fn room(&self) -> Option<Room<'_>> {
        match self {
            // SAFETY: as in `payload`.
            Data::Contig { ptr, len } => Some(unsafe { Room::new(*ptr, *len) }),
            _ => None,
        }
    }

    /// The address and the memory type of a contiguous buffer that processors cannot access.
    pub fn device_block(&self) -> Option<(*mut u8, ucs_memory_type_t)> {
        let staged = self.device_data()?;
        Some((staged.block()?.at, staged.kind()))
    }

    /// The address and the memory type of a contiguous buffer.
    pub fn block(&self) -> Option<(*mut u8, ucs_memory_type_t)> {
        let of_host = |at| (at, UCS_MEMORY_TYPE_HOST);
        self.contiguous()
            .map(of_host)
            .or_else(|| self.device_block())
    }

    /// The same buffer, of which some blocks are in memory of type `kind`, which `copier` reaches.
    pub fn staged(self, copier: &Arc<dyn MemoryCopier>, kind: ucs_memory_type_t) -> Data {
        if let Data::Opaque { .. } = self {
            return self;
        }
        let mut blocks = Vec::new();
        self.each_block(|at, length| blocks.push(Block { at, length }));
        let len = self.len();
        let state = Staged::new(Arc::clone(copier), kind, blocks);
        Data::Opaque {
            state: Opaque::Staged(Box::new(state)),
            len,
        }
    }

    /// The first block whose memory `is_it` says to be of a certain kind, as it says.
    pub fn find_block<R>(&self, mut is_it: impl FnMut(*mut u8, usize) -> Option<R>) -> Option<R> {
        let mut found = None;
        self.each_block(|at, length| {
            if found.is_none() {
                found = is_it(at, length);
            }
        });
        found
    }

    /// Walks the memory of a buffer, in order. An opaque one is left out.
    pub fn each_block(&self, mut f: impl FnMut(*mut u8, usize)) {
        match self {
            Data::Contig { ptr, len } => f(*ptr, *len),
            Data::Iov { len, .. } => self.each_block_of(0, *len, f),
            Data::Opaque { .. } => {}
        }
    }

    /// The memory type: `UCS_MEMORY_TYPE_*`.
    pub fn memory_type(&self) -> ucs_memory_type_t {
        self.device_data()
            .map_or(UCS_MEMORY_TYPE_HOST, Staged::kind)
    }

    /// Makes sure that `pack` finds up to `most` bytes at `offset`, before anything depends on that.
    #[inline]
    pub fn fetch(&self, offset: usize, most: usize) -> Result<()> {
        match self {
            Data::Opaque { state, .. } => state.fetch(offset, most),
            _ => Ok(()),
        }
    }

    /// As `fetch`, but a device may only start to copy, and the next call asks whether it has. Returns whether `pack` finds them.
    pub fn begin_fetch(&self, offset: usize, most: usize) -> Result<bool> {
        match self.device_data() {
            Some(staged) => staged.begin_fetch(offset, most),
            None => self.fetch(offset, most).map(|()| true),
        }
    }

    /// Has a device start to copy what will be fetched first. Of a long message windows are copied when it is sent, as each takes memory.
    pub fn prefetch(&self, most: usize) {
        if let Some(staged) = self.device_data()
            && staged.is_short()
        {
            // Who fetches it hears of an error.
            let _ = staged.begin_fetch(0, most);
        }
    }

    #[inline]
    fn device_data(&self) -> Option<&Staged> {
        match self {
            Data::Opaque {
                state: Opaque::Staged(staged),
                ..
            } => Some(staged),
            _ => None,
        }
    }

    /// Copies bytes from `offset` on, as far as they exist, to fill `room`; returns how many. `fetch` precedes it.
    #[inline]
    pub fn pack(&self, offset: usize, mut room: Room<'_>) -> usize {
        let n = room.len().min(self.len().saturating_sub(offset));
        let dest = room.as_mut_ptr();
        match self {
            // SAFETY: inside the user's buffer, into the room.
            Data::Contig { ptr, .. } => unsafe {
                copy(ptr.wrapping_add(offset), dest, n);
                n
            },
            Data::Iov { .. } => self.pack_list(offset, room.part(0, n)),
            Data::Opaque { state, .. } => state.pack(offset, &mut room),
        }
    }

    /// Copies bytes from `offset` on of a list, which has them, to fill `room`; returns how many.
    #[inline(never)]
    fn pack_list(&self, offset: usize, room: Room<'_>) -> usize {
        let (mut at, n) = (room.as_mut_ptr(), room.len());
        self.each_block_of(offset, n, move |p, len| {
            // SAFETY: a part of the user's buffer; the parts add up to at most `n`.
            unsafe { copy(p, at, len) };
            at = at.wrapping_add(len);
        });
        n
    }

    /// Copies bytes to `offset` of a list, as far as they fit.
    #[inline(never)]
    fn unpack_list(&self, offset: usize, from: Payload<'_>) {
        let mut src = from.as_ptr();
        self.each_block_of(offset, from.len(), move |p, len| {
            // SAFETY: a part of the user's buffer; the parts add up to at most the length.
            unsafe { copy(src, p, len) };
            src = src.wrapping_add(len);
        });
    }

    /// Copies the first bytes, as far as they exist, to fill `room`, without a `fetch`.
    pub fn copy_out(&self, mut room: Room<'_>) -> Result<()> {
        match self {
            Data::Opaque { state, .. } => state.copy_out(&mut room),
            _ => {
                self.pack(0, room);
                Ok(())
            }
        }
    }

    /// Has a device start to copy the first bytes, as far as they exist and there is room. `None` where processors copy.
    pub fn start_copy_out<M: KeptRoom>(
        &self,
        offset: usize,
        to: M,
    ) -> Option<Result<Box<dyn PendingCopy>>> {
        Some(self.device_data()?.start_copy_out(offset, to))
    }

    /// The same of bytes that are copied to `offset` of the buffer, where they must fit.
    pub fn start_unpack<M: KeptBytes>(
        &self,
        offset: usize,
        from: M,
    ) -> Option<Result<Box<dyn PendingCopy>>> {
        let staged = self.device_data()?;
        let room = self.len().saturating_sub(offset);
        (from.bytes().1 <= room).then(|| staged.start_unpack(offset, from))
    }

    /// Copies bytes to offset `offset` of the buffer.
    #[inline]
    pub fn unpack(&self, offset: usize, from: Payload<'_>) -> Result<()> {
        let (src, len) = (from.as_ptr(), from.len());
        if len > self.len().saturating_sub(offset) {
            return Err(Status::MESSAGE_TRUNCATED);
        }
        match self {
            // SAFETY: inside the user's buffer, as checked.
            Data::Contig { ptr, .. } => unsafe {
                copy(src, ptr.wrapping_add(offset), len);
                Ok(())
            },
            Data::Iov { .. } => {
                self.unpack_list(offset, from);
                Ok(())
            }
            Data::Opaque { state, .. } => state.unpack(offset, from),
        }
    }

    /// Copies the whole of `bytes` to a buffer that processors write and that they fit. Returns false for another one.
    #[inline(always)]
    pub fn fill(&self, bytes: &[u8]) -> bool {
        match self {
            Data::Contig { ptr, len } if bytes.len() <= *len => {
                // SAFETY: inside the user's buffer, as checked.
                unsafe { copy(bytes.as_ptr(), *ptr, bytes.len()) };
                true
            }
            Data::Iov { len, .. } if bytes.len() <= *len => {
                self.unpack_list(0, bytes.into());
                true
            }
            _ => false,
        }
    }

    /// Ends a receive without an error: what was unpacked is in the buffer.
    #[inline]
    pub fn finish(&self) -> Result<()> {
        match self {
            Data::Opaque { state, .. } => state.finish(),
            _ => Ok(()),
        }
    }

    /// As `finish`, but a device may only start to copy what is left: the buffer has it when that has ended.
    #[inline]
    pub fn start_finish(&self) -> Result<Option<Box<dyn PendingCopy>>> {
        self.device_data().map_or(Ok(None), Staged::start_finish)
    }

    /// As `unpack`, from a slice.
    #[inline]
    pub fn unpack_bytes(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        self.unpack(offset, bytes.into())
    }

    /// The entries of a list.
    #[inline(always)]
    fn list(&self) -> &[ucp_dt_iov_t] {
        match self {
            // SAFETY: the list has `count` entries and lives until the operation completes.
            Data::Iov { list, count, .. } if *count > 0 => unsafe {
                core::slice::from_raw_parts(*list, *count)
            },
            _ => &[],
        }
    }

    /// Walks the blocks of `[offset, offset + len)` of an IOV buffer.
    #[inline(always)]
    fn each_block_of(&self, offset: usize, mut len: usize, mut f: impl FnMut(*mut u8, usize)) {
        if offset != 0 || len != self.len() {
            return self.each_block_between(offset, len, f);
        }
        // The whole: no position has to be kept.
        for e in self.list() {
            let n = e.length.min(len);
            if n > 0 {
                f(e.buffer.cast(), n);
                len -= n;
            }
        }
    }

    /// The same of a part.
    #[inline(never)]
    fn each_block_between(&self, offset: usize, mut len: usize, mut f: impl FnMut(*mut u8, usize)) {
        let Data::Iov { reached, .. } = self else {
            return;
        };
        let entries = self.list();
        let mut at = reached.get();
        if at.before > offset {
            at = IovPosition::default();
        }
        let mut goes_on = len > 0;
        // Walks into an entry whose first `skip` bytes are not wanted. Returns whether the whole of it was walked.
        let mut enter = |at: &mut IovPosition, skip: usize| {
            let e = &entries[at.entry];
            let skipped = skip.min(e.length);
            let room = e.length - skipped;
            let n = room.min(len);
            if n > 0 {
                f(e.buffer.cast::<u8>().wrapping_add(skipped), n);
                len -= n;
            }
            let whole = n == room;
            if whole {
                at.entry += 1;
                at.before += e.length;
            }
            whole && len > 0
        };
        while goes_on && at.entry < entries.len() && at.before < offset {
            let skip = offset - at.before;
            goes_on = enter(&mut at, skip);
        }
        while goes_on && at.entry < entries.len() {
            goes_on = enter(&mut at, 0);
        }
        reached.set(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_list(list: &[ucp_dt_iov_t]) -> Data {
        let (at, dt) = (list.as_ptr().cast_mut().cast(), UCP_DATATYPE_IOV.into());
        let mut data = Data::empty();
        // SAFETY: a list of so many entries.
        let read = unsafe { data.describe(at, list.len(), dt, Side::Send) };
        assert_eq!(read, Ok(()));
        data
    }

    #[test]
    fn iov_packs_and_unpacks_at_any_offset() {
        let mut a = *b"abc";
        let mut b = *b"";
        let mut c = *b"defgh";
        let list = [
            ucp_dt_iov_t {
                buffer: a.as_mut_ptr().cast(),
                length: 3,
            },
            ucp_dt_iov_t {
                buffer: b.as_mut_ptr().cast(),
                length: 0,
            },
            ucp_dt_iov_t {
                buffer: c.as_mut_ptr().cast(),
                length: 5,
            },
        ];
        let d = of_list(&list);
        assert_eq!(d.len(), 8);
        for from in 0..=8 {
            for max in 0..=9 {
                let mut out = [0u8; 9];
                let n = d.pack(from, Room::from(&mut out[..max]));
                assert_eq!(&out[..n], &b"abcdefgh"[from..(from + max).min(8)]);
            }
        }
        assert_eq!(d.unpack_bytes(1, b"1234"), Ok(()));
        let over = d.unpack_bytes(6, b"1234");
        assert_eq!(over, Err(Status::MESSAGE_TRUNCATED));
        assert_eq!((&a, &c), (b"a12", b"34fgh"));
    }

    #[test]
    fn entries_that_follow_each_other_are_one_extent() {
        let bytes = [0u8; 16];
        let base = bytes.as_ptr().cast_mut();
        let of = |entries: &[(usize, usize)]| {
            let list: Vec<_> = entries
                .iter()
                .map(|&(at, length)| ucp_dt_iov_t {
                    buffer: base.wrapping_add(at).cast(),
                    length,
                })
                .collect();
            let data = of_list(&list);
            let offset = |at: *mut u8| at.addr() - base.addr();
            let extents: Vec<_> = data.extents().map(|(at, n)| (offset(at), n)).collect();
            (extents, data.contiguous().map(offset))
        };
        assert_eq!(of(&[]), (vec![], None));
        assert_eq!(of(&[(3, 0)]), (vec![], None));
        assert_eq!(of(&[(3, 2)]), (vec![(3, 2)], Some(3)));
        let joined = [(9, 0), (1, 2), (3, 4), (0, 0), (7, 1)];
        assert_eq!(of(&joined), (vec![(1, 7)], Some(1)));
        let apart = [(0, 2), (3, 2), (5, 1), (9, 0), (6, 1)];
        assert_eq!(of(&apart), (vec![(0, 2), (3, 4)], None));
        // Neither order nor overlap makes one of two.
        assert_eq!(of(&[(4, 2), (2, 2)]), (vec![(4, 2), (2, 2)], None));
        assert_eq!(of(&[(0, 3), (2, 3)]), (vec![(0, 3), (2, 3)], None));
    }

    #[test]
    fn a_long_list_is_walked_once_however_often_it_is_cut() {
        const ENTRIES: usize = 200_000;
        let bytes: Vec<u8> = (0..ENTRIES).map(|i| i as u8).collect();
        let at = |i: usize| bytes.as_ptr().wrapping_add(i).cast_mut().cast();
        let list: Vec<ucp_dt_iov_t> = (0..ENTRIES)
            .map(|i| ucp_dt_iov_t {
                buffer: at(i),
                length: 1,
            })
            .collect();
        let d = of_list(&list);
        let mut out = vec![0u8; ENTRIES];
        for from in (0..ENTRIES).step_by(100) {
            let n = d.pack(from, Room::from(&mut out[from..from + 100]));
            let Data::Iov { reached, .. } = &d else {
                unreachable!()
            };
            assert_eq!((n, reached.get().entry), (100, from + 100));
        }
        assert_eq!(out, bytes);
        assert_eq!(d.pack(ENTRIES - 3, Room::from(&mut out[..9])), 3);
        assert_eq!(d.pack(7, Room::from(&mut out[..1])), 1);
        assert_eq!(out[0], 7);
    }

    #[test]
    fn bad_buffers_are_refused() {
        let null = core::ptr::null_mut();
        for (count, dt) in [
            (1, 8u64 << 3),
            (usize::MAX, 16 << 3),
            (1, UCP_DATATYPE_IOV.into()),
            (1, 1),
        ] {
            // SAFETY: nothing is read at NULL.
            let read = unsafe { Data::empty().describe(null, count, dt, Side::Send) };
            assert!(read.is_err(), "{count} {dt:#x}");
        }
    }
}
