//! Processor: the tick counter that clients read inline, names, `ucs/arch/global_opts.h`.

use crate::c::prelude::*;
use crate::sys::machine;
use crate::ucs::time;
use core::sync::atomic::{AtomicI32, Ordering};
use once_cell::race::OnceBox;
use std::ffi::CString;

/// Values of `ucs_arch_x86_enable_rdtsc`.
const YES: c_int = 1;
const TRY: c_int = 2;

/// Whether inline code reads the cycle counter; "try" until someone asks for its rate. Executables
/// hold the object; the library reaches it by name.
#[unsafe(no_mangle)]
pub static ucs_arch_x86_enable_rdtsc: AtomicI32 = AtomicI32::new(TRY);

/// Finds the counter's rate, and lets inline code use the counter. Used by tools.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_x86_init_tsc_freq() {
    time::ticks_per_sec();
    ucs_arch_x86_enable_rdtsc.store(YES, Ordering::Relaxed);
}

/// Ticks of inline `ucs_get_time` in a second. Used by tools.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_get_cpu_clocks_per_sec() -> c_double {
    ucs_x86_init_tsc_freq();
    time::ticks_per_sec()
}

/// Vendors and models by the numbers of 1.13.1, whose tool alone asks by number; a model that it
/// has no name for is 0.
const VENDORS: [&str; 7] = [
    "unknown",
    "Intel",
    "AMD",
    "Generic ARM",
    "Generic PPC",
    "Fujitsu ARM",
    "Zhaoxin",
];
const MODELS: [&str; 15] = [
    "unknown",
    "IvyBridge",
    "SandyBridge",
    "Nehalem",
    "Westmere",
    "Haswell",
    "Broadwell",
    "Skylake",
    "ARM 64-bit",
    "Naples",
    "Rome",
    "Milan",
    "Zhangjiang",
    "Wudaokou",
    "Lujiazui",
];

/// The processor's maker by the numbers of 1.13.1. Used by tools.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_arch_get_cpu_vendor() -> c_int {
    number(&VENDORS, machine::cpu().vendor)
}

/// The processor's model by the numbers of 1.13.1. Used by tools.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_arch_get_cpu_model() -> c_int {
    number(&MODELS, machine::cpu().model)
}

/// The processor's maker. Used by tools.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_cpu_vendor_name() -> *const c_char {
    static NAME: OnceBox<CString> = OnceBox::new();
    NAME.get_or_init(|| name(machine::cpu().vendor)).as_ptr()
}

/// The processor's model. Used by tools.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_cpu_model_name() -> *const c_char {
    static NAME: OnceBox<CString> = OnceBox::new();
    NAME.get_or_init(|| name(machine::cpu().model)).as_ptr()
}

/// Prints for which sizes the library replaces memcpy: for none, so nothing.
/// `ucs/arch/global_opts.h`.
///
/// - `config` (in): Not read.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_arch_print_memcpy_limits(_config: *mut ucs_arch_global_opts_t) {}

fn number(names: &[&str], wanted: Option<&str>) -> c_int {
    let at = names.iter().position(|n| Some(*n) == wanted);
    at.unwrap_or(0) as c_int
}

fn name(found: Option<&str>) -> Box<CString> {
    Box::new(CString::new(found.unwrap_or("unknown")).unwrap_or_default())
}
