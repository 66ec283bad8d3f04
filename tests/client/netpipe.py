"""NetPIPE of Debian: messages of growing length between two ranks, timed, and checked for what arrived."""
import re

from case import Case, need
from mpi import MPIS

TRANSPORTS = ["all", "tcp,self", "posix,self", "sysv,self", "posix,cma,self"]
PROGRAMS = {"mpich": ("netpipe-mpich2", "NPmpich2"), "openmpi": ("netpipe-openmpi", "NPopenmpi")}
TIMED = r"\d+: +\d+ bytes +20 times -->"
# What it is called with, what it says of each length (with words of the other rank before and behind, perhaps within its
# line), and how many lengths there are.
RUNS = [("times", ["-u", "100000", "-n", "20"], TIMED, 85),
        ("times, any source", ["-u", "100000", "-n", "20", "-z"], TIMED, 85),
        ("integrity", ["-i", "-u", "1000000", "-n", "20"], "Integrity check passed", 36)]


def cases():
    for mpi in (mpi for mpi in MPIS if mpi.suffix):
        client, version, suffix, env = mpi.client, mpi.version, mpi.suffix, mpi.env
        package, program = PROGRAMS[suffix]
        for what, arguments, line, lengths in RUNS:
            if what == "times, any source" and client == "MPICH":
                continue  # it hangs with every UCX, see `mpi`
            for tls in TRANSPORTS:
                def command(suffix=suffix, package=package, program=program, arguments=arguments):
                    need(package)
                    return [f"mpirun.{suffix}", "-n", 2, program, *arguments, "-o", "/dev/null"]

                def check(text, line=line, lengths=lengths):
                    found = len(re.findall(line, text, re.M))
                    return "" if found == lengths else f"{found} of {lengths} lengths"
                yield Case("NetPIPE", f"{client} {version}", what, tls, 2, command, check, env, routed=True,
                           long=what == "times, any source" or tls != ("all" if what == "times" else "tcp,self"))
