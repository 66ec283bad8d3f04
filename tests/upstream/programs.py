"""Upstream's files of each release, and the environment that puts one library or another under them."""
import os
import pathlib
import subprocess

from launch import Missing, output

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


class Case:
    """One program run; `run(library, release)` gives (verdict, detail), where library is "ours" or "upstream".

    A `long` case repeats others in another mode, and runs on demand only. Cases that differ only in what they do to
    our library have the same `upstream` key, so that one run serves them all."""

    known = {}

    def __init__(self, name, run, release, long=False, upstream=None):
        self.name, self.release, self.long = name, release, long
        self.measure, self.upstream = run, upstream or name

    def run(self, library, release):
        if library != "upstream":
            return self.measure(library, release)
        if self.upstream not in Case.known:
            Case.known[self.upstream] = self.measure(library, release)
        return Case.known[self.upstream]


class Programs:
    """Upstream's files, and the environment that puts one library or another under them."""

    def __init__(self, profile, stage):
        packages = ["ucx-utils", "libucx-dev", "libucx0", "valgrind"]
        done = subprocess.run([ROOT / "scripts/need", *packages], capture_output=True, text=True)
        if done.returncode != 0:
            raise Missing(done.stdout.strip())
        done = subprocess.run([ROOT / "scripts/upstream"], capture_output=True, text=True)
        if done.returncode != 0:
            raise Missing("upstream 1.22.0 is not to be had: " + done.stderr.strip()[-200:])
        wheel = pathlib.Path(done.stdout.strip())
        self.ours = TARGET / f"prefix-{profile}"
        if stage:
            subprocess.run([ROOT / "scripts/stage", self.ours, profile], check=True)
        self.bin = {"1.13.1": pathlib.Path("/usr/bin"), "1.22.0": wheel / "bin"}
        self.lib = {"1.13.1": pathlib.Path("/usr/lib/x86_64-linux-gnu"), "1.22.0": wheel / "lib",
                    "ours": self.ours / "lib"}
        self.include = {"1.13.1": pathlib.Path("/usr/include"), "1.22.0": wheel / "include",
                        "ours": self.ours / "include"}
        self.examples = {"1.13.1": pathlib.Path("/usr/share/doc/libucx-dev/examples"),
                         "1.22.0": wheel / "share/ucx/examples"}
        self.perftest = {"1.13.1": pathlib.Path("/usr/share/doc/libucx-dev/perftest"),
                         "1.22.0": wheel / "share/ucx/perftest"}
        self.built = {}

    def env(self, library, **more):
        clean = {key: value for key, value in os.environ.items() if not key.startswith("UCX_")}
        return {**clean, "LD_LIBRARY_PATH": str(self.lib[library]), **more}

    def example(self, name, source, headers, library):
        """NAME.c of one release, compiled with the headers and linked with the library of others: (path, "") or
        (None, reason)."""
        key = (name, source, headers, library)
        if key not in self.built:
            program = TARGET / "upstream-tools" / "-".join(key)
            program.parent.mkdir(parents=True, exist_ok=True)
            status, text = output("gcc", "-O1", "-g", "-o", program, self.examples[source] / f"{name}.c",
                                  "-I", self.include[headers], f"-L{self.lib[library]}", "-luct", "-lucs", "-lucp",
                                  "-lucm")
            self.built[key] = (program, "") if status == 0 else (None, text)
        return self.built[key]

    def swapped(self, linked, swap):
        """The environment in which a program linked with `linked` runs on our library, by its path or preloaded."""
        if swap == "preload":
            return self.env(linked, LD_PRELOAD=str(self.lib["ours"] / "libucp.so.0"))
        return self.env("ours")
