#!/usr/bin/env python3
"""Measures this library side by side with upstream 1.22.0 and writes docs/PERFORMANCE.md.

    benches/side_by_side.py [--reps N] [--scale X] [--only REGEX] [--part uct|ucp] [--stdout]

Both sides run upstream's own ucx_perftest of the 1.22.0 wheel; LD_LIBRARY_PATH alone decides. The two sides take
turns and the order flips, because the speed of a line between two cores of a virtual machine changes within
seconds: only neighbouring runs are compared, and the gain is the median of their ratios (above 1: ours is better).
Rows of UCP name the value of UCX_TLS and the bytes of a message; `loop` is one process that talks to itself.
Latency is the median of a run (of a get: the average, as it has none), rates are a run's overall figure. As root the measured processes run under
SCHED_RR, so that other work on the machine does not show; FIFO would starve a progress thread on the same core.
"""
import argparse
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
REPORT = ROOT / "docs/PERFORMANCE.md"
LIMIT = 60
COLUMN = {"lat": 1, "avg": 3, "bw": 5, "mr": 7}
ORDER = {"UCT": 0, "UCP": 1}  # of sections; those written by hand follow
UNIT = {"lat": "us", "avg": "us", "bw": "MB/s", "mr": "/s"}
SMALLER_IS_BETTER = ("lat", "avg")


def uct_matrix():
    """(name, metric, two processes?, words for ucx_perftest, iterations)"""
    for transport in ("posix", "sysv"):
        where = f"-x {transport} -d memory"
        for layout, size in (("short", 8), ("bcopy", 8), ("bcopy", 1024), ("bcopy", 4096)):
            yield f"{transport} am_lat {layout} {size}", "lat", True, f"{where} -t am_lat -D {layout} -s {size}", 200000
        for layout, size in (("short", 8), ("bcopy", 1024), ("bcopy", 8192)):
            yield f"{transport} put_lat {layout} {size}", "lat", True, f"{where} -t put_lat -D {layout} -s {size}", 200000
        yield f"{transport} am rate short 8", "mr", True, f"{where} -t am_bw -D short -s 8", 1000000
        for layout, size in (("bcopy", 1024), ("bcopy", 8192)):
            yield f"{transport} am_bw {layout} {size}", "bw", True, f"{where} -t am_bw -D {layout} -s {size}", 500000
        for layout, size in (("short", 1024), ("bcopy", 8192)):
            yield f"{transport} put_bw {layout} {size}", "bw", True, f"{where} -t put_bw -D {layout} -s {size}", 500000
        yield f"{transport} get bcopy 8192", "bw", True, f"{where} -t get -D bcopy -s 8192", 200000
        for test in ("add_mr", "fadd", "cswap"):
            yield f"{transport} {test} 8", "mr", True, f"{where} -t {test} -s 8", 500000
    for size, count in ((8, 100000), (65536, 20000), (1048576, 2000)):
        yield f"cma put_bw zcopy {size}", "bw", True, f"-x cma -d memory -t put_bw -D zcopy -s {size}", count
        yield f"cma get zcopy {size}", "bw", True, f"-x cma -d memory -t get -D zcopy -s {size}", count
    for layout, size in (("short", 8), ("bcopy", 8), ("bcopy", 1024), ("bcopy", 8192), ("zcopy", 8192)):
        yield f"tcp am_lat {layout} {size}", "lat", True, f"-x tcp -d lo -t am_lat -D {layout} -s {size}", 20000
    yield "tcp am rate short 8", "mr", True, "-x tcp -d lo -t am_bw -D short -s 8", 200000
    for layout, size in (("bcopy", 1024), ("bcopy", 8192), ("zcopy", 8192)):
        yield f"tcp am_bw {layout} {size}", "bw", True, f"-x tcp -d lo -t am_bw -D {layout} -s {size}", 100000
    for size, count in ((65536, 20000), (1048576, 2000)):
        yield f"tcp put_bw zcopy {size}", "bw", True, f"-x tcp -d lo -t put_bw -D zcopy -s {size}", count
    for layout, size in (("short", 8), ("bcopy", 8), ("bcopy", 4096)):
        yield f"self am_lat {layout} {size}", "lat", False, f"-x self -d memory -t am_lat -D {layout} -s {size}", 1000000


# Bytes and iterations; over tcp a tenth.
SIZES = ((8, 100000), (1024, 100000), (8192, 30000), (65536, 8000), (1048576, 600), (4194304, 150))


def ucp_rows():
    """(UCX_TLS, test, bytes, metric, two processes?, iterations)"""
    for tls in ("posix", "posix,cma", "tcp", "all"):
        for test in ("tag_lat", "tag_sync_lat", "ucp_am_lat", "stream_lat"):
            for size, count in SIZES:
                yield tls, test, size, "lat", True, count
        for test in ("tag_bw", "ucp_am_bw", "stream_bw"):
            yield tls, test, 8, "mr", True, 2000000
            for size, count in SIZES[1:]:
                yield tls, test, size, "bw", True, count
    for size, count in SIZES:
        yield "sysv", "tag_lat", size, "lat", True, count
        yield "sysv", "tag_bw", size, "bw", True, count
    for tls in ("posix", "posix,cma", "tcp"):
        for size, count in SIZES:
            yield tls, "ucp_put_lat", size, "lat", True, count
            yield tls, "ucp_put_bw", size, "bw", True, count
            yield tls, "ucp_get", size, "avg", True, count
    for tls in ("posix", "tcp"):
        for test in ("ucp_add", "ucp_fadd", "ucp_swap", "ucp_cswap"):
            yield tls, test, 8, "mr", True, 500000
    for tls in ("self", "posix", "tcp"):
        for test in ("tag_bw", "ucp_am_bw", "stream_bw"):
            yield tls, test, 8, "mr", False, 2000000
        for size, count in SIZES:
            yield tls, "tag_lat", size, "lat", False, count
            yield tls, "tag_bw", size, "bw", False, count


def ucp_matrix():
    """As `uct_matrix`, and the environment."""
    for tls, test, size, metric, two, count in ucp_rows():
        name = f"{tls} {'' if two else 'loop '}{test.removeprefix('ucp_')} {'rate ' if metric == 'mr' else ''}{size}"
        count = max(200, count // 10) if "tcp" in tls else count
        yield name, metric, two, f"-t {test} -s {size}", count, {"UCX_TLS": tls}


class Bench:
    def __init__(self, wheel, ours, scale):
        self.tool = wheel / "bin/ucx_perftest"
        self.lib = {"upstream": wheel / "lib", "ours": ours / "lib"}
        self.scale = scale
        self.port = 12000 + os.getpid() % 8000
        self.prefix = ["chrt", "-r", "5"] if os.getuid() == 0 else []
        self.cores = sorted(os.sched_getaffinity(0))

    def start(self, side, core, words, stdout, variables):
        env = {**os.environ, "LD_LIBRARY_PATH": str(self.lib[side]), "UCX_WARN_UNUSED_ENV_VARS": "n", **variables}
        command = [*self.prefix, "taskset", "-c", str(self.cores[core % len(self.cores)]), str(self.tool), *words]
        return subprocess.Popen(command, stdout=stdout, stderr=subprocess.STDOUT, text=True, env=env,
                                start_new_session=True)

    def one(self, side, metric, two, words, iterations, variables):
        """The figure of one run, or None."""
        count = max(100, int(iterations * self.scale))
        words = [*words.split(), "-n", str(count), "-w", str(max(10, count // 10)), "-f", "-v"]
        server = None
        with tempfile.TemporaryFile("w+") as log:
            if two:
                self.port += 1
                words += ["-p", str(self.port)]
                server = self.start(side, 0, words, log, variables)
                deadline = time.monotonic() + 10
                while time.monotonic() < deadline and server.poll() is None and not listening(self.port):
                    time.sleep(0.01)
            client = self.start(side, 1, ["127.0.0.1", *words] if two else ["-l", *words], subprocess.PIPE,
                                variables)
            try:
                text, _ = client.communicate(timeout=LIMIT)
                if server and client.returncode == 0:
                    server.wait(timeout=LIMIT)
            except subprocess.TimeoutExpired:
                text = ""
            for process in (client, server):
                if process and process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
        rows = re.findall(r"^ *\d+(?:,[\d.]+){7}", text or "", re.M)
        return float(rows[-1].split(",")[COLUMN[metric]]) if rows else None


def listening(port):
    wanted = re.compile(rf":{port:04X} [0-9A-F]+:0000 0A ")
    return any(wanted.search(pathlib.Path(f"/proc/net/{table}").read_text()) for table in ("tcp", "tcp6"))


def figure(value):
    return "failed" if value is None else f"{value:.3f}" if value < 10 else f"{value:.1f}" if value < 1000 else f"{value:.0f}"


def measure(bench, rows, options):
    """Lines of a table, and the gain of each test."""
    lines, gains = [], {}
    for name, metric, two, words, iterations, *variables in rows:
        if not re.search(options.only, name):
            continue
        figures = {"upstream": [], "ours": []}
        ratios = []
        for rep in range(options.reps):
            order = ["upstream", "ours"] if rep % 2 == 0 else ["ours", "upstream"]
            now = {side: bench.one(side, metric, two, words, iterations, dict(*variables)) for side in order}
            for side, value in now.items():
                if value is not None:
                    figures[side].append(value)
            if all(now.values()):
                better = metric in SMALLER_IS_BETTER
                ratios.append(now["upstream"] / now["ours"] if better else now["ours"] / now["upstream"])
            elif rep == 0:
                break  # what fails at first will not get better
        median = {side: statistics.median(values) if values else None for side, values in figures.items()}
        gain = statistics.median(ratios) if ratios else None
        if gain is not None:
            gains[name] = gain
        spread = f"{min(ratios):.2f} - {max(ratios):.2f}" if ratios else ""
        lines.append(f"| {name} | {UNIT[metric]} | {figure(median['upstream'])} | {figure(median['ours'])} | "
                     f"{'-' if gain is None else f'{gain:.2f}'} | {spread} |")
        print(lines[-1], flush=True)
    return lines, gains


def summary(gains):
    """Names every test that is slower here."""
    if not gains:
        return "No test ran on both sides."
    worst = min(gains, key=gains.get)
    below = [f"{name} ({gain:.2f})" for name, gain in sorted(gains.items(), key=lambda item: item[1]) if gain < 1]
    return (f"{len(gains)} tests, median gain {statistics.median(gains.values()):.2f}. Worst: **{worst}, "
            f"{gains[worst]:.2f}**. Below 1.00: {', '.join(below) or 'none'}.")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--reps", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--part", choices=("uct", "ucp"), help="only this part; the report keeps the other")
    parser.add_argument("--stdout", action="store_true", help="do not write the report")
    options = parser.parse_args()
    wheel = pathlib.Path(subprocess.run([ROOT / "scripts/upstream"], check=True, capture_output=True, text=True).stdout.strip())
    ours = TARGET / "prefix-release"
    subprocess.run([ROOT / "scripts/stage", ours, "release"], check=True)
    bench = Bench(wheel, ours, options.scale)
    model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    how = (f"{time.strftime('%Y-%m-%d', time.gmtime())}, {os.cpu_count()} CPUs, {model[1] if model else 'unknown'}; "
           f"`benches/side_by_side.py --reps {options.reps} --scale {options.scale:g}`.")
    old = re.split(r"^## ", REPORT.read_text(), flags=re.M)[1:] if REPORT.exists() else []
    sections = {part.split("\n", 1)[0]: part.split("\n", 1)[1].strip("\n") for part in old}
    measured = False
    for part, title, rows in (("uct", "UCT", uct_matrix), ("ucp", "UCP", ucp_matrix)):
        if options.part not in (None, part):
            continue
        lines, gains = measure(bench, rows(), options)
        print(summary(gains))
        measured |= bool(gains)
        sections[title] = "\n".join([
            "", how, "", summary(gains), "",
            "| test | unit | upstream | ours | gain | range of gains |", "|---|---|---|---|---|---|", *lines])
    if not options.stdout:
        text = ["# Side by side with upstream 1.22.0", "",
                "Written by `make bench`. Both sides run upstream's ucx_perftest; the method is described in "
                "`benches/side_by_side.py`. Gain above 1: this library is better.", ""]
        for title, section in sorted(sections.items(), key=lambda item: ORDER.get(item[0], len(ORDER))):
            text += [f"## {title}", section, ""]
        REPORT.write_text("\n".join(text))
    return 0 if measured else 1


if __name__ == "__main__":
    sys.exit(main())
