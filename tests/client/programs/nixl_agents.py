"""NIXL: agents that write to and read from each other's memory by UCX, in one process or in two.

    nixl_agents.py one|two [NEAR FAR]

NEAR and FAR are where the agents have their memory: DRAM, or VRAM, which is a GPU's and needs cupy. The functions marked
`part` are the near agent's. The far agent has registered memory, keeps what it is told by notifications and answers some of
them; with "two" a child has it."""
import importlib.util
import os
import subprocess
import sys
import time
import types

import numpy
from parts import expect, part, run

# The package imports torch for the type of an argument; a gigabyte that nothing here uses.
sys.modules["torch"] = types.SimpleNamespace(Tensor=type("Tensor", (), {}))

PACKAGE = next(name for name in ("nixl_cu12", "nixl_cu13") if importlib.util.find_spec(name))
API = importlib.import_module(PACKAGE + "._api")

WAY = sys.argv[1]
NEAR, FAR = sys.argv[2:4] if len(sys.argv) >= 4 else ("DRAM", "DRAM")
LENGTH = 1 << 20
CHUNKS = [1, 8, 100, 4096, 65536, 300_000, 1_000_003]


class Agent:
    """An agent with one piece of memory. Its `arrays` are numpy or cupy."""

    def __init__(self, name, place):
        self.name = name
        self.place = place
        self.agent = API.nixl_agent(name, API.nixl_agent_config(backends=["UCX"]))
        self.arrays = numpy if place == "DRAM" else importlib.import_module("cupy")
        self.memory = self.arrays.zeros(LENGTH, dtype=numpy.uint8)
        self.base = self.memory.ctypes.data if place == "DRAM" else self.memory.data.ptr
        self.settle()
        self.registered = self.agent.register_memory([(self.base, LENGTH, 0, "")], place)

    def settle(self):
        """Waits for what was stored."""
        if self.place == "VRAM":
            self.arrays.cuda.Device().synchronize()

    def pattern(self, length, seed):
        return (self.arrays.arange(length, dtype=numpy.uint32) * 13 + seed).astype(numpy.uint8)

    def descs(self, *ranges):
        self.settle()
        return self.agent.get_xfer_descs([(self.base + at, length, 0) for at, length in ranges], self.place)

    def close(self):
        self.agent.deregister_memory(self.registered)


class Far(Agent):
    """Answers `fill N` by filling its memory, `sum` by the sum of its bytes, all else by repeating it."""

    def serve(self):
        for peer, texts in self.agent.get_new_notifs().items():
            for text in texts:
                if text.startswith(b"fill "):
                    self.memory[:] = self.pattern(LENGTH, int(text.split()[1]))
                    self.settle()
                    self.agent.send_notif(peer, b"filled")
                elif text.startswith(b"sum"):
                    total = int(self.memory.astype(numpy.uint64).sum())
                    self.agent.send_notif(peer, b"sum %d" % total)
                elif text == b"bye":
                    return False
                else:
                    self.agent.send_notif(peer, b"got " + text)
        return True


class Near(Agent):
    """What the parts do, with the far agent's descriptors in `there`."""

    def __init__(self, name, far_metadata, far_base, turn):
        super().__init__(name, NEAR)
        self.turn = turn
        self.far = self.agent.add_remote_agent(far_metadata)
        self.far = self.far.decode() if isinstance(self.far, bytes) else self.far
        self.far_base = far_base
        self.heard = []

    def there(self, *ranges):
        return self.agent.get_xfer_descs([(self.far_base + at, length, 0) for at, length in ranges], FAR)

    def transfer(self, way, here, there, text=b""):
        handle = self.agent.initialize_xfer(way, self.descs(*here), self.there(*there), self.far, text)
        self.finish(handle)
        self.agent.release_xfer_handle(handle)

    def finish(self, handle):
        state = self.agent.transfer(handle)
        while state == "PROC":
            self.turn()
            state = self.agent.check_xfer_state(handle)
        expect(state == "DONE", "the transfer ended with", state)

    def hear(self):
        """The next notification from the far agent."""
        while not self.heard:
            self.turn()
            for texts in self.agent.get_new_notifs().values():
                self.heard += texts
        return self.heard.pop(0)

    def ask(self, text):
        self.agent.send_notif(self.far, text)
        return self.hear()


@part
def metadata(near):
    expect(near.far == "far", near.far)
    expect(near.agent.check_remote_metadata("far"), "the far agent is not known")
    kinds = near.agent.get_plugin_mem_types("UCX")
    expect({f"{NEAR}_SEG", f"{FAR}_SEG"} <= set(kinds), kinds)
    near.agent.make_connection("far")


@part
def notifications(near):
    for number in range(50):
        text = b"note %d " % number + b"x" * (number * 50)
        expect(near.ask(text) == b"got " + text, "wrong answer")


@part
def writes(near):
    for number, length in enumerate(CHUNKS):
        near.memory[:length] = near.pattern(length, number)
        expect(near.ask(b"fill 0") == b"filled", "not filled")
        before = near.pattern(LENGTH, 0).astype(numpy.uint64)
        near.transfer("WRITE", [(0, length)], [(77, length)], b"sum after %d" % number)
        after = int(before.sum() - before[77:77 + length].sum() + near.memory[:length].astype(numpy.uint64).sum())
        expect(near.hear() == b"sum %d" % after, "wrong sum of length", length)


@part
def reads(near):
    expect(near.ask(b"fill 5") == b"filled", "not filled")
    for length in CHUNKS:
        near.memory[:] = 0
        near.transfer("READ", [(1, length)], [(33, length)])
        expect((near.memory[1:length + 1] == near.pattern(LENGTH, 5)[33:33 + length]).all(), "wrong data of", length)
        expect(not near.memory[length + 1:].any() and not near.memory[0], "more was written")


@part
def many_ranges(near):
    """Written in pieces, in another order, read back as a whole."""
    count, length = 256, 3000
    near.memory[:count * length] = near.pattern(count * length, 9)
    here = [(number * length, length) for number in range(count)]
    there = [((number * 37 % count) * length, length) for number in range(count)]
    near.transfer("WRITE", here, there)
    sent = near.memory[:count * length].copy().reshape(count, length)
    near.memory[:] = 0
    near.transfer("READ", [(0, count * length)], [(0, count * length)])
    got = near.memory[:count * length].reshape(count, length)
    expect(all((got[number * 37 % count] == sent[number]).all() for number in range(count)), "wrong data")


@part
def prepared(near):
    """Lists made once, and several transfers by indices under way together."""
    count, length = 32, 10_000
    near.memory[:count * length] = near.pattern(count * length, 3)
    ranges = [(number * length, length) for number in range(count)]
    here = near.agent.prep_xfer_dlist("NIXL_INIT_AGENT", near.descs(*ranges))
    there = near.agent.prep_xfer_dlist(near.far, near.there(*ranges))
    handles = [near.agent.make_prepped_xfer("WRITE", here, list(range(first, count, 4)), there,
                                            list(range(first, count, 4)), b"quarter %d" % first)
               for first in range(4)]
    states = [near.agent.transfer(handle) for handle in handles]
    while "PROC" in states:
        near.turn()
        states = [near.agent.check_xfer_state(handle) for handle in handles]
    expect(states == ["DONE"] * 4, states)
    expect(sorted(near.hear() for _ in handles) == [b"got quarter %d" % first for first in range(4)], "notifications")
    for handle in handles:
        near.agent.release_xfer_handle(handle)
    for handle in (here, there):
        near.agent.release_dlist_handle(handle)
    near.memory[:] = 0
    near.transfer("READ", [(0, count * length)], [(0, count * length)])
    expect((near.memory[:count * length] == near.pattern(count * length, 3)).all(), "wrong data")


@part
def again_and_again(near):
    """The same transfer, posted a thousand times."""
    near.memory[:64] = near.pattern(64, 4)
    handle = near.agent.initialize_xfer("WRITE", near.descs((0, 64)), near.there((0, 64)), near.far)
    for _ in range(1000):
        near.finish(handle)
    near.agent.release_xfer_handle(handle)


@part
def wrong_arguments(near):
    """Memory that is not registered, there or here."""
    outside = near.agent.get_xfer_descs([(near.far_base + LENGTH + (1 << 30), 8, 0)], FAR)
    for here, there in ((near.descs((0, 8)), outside), (outside, near.there((0, 8)))):
        try:
            near.agent.initialize_xfer("WRITE", here, there, near.far)
        except Exception:
            continue
        raise AssertionError("accepted")


@part
def farewell(near):
    near.agent.send_notif(near.far, b"bye")
    if WAY == "one":
        while near.turn():
            pass
    near.agent.remove_remote_agent("far")


def one():
    far = Far("far", FAR)
    near = Near("near", far.agent.get_agent_metadata(), far.base, far.serve)
    far.agent.add_remote_agent(near.agent.get_agent_metadata())
    run(lambda function: function(near))
    near.close()
    far.close()


def two(child):
    # NIXL speaks to standard output too.
    line = next(line for line in child.stdout if line.startswith("far is "))
    _, _, metadata_of_far, base = line.split()
    near = Near("near", bytes.fromhex(metadata_of_far), int(base), lambda: time.sleep(0))
    child.stdin.write(near.agent.get_agent_metadata().hex() + "\n")
    child.stdin.flush()
    run(lambda function: function(near))
    near.close()
    expect(child.wait(20) == 0, "the far process ended with", child.returncode)


def far_alone():
    far = Far("far", FAR)
    print("far is", far.agent.get_agent_metadata().hex(), far.base, flush=True)
    far.agent.add_remote_agent(bytes.fromhex(sys.stdin.readline()))
    while far.serve():
        time.sleep(0)
        expect(os.getppid() == PARENT, "the near process is gone")
    far.close()


def end():
    """Leaves without the destructors of the package, which crash with its own UCX too."""
    sys.stdout.flush()
    os._exit(0)


PARENT = os.getppid()
if sys.argv[-1] == "far":
    far_alone()
    end()
elif WAY == "one":
    one()
    end()
else:
    with subprocess.Popen([sys.executable, *sys.argv, "far"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as far_process:
        try:
            two(far_process)
            end()
        finally:
            far_process.kill()
