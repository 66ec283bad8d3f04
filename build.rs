//! Gives the cdylib its SONAME, has it bring the library of mathematics as upstream's does (UCC's transports use pow() and
//! are not linked with it), and compiles the C file that holds the variadic functions.

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libucp.so.0");
    for arg in ["-Wl,--no-as-needed", "-lm", "-Wl,--as-needed"] {
        println!("cargo::rustc-cdylib-link-arg={arg}");
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/abi/variadic.c");
    cc::Build::new()
        .file("src/abi/variadic.c")
        .std("gnu11")
        .warnings(true)
        .extra_warnings(true)
        .compile("ferrucx_variadic");
}
