"""A row of the tables, the machine it is measured on, and the record of what was measured.

Sides take turns and the order flips, because the speed of a line between two cores of a virtual machine changes within
seconds: only neighbouring runs are compared, and the gain is the median of their ratios (above 1: ours is better).
The record is a file of one JSON object a row, written as rows are done, so that a run that was stopped goes on where it
was.
"""
import hashlib
import json
import os
import pathlib
import re
import statistics
import subprocess
import time
from dataclasses import dataclass
from typing import Callable, Optional

SIDES = ("upstream", "ours")
# Of the measured processes, where the machine lets them have one.
PRIORITY = 5
# A line that takes longer one way goes through a slower part of the host.
FAR_NS = 100


@dataclass
class Row:
    group: str
    name: str
    unit: str
    smaller_is_better: bool
    """Measures one side; None when it cannot."""
    measure: Callable[[str], Optional[float]]
    """What stands on the other side, where it is not upstream's library."""
    against: str = "upstream"
    """One figure says it: memory and descriptors do not vary."""
    once: bool = False

    def __post_init__(self):
        # Open MPI is compared with two others: the side belongs to the name.
        if self.against != "upstream":
            self.name += f", against {self.against}"


class Machine:
    """Where the two libraries are, and how processes are started."""

    def __init__(self, root, target, scale, cores=()):
        self.root, self.scale = root, scale
        script = subprocess.run([root / "scripts/upstream"], check=True, capture_output=True, text=True)
        self.wheel = pathlib.Path(script.stdout.strip())
        self.ours = target / "prefix-release"
        subprocess.run([root / "scripts/stage", self.ours, "release"], check=True)
        self.work = target / "bench"
        self.work.mkdir(parents=True, exist_ok=True)
        self.lib = {"upstream": self.wheel / "lib", "ours": self.ours / "lib"}
        # FIFO would starve a progress thread on the same core.
        self.priority = ["chrt", "-r", str(PRIORITY)] if os.getuid() == 0 else []
        self.cores = list(cores) or sorted(os.sched_getaffinity(0))
        if cores:
            # Programs pin themselves by this list; what does not pin itself stays on these.
            os.environ["BENCH_CORES"] = ",".join(map(str, cores))
            os.sched_setaffinity(0, set(cores))
        self.library = hashlib.sha256((self.ours / "lib/libucp.so.0.0.0").read_bytes()).hexdigest()[:12]
        model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
        self.processor = f"{model[1] if model else 'unknown processor'}, {len(self.cores)} processors"
        if cores:
            self.processor += f" ({os.environ['BENCH_CORES']})"
        self.state = self.program("core_state", [])

    def command(self, core, shared=False):
        """Words in front of a program that is to run on one core; `shared` with others, which it is not put before."""
        return [*([] if shared else self.priority), "taskset", "-c", str(self.cores[core % len(self.cores)])]

    def environment(self, side, variables=None):
        return {**os.environ, "LD_LIBRARY_PATH": str(self.lib[side]), "UCX_WARN_UNUSED_ENV_VARS": "n", **(variables or {})}

    def lifetime_ms(self, program, word, side):
        """Milliseconds from the start of a program, by the system call itself, to its end."""
        before = os.sched_getaffinity(0)
        words = {"scheduler": (os.SCHED_RR, os.sched_param(PRIORITY))} if self.priority else {}
        silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
        os.sched_setaffinity(0, {self.cores[-1]})
        begin = time.monotonic()
        try:
            pid = os.posix_spawn(program, [str(program), word], self.environment(side), file_actions=silent, **words)
            _, status = os.waitpid(pid, 0)
            end = time.monotonic()
        finally:
            os.sched_setaffinity(0, before)
        if status:
            raise subprocess.CalledProcessError(status, [str(program), word])
        return (end - begin) * 1e3

    def program(self, name, libraries, compiler="gcc"):
        """A program of benches/programs, compiled."""
        source = self.root / "benches/programs" / f"{name}.c"
        out = self.work / f"{name}-{pathlib.Path(compiler).name}"
        subprocess.run([compiler, "-std=gnu11", "-O2", "-w", "-I", self.ours / "include", "-o", out, source,
                        f"-L{self.ours}/lib", *libraries], check=True)
        return out

    def line_ns(self):
        """Nanoseconds that a cache line takes one way between the two processors now; None with one."""
        if len(self.cores) < 2:
            return None
        done = subprocess.run([*self.priority, self.state], capture_output=True, text=True, timeout=60)
        found = re.search(r"line ([\d.]+)", done.stdout)
        return float(found[1]) if found else None


def rate_of(each_us, size, metric):
    """What one message each so many microseconds makes: a rate ("mr"), MB/s ("bw"), or the time itself."""
    return {"mr": 1e6 / each_us, "bw": size / each_us * 1e6 / 2**20}.get(metric, each_us)


def state_of(line_ns):
    return "?" if line_ns is None else "far" if line_ns > FAR_NS else "near"


def measure(row, machine, reps):
    """The record of a row: figures of both sides, ratios of neighbours, and how near the processors were."""
    figures = {side: [] for side in SIDES}
    ratios, states = [], []
    for rep in range(1 if row.once else reps):
        line = machine.line_ns()
        now = {side: row.measure(side) for side in (SIDES if rep % 2 == 0 else SIDES[::-1])}
        for side, value in now.items():
            if value is not None:
                figures[side].append(value)
        states.append(line)
        if all(value is not None for value in now.values()):
            upper, lower = (now["upstream"], now["ours"]) if row.smaller_is_better else (now["ours"], now["upstream"])
            ratios.append(upper / lower if lower else float("inf") if upper else 1.0)
        elif rep == 0:
            break  # what fails at first will not get better
    return {"group": row.group, "name": row.name, "unit": row.unit, "smaller": row.smaller_is_better,
            "against": row.against, "figures": figures, "ratios": ratios, "line_ns": states,
            "date": time.strftime("%Y-%m-%d", time.gmtime()), "processor": machine.processor, "reps": reps,
            "scale": machine.scale, "library": machine.library}


def of_one_placement(record):
    """The record without the runs in which the processors were otherwise placed than in most: their figures are not
    comparable. `left_out` is their number."""
    states = [state_of(line) for line in record["line_ns"]]
    placement = max(sorted(set(states), reverse=True), key=states.count)
    lists = [record["ratios"], *record["figures"].values()]
    if states.count(placement) == len(states) or any(len(values) != len(states) for values in lists):
        return record

    def kept(values):
        return [value for value, state in zip(values, states) if state == placement]

    return {**record, "figures": {side: kept(values) for side, values in record["figures"].items()},
            "ratios": kept(record["ratios"]), "line_ns": kept(record["line_ns"]),
            "left_out": len(states) - states.count(placement)}


def gain_of(record):
    return statistics.median(record["ratios"]) if record["ratios"] else None


class Record:
    """What was measured, by group and name."""

    def __init__(self, path):
        self.path, self.rows = path, {}
        if path.exists():
            for line in path.read_text().splitlines():
                self.put(json.loads(line))

    def put(self, row):
        self.rows[row["group"], row["name"]] = row

    def add(self, row):
        self.put(row)
        self.write()

    def fresh(self, machine, reps):
        """The rows that were measured with this library and as often."""
        wanted = (machine.library, reps, machine.scale)
        return {key for key, row in self.rows.items() if (row["library"], row["reps"], row["scale"]) == wanted}

    def forget(self, groups):
        self.rows = {key: row for key, row in self.rows.items() if key[0] not in groups}
        self.write()

    def write(self):
        new = self.path.with_suffix(".new")
        new.write_text("".join(json.dumps(row) + "\n" for row in self.rows.values()))
        new.replace(self.path)

    def of_one_placement(self):
        """The figures to show."""
        shown = Record(self.path)
        shown.rows = {key: of_one_placement(row) for key, row in self.rows.items()}
        return shown

    def group(self, name):
        return [row for (group, _), row in self.rows.items() if group == name]
