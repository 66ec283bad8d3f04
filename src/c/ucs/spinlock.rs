//! `ucs/type/spinlock.h`: types and constants.

use crate::c::prelude::*;

/// A lock that spins.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_spinlock {
    /// The lock of the C library.
    pub lock: pthread_spinlock_t,
}
const _: () = {
    assert!(size_of::<ucs_spinlock>() == 4);
    assert!(offset_of!(ucs_spinlock, lock) == 0);
};

pub type ucs_spinlock_t = ucs_spinlock;

/// A lock that its owner may take again.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_recursive_spinlock {
    /// The lock.
    pub super_: ucs_spinlock_t,
    /// How often the owner has it.
    pub count: c_int,
    /// The owner.
    pub owner: pthread_t,
}
const _: () = {
    assert!(size_of::<ucs_recursive_spinlock>() == 16);
    assert!(offset_of!(ucs_recursive_spinlock, super_) == 0);
    assert!(offset_of!(ucs_recursive_spinlock, count) == 4);
    assert!(offset_of!(ucs_recursive_spinlock, owner) == 8);
};

pub type ucs_recursive_spinlock_t = ucs_recursive_spinlock;

c_enum! {
    /// Flags of a lock.
    pub enum ucs_spinlock_flag_shared_bits: c_uint {
        /// It is in memory that processes share.
        UCS_SPINLOCK_FLAG_SHARED = 1 << 0,
    }
}
