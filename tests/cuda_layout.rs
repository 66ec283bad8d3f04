//! The constants of `src/c/cuda.rs` are those of NVIDIA's `cuda.h`: one `_Static_assert` each, compiled by the C
//! compiler. `tests/cuda` runs this with the header's folder in CUDA_INCLUDE.

use ferrucx::c::cuda::CUDA_CONSTANTS;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// How many assertions fail when `shift` is added to every expected value.
fn failures(shift: u64) -> (usize, String) {
    let mut text = String::from("#include <cuda.h>\n");
    for (name, value) in CUDA_CONSTANTS {
        let value = value + shift;
        writeln!(text, "_Static_assert({name} == {value}, \"{name}\");").unwrap();
    }
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cuda_layout_{shift}.c"));
    std::fs::write(&file, text).unwrap();
    let include = std::env::var_os("CUDA_INCLUDE").expect("CUDA_INCLUDE");
    let out = Command::new("cc")
        .args(["-fsyntax-only", "-fmax-errors=0", "-I"])
        .arg(include)
        .arg(&file)
        .output()
        .expect("the C compiler");
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    let count = said.matches("static assertion failed").count();
    assert_eq!(out.status.success(), count == 0, "{said}");
    (count, said)
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
