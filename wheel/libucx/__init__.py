"""The libraries of ferrucx under the package name that the wheel `libucx-cu12` uses.

`load_library()` loads them; an extension module that is linked with `libucp.so.0` and imported later then gets these.
"""
import ctypes
import os
import pathlib

__all__ = ["__git_commit__", "__version__", "load_library"]

_HERE = pathlib.Path(__file__).resolve().parent
_ORDER = ("libucs.so", "libucs_signal.so", "libuct.so", "libucp.so")


def _line(name):
    path = _HERE / name
    return path.read_text().strip() if path.exists() else ""


__version__ = _line("UCX_WHEEL_VERSION.txt")
__git_commit__ = _line("GIT_COMMIT")


def _open(name, system):
    """A handle, or None where neither place has the library. Symbols stay out of the global scope."""
    if system:
        try:
            return ctypes.CDLL(name, ctypes.RTLD_LOCAL)
        except OSError:
            pass
    path = _HERE / "lib" / name
    return ctypes.CDLL(str(path), ctypes.RTLD_LOCAL) if path.is_file() else None


def load_library():
    """Loads libucs, libucs_signal, libuct and libucp and returns their handles in this order.

    The libraries are those of this package. With RAPIDS_LIBUCX_PREFER_SYSTEM_LIBRARY set to anything but "false" the
    loader's search path is tried first.
    """
    system = os.environ.get("RAPIDS_LIBUCX_PREFER_SYSTEM_LIBRARY", "false").lower() != "false"
    # libucp holds the code and the others refer to it by its SONAME. A wheel has copies in the place of symbolic links:
    # were libucp.so not the first, the others would have loaded the copy libucp.so.0, and libucp.so would be a second
    # library with a state of its own.
    handles = {name: _open(name, system) for name in reversed(_ORDER)}
    return [handles[name] for name in _ORDER]
