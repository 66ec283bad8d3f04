"""Recipe for Spack: a package that provides what those with `depends_on("ucx")` need, from the archive of `make dist`.

    spack repo create REPOSITORY; cp -r packaging/spack REPOSITORY/packages/ferrucx
    spack mirror add ferrucx DIRECTORY      # with ferrucx/ferrucx-1.22.0.tar.gz
    spack install ferrucx

A package that names ucx takes this one as an external: `packages: ucx: externals: [{spec: ucx@1.22.0, prefix: …}]`."""
from spack.package import *


class Ferrucx(Package):
    """Unified Communication X libraries (libucp, libuct, libucs, libucm), implemented in Rust."""

    homepage = "https://ferrucx.invalid/"
    license("BSD-3-Clause")

    # The archive is the one that the user has made: its checksum is the user's to add.
    version("1.22.0")

    depends_on("c", type="build")
    depends_on("rust@1.88:", type="build")
    depends_on("gmake", type="build")

    def install(self, spec, prefix):
        make("install", f"PREFIX={prefix}", "DESTDIR=")
