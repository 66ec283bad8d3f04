//! A C and a C++ compiler read every header, alone and with warnings as errors.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Language, its compiler, and the standard that clients build with.
const LANGUAGES: [(&str, &str, &str); 3] = [
    ("c", "CC", "gnu99"),
    ("c", "CC", "gnu11"),
    ("c++", "CXX", "gnu++17"),
];

/// The compiler of a language, told to be strict and where the headers are.
fn strict((language, variable, standard): (&str, &str, &str)) -> Command {
    let fallback = if variable == "CC" { "cc" } else { "c++" };
    let name = std::env::var(variable).unwrap_or_else(|_| fallback.to_owned());
    let mut command = Command::new(name);
    command
        .args(["-x", language, &format!("-std={standard}")])
        .args(["-Wall", "-Wextra", "-Werror", "-I"])
        .arg(&super::include().1);
    if standard == "gnu++17" {
        command.arg("-Wpedantic");
    }
    command
}

/// Compiles a source text; the compiler's complaints if it refuses.
fn compile(language: (&str, &str, &str), name: &str, source: &str) -> Result<(), String> {
    let suffix = language.0.replace('+', "p");
    let file = super::scratch("compile").join(format!("{name}.{suffix}"));
    std::fs::write(&file, source).expect("source for the compiler");
    let output = strict(language)
        .arg("-fsyntax-only")
        .arg(&file)
        .output()
        .expect("a compiler");
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn headers() -> Vec<String> {
    fn walk(dir: &Path, out: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(dir).expect("include/") {
            let path = entry.expect("directory entry").path();
            if path.is_dir() {
                walk(&path, out)
            } else {
                out.push(path)
            }
        }
    }
    let include = &super::include().1;
    let mut files = Vec::new();
    walk(include, &mut files);
    let mut names: Vec<_> = files
        .iter()
        .map(|file| {
            file.strip_prefix(include)
                .expect("below")
                .display()
                .to_string()
        })
        .collect();
    names.sort();
    names
}

/// A client may be as old as it likes: no declaration stands behind a statement.
#[test]
fn old_dialects_are_enough() {
    let source = "#include <ucp/api/ucp.h>\n#include <uct/api/uct.h>\n#include <ucm/api/ucm.h>\n\
        #include <ucs/debug/log_def.h>\n#include <ucs/sys/math.h>\n#include <ucs/sys/sock.h>\n";
    for language in [("c", "CC", "gnu89"), ("c++", "CXX", "gnu++11")] {
        compile(language, &format!("old_{}", language.2), source).expect("an old dialect");
    }
}

#[test]
fn each_header_compiles_alone() {
    let mut failures = String::new();
    for header in headers().iter().filter(|header| *header != "uct/api/tl.h") {
        let source = format!("#include <{header}>\n#include <{header}>\n");
        let device_code = header.ends_with("_impl.h");
        for language in LANGUAGES {
            if device_code && language.0 == "c" {
                let refused = compile(language, "device_code", &source).unwrap_err();
                assert!(refused.contains("is C++, for device code"), "{refused}");
                continue;
            }
            if let Err(error) = compile(language, &header.replace('/', "_"), &source) {
                failures += &format!("{header} as {}:\n{error}\n", language.2);
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn tl_is_a_part_of_uct() {
    for language in LANGUAGES {
        let alone = compile(language, "tl_alone", "#include <uct/api/tl.h>\n");
        assert!(alone.unwrap_err().contains("include that one"));
        let through = "#include <uct/api/uct.h>\n#include <uct/api/tl.h>\nuct_iface_ops_t ops;\n";
        compile(language, "tl_through_uct", through).expect("tl.h after uct.h");
    }
}

/// What a client's compiler must see: sizes that the library was built with, and inline functions that link.
#[test]
fn c_sees_the_sizes_that_rust_has() {
    let assertions = "\
        #include <ucp/api/ucp.h>\n#include <uct/api/uct.h>\n#include <ucm/api/ucm.h>\n\
        #ifndef __cplusplus\n#define static_assert _Static_assert\n#endif\n\
        static_assert(sizeof(ucs_status_t) == 1, \"status\");\n\
        static_assert((ucs_status_t)-1 < 0, \"signed status\");\n";
    let sizes = [
        ("ucp_params_t", size_of::<ferrucx::c::ucp_params_t>()),
        (
            "ucp_request_param_t",
            size_of::<ferrucx::c::ucp_request_param_t>(),
        ),
        ("ucp_ep_params_t", size_of::<ferrucx::c::ucp_ep_params_t>()),
        (
            "uct_iface_attr_t",
            size_of::<ferrucx::c::uct_iface_attr_t>(),
        ),
        ("uct_iface_ops_t", size_of::<ferrucx::c::uct_iface_ops_t>()),
        (
            "uct_iface_params_t",
            size_of::<ferrucx::c::uct_iface_params_t>(),
        ),
        (
            "uct_completion_t",
            size_of::<ferrucx::c::uct_completion_t>(),
        ),
        ("uct_worker_t", size_of::<ferrucx::c::uct_worker_t>()),
        ("uct_md_attr_t", size_of::<ferrucx::c::uct_md_attr_t>()),
        ("ucm_event_t", size_of::<ferrucx::c::ucm_event_t>()),
    ];
    let mut source = assertions.to_owned();
    for (name, size) in sizes {
        source += &format!("static_assert(sizeof({name}) == {size}, \"{name}\");\n");
    }
    for language in LANGUAGES {
        compile(language, "sizes", &source).expect("sizes agree");
    }
}

/// The inline functions need no library: the program is whole without one.
#[test]
fn inline_functions_do_what_they_say() {
    let program = super::scratch("compile").join("inline");
    for language in LANGUAGES {
        let output = strict(language)
            .arg("-O1")
            .arg(super::root().join("tests/headers/inline.c"))
            .args([
                "-o".as_ref(),
                program.as_os_str(),
                "-lm".as_ref(),
                "-lpthread".as_ref(),
            ])
            .output()
            .expect("a compiler");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let run = Command::new(&program).output().expect("the program");
        assert!(
            run.status.success(),
            "{}: {}",
            language.2,
            String::from_utf8_lossy(&run.stderr)
        );
        assert_eq!(run.stdout, b"ok\n");
    }
}
