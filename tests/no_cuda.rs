//! A machine without NVIDIA's devices is not troubled: the driver is loaded only where the kernel has one, or where
//! UCX_CUDA_DRIVER demands it, and the component is told of only there.

use ferrucx::abi::uct::component;
use ferrucx::c::*;
use std::ffi::CStr;
use std::path::Path;
use std::ptr::null_mut;

#[test]
fn the_driver_is_loaded_only_where_there_is_a_device() {
    let device = ["/dev/nvidiactl", "/dev/dxg"]
        .iter()
        .any(|node| Path::new(node).exists());
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
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    assert_eq!(maps.contains("libcuda"), device);
    assert_eq!(names.iter().any(|name| *name == c"cuda_cpy"), device);
    assert!(names.iter().any(|name| *name == c"self"), "{names:?}");
}
