"""Rows that upstream's ucx_perftest of the 1.22.0 wheel measures on both libraries: LD_LIBRARY_PATH alone decides.

Latency is the median of a run (of a get: the average, as it has none), rates are a run's overall figure. `loop` is
one process that talks to itself.
"""
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

from rows import Row

LIMIT = 60
COLUMN = {"lat": 1, "bw": 5, "mr": 7}
UNIT = {"lat": "us", "avg": "us", "bw": "MB/s", "mr": "/s"}
SMALLER_IS_BETTER = ("lat", "avg")
# Bytes and iterations; over tcp a tenth.
SIZES = ((8, 100000), (1024, 100000), (8192, 30000), (65536, 8000), (1048576, 600), (4194304, 150))


def uct_tests():
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


def ucp_name(tls, test, size, metric, two=True):
    """What a row of `ucp_tests` is called."""
    return f"{tls} {'' if two else 'loop '}{test.removeprefix('ucp_')} {'rate ' if metric == 'mr' else ''}{size}"


def ucp_tests():
    """(group, UCX_TLS, test, bytes, metric, two processes?, iterations)"""
    for tls in ("posix", "posix,cma", "tcp", "all"):
        for test in ("tag_lat", "tag_sync_lat", "ucp_am_lat", "stream_lat"):
            for size, count in SIZES:
                yield "messages", tls, test, size, "lat", True, count
        for test in ("tag_bw", "ucp_am_bw", "stream_bw"):
            yield "messages", tls, test, 8, "mr", True, 2000000
            for size, count in SIZES[1:]:
                yield "messages", tls, test, size, "bw", True, count
    for size, count in SIZES:
        yield "messages", "sysv", "tag_lat", size, "lat", True, count
        yield "messages", "sysv", "tag_bw", size, "bw", True, count
    for tls in ("posix", "posix,cma", "tcp"):
        for size, count in SIZES:
            yield "memory", tls, "ucp_put_lat", size, "lat", True, count
            yield "memory", tls, "ucp_put_bw", size, "bw", True, count
            yield "memory", tls, "ucp_get", size, "avg", True, count
    for tls in ("posix", "tcp"):
        for test in ("ucp_add", "ucp_fadd", "ucp_swap", "ucp_cswap"):
            yield "memory", tls, test, 8, "mr", True, 500000
    for tls in ("self", "posix", "tcp"):
        for test in ("tag_bw", "ucp_am_bw", "stream_bw"):
            yield "loop", tls, test, 8, "mr", False, 2000000
        for size, count in SIZES:
            yield "loop", tls, "tag_lat", size, "lat", False, count
            yield "loop", tls, "tag_bw", size, "bw", False, count


def crowded_tests():
    """(UCX_TLS, test, bytes, metric, iterations): few, as a turn can take as long as the kernel lets a process spin."""
    for tls in ("posix", "tcp"):
        for size in (8, 65536):
            yield tls, "tag_lat", size, "lat", 500
        yield tls, "tag_bw", 65536, "bw", 3000


def mixed_tests():
    """(test, bytes, metric, iterations) of a process on this library and one on upstream's."""
    for test in ("tag_lat", "tag_sync_lat", "ucp_am_lat", "stream_lat", "ucp_put_lat"):
        yield test, 8, "lat", 100000
    for test in ("tag_bw", "ucp_am_bw", "stream_bw"):
        yield test, 8, "mr", 1000000
    for test in ("tag_bw", "ucp_am_bw", "stream_bw", "ucp_put_bw"):
        for size, count in SIZES[3:5]:
            yield test, size, "bw", count
    for size in (8, 1048576):
        yield "ucp_get", size, "avg", dict(SIZES)[size]
    yield "ucp_fadd", 8, "mr", 300000


def thread_tests():
    """(name, UCX_TLS, words, two processes?, against a worker that is not shared?, iterations)

    Workers that threads share, with one thread; and two threads with a worker each on either side, on one processor a
    side.
    """
    for tls, two, count in (("self", False, 2000000), ("posix", True, 2000000), ("tcp", True, 2000000)):
        yield f"{tls} {'' if two else 'loop '}tag_bw rate 8, shared worker", tls, "-M multi", two, True, count
    for tls in ("posix", "tcp"):
        yield f"{tls} tag_bw rate 8, two threads", tls, "-T 2", True, False, 1000000


def per_transport(tls, count):
    """A message of 8 bytes and a half of a bulk need their iterations; a round trip over tcp takes longer."""
    return max(200, count // 10) if "tcp" in tls else count


class Perftest:
    """Runs the tool."""

    def __init__(self, machine):
        self.machine = machine
        self.tool = machine.wheel / "bin/ucx_perftest"
        self.port = 12000 + os.getpid() % 8000

    def rows(self):
        for name, metric, two, words, count in uct_tests():
            yield self.row("uct", name, metric, two, words, count, {})
        for group, tls, test, size, metric, two, count in ucp_tests():
            name = ucp_name(tls, test, size, metric, two)
            yield self.row(group, name, metric, two, f"-t {test} -s {size}", per_transport(tls, count), {"UCX_TLS": tls})
        for tls, test, size, metric, count in crowded_tests():
            yield self.row("crowded", ucp_name(tls, test, size, metric), metric, True, f"-t {test} -s {size}", count,
                           {"UCX_TLS": tls}, [self.machine.command(0, shared=True)] * 2)
        for test, size, metric, count in mixed_tests():
            for role, sides in (("server", ("ours", "upstream")), ("client", ("upstream", "ours"))):
                def mixed(side, sides=sides, metric=metric, words=f"-t {test} -s {size}", count=per_transport("tcp", count)):
                    variables = {"UCX_TLS": "tcp"}
                    return self.one(sides if side == "ours" else (side, side), metric, True, words, count, variables)

                name = f"{ucp_name('tcp', test, size, metric)}, the {role} on this library"
                yield Row("mixed", name, UNIT[metric], metric in SMALLER_IS_BETTER, mixed, against="both on upstream's")
        for name, tls, threads, two, alone, count in thread_tests():
            words, count, variables = "-t tag_bw -s 8", per_transport(tls, count), {"UCX_TLS": tls}
            yield self.row("threads", name, "mr", two, f"{words} {threads}", count, variables)
            if alone:
                def against_single(side, two=two, words=words, threads=threads, count=count, variables=variables):
                    return self.one("ours", "mr", two, f"{words} {threads if side == 'ours' else ''}", count, variables)

                yield Row("threads", name, UNIT["mr"], False, against_single, against="one that is not shared")

    def row(self, group, name, metric, two, words, count, variables, where=None):
        def measure(side):
            return self.one(side, metric, two, words, count, variables, where)

        return Row(group, name, UNIT[metric], metric in SMALLER_IS_BETTER, measure)

    def start(self, side, command, words, stdout, variables):
        return subprocess.Popen([*command, str(self.tool), *words], stdout=stdout,
                                stderr=subprocess.STDOUT, text=True, env=self.machine.environment(side, variables),
                                start_new_session=True)

    def output(self, sides, two, words, variables, where=None):
        """What the client prints, and whether it ended within the limit. `sides` are those of the server and of the client."""
        first, second = where or [self.machine.command(core) for core in (0, 1)]
        server, finished = None, True
        with tempfile.TemporaryFile("w+") as log, tempfile.TemporaryFile("w+") as printed:
            if two:
                self.port += 1
                words = [*words, "-p", str(self.port)]
                variables = {**variables, "NODELAY_PORT": str(self.port)}
                server = self.start(sides[0], first, words, log, variables)
                deadline = time.monotonic() + 10
                while time.monotonic() < deadline and server.poll() is None and not listening(self.port):
                    time.sleep(0.01)
            client = self.start(sides[1], second, ["127.0.0.1", *words] if two else ["-l", *words], printed, variables)
            try:
                if client.wait(timeout=LIMIT) == 0 and server:
                    server.wait(timeout=LIMIT)
            except subprocess.TimeoutExpired:
                finished = False
            for process in (client, server):
                if process and process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
            printed.seek(0)
            return printed.read(), finished

    def one(self, side, metric, two, words, iterations, variables, where=None):
        """The figure of one run, or None. `side` is that of both processes, or a pair: of the server and of the client.
        `where` are the words in front of the two, else each has a processor."""
        sides = side if isinstance(side, tuple) else (side, side)
        count = max(100, int(iterations * self.machine.scale))
        words = [*words.split(), "-n", str(count), "-w", str(max(10, count // 10)), "-f", "-v"]
        text, finished = self.output(sides, two, words, variables, where)
        if not finished:
            return None
        rows = re.findall(r"^ *\d+(?:,[\d.]+){3,7}$", text, re.M)
        if not rows:
            return None
        fields = rows[-1].split(",")
        # Times are told in nanoseconds, of which short ones have few: the rate says the same with more digits.
        if metric == "avg":
            return 1e6 / float(fields[COLUMN["mr"]])
        # Of several threads only the overall figures are told, the rate last.
        return float(fields[COLUMN[metric] if len(fields) > max(COLUMN.values()) else -1])


def listening(port):
    wanted = re.compile(rf":{port:04X} [0-9A-F]+:0000 0A ")
    return any(wanted.search(pathlib.Path(f"/proc/net/{table}").read_text()) for table in ("tcp", "tcp6"))
