//! Memory types: what a number from C means, and their names.
//!
//! The value of "unknown" moved with releases (5, 6, 9, 10), onto numbers that are device types
//! now. Every number that is not one of the five stable ones means "unknown, find out".
#![forbid(unsafe_code)]

use crate::c;
use core::ffi::CStr;

/// Names and descriptions by number, in the order of 1.22; the last is "unknown".
pub const TYPES: [(&CStr, &CStr); 11] = [
    (c"host", c"System memory"),
    (c"cuda", c"NVIDIA GPU memory"),
    (c"cuda-managed", c"NVIDIA GPU managed/unified memory"),
    (c"rocm", c"AMD/ROCm GPU memory"),
    (c"rocm-managed", c"AMD/ROCm GPU managed memory"),
    (c"rdma", c"RDMA device memory"),
    (c"ze-host", c"Intel/Ze USM host memory"),
    (c"ze-device", c"Intel/Ze GPU memory"),
    (c"ze-managed", c"Intel/Ze GPU managed memory"),
    (c"gaudi", c"HabanaLabs Gaudi memory"),
    (c"unknown", c"unknown"),
];

/// The names, as choices of a variable.
pub const NAMES: [&str; TYPES.len()] = {
    let mut names = [""; TYPES.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = match TYPES[at].0.to_str() {
            Ok(name) => name,
            Err(_) => panic!("a name is ASCII"),
        };
        at += 1;
    }
    names
};

/// What a memory type argument asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemType {
    Host,
    /// Memory of a device.
    Device(u8),
    /// The caller does not know.
    Unknown,
}

/// The largest number with one meaning in all releases.
const LAST_STABLE: c::ucs_memory_type_t = c::UCS_MEMORY_TYPE_ROCM_MANAGED;

impl MemType {
    pub fn from_c(number: c::ucs_memory_type_t) -> MemType {
        match number {
            c::UCS_MEMORY_TYPE_HOST => MemType::Host,
            1..=LAST_STABLE => MemType::Device(number as u8),
            _ => MemType::Unknown,
        }
    }

    pub fn name(self) -> &'static str {
        let at = match self {
            MemType::Host => 0,
            MemType::Device(n) => usize::from(n),
            MemType::Unknown => TYPES.len() - 1,
        };
        NAMES.get(at).copied().unwrap_or("unknown")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_of_every_release_is_unknown() {
        for number in [5, 6, 9, 10, 11, u32::MAX] {
            assert_eq!(MemType::from_c(number), MemType::Unknown);
        }
        assert_eq!(MemType::from_c(0).name(), "host");
        assert_eq!(MemType::from_c(4).name(), "rocm-managed");
        assert_eq!(TYPES.len() as u32, c::UCS_MEMORY_TYPE_LAST + 1);
    }
}
