"""Runs the unit tests of Sandia OpenSHMEM, two ranks each, and says which fail.

    sos_units.py FOLDER LIBRARIES

FOLDER has the compiled tests, LIBRARIES the client's own library. A test passes that ends with status 0."""
import os
import pathlib
import sys

sys.dont_write_bytecode = True

import launcher

LIMIT = 180  # seconds for one


def wrong(program, env):
    """What is wrong with a run, "" if nothing."""
    status, _ = launcher.run(["mpiexec.hydra", "-n", "2", program], LIMIT, cwd=program.parent, env=env)
    return {None: "hangs", 0: ""}.get(status, f"exit {status}")


def programs(folder):
    """The tests by name. libtool makes scripts where a library is not installed, and the programs in .libs."""
    paths = (path for place in (folder, folder / ".libs") for path in place.glob("*"))
    return {path.name: path for path in paths if path.is_file() and os.access(path, os.X_OK) and path.suffix == ""
            and path.read_bytes()[:4] == b"\x7fELF"}


def main():
    folder, libraries = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    env = {**os.environ, "LD_LIBRARY_PATH": f"{os.environ.get('LD_LIBRARY_PATH', '')}:{libraries}"}
    tests = sorted(programs(folder).items())
    failed = []
    for name, path in tests:
        reason = wrong(path, env)
        print(f"fail {name}: {reason}" if reason else f"pass {name}", flush=True)
        failed += [name] if reason else []
    print(f"{len(failed)} of {len(tests)} fail: {', '.join(failed)}" if failed or not tests else f"all {len(tests)} pass")


if __name__ == "__main__":
    main()
