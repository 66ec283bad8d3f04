//! `ucs_time_t`: ticks of the processor's counter, and their rate.
//!
//! C clients read the counter inline, as the library does: the two must agree on what a tick is.
#![forbid(unsafe_code)]

use crate::sys::clock;
use once_cell::race::OnceBox;
use std::time::Duration;

/// How long the counter is measured against the clock where nobody states its rate.
#[cfg(target_arch = "x86_64")]
const MEASURE: Duration = Duration::from_millis(5);

/// Ticks a second.
pub fn ticks_per_sec() -> f64 {
    static RATE: OnceBox<f64> = OnceBox::new();
    *RATE.get_or_init(|| Box::new(rate()))
}

/// The time since an unspecified start, in ticks.
pub fn now() -> u64 {
    clock::cycles()
}

/// How long `ticks` are.
pub fn duration_of(ticks: u64) -> Duration {
    Duration::try_from_secs_f64(ticks as f64 / ticks_per_sec()).unwrap_or(Duration::MAX)
}

#[cfg(target_arch = "x86_64")]
fn rate() -> f64 {
    crate::sys::cpu::stated_cycles_per_sec().unwrap_or_else(measured)
}

#[cfg(target_arch = "aarch64")]
fn rate() -> f64 {
    clock::stated_cycles_per_sec()
}

#[cfg(target_arch = "x86_64")]
fn measured() -> f64 {
    let (start_ns, start) = closest_pair();
    // Not a loop, whose instructions would be as many as the processor has time for.
    std::thread::sleep(MEASURE);
    let (end_ns, end) = closest_pair();
    end.wrapping_sub(start) as f64 * 1e9 / (end_ns - start_ns) as f64
}

/// Clock and counter read together: of a few tries the one that took least.
#[cfg(target_arch = "x86_64")]
fn closest_pair() -> (u64, u64) {
    let tries = (0..8).map(|_| {
        let before = clock::cycles();
        let ns = clock::monotonic_ns();
        let after = clock::cycles();
        (after.wrapping_sub(before), (ns, before))
    });
    tries.min_by_key(|(took, _)| *took).map_or((0, 0), |t| t.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_clock() {
        let (ns, ticks) = (clock::monotonic_ns(), now());
        while clock::monotonic_ns() - ns < 20_000_000 {
            core::hint::spin_loop();
        }
        let clock = (clock::monotonic_ns() - ns) as f64;
        let counter = duration_of(now() - ticks).as_nanos() as f64;
        assert!((clock / counter - 1.0).abs() < 0.05, "{clock} {counter}");
    }
}
