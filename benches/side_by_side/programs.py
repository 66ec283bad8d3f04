"""Rows that programs of benches/programs measure: start-up, endpoints, idle peers, MPI, ZeroMQ, TLS, the machine's limits.

A program prints lines of words that end with a figure. MPI programs are linked with Debian's MPIs, which take the UCX
that LD_LIBRARY_PATH names; Open MPI's own transports (vader, tcp) are a side of their own. ZeroMQ is compared with our
tagged messages over tcp, TLS with our encrypted ones, and loops that only move bytes with what our messages do.
"""
import os
import re
import shutil
import statistics
import subprocess
import time

from perftest import SMALLER_IS_BETTER, UNIT, per_transport, ucp_name, ucp_tests
from reach import CALLS_AND_ADD, CALLS_AND_RING, goals
from rows import Row, rate_of

UCX = ["-lucp", "-luct", "-lucs", "-lucm"]
LIMIT = 120


def mpirun(mpi, words, ranks, program):
    """Open MPI as root, with more ranks than processors; MPICH allows that without a word."""
    launch = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"] if mpi == "openmpi" else []
    return [f"mpirun.{mpi}", *launch, *words, "-n", str(ranks), str(program)]


def pingpong_rows(group, title, against, run):
    """The rows of benches/programs/mpi_pingpong.c; `run(side)` gives the figures of all of them."""
    cache = {}
    for test, sizes, unit in (("latency", (8, 8192, 65536, 1048576), "us"), ("bandwidth", (8192, 65536, 1048576), "MB/s")):
        for size in sizes:
            def measure(side, key=f"{test} {size}"):
                # One job measures every size: its figures are handed out one by one.
                if key not in cache.get(side, {}):
                    cache[side] = run(side)
                return cache[side].pop(key, None)

            yield Row(group, f"{title} {test} {size}", unit, test == "latency", measure, against=against)


class Programs:
    def __init__(self, machine, perftest):
        self.machine, self.perftest = machine, perftest
        self.built = {}

    def build(self, name, libraries, compiler="gcc"):
        if (name, compiler) not in self.built:
            self.built[name, compiler] = self.machine.program(name, libraries, compiler)
        return self.built[name, compiler]

    def figures(self, command, environment):
        """The last words of a program's lines, by the words before them."""
        try:
            done = subprocess.run([*map(str, command)], env=environment, capture_output=True, text=True, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            return {}
        return {key: float(value) for key, value in re.findall(r"^(\w[\w ]*) ([\d.]+)$", done.stdout, re.M)}

    def start(self, side, words, tls):
        program = self.build("start", UCX)
        command = [*self.machine.command(1), program, *words]
        if words[0] in ("endpoints", "rate"):
            command = [*self.machine.priority, program, *words]
        return self.figures(command, self.machine.environment(side, {"UCX_TLS": tls} if tls else {}))

    def rows(self):
        yield from self.start_rows()
        yield from self.endpoint_rows()
        yield from self.posted_rows()
        yield from self.many_rows()
        yield from self.sleeping_rows()
        yield from self.mpi_rows()
        yield from self.zeromq_rows()
        yield from self.secure_rows()
        yield from self.limit_rows()

    def start_rows(self):
        def load(side):
            program = self.build("start", UCX)
            return statistics.median(self.machine.lifetime_ms(program, "load", side) for _ in range(5))

        yield Row("start", "process that loads the library", "ms", True, load)
        for name, keys in (("configuration, ucp_init and worker", ("config", "init", "worker")),
                           ("first endpoint", ("endpoint",)), ("first message", ("message",)), ("teardown", ("end",))):
            for tls in ("", "posix", "tcp"):
                def measure(side, keys=keys, tls=tls):
                    got = self.start(side, ["begin"], tls)
                    return sum(got[key] for key in keys) if all(key in got for key in keys) else None

                yield Row("start", f"{name}, {tls or 'all transports'}", "us", True, measure)
        for key, what, unit in (("KiB", "memory, with the libraries' code", "KiB"), ("own", "memory of its own", "KiB"),
                                ("descriptors", "descriptors", "")):
            def idle(side, key=key):
                return self.start(side, ["idle"], "").get(key)

            yield Row("start", f"idle worker with its context: {what}", unit, True, idle, once=True)

    def endpoint_rows(self):
        for tls in ("posix", "tcp", ""):
            for key, unit, once in (("each", "us", False), ("KiB", "KiB", True), ("descriptors", "descriptors", True)):
                def measure(side, key=key, tls=tls):
                    return self.start(side, ["endpoints"], tls).get(key)

                yield Row("endpoints", f"one of 1000 to a peer, {tls or 'all transports'}: {unit}", unit, True, measure, once=once)
        for idle in (1, 100, 1000):
            def rate(side, idle=idle):
                return self.start(side, ["rate", str(idle)], "posix").get("rate")

            yield Row("endpoints", f"rate of 8 bytes beside {idle} idle endpoints, posix", "/s", False, rate)

    def posted_rows(self):
        cache = {}
        for size in (1024, 8192, 65536, 1 << 20):
            def measure(side, key=str(size)):
                # One run measures every size: its figures are handed out one by one.
                if key not in cache.get(side, {}):
                    command = [*self.machine.command(1), self.build("posted", UCX)]
                    cache[side] = self.figures(command, self.machine.environment(side, {"UCX_TLS": "self"}))
                return cache[side].pop(key, None)

            yield Row("loop", f"self tag to a posted receive {size}", "us", True, measure)

    def many_rows(self):
        """All the messages of N processes or threads together, more than there are processors too."""
        kinds = (("pairs", (1, 2, 4, 8, 16), "{} pairs"), ("many", (2, 4, 8, 16), "{} senders to one"),
                 ("shared", (1, 2, 4, 8, 16), "{} threads on one worker"), ("workers", (1, 2, 4, 8, 16), "{} threads with a worker each"))
        for tls in ("posix", "tcp"):
            for kind, numbers, text in kinds:
                for number in numbers:
                    for size, metric in ((8, "mr"), (65536, "bw")):
                        def measure(side, tls=tls, kind=kind, number=number, size=size, metric=metric):
                            # With priority one that waits would keep another from what it waits for.
                            crowded = (number + 1 if kind == "many" else 2 * number) > len(self.machine.cores)
                            before = [] if crowded else self.machine.priority
                            command = [*before, self.build("crowd", [*UCX, "-pthread"]), kind, number, size, self.machine.scale]
                            rate = self.figures(command, self.machine.environment(side, {"UCX_TLS": tls})).get("rate")
                            return rate and rate_of(1e6 / rate, size, metric)

                        name = f"{tls} tag {'rate ' if metric == 'mr' else ''}{size}, {text.format(number)}"
                        yield Row("many", name.replace("1 pairs", "one pair").replace("1 threads", "one thread"), UNIT[metric], False, measure)

    def sleeping_rows(self):
        """Two processes that sleep for each message: how long one takes, and what the processors do for it."""
        ways = (("arm", "arm and poll", ("posix", "tcp", "all"), (8, 1024, 8192, 65536, 1 << 20)),
                ("wait", "wait", ("posix", "tcp", "all"), (8, 8192, 65536)),
                ("late", "arm and poll, answers 200 us late", ("posix", "tcp", "all"), (8,)))
        for way, what, transports, sizes in ways:
            for tls in transports:
                for size in sizes:
                    cache = {}
                    for key, text in (("latency", "latency"), ("processor", "processor time")):
                        def measure(side, key=key, way=way, tls=tls, size=size, cache=cache):
                            # One run measures both: its figures are handed out one by one.
                            if key not in cache.get(side, {}):
                                # As everywhere else the two have a processor each.
                                command = [*self.machine.priority, self.build("sleepers", UCX), way, size, self.machine.scale]
                                cache[side] = self.figures(command, self.machine.environment(side, {"UCX_TLS": tls}))
                            return cache[side].pop(key, None)

                        yield Row("sleeping", f"{tls} tag {size}, {what}: {text}", "us", True, measure)

    def mpi_rows(self):
        kinds = (
            ("openmpi", "Open MPI over UCX", ["--mca", "pml", "ucx", "--mca", "pml_ucx_tls", "any", "--mca", "pml_ucx_devices", "any"], {}, "upstream"),
            ("openmpi", "Open MPI over UCX, tcp", ["--mca", "pml", "ucx", "--mca", "pml_ucx_tls", "any", "--mca", "pml_ucx_devices", "any"],
             {"UCX_TLS": "tcp,self"}, "upstream"),
            ("mpich", "MPICH over UCX", [], {}, "upstream"),
            ("openmpi", "Open MPI over UCX", ["--mca", "pml", "ucx", "--mca", "pml_ucx_tls", "any", "--mca", "pml_ucx_devices", "any"], {}, "vader"),
            ("openmpi", "Open MPI over UCX, tcp", ["--mca", "pml", "ucx", "--mca", "pml_ucx_tls", "any", "--mca", "pml_ucx_devices", "any"],
             {"UCX_TLS": "tcp,self"}, "Open MPI's tcp"),
        )
        for mpi, title, words, variables, against in kinds:
            if not shutil.which(f"mpicc.{mpi}") or not shutil.which(f"mpirun.{mpi}"):
                continue
            if against == "upstream":
                def start(side, mpi=mpi, words=words, variables=variables):
                    program = self.build("mpi_start", [], f"mpicc.{mpi}")
                    # Four ranks on fewer processors: with priority one could keep another from what it waits for.
                    command = mpirun(mpi, words, 4, program)
                    begin = time.monotonic()
                    done = subprocess.run(command, env=self.machine.environment(side, variables),
                                          stdout=subprocess.DEVNULL, timeout=LIMIT)
                    return None if done.returncode else (time.monotonic() - begin) * 1e3

                yield Row("mpi", f"{title} init and finalize, 4 ranks", "ms", True, start)
            def run(side, mpi=mpi, words=words, variables=variables, against=against):
                return self.mpi(mpi, side, words, variables, against)

            yield from pingpong_rows("mpi", title, against, run)

    def mpi(self, mpi, side, words, variables, against):
        program = self.build("mpi_pingpong", [], f"mpicc.{mpi}")
        if side == "upstream" and against != "upstream":
            btl = "self,tcp" if against.endswith("tcp") else "self,vader"
            words = ["--mca", "pml", "ob1", "--mca", "btl", btl]
        return self.figures([*self.machine.priority, *mpirun(mpi, words, 2, program)], self.machine.environment(side, variables))

    def zeromq_rows(self):
        if subprocess.run([self.machine.root / "scripts/need", "libzmq3-dev"], capture_output=True).returncode != 0:
            return
        for key, metric, words, name, unit in (("rate", "mr", "-t tag_bw -s 8", "tag rate 8 over tcp, PUSH and PULL", "/s"),
                                               ("latency", "lat", "-t tag_lat -s 8", "tag latency 8 over tcp, PAIR", "us")):
            def measure(side, key=key, metric=metric, words=words):
                if side == "ours":
                    return self.perftest.one(side, metric, True, words, 200000 if metric == "mr" else 20000, {"UCX_TLS": "tcp"})
                program = self.build("zeromq", ["-lzmq"])
                return self.figures([*self.machine.priority, program], self.machine.environment("ours")).get(key)

            yield Row("zeromq", name, unit, metric == "lat", measure, against="ZeroMQ")

    def secure_rows(self):
        """Tagged messages over tcp with a secret and encrypted, beside the same without, and beside TLS."""
        secret = self.machine.work / "secret"
        secret.unlink(missing_ok=True)
        secret.touch(mode=0o600)
        secret.write_text("the secret of the benchmark, which is known\n")
        plain = {"UCX_TLS": "tcp"}
        proven = {**plain, "UCX_TCP_AUTH_FILE": str(secret)}
        encrypted = {**proven, "UCX_TCP_ENCRYPT": "y"}
        # (what is measured, metric, words for ucx_perftest, iterations, word of benches/programs/tls.c and its bytes)
        tests = (("tag_lat 8", "lat", "-t tag_lat -s 8", 20000, "latency 8"),
                 ("tag_bw rate 8", "mr", "-t tag_bw -s 8", 500000, None),
                 ("tag_bw 65536", "bw", "-t tag_bw -s 65536", 8000, "bandwidth 65536"),
                 ("tag_bw 1048576", "bw", "-t tag_bw -s 1048576", 600, "bandwidth 1048576"))
        for what, variables in (("with a secret", proven), ("encrypted", encrypted)):
            for test, metric, words, count, _ in tests:
                def measure(side, metric=metric, words=words, count=count, variables=variables):
                    return self.perftest.one("ours", metric, True, words, count, variables if side == "ours" else plain)

                yield Row("secure", f"{test} {what}", UNIT[metric], metric == "lat", measure, against="without")
        if subprocess.run([self.machine.root / "scripts/need", "libssl-dev"], capture_output=True).returncode != 0:
            return
        for test, metric, words, count, tls in tests:
            if tls is None:
                continue

            def measure(side, metric=metric, words=words, count=count, tls=tls):
                if side == "ours":
                    return self.perftest.one(side, metric, True, words, count, encrypted)
                program = self.build("tls", ["-lssl", "-lcrypto"])
                return self.figures([*self.machine.priority, program, *tls.split()], os.environ).get(tls.split()[0])

            yield Row("secure", f"{test} encrypted", UNIT[metric], metric == "lat", measure, against="TLS of OpenSSL")

    def limit_rows(self):
        """What our side does, and the loop of benches/programs/raw.c that moves the same bytes the same way; for "calls"
        ucx_perftest itself, with a library that does nothing, for "calls and ring" and "calls and add" with one that does only that."""
        tests = {ucp_name(tls, test, size, metric, two): (tls, test, size, metric, two, count)
                 for _, tls, test, size, metric, two, count in ucp_tests()}
        for goal in {goal.limited: goal for goal in goals() if goal.limit}.values():
            name = goal.twin or goal.name
            tls, test, size, metric, two, count = tests[name]

            def measure(side, tls=tls, test=test, size=size, metric=metric, two=two, count=count, loop=goal.limit):
                words, variables = f"-t {test} -s {size}", {"UCX_TLS": tls}
                if side == "ours" or loop.startswith("calls"):
                    if side != "ours":
                        program = {CALLS_AND_RING: "calls_ring", CALLS_AND_ADD: "calls_add"}.get(loop, "calls_get" if test == "ucp_get" else "calls")
                        variables["LD_PRELOAD"] = str(self.build(program, ["-shared", "-fPIC"]))
                        variables["LIMIT_RING"] = f"/limit-{os.getpid()}-{time.monotonic_ns()}"
                    return self.perftest.one("ours", metric, two, words, per_transport(tls, count), variables)
                program = self.build("raw", [])
                each = self.figures([*self.machine.priority, program, loop, str(size)], self.machine.environment("ours")).get("each")
                return each and rate_of(each, size, metric)

            yield Row("limits", name, UNIT[metric], metric in SMALLER_IS_BETTER, measure, against=f"raw {goal.limit}")
