//! Processors: their number, the frequency of their counter, and the affinity of threads.
#![forbid(unsafe_code)]

use super::safe_calls;
pub use super::safe_calls::CpuMask as Mask;
#[cfg(target_arch = "x86_64")]
use super::safe_calls::cpuid;
use core::num::NonZeroUsize;
use once_cell::race::OnceNonZeroUsize;
use std::io;

/// The rate of the time-stamp counter where CPUID states it: leaf 0x15, or a hypervisor's timing
/// leaf.
#[cfg(target_arch = "x86_64")]
pub fn stated_cycles_per_sec() -> Option<f64> {
    if cpuid(0).eax >= 0x15 {
        let leaf = cpuid(0x15);
        if leaf.eax != 0 && leaf.ebx != 0 && leaf.ecx != 0 {
            return Some(f64::from(leaf.ecx) * f64::from(leaf.ebx) / f64::from(leaf.eax));
        }
    }
    const HYPERVISOR: u32 = 0x4000_0000;
    let under_hypervisor = cpuid(1).ecx >> 31 == 1;
    if under_hypervisor && cpuid(HYPERVISOR).eax >= HYPERVISOR + 0x10 {
        let khz = cpuid(HYPERVISOR + 0x10).eax;
        if khz != 0 {
            return Some(f64::from(khz) * 1e3);
        }
    }
    None
}

/// Whether the string instructions copy in large steps (ERMS, FSRM), as CPUID states.
#[cfg(target_arch = "x86_64")]
pub fn has_fast_string_copy() -> bool {
    const ENHANCED: u32 = 1 << 9;
    const FAST_SHORT: u32 = 1 << 4;
    if cpuid(0).eax < 7 {
        return false;
    }
    let features = cpuid(7);
    features.ebx & ENHANCED != 0 || features.edx & FAST_SHORT != 0
}

/// Processors configured in the system; at least one.
pub fn count() -> usize {
    let n = safe_calls::sysconf(libc::_SC_NPROCESSORS_CONF);
    usize::try_from(n).map_or(1, |n| n.max(1))
}

/// Bytes of the largest cache that a processor has for itself; 1 MiB where nobody says it.
pub fn own_cache_bytes() -> usize {
    static BYTES: OnceNonZeroUsize = OnceNonZeroUsize::new();
    const UNSTATED: NonZeroUsize = NonZeroUsize::new(1 << 20).unwrap();
    let stated = || {
        let n = safe_calls::sysconf(libc::_SC_LEVEL2_CACHE_SIZE);
        usize::try_from(n).ok().and_then(NonZeroUsize::new)
    };
    BYTES.get_or_init(|| stated().unwrap_or(UNSTATED)).get()
}

/// The processors that this thread may run on.
pub fn affinity() -> io::Result<Mask> {
    let mut mask = Mask::default();
    safe_calls::sched_getaffinity(&mut mask)?;
    Ok(mask)
}

/// Binds this thread to processors.
pub fn set_affinity(mask: &Mask) -> io::Result<()> {
    safe_calls::sched_setaffinity(mask)
}

/// Whether a processor is in the mask.
pub fn is_set(mask: &Mask, cpu: usize) -> bool {
    const BITS: usize = core::ffi::c_ulong::BITS as usize;
    mask.get(cpu / BITS)
        .is_some_and(|word| word >> (cpu % BITS) & 1 == 1)
}

/// Keeps the calling thread on some processors; dropped, it may run where it could before.
pub struct Near {
    before: Option<Mask>,
}

impl Near {
    /// Moves the thread to processors of `mask`; it stays where it is when it may use none of them.
    pub fn to(mask: &Mask) -> Near {
        let before = affinity().ok();
        Near {
            before: before.filter(|_| set_affinity(mask).is_ok()),
        }
    }
}

impl Drop for Near {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // It was allowed a moment ago; if it is not any more, the thread stays where it is.
            let _ = set_affinity(before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed() -> Vec<usize> {
        let mask = affinity().unwrap();
        (0..1024).filter(|cpu| is_set(&mask, *cpu)).collect()
    }

    #[test]
    fn a_thread_comes_back_from_where_it_was_moved() {
        let all = allowed();
        let last = *all.last().unwrap();
        let mut mask: Mask = [0; 16];
        mask[last / 64] = 1 << (last % 64);
        let near = Near::to(&mask);
        assert_eq!(allowed(), [last]);
        drop(near);
        assert_eq!(allowed(), all);
        drop(Near::to(&[0; 16]));
        assert_eq!(allowed(), all);
    }
}
