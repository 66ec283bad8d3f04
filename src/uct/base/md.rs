//! Handles of components and memory domains as C sees them.

use crate::c::*;
use crate::uct::api::{Component, Md};

/// The object of `uct_component_h`.
pub struct ComponentHandle {
    pub component: &'static dyn Component,
}

/// The object of `uct_md_h`.
pub struct MdHandle {
    pub component: &'static ComponentHandle,
    pub name: String,
    pub md: Box<dyn Md>,
}

impl ComponentHandle {
    pub fn as_c(&'static self) -> uct_component_h {
        core::ptr::from_ref(self).cast_mut().cast()
    }

    /// The handle behind C's pointer, `None` for null.
    ///
    /// # Safety
    /// `h` must be null or come from `as_c`.
    pub unsafe fn from_c(h: uct_component_h) -> Option<&'static ComponentHandle> {
        // SAFETY: `as_c` gave out only references to statics.
        unsafe { h.cast::<ComponentHandle>().as_ref() }
    }
}

impl MdHandle {
    /// # Safety
    /// `h` must be null or an open memory domain.
    pub unsafe fn from_c<'a>(h: uct_md_h) -> Option<&'a MdHandle> {
        // SAFETY: `uct_md_open` gave out a leaked box, alive until `uct_md_close`.
        unsafe { h.cast::<MdHandle>().as_ref() }
    }
}
