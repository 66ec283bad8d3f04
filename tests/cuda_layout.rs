//! The constants of `src/c/cuda.rs` are those of NVIDIA's `cuda.h`: one `_Static_assert` each, compiled by the C
//! compiler. `tests/cuda` runs this with the header's folder in CUDA_INCLUDE.

mod c_assertions;

use ferrucx::c::cuda::CUDA_CONSTANTS;
use std::ffi::OsStr;
use std::fmt::Write;

/// How many assertions fail when `shift` is added to every expected value.
fn failures(shift: u64) -> (usize, String) {
    let mut text = String::from("#include <cuda.h>\n");
    for (name, value) in CUDA_CONSTANTS {
        let value = value + shift;
        writeln!(text, "_Static_assert({name} == {value}, \"{name}\");").unwrap();
    }
    let include = std::env::var_os("CUDA_INCLUDE").expect("CUDA_INCLUDE");
    let folder = [OsStr::new("-I"), &include];
    c_assertions::failures(&format!("cuda_layout_{shift}"), &text, &folder)
}

#[test]
fn constants_are_those_of_the_header() {
    assert!(!CUDA_CONSTANTS.is_empty());
    let (failed, said) = failures(0);
    assert_eq!(failed, 0, "{said}");
}

/// Every assertion can fail.
#[test]
fn wrong_values_are_found() {
    assert_eq!(failures(1).0, CUDA_CONSTANTS.len());
}
