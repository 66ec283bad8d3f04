//! `ucs/datastruct/callbackq.h`: types and constants.

use crate::c::prelude::*;

/// Callbacks that are called directly.
pub const UCS_CALLBACKQ_FAST_COUNT: c_uint = 7;
/// No callback.
pub const UCS_CALLBACKQ_ID_NULL: c_int = -1;

pub type ucs_callbackq_t = ucs_callbackq;

pub type ucs_callbackq_elem_t = ucs_callbackq_elem;

opaque! {
    /// The part of a queue that is the library's.
    pub struct ucs_callbackq_priv
}

pub type ucs_callbackq_priv_t = ucs_callbackq_priv;

/// Names callbacks that are removed together.
pub type ucs_callbackq_key_t = *mut c_void;

/// Makes progress; returns how much.
///
/// - `arg` (in): As it was given with the callback.
/// - returns: How much was done.
pub type ucs_callback_t = Option<unsafe extern "C" fn(arg: *mut c_void) -> c_uint>;

/// Chooses callbacks: nonzero for those meant.
///
/// - `elem` (in): A callback and its argument.
/// - `arg` (in): As it was given to the caller.
/// - returns: Nonzero for those that are meant.
pub type ucs_callbackq_predicate_t =
    Option<unsafe extern "C" fn(elem: *const ucs_callbackq_elem_t, arg: *mut c_void) -> c_int>;

/// One callback.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_callbackq_elem {
    /// The function; NULL ends the array.
    pub cb: ucs_callback_t,
    /// Its argument.
    pub arg: *mut c_void,
}
const _: () = {
    assert!(size_of::<ucs_callbackq_elem>() == 16);
    assert!(offset_of!(ucs_callbackq_elem, cb) == 0);
    assert!(offset_of!(ucs_callbackq_elem, arg) == 8);
};

/// A queue of callbacks, as inline functions walk it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_callbackq {
    /// What is called.
    pub fast_elems: [ucs_callbackq_elem_t; 8],
    /// The library's part.
    pub r#priv: *mut ucs_callbackq_priv_t,
}
const _: () = {
    assert!(size_of::<ucs_callbackq>() == 136);
    assert!(offset_of!(ucs_callbackq, fast_elems) == 0);
    assert!(offset_of!(ucs_callbackq, r#priv) == 128);
};
