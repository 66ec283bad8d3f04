//! Which thread this is, by one instruction.

/// A number that no other living thread of this process has; never 0. Once a thread has ended a new one may get its.
#[inline(always)]
pub fn here() -> u64 {
    pointer()
}

/// The thread pointer, which the ABI also keeps at the start of what it points to.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn pointer() -> u64 {
    let pointer: u64;
    // SAFETY: reads the first word of the thread's own control block.
    unsafe {
        core::arch::asm!("mov {}, fs:0", out(reg) pointer, options(pure, readonly, nostack, preserves_flags))
    };
    pointer
}

/// The thread pointer, which Linux leaves to user space.
#[cfg(all(target_arch = "aarch64", not(miri)))]
#[inline(always)]
fn pointer() -> u64 {
    let pointer: u64;
    // SAFETY: reads a register.
    unsafe {
        core::arch::asm!("mrs {}, tpidr_el0", out(reg) pointer, options(pure, nomem, nostack, preserves_flags))
    };
    pointer
}

#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn pointer() -> u64 {
    thread_local!(static PLACE: u8 = const { 0 });
    PLACE.with(|place| core::ptr::from_ref(place) as u64)
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
