"""Clients of PyPI that are not an MPI: connex_rs (one-sided transfers, death of a peer), Dask's communication by ucxx,
and commux, a backend of torch.distributed. No GPU."""
import functools
import subprocess

import ucxx_api
from case import ROOT, Case, Missing, wheels
from python import PROGRAMS, all_parts

CONNEX, DASK, COMMUX = "0.1.2", "0.52.0", "0.2.1"
# What rapids-dask-dependency 26.10 asks for.
PYTHON = ["distributed==2026.7.1", "dask==2026.7.1", "pyyaml"]
# What commux was compiled for; later ones lack a symbol of it.
TORCH = "2.12.1"


@functools.cache
def upstream(version="1.22.0"):
    """The folder with upstream's libraries, for clients that bring none."""
    done = subprocess.run([ROOT / "scripts/upstream", version], capture_output=True, text=True)
    if done.returncode != 0:
        raise Missing(f"upstream's libraries are not to be had: {done.stderr.strip()[-200:]}")
    return f"{done.stdout.strip()}/lib"


def connex():
    return wheels("connex", f"connex-rs=={CONNEX}", "numpy==2.2.6", options=["--only-binary=:all:"]) / "bin/python"


def dask():
    ucxx_api.interpreter()  # says whether this Python will do
    folder = wheels("dask", *PYTHON)
    packages = [*ucxx_api.PACKAGES, f"distributed-ucxx-cu12=={DASK}"]
    stamp = folder / "ucxx"
    if not stamp.exists():
        done = subprocess.run([folder / "bin/pip", "install", "-q", "--no-deps", "--disable-pip-version-check", *packages],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise Missing(f"distributed-ucxx is not to be had: {done.stderr.strip()[-200:]}")
        stamp.touch()
    return folder / "bin/python"


def commux():
    return wheels("commux", f"commux=={COMMUX}", f"torch=={TORCH}", "numpy==2.2.6") / "bin/python"


def tensors(what, tls, **settings):
    """PyTorch brings libraries of five gigabytes for devices."""
    program = PROGRAMS / "commux_backend.py"
    return Case("commux", COMMUX, what, tls, 3, lambda: [commux(), program, 3], all_parts(program),
                env={"COMMUX_GROUP": "1", **settings}, long=True)


def cases():
    engine, cluster = PROGRAMS / "connex_engine.py", PROGRAMS / "dask_cluster.py"
    for tls in ("tcp", "all"):
        # The second process of a pair begins again three times.
        yield Case("connex-rs", CONNEX, "one-sided transfers, death and return of a peer", tls, 2,
                   lambda: [connex(), engine], all_parts(engine), long=tls != "all",
                   env=lambda: {"LD_LIBRARY_PATH": upstream(), "UCX_TCP_CM_REUSEADDR": "y"})
        yield Case("distributed-ucxx", DASK, "Dask cluster of two workers", tls, 3, lambda: [dask(), cluster],
                   all_parts(cluster), switch=ucxx_api.switch, swapped=ucxx_api.SWAPPED, long=tls != "all")
    for tls in ("all", "tcp,self", "posix,self"):
        yield tensors("torch.distributed", tls)
        yield tensors("torch.distributed, tensors of a message as one", tls, COMMUX_COALESCE="1")
