"""ucxx's asyncio interface: a listener and its clients, in one process or in two.

    ucxx_asyncio.py one|two blocking|polling|thread|thread-polling

The functions marked `part` are the client's; the server answers what they ask for: the first message of a connection
is its name. With "two" a child is the server."""
import asyncio
import os
import pickle
import signal
import subprocess
import sys

import numpy
from parts import expect, part, run

import ucxx
from ucxx.exceptions import UCXError, UCXMessageTruncatedError
from ucxx.types import Tag

WAY, MODE = sys.argv[1:3]
LENGTHS = [1, 100, 8192, 100_000, 3_000_001]


async def echo(ep):
    for length in LENGTHS:
        data = numpy.empty(length, dtype=numpy.uint8)
        await ep.recv(data)
        await ep.send(data)


async def objects(ep):
    for _ in LENGTHS:
        await ep.send_obj(await ep.recv_obj())


async def active(ep):
    for _ in LENGTHS:
        await ep.am_send(numpy.frombuffer(await ep.am_recv(), dtype=numpy.uint8).copy())


async def several(ep):
    buffers = await ep.recv_multi()
    await ep.send_multi([numpy.frombuffer(one, dtype=numpy.uint8).copy() for one in buffers])


async def tagged(ep):
    data = [numpy.empty(1000, dtype=numpy.uint8) for _ in range(20)]
    await asyncio.gather(*[ep.recv(one, tag=number) for number, one in enumerate(data)])
    await asyncio.gather(*[ep.send(one, tag=100 + number) for number, one in enumerate(data)])


async def long_message(ep):
    await ep.send(numpy.zeros(5000, dtype=numpy.uint8))
    await ep.recv(numpy.empty(1, dtype=numpy.uint8))


async def leave(ep):
    await ep.close()


async def counted(ep):
    ep.close_after_n_recv(3)
    for _ in range(3):
        await ep.recv(numpy.empty(10, dtype=numpy.uint8))
    expect(ep.closed, "not closed after three messages")


async def serve(ep):
    name = (await ep.recv_obj()).decode()
    await globals()[name](ep)
    # An endpoint that is dropped takes what is under way with it.
    while ep.alive:
        await asyncio.sleep(0)


async def call(name, port, prepare=lambda ep: None):
    ep = await ucxx.create_endpoint("127.0.0.1", port, connect_timeout=60)
    prepare(ep)
    await ep.send_obj(name.encode())
    return ep


def pattern(length):
    return (numpy.arange(length, dtype=numpy.uint32) * 7 + length).astype(numpy.uint8)


@part
async def messages(port):
    ep = await call("echo", port)
    for length in LENGTHS:
        got = numpy.empty(length, dtype=numpy.uint8)
        await asyncio.gather(ep.send(pattern(length)), ep.recv(got))
        expect((got == pattern(length)).all(), "wrong data of length", length)
    await ep.close()


@part
async def pickled(port):
    ep = await call("objects", port)
    for length in LENGTHS:
        value = {"length": length, "data": list(range(length % 5000))}
        await ep.send_obj(pickle.dumps(value))
        expect(pickle.loads(await ep.recv_obj()) == value, "wrong object")
    await ep.close()


@part
async def active_messages(port):
    ep = await call("active", port)
    for length in LENGTHS:
        sent = pattern(length)
        await ep.am_send(sent)
        got = numpy.frombuffer(await ep.am_recv(), dtype=numpy.uint8)
        expect(got.size == length and (got == sent).all(), "wrong data of length", length)
    await ep.close()


@part
async def multi_buffer(port):
    ep = await call("several", port)
    sent = [pattern(length) for length in LENGTHS]
    await ep.send_multi(sent)
    got = [numpy.frombuffer(one, dtype=numpy.uint8) for one in await ep.recv_multi()]
    expect(all((a == b).all() for a, b in zip(sent, got, strict=True)), "wrong data")
    await ep.close()


@part
async def tags(port):
    ep = await call("tagged", port)
    sent = [numpy.full(1000, number, dtype=numpy.uint8) for number in range(20)]
    got = [numpy.empty(1000, dtype=numpy.uint8) for _ in sent]
    await asyncio.gather(*[ep.send(one, tag=number) for number, one in reversed(list(enumerate(sent)))],
                         *[ep.recv(one, tag=100 + number) for number, one in enumerate(got)])
    expect(all((a == b).all() for a, b in zip(sent, got)), "wrong data")
    await ep.close()


@part
async def truncated(port):
    ep = await call("long_message", port)
    try:
        await ep.recv(numpy.empty(100, dtype=numpy.uint8))
    except UCXMessageTruncatedError:
        await ep.send(b"x")
        await ep.close()
        return
    raise AssertionError("5000 bytes fit into 100")


@part
async def many_clients(port):
    async def one():
        ep = await call("echo", port)
        for length in LENGTHS:
            got = numpy.empty(length, dtype=numpy.uint8)
            await asyncio.gather(ep.send(pattern(length)), ep.recv(got))
            expect((got == pattern(length)).all(), "wrong data")
        await ep.close()
    await asyncio.gather(*[one() for _ in range(10)])


@part
async def close_callback(port):
    called = []
    # Before the server hears of it: an endpoint that has closed takes no callback.
    ep = await call("leave", port, lambda ep: ep.set_close_callback(called.append, ("called",)))
    try:
        await ep.recv(numpy.empty(10, dtype=numpy.uint8))
    except UCXError:
        pass
    else:
        raise AssertionError("received what nobody sent")
    while ep.alive:
        await asyncio.sleep(0)
    await ep.close()
    expect(called == ["called"], called)


@part
async def close_after(port):
    ep = await call("counted", port)
    for number in range(3):
        await ep.send(numpy.full(10, number, dtype=numpy.uint8))
    while ep.alive:
        await asyncio.sleep(0)
    await ep.close()


@part
async def worker_address(port):
    """An endpoint to the own worker."""
    ep = await ucxx.create_endpoint_from_worker_address(ucxx.get_worker_address())
    got = numpy.empty(100_000, dtype=numpy.uint8)
    await asyncio.gather(ep.send(pattern(100_000), tag=Tag(7), force_tag=True), ucxx.recv(got, tag=7))
    expect((got == pattern(100_000)).all(), "wrong data")
    await ep.close()


@part
async def nobody_listens(port):
    try:
        await ucxx.create_endpoint("127.0.0.1", 1, connect_timeout=20)
    except (UCXError, TimeoutError):
        return
    raise AssertionError("connected to nobody")


def main(port, loop):
    expect("tcp" in ucxx.get_ucp_context_info() or "posix" in ucxx.get_ucp_context_info(), "no transport")
    run(lambda function: loop.run_until_complete(function(port)))


async def server_alone():
    listener = ucxx.create_listener(serve, connect_timeout=60)
    print(listener.port, flush=True)
    while os.getppid() == PARENT:
        await asyncio.sleep(0.02)


PARENT = os.getppid()
ucxx.init(progress_mode=MODE)
LOOP = asyncio.new_event_loop()
asyncio.set_event_loop(LOOP)
if sys.argv[3:] == ["server"]:
    LOOP.run_until_complete(server_alone())
elif WAY == "one":
    async def listen():
        return ucxx.create_listener(serve, connect_timeout=60)
    LISTENER = LOOP.run_until_complete(listen())
    main(LISTENER.port, LOOP)
    LISTENER.close()
    LISTENER = None
    ucxx.reset()
else:
    with subprocess.Popen([sys.executable, *sys.argv, "server"], stdout=subprocess.PIPE, text=True) as server:
        try:
            main(int(server.stdout.readline()), LOOP)
            ucxx.reset()
        finally:
            server.send_signal(signal.SIGKILL)
