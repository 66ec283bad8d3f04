//! Asks pkg-config where the installed libraries are.
use std::env::var;
use std::process::{Command, exit};

fn main() {
    println!("cargo::rerun-if-env-changed=PKG_CONFIG_PATH");
    let program = var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".to_owned());
    let output = match Command::new(&program)
        .args(["--libs", "ucx >= 1.11"])
        .output()
    {
        Ok(output) if output.status.success() => output.stdout,
        Ok(output) => stop(&String::from_utf8_lossy(&output.stderr)),
        Err(error) => stop(&format!("{program}: {error}")),
    };
    for flag in String::from_utf8_lossy(&output).split_whitespace() {
        match flag.split_at(2) {
            ("-L", folder) => println!("cargo::rustc-link-search=native={folder}"),
            ("-l", name) => println!("cargo::rustc-link-lib=dylib={name}"),
            _ => {}
        }
    }
}

fn stop(why: &str) -> ! {
    eprintln!("{why}\nset PKG_CONFIG_PATH to PREFIX/lib/pkgconfig of the installation");
    exit(1)
}
