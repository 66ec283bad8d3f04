//! The string set of the C API: a client owns the head, whose layout its inline code knows.
//!
//! Open addressing with triangular steps over a power of two of buckets; two flag bits a bucket say
//! empty, deleted or taken. Nothing is ever deleted here.

use crate::c::ucs_string_set;
use crate::sys::heap;
use crate::ucs::{Result, Status};
use core::ffi::{CStr, c_char};

const FIRST_BUCKETS: u32 = 16;
/// Two bits a bucket: 2 is "empty", 0 is "taken".
const ALL_EMPTY: u32 = 0xaaaa_aaaa;

fn hash(text: &CStr) -> u32 {
    let mut bytes = text.to_bytes().iter();
    // As the inline code: bytes are C's signed characters.
    let first = bytes.next().map_or(0, |b| *b as i8 as u32);
    bytes.fold(first, |h, b| {
        (h << 5).wrapping_sub(h).wrapping_add(*b as i8 as u32)
    })
}

/// Adds a copy of `text`, once.
///
/// # Safety
/// `set` was zeroed by `ucs_string_set_init` and changed by this function only.
pub unsafe fn add(set: &mut ucs_string_set, text: &CStr) -> Result<()> {
    if set.size >= set.upper_bound {
        // SAFETY: the caller's promise.
        unsafe { grow(set) }?;
    }
    // SAFETY: as above; `grow` made room.
    let (bucket, found) = unsafe { find(set, text) };
    if found {
        return Ok(());
    }
    let bytes = text.to_bytes_with_nul();
    let copy: *mut c_char = heap::malloc(bytes.len()).cast();
    if copy.is_null() {
        return Err(Status::NO_MEMORY);
    }
    // SAFETY: a fresh block of that size.
    unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr().cast(), copy, bytes.len()) };
    // SAFETY: `find` gives a bucket of the table.
    unsafe { place(set, bucket, copy) };
    Ok(())
}

/// Whether `text` is a member.
///
/// # Safety
/// As `add`.
pub unsafe fn contains(set: &ucs_string_set, text: &CStr) -> bool {
    // SAFETY: a table with buckets.
    set.n_buckets != 0 && unsafe { find(set, text) }.1
}

/// The members in byte order.
///
/// # Safety
/// As `add`; the set lives as long as the answer is used.
pub unsafe fn sorted(set: &ucs_string_set) -> Vec<&CStr> {
    let taken = (0..set.n_buckets)
        // SAFETY: a bucket of the table.
        .filter(|i| !unsafe { is_empty(set, *i) });
    let mut all: Vec<&CStr> = taken
        // SAFETY: taken buckets hold our copies.
        .map(|i| unsafe { CStr::from_ptr(*set.keys.add(i as usize)) })
        .collect();
    all.sort();
    all
}

/// Gives everything back and leaves an empty set.
///
/// # Safety
/// As `add`.
pub unsafe fn cleanup(set: &mut ucs_string_set) {
    for i in 0..set.n_buckets {
        // SAFETY: a bucket of the table.
        if !unsafe { is_empty(set, i) } {
            // SAFETY: taken buckets hold copies that `add` made.
            unsafe { heap::free((*set.keys.add(i as usize)).cast()) };
        }
    }
    // SAFETY: `grow` made it, or it is null.
    unsafe { heap::free(set.keys.cast()) };
    // SAFETY: as above.
    unsafe { heap::free(set.flags.cast()) };
    *set = ucs_string_set::EMPTY;
}

/// Doubles the table.
unsafe fn grow(set: &mut ucs_string_set) -> Result<()> {
    let buckets = set
        .n_buckets
        .checked_mul(2)
        .ok_or(Status::NO_MEMORY)?
        .max(FIRST_BUCKETS);
    let words = buckets as usize / 16;
    let keys: *mut *mut c_char = heap::calloc(buckets as usize, size_of::<usize>()).cast();
    let flags: *mut u32 = heap::calloc(words, size_of::<u32>()).cast();
    if keys.is_null() || flags.is_null() {
        // SAFETY: null or made above.
        unsafe { heap::free(keys.cast()) };
        // SAFETY: as above.
        unsafe { heap::free(flags.cast()) };
        return Err(Status::NO_MEMORY);
    }
    for i in 0..words {
        // SAFETY: inside the block.
        unsafe { flags.add(i).write(ALL_EMPTY) };
    }
    let mut bigger = ucs_string_set {
        n_buckets: buckets,
        upper_bound: buckets / 4 * 3,
        flags,
        keys,
        ..ucs_string_set::EMPTY
    };
    for i in 0..set.n_buckets {
        // SAFETY: a bucket of the old table.
        if !unsafe { is_empty(set, i) } {
            // SAFETY: taken buckets hold our copies.
            let key = unsafe { *set.keys.add(i as usize) };
            // SAFETY: as above.
            let text = unsafe { CStr::from_ptr(key) };
            // SAFETY: the new table has room.
            let (bucket, _) = unsafe { find(&bigger, text) };
            // SAFETY: a bucket of the new table.
            unsafe { place(&mut bigger, bucket, key) };
        }
    }
    // SAFETY: `grow` made it, or it is null.
    unsafe { heap::free(set.keys.cast()) };
    // SAFETY: as above.
    unsafe { heap::free(set.flags.cast()) };
    *set = bigger;
    Ok(())
}

/// The bucket that holds `text`, or the empty one where it belongs. The table has an empty bucket.
unsafe fn find(set: &ucs_string_set, text: &CStr) -> (u32, bool) {
    let mask = set.n_buckets - 1;
    let mut bucket = hash(text) & mask;
    for step in 1..=set.n_buckets {
        // SAFETY: masked to the table.
        if unsafe { is_empty(set, bucket) } {
            return (bucket, false);
        }
        // SAFETY: taken buckets hold our copies.
        if unsafe { CStr::from_ptr(*set.keys.add(bucket as usize)) } == text {
            return (bucket, true);
        }
        bucket = (bucket + step) & mask;
    }
    (bucket, false)
}

unsafe fn is_empty(set: &ucs_string_set, bucket: u32) -> bool {
    // SAFETY: the caller's bucket is one of the table.
    let word = unsafe { *set.flags.add(bucket as usize / 16) };
    word >> (bucket % 16 * 2) & 2 != 0
}

unsafe fn place(set: &mut ucs_string_set, bucket: u32, key: *mut c_char) {
    // SAFETY: the caller's bucket is one of the table.
    unsafe { set.keys.add(bucket as usize).write(key) };
    // SAFETY: as above.
    unsafe { *set.flags.add(bucket as usize / 16) &= !(3 << (bucket % 16 * 2)) };
    set.size += 1;
    set.n_occupied += 1;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::ffi::CString;

    #[test]
    fn agrees_with_a_tree() {
        let mut set = ucs_string_set::EMPTY;
        let mut oracle = BTreeSet::new();
        for i in 0..2000u32 {
            let text = CString::new(format!("{}", i.wrapping_mul(2654435761) % 700)).unwrap();
            // SAFETY: a set of this test.
            unsafe { add(&mut set, &text) }.unwrap();
            oracle.insert(text);
        }
        assert_eq!(set.size as usize, oracle.len());
        // SAFETY: as above.
        let got = unsafe { sorted(&set) };
        for number in 0..800 {
            let text = CString::new(number.to_string()).unwrap();
            // SAFETY: as above.
            assert_eq!(unsafe { contains(&set, &text) }, oracle.contains(&text));
        }
        assert!(got.iter().copied().eq(oracle.iter().map(|t| t.as_c_str())));
        // SAFETY: as above.
        unsafe { cleanup(&mut set) };
        assert_eq!(set.size, 0);
    }
}
