//! Hints to the processor which lines are needed soon.

use super::ring::LINE;

/// Has some lines brought near.
#[inline(always)]
pub fn prefetch(at: *const u8, lines: usize) {
    for line in 0..lines {
        prefetch_line(at.wrapping_add(line * LINE));
    }
}

/// Has some lines brought near that will be written.
#[inline(always)]
pub fn prefetch_to_write(at: *const u8, lines: usize) {
    for line in 0..lines {
        prefetch_line_to_write(at.wrapping_add(line * LINE));
    }
}

#[inline(always)]
fn prefetch_line(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: any address may be prefetched.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

#[inline(always)]
fn prefetch_line_to_write(at: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: any address may be prefetched; processors without the instruction do nothing.
    unsafe {
        core::arch::asm!("prefetchw [{}]", in(reg) at, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = at;
}
