//! Compiles C text that consists of static assertions, and counts those that fail.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

/// How many assertions of `text` fail, and what the compiler says. `name` is the file's; `args` are the compiler's.
pub fn failures<A: AsRef<OsStr>>(name: &str, text: &str, args: &[A]) -> (usize, String) {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.c"));
    std::fs::write(&file, text).unwrap();
    let out = Command::new("cc")
        .args(["-fsyntax-only", "-fmax-errors=0"])
        .args(args)
        .arg(&file)
        .output()
        .expect("the C compiler");
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    let count = said.matches("static assertion failed").count();
    assert_eq!(out.status.success(), count == 0, "{said}");
    (count, said)
}
