//! Copies of a few bytes without a call, for short messages and short accesses.

use crate::ucs::sync::{AtomicU64, Ordering, word64};
use core::marker::PhantomData;
use core::sync::atomic::AtomicUsize;

/// Copies `len` bytes; the two places may overlap.
///
/// # Safety
/// `from` readable and `to` writable for `len` bytes.
#[inline]
pub unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: by the caller's promise.
    unsafe {
        if len <= SMALL {
            copy_small(from, to, len);
        } else if len <= 2 * SMALL {
            ends::<u128>(from, to, len);
        } else if len < LONG_FROM.load(Ordering::Relaxed) {
            core::ptr::copy(from, to, len);
        } else {
            copy_long(from, to, len);
        }
    }
}

/// From this length on the string instruction may be used, by `copy_long` or the C library; 0 until `copy_long` has found it out.
static LONG_FROM: AtomicUsize = AtomicUsize::new(0);

/// From this length on C libraries may use the string instruction.
const LIBRARY_STRING_FROM: usize = 2 << 10;

const PAGE: usize = 4 << 10;
const LINE: usize = 64;

/// Whether the string instruction copies byte by byte on some processors: the target is less than two vectors behind the
/// source, whole pages apart. Measured on an AMD EPYC: 32 KiB take 9.3 us instead of 0.57 with up to 15 bytes between them,
/// 4 KiB 96 ns instead of 41 with up to 31.
#[inline]
fn is_close_behind(from: *const u8, to: *const u8) -> bool {
    const CLOSE: usize = 32;
    let behind = to.addr().wrapping_sub(from.addr()) % PAGE;
    (1..CLOSE).contains(&behind)
}

/// Whether the string instruction looks past the source into the page behind it, which may not be there, and waits for its address
/// in vain. Measured on an Intel Xeon: 4 KiB take 60 ns longer.
#[inline]
fn ends_with_page(from: *const u8, len: usize) -> bool {
    let left = (from.addr() + len).wrapping_neg() % PAGE;
    left < LINE
}

/// Copies by the C library, in pieces for which it does not use the string instruction.
///
/// # Safety
/// As `copy`, and the places must be apart.
unsafe fn copy_in_pieces(from: *const u8, to: *mut u8, len: usize) {
    const PIECE: usize = LIBRARY_STRING_FROM / 2;
    for at in (0..len).step_by(PIECE) {
        let n = PIECE.min(len - at);
        // SAFETY: inside both places, which are apart.
        unsafe { core::ptr::copy_nonoverlapping(from.add(at), to.add(at), n) };
    }
}

/// Copies between places for which the string instruction is slow: all of it in pieces, or only the end. Not inlined, as
/// `copy_long` would save registers for it.
///
/// # Safety
/// As `copy`, and the places must be apart.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[cold]
#[inline(never)]
unsafe fn copy_where_slow(from: *const u8, to: *mut u8, len: usize) {
    let pieces = if is_close_behind(from, to) {
        len
    } else {
        LIBRARY_STRING_FROM.min(len)
    };
    let rest = len - pieces;
    // SAFETY: both parts of the places, which are apart.
    unsafe {
        if rest > 0 {
            copy_long(from, to, rest);
        }
        copy_in_pieces(from.add(rest), to.add(rest), pieces);
    }
}

/// Whether no byte of the target is among those of the source.
#[inline]
fn is_apart(from: *const u8, to: *const u8, len: usize) -> bool {
    from.addr().abs_diff(to.addr()) >= len
}

/// Bytes of a message, readable for `'a`. Others may change them meanwhile: what is checked is read once.
#[derive(Clone, Copy, Debug)]
pub struct Payload<'a> {
    at: *const u8,
    len: usize,
    lent: PhantomData<&'a [u8]>,
}

impl<'a> Payload<'a> {
    /// # Safety
    /// `at` must be readable for `len` bytes for `'a`. Of a message without bytes it may be null.
    #[inline(always)]
    pub unsafe fn new(at: *const u8, len: usize) -> Payload<'a> {
        Payload {
            at,
            len,
            lent: PhantomData,
        }
    }

    #[inline(always)]
    pub fn len(self) -> usize {
        self.len
    }

    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Readable for `len` bytes.
    #[inline(always)]
    pub fn as_ptr(self) -> *const u8 {
        self.at
    }

    #[inline(always)]
    pub fn bytes(self) -> &'a [u8] {
        if self.is_empty() {
            return &[];
        }
        // SAFETY: by the promise of `new`.
        unsafe { core::slice::from_raw_parts(self.at, self.len) }
    }

    /// The first word, which is read this once, and the bytes behind it. `None` if it is shorter.
    #[inline(always)]
    pub fn split_word(self) -> Option<(u64, &'a [u8])> {
        const WORD: usize = size_of::<u64>();
        let rest = self.len.checked_sub(WORD)?;
        // SAFETY: by the promise of `new`: there are a word and `rest` bytes.
        unsafe {
            let word = self.at.cast::<u64>().read_unaligned();
            Some((word, core::slice::from_raw_parts(self.at.add(WORD), rest)))
        }
    }

    /// The whole of it as a word that its owner accesses as an atomic. `None` if it is not one word, aligned.
    pub fn peer_word(self) -> Option<PeerWord<'a>> {
        const WORD: usize = size_of::<u64>();
        let is_word = self.len == WORD && self.at.addr().is_multiple_of(WORD);
        // SAFETY: an aligned word, by the promise of `new`, and only loaded.
        is_word.then(|| PeerWord(unsafe { word64(self.at.cast_mut()) }))
    }
}

/// A word that others write.
pub struct PeerWord<'a>(&'a AtomicU64);

impl PeerWord<'_> {
    pub fn load(&self, order: Ordering) -> u64 {
        self.0.load(order)
    }
}

impl<'a> From<&'a [u8]> for Payload<'a> {
    #[inline(always)]
    fn from(bytes: &'a [u8]) -> Payload<'a> {
        Payload {
            at: bytes.as_ptr(),
            len: bytes.len(),
            lent: PhantomData,
        }
    }
}

/// Memory of a known length that may be read and written for `'a`, and that others may access meanwhile.
#[derive(Debug)]
pub struct Room<'a> {
    at: *mut u8,
    len: usize,
    lent: PhantomData<&'a mut [u8]>,
}

impl<'a> Room<'a> {
    /// # Safety
    /// `at` must be readable and writable for `len` bytes for `'a`. Without bytes it may be null.
    #[inline(always)]
    pub unsafe fn new(at: *mut u8, len: usize) -> Room<'a> {
        Room {
            at,
            len,
            lent: PhantomData,
        }
    }

    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Readable and writable for `len` bytes.
    #[inline(always)]
    pub fn as_mut_ptr(&self) -> *mut u8 {
        self.at
    }

    /// Its bytes, as the source of a copy.
    #[inline(always)]
    pub fn payload(&self) -> Payload<'_> {
        Payload {
            at: self.at,
            len: self.len,
            lent: PhantomData,
        }
    }

    /// As `payload`, for as long as the memory is lent.
    #[inline]
    pub fn into_payload(self) -> Payload<'a> {
        Payload {
            at: self.at,
            len: self.len,
            lent: PhantomData,
        }
    }

    /// A part of it, which must be inside.
    #[inline(always)]
    pub fn part(&mut self, offset: usize, len: usize) -> Room<'_> {
        let fits = offset <= self.len && len <= self.len - offset;
        assert!(fits, "{len} bytes at {offset} of {}", self.len);
        Room {
            at: self.at.wrapping_add(offset),
            len,
            lent: PhantomData,
        }
    }

    /// Writes its first bytes, of which there must be as many.
    #[inline(always)]
    pub fn fill(&mut self, from: Payload<'_>) {
        assert!(from.len <= self.len, "{} bytes into {}", from.len, self.len);
        // SAFETY: by the promises of both `new`, as far as was checked.
        unsafe { copy(from.at, self.at, from.len) };
    }

    /// As `fill`, of at most `SMALL` bytes, without a call.
    #[inline(always)]
    pub fn fill_small(&mut self, from: Payload<'_>) {
        let most = self.len.min(SMALL);
        assert!(from.len <= most, "{} bytes into {most}", from.len);
        // SAFETY: as in `fill`.
        unsafe { copy_small(from.at, self.at, from.len) };
    }

    /// Its bytes.
    #[inline(always)]
    pub fn bytes(&mut self) -> &mut [u8] {
        if self.is_empty() {
            return &mut [];
        }
        // SAFETY: by the promise of `new`.
        unsafe { core::slice::from_raw_parts_mut(self.at, self.len) }
    }
}

impl<'a> From<&'a mut [u8]> for Room<'a> {
    #[inline(always)]
    fn from(bytes: &'a mut [u8]) -> Room<'a> {
        Room {
            at: bytes.as_mut_ptr(),
            len: bytes.len(),
            lent: PhantomData,
        }
    }
}

/// The longest length of `copy_small`.
pub const SMALL: usize = 16;

/// Copies up to `SMALL` bytes without a call, so that a caller without other calls need not save registers. The two
/// ranges may overlap.
///
/// # Safety
/// As `copy`; `len` at most `SMALL`.
#[inline(always)]
pub unsafe fn copy_small(from: *const u8, to: *mut u8, len: usize) {
    debug_assert!(len <= SMALL);
    // SAFETY: every access below is inside the first `len` bytes of its place; each branch loads
    // all it needs before it stores, so that places may overlap.
    unsafe {
        if len >= 8 {
            ends::<u64>(from, to, len);
        } else if len >= 4 {
            ends::<u32>(from, to, len);
        } else if len >= 2 {
            ends::<u16>(from, to, len);
        } else if len == 1 {
            to.write(from.read());
        }
    }
}

/// The longest length of `copy_short`.
pub const SHORT: usize = 128;

/// As `copy_small`, of up to `SHORT` bytes: what a short message has.
///
/// # Safety
/// As `copy`; `len` at most `SHORT`.
#[inline(always)]
pub unsafe fn copy_short(from: *const u8, to: *mut u8, len: usize) {
    debug_assert!(len <= SHORT);
    // SAFETY: as in `copy_small`.
    unsafe {
        if len <= SMALL {
            copy_small(from, to, len);
        } else if len <= 2 * SMALL {
            ends::<[u128; 1]>(from, to, len);
        } else if len <= 4 * SMALL {
            ends::<[u128; 2]>(from, to, len);
        } else {
            ends::<[u128; 4]>(from, to, len);
        }
    }
}

/// As `copy_short`, between places that do not overlap: nothing is loaded before what was before it is stored.
///
/// # Safety
/// As `copy_short`, and the places must be apart.
#[inline(always)]
pub unsafe fn copy_short_apart(from: *const u8, to: *mut u8, len: usize) {
    debug_assert!(len <= SHORT);
    // SAFETY: each word is inside the first `len` bytes of its place.
    unsafe {
        if len <= SMALL {
            copy_small(from, to, len);
        } else if len <= 2 * SMALL {
            ends_apart::<[u128; 1]>(from, to, len);
        } else if len <= 4 * SMALL {
            ends_apart::<[u128; 2]>(from, to, len);
        } else {
            ends_apart::<[u128; 4]>(from, to, len);
        }
    }
}

/// Copies more than a few bytes: by the processor's string instruction where that is faster, else by the C library.
///
/// # Safety
/// As `copy`.
#[inline(never)]
unsafe fn copy_long(from: *const u8, to: *mut u8, len: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let Some(&(range_from, range_to)) = STRING_RANGE.get() else {
            // SAFETY: by the caller's promise.
            return unsafe { copy_first(from, to, len) };
        };
        let is_slow = is_close_behind(from, to) || ends_with_page(from, len);
        if is_slow && is_apart(from, to, len) {
            // SAFETY: by the caller's promise, as far as was just compared.
            return unsafe { copy_where_slow(from, to, len) };
        }
        let apart = (to as usize).wrapping_sub(from as usize) >= len;
        if (range_from..range_to).contains(&len) && apart && len > LINE {
            // Whole lines of the target are written without being read first.
            let lead = (to as usize).wrapping_neg() % LINE;
            // SAFETY: by the caller's promise, there is more than a line; forwards, which is right
            // for places that are apart, or overlap with the target first.
            unsafe {
                let line = from.cast::<[u64; LINE / 8]>().read_unaligned();
                to.cast::<[u64; LINE / 8]>().write_unaligned(line);
                core::arch::asm!(
                    "rep movsb",
                    inout("rcx") len - lead => _,
                    inout("rsi") from.add(lead) => _,
                    inout("rdi") to.add(lead) => _,
                    options(nostack, preserves_flags)
                );
            }
            return;
        }
    }
    // SAFETY: by the caller's promise.
    unsafe { core::ptr::copy(from, to, len) };
}

/// The lengths for which the string instruction is used: `UCX_BUILTIN_MEMCPY_MIN` to `_MAX`; with `auto`, by the
/// processor.
#[cfg(all(target_arch = "x86_64", not(miri)))]
static STRING_RANGE: once_cell::race::OnceBox<(usize, usize)> = once_cell::race::OnceBox::new();

/// As `copy_long`, before `STRING_RANGE` is known.
///
/// # Safety
/// As `copy`.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[cold]
#[inline(never)]
unsafe fn copy_first(from: *const u8, to: *mut u8, len: usize) {
    use crate::ucs::config::global::READ_ONLY;
    use crate::ucs::config::{AUTO, global, var};
    /// Measured: from where on the start-up of the instruction pays off, and from where on the C library is faster.
    const FROM: usize = 16 << 10;
    const TO: usize = 8 << 20;
    STRING_RANGE.get_or_init(|| {
        let options = global::fixed();
        let fast = crate::sys::cpu::has_fast_string_copy();
        let of = |var, auto| match options.memunits(var) {
            AUTO => auto,
            bytes => bytes,
        };
        let from = of(
            var!(READ_ONLY, "BUILTIN_MEMCPY_MIN"),
            if fast { FROM } else { usize::MAX },
        );
        // Relaxed: it stands for itself.
        LONG_FROM.store(from.min(LIBRARY_STRING_FROM), Ordering::Relaxed);
        Box::new((from, of(var!(READ_ONLY, "BUILTIN_MEMCPY_MAX"), TO)))
    });
    // SAFETY: by the caller's promise.
    unsafe { copy_long(from, to, len) };
}

/// Copies the first and the last word of `len` bytes, which may overlap: all of them, when `len` is
/// between one word and two.
///
/// # Safety
/// As `copy`, and `len` in that range.
#[inline]
unsafe fn ends<W: Copy>(from: *const u8, to: *mut u8, len: usize) {
    let last = len - size_of::<W>();
    // SAFETY: both words lie in `len` bytes, any alignment.
    unsafe {
        let first_word = from.cast::<W>().read_unaligned();
        let last_word = from.add(last).cast::<W>().read_unaligned();
        to.cast::<W>().write_unaligned(first_word);
        to.add(last).cast::<W>().write_unaligned(last_word);
    }
}

/// As `ends`, between places that do not overlap.
///
/// # Safety
/// As `ends`, and the places must be apart.
#[inline(always)]
unsafe fn ends_apart<W: Copy>(from: *const u8, to: *mut u8, len: usize) {
    let last = len - size_of::<W>();
    // SAFETY: both words lie in `len` bytes.
    unsafe {
        core::ptr::copy_nonoverlapping(from, to, size_of::<W>());
        core::ptr::copy_nonoverlapping(from.add(last), to.add(last), size_of::<W>());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_copied_whole_and_no_further() {
        let source: [u8; 4200] = core::array::from_fn(|i| (i as u8).wrapping_add(1));
        for len in (0..=SHORT).chain([1023, 1024, 1025, 4000]) {
            let mut out = [0u8; 4200];
            let ways: &[unsafe fn(*const u8, *mut u8, usize)] = if len <= SHORT {
                &[copy, copy_short, copy_short_apart]
            } else {
                &[copy]
            };
            for way in ways {
                out.fill(0);
                // SAFETY: both arrays are longer.
                unsafe { way(source.as_ptr(), out.as_mut_ptr().add(3), len) };
                assert_eq!(out[3..3 + len], source[..len]);
                assert!(out[..3].iter().chain(&out[3 + len..]).all(|b| *b == 0));
            }
        }
    }

    #[test]
    fn a_source_that_ends_with_its_page_is_copied_whole() {
        let source: Vec<u8> = (0..5 * PAGE).map(|i| (i % 251) as u8).collect();
        let end = source.as_ptr().align_offset(PAGE) + 4 * PAGE;
        for before in [0, 1, LINE - 1, LINE] {
            for len in [64, 2048, 2049, 4096, 10_000] {
                let from = &source[end - before - len..][..len];
                let mut out = vec![0; len + 2];
                // SAFETY: both are as long.
                unsafe { copy(from.as_ptr(), out[1..].as_mut_ptr(), len) };
                assert_eq!(out[1..=len], *from);
                assert_eq!((out[0], out[len + 1]), (0, 0));
            }
        }
    }

    /// Copies of the same length take about as long wherever the target is, the slowest of these fifteen times without care.
    #[test]
    #[cfg(not(miri))]
    fn a_target_close_behind_its_source_is_no_trap() {
        const LEN: usize = 32 << 10;
        let source = vec![7u8; 2 * LEN];
        let mut room = vec![0u8; 3 * LEN];
        let from = source
            .as_ptr()
            .wrapping_add(source.as_ptr().align_offset(64));
        let mut fastest = |behind: usize| {
            let at = from
                .addr()
                .wrapping_add(behind)
                .wrapping_sub(room.as_ptr().addr())
                % 4096;
            let to = room[at..at + LEN].as_mut_ptr();
            let once = || {
                let start = std::time::Instant::now();
                // SAFETY: both are as long.
                unsafe { copy(from, to, LEN) };
                start.elapsed()
            };
            let least = (0..200).map(|_| once()).min();
            assert!(room[at..at + LEN].iter().all(|b| *b == 7));
            room.fill(0);
            least
        };
        let usual = fastest(64).map(|least| least * 5);
        for behind in [1, 8, 16] {
            let least = fastest(behind);
            assert!(
                least < usual,
                "{behind} behind: {least:?}, {usual:?} allowed"
            );
        }
    }

    #[test]
    fn overlapping_places_are_copied_as_if_apart() {
        for len in 0..=40 {
            for shift in 0..=20 {
                let mut bytes: [u8; 80] = core::array::from_fn(|i| i as u8);
                // SAFETY: inside the array.
                unsafe {
                    let base = bytes.as_mut_ptr();
                    copy(base, base.add(shift), len);
                }
                let expected: Vec<u8> = (0..len as u8).collect();
                assert_eq!(bytes[shift..shift + len], expected);
            }
        }
    }
}
