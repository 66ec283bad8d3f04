"""MPICH and Open MPI: the programs of c-tests/mpi, compiled with each, between ranks of one host by UCX."""
import functools
import re
import subprocess

from case import ROOT, TARGET, Case, need

SOURCES = ROOT / "c-tests/mpi"
TRANSPORTS = ["posix,self", "tcp,self", "all"]
# MPICH's header declares what it calls "ignore" as an array of no elements.
FLAGS = ["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wno-stringop-overflow"]
# Ranks of one host talk by UCX too.
MPICH = {"MPIR_CVAR_NOLOCAL": "1"}
# UCX or nothing, whatever transports and devices it has; more ranks than cores, root in a container.
OPENMPI = {"OMPI_MCA_pml": "ucx", "OMPI_MCA_osc": "ucx", "OMPI_MCA_opal_common_ucx_tls": "any",
           "OMPI_MCA_opal_common_ucx_devices": "any", "OMPI_MCA_rmaps_base_oversubscribe": "1",
           "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_ALLOW_RUN_AS_ROOT": "1",
           "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
DEBIAN = [("MPICH", "Debian", ["mpich", "libmpich-dev"], "mpich", MPICH),
          ("Open MPI", "Debian", ["openmpi-bin", "libopenmpi-dev"], "openmpi", OPENMPI)]


@functools.cache
def compiled(suffix, packages, source):
    """Path of the program."""
    need("gcc", *packages)
    program = TARGET / "clients" / f"{source.stem}-{suffix}"
    program.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([f"mpicc.{suffix}", *FLAGS, "-o", program, source, "-pthread"], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{source.name} does not compile with {suffix}:\n{done.stderr}")
    return program


def all_parts(source):
    """A check that every part of the program has said ok."""
    parts = len(re.findall(r"^\s+part\(", source.read_text(), re.M))

    def check(text):
        done = re.findall(r"^ok (.+)$", text, re.M)
        return "" if len(done) == parts else f"{len(done)} of {parts} parts are ok: {', '.join(done)}"
    return check


def cases():
    for client, version, packages, suffix, env in DEBIAN:
        for source in sorted(SOURCES.glob("*.c")):
            for ranks in (2, 4):
                for tls in TRANSPORTS:
                    def command(suffix=suffix, packages=tuple(packages), source=source, ranks=ranks):
                        return [f"mpirun.{suffix}", "-n", ranks, compiled(suffix, packages, source)]
                    yield Case(client, version, source.stem, tls, ranks, command, all_parts(source), env, routed=True,
                               long=source.stem == "threads" and ranks > 2)
