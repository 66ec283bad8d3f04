"""NIXL with its UCX backend: memory to memory, by a program of ours. No GPU.

Its UCX has names with a hash in them, found beside it (DT_RPATH). So it is switched in a copy of the package, of hard
links, where those names are links to our libraries."""
import functools
import os
import re
import shutil

from case import TARGET, Case, wheels
from python import PROGRAMS, all_parts

# 1.0.0 has UCX 1.20 inside; the newest has 1.23, which it asks for when it starts.
VERSIONS = ["1.0.0", "1.5.1"]
TRANSPORTS = ["tcp", "all"]


def installed(version):
    return wheels(f"nixl-{version}", f"nixl-cu12=={version}", "numpy==2.2.6", options=["--no-deps"])


def switched(version, prefix):
    """A copy of the package whose UCX is ours. Its folder."""
    (package,) = installed(version).glob("lib/python*/site-packages")
    copy = TARGET / "clients" / f"nixl-{version}-{prefix.name}"
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir()
    for part in package.glob("*nixl*"):
        shutil.copytree(part, copy / part.name, copy_function=os.link, symlinks=True)
    for library in (copy / "nixl_cu12.libs").iterdir():
        if name := re.fullmatch(r"(libuc[ptsm])-\w+(\.so\.0)\.0\.0", library.name):
            library.unlink()
            library.symlink_to((prefix / "lib" / (name[1] + name[2])).resolve())
    return copy


def switch(version, prefix):
    return {"LD_LIBRARY_PATH": str(prefix / "lib"), "PYTHONPATH": str(switched(version, prefix))}


def cases():
    path = PROGRAMS / "nixl_agents.py"
    for version in VERSIONS:
        for tls in TRANSPORTS:
            for ranks, way in ((1, "one"), (2, "two")):
                def command(version=version, way=way):
                    return [installed(version) / "bin/python", path, way]
                short = (version, tls, way) in [("1.0.0", "all", "two")]
                yield Case("NIXL", version, "writes, reads and notifications", tls, ranks, command, all_parts(path),
                           switch=functools.partial(switch, version),
                           swapped="links in a copy of the package", long=not short)
