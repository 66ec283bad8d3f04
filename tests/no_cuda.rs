//! A machine without NVIDIA's devices is not troubled: the driver is loaded only where the kernel has one, or where
//! UCX_CUDA_DRIVER demands it, and the component is told of only there.

mod components;

use std::path::Path;

#[test]
fn the_driver_is_loaded_only_where_there_is_a_device() {
    let device = ["/dev/nvidiactl", "/dev/dxg"]
        .iter()
        .any(|node| Path::new(node).exists());
    let names = components::names();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    assert_eq!(maps.contains("libcuda"), device);
    assert_eq!(names.iter().any(|name| *name == c"cuda_cpy"), device);
    assert!(names.iter().any(|name| *name == c"self"), "{names:?}");
}
