"""Clients that are built from the source archives of Debian: libfabric with its provider for UCX and the tests of both,
fabtests; and MPICH's own suite: the tests that other libraries have hung in, with each MPICH, and whole folders with one."""
import functools
import platform
import re
import subprocess
import sys
import tarfile

from case import TARGET, Case, Missing, need, preload
from mpi import MPIS, REPEAT
from packages import upstream
from python import PROGRAMS
from sources import BUILT, steps, without_libtool

KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
APT = TARGET.resolve() / "clients/apt"
# A package, its version and the release of Debian that has it. libfabric's provider does not compile with headers of UCX from
# 1.21 on, which have one more argument of ucs_memtype_cache_update.
LIBFABRIC, LIBFABRIC_UCX = ("libfabric", "2.1.0", "trixie"), "1.20.1"
MPICH_SUITE = ("mpich", "4.0.2", "bookworm")
UPSTREAM = ("ucx", "1.13.1", "bookworm")
# All but the provider for UCX, and those that the benchmarks compare with.
PROVIDERS = ["verbs", "psm2", "psm3", "efa", "opx", "usnic", "rxm", "rxd", "udp", "sockets", "sm2", "mrail",
             "lnx", "lpp"]
# Tests of MPICH by folder and name, 20 runs each.
HUNG = [("pt2pt", "many_isend"), ("rma", "pscw_ordering")]
RUNS = 20
# Folders of its tests that run whole, each test once, with at most RANKS processes, with one version of MPICH; and those that do
# not pass there with its own UCX: some ask for more processes, some for an operation that this MPICH refuses or a send to be
# canceled, some make it receive from any source (see NAMED in mpi.py). There are more ranks than cores, and MPICH has no setting
# by which idle ones let others run: programs/idle.c does that.
WHOLE, RANKS = "4.3.2", 4
FOLDERS = {
    "threads": ["threads/pt2pt/alltoall", "threads/pt2pt/ibsend"],
    "comm": ["comm/ic2"],
    "topo": ["topo/distgraph1", "topo/dgraph_unwgt"],
    "datatype": [],
    "pt2pt": [f"pt2pt/{name}" for name in [
        "cancelrecv", "irecv_any", "multi_psend_derived", "precv_anysrc", "probe_unexp", "pscancel", "recv_any", "scancel",
        "scancel_unmatch"]],
    "rma": [],
    "coll": [f"coll/{name}" for name in ["coll2", "coll6", "coll7", "gatherv", "nbcoll2", "oplxor", "p_gatherv"]],
}


def mirror():
    """Where apt has this machine's release of Debian from: other releases are there too."""
    done = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)"], capture_output=True,
                          text=True)
    here = platform.freedesktop_os_release().get("VERSION_CODENAME")
    for line in done.stdout.splitlines():
        uri, *of = line.split()
        if of == [here, "main"]:
            return uri
    raise Missing(f"apt has no list of the release {here}: apt-get update")


@functools.cache
def unpacked(package, version, release):
    """The folder of the source, fetched by apt from a list of its own, and checked by it."""
    folder = BUILT / f"{package}-{version}"
    if (folder / "unpacked").exists():
        return folder / f"{package}-{version}"
    need("debian-archive-keyring")
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("lists/partial", "cache/archives/partial"):
        (APT / name).mkdir(parents=True, exist_ok=True)
    (APT / "sources.list").write_text(f"deb-src [signed-by={KEYS}] {mirror()} {release} main\n")
    options = [f"-oDir::{name}={value}" for name, value in [
        ("Etc::sourcelist", APT / "sources.list"), ("Etc::sourceparts", "-"), ("State::lists", APT / "lists"),
        ("Cache", APT / "cache")]] + ["-oAPT::Sandbox::User="]
    for words in (["update"], ["source", "--tar-only", "--download-only", f"{package}/{release}"]):
        done = subprocess.run(["apt-get", "-q", *options, *words], cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise Missing(f"the source of {package} is not to be had: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
    archives = [path for path in folder.glob(f"{package}_*.orig.tar.*") if path.suffix != ".asc"]
    if [path.name.rpartition(".orig")[0] for path in archives] != [f"{package}_{version}"]:
        raise Missing(f"{release} has {', '.join(path.name for path in archives)} and not {version}")
    with tarfile.open(archives[0]) as archive:
        archive.extractall(folder, filter="data")
    (folder / "unpacked").touch()
    return folder / f"{package}-{version}"


@functools.cache
def fabtests():
    """The folder where libfabric and fabtests are installed."""
    need("gcc", "make", "autoconf", "automake", "libtool")
    source = unpacked(*LIBFABRIC)
    folder, tests = source.parent, source / "fabtests"
    install = folder / "install"
    steps(folder, (source, ["./autogen.sh"]),
          (source, ["./configure", f"--prefix={install}", f"--enable-ucx={without_libtool(LIBFABRIC_UCX)}",
                    *(f"--disable-{name}" for name in PROVIDERS)]),
          (source, ["make", "-j2", "install"]), (tests, ["./autogen.sh"]),
          (tests, ["./configure", f"--prefix={install}", f"--with-libfabric={install}"]), (tests, ["make", "-j2", "install"]))
    return install


def tests_of_mpich():
    return unpacked(*MPICH_SUITE) / "test/mpi"


@functools.cache
def suite(mpi):
    """The folder of MPICH's tests, configured for that MPI, with those of HUNG compiled."""
    need("gcc", "make", "perl")
    source = tests_of_mpich()
    folder = source.parents[2] / f"for-{mpi.version.split()[0]}"
    folder.mkdir(exist_ok=True)
    steps(folder, (folder, [source / "configure", f"MPICC={mpi.tool('mpicc')}", f"CC={mpi.tool('mpicc')}", "--disable-fortran",
                            "--disable-cxx"]),
          (folder, ["make", "-C", "util"]), *((folder, ["make", "-C", place, test]) for place, test in HUNG))
    return folder


def folder_of_suite(mpi, name, *choice):
    """The command that runs the tests of a folder, compiled."""
    built = suite(mpi)
    steps(built, (built, ["make", "-C", name, "all"]), stamp=f"{name}-complete")
    return [sys.executable, PROGRAMS / "mpich_suite.py", built, tests_of_mpich(), name, mpi.tool("mpiexec"), RANKS, *choice]


def whole_folders(mpi):
    for name, failing in FOLDERS.items():
        for what, choice in [(f"its own tests in {name}", ["--without", *failing])] + [
                (f"its own tests in {name} that fail on upstream", ["--only", *failing])] * bool(failing):
            yield Case(mpi.client, mpi.version, what, "all", RANKS,
                       lambda name=name, choice=choice: folder_of_suite(mpi, name, *choice),
                       lambda text: "" if re.search(r"^all \d+ pass$", text, re.M) else text.strip().splitlines()[-1],
                       env=lambda: {**mpi.env, "LD_PRELOAD": preload("idle")}, limit=7200, long=True,
                       numbers=lambda text: re.findall(r"^pass .*$", text, re.M))


def cases():
    for tls in ("all", "tcp"):
        yield Case("libfabric", LIBFABRIC[1], "fabtests on its provider for UCX", tls, 2,
                   lambda: [sys.executable, PROGRAMS / "fab_tests.py", fabtests(), "ucx"],
                   lambda text: "" if re.search(r"^all \d+ pass or are not offered$", text, re.M) else "not all pass",
                   env=lambda: {"LD_LIBRARY_PATH": upstream(LIBFABRIC_UCX), "FI_UCX_DEVICES": "all"}, limit=1500, long=True,
                   numbers=lambda text: re.findall(r"^test .*: (?:pass|not offered)$", text, re.M))
    for mpi in (mpi for mpi in MPIS if mpi.client == "MPICH"):
        for place, test in HUNG:
            def check(text):
                passed = text.count("No Errors")
                return "" if passed == RUNS else f"{passed} of {RUNS} runs pass"
            yield Case(mpi.client, mpi.version, f"its own test {place}/{test}, {RUNS} times", "all", 4,
                       lambda mpi=mpi, place=place, test=test: [sys.executable, REPEAT, RUNS, mpi.tool("mpirun"), "-n", 4,
                                                                suite(mpi) / place / test],
                       check, env=mpi.env, limit=30 * RUNS, long=True)
        if mpi.version == WHOLE:
            yield from whole_folders(mpi)
