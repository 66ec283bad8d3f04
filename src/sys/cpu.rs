//! Processors: their number, the frequency of their counter, and the affinity of threads.

/// The rate of the time-stamp counter where CPUID states it: leaf 0x15, or a hypervisor's timing
/// leaf.
#[cfg(target_arch = "x86_64")]
pub fn stated_cycles_per_sec() -> Option<f64> {
    use core::arch::x86_64::__cpuid;
    if __cpuid(0).eax >= 0x15 {
        let leaf = __cpuid(0x15);
        if leaf.eax != 0 && leaf.ebx != 0 && leaf.ecx != 0 {
            return Some(f64::from(leaf.ecx) * f64::from(leaf.ebx) / f64::from(leaf.eax));
        }
    }
    const HYPERVISOR: u32 = 0x4000_0000;
    let under_hypervisor = __cpuid(1).ecx >> 31 == 1;
    if under_hypervisor && __cpuid(HYPERVISOR).eax >= HYPERVISOR + 0x10 {
        let khz = __cpuid(HYPERVISOR + 0x10).eax;
        if khz != 0 {
            return Some(f64::from(khz) * 1e3);
        }
    }
    None
}

/// Whether the string instructions copy in large steps (ERMS, FSRM), as CPUID states.
#[cfg(target_arch = "x86_64")]
pub fn has_fast_string_copy() -> bool {
    use core::arch::x86_64::{__cpuid, __cpuid_count};
    const ENHANCED: u32 = 1 << 9;
    const FAST_SHORT: u32 = 1 << 4;
    if __cpuid(0).eax < 7 {
        return false;
    }
    let features = __cpuid_count(7, 0);
    features.ebx & ENHANCED != 0 || features.edx & FAST_SHORT != 0
}

/// Processors configured in the system; at least one.
pub fn count() -> usize {
    // SAFETY: takes no pointer.
    let n = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
    usize::try_from(n).map_or(1, |n| n.max(1))
}

/// Processors by number, a bit for each.
pub type Mask = [core::ffi::c_ulong; 16];

/// Keeps the calling thread on some processors; dropped, it may run where it could before.
pub struct Near {
    before: Option<libc::cpu_set_t>,
}

impl Near {
    /// Moves the thread to processors of `mask`; it stays where it is when it may use none of them.
    pub fn to(mask: &Mask) -> Near {
        const SIZE: usize = size_of::<libc::cpu_set_t>();
        const { assert!(size_of::<Mask>() == SIZE) };
        // SAFETY: integers: zero is a value.
        let mut before: libc::cpu_set_t = unsafe { core::mem::zeroed() };
        // SAFETY: 0 is the calling thread; the sets have the stated size.
        let moved = unsafe {
            libc::sched_getaffinity(0, SIZE, &mut before) == 0
                && libc::sched_setaffinity(0, SIZE, mask.as_ptr().cast()) == 0
        };
        Near {
            before: moved.then_some(before),
        }
    }
}

impl Drop for Near {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // SAFETY: a set of this size. It was allowed a moment ago; if it is not any more, the
            // thread stays where it is.
            unsafe { libc::sched_setaffinity(0, size_of_val(before), before) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed() -> Vec<usize> {
        // SAFETY: integers; the set has the stated size.
        unsafe {
            let mut set: libc::cpu_set_t = core::mem::zeroed();
            assert_eq!(libc::sched_getaffinity(0, size_of_val(&set), &mut set), 0);
            (0..1024).filter(|i| libc::CPU_ISSET(*i, &set)).collect()
        }
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
