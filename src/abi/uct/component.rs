//! `uct.h`, resources: components.

use crate::abi::args::{free_list, non_null, put_list, put_name};
use crate::abi::ucs::opts;
use crate::c::*;
use crate::uct::base::md::ComponentHandle;
use crate::uct::registry::COMPONENTS;
use core::ffi::c_uint;

/// Lists the components. `*components_p` is freed by `uct_release_component_list`.
///
/// - `components_p` (out): Array of components.
/// - `num_components_p` (out): Their number.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_NO_MEMORY.
///
/// `uct/api/uct.h`, group `md`.
///
/// # Safety
/// Both pointers must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_query_components(
    components_p: *mut *mut uct_component_h,
    num_components_p: *mut c_uint,
) -> ucs_status_t {
    opts::refresh();
    non_null!(UCS_ERR_INVALID_PARAM; components_p, num_components_p);
    let all: Vec<uct_component_h> = COMPONENTS
        .iter()
        .filter(|c| c.component.is_available())
        .map(ComponentHandle::as_c)
        .collect();
    // SAFETY: the caller's out parameters.
    unsafe { put_list(&all, components_p, num_components_p) }
}

/// Frees the list of `uct_query_components`.
///
/// - `components` (in): Array of `uct_query_components`, once; NULL does nothing. The components
///   stay valid.
///
/// `uct/api/uct.h`, group `md`.
///
/// # Safety
/// `components` must be null or such a list, once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_release_component_list(components: *mut uct_component_h) {
    // SAFETY: by the caller's promise.
    unsafe { free_list(components) };
}

/// Tells about a component. The array of memory domains is the caller's: ask for the count first,
/// then for the names.
///
/// - `component` (in): Component of `uct_query_components`.
/// - `component_attr` (in,out): `field_mask` says which members are written; `md_resources` points
///   to room for as many as the count said.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL.
///
/// `uct/api/uct.h`, group `md`.
///
/// # Safety
/// `attr` must be a struct whose masked members are valid; `md_resources`, if asked for, must have
/// room for the count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_component_query(
    component: uct_component_h,
    component_attr: *mut uct_component_attr_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; component, component_attr);
    // SAFETY: a component handle.
    let Some(handle) = (unsafe { ComponentHandle::from_c(component) }) else {
        return UCS_ERR_INVALID_PARAM;
    };
    // SAFETY: the caller's struct, of this size in every release.
    let attr = unsafe { &mut *component_attr };
    let asked = |bit: u32| attr.field_mask & u64::from(bit) != 0;
    let (count, names) = (
        asked(UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT),
        asked(UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES),
    );
    if asked(UCT_COMPONENT_ATTR_FIELD_NAME) {
        put_name(&mut attr.name, handle.component.name());
    }
    if attr.field_mask & u64::from(UCT_COMPONENT_ATTR_FIELD_FLAGS) != 0 {
        attr.flags = handle.component.flags();
    }
    if count || names {
        let domains = handle.domains();
        if names && !attr.md_resources.is_null() {
            for (i, name) in domains.iter().enumerate() {
                // SAFETY: the caller's array has room for the count it was told.
                put_name(unsafe { &mut (*attr.md_resources.add(i)).md_name }, name);
            }
        }
        if count {
            attr.md_resource_count = domains.len() as c_uint;
        }
    }
    UCS_OK
}
