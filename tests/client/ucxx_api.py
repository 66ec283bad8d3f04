"""ucxx: its core, its asyncio interface and, in C++, its one-sided one, by programs of ours, and the benchmark that it
comes with. No GPU."""
import functools
import subprocess
import sys

import case
from case import TARGET, Case, need, wheels
from python import PROGRAMS, all_parts

VERSION = "0.52.0"
# What the package names as its needs but for the CUDA runtime, which is loaded only when there is a driver.
PACKAGES = [f"ucxx-cu12=={VERSION}", f"libucxx-cu12=={VERSION}", "libucx-cu12==1.21.0", "rmm-cu12==26.10.0",
            "librmm-cu12==26.10.0", "rapids-logger==0.3.0", "cuda-core==1.2.2", "nvidia-ml-py==13.615.71", "numpy==2.4.6"]
TRANSPORTS = ["tcp", "all"]
MODES = ["thread", "blocking", "polling", "thread-polling"]


def interpreter():
    if sys.version_info < (3, 11):
        from case import Missing
        raise Missing("ucxx is for Python 3.11 and later")
    return wheels("ucxx", *PACKAGES, options=["--no-deps"]) / "bin/python"


SWAPPED = "variables of its loader"


def switch(prefix):
    """The package loads its own library by path unless it is told to look for one."""
    return {"LD_LIBRARY_PATH": str(prefix / "lib"), "RAPIDS_LIBUCX_PREFER_SYSTEM_LIBRARY": "true"}


def program(name, what, tls, way, *words, long):
    path = PROGRAMS / f"{name}.py"
    return Case("ucxx", VERSION, what, tls, 1 if way == "one" else 2, lambda: [interpreter(), path, way, *words],
                all_parts(path), switch=switch, swapped=SWAPPED, long=long)


@functools.cache
def compiled():
    """The program of the C++ interface: Python has no remote keys. It finds the library of the package by its RUNPATH."""
    need("g++")
    (package,) = interpreter().parent.parent.glob("lib/python*/site-packages")
    source, binary = PROGRAMS / "ucxx_rma.cpp", TARGET / "clients/ucxx_rma"
    libraries = [package / "libucxx/lib64", package / "libucx/lib"]
    done = subprocess.run(
        ["g++", "-std=c++17", "-O1", "-g", "-Wall", "-Werror", "-I", package / "libucxx/include",
         "-I", package / "libucx/include", "-o", binary, source, *(f"-L{folder}" for folder in libraries),
         f"-Wl,--no-as-needed,--enable-new-dtags,-rpath,{':'.join(map(str, libraries))}",
         "-lucxx", "-lucp", "-luct", "-lucs", "-lucm", "-pthread"], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{source.name} does not compile with ucxx {VERSION}:\n{done.stderr}")
    return binary


def one_sided(tls, way):
    return Case("ucxx", VERSION, "RMA of its C++ interface", tls, 1 if way == "one" else 2, lambda: [compiled(), way],
                case.all_parts(PROGRAMS / "ucxx_rma.cpp"), long=(tls, way) != ("all", "two"))


def benchmark(backend, api, tls):
    def command():
        return [interpreter(), "-m", "ucxx.benchmarks.send_recv", "--backend", backend, "--object_type", "numpy",
                "--n-bytes", "100000", "--n-iter", "20", "--no-detailed-report", *api]
    what = " ".join([f"its benchmark {backend}", *(word.strip("-") for word in api)])
    return Case("ucxx", VERSION, what, tls, 2, command, lambda text: "" if "Bandwidth" in text else "no bandwidth",
                switch=switch, swapped=SWAPPED, long=True)


def cases():
    for tls in TRANSPORTS:
        for way in ("one", "two"):
            for connect in ("listener", "address"):
                short = (way, connect) == ("two", "listener")
                yield program("ucxx_core", f"core, by {connect}", tls, way, connect, long=not short)
            for mode in MODES:
                short = (way, mode) in [("one", "polling"), ("two", "thread")] and tls == "all"
                yield program("ucxx_asyncio", f"asyncio, {mode}", tls, way, mode, long=not short)
            yield one_sided(tls, way)
        for backend, api in (("ucxx-core", []), ("ucxx-async", []), ("ucxx-async", ["--enable-am"])):
            yield benchmark(backend, api, tls)
