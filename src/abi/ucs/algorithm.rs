//! `ucs/algorithm/*.h`, `ucs/sys/math.h`, `ucs/sys/uid.h`.

use crate::abi::args::non_null;
use crate::c::prelude::*;
use crate::sys::{clock, heap, machine, process, random};
use crate::ucs::Status;
use crc::{CRC_16_IBM_SDLC, CRC_32_ISO_HDLC, Crc};
use once_cell::race::OnceBox;
use sha2::{Digest, Sha256};

/// The bytes of C's `buffer`; none for null.
///
/// # Safety
/// `buffer` is null or has `size` bytes.
unsafe fn bytes<'b>(buffer: *const c_void, size: usize) -> &'b [u8] {
    if buffer.is_null() || size == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { core::slice::from_raw_parts(buffer.cast(), size) }
}

/// CRC-16 of ISO 3309, also known as X-25. `ucs/algorithm/crc.h`.
///
/// - `buffer` (in): The bytes.
/// - `size` (in): Their number.
/// - returns: The checksum.
///
/// # Safety
/// `buffer` has `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_crc16(buffer: *const c_void, size: usize) -> u16 {
    // SAFETY: the caller's promise.
    Crc::<u16>::new(&CRC_16_IBM_SDLC).checksum(unsafe { bytes(buffer, size) })
}

/// The same of a string without its NUL. `ucs/algorithm/crc.h`.
///
/// - `s` (in): String, NUL-terminated.
/// - returns: The checksum.
///
/// # Safety
/// `s` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_crc16_string(s: *const c_char) -> u16 {
    non_null!(0; s);
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(s) }.to_bytes();
    Crc::<u16>::new(&CRC_16_IBM_SDLC).checksum(text)
}

/// CRC-32 of ISO 3309, as zlib's; `prev_crc` is that of the bytes before, or 0. `ucs/algorithm/crc.h`.
///
/// - `prev_crc` (in): Checksum of the bytes before, or 0.
/// - `buffer` (in): The bytes.
/// - `size` (in): Their number.
/// - returns: The checksum.
///
/// # Safety
/// `buffer` has `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_crc32(prev_crc: u32, buffer: *const c_void, size: usize) -> u32 {
    static TABLE: OnceBox<Crc<u32>> = OnceBox::new();
    let crc = TABLE.get_or_init(|| Box::new(Crc::<u32>::new(&CRC_32_ISO_HDLC)));
    let mut digest = crc.digest_with_initial((!prev_crc).reverse_bits());
    // SAFETY: the caller's promise.
    digest.update(unsafe { bytes(buffer, size) });
    digest.finalize()
}

/// Sorts an array with a comparison that has an argument of its own. `ucs/algorithm/qsort_r.h`.
///
/// - `base` (in,out): The array.
/// - `nmemb` (in): Number of elements.
/// - `size` (in): Bytes of an element.
/// - `compare` (in): Order of two elements.
/// - `arg` (in): Its last argument.
///
/// # Safety
/// `base` has `nmemb` elements of `size` bytes; `compare` orders them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_qsort_r(
    base: *mut c_void,
    nmemb: usize,
    size: usize,
    compare: Option<unsafe extern "C" fn(*const c_void, *const c_void, *mut c_void) -> c_int>,
    arg: *mut c_void,
) {
    if nmemb > 1 && size > 0 {
        non_null!(; base);
        // SAFETY: the caller's promise.
        unsafe { heap::sort(base, nmemb, size, compare, arg) };
    }
}

/// Characters to insert, remove or replace to make one string of another. `ucs/algorithm/string_distance.h`.
///
/// - `str1` (in): String, NUL-terminated.
/// - `str2` (in): String, NUL-terminated.
/// - returns: Number of changes.
///
/// # Safety
/// Both are C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_distance(str1: *const c_char, str2: *const c_char) -> usize {
    non_null!(0; str1, str2);
    // SAFETY: the caller's promise.
    let one = unsafe { CStr::from_ptr(str1) }.to_bytes();
    // SAFETY: as above.
    let other = unsafe { CStr::from_ptr(str2) }.to_bytes();
    distance(one, other)
}

/// Levenshtein's distance.
fn distance(one: &[u8], other: &[u8]) -> usize {
    // Distances of the part of `one` read so far to each beginning of `other`.
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

/// Primes to multiply with; numbers from 20 on begin again. `ucs/sys/math.h`.
///
/// - `index` (in): Its number in the list.
/// - returns: The prime.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_get_prime(index: c_uint) -> u64 {
    const PRIMES: [u64; 20] = [
        0xe6ba_e475,
        0x3e08_2e0d,
        0x2edf_1a93,
        0xcf67_634d,
        0x8c27_c71f,
        0x8c27_c979,
        0x8c27_cbc5,
        0x8c27_ce77,
        0x4fd1_47c9,
        0x4fd1_47e1,
        0x4fd1_47f1,
        0x4fd1_47ff,
        0x4fd1_4809,
        0x4fd1_4815,
        0x4fd1_481b,
        0x4fd1_4833,
        0x4fd1_485f,
        0x4fd1_4869,
        0x4fd1_4889,
        0x4fd1_488d,
    ];
    PRIMES[index as usize % PRIMES.len()]
}

/// Random numbers need no preparation here. `ucs/sys/math.h`.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_rand_seed_init() {}

/// A random number that is not negative. `ucs/sys/math.h`.
///
/// - returns: The number.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_rand() -> c_int {
    let bits = random::random_u64().unwrap_or_else(|_| clock::cycles());
    (bits >> 33) as c_int
}

/// A random number between two, both included. UCS_ERR_INVALID_PARAM when they are in the wrong order.
/// `ucs/sys/math.h`.
///
/// - `range_min` (in): Lower bound.
/// - `range_max` (in): Upper bound.
/// - `rand_val` (out): The number.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when they are in the wrong order.
///
/// # Safety
/// `rand_val` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_rand_range(
    range_min: c_int,
    range_max: c_int,
    rand_val: *mut c_int,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; rand_val);
    if range_min > range_max {
        crate::ucs_error!("no number is between {range_min} and {range_max}");
        return UCS_ERR_INVALID_PARAM;
    }
    let Ok(bits) = random::random_u64() else {
        return Status::IO_ERROR.code();
    };
    let count = (i64::from(range_max) - i64::from(range_min) + 1) as u64;
    // The upper half of a product: equally likely but for one part in 2^32.
    let offset = (u128::from(bits) * u128::from(count)) >> 64;
    // SAFETY: checked above; the caller vouches for it.
    unsafe { rand_val.write((i64::from(range_min) + offset as i64) as c_int) };
    UCS_OK
}

/// A number that processes of this host have in common since it was started, and others have not. `ucs/sys/uid.h`.
///
/// - returns: The number.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_get_system_id() -> u64 {
    static ID: OnceBox<u64> = OnceBox::new();
    *ID.get_or_init(|| {
        let host = process::boot_id().map_or_else(machine::short_host_name, str::to_owned);
        let digest: [u8; 32] = Sha256::digest(host.as_bytes()).into();
        let id = digest[..8]
            .iter()
            .fold(0, |id, byte| id << 8 | u64::from(*byte));
        Box::new(id)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_the_published_ones() {
        let text = c"123456789";
        // SAFETY: the string's bytes.
        let (crc16, of_string) = unsafe {
            (
                ucs_crc16(text.as_ptr().cast(), 9),
                ucs_crc16_string(text.as_ptr()),
            )
        };
        assert_eq!((crc16, of_string), (0x906e, 0x906e));
        for cut in 0..=9 {
            // SAFETY: as above.
            let first = unsafe { ucs_crc32(0, text.as_ptr().cast(), cut) };
            // SAFETY: as above.
            let whole =
                unsafe { ucs_crc32(first, text.as_ptr().wrapping_add(cut).cast(), 9 - cut) };
            assert_eq!(whole, 0xcbf4_3926, "cut after {cut}");
        }
    }

    #[test]
    fn distances_are_levenshteins() {
        let cases = [
            ("", "", 0),
            ("kitten", "sitting", 3),
            ("abc", "", 3),
            ("ab", "ba", 2),
            ("Abc", "aBC", 3),
        ];
        for (one, other, edits) in cases {
            assert_eq!(distance(one.as_bytes(), other.as_bytes()), edits);
            assert_eq!(distance(other.as_bytes(), one.as_bytes()), edits);
        }
    }

    #[test]
    fn numbers_stay_in_their_range() {
        let mut seen = [false; 3];
        for _ in 0..200 {
            let mut number = 0;
            // SAFETY: a variable of this test.
            assert_eq!(unsafe { ucs_rand_range(-1, 1, &mut number) }, UCS_OK);
            seen[usize::try_from(number + 1).unwrap()] = true;
            assert!(ucs_rand() >= 0);
        }
        assert_eq!(seen, [true; 3]);
        let mut number = 0;
        assert_eq!(
            // SAFETY: as above.
            unsafe { ucs_rand_range(i32::MIN, i32::MAX, &mut number) },
            UCS_OK
        );
        assert_eq!(
            // SAFETY: as above.
            unsafe { ucs_rand_range(2, 1, &mut number) },
            UCS_ERR_INVALID_PARAM
        );
    }
}
