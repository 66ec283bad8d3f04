"""Clients whose source no package registry has: Mercury, UCC, Sandia OpenSHMEM and Charm++, with their own tests.

They are built from checkouts that the caller has made, in the folders `mercury`, `ucc`, `sos`, `charm` and `ucx` (see bindings.py)
of $FERRUCX_CLIENT_SOURCES, each with its submodules, against the headers and libraries of upstream's wheel. Without that
variable their cases count as skipped. What a run has built stays in target/clients/sources."""
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys

from case import TARGET, Case, Missing, need
from mpi import LAUNCH
from packages import upstream
from python import PROGRAMS

VARIABLE = "FERRUCX_CLIENT_SOURCES"
BUILT = TARGET / "clients/sources"
VERSIONS = {"mercury": "2.4.1", "ucc": "1.8.0", "sos": "1.5.3", "charm": "8.0.1", "ucx": "1.22.0"}
MERCURY = [f"{test}_ucx_all{mode}" for test in ("rpc", "bulk") for mode in ("_busy", "", "_busy_self", "_self")]
MERCURY += ["kill_ucx_all_busy", "kill_ucx_all"]
COLLECTIVES = ["allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "barrier", "bcast", "gather", "gatherv",
               "reduce", "reduce_scatter", "reduce_scatterv", "scatterv"]
# Folder of a test of Charm++, and its arguments.
CHARM = {"megatest": [], "zerocopy/bcast_nonzero_root": [], "zerocopy/dereg_and_nodereg": [50], "zerocopy/direct_api": [100],
         "zerocopy/large_bcast": [200000, 10], "zerocopy/pup_buffer": ["+balancer", "RotateLB"],
         "zerocopy/zc_post_modify_size": [], "zerocopy/zerocopy_with_qd": [100]}


def prepared(name):
    """The folder for the build, with a copy of the checkout in `source`; the caller builds when it is new."""
    root = os.environ.get(VARIABLE)
    if not root or not (pathlib.Path(root) / name).is_dir():
        raise Missing(f"no package registry has the source of {name} {VERSIONS[name]}: name the folder of a checkout "
                      f"`{name}`, with submodules, by {VARIABLE}")
    folder = BUILT / f"{name}-{VERSIONS[name]}"
    if not any(folder.glob("*complete")):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        shutil.copytree(pathlib.Path(root) / name, folder / "source", symlinks=True)
    return folder


def steps(folder, *commands, stamp="complete"):
    """Runs what has to be run once."""
    if (folder / stamp).exists():
        return
    with open(folder / "log", "a") as log:
        for where, command in commands:
            where.mkdir(parents=True, exist_ok=True)
            done = subprocess.run([str(word) for word in command], cwd=where, stdout=log, stderr=log,
                                  stdin=subprocess.DEVNULL)
            if done.returncode != 0:
                raise RuntimeError(f"{' '.join(map(str, command))}: exit {done.returncode}, see {folder / 'log'}")
    (folder / stamp).touch()


@functools.cache
def without_libtool(version):
    """Upstream's headers and libraries without the libtool files of its wheel, which name folders of another machine."""
    folder, lib = BUILT / f"ucx-libraries-{version}", pathlib.Path(upstream(version))
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "lib").mkdir(parents=True)
    (folder / "include").symlink_to(lib.parent / "include")
    for library in lib.glob("*.so*"):
        (folder / "lib" / library.name).symlink_to(library)
    return folder


@functools.cache
def mercury():
    need("cmake", "g++", "make", "libboost-dev")
    folder = prepared("mercury")
    options = ["NA_USE_UCX=ON", "NA_USE_SM=OFF", "BUILD_TESTING=ON", "BUILD_SHARED_LIBS=ON", "MERCURY_USE_BOOST_PP=ON",
               "MERCURY_USE_SYSTEM_BOOST=ON", f"CMAKE_PREFIX_PATH={pathlib.Path(upstream()).parent}",
               "CMAKE_BUILD_TYPE=Release"]
    build = folder / "build"
    steps(folder, (build, ["cmake", folder / "source", *(f"-D{option}" for option in options)]),
          (build, ["make", "-j2"]))
    return build


@functools.cache
def ucc():
    need("gcc", "g++", "make", "autoconf", "automake", "libtool", "openmpi-bin", "libopenmpi-dev")
    folder = prepared("ucc")
    install = folder / "install"
    steps(folder, (folder / "source", ["./autogen.sh"]),
          (folder / "build", [folder / "source/configure", f"--prefix={install}", f"--with-ucx={without_libtool(VERSIONS['ucx'])}", "--with-mpi",
                              "MPICC=mpicc.openmpi", "MPICXX=mpicxx.openmpi", "MPIRUN=mpirun.openmpi",
                              "--without-cuda", "--without-rocm", "--disable-gtest"]),
          (folder / "build", ["make", "-j2", "install"]))
    return install


@functools.cache
def sos():
    need("gcc", "make", "autoconf", "automake", "libtool", "mpich")
    folder = prepared("sos")
    source = folder / "source"
    units = source / "modules/tests-sos/test/unit"
    steps(folder, (source, ["./autogen.sh"]),
          (source, ["./configure", f"--prefix={folder / 'install'}", f"--with-ucx={without_libtool(VERSIONS['ucx'])}", "--enable-pmi-simple",
                    "--disable-fortran"]),
          (source, ["make", "-j2", "install"]), (units, ["make", "-j2", "TESTS=", "check"]))
    return [units, folder / "install/lib"]


@functools.cache
def charm():
    need("g++", "make", "cmake", "mpich", "zlib1g-dev")
    source = prepared("charm") / "source"
    tests = source / "ucx-linux-x86_64/tests/charm++"
    steps(source.parent, (source, ["./build", "charm++", "ucx-linux-x86_64", "--with-production", "--disable-fortran", "-j2",
                                   f"--basedir={without_libtool(VERSIONS['ucx'])}"]),
          *((tests / test, ["make", "-j2"]) for test in CHARM))
    return tests


def of_charm(test, arguments):
    return ["mpiexec.hydra", "-n", 4, charm() / test / pathlib.Path(test).name, *arguments]


def collective(name):
    def command():
        program = ucc() / "bin/ucc_perftest"
        # Open MPI starts the ranks and exchanges addresses, by ways of its own.
        return ["mpirun.openmpi", "-n", 2, "--mca", "pml", "ob1", "--mca", "btl", "self,vader", program, "-c", name,
                "-b", 1, "-e", 65536, "-n", 10, "-w", 2]
    return command


def cases():
    for test in MERCURY:
        yield Case("Mercury", VERSIONS["mercury"], f"its {test}", "all", 1,
                   lambda test=test: ["ctest", "--test-dir", mercury(), "-R", f"^mercury_{test}$", "--timeout", 100,
                                      "--output-on-failure"],
                   lambda text: "" if re.search(r"100% tests passed, 0 tests failed out of 1\b", text) else "not passed",
                   env=lambda: {"LD_LIBRARY_PATH": upstream()}, long=True)
    for tls in ("all", "tcp,self", "posix,self"):
        for name in COLLECTIVES:
            yield Case("UCC", VERSIONS["ucc"], f"ucc_perftest {name}", tls, 2, collective(name),
                       lambda text: "" if "Total time" in text else "no times",
                       env=lambda: {**LAUNCH, "LD_LIBRARY_PATH": upstream()}, long=True)
    # Without its progress thread: that may call the callback of a put before the put's return value is looked at, which then waits
    # for ever. It happens now and then on both libraries.
    for tls in ("all", "posix,self", "tcp,self"):
        yield Case("Sandia OpenSHMEM", VERSIONS["sos"], "its unit tests", tls, 2,
                   lambda: [sys.executable, PROGRAMS / "sos_units.py", *sos()],
                   lambda text: "" if re.search(r"^all \d+ pass$", text, re.M) else text.strip().splitlines()[-1],
                   env=lambda: {"LD_LIBRARY_PATH": upstream(), "SHMEM_PROGRESS_INTERVAL": "0"}, limit=3000, long=True,
                   numbers=lambda text: re.findall(r"^pass .*$", text, re.M))
    for tls in ("all", "posix,cma,self", "tcp,self"):
        for test, arguments in CHARM.items():
            yield Case("Charm++", VERSIONS["charm"], f"its {test.rpartition('/')[2]}", tls, 4,
                       lambda test=test, arguments=arguments: of_charm(test, arguments),
                       lambda text: "" if "End of program" in text else "it did not end",
                       env=lambda: {"LD_LIBRARY_PATH": upstream()}, long=True)
