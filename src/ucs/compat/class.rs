//! Chains of destructors, `ucs/type/class.h`.

use crate::c::ucs_class;
use core::ffi::c_void;

/// Calls the destructors of a class and of those above it, the class's first. With a limit that is not negative, only
/// so many at the top are called: an object whose constructors ended well up to there.
///
/// # Safety
/// `class` is the class of `object`, or one above it.
pub unsafe fn cleanup_chain(class: *mut ucs_class, object: *mut c_void, limit: i32) {
    let classes = || {
        core::iter::successors(core::ptr::NonNull::new(class), |at| {
            // SAFETY: a class of the chain.
            core::ptr::NonNull::new(unsafe { at.as_ref() }.superclass)
        })
    };
    let left_out = match usize::try_from(limit) {
        Ok(limit) => classes().count().saturating_sub(limit),
        Err(_) => 0,
    };
    for class in classes().skip(left_out) {
        // SAFETY: a class of the chain.
        if let Some(cleanup) = unsafe { class.as_ref() }.cleanup {
            // SAFETY: the client's destructor, with the object as the class's.
            unsafe { cleanup(object) };
        }
    }
}
