//! The copy that takes a short message out of its slot.

/// Payload bytes of a slot's first line.
pub const FIRST_LINE: usize = 56;

/// Copies up to `FIRST_LINE` bytes of a slot in one of two sizes.
///
/// # Safety
/// Both places must have room for `FIRST_LINE` bytes, aligned to 8, and not overlap.
#[inline]
pub unsafe fn copy_first_line(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: by the caller's promise.
    unsafe {
        if len <= 8 {
            to.cast::<u64>().write(from.cast::<u64>().read());
        } else {
            to.cast::<[u64; 7]>().write(from.cast::<[u64; 7]>().read());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_of_a_line_is_copied() {
        for len in 0..=FIRST_LINE {
            let (from, mut to) = ([u64::from_le_bytes([9; 8]); 7], [0u64; 7]);
            // SAFETY: both arrays are as long as a line's payload and aligned.
            unsafe { copy_first_line(from.as_ptr().cast(), to.as_mut_ptr().cast(), len) };
            let got: Vec<u8> = to.iter().flat_map(|word| word.to_le_bytes()).collect();
            assert!(got[..len].iter().all(|b| *b == 9));
        }
    }
}
