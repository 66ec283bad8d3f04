//! A machine without RDMA devices is not troubled: libibverbs is loaded only where the kernel has a device.

use ferrucx::abi::uct::component;
use ferrucx::c::*;
use std::ptr::null_mut;

#[test]
fn libibverbs_is_loaded_only_where_there_is_a_device() {
    let device = std::fs::read_dir("/sys/class/infiniband")
        .is_ok_and(|mut entries| entries.next().is_some());
    let (mut list, mut count) = (null_mut(), 0);
    // SAFETY: writable results; the list is released after its last use.
    unsafe {
        assert_eq!(
            component::uct_query_components(&mut list, &mut count),
            UCS_OK
        );
        for i in 0..count as usize {
            let mut attr: uct_component_attr = std::mem::zeroed();
            attr.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT.into();
            assert_eq!(
                component::uct_component_query(*list.add(i), &mut attr),
                UCS_OK
            );
        }
        component::uct_release_component_list(list);
    }
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    assert_eq!(maps.contains("libibverbs"), device);
}
