"""How the cost of one operation grows with the number N of its kind, on this library and on upstream 1.22.0.

    python3 benches/curves [--only REGEX] [--reps N] [--ours] [--report]
    python3 benches/curves --check [--only REGEX]

Each row is one of benches/programs/curves.c with a list of transports. valgrind counts the instructions of its operations alone,
which are exact on a busy machine; what the kernel does is not among them, so the time and the memory of one operation
stand beside, measured without valgrind: the least of the repetitions, which alternate between the libraries. The
exponent is the slope of the straight line through the last three points in log-log: 0 where the cost does not depend on
N, 1 where it is proportional. Rows whose instructions mean nothing, since they wait for another process, have that of the time.
Writes the table and the charts into docs/results/PERFORMANCE.md, from benches/curves/record.jsonl. Exit status 1 when an exponent
of this library is above its bound.

    --only      measures the rows whose text or name matches; the others keep what they had
    --ours      measures this library alone
    --report    measures nothing, writes the table and the charts
    --check     the short test: counts this library's rows with two small numbers, prints "ok|not ok ROW", writes nothing
"""
import argparse
import concurrent.futures
import datetime
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import rows  # noqa: E402  (it stands beside this file, which needs no copy of it)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
SOURCE = ROOT / "benches/programs/curves.c"
RECORD = pathlib.Path(__file__).with_name("record.jsonl")
PAGE = ROOT / "docs/results/PERFORMANCE.md"
CHARTS = ROOT / "docs/results/curves"
BEGIN, END = "<!-- curves: written by make curves -->", "<!-- end of the curves -->"
# Seconds. What takes longer on one library is not run with a larger N.
LIMIT_S = 60
# Operations among N others that are counted.
COUNT = 1000


class Programs:
    def __init__(self, with_upstream):
        prefix = TARGET / "prefix-release"
        subprocess.run([ROOT / "scripts/stage", prefix, "release"], check=True)
        self.libraries = {"ours": prefix / "lib"}
        if with_upstream:
            upstream = subprocess.run([ROOT / "scripts/upstream"], check=True, capture_output=True, text=True).stdout.strip()
            self.libraries["upstream"] = next(pathlib.Path(upstream).glob("**/libucp.so.0")).parent
        self.program = TARGET / "curves"
        subprocess.run(["gcc", "-O2", "-Wall", "-Werror", f"-I{prefix}/include", "-o", self.program, SOURCE, f"-L{prefix}/lib",
                        "-lucp", "-lucs"], check=True)

    def run(self, library, row, n, before=(), **variables):
        """Operations, nanoseconds and bytes of one, and the process; None where it does not run or takes too long."""
        env = {**os.environ, "UCX_LOG_LEVEL": "fatal", "UCX_WARN_UNUSED_ENV_VARS": "n", **row.env, **variables,
               "LD_LIBRARY_PATH": str(self.libraries[library])}
        with subprocess.Popen([*before, self.program, row.name, str(n)], env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True) as process:
            try:
                out, _ = process.communicate(timeout=LIMIT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                return None
        if process.returncode != 0:
            return None
        return (*map(float, out.split()), process.pid)

    def measure(self, library, row, n):
        """Nanoseconds and bytes of one operation."""
        done = self.run(library, row, n)
        return done and done[1:3]

    def instructions(self, library, row, n):
        """Of one operation: those of the thread that does them, not of the library's threads, nor of a process that it forks. valgrind
        has no pidfds, so that a thread of the library looks after each peer every 50 ms, which no program meets elsewhere."""
        with tempfile.TemporaryDirectory() as folder:
            done = self.run(library, row, n, ("valgrind", "--tool=callgrind", "--separate-threads=yes", "--instr-atstart=no",
                                              f"--callgrind-out-file={folder}/%p"), CURVES_COUNT=str(COUNT))
            if done is None:
                return None
            found = re.search(r"^totals: (\d+)", (pathlib.Path(folder) / f"{done[3]}-01").read_text(), re.M)
            return max(int(found[1]) / done[0], 1) if found else None


def slope(points):
    """Of the straight line through (N, cost), both by their logarithms."""
    if len(points) < 2:
        return None
    x, y = zip(*((math.log(n), math.log(cost)) for n, cost in points))
    middle = sum(x) / len(x)
    return sum((a - middle) * b for a, b in zip(x, y)) / sum((a - middle) ** 2 for a in x)


def exponent(costs):
    """Of {N: cost}: the last three points, since with few operations it is the first one that costs."""
    return slope(sorted((int(n), cost) for n, cost in costs.items() if cost)[-3:])


def measure(programs, row, reps):
    record = {"key": row.key, "date": datetime.date.today().isoformat(), "processor": processor(), "reps": reps, "sides": {}}
    sides = {library: {"instructions": {}, "ns": {}, "bytes": {}} for library in programs.libraries}
    slow = set()
    for n in row.sizes:
        for library, side in sides.items():
            if library in slow:
                continue
            if row.counted:
                side["instructions"][n] = programs.instructions(library, row, n)
                if side["instructions"][n] is None:
                    slow.add(library)
        for _ in range(reps):
            for library, side in sides.items():
                done = programs.measure(library, row, n)
                if done is None:
                    slow.add(library)
                else:
                    side["ns"][n] = min(done[0], side["ns"].get(n, math.inf))
                    side["bytes"][n] = max(done[1], side["bytes"].get(n, 0))
    record["sides"] = sides
    return json.loads(json.dumps(record))


def processor():
    found = re.search(r"^model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    return f"{os.cpu_count()} CPUs, {found[1] if found else 'of a kind that it does not say'}"


def curve(row, side):
    """What the exponent is taken of."""
    return side["instructions"] if row.counted else side["ns"]


def shown(value):
    if not value:
        return "-"
    return f"{value:,.0f}".replace(",", " ") if value >= 100 else f"{value:.3g}"


def exponent_text(value):
    return "-" if value is None else f"{value:.2f}".replace("-0.00", "0.00")


def line(row, record):
    ours, upstream = record["sides"]["ours"], record["sides"].get("upstream")
    costs = curve(row, ours)
    middle = row.sizes[-3] if len(row.sizes) > 2 else row.sizes[0]

    def ratio(kind):
        """Upstream's cost over this library's, with the largest N that both ran."""
        if not upstream:
            return "-"
        both = [n for n, cost in ours[kind].items() if cost and upstream[kind].get(n)]
        if not both:
            return "-"
        n = max(both, key=int)
        return f"{upstream[kind][n] / ours[kind][n]:.3g}" + ("" if int(n) == row.sizes[-1] else f" (N = {n})")

    theirs = curve(row, upstream) if upstream else {}
    last = str(row.sizes[-1])
    return (f"| {row.text}{'' if row.counted else ' (ns)'} | {middle} … {last} | {shown(costs.get(str(middle)))} | {shown(costs.get(last))} | "
            f"**{exponent_text(exponent(costs))}** | {exponent_text(exponent(theirs))} | {ratio('instructions')} | "
            f"{ratio('ns') if record.get('reps', 1) > 2 else '-'} | "
            f"{shown(ours['bytes'].get(last))} | {shown(upstream['bytes'].get(last)) if upstream else '-'} |")


def load():
    known = [json.loads(text) for text in RECORD.read_text().splitlines()] if RECORD.exists() else []
    return {record["key"]: record for record in known}


def write(records):
    """The record in the order of the rows, and the page."""
    found = [(row, records[row.key]) for row in rows.ROWS if row.key in records]
    RECORD.write_text("".join(json.dumps(record) + "\n" for _, record in found))
    dates = sorted({record["date"] for _, record in found})
    above = [f"- {row.text}: {row.reason}" for row, _ in found if row.reason]
    text = [BEGIN, "", f"{' to '.join(dict.fromkeys((dates[0], dates[-1])))}, {' / '.join(sorted({r['processor'] for _, r in found}))}: "
            "`make curves`.", ""]
    text += [f"![{file.stem}]({CHARTS.name}/{file.name})\n" for file in sorted(CHARTS.glob("*.svg"))]
    text += ["| operation | N | instructions, first N | last N | exponent | upstream's | upstream's instructions / ours | time / ours | "
             "bytes, last N | upstream's |", "|---|---|---|---|---|---|---|---|---|---|", *(line(*both) for both in found), ""]
    if above:
        text += [f"Above {rows.MOST}, and why:", "", *above, ""]
    page = PAGE.read_text()
    new, count = re.subn(f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: "\n".join([*text, END]), page, flags=re.S)
    if count != 1:
        raise SystemExit(f"{PAGE} has no place for the curves: {BEGIN} … {END}")
    PAGE.write_text(new)


def draw(records):
    """Draws the charts, with a plotting library in an environment of its own."""
    tools = TARGET / "charts-tools"
    subprocess.run([ROOT / "scripts/venv", tools, "matplotlib==3.11.2"], check=True)
    panels = [{"title": row.text, "unit": "instructions" if row.counted else "ns", "record": records[row.key],
               "curves": {name: curve(row, side) for name, side in records[row.key]["sides"].items()},
               "exponents": {name: exponent_text(exponent(curve(row, side))) for name, side in records[row.key]["sides"].items()}}
              for row in rows.ROWS if row.key in records]
    CHARTS.mkdir(exist_ok=True)
    subprocess.run([tools / "bin/python", pathlib.Path(__file__).with_name("charts.py"), CHARTS / "costs.svg"], check=True,
                   input=json.dumps(panels), text=True)


def is_chosen(row, only):
    return re.search(only, f"{row.text} {row.name}") is not None


def check(programs, only):
    """The short test. Between two numbers ten times apart an exponent of 0.1 is a quarter more."""
    chosen = [row for row in rows.ROWS if row.check and row.counted and is_chosen(row, only)]

    def grown(row):
        return slope([(n, cost) for n in row.check if (cost := programs.instructions("ours", row, n))])

    def least_grown(row):
        """Of two counts, where the first is too much: on a busy machine a program that waits for another process polls more often."""
        value = grown(row)
        if value is not None and value > row.most and (again := grown(row)) is not None:
            return min(value, again)
        return value

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for row, value in zip(chosen, pool.map(least_grown, chosen)):
            if value is None or value > row.most:
                failed += 1
                print(f"not ok {row.text}")
                print(f"  it did not run: {row.key}" if value is None else
                      f"  one more costs more where there are more: exponent {value:.2f} with N = {row.check}, at most {row.most}")
            else:
                print(f"ok {row.text}: exponent {value:.2f}", flush=True)
    return 1 if failed or not chosen else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--reps", type=int, default=3)
    parser.add_argument("--ours", action="store_true")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if not options.report and subprocess.run([ROOT / "scripts/need", "valgrind"]).returncode != 0:
        print("skip curves: they are counted by valgrind")
        return 0
    if options.check:
        return check(Programs(with_upstream=False), options.only)
    records = load()
    grows = []
    if not options.report:
        programs = Programs(with_upstream=not options.ours)
        for row in rows.ROWS:
            if is_chosen(row, options.only):
                record = measure(programs, row, options.reps)
                if options.ours and row.key in records:
                    record["sides"] = {**records[row.key]["sides"], **record["sides"]}
                records[row.key] = record
                write(records)
                print(line(row, record), flush=True)
                value = exponent(curve(row, record["sides"]["ours"]))
                if value is None or value > row.most:
                    grows.append(f"not ok {row.text}: exponent {exponent_text(value)}, at most {row.most}")
    draw(records)
    write(records)
    print("\n".join(grows))
    return 1 if grows else 0


if __name__ == "__main__":
    sys.exit(main())
