"""async-ucx, a Rust library, with its own tests.

Its crate `ucx1-sys` builds upstream's sources from a submodule that the package lacks: a copy of it is told where upstream's
wheel is instead."""
import functools
import json
import os
import re
import subprocess

from case import TARGET, Case, Missing, need
from packages import upstream
from sources import steps, without_libtool

VERSION = "0.1.1"
UCX = "1.22.0"
MANIFEST = f"""[package]
name = "client"
version = "0.0.0"
edition = "2021"

[lib]
path = "lib.rs"

[dependencies]
async-ucx = "={VERSION}"

[workspace]
"""


def sources(folder):
    """Where cargo keeps the sources of packages, by name."""
    (folder / "lib.rs").touch()
    (folder / "Cargo.toml").write_text(MANIFEST)
    done = subprocess.run(["cargo", "metadata", "--format-version", "1", "-q"], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise Missing(f"async-ucx is not to be had: {done.stderr.strip()[-200:]}")
    return {package["name"]: os.path.dirname(package["manifest_path"]) for package in json.loads(done.stdout)["packages"]}


@functools.cache
def compiled():
    """The program with the tests of the crate."""
    need("gcc", "libclang1")
    folder = TARGET / "clients/async-ucx"
    folder.mkdir(parents=True, exist_ok=True)
    crate, bindings = folder / "crate", folder / "bindings"
    if not (folder / "complete").exists():
        found = sources(folder)
        for name, place in [("async-ucx", crate), ("ucx1-sys", bindings)]:
            subprocess.run(["cp", "-rT", found[name], place], check=True)
        script = bindings / "build.rs"
        text = script.read_text().replace('env::var_os("OUT_DIR")', 'env::var_os("UCX_DIR")', 1)
        script.write_text(text.replace("    build_from_source();\n", "", 1))
        with open(crate / "Cargo.toml", "a") as manifest:
            manifest.write('\n[patch.crates-io]\nucx1-sys = { path = "../bindings" }\n\n[workspace]\n')
    include = subprocess.run(["gcc", "-print-file-name=include"], check=True, capture_output=True, text=True).stdout.strip()
    # It denies warnings, and newer compilers have some.
    settings = ["env", f"UCX_DIR={without_libtool(UCX)}", f"BINDGEN_EXTRA_CLANG_ARGS=-I{include}",
                "RUSTFLAGS=--cap-lints warn", f"CARGO_TARGET_DIR={folder / 'target'}"]
    steps(folder, (crate, [*settings, "cargo", "test", "-q", "--no-run", "--features", "am,event"]))
    (program,) = [path for path in folder.glob("target/debug/deps/async_ucx-*") if os.access(path, os.X_OK) and not path.suffix]
    return program


def cases():
    for tls in ("all", "tcp,self"):
        yield Case("async-ucx", VERSION, "its tests", tls, 1, lambda: [compiled(), "--test-threads=1"],
                   lambda text: "" if "test result: ok." in text else "not all pass",
                   env=lambda: {"LD_LIBRARY_PATH": upstream(UCX)}, long=True,
                   numbers=lambda text: re.findall(r"^test .* \.\.\. ok$", text, re.M))
