//! The tool finds its own installation's libraries beside itself: `FERRUCX_RUNPATH` is where they are, relative to the
//! folder of the executable. Without it the loader's search path alone decides.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=FERRUCX_RUNPATH");
    if let Ok(folder) = std::env::var("FERRUCX_RUNPATH")
        && !folder.is_empty()
    {
        println!("cargo::rustc-link-arg-bins=-Wl,--enable-new-dtags,-rpath,$ORIGIN/{folder}");
    }
}
