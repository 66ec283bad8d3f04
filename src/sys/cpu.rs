//! How many processors there are, and what they state about their counter.

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

/// Processors configured in the system; at least one.
pub fn count() -> usize {
    // SAFETY: takes no pointer.
    let n = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
    usize::try_from(n).map_or(1, |n| n.max(1))
}
