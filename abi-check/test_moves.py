#!/usr/bin/env python3
"""The checker must notice what it is for: each case breaks one thing in a copy and reads the verdict.

    python3 abi-check/test_moves.py

A case passes when the checker fails with a message that names what was broken, and that it does not
give for the unbroken copy.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import symbols
import upstream

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
RUN = [sys.executable, str(HERE / "run.py")]
TIMEOUT_S = 300


class Copy:
    """A throw-away copy of include/, of the data files and a library that exports what they list."""

    def __init__(self, folder, include):
        self.folder = pathlib.Path(folder)
        self.include = self.folder / "include"
        self.data = self.folder / "data"
        self.state = self.folder / "state.tsv"
        self.exceptions = self.folder / "exceptions.toml"
        self.source = self.folder / "src"
        shutil.copytree(include, self.include)
        shutil.copytree(HERE / "data", self.data)
        shutil.copy(HERE / "state.tsv", self.state)
        shutil.copy(HERE / "exceptions.toml", self.exceptions)
        shutil.copytree(ROOT / "src", self.source)
        self.library = self.folder / "libfake.so"
        self.build_library()

    def build_library(self, leave_out=(), more=(), grown=None, lines=(), flags=("-Wl,-soname,libucp.so.0",)):
        """A shared object with the listed symbols, so that the test needs no build of the crate."""
        sizes = {row[0]: int(row[2]) for row in upstream.read_table(HERE / "data/objects.tsv")}
        lines = [*lines, *(f"void {name}(void) {{}}" for name in more)]
        for symbol in symbols.listed(HERE / "data").values():
            if symbol.name in leave_out:
                continue
            if symbol.kind == "object":
                size = sizes.get(symbol.name, 8) + (8 if symbol.name == grown else 0)
                lines.append(f"char {symbol.name}[{size}];")
            else:
                lines.append(f"void {symbol.name}(void) {{}}")
        subprocess.run(
            ["gcc", "-w", "-fno-builtin", "-nostdlib", "-shared", "-fPIC", *flags, "-x", "c", "-", "-o", str(self.library)],
            input="\n".join(lines) + "\n", text=True, check=True,
        )  # fmt: skip

    def check(self, only, release):
        """(exit code, output) of the checker on this copy."""
        command = [
            *RUN, "--verbose", "--only", only, "--releases", release, "--ours", str(self.include),
            "--data", str(self.data), "--lib", str(self.library), "--state", str(self.state),
            "--exceptions", str(self.exceptions), "--source", str(self.source),
            "--matrix", str(self.folder / "MATRIX.md"), "--cache", str(ROOT / ".cache"),
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S)
        return done.returncode, done.stdout + done.stderr

    def edit(self, header, pattern, replacement):
        change(self.include / header, pattern, replacement)


def change(path, pattern, replacement):
    text = path.read_text()
    changed, count = re.subn(pattern, replacement, text, count=1, flags=re.S)
    if count != 1 or changed == text:
        raise SystemExit(f"test_moves.py no longer fits {path.name}: nothing matches {pattern}")
    path.write_text(changed)


def moved_field(copy):
    copy.edit(
        "uct/api/uct.h",
        r"(uct_completion_callback_t\s+func;)(.*?)(int\s+count;)(.*?ucs_status_t\s+status;)",
        r"\3\2\1\4",
    )


def widened_status(copy):
    """Four bytes instead of one: the compiler no longer packs the enum."""
    path = copy.include / "ucs/type/status.h"
    change(path, r"UCS_ERR_LAST\s*=\s*-100", "UCS_ERR_LAST = -1000")


def changed_value(copy):
    copy.edit("ucs/type/status.h", r"UCS_ERR_NO_RESOURCE\s*=\s*-2\b", "UCS_ERR_NO_RESOURCE = -102")


def changed_prototype(copy):
    copy.edit("ucp/api/ucp.h", r"unsigned\s*(?:int)?\s+ucp_worker_progress\(", "int ucp_worker_progress(")


def changed_callback(copy):
    copy.edit(
        "uct/api/uct_def.h",
        r"(\(\s*\*\s*uct_am_callback_t\s*\)\s*\([^)]*?)size_t\s+length",
        r"\1unsigned length",
    )


def lost_inline(copy):
    copy.edit("uct/api/uct.h", r"\buct_ep_am_short_iov\(", "uct_ep_am_short_lost(")


def lost_header(copy):
    (copy.include / "ucp/api/device/ucp_host.h").unlink()


def lost_exception(copy):
    change(copy.exceptions, r'name = "ucp_request_param_t"', 'name = "ucp_other_t"')


def warning(copy):
    copy.edit("ucp/api/ucp_version.h", r"\Z", "\nstatic int unused_by_all;\n")


def dropped_from_list(copy):
    change(copy.data / "symbols.tsv", r"\nucp_worker_arm\t[^\n]*", "")
    change(copy.state, r"\nucp_worker_arm\t[^\n]*", "")


def not_exported(copy):
    copy.build_library(leave_out=["uct_ep_flush_none", "uct_iface_open"])


def exported_too_much(copy):
    copy.build_library(more=["ucs_private_thing"])


def grown_object(copy):
    copy.build_library(grown="ucs_global_opts")


def bound_symbols(copy):
    copy.build_library(flags=["-Wl,-soname,libucp.so.0", "-Wl,-Bsymbolic"])


def constructor(copy):
    start = [f"__attribute__((constructor)) static void start{index}(void) {{}}" for index in range(3)]
    copy.build_library(lines=start)


def other_name(copy):
    copy.build_library(flags=["-Wl,-soname,libucp.so.1"])


def other_signature(copy):
    change(copy.data / "internal.tsv", r"uct_md_query_v2\t1\tp p", "uct_md_query_v2\t1\tp 8")


def no_state(copy):
    change(copy.state, r"\nuct_iface_open\t[^\n]*", "")


def flattered(copy):
    for path in (copy.source / "abi/ucp").rglob("*.rs"):
        path.write_text(path.read_text().replace("fn ucp_tag_probe_nb(", "fn ucp_tag_probe_other("))
    change(copy.source / "abi/ucp/device.rs", r"\Z", STUB)


STUB = """
pub unsafe extern "C" fn ucp_tag_probe_nb(_worker: ucp_worker_h) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}
"""

# What is broken, which part must notice, against which release, what the message must say.
CASES = [
    (moved_field, "layout", "1.22.0", r"uct_completion\w*\.func: bit offset"),
    (widened_status, "layout", "1.13.1", r"uct_completion\w*\.status: bits wide"),
    (changed_value, "layout", "1.16.0", r"UCS_ERR_NO_RESOURCE = -102, upstream -2"),
    (changed_prototype, "prototypes", "1.18.1", r"ucp_worker_progress: conflicting"),
    (changed_callback, "prototypes", "1.22.0", r"uct_am_callback_t: static assertion"),
    (lost_inline, "layout", "1.22.0", r"inline function uct_ep_am_short_iov is missing"),
    (lost_header, "layout", "1.22.0", r"ucp_device_counter_init|ucp_host\.h is missing"),
    (lost_exception, "layout", "1.21.0", r"ucp_request_param_t: 96 bytes, upstream 72"),
    (warning, "alone", "1.22.0", r"not ok ucp/api/ucp_version\.h compiles alone"),
    (dropped_from_list, "layout", "1.13.1", r"function ucp_worker_arm is in no symbol list"),
    (dropped_from_list, "symbols,states", "1.22.0", r"ucp_worker_arm is exported, but no list names it"),
    (not_exported, "symbols", "1.22.0", r"uct_iface_open is not exported"),
    (exported_too_much, "symbols", "1.22.0", r"ucs_private_thing is exported, but no list"),
    (grown_object, "symbols", "1.22.0", r"ucs_global_opts has 288 bytes"),
    (bound_symbols, "symbols", "1.22.0", r"linked with -Bsymbolic"),
    (constructor, "symbols", "1.22.0", r"3 constructors"),
    (other_name, "symbols", "1.22.0", r"SONAME is \['libucp\.so\.1'\]"),
    (other_signature, "symbols", "1.22.0", r"uct_md_query_v2 is 1 <- p p, upstream's 1 <- p 8"),
    (no_state, "states", "1.22.0", r"uct_iface_open has no line in state\.tsv"),
    (flattered, "states", "1.22.0", r"ucp_tag_probe_nb is called full in state\.tsv, but its body is a stub"),
]  # fmt: skip


def complaints(output):
    return [line for line in output.splitlines() if not line.startswith(("ok ", "     allowed:"))]


def main():
    include = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "include"
    passed, failed = 0, 0
    verdicts = {}
    with tempfile.TemporaryDirectory() as folder:
        whole = Copy(pathlib.Path(folder) / "whole", include)
        for _, only, release, _ in CASES:
            if (only, release) not in verdicts:
                verdicts[only, release] = whole.check(only, release)
    for case, only, release, message in CASES:
        with tempfile.TemporaryDirectory() as folder:
            copy = Copy(pathlib.Path(folder) / "copy", include)
            case(copy)
            code, output = copy.check(only, release)
        before = verdicts[only, release][1].splitlines()
        news = [line for line in complaints(output) if line not in before]
        if code == 1 and any(re.search(message, line) for line in news):
            passed += 1
            print(f"ok {case.__name__}: noticed")
        else:
            failed += 1
            print(f"not ok {case.__name__}: exit {code}, no message like {message}")
            print("".join(f"    {line}\n" for line in news or ["nothing new was said"]))
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
