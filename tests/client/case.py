"""What one run of a client is: its command, its environment, how many processes must have our library, its verdict.

Every module beside this one has a function that makes a list of `Case`s; `tests/clients` runs them."""
import functools
import hashlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
sys.path.insert(0, str(ROOT / "tests/upstream"))

from launch import Missing  # noqa: E402, F401: raised by the makers, caught by tests/clients

FAMILY = re.compile(r"/libuc[ptsm][^/]*\.so[^/]*$")
FRAME = re.compile(r"^frame (\S*/libuc[ptsm][^/]*\.so\S*)\+(0x[0-9a-f]+).*$", re.M)
# A process that dies says where; see also programs/backtrace.c.
SAYING = {"RUST_BACKTRACE": "1", "PYTHONFAULTHANDLER": "1"}
EVERY = 0.02  # seconds between two looks at the processes of a run


@dataclass
class Case:
    """One command, run on upstream's library or on ours.

    `command` is a list, or a function that installs and compiles what the client needs and then returns the list; it
    raises `Missing` when that is not to be had, and is called for the cases that run, only. `env`, or what it returns, goes on top of an environment without UCX_*;
    `check(text)` says what is wrong with what was printed, "" if nothing is. `ucx` is the number of processes that must have loaded UCX, all of it from our prefix. A client that
    finds the library by another way than LD_LIBRARY_PATH has `switch(prefix)`, which prepares that and gives the
    variables for it, and `swapped` says how. With `routed`, our library must have told that messages went by the transports of UCX_TLS. One that
    `refuses` must end with another status than 0. `numbers(text)` lists what the client has computed, which has to be
    the same on both libraries."""
    client: str
    version: str
    what: str
    tls: str
    ranks: int
    command: object
    check: object = lambda text: ""
    env: object = field(default_factory=dict)
    ucx: int | None = None
    long: bool = False
    limit: int = 120
    switch: object = None
    swapped: str = "LD_LIBRARY_PATH"
    cwd: pathlib.Path | None = None
    routed: bool = False
    refuses: bool = False
    numbers: object = None

    @property
    def name(self):
        return f"{self.client} {self.version}: {self.what}, {self.ranks} ranks, {self.tls}"

    def run(self, prefix):
        """(verdict, detail, seconds, output); `prefix` is None for the library that the client comes with."""
        env = {key: value for key, value in os.environ.items() if not key.startswith("UCX_")}
        env |= SAYING | {"UCX_TLS": self.tls, **(self.env() if callable(self.env) else self.env)}
        if prefix and self.switch:
            env |= self.switch(prefix)
        elif prefix:
            env["LD_LIBRARY_PATH"] = str(prefix / "lib")
        if prefix:
            env["LD_PRELOAD"] = f"{env.get('LD_PRELOAD', '')} {preload('backtrace')}".strip()
        command = self.command() if callable(self.command) else self.command
        with tempfile.TemporaryDirectory() as logs:
            if prefix and self.routed:
                env |= {"UCX_LOG_LEVEL": "info", "UCX_LOG_FILE": f"{logs}/%p"}
            start = time.monotonic()
            status, text, loaded = watched(command, env, self.limit, self.cwd)
            seconds = time.monotonic() - start
            # A process that ends between two looks can have said itself what it has mapped.
            for pid, path in re.findall(r"library (\d+) (/\S+)", text):
                loaded.setdefault(int(pid), set()).add(path)
            log = "".join(path.read_text(errors="replace") for path in pathlib.Path(logs).iterdir())
        wrong = "" if status != "timeout" and (status != 0) == self.refuses else f"exit {status}"
        wrong = wrong or self.check(text) or prefix and self.strangers(prefix, loaded)
        wrong = wrong or prefix and self.routed and self.detour(log)
        text += "".join(line + "\n" for line in log.splitlines() if " INFO " not in line)
        if not wrong and self.numbers:
            lines = self.numbers(text)
            digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]
            return "pass", f"{len(lines)} results, {digest}", seconds, text
        return ("fail" if wrong else "pass"), wrong or "", seconds, text

    def strangers(self, prefix, loaded):
        """What the memory maps of the processes show that should not be."""
        home = prefix.resolve()
        strange = {path for paths in loaded.values() for path in paths if home not in pathlib.Path(path).parents}
        if strange:
            return f"loaded {sorted(strange)[0]}"
        wanted = self.ranks if self.ucx is None else self.ucx
        if len(loaded) < wanted:
            return f"{len(loaded)} of {wanted} processes have loaded our library"
        return ""

    def detour(self, log):
        """What is wrong with the transports that our library says it uses for messages."""
        ways = set(re.findall(r"cfg#\d+ .*?\btag\(([a-z]+)/", log))
        if self.tls != "all" and not ways <= set(self.tls.split(",")) or not ways - {"self"}:
            return f"messages went by {', '.join(sorted(ways)) or 'nothing of ours'}"
        return ""


def descendants(root, known):
    """Processes that `root` started, directly or not; `known` are those found before, whose parents may be gone."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = pathlib.Path(f"/proc/{entry}/stat").read_text()
            except OSError:
                continue
            parents[int(entry)] = int(stat.rpartition(")")[2].split()[1])
    found = {root} | known & parents.keys()
    grown = True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        found |= more
        grown = bool(more)
    return found


def mapped(pid):
    """Files of UCX that a process has mapped."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()
    except OSError:
        return set()
    paths = {line.split(None, 5)[5] for line in lines if line.count("/") and len(line.split(None, 5)) == 6}
    return {path.removesuffix(" (deleted)") for path in paths if FAMILY.search(path)}


def watched(command, env, limit, cwd=None):
    """Exit status ("timeout" when stopped), stdout and stderr together, and {pid: files of UCX it has mapped}."""
    loaded, known, ended = {}, set(), threading.Event()

    def look():
        while not ended.wait(EVERY):
            known.update(descendants(process.pid, known))
            for pid in known:
                if paths := mapped(pid):
                    loaded.setdefault(pid, set()).update(paths)

    with tempfile.TemporaryFile("w+", errors="replace") as file:
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=file,
                                   stderr=subprocess.STDOUT, env=env, start_new_session=True, cwd=cwd)
        watcher = threading.Thread(target=look)
        watcher.start()
        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            # A launcher ends its ranks when it is asked to end, and cannot when it is killed.
            status = "timeout"
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        ended.set()
        watcher.join()
        for pid in known & descendants(process.pid, known) - {process.pid}:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        file.seek(0)
        return status, file.read(), loaded


def all_parts(program, mark=r"^\s+part\("):
    """A check that every part of the program has said ok; `mark` is how its source names one."""
    parts = len(re.findall(mark, program.read_text(), re.M))

    def check(text):
        done = re.findall(r"^ok (.+)$", text, re.M)
        return "" if len(done) == parts else f"{len(done)} of {parts} parts are ok: {', '.join(done)}"
    return check


def located(text):
    """The text, where frames of our library that programs/backtrace.c has printed are told by function and line."""
    def place(match):
        address = hex(int(match[2], 16) - 1)  # of the call, not of where it returns to
        done = subprocess.run(["addr2line", "-Cfipe", match[1], address], capture_output=True, text=True)
        functions = done.stdout.strip().replace("\n (inlined by)", ",")
        return f"frame {functions} in {match[1]}+{match[2]}"
    return FRAME.sub(place, text)


def need(*packages):
    """Installs Debian packages, or says why they are missing."""
    done = subprocess.run([ROOT / "scripts/need", *packages], capture_output=True, text=True)
    if done.returncode != 0:
        raise Missing(done.stdout.strip())


@functools.cache
def preload(name):
    """Path of one of programs/, compiled for LD_PRELOAD."""
    need("gcc")
    library = TARGET.resolve() / f"clients/{name}.so"
    library.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", library,
                    ROOT / f"tests/client/programs/{name}.c"], check=True)
    return str(library)


def wheels(name, *requirements, python=sys.executable, options=()):
    """A virtual environment of that name with those packages of PyPI; made once, then kept. Its folder."""
    folder = TARGET / "clients" / name
    stamp = folder / "installed"
    wanted = "\n".join([*requirements, *options])
    if stamp.exists() and stamp.read_text() == wanted:
        return folder
    for command in ([python, "-m", "venv", "--clear", folder],
                    [folder / "bin/pip", "install", "-q", "--disable-pip-version-check", *options, *requirements]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise Missing(f"{name} is not to be had: {(done.stderr.strip().splitlines() or ['?'])[-1][:200]}")
    stamp.write_text(wanted)
    return folder
