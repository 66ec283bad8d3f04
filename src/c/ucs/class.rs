//! `ucs/type/class.h`: types and constants.

use crate::c::prelude::*;

pub type ucs_class_t = ucs_class;

/// A constructor: after the object come its class, the count of constructors that ended well, and its own arguments.
///
/// - `self` (in): The object.
/// - returns: UCS_OK, or an error.
pub type ucs_class_init_func_t =
    Option<unsafe extern "C" fn(self_: *mut c_void, ...) -> ucs_status_t>;

/// A destructor.
///
/// - `self` (in): The object.
pub type ucs_class_cleanup_func_t = Option<unsafe extern "C" fn(self_: *mut c_void)>;

/// A class.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_class {
    /// Name of the class.
    pub name: *const c_char,
    /// Bytes of an object.
    pub size: usize,
    /// The parent.
    pub superclass: *mut ucs_class_t,
    /// Constructor.
    pub init: ucs_class_init_func_t,
    /// Destructor.
    pub cleanup: ucs_class_cleanup_func_t,
}
const _: () = {
    assert!(size_of::<ucs_class>() == 40);
    assert!(offset_of!(ucs_class, size) == 8);
    assert!(offset_of!(ucs_class, superclass) == 16);
    assert!(offset_of!(ucs_class, init) == 24);
    assert!(offset_of!(ucs_class, cleanup) == 32);
};
