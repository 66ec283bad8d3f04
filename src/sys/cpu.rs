//! What the processor says about itself, and how many there are.

/// The processor's maker and its numbers, as CPUID gives them.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Identity {
    pub vendor: [u8; 12],
    pub family: u32,
    pub model: u32,
}

#[cfg(target_arch = "x86_64")]
pub fn identity() -> Identity {
    use core::arch::x86_64::__cpuid;
    let zero = __cpuid(0);
    let mut vendor = [0; 12];
    for (word, bytes) in [zero.ebx, zero.edx, zero.ecx]
        .iter()
        .zip(vendor.chunks_exact_mut(4))
    {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    let version = __cpuid(1).eax;
    let family = (version >> 8) & 0xf;
    let model = (version >> 4) & 0xf;
    Identity {
        vendor,
        family: if family == 0xf {
            family + ((version >> 20) & 0xff)
        } else {
            family
        },
        model: if family == 6 || family == 0xf {
            model | ((version >> 12) & 0xf0)
        } else {
            model
        },
    }
}

#[cfg(not(target_arch = "x86_64"))]
pub fn identity() -> Identity {
    Identity::default()
}

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

/// Bytes in a page.
pub fn page_size() -> usize {
    // SAFETY: takes no pointer.
    let n = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(n).unwrap_or(4096)
}
