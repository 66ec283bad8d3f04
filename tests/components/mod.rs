//! The components that a process has.

use ferrucx::abi::uct::component;
use ferrucx::c::*;
use std::ffi::{CStr, CString};
use std::ptr::null_mut;

/// The names of all components; each has been asked for its memory domains.
pub fn names() -> Vec<CString> {
    let (mut list, mut count) = (null_mut(), 0);
    let mut names = Vec::new();
    // SAFETY: writable results; the list is released after its last use.
    unsafe {
        assert_eq!(
            component::uct_query_components(&mut list, &mut count),
            UCS_OK
        );
        for i in 0..count as usize {
            let mut attr: uct_component_attr = std::mem::zeroed();
            attr.field_mask = u64::from(
                UCT_COMPONENT_ATTR_FIELD_NAME | UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT,
            );
            assert_eq!(
                component::uct_component_query(*list.add(i), &mut attr),
                UCS_OK
            );
            names.push(CStr::from_ptr(attr.name.as_ptr()).to_owned());
        }
        component::uct_release_component_list(list);
    }
    names
}
