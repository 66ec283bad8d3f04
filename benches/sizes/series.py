"""What is measured: a series is a test of ucx_perftest over one choice of transports, in all sizes."""
from dataclasses import dataclass, field

SIZES = tuple(1 << bits for bits in range(23))
# Seconds of one size, with scale 1; as many messages as fit by the costs below, the same on both sides.
SIZE_S = 0.012
# Of a rate over tcp: its last message may wait a millisecond for an acknowledgement.
TCP_RATE_S = 0.05
# Runs in one repetition of what is one copy: a few nanoseconds, which depend on where a process has its memory.
COPY_RUNS = 3
LEAST = 10
# Bytes by which buffers of shared memory have grown to their full length; a rate is told of messages behind those.
GROWN = 8 << 20
# Of an operation: microseconds that it takes without bytes, a latency test's and a rate test's, bytes a microsecond, and seconds
# that starting both sides takes.
COSTS = {"shared": (0.4, 0.1, 5000, 0.8), "tcp": (14, 2, 1500, 2.6), "self": (0.1, 0.1, 20000, 0.5), "sleeping": (14, 1, 1500, 1.0)}
# Of a message that is a list.
ENTRIES = 4


@dataclass(frozen=True)
class Series:
    """`table` is that of the page."""
    table: str
    name: str
    test: str
    words: str
    costs: str
    variables: dict = field(default_factory=dict)
    sizes: tuple = SIZES
    entries: int = 1
    gaps: bool = False
    """The entries of a list stand apart in memory."""
    copies: bool = False
    """The library does one copy for an operation: benches/programs/calls_copy.c, put before it, does nothing else."""

    @property
    def two(self):
        return self.costs != "self"

    @property
    def metric(self):
        """As perftest.py names them."""
        return "lat" if self.test.endswith("_lat") else "avg" if self.test in ("get", "ucp_get") else "mr"

    @property
    def runs(self):
        return COPY_RUNS if self.copies else 1

    @property
    def size_s(self):
        return TCP_RATE_S if self.costs == "tcp" and self.metric == "mr" else SIZE_S

    def iterations(self, size, scale):
        latency, rate, speed, _ = COSTS[self.costs]
        each_us = (rate if self.metric == "mr" else latency) + size / speed
        return max(LEAST, int(scale * self.size_s * 1e6 / each_us))

    def warm_up(self, size, count):
        """How many messages precede those that count, `count` at most."""
        growing = GROWN // size if self.costs in ("shared", "sleeping") and self.metric == "mr" else 0
        return max(LEAST, count // 10, min(count, growing))

    def batches(self, scale):
        """The two levels of ucx_perftest's batch files."""
        lines = []
        for size in self.sizes:
            count, entries = self.iterations(size, scale), min(size, self.entries)
            layout = f"{size // entries}:{entries}" if entries > 1 else size
            apart = f"-i {2 * (size // entries)} " if self.gaps else ""
            lines.append(f"{size} {apart}-s {layout} -n {count} -w {self.warm_up(size, count)}\n")
        # An option without a word must not be the last one: getopt would begin the next file inside of it.
        return f"{self.test} {self.words} -t {self.test}\n", "".join(lines)

    def seconds(self, scale):
        """About what a repetition takes. Upstream's library is slow to end a test that receives in place."""
        ends = 4 if self.two and "recv_data" in self.words else 0
        pair = 2 * 1.1 * len(self.sizes) * self.size_s * scale + COSTS[self.costs][-1] + ends
        return self.runs * pair * (1.5 if self.copies else 1)


def ucp_tests(tls):
    """(name, test, words, entries)"""
    for test in ("tag_lat", "tag_sync_lat", "ucp_am_lat", "stream_lat", "tag_bw", "tag_sync_bw", "ucp_am_bw", "stream_bw",
                 "ucp_put_lat", "ucp_put_bw", "ucp_get"):
        yield test, test, "", 1
    yield "stream_lat, recv_data", "stream_lat", "-r recv_data", 1
    for test in ("tag_lat", "tag_bw"):
        yield f"{test}, unexpected", test, "-U", 1
        yield f"{test}, wildcard", test, "-C", 1
        yield f"{test}, list of {ENTRIES}", test, "-D iov,iov", ENTRIES
        yield f"{test}, list of {ENTRIES} with gaps", test, "-D iov,iov", ENTRIES
        # Upstream has no self for a worker that wakes up.
        if tls != "self":
            yield f"{test}, sleeping", test, "-E sleep", 1


def uct_tests(transport):
    """(test, layout)"""
    layouts = {"tcp": ("short", "bcopy", "zcopy"), "cma": ()}.get(transport, ("short", "bcopy"))
    yield from ((test, layout) for test in ("am_lat", "am_bw") for layout in layouts)
    yield from ((test, layout) for test in ("put_lat", "put_bw")
                for layout in (("zcopy",) if transport in ("tcp", "cma") else ("short", "bcopy")))
    if transport != "tcp":
        yield "get", "zcopy" if transport == "cma" else "bcopy"


def all_series():
    for tls in ("posix", "sysv", "posix,cma", "all", "tcp", "self"):
        kind = tls if tls in ("tcp", "self") else "shared"
        for name, test, words, entries in ucp_tests(tls):
            costs = "sleeping" if "sleeping" in name and kind == "shared" else kind
            copies = tls != "tcp" and test in ("ucp_put_lat", "ucp_put_bw", "ucp_get")
            yield Series(f"UCP, {tls}", name, test, words, costs, {"UCX_TLS": tls}, entries=entries, gaps="gaps" in name, copies=copies)
    for transport in ("posix", "sysv", "cma", "tcp", "self"):
        for test, layout in uct_tests(transport):
            words, sizes = f"-x {transport} -d {'lo' if transport == 'tcp' else 'memory'} -D {layout}", SIZES
            if test.startswith("am_"):
                # A short message has a header of eight bytes, which count; others need none.
                words, sizes = (words, SIZES[3:14]) if layout == "short" else (f"{words} -H 0", SIZES[:18])
            kind = transport if transport in ("tcp", "self") else "shared"
            copies = transport == "self" or transport in ("posix", "sysv", "cma") and not test.startswith("am_")
            yield Series(f"UCT, {transport}", f"{test} {layout}", test, words, kind, sizes=sizes, copies=copies)


SERIES = tuple(all_series())
