"""ScaLAPACK's own tests as Debian packages them, with MPICH and with Open MPI, on four ranks.

Their inputs stand beside them. What is compared is each case's shape and its verdict; times and rates are left out.
Not run, as they fail by chance with any UCX: llt, whose ranks part ways in pdlacon and then wait for each other, and
dsep, one of whose residuals is above its bound in every other run."""
import pathlib
import re

from case import Case, need
from mpi import MPIS

HOME = pathlib.Path("/usr/lib/x86_64-linux-gnu/scalapack")
TRANSPORTS = ["all", "tcp,self"]
KINDS = {"": ["lu", "dblu", "dtlu", "gblu", "pbllt", "ptllt", "inv", "qr", "ls", "brd", "hrd", "trd", "sep", "gsep",
              "nep", "evc", "svd", "hseqr", "syevr", "heevr"],
         "PBLAS": ["pb1tst", "pb2tst", "pb3tst"]}
# The real and the complex type of double precision; those that exist or are run for one of them only.
REAL_ONLY, COMPLEX_ONLY = ("svd", "hseqr", "syevr"), ("evc", "heevr", "sep")
SHORT = [("openmpi", "dlu", "all"), ("mpich", "dqr", "tcp,self")]
# Ranks of MPICH do not let others run while they wait: on two processors four of them take minutes to hours for any
# test with its own UCX, but for these of banded matrices.
WITH_MPICH = ("dblu", "dtlu", "gblu", "pbllt", "ptllt")


def programs():
    """Folder, name of the test, path of the program below it."""
    for folder, kinds in KINDS.items():
        for kind in kinds:
            for letter in "dz":
                if kind not in (COMPLEX_ONLY if letter == "d" else REAL_ONLY):
                    yield folder, letter + kind, ("" if folder else "x") + letter + kind


def results(text):
    """Each line with a verdict, without its times, and the sums at the end."""
    lines = [line for line in text.splitlines()
             if re.search(r"\b(PASSED|FAILED|Passed|Failed)\b|tests? (completed|skipped)|^ *\| +P[DZ]", line)
             and not re.search("THRESH|SUBROUTINE", line)]
    return [" ".join(word for word in line.split() if not re.fullmatch(r"[-+E\d.]*\.[-+E\d.]*", word))
            for line in lines]


def check(text):
    sums = re.findall(r"(\d+) tests completed and (passed|failed)", text)
    sums += re.findall(r"^ *\| +P[DZ]\w+ +\d+ +\d+ +([1-9]\d*)()", text, re.M)
    failed = sum(int(count) for count, how in sums if how != "passed")
    verdicts = len(re.findall(r"\b(FAILED|Failed)\b", "\n".join(results(text))))
    return "" if results(text) and not failed and not verdicts else f"{failed or verdicts} tests failed"


def cases():
    for mpi in (mpi for mpi in MPIS if mpi.suffix):
        client, version, suffix, env = mpi.client, mpi.version, mpi.suffix, mpi.env
        for folder, name, program in programs():
            for tls in TRANSPORTS:
                if suffix == "mpich" and name[1:] not in WITH_MPICH and (suffix, name, tls) not in SHORT:
                    continue
                place = HOME / f"{suffix}-tests" / folder

                def command(suffix=suffix, program=program):
                    need("scalapack-mpi-test")
                    return [f"mpirun.{suffix}", "-n", 4, f"./{program}"]
                yield Case("ScaLAPACK", f"{client} {version}", name, tls, 4, command, check, env, cwd=place,
                           long=(suffix, name, tls) not in SHORT, routed=True, numbers=results, limit=300)
