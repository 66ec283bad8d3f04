//! Growth of arrays, `ucs/datastruct/array.h`. Their structure and all else is inline code of clients.

use crate::sys::heap;
use crate::ucs::{Result, Status};
use crate::ucs_error;
use core::ffi::c_void;

/// The capacity that takes the place of `capacity`, which is too small for `wanted`: twice as much, if that is enough
/// and allowed.
fn next_capacity(capacity: usize, wanted: usize, max: usize) -> usize {
    capacity.saturating_mul(2).max(wanted).min(max)
}

/// Moves the elements of `buffer` to room for at least `wanted` of them; the new storage and its capacity.
/// With `keep_old` the old storage is the caller's, and nothing is copied or freed.
///
/// # Safety
/// `buffer` is null, or a block of the C heap with `capacity` elements of `value_size` bytes, given up on success.
pub unsafe fn grow(
    buffer: *mut c_void,
    (capacity, wanted, max): (usize, usize, usize),
    value_size: usize,
    keep_old: bool,
    name: &str,
) -> Result<(*mut c_void, usize)> {
    if wanted > max {
        ucs_error!("array {name}: {wanted} elements are wanted and {max} are the most");
        return Err(Status::EXCEEDS_LIMIT);
    }
    let capacity = next_capacity(capacity, wanted, max);
    let len = capacity.checked_mul(value_size).ok_or(Status::NO_MEMORY)?;
    let grown = if keep_old {
        heap::malloc(len)
    } else {
        // SAFETY: the caller's promise.
        unsafe { heap::realloc(buffer, len) }
    };
    if grown.is_null() {
        ucs_error!("array {name}: no memory for {capacity} elements of {value_size} bytes");
        return Err(Status::NO_MEMORY);
    }
    Ok((grown, capacity))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacities_double_within_limits() {
        assert_eq!(next_capacity(0, 1, 1000), 1);
        assert_eq!(next_capacity(2, 3, 1000), 4);
        assert_eq!(next_capacity(10, 50, 1000), 50);
        assert_eq!(next_capacity(600, 601, 1000), 1000);
        assert_eq!(next_capacity(usize::MAX / 2 + 1, 9, usize::MAX), usize::MAX);
    }

    #[test]
    fn elements_move_and_the_old_storage_stays_if_asked() {
        // SAFETY: no storage yet.
        let (first, capacity) =
            unsafe { grow(core::ptr::null_mut(), (0, 4, 100), 8, false, "test") }.unwrap();
        assert_eq!(capacity, 4);
        // SAFETY: 4 elements.
        unsafe { first.cast::<u64>().write(77) };
        // SAFETY: a block of the heap.
        let (second, capacity) = unsafe { grow(first, (4, 5, 100), 8, false, "test") }.unwrap();
        assert_eq!(capacity, 8);
        // SAFETY: 8 elements, the first of them copied.
        assert_eq!(unsafe { second.cast::<u64>().read() }, 77);
        // SAFETY: as above; it stays ours.
        let (third, _) = unsafe { grow(second, (8, 9, 100), 8, true, "test") }.unwrap();
        assert_ne!(second, third);
        assert_eq!(
            // SAFETY: as above.
            unsafe { grow(third, (16, 101, 100), 8, false, "test") },
            Err(Status::EXCEEDS_LIMIT)
        );
        // SAFETY: as above.
        let too_much = unsafe { grow(third, (16, usize::MAX, usize::MAX), 8, false, "test") };
        assert_eq!(too_much, Err(Status::NO_MEMORY));
        for block in [second, third] {
            // SAFETY: a block of the heap.
            unsafe { heap::free(block) };
        }
    }
}
