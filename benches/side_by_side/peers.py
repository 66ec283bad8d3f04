"""Rows against other libraries that move messages between processes: libfabric's own providers by fabtests, iceoryx2,
MPICH over libfabric; and against what the kernel offers for large messages over tcp.

Ours is ucx_perftest with this library, theirs is their own benchmark or a program of benches/programs, with the same bytes
on the same two processors. What cannot be had on this machine has no rows."""
import re
import subprocess
import sys

from perftest import SMALLER_IS_BETTER, UNIT, per_transport
from programs import pingpong_rows
from rows import Row, rate_of

# Bytes and messages.
LATENCY = ((8, 100000), (8192, 30000), (65536, 8000), (1048576, 600))
BANDWIDTH = ((8192, 100000), (65536, 20000), (1048576, 1000))
MPICH = "4.3.2"


class Peers:
    def __init__(self, machine, perftest, programs):
        self.machine, self.perftest, self.programs = machine, perftest, programs
        sys.path[:0] = [str(machine.root / "tests" / folder) for folder in ("client", "upstream")]

    def rows(self):
        yield from self.libfabric_rows()
        yield from self.iceoryx_rows()
        yield from self.mpich_rows()
        yield from self.kernel_rows()

    def versus(self, tls, test, size, metric, count, against, theirs):
        """A row of ours over `tls`; `theirs()` measures the other side."""
        count = per_transport(tls, count)

        def measure(side):
            if side != "ours":
                return theirs(max(100, int(count * self.machine.scale)))
            return self.perftest.one(side, metric, True, f"-t {test} -s {size}", count, {"UCX_TLS": tls})

        name = f"{tls} {test} {'rate ' if metric == 'mr' else ''}{size}"
        return Row("peers", name, UNIT[metric], metric in SMALLER_IS_BETTER, measure, against=against)

    def both(self, tls, against, latency, bandwidth):
        """Rows of latency and bandwidth; `latency(size, count)` gives microseconds, `bandwidth` those of one message."""
        for size, count in LATENCY:
            yield self.versus(tls, "tag_lat", size, "lat", count, against, lambda count, size=size: latency(size, count))
        for metric, size, count in (("mr", 8, 1000000), *(("bw", *pair) for pair in BANDWIDTH)):
            def rate(count, size=size, metric=metric):
                each = bandwidth(size, count)
                return each and rate_of(each, size, metric)

            yield self.versus(tls, "tag_bw", size, metric, count, against, rate)

    def libfabric_rows(self):
        import archives
        from launch import Missing, Server, free_port, output
        try:
            folder = archives.fabtests()
        except Missing:
            return

        def each(program, provider, size, count):
            port = free_port()
            words = [folder / "bin" / program, "-p", provider, f"-E={port}", "-S", size, "-I", count, "-w", max(10, count // 10)]
            env = self.machine.environment("ours", {"LD_LIBRARY_PATH": str(folder / "lib")})
            server, client = ([*self.machine.command(core), *words] for core in (0, 1))
            with Server(server, port, env) as first:
                status, text = output(*client, "127.0.0.1", env=env, timeout=60)
                first.end(10 if status == 0 else 1)
            # bytes, iterations, total, time, MB/sec, usec/xfer, Mxfers/sec
            found = re.findall(r"^\d\S* +\S+ +\S+ +\S+ +\S+ +([\d.]+) +\S+$", text, re.M)
            return float(found[-1]) if status == 0 and found else None

        for tls, provider in (("posix,cma", "shm"), ("tcp", "tcp")):
            yield from self.both(tls, f"libfabric's {provider}",
                                 lambda size, count, provider=provider: each("fi_rdm_tagged_pingpong", provider, size, count),
                                 lambda size, count, provider=provider: each("fi_rdm_tagged_bw", provider, size, count))

    def iceoryx_rows(self):
        source = self.machine.root / "benches/programs/iceoryx"
        target = self.machine.work / "iceoryx"
        built = subprocess.run(["cargo", "build", "-q", "--release", "--locked", "--target-dir", target], cwd=source)
        if built.returncode != 0:
            return

        def each(what, size, count):
            command = [*self.machine.priority, target / "release/iceoryx", what, str(size), str(count)]
            return self.programs.figures(command, self.machine.environment("ours")).get("each")

        yield from self.both("posix", "iceoryx2", lambda size, count: each("latency", size, count),
                             lambda size, count: each("rate", size, count))
        for size, count in LATENCY[:2]:
            yield self.versus("posix", "tag_lat", size, "lat", count, "requests of iceoryx2",
                              lambda count, size=size: each("request", size, count))

    def mpich_rows(self):
        """Both sides are that MPICH, ours over UCX. Messages within the host go by the network module, not MPICH's own way."""
        tools = self.machine.work / "mpich"
        if subprocess.run([self.machine.root / "scripts/venv", tools, f"mpich=={MPICH}"]).returncode != 0:
            return
        program = self.machine.program("mpi_pingpong", [], str(tools / "bin/mpicc"))
        for where, ours, theirs in (("", {}, {"FI_PROVIDER": "shm"}), (", tcp", {"UCX_TLS": "tcp,self"}, {"FI_PROVIDER": "tcp"})):
            def run(side, ours=ours, theirs=theirs):
                module = {"MPIR_CVAR_NOLOCAL": "1", "MPIR_CVAR_CH4_NETMOD": "ucx" if side == "ours" else "ofi"}
                variables = module | (ours if side == "ours" else theirs)
                command = [*self.machine.priority, tools / "bin/mpiexec", "-n", "2", program]
                return self.programs.figures(command, self.machine.environment("ours", variables))

            yield from pingpong_rows("peers", f"MPICH {MPICH} over UCX{where}", "the same over libfabric", run)

    def kernel_rows(self):
        program = self.programs.build("raw", [])
        for loop, what in (("zerocopy", "MSG_ZEROCOPY"), ("uring", "io_uring")):
            for size, count in ((65536, 20000), (1048576, 1000), (4194304, 300)):
                def theirs(_, loop=loop, size=size):
                    each = self.programs.figures([*self.machine.priority, program, loop, str(size)],
                                                 self.machine.environment("ours")).get("each")
                    return each and rate_of(each, size, "bw")

                yield self.versus("tcp", "tag_bw", size, "bw", count, f"a loop with {what}", theirs)
