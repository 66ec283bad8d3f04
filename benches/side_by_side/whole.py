"""Rows of whole programs that use UCX: how long they take, or what they measure, with this library and with upstream's.

Collective operations of Debian's MPIs with more ranks than processors too, the HPC Challenge of Debian (HPL, PTRANS, random access,
FFT), mpi4py's own tests, ucxx's benchmark and NIXL. LD_LIBRARY_PATH decides which library it is, or what the package has for that
(tests/client). NIXL is compared with the UCX it comes with. What cannot be had on this machine has no rows."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from programs import mpirun
from rows import Row

LIMIT = 300
OPENMPI = ["--mca", "pml", "ucx", "--mca", "pml_ucx_tls", "any", "--mca", "pml_ucx_devices", "any"]
RANKS = (2, 4, 8, 16)
# Input of the HPC Challenge, a value a line: one matrix of order N in blocks of 80 on a grid of P times Q. Its first two lines
# and one in the middle are titles.
HPCC = "first\nsecond\nhpl.out 8 1 {n} 1 80 0 1 {p} {q} 16.0 1 2 1 4 1 2 1 1 1 1 1 0 2 64 0 0 1 8 title 0 0 0 0\n"
# What it tells, in which unit, and whether less is better.
TOLD = (("HPL_Tflops", "Tflop/s", False), ("PTRANS_GBs", "GB/s", False), ("MPIRandomAccess_GUPs", "GUP/s", False),
        ("MPIFFT_Gflops", "Gflop/s", False), ("RandomlyOrderedRingLatency_usec", "us", True),
        ("RandomlyOrderedRingBandwidth_GBytes", "GB/s", False))


class Shared:
    """Several rows of one run, `run(side)`: the first row runs it, the others get what it has told, in that order."""

    def __init__(self, run):
        self.run, self.left = run, {}

    def take(self, side, key):
        if not self.left.get((side, key)):
            for told, value in (self.run(side) or {}).items():
                self.left.setdefault((side, told), []).append(value)
        values = self.left.get((side, key))
        return values.pop(0) if values else None

    def row(self, name, key, unit, smaller, against="upstream"):
        return Row("whole", name, unit, smaller, lambda side: self.take(side, key), against=against)


class Whole:
    def __init__(self, machine, programs):
        self.machine, self.programs = machine, programs
        self.prefix = {"upstream": machine.wheel, "ours": machine.ours}
        sys.path[:0] = [str(machine.root / "tests" / folder) for folder in ("client", "upstream")]

    def rows(self):
        yield from self.collective_rows()
        yield from self.hpcc_rows()
        yield from self.mpi4py_rows()
        yield from self.ucxx_rows()
        yield from self.nixl_rows()

    def before(self, ranks):
        """Where there are more than processors, one with priority would keep another from what it waits for."""
        return self.machine.priority if ranks <= len(self.machine.cores) else []

    def collective_rows(self):
        for mpi, title, words in (("openmpi", "Open MPI", OPENMPI), ("mpich", "MPICH", [])):
            if not shutil.which(f"mpicc.{mpi}") or not shutil.which(f"mpirun.{mpi}"):
                continue
            for ranks in RANKS:
                def run(side, mpi=mpi, words=words, ranks=ranks):
                    program = self.programs.build("mpi_collectives", [], f"mpicc.{mpi}")
                    # Without its own ways within the host.
                    variables = {"MPIR_CVAR_NOLOCAL": "1"} if mpi == "mpich" else {}
                    command = [*self.before(ranks), *mpirun(mpi, words, ranks, program)]
                    return self.programs.figures(command, self.machine.environment(side, variables))

                shared = Shared(run)
                for size in (8, 4096, 262144):
                    for operation in ("allreduce", "alltoall", "bcast"):
                        yield shared.row(f"{title} {operation} {size}, {ranks} ranks", f"{operation} {size}", "us", True)

    def hpcc_rows(self):
        if subprocess.run([self.machine.root / "scripts/need", "hpcc", "openmpi-bin"], capture_output=True).returncode != 0:
            return
        for ranks, p, q in ((2, 1, 2), (4, 2, 2)):
            def run(side, ranks=ranks, p=p, q=q):
                with tempfile.TemporaryDirectory() as folder:
                    size = 640 if self.machine.scale < 0.5 else 1280
                    (pathlib.Path(folder) / "hpccinf.txt").write_text(hpcc_input(size, p, q))
                    command = [*self.before(ranks), *mpirun("openmpi", OPENMPI, ranks, shutil.which("hpcc"))]
                    environment = self.machine.environment(side, {"OPENBLAS_NUM_THREADS": "1"})
                    try:
                        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=LIMIT)
                        told = (pathlib.Path(folder) / "hpccoutf.txt").read_text()
                    except (subprocess.TimeoutExpired, FileNotFoundError):
                        return {}
                    if done.returncode != 0 or "Success=1" not in told:
                        return {}
                    return {key: float(value) for key, value in re.findall(r"^(\w+)=([\d.eE+-]+)$", told, re.M)}

            shared = Shared(run)
            for key, unit, smaller in TOLD:
                yield shared.row(f"hpcc on Open MPI: {key}, {ranks} ranks", key, unit, smaller)

    def of_case(self, case, name, against="upstream"):
        """Seconds of one of tests/client, whose verdict counts."""
        def seconds(side):
            prefix = None if side == "upstream" and against != "upstream" else self.prefix[side]
            verdict, _, took, _ = case.run(prefix)
            return took if verdict == "pass" else None

        return Row("whole", name, "s", True, seconds, against=against)

    def mpi4py_rows(self):
        import mpi4py_suite
        for case in mpi4py_suite.cases():
            if case.what == "tests of messages and windows" and case.ranks > 1:
                yield self.of_case(case, f"{case.client}: {case.what}, {case.ranks} ranks")

    def ucxx_rows(self):
        import ucxx_api
        from launch import Missing
        try:
            python = ucxx_api.interpreter()
        except Missing:
            return
        for backend in ("ucxx-core", "ucxx-async"):
            for tls in ("tcp", "all"):
                for size, count in ((8, 3000), (1 << 20, 300)):
                    def run(side, backend=backend, tls=tls, size=size, count=count):
                        words = ["-m", "ucxx.benchmarks.send_recv", "--backend", backend, "--object_type", "numpy", "--n-bytes", size,
                                 "--n-iter", max(10, int(count * self.machine.scale)), "--no-detailed-report"]
                        variables = {"UCX_TLS": tls, **ucxx_api.switch(self.prefix[side])}
                        try:
                            done = subprocess.run([str(word) for word in (python, *words)], env=self.machine.environment(side, variables),
                                                  capture_output=True, text=True, timeout=LIMIT)
                        except subprocess.TimeoutExpired:
                            return {}
                        return told_by_ucxx(done.stdout)

                    key, unit, smaller = ("latency", "us", True) if size == 8 else ("bandwidth", "MB/s", False)
                    yield Shared(run).row(f"ucxx's {backend} over {tls}, {key} {size}", key, unit, smaller)

    def nixl_rows(self):
        import nixl
        from launch import Missing
        version = nixl.VERSIONS[-1]
        try:
            python = nixl.installed(version) / "bin/python"
        except Missing:
            return
        for tls in ("tcp", "all"):
            def run(side, tls=tls):
                command = [python, self.machine.root / "benches/programs/nixl_transfer.py", self.machine.scale]
                # Its own UCX is what it finds without.
                environment = self.machine.environment("ours", {"UCX_TLS": tls})
                environment.pop("LD_LIBRARY_PATH")
                if side == "ours":
                    environment |= nixl.switch(version, self.machine.ours)
                return self.programs.figures(command, environment)

            shared = Shared(run)
            for way in ("write", "read"):
                for size, unit in ((8, "us"), (65536, "MB/s"), (1 << 24, "MB/s")):
                    yield shared.row(f"NIXL {version} over {tls}: {way} {size}", f"{way} {size}", unit, unit == "us", "its own UCX")


def hpcc_input(n, p, q):
    return HPCC.format(n=n, p=p, q=q).replace(" ", "\n")


def told_by_ucxx(text):
    """Bandwidth in MB/s and latency in microseconds."""
    factor = {"B": 1 / 2**20, "kiB": 1 / 1024, "KiB": 1 / 1024, "MiB": 1, "GiB": 1024, "ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}
    return {kind.lower(): float(value) * factor[unit]
            for kind, value, unit in re.findall(r"^(Bandwidth|Latency) \(median\)\W+([\d.]+) ?(\w+)", text, re.M) if unit in factor}
