//! `ucs/datastruct/callbackq.h`: types and constants.

use crate::c::prelude::*;

pub const UCS_CALLBACKQ_FAST_COUNT: c_uint = 7;
pub const UCS_CALLBACKQ_ID_NULL: c_int = -1;

pub type ucs_callbackq_t = ucs_callbackq;

pub type ucs_callbackq_elem_t = ucs_callbackq_elem;

opaque! { pub struct ucs_callbackq_priv }

pub type ucs_callbackq_priv_t = ucs_callbackq_priv;

pub type ucs_callbackq_key_t = *mut c_void;

pub type ucs_callback_t = Option<unsafe extern "C" fn(arg: *mut c_void) -> c_uint>;

pub type ucs_callbackq_predicate_t =
    Option<unsafe extern "C" fn(elem: *const ucs_callbackq_elem_t, arg: *mut c_void) -> c_int>;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_callbackq_elem {
    pub cb: ucs_callback_t,
    pub arg: *mut c_void,
}
const _: () = {
    assert!(size_of::<ucs_callbackq_elem>() == 16);
    assert!(offset_of!(ucs_callbackq_elem, cb) == 0);
    assert!(offset_of!(ucs_callbackq_elem, arg) == 8);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_callbackq {
    pub fast_elems: [ucs_callbackq_elem_t; 8],
    pub r#priv: *mut ucs_callbackq_priv_t,
}
const _: () = {
    assert!(size_of::<ucs_callbackq>() == 136);
    assert!(offset_of!(ucs_callbackq, fast_elems) == 0);
    assert!(offset_of!(ucs_callbackq, r#priv) == 128);
};
