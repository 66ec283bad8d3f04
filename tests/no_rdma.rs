//! A machine without RDMA devices is not troubled: libibverbs is loaded only where the kernel has a device.

mod components;

#[test]
fn libibverbs_is_loaded_only_where_there_is_a_device() {
    let device = std::fs::read_dir("/sys/class/infiniband")
        .is_ok_and(|mut entries| entries.next().is_some());
    assert!(!components::names().is_empty());
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    assert_eq!(maps.contains("libibverbs"), device);
}
