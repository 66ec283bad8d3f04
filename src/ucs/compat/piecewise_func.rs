//! Functions of whole numbers that are linear in parts, `ucs/datastruct/piecewise_func.h`.

use crate::c::{ucs_linear_func_t, ucs_list_link, ucs_piecewise_func_t, ucs_piecewise_segment_t};
use crate::sys::heap;
use crate::ucs::{Result, Status};
use core::mem::offset_of;

type Segment = *mut ucs_piecewise_segment_t;

fn at(segment: Segment) -> *mut ucs_list_link {
    segment
        .wrapping_byte_add(offset_of!(ucs_piecewise_segment_t, list))
        .cast()
}

/// Makes a part and puts it behind `link`.
///
/// # Safety
/// `link` is in a ring of links.
unsafe fn insert_behind(
    link: *mut ucs_list_link,
    func: ucs_linear_func_t,
    end: usize,
) -> Result<Segment> {
    let segment: Segment = heap::malloc(size_of::<ucs_piecewise_segment_t>()).cast();
    if segment.is_null() {
        return Err(Status::NO_MEMORY);
    }
    // SAFETY: the caller's link.
    let next = unsafe { (*link).next };
    let made = ucs_piecewise_segment_t {
        func,
        end,
        list: ucs_list_link { prev: link, next },
    };
    // SAFETY: a fresh block.
    unsafe { segment.write(made) };
    // SAFETY: a link of the ring.
    unsafe { (*next).prev = at(segment) };
    // SAFETY: as above.
    unsafe { (*link).next = at(segment) };
    Ok(segment)
}

/// Makes the function that is 0 everywhere.
///
/// # Safety
/// `function` is writable and stays there.
pub unsafe fn init(function: *mut ucs_piecewise_func_t) -> Result<()> {
    // SAFETY: the caller's object.
    let head = unsafe { &raw mut (*function).head };
    // SAFETY: as above.
    unsafe {
        head.write(ucs_list_link {
            prev: head,
            next: head,
        })
    };
    let zero = ucs_linear_func_t { c: 0.0, m: 0.0 };
    // SAFETY: a ring of one link.
    unsafe { insert_behind(head, zero, usize::MAX) }.map(|_| ())
}

/// The parts, lowest first.
///
/// # Safety
/// `function` was made by `init`; the next part is found when it is asked for, so the current one may be split.
unsafe fn segments(function: *const ucs_piecewise_func_t) -> impl Iterator<Item = Segment> {
    // SAFETY: the caller's object.
    let head = unsafe { &raw const (*function).head };
    // SAFETY: as above.
    let mut link = unsafe { (*head).next };
    core::iter::from_fn(move || {
        if link.cast_const() == head {
            return None;
        }
        let segment = link.wrapping_byte_sub(offset_of!(ucs_piecewise_segment_t, list));
        // SAFETY: a link of the ring.
        link = unsafe { (*link).next };
        Some(segment.cast())
    })
}

/// Frees the parts.
///
/// # Safety
/// `function` was made by `init`, and is given up.
pub unsafe fn cleanup(function: *mut ucs_piecewise_func_t) {
    // SAFETY: the caller's object; the iterator is ahead of what is freed.
    for segment in unsafe { segments(function) } {
        // SAFETY: a part that `insert_behind` made.
        unsafe { heap::free(segment.cast()) };
    }
    // SAFETY: the caller's object.
    let head = unsafe { &raw mut (*function).head };
    // SAFETY: as above.
    unsafe {
        head.write(ucs_list_link {
            prev: head,
            next: head,
        })
    };
}

/// The value at `x`.
///
/// # Safety
/// `function` was made by `init`.
pub unsafe fn apply(function: *const ucs_piecewise_func_t, x: usize) -> f64 {
    // SAFETY: the caller's object.
    for segment in unsafe { segments(function) } {
        // SAFETY: a part of it.
        let part = unsafe { segment.read() };
        if x <= part.end {
            return part.func.c + part.func.m * x as f64;
        }
    }
    0.0
}

/// Lets a part end at `end`: splits the one that `end` is in.
///
/// # Safety
/// `function` was made by `init`.
unsafe fn split(function: *mut ucs_piecewise_func_t, end: usize) -> Result<()> {
    // SAFETY: the caller's object.
    for segment in unsafe { segments(function) } {
        // SAFETY: a part of it.
        let part = unsafe { segment.read() };
        if part.end < end {
            continue;
        }
        if part.end > end {
            // SAFETY: the link before the part.
            unsafe { insert_behind(part.list.prev, part.func, end) }?;
        }
        return Ok(());
    }
    Ok(())
}

/// Adds a linear function in `start..=end`.
///
/// # Safety
/// `function` was made by `init`.
pub unsafe fn add_range(
    function: *mut ucs_piecewise_func_t,
    start: usize,
    end: usize,
    added: ucs_linear_func_t,
) -> Result<()> {
    if start > end {
        return Err(Status::INVALID_PARAM);
    }
    if let Some(before) = start.checked_sub(1) {
        // SAFETY: the caller's object.
        unsafe { split(function, before) }?;
    }
    // SAFETY: as above.
    unsafe { split(function, end) }?;
    // SAFETY: as above.
    for segment in unsafe { segments(function) } {
        // SAFETY: a part of it; no callback runs meanwhile.
        let part = unsafe { &mut *segment };
        if part.end >= start && part.end <= end {
            part.func.c += added.c;
            part.func.m += added.m;
        }
    }
    Ok(())
}

/// Adds another function.
///
/// # Safety
/// Both were made by `init`.
pub unsafe fn add(
    function: *mut ucs_piecewise_func_t,
    other: *const ucs_piecewise_func_t,
) -> Result<()> {
    let mut start = 0;
    // SAFETY: the caller's object. It may be the function itself: its parts end where they have to, none is split.
    for segment in unsafe { segments(other) } {
        // SAFETY: a part of it.
        let part = unsafe { segment.read() };
        // SAFETY: the caller's object.
        unsafe { add_range(function, start, part.end, part.func) }?;
        start = part.end.wrapping_add(1);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ucs::test_rng::TestRng;
    use core::mem::MaybeUninit;

    #[test]
    fn sums_of_ranges_are_what_they_are_point_by_point() {
        for seed in 1..100 {
            let rng = TestRng::new(seed);
            let mut places = [MaybeUninit::uninit(), MaybeUninit::uninit()];
            let functions = places.each_mut().map(MaybeUninit::as_mut_ptr);
            let mut oracles = [[0f64; 64]; 2];
            for (function, oracle) in functions.into_iter().zip(&mut oracles) {
                // SAFETY: a function of this test, here and below.
                unsafe { init(function) }.unwrap();
                for _ in 0..12 {
                    let (a, b) = (rng.below(64), rng.below(64));
                    let added = ucs_linear_func_t {
                        c: rng.below(100) as f64,
                        m: rng.below(100) as f64,
                    };
                    // SAFETY: as above.
                    let done = unsafe { add_range(function, a, b, added) };
                    assert_eq!(done.is_ok(), a <= b);
                    for (x, y) in oracle.iter_mut().enumerate() {
                        if a <= x && x <= b {
                            *y += added.c + added.m * x as f64;
                        }
                    }
                }
            }
            // SAFETY: as above.
            unsafe { add(functions[0], functions[1]) }.unwrap();
            for (x, (a, b)) in oracles[0].iter().zip(&oracles[1]).enumerate() {
                // SAFETY: as above.
                let value = unsafe { apply(functions[0], x) };
                assert_eq!(value, a + b, "seed {seed} at {x}");
            }
            // SAFETY: as above.
            assert_eq!(unsafe { apply(functions[0], usize::MAX) }, 0.0);
            for function in functions {
                // SAFETY: as above.
                unsafe { cleanup(function) };
            }
        }
    }
}
