"""What this library is to reach, row by row, and whether the record shows it.

A gain is that over upstream; a bound is a figure of ours that is not to be passed. Where a row is not reached, the loop
that only moves the bytes (group "limits") says how much of it the machine leaves.
"""
from dataclasses import dataclass

from perftest import thread_tests


# The limit where what ucx_perftest itself does for a message stands beside the message's way.
CALLS_AND_RING = "calls and ring"
# The same, and the locked instruction of an atomic operation.
CALLS_AND_ADD = "calls and add"


@dataclass
class Goal:
    group: str
    name: str
    gain: float = 0.0
    bound: float = 0.0
    limit: str = ""
    """The row of ucx_perftest that moves the same bytes, where it is another program that shows the goal."""
    twin: str = ""

    @property
    def limited(self):
        """What the record calls the row of the limit."""
        return f"{self.twin or self.name}, against raw {self.limit}"

    def verdict(self, gain, ours):
        if self.bound:
            return ours is not None and ours <= self.bound
        return gain is not None and gain >= self.gain


def goals():
    yield Goal("messages", "posix tag_lat 8", 1 / 0.85, limit="turns")
    for test, gain in (("tag_bw", 2.5), ("am_bw", 2.5), ("stream_bw", 2)):
        yield Goal("messages", f"posix {test} rate 8", gain, limit=CALLS_AND_RING)
    for test in ("tag_bw", "am_bw", "stream_bw"):
        yield Goal("loop", f"self loop {test} rate 8", 1.5, limit="calls" if test == "tag_bw" else "")
    yield Goal("messages", "posix,cma tag_lat 8192", 1 / 0.6)
    yield Goal("messages", "posix,cma tag_bw 8192", 3)
    yield Goal("messages", "posix tag_lat 65536", 2, limit="copy")
    yield Goal("messages", "posix,cma tag_bw 65536", 1.15)
    # Memory that ucx_perftest has mapped goes past cma.
    for test, gain, limit in (("tag_bw", 1.05, "cma"), ("am_bw", 1.05, "cma"), ("stream_bw", 2, "own")):
        for size in (1048576, 4194304):
            yield Goal("messages", f"posix,cma {test} {size}", gain, limit=limit)
    for tls in ("posix", "posix,cma"):
        for size in (65536, 1048576, 4194304):
            yield Goal("memory", f"{tls} put_bw {size}", 4, limit="own")
            yield Goal("memory", f"{tls} get {size}", 4, limit="own")
        yield Goal("memory", f"{tls} get 8", 20, limit="calls")
    for test in ("add", "fadd", "swap", "cswap"):
        yield Goal("memory", f"posix {test} rate 8", 1.3, limit=CALLS_AND_ADD)
    for test in ("tag_bw", "am_bw", "stream_bw"):
        yield Goal("messages", f"tcp {test} rate 8", 20)
    yield Goal("zeromq", "tag rate 8 over tcp, PUSH and PULL, against ZeroMQ", 1)
    yield Goal("messages", "tcp tag_lat 8", 1 / 0.95, limit="tcp")
    yield Goal("messages", "tcp tag_lat 65536", 1 / 0.6, limit="tcp")
    for size, gain in ((8192, 3), (65536, 2.5), (1048576, 1.5)):
        for test in ("tag_bw", "am_bw"):
            yield Goal("messages", f"tcp {test} {size}", gain, limit="stream")
        yield Goal("messages", f"tcp stream_bw {size}", 3, limit="stream")
    for size in (65536, 4194304):
        yield Goal("memory", f"tcp put_bw {size}", 2, limit="stream")
        yield Goal("memory", f"tcp get {size}", 2, limit="ask")
    for name, _, _, _, alone, _ in thread_tests():
        yield Goal("threads", name, 1)
        if alone:
            yield Goal("threads", f"{name}, against one that is not shared", 0.7)
    yield Goal("start", "process that loads the library", bound=3)
    yield Goal("start", "configuration, ucp_init and worker, all transports", bound=1500)
    yield Goal("start", "first endpoint, all transports", bound=1000)
    for tls in ("posix", "tcp", "all transports"):
        yield Goal("endpoints", f"one of 1000 to a peer, {tls}: us", bound=20)
        yield Goal("endpoints", f"one of 1000 to a peer, {tls}: KiB", bound=2)
    yield Goal("start", "idle worker with its context: memory of its own", bound=1024)
    yield Goal("start", "idle worker with its context: descriptors", bound=4)
    for kind in ("Open MPI over UCX", "Open MPI over UCX, tcp", "MPICH over UCX"):
        yield Goal("mpi", f"{kind} init and finalize, 4 ranks", 1)
        for size in (8, 8192, 65536, 1048576):
            yield Goal("mpi", f"{kind} latency {size}", 1)
    for size in (8, 8192, 65536, 1048576):
        yield Goal("mpi", f"Open MPI over UCX latency {size}, against vader", 1)
        yield Goal("mpi", f"Open MPI over UCX, tcp latency {size}, against Open MPI's tcp", 1, limit="tcp", twin=f"tcp tag_lat {size}")
