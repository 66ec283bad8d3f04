//! `Iov`: a user's gather or scatter list (`uct_iov_t`), checked once, then walked.
//!
//! An entry is `count` blocks of `length` bytes, `stride` bytes apart; `count` 1 is the plain case.

use crate::c::uct_iov_t;
use crate::ucs::{Result, Status};
use crate::uct::base::copy::copy;

/// More entries than any list in memory has.
const MAX_ENTRIES: usize = isize::MAX as usize / size_of::<uct_iov_t>();

/// A borrowed list of user buffers.
#[derive(Clone, Copy)]
pub struct Iov<'a>(&'a [uct_iov_t]);

impl<'a> Iov<'a> {
    /// Takes a C list.
    ///
    /// # Safety
    /// `iov` must point to `count` entries whose buffers the caller keeps valid during the call.
    #[inline]
    pub unsafe fn from_c(iov: *const uct_iov_t, count: usize) -> Result<Iov<'a>> {
        if count == 0 {
            return Ok(Iov(&[]));
        }
        // A negative count of C would be no length of a slice.
        if iov.is_null() || count > MAX_ENTRIES {
            return Err(Status::INVALID_PARAM);
        }
        // SAFETY: by the caller's promise.
        Ok(Iov(unsafe { core::slice::from_raw_parts(iov, count) }))
    }

    /// Number of entries.
    #[inline]
    pub fn entries(&self) -> &'a [uct_iov_t] {
        self.0
    }

    /// Total bytes; `INVALID_PARAM` when the sum overflows or a block has no address.
    #[inline]
    pub fn total(&self) -> Result<usize> {
        let mut sum = 0usize;
        for e in self.0 {
            let n = e
                .length
                .checked_mul(e.count as usize)
                .ok_or(Status::INVALID_PARAM)?;
            if n > 0 && e.buffer.is_null() {
                return Err(Status::INVALID_PARAM);
            }
            sum = sum.checked_add(n).ok_or(Status::INVALID_PARAM)?;
        }
        Ok(sum)
    }

    /// The blocks in order, empty ones left out: address and bytes.
    pub fn blocks(self) -> impl Iterator<Item = (*mut u8, usize)> + 'a {
        self.0.iter().flat_map(|e| {
            let (base, len, stride) = (e.buffer.cast::<u8>(), e.length, e.stride);
            (0..e.count as usize)
                .filter(move |_| len > 0)
                .map(move |i| (base.wrapping_add(i.wrapping_mul(stride)), len))
        })
    }

    /// Copies all blocks to `dest`. Returns the number of bytes.
    ///
    /// # Safety
    /// `dest` must have room for `total()`, and not overlap the blocks.
    #[inline]
    pub unsafe fn gather(self, mut dest: *mut u8) -> usize {
        let start = dest as usize;
        for (p, n) in self.blocks() {
            // SAFETY: the block is the user's readable memory, `dest` has room for the sum.
            unsafe { copy(p, dest, n) };
            dest = dest.wrapping_add(n);
        }
        dest as usize - start
    }

    /// Fills the blocks from `src`, at most `len` bytes. Returns the number of bytes.
    ///
    /// # Safety
    /// `src` must be readable for `len` bytes and not overlap the blocks.
    #[inline]
    pub unsafe fn scatter(self, src: *const u8, len: usize) -> usize {
        let mut done = 0;
        for (p, n) in self.blocks() {
            let n = n.min(len - done);
            // SAFETY: the block is the user's writable memory, `src` is readable up to `len`.
            unsafe { copy(src.wrapping_add(done), p, n) };
            done += n;
            if done == len {
                break;
            }
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(buffer: *mut u8, length: usize, stride: usize, count: u32) -> uct_iov_t {
        uct_iov_t {
            buffer: buffer.cast(),
            length,
            memh: core::ptr::null_mut(),
            stride,
            count,
        }
    }

    #[test]
    fn strided_blocks_gather_and_scatter() {
        let mut a = *b"ab--cd--ef";
        let mut b = *b"XYZ";
        let e = [
            entry(a.as_mut_ptr(), 2, 4, 3),
            entry(b.as_mut_ptr(), 3, 0, 1),
        ];
        let iov = Iov(&e);
        assert_eq!(iov.total(), Ok(9));
        let mut out = [0u8; 9];
        // SAFETY: `out` has room for nine bytes.
        assert_eq!(unsafe { iov.gather(out.as_mut_ptr()) }, 9);
        assert_eq!(&out, b"abcdefXYZ");
        // SAFETY: nine readable bytes.
        assert_eq!(unsafe { iov.scatter(b"012345678".as_ptr(), 7) }, 7);
        assert_eq!(&a, b"01--23--45");
        assert_eq!(&b, b"6YZ");
    }

    #[test]
    fn sizes_that_overflow_are_refused() {
        let mut x = 0u8;
        let e = [entry(&mut x, usize::MAX, 0, 2)];
        assert_eq!(Iov(&e).total(), Err(Status::INVALID_PARAM));
        let e = [entry(core::ptr::null_mut(), 1, 0, 1)];
        assert_eq!(Iov(&e).total(), Err(Status::INVALID_PARAM));
    }
}
