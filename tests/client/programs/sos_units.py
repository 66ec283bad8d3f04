"""Runs the unit tests of Sandia OpenSHMEM, two ranks each, and says which fail.

    sos_units.py FOLDER LIBRARIES

LIBRARIES is the folder where its own library is installed."""
import os
import pathlib
import subprocess
import sys

LIMIT = 180  # seconds for one
ENVIRONMENT = {**os.environ, "LD_LIBRARY_PATH": f"{os.environ.get('LD_LIBRARY_PATH', '')}:{sys.argv[2]}"}


def passes(program):
    try:
        return subprocess.run(["mpiexec.hydra", "-n", "2", program], cwd=program.parent, env=ENVIRONMENT,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              timeout=LIMIT).returncode == 0
    except subprocess.TimeoutExpired:
        return False


# libtool makes scripts where a library is not installed, and the programs in .libs.
programs = {path.name: path for folder in ("", ".libs") for path in (pathlib.Path(sys.argv[1]).resolve() / folder).glob("*")
            if path.is_file() and os.access(path, os.X_OK) and path.suffix == "" and path.read_bytes()[:4] == b"\x7fELF"}
failed = [name for name, path in sorted(programs.items()) if not passes(path)]
print(f"{len(failed)} of {len(programs)} fail: {', '.join(failed)}" if failed or not programs else
      f"all {len(programs)} pass")
