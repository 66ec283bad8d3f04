"""connex_rs: one-sided reads and writes, signals, messages, and what is reported when a peer dies and comes back.

    connex_engine.py

The functions marked `part` use a second process, the same program with the word `peer` and the port of its listener."""
import os
import signal
import subprocess
import sys

import connex_rs
import numpy
from parts import expect, part, run

LENGTHS = [1, 8, 1000, 65_536, 3_000_001]
PATIENCE = 30_000  # milliseconds


def engine(stage, port=0):
    return connex_rs.Engine("model", stage=stage, listen_ip="127.0.0.1", port=port, heartbeat_ms=200,
                            heartbeat_timeout_ms=2000)


def data(length, seed):
    return numpy.random.default_rng(seed).integers(0, 256, length, dtype=numpy.uint8)


class Peer:
    """The second process. `memory` and `url` are where its registered buffer is and how to reach it."""

    def __init__(self, port=0):
        self.process = subprocess.Popen([sys.executable, __file__, "peer", str(port)], stdout=subprocess.PIPE,
                                        stdin=subprocess.PIPE, text=True)
        url, memory = self.process.stdout.readline().split()
        self.url, self.memory = url, int(memory)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def serve(port):
    """Says where its memory is, then sends back each message; ends with its standard input."""
    local = engine(1, port)
    memory = data(LENGTHS[-1], 1)
    local.register_memory(memory.ctypes.data, memory.size)
    print(local.local_url, memory.ctypes.data, flush=True)
    while os.getppid() == PARENT:
        received = local.recv_msg(100)
        if received:
            sender, text = received
            local.send_msg(sender, b"back " + bytes(text))
    local.close()


def reply(local):
    received = local.recv_msg(PATIENCE)
    expect(received, "no message")
    return bytes(received[1])


@part
def reads(local, peer, buffer):
    theirs = data(LENGTHS[-1], 1)
    for length in LENGTHS:
        buffer[:] = 0
        status = local.transfer_sync_read(peer.url, buffer.ctypes.data, peer.memory, length, PATIENCE)
        expect(status == 0 and (buffer[:length] == theirs[:length]).all() and not buffer[length:].any(), length, status)


@part
def writes(local, peer, buffer):
    for length in LENGTHS:
        mine = data(length, length)
        buffer[:length] = mine
        status = local.transfer_sync_write(peer.url, buffer.ctypes.data, peer.memory, length, PATIENCE)
        expect(status == 0, status)
        buffer[:] = 0
        status = local.transfer_sync_read(peer.url, buffer.ctypes.data, peer.memory, length, PATIENCE)
        expect(status == 0 and (buffer[:length] == mine).all(), length, status)


@part
def many_at_once(local, peer, buffer):
    size = 10_000
    mine = data(size * 64, 64)
    buffer[:mine.size] = mine
    for way in (local.put_async, local.get_async):
        handles = [way(peer.url, buffer.ctypes.data + offset, peer.memory + offset, size)
                   for offset in range(0, mine.size, size)]
        expect(all(handle.wait(PATIENCE) for handle in handles), "not all are done")
        expect((buffer[:mine.size] == mine).all(), "other bytes")
        if way == local.put_async:
            buffer[:] = 0


@part
def signals(local, peer, buffer):
    """The message arrives after the data."""
    for number in range(50):
        buffer[:8] = number
        handle = local.put_signal(peer.url, buffer.ctypes.data, peer.memory, 8, b"step %d" % number)
        expect(handle.wait(PATIENCE), "not done")
        expect(reply(local) == b"back step %d" % number, number)


@part
def messages(local, peer, buffer):
    for length in (0, 1, 100, 5000, 100_000):
        text = data(length, length).tobytes()
        local.send_msg(peer.url, text)
        expect(reply(local) == b"back " + text, length)


@part
def unregistered_memory_is_refused(local, peer, buffer):
    status = local.transfer_sync_read(peer.url, buffer.ctypes.data, 4096, 8, PATIENCE)
    expect(status < 0, status)


@part
def death_and_return(local, peer, buffer):
    """It is told of the death; a new process at the same address and identity is the same peer again."""
    port = int(peer.url.split("#")[0].split(":")[1])
    for _ in range(3):
        peer.kill()
        event = None
        while not event or event["type"] != "failed":
            event = local.wait_event(PATIENCE)
            expect(event, "no event")
        peer = Peer(port)
        status = local.transfer_sync_read(peer.url, buffer.ctypes.data, peer.memory, 1000, PATIENCE)
        expect(status == 0 and (buffer[:1000] == data(1000, 1)).all(), status)
    peer.kill()


if __name__ == "__main__":
    if sys.argv[1:2] == ["peer"]:
        PARENT = os.getppid()
        serve(int(sys.argv[2]))
    else:
        first, second, memory = engine(0), Peer(), numpy.zeros(LENGTHS[-1], dtype=numpy.uint8)
        first.register_memory(memory.ctypes.data, memory.size)
        run(lambda function: function(first, second, memory))
        first.close()
