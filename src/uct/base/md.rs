//! Handles of components and memory domains as C sees them.

use crate::c::*;
use crate::ucs_diag;
use crate::uct::api::{Component, Device, Md, Transport};

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
    /// The names of the domains that can be opened here. If there are none, the reason is logged.
    pub fn domains(&self) -> Vec<&'static str> {
        self.component.md_resources().unwrap_or_else(|why| {
            ucs_diag!("{}: {why}", self.component.name());
            Vec::new()
        })
    }

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
    /// The devices of a transport in this domain. If there are none, the reason is logged.
    pub fn devices(&self, transport: &dyn Transport) -> Vec<Device> {
        transport.devices(self.md.as_ref()).unwrap_or_else(|why| {
            ucs_diag!("{}: {why}", transport.name());
            Vec::new()
        })
    }

    /// # Safety
    /// `h` must be null or an open memory domain.
    pub unsafe fn from_c<'a>(h: uct_md_h) -> Option<&'a MdHandle> {
        // SAFETY: `uct_md_open` gave out a leaked box, alive until `uct_md_close`.
        unsafe { h.cast::<MdHandle>().as_ref() }
    }
}
