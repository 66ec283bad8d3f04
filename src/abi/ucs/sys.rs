//! What tools ask of the system: pages, processors, affinity, the library's file, modules.

use crate::abi::args::non_null;
use crate::c::prelude::*;
use crate::sys::{clock, cpu, machine, mem, process, random};
use crate::ucs::plug_ins;
use once_cell::race::OnceBox;
use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStringExt;

/// Bytes in a page.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_get_page_size() -> usize {
    mem::page_size()
}

/// Processors of the system.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_sys_get_num_cpus() -> c_long {
    cpu::count() as c_long
}

/// The processors that this thread may run on; -1 on failure.
///
/// # Safety
/// `cpuset` is null or a writable `cpu_set_t`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_sys_getaffinity(cpuset: *mut libc::cpu_set_t) -> c_int {
    non_null!(-1; cpuset);
    match cpu::affinity() {
        Ok(set) => {
            // SAFETY: checked above; the caller vouches for it.
            unsafe { cpuset.cast::<cpu::Mask>().write(set) };
            0
        }
        Err(_) => -1,
    }
}

/// Binds this thread to processors; -1 on failure.
///
/// # Safety
/// `cpuset` is null or a `cpu_set_t`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_sys_setaffinity(cpuset: *mut libc::cpu_set_t) -> c_int {
    non_null!(-1; cpuset);
    // SAFETY: checked above; the caller vouches for it.
    match cpu::set_affinity(unsafe { &*cpuset.cast::<cpu::Mask>() }) {
        Ok(()) => 0,
        Err(_) => -1,
    }
}

/// The file that this library was loaded from.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_sys_get_lib_path() -> *const c_char {
    static PATH: OnceBox<CString> = OnceBox::new();
    let path = PATH.get_or_init(|| {
        let path = machine::own_path().unwrap_or_default();
        Box::new(CString::new(path.into_os_string().into_vec()).unwrap_or_default())
    });
    path.as_ptr()
}

/// The machine's product name as its firmware has it.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_sys_dmi_product_name() -> *const c_char {
    static NAME: OnceBox<CString> = OnceBox::new();
    let name = NAME.get_or_init(|| {
        let name = machine::product_name().unwrap_or_else(|| "unknown".into());
        Box::new(CString::new(name).unwrap_or_default())
    });
    name.as_ptr()
}

/// A number that no other call, process or machine is likely to get.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_generate_uuid(seed: u64) -> u64 {
    if let Ok(number) = random::random_u64() {
        return number ^ seed;
    }
    let parts = [clock::wall_us(), clock::cycles(), u64::from(process::tid())];
    parts.iter().fold(seed, |mixed, part| {
        (mixed ^ part)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29)
    })
}

/// Loads the plug-ins of a framework (`libFRAMEWORK_NAME.so.0`), once for each `init_once`, where `ucs::plug_ins` looks for them.
/// `flags`: bit 1 lets other libraries find their symbols. `ucs/sys/module.h`, not installed.
///
/// # Safety
/// `framework` is null or a C string; `init_once` is null or a live, initialised object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_load_modules(
    framework: *const c_char,
    _expected_modules: *const c_char,
    init_once: *mut ucs_init_once_t,
    flags: c_uint,
) {
    /// The other flag has plug-ins stay loaded, which all do.
    const GLOBAL: c_uint = 1 << 1;
    non_null!(; framework, init_once);
    // SAFETY: checked above; the caller vouches for it.
    let framework = unsafe { CStr::from_ptr(framework) }.to_string_lossy();
    // SAFETY: as above.
    let lock = unsafe { &raw mut (*init_once).lock };
    // SAFETY: as above.
    let initialized = unsafe { &raw mut (*init_once).initialized };
    let load = || plug_ins::load(&framework, flags & GLOBAL != 0);
    // SAFETY: both belong to the caller's live object.
    unsafe { process::once(lock, initialized, load) };
}
