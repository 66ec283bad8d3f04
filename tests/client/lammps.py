"""LAMMPS of Debian: a melt of a Lennard-Jones crystal. What it prints of energy and pressure has to be the same to the
last digit, whatever carries its messages."""
import re

from case import TARGET, Case, need
from mpi import OPENMPI

TRANSPORTS = ["all", "tcp,self", "posix,self", "sysv,self", "posix,cma,self"]
INPUT = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 {size} 0 {size} 0 {size}
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
thermo 10
run {steps}
"""


def energies(text):
    """Step, temperature, energies and pressure."""
    return [" ".join(line.split()) for line in text.splitlines() if re.fullmatch(r"( +-?[\d.e+-]+){6} *", line)]


def cases():
    for ranks, size, steps in ((2, 8, 100), (4, 12, 200)):
        for tls in TRANSPORTS:
            def command(ranks=ranks, size=size, steps=steps):
                need("lammps", "openmpi-bin")
                path = TARGET / "clients" / f"melt-{size}.in"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(INPUT.format(size=size, steps=steps))
                return ["mpirun.openmpi", "-n", ranks, "lmp", "-in", path, "-log", "none"]

            def check(text, steps=steps):
                found = len(energies(text))
                return "" if found == steps // 10 + 1 else f"{found} of {steps // 10 + 1} lines of energies"
            yield Case("LAMMPS", "Open MPI 4.1.4 (Debian)", f"melt of {4 * size ** 3} atoms", tls, ranks, command, check, OPENMPI,
                       routed=True, numbers=energies, long=(ranks, tls) != (4, "all"))
