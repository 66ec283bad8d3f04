//! Copies of a few bytes without a call: what short messages and short accesses are made of.

/// Copies `len` bytes; the two places may overlap.
///
/// # Safety
/// `from` readable and `to` writable for `len` bytes.
#[inline]
pub unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: every access below is inside the first `len` bytes of its place; each branch loads
    // all it needs before it stores, so that places may overlap.
    unsafe {
        if len > 32 {
            core::ptr::copy(from, to, len);
        } else if len > 16 {
            ends::<u128>(from, to, len);
        } else if len >= 8 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_copied_whole_and_no_further() {
        let source: [u8; 200] = core::array::from_fn(|i| i as u8 + 1);
        for len in 0..=120 {
            let mut out = [0u8; 200];
            // SAFETY: both arrays are longer.
            unsafe { copy(source.as_ptr(), out.as_mut_ptr().add(3), len) };
            assert_eq!(out[3..3 + len], source[..len]);
            assert!(out[..3].iter().chain(&out[3 + len..]).all(|b| *b == 0));
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
