"""MPI programs with some ranks on upstream's library and the others on ours, over tcp. Used by tests/interop."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/client"))

from case import all_parts, need, watched  # noqa: E402
from mpi import FLAGS, MPICH, OPENMPI  # noqa: E402

# Commands' suffix, Debian packages and environment of each MPI, and the ranks on upstream of 2 and of 4. With MPICH two
# ranks on upstream may wait for each other for ever in MPI_Finalize, with no other library in the job.
MPIS = {"MPICH": ("mpich", ["mpich", "libmpich-dev"], MPICH, {2: [1], 4: [1]}),
        "Open MPI": ("openmpi", ["openmpi-bin", "libopenmpi-dev"], OPENMPI, {2: [1], 4: [1, 3]})}
# What a rank on upstream says when others have ended their part of a window before it: in jobs without this library too.
LEFT = re.compile(r" flush\.c:\d+ .* error during flush: (Connection reset by remote peer|Endpoint timeout)")
# Every rank but those runs on ours.
RANK = """rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
case " $UPSTREAM_RANKS " in
*" $rank "*) export LD_LIBRARY_PATH=$UPSTREAM ;;
*) export LD_LIBRARY_PATH=$OURS ;;
esac
exec "$0"
"""


def compiled(name, source, folder):
    """The program, for this MPI."""
    suffix, packages, _, _ = MPIS[name]
    need("gcc", *packages)
    program = folder / f"{source.stem}-{suffix}"
    if not program.exists():
        done = subprocess.run([f"mpicc.{suffix}", *FLAGS, "-o", program, source, "-pthread"], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{source.name} does not compile with {name}:\n{done.stderr}")
    return program


def run(name, program, source, ranks, ours, upstream, env, limit):
    """What is wrong with a run, if anything is. `ours` and `upstream` are folders of libraries."""
    suffix, _, mpi_env, on_upstream = MPIS[name]
    chosen = on_upstream[ranks]
    words = {"OURS": str(ours), "UPSTREAM": str(upstream), "UPSTREAM_RANKS": " ".join(map(str, chosen)), "UCX_TLS": "tcp"}
    command = [f"mpirun.{suffix}", "-n", ranks, "sh", "-c", RANK, program]
    status, text, _ = watched(command, {**env, **mpi_env, **words}, limit)
    if status != 0:
        return f"exit status {status}: {text[-400:]}"
    used = dict(re.findall(r"^library (\d+) (\S+)/libucp\.so\S*$", text, re.M))
    theirs = sum(pathlib.Path(path).resolve() == pathlib.Path(upstream).resolve() for path in used.values())
    if (len(used), theirs) != (ranks, len(chosen)):
        return f"{theirs} of {len(used)} ranks were on upstream: {sorted(set(used.values()))}"
    errors = [line for line in text.splitlines() if " ERROR " in line and not LEFT.search(line)]
    return all_parts(source)(text) or (f"{errors}" if errors else "")
