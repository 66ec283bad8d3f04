"""ucxx's core: two workers that talk, in one process or in two; progress by hand.

    ucxx_core.py one|two listener|address

Every part is a function of a side, "near" or "far", that yields whenever it waits. With "one" the program has both
sides and lets them take turns; with "two" a child has the far side, and the two exchange what they need to know of each
other by its standard input and output."""
import os
import select
import signal
import subprocess
import sys
import time

import numpy
from parts import expect, part, run

import ucxx
from ucxx._lib import arr
from ucxx._lib import libucxx as core
from ucxx.exceptions import UCXCanceledError, UCXError, UCXMessageTruncatedError
from ucxx.types import Tag, TagMask

LENGTHS = [0, 1, 8, 100, 4096, 8191, 8192, 100_000, 1 << 20, 9_000_001]
WAY, CONNECT = sys.argv[1:3]


KEPT = []


def buffer(data):
    """A buffer as ucxx takes it; requests do not hold it, so it lives as long as the part."""
    KEPT.append(arr.Array(data))
    return KEPT[-1]


def pattern(length, seed):
    return (numpy.arange(length, dtype=numpy.uint32) * 31 + seed).astype(numpy.uint8)


class Side:
    """A worker, its endpoint to the other side, and a way to tell that side a line of text."""

    def __init__(self, name, put, get):
        self.name, self.put, self.get = name, put, get
        self.near = name == "near"
        self.context = core.UCXContext({})
        self.worker = core.UCXWorker(self.context, enable_delayed_submission=False, enable_python_future=False)
        self.ep = self.listener = None

    def done(self, *requests):
        while not all(request.completed for request in requests):
            self.worker.progress()
            yield
        for request in requests:
            request.check_error()

    def until(self, condition):
        while not condition():
            self.worker.progress()
            yield

    def told(self):
        """The next line from the other side."""
        while (line := self.get()) is None:
            self.worker.progress()
            yield
        return line

    def meet(self):
        """Both sides have come here."""
        self.put("here")
        expect((yield from self.told()) == "here", "out of step")

    def both(self, sent, received):
        """Sends and receives at once."""
        yield from self.done(*[request for request in (sent, received) if request])


@part
def connect(side):
    if CONNECT == "address":
        own = side.worker.address
        side.put(own.tobytes().hex())
        peer = bytes.fromhex((yield from side.told()))
        address = core.UCXAddress.create_from_buffer(peer)
        expect(address.tobytes() == peer, "the address changed")
        side.ep = core.UCXEndpoint.create_from_worker_address(side.worker, address, endpoint_error_handling=True)
    elif side.near:
        port = int((yield from side.told()))
        side.ep = core.UCXEndpoint.create(side.worker, "127.0.0.1", port, endpoint_error_handling=True)
    else:
        requests = []
        side.listener = core.UCXListener.create(side.worker, 0, requests.append)
        side.put(str(side.listener.port))
        yield from side.until(lambda: requests)
        side.ep = side.listener.create_endpoint_from_conn_request(requests[0], True)
    expect(side.ep.alive, "not alive")
    greeting = numpy.zeros(5, dtype=numpy.uint8)
    yield from side.both(side.ep.tag_send(buffer(b"hello"), Tag(1)), side.ep.tag_recv(buffer(greeting), Tag(1)))
    expect(bytes(greeting) == b"hello", bytes(greeting))


@part
def tag_lengths(side):
    for number, length in enumerate(LENGTHS):
        sent, got = pattern(length, side.near), numpy.full(length, 255, dtype=numpy.uint8)
        yield from side.both(side.ep.tag_send(buffer(sent), Tag(100 + number)),
                             side.ep.tag_recv(buffer(got), Tag(100 + number)))
        expect((got == pattern(length, not side.near)).all(), "wrong data of length", length)


@part
def tag_many(side):
    """Many under way at once, received in another order, by masks too."""
    count = 300
    sent = [numpy.array([number] * (1 + number * 7 % 5000), dtype=numpy.uint16) for number in range(count)]
    sends = [side.ep.tag_send(buffer(data), Tag(0x70000 + number)) for number, data in enumerate(sent)]
    got = [numpy.zeros_like(data) for data in sent]
    receives = [side.ep.tag_recv(buffer(got[number]), Tag(0xABC00000000 | 0x70000 + number), TagMask(0xFFFFFFFF))
                for number in reversed(range(count))]
    yield from side.done(*sends, *receives)
    expect(all((a == b).all() for a, b in zip(sent, got)), "wrong data")


@part
def tag_probe(side):
    for tag, length in ((0x51, 10), (0x52, 200_000)):
        if side.near:
            yield from side.done(side.ep.tag_send(buffer(pattern(length, 3)), Tag(tag)))
            continue
        expect(not side.worker.tag_probe(Tag(0x53)).matched, "a message that nobody sent")
        yield from side.until(lambda: side.worker.tag_probe(Tag(tag)).matched)
        found = side.worker.tag_probe(Tag(tag), remove=True)
        expect(found.length == length and found.sender_tag == tag, found.length, found.sender_tag)
        expect(not side.worker.tag_probe(Tag(tag)).matched, "taken, and still there")
        got = numpy.zeros(length, dtype=numpy.uint8)
        yield from side.done(side.worker.tag_recv_with_handle(buffer(got), found))
        expect((got == pattern(length, 3)).all(), "wrong data")
    yield from side.meet()


@part
def truncated(side):
    """A message that is longer than its receive: the receive says so, the sender knows nothing of it."""
    for number, length in enumerate((20, 5000, 500_000)):
        if side.near:
            yield from side.done(side.ep.tag_send(buffer(pattern(length, 1)), Tag(0x60 + number)))
            continue
        request = side.ep.tag_recv(buffer(numpy.zeros(length // 2, dtype=numpy.uint8)), Tag(0x60 + number))
        try:
            yield from side.done(request)
        except UCXMessageTruncatedError:
            continue
        raise AssertionError(f"{length} bytes fit into half as many")
    yield from side.meet()


@part
def multi_buffer(side):
    for lengths in ([1], [0, 3, 8192], [10, 100_000, 1 << 20, 7, 4096], [64] * 150):
        sent = tuple(buffer(pattern(length, number)) for number, length in enumerate(lengths))
        sends = side.ep.tag_send_multi(sent, Tag(0x4D))
        got = side.ep.tag_recv_multi(Tag(0x4D))
        yield from side.until(lambda: sends.completed and got.completed and sends.all_completed and got.all_completed)
        sends.check_error()
        got.check_error()
        buffers = [numpy.frombuffer(one, dtype=numpy.uint8) if len(memoryview(one)) else numpy.zeros(0)
                   for one in got.py_buffers]
        expect([one.size for one in buffers] == lengths, [one.size for one in buffers], lengths)
        expect(all((one == pattern(one.size, number)).all() for number, one in enumerate(buffers)), "data")


@part
def active_messages(side):
    for length in LENGTHS[1:]:
        send, receive = side.ep.am_send(buffer(pattern(length, side.near))), side.ep.am_recv()
        yield from side.done(send, receive)
        got = numpy.frombuffer(receive.recv_buffer, dtype=numpy.uint8)
        expect(got.size == length and (got == pattern(length, not side.near)).all(), "wrong data of", length)
    yield from side.meet()
    if side.near:
        yield from side.done(*[side.ep.am_send(buffer(pattern(64 + number, number))) for number in range(200)])
    else:
        yield from side.until(side.ep.am_probe)
        for number in range(200):
            receive = side.ep.am_recv()
            yield from side.done(receive)
            got = numpy.frombuffer(receive.recv_buffer, dtype=numpy.uint8)
            expect(got.size == 64 + number and (got == pattern(64 + number, number)).all(), "message", number)
    yield from side.meet()


@part
def stream(side):
    for length in LENGTHS[1:]:
        got = numpy.zeros(length, dtype=numpy.uint8)
        yield from side.both(side.ep.stream_send(buffer(pattern(length, 9 + side.near))),
                             side.ep.stream_recv(buffer(got)))
        expect((got == pattern(length, 10 - side.near)).all(), "wrong data of length", length)


@part
def wakeup(side):
    """Sleeps on the descriptor until a message comes."""
    for number in range(5):
        if side.near:
            yield from side.meet()
            yield from side.done(side.ep.tag_send(buffer(pattern(1000, number)), Tag(0x77)))
            continue
        if number == 0:
            side.worker.init_blocking_progress_mode()
        got = numpy.zeros(1000, dtype=numpy.uint8)
        request = side.ep.tag_recv(buffer(got), Tag(0x77))
        yield from side.meet()
        poll = select.poll()
        poll.register(side.worker.epoll_file_descriptor, select.POLLIN)
        while not request.completed:
            if side.worker.arm():
                # In one process nobody else makes the sender send.
                poll.poll(10_000 if WAY == "two" else 0)
            side.worker.progress()
            yield
        request.check_error()
        expect((got == pattern(1000, number)).all(), "wrong data")
    yield from side.meet()


@part
def cancel(side):
    """Closing an endpoint cancels what waits on it; the worker and its other endpoints live on."""
    ep = core.UCXEndpoint.create_from_worker_address(side.worker, side.worker.address, True)
    requests = [ep.tag_recv(buffer(numpy.zeros(100 + number, dtype=numpy.uint8)), Tag(0xCA00 + number))
                for number in range(10)]
    requests.append(ep.am_recv())
    side.worker.progress()
    expect(not any(request.completed for request in requests), "completed without a message")
    ep.close_blocking()
    yield from side.until(lambda: all(request.completed for request in requests))
    for request in requests:
        try:
            request.check_error()
        except UCXCanceledError:
            continue
        raise AssertionError("not canceled")
    yield from side.meet()
    got = numpy.zeros(3, dtype=numpy.uint8)
    yield from side.both(side.ep.tag_send(buffer(b"yes"), Tag(0xCA00)), side.ep.tag_recv(buffer(got), Tag(0xCA00)))
    expect(bytes(got) == b"yes", "the worker does not work after a cancel")


@part
def texts(side):
    expect("tcp" in side.context.info or "posix" in side.context.info, side.context.info)
    expect("UCP worker" in side.worker.info, side.worker.info)
    expect(ucxx.get_ucx_version() >= (1, 19, 0), ucxx.get_ucx_version())
    expect("UCX_TLS" not in side.context.config and "TLS" in side.context.config, side.context.config)
    yield


@part
def wrong_arguments(side):
    """What cannot work is an exception, at once or from the endpoint."""
    def refused(call):
        try:
            call()
        except (UCXError, OSError, ValueError) as error:
            return error
        raise AssertionError("accepted")
    refused(lambda: core.UCXContext({"NO_SUCH_OPTION": "1"}))
    refused(lambda: core.UCXContext({"TLS": "no-such-transport"}))
    refused(lambda: core.UCXEndpoint.create(side.worker, "no host of this name", 1, True))
    yield


@part
def nobody_listens(side):
    """Port 1 of this host: the endpoint fails, its callback is called, the worker lives on."""
    called = []
    ep = core.UCXEndpoint.create(side.worker, "127.0.0.1", 1, True)
    ep.set_close_callback(called.append, ("called",))
    yield from side.until(lambda: not ep.alive)
    yield from side.until(lambda: called)
    try:
        ep.raise_on_error()
    except UCXError:
        ep.close_blocking()
        yield
        return
    raise AssertionError("no error")


@part
def close_callback(side):
    """The far side closes: the near endpoint says so, once; what waits on it ends; a new endpoint works."""
    called = []
    side.ep.set_close_callback(called.append, ("called",))
    yield from side.meet()
    if side.near:
        pending = side.ep.tag_recv(buffer(numpy.zeros(8, dtype=numpy.uint8)), Tag(0xDEAD))
        yield from side.until(lambda: not side.ep.alive)
        try:
            side.ep.raise_on_error()
        except UCXError as error:
            print(f"# the near side's endpoint: {type(error).__name__}")
        else:
            raise AssertionError("no error")
        side.ep.close_blocking()
        yield from side.until(lambda: pending.completed)
        expect(called == ["called"], called)
        try:
            pending.check_error()
        except UCXError:
            yield from side.meet()
            return
        raise AssertionError("received what nobody sent")
    side.ep.close_blocking()
    expect(not side.ep.alive and called == ["called"], side.ep.alive, called)
    yield from side.meet()


@part
def again(side):
    """A second endpoint between the same workers."""
    side.ep = None
    if side.listener:
        side.listener = None
    yield from connect(side)
    got = numpy.zeros(300_000, dtype=numpy.uint8)
    yield from side.both(side.ep.tag_send(buffer(pattern(300_000, 1)), Tag(0x99)),
                         side.ep.tag_recv(buffer(got), Tag(0x99)))
    expect((got == pattern(300_000, 1)).all(), "wrong data")


@part
def killed(side):
    """Of two processes the far one is killed: the near one notices, with a send and a receive under way."""
    if WAY == "one":
        side.ep.close_blocking()
        yield
        return
    if not side.near:
        side.put(str(os.getpid()))
        while True:
            side.worker.progress()
            yield
    pid = int((yield from side.told()))
    receive = side.ep.tag_recv(buffer(numpy.zeros(8, dtype=numpy.uint8)), Tag(0xDEAD))
    send = side.ep.tag_send(buffer(pattern(1 << 20, 1)), Tag(0xBEEF))
    side.worker.progress()
    os.kill(pid, signal.SIGKILL)
    yield from side.until(lambda: not side.ep.alive)
    side.ep.close_blocking()
    yield from side.until(lambda: receive.completed and send.completed)
    for request in (receive, send):
        try:
            request.check_error()
        except UCXError:
            continue
        raise AssertionError("completed with a dead peer")


def one():
    lines = {"near": [], "far": []}

    def box(name):
        return lambda: lines[name].pop(0) if lines[name] else None
    sides = [Side("near", lines["far"].append, box("near")), Side("far", lines["near"].append, box("far"))]

    def step(function):
        running = [function(side) for side in sides]
        while running:
            for routine in list(running):
                try:
                    next(routine)
                except StopIteration:
                    running.remove(routine)
    run(step)


def two(child):
    """`child` is None in the far process."""
    incoming, outgoing = (child.stdout, child.stdin) if child else (sys.stdin.buffer, os.fdopen(os.dup(1), "wb"))
    if not child:
        # The near side tells the verdict; what this one prints is for people.
        os.dup2(2, 1)
    os.set_blocking(incoming.fileno(), False)
    rest, ready = bytearray(), []

    def get():
        nonlocal rest
        if not ready:
            try:
                data = os.read(incoming.fileno(), 65536)
            except BlockingIOError:
                return None
            if not data:
                if child:
                    raise AssertionError("the far side has ended")
                os._exit(0)
            *whole, rest = (rest + data).split(b"\n")
            ready.extend(whole)
        return ready.pop(0).decode() if ready else None

    def put(line):
        outgoing.write(line.encode() + b"\n")
        outgoing.flush()
    side = Side("near" if child else "far", put, get)

    def step(function):
        for _ in function(side):
            time.sleep(0)
    run(step, quiet=not child)


if sys.argv[3:] == ["far"]:
    two(None)
elif WAY == "one":
    one()
else:
    with subprocess.Popen([sys.executable, *sys.argv, "far"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          bufsize=0) as far:
        try:
            two(far)
        finally:
            far.kill()
