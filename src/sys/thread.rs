//! Which thread this is, by one instruction.

/// A number that no other living thread of this process has; never 0. Once a thread has ended a new one may get its.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
pub fn here() -> u64 {
    let pointer: u64;
    // SAFETY: the ABI keeps the thread pointer of each thread at the start of its own control block.
    unsafe {
        core::arch::asm!("mov {}, fs:0", out(reg) pointer, options(pure, readonly, nostack, preserves_flags))
    };
    pointer
}

/// A number that no other living thread of this process has; never 0. Once a thread has ended a new one may get its.
#[cfg(all(target_arch = "aarch64", not(miri)))]
#[inline(always)]
pub fn here() -> u64 {
    let pointer: u64;
    // SAFETY: reads the thread pointer, which Linux leaves to user space.
    unsafe {
        core::arch::asm!("mrs {}, tpidr_el0", out(reg) pointer, options(pure, nomem, nostack, preserves_flags))
    };
    pointer
}

/// A number that no other living thread of this process has; never 0. Once a thread has ended a new one may get its.
#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub fn here() -> u64 {
    thread_local!(static WORD: u8 = const { 0 });
    WORD.with(|word| core::ptr::from_ref(word).addr() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_live_together_differ() {
        let mine = here();
        assert_eq!(mine, here());
        assert_ne!(mine, 0);
        assert_ne!(std::thread::spawn(here).join().unwrap(), mine);
    }
}
