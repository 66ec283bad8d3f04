//! `Blocks`: the user's buffers of one operation, kept beyond the call that named them.

use crate::uct::base::iov::Iov;

/// Addresses and lengths in order; one buffer needs no allocation.
pub enum Blocks {
    One(*mut u8, usize),
    Many(Box<[(*mut u8, usize)]>),
}

impl Blocks {
    pub fn of(iov: Iov<'_>) -> Blocks {
        let mut blocks = iov.blocks();
        let Some((at, len)) = blocks.next() else {
            return Blocks::One(core::ptr::null_mut(), 0);
        };
        match blocks.next() {
            None => Blocks::One(at, len),
            Some(second) => Blocks::Many([(at, len), second].into_iter().chain(blocks).collect()),
        }
    }

    fn all(&self) -> impl Iterator<Item = (*mut u8, usize)> + '_ {
        let one = match self {
            Blocks::One(at, len) if *len > 0 => Some((*at, *len)),
            _ => None,
        };
        let many: &[_] = match self {
            Blocks::One(..) => &[],
            Blocks::Many(list) => list,
        };
        one.into_iter().chain(many.iter().copied())
    }

    /// The blocks of `len` bytes from `offset` on; less where the buffers end.
    pub fn range(&self, offset: usize, len: usize) -> impl Iterator<Item = (*mut u8, usize)> + '_ {
        let (mut skip, mut left) = (offset, len);
        self.all().filter_map(move |(at, n)| {
            let gone = skip.min(n);
            skip -= gone;
            let now = (n - gone).min(left);
            left -= now;
            (now > 0).then_some((at.wrapping_add(gone), now))
        })
    }

    /// Fills the buffers from `offset` on.
    ///
    /// # Safety
    /// `src` must be readable for `len` bytes; the buffers must be alive and theirs to write.
    pub unsafe fn write(&self, offset: usize, src: *const u8, len: usize) {
        let mut done = 0;
        for (at, n) in self.range(offset, len) {
            // SAFETY: by the caller's promise; they may overlap when a program sends to itself.
            unsafe { core::ptr::copy(src.wrapping_add(done), at, n) };
            done += n;
        }
    }

    /// Copies `len` bytes from `offset` on to `dest`.
    ///
    /// # Safety
    /// `dest` must have room for `len` bytes; the buffers must be alive.
    pub unsafe fn read(&self, offset: usize, len: usize, dest: *mut u8) {
        let mut done = 0;
        for (at, n) in self.range(offset, len) {
            // SAFETY: by the caller's promise.
            unsafe { core::ptr::copy(at, dest.wrapping_add(done), n) };
            done += n;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cross_blocks_and_end_with_them() {
        let mut a = *b"abc";
        let mut b = *b"defgh";
        let blocks = Blocks::Many(Box::new([(a.as_mut_ptr(), 3), (b.as_mut_ptr(), 5)]));
        let mut out = [0u8; 4];
        // SAFETY: four bytes from the second on exist; `out` has room.
        unsafe { blocks.read(1, 4, out.as_mut_ptr()) };
        assert_eq!(&out, b"bcde");
        // SAFETY: readable bytes into live buffers.
        unsafe { blocks.write(2, b"12".as_ptr(), 2) };
        // SAFETY: as above.
        unsafe { blocks.read(0, 4, out.as_mut_ptr()) };
        assert_eq!(&out, b"ab12");
        assert_eq!(blocks.range(6, 100).map(|(_, n)| n).sum::<usize>(), 2);
        assert_eq!(blocks.range(8, 1).count(), 0);
        assert_eq!(Blocks::One(core::ptr::null_mut(), 0).range(0, 9).count(), 0);
    }
}
