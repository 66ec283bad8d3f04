//! `ucs/type/init_once.h`: types and constants.

use crate::c::prelude::*;

/// Runs something once in a process: UCS_INIT_ONCE.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_init_once {
    /// Held meanwhile.
    pub lock: pthread_mutex_t,
    /// Nonzero afterwards.
    pub initialized: c_int,
}
const _: () = {
    // glibc's mutex has 40 bytes on x86_64 and 48 on aarch64.
    assert!(size_of::<ucs_init_once>() == size_of::<pthread_mutex_t>() + 8);
    assert!(offset_of!(ucs_init_once, lock) == 0);
    assert!(offset_of!(ucs_init_once, initialized) == size_of::<pthread_mutex_t>());
};

pub type ucs_init_once_t = ucs_init_once;
