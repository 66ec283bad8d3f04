//! Clocks: monotonic nanoseconds and the cycle counter behind `ucs_time_t`.

/// Nanoseconds of CLOCK_MONOTONIC.
pub fn monotonic_ns() -> u64 {
    let mut ts = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: a writable local; CLOCK_MONOTONIC always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut ts) };
    ts.tv_sec as u64 * 1_000_000_000 + ts.tv_nsec as u64
}

/// Microseconds since the epoch, as gettimeofday gives them.
pub fn wall_us() -> u64 {
    let mut tv = libc::timeval {
        tv_sec: 0,
        tv_usec: 0,
    };
    // SAFETY: a writable local; the time zone is not asked for.
    unsafe { libc::gettimeofday(&mut tv, core::ptr::null_mut()) };
    tv.tv_sec as u64 * 1_000_000 + tv.tv_usec as u64
}

/// The processor's cycle counter.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn cycles() -> u64 {
    // SAFETY: every x86-64 processor has RDTSC, and Linux leaves it to user space.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// About how many cycles that many nanoseconds are, without asking anybody: at 3 GHz.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn cycles_in(ns: u64) -> u64 {
    ns * 3
}

/// The processor's virtual counter.
#[cfg(target_arch = "aarch64")]
#[inline]
pub fn cycles() -> u64 {
    let ticks: u64;
    // SAFETY: reads a counter register that Linux leaves to user space.
    unsafe {
        core::arch::asm!("isb", "mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack))
    };
    ticks
}

/// How many cycles that many nanoseconds are.
#[cfg(target_arch = "aarch64")]
#[inline]
pub fn cycles_in(ns: u64) -> u64 {
    (ns as f64 * 1e-9 * stated_cycles_per_sec()) as u64
}

/// The rate of `cycles` as the processor states it.
#[cfg(target_arch = "aarch64")]
pub fn stated_cycles_per_sec() -> f64 {
    let hz: u64;
    // SAFETY: reads a constant register that Linux leaves to user space.
    unsafe { core::arch::asm!("mrs {}, cntfrq_el0", out(reg) hz, options(nomem, nostack)) };
    hz as f64
}
