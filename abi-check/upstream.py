"""Upstream's headers of every release, and libclang, fetched once by package name into .cache/.

Nothing fetched is committed or changed. A release that cannot be had is reported by its name and
reason, so that the checker can count it as skipped instead of passing quietly.
"""

import importlib
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FAMILIES = ("ucp", "uct", "ucs", "ucm")
SYSTEM_INCLUDE = pathlib.Path("/usr/include")
FETCH_TIMEOUT_S = 300
LIBCLANG = "libclang==18.1.1"


class Unavailable(Exception):
    """Something that had to be fetched could not be; the text says what and why."""


def read_table(path):
    """Rows of a tab-separated file without its comment lines."""
    rows = []
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            rows.append(line.split("\t"))
    return rows


def releases(data):
    """[(release, kind, package, version)] oldest first."""
    return [tuple(row[:4]) for row in read_table(data / "releases.tsv")]


def version_key(release):
    return tuple(int(part) for part in release.split("."))


def headers_of(release, kind, package, version, cache):
    """The include folder of one release; fetches it when the cache has none."""
    target = cache / "upstream" / release / "include"
    whole = cache / f"ucx-{release}" / "libucx/include"  # where scripts/upstream unpacks a whole wheel
    for include in (target, whole):
        if complete(include, release):
            return include
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    if kind == "deb":
        from_debian(release, package, cache, target)
    else:
        from_wheel(package, version, cache, target)
    if not complete(target, release):
        raise Unavailable(f"{package} holds no headers of {release}")
    return target


def complete(include, release):
    version = include / "ucp/api/ucp_version.h"
    if not version.is_file() or not (include / "uct/api/uct.h").is_file():
        return False
    found = re.search(r'UCP_API_VERSION_STR\s+"([\d.]+)"', version.read_text())
    if found:
        return found.group(1).split(".")[:2] == release.split(".")[:2]
    major, minor = (
        re.search(rf"UCP_API_{part}\s+(\d+)", version.read_text()) for part in ("MAJOR", "MINOR")
    )
    return bool(major and minor) and [major.group(1), minor.group(1)] == release.split(".")[:2]


def from_debian(release, package, cache, target):
    """The installed package when it is that release, else a download of it."""
    source = SYSTEM_INCLUDE
    if not complete(source, release):
        work = cache / "upstream" / release / "deb"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        run(["apt-get", "download", package], work, package)
        debs = list(work.glob("*.deb"))
        if not debs:
            raise Unavailable(f"{package}: nothing was downloaded")
        run(["dpkg-deb", "-x", str(debs[0]), "root"], work, package)
        source = work / "root/usr/include"
    for family in FAMILIES:
        if (source / family).is_dir():
            shutil.copytree(source / family, target / family)


def from_wheel(package, version, cache, target):
    """Only the headers leave the wheel: the file itself is large and is removed again."""
    work = cache / "upstream" / "wheels"
    work.mkdir(parents=True, exist_ok=True)
    pip("download", "--no-deps", "--only-binary=:all:", "-d", str(work), f"{package}=={version}")
    stem = package.replace("-", "_")
    wheels = list(work.glob(f"{stem}-{version}-*.whl"))
    if not wheels:
        raise Unavailable(f"{package} {version}: nothing was downloaded")
    with zipfile.ZipFile(wheels[0]) as wheel:
        for name in wheel.namelist():
            parts = pathlib.PurePosixPath(name).parts
            if parts[:2] != ("libucx", "include") or name.endswith("/") or ".." in parts:
                continue
            path = target.joinpath(*parts[2:])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(wheel.read(name))
    wheels[0].unlink()


def clang(cache):
    """The libclang binding, installed beside the headers so that the system stays untouched."""
    folder = cache / "abi-check-python"
    if not (folder / "clang/cindex.py").is_file():
        pip("install", "--no-deps", "--target", str(folder), LIBCLANG)
    sys.path.insert(0, str(folder))
    return importlib.import_module("clang.cindex")


def pip(verb, *arguments):
    run([python_with_pip(), "-m", "pip", verb, "-q", "--disable-pip-version-check", *arguments], None, arguments[-1])


def python_with_pip():
    """This python when it has pip, else one in .cache/venv that is made once."""
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode == 0:
        return sys.executable
    venv = ROOT / ".cache/venv"
    if not (venv / "bin/pip").exists():
        run([str(ROOT / "scripts/need"), "python3-venv"], None, "python3-venv")
        run([sys.executable, "-m", "venv", str(venv)], None, "python3 -m venv")
    return str(venv / "bin/python")


def run(command, folder, what):
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=FETCH_TIMEOUT_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{what}: {error}") from error
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
        raise Unavailable(f"{what}: {last}")
