"""NIXL: writes and reads of another process's memory, "WHAT BYTES FIGURE" a line: microseconds of one with nothing else under
way for few bytes, MB/s for many.

    nixl_transfer.py SCALE
"""
import importlib
import importlib.util
import os
import subprocess
import sys
import time
import types

import numpy

# The package imports torch for the type of an argument; a gigabyte that nothing here uses.
sys.modules["torch"] = types.SimpleNamespace(Tensor=type("Tensor", (), {}))
API = importlib.import_module(next(name for name in ("nixl_cu12", "nixl_cu13") if importlib.util.find_spec(name)) + "._api")
LENGTH = 1 << 24


class Agent:
    def __init__(self, name):
        self.agent = API.nixl_agent(name, API.nixl_agent_config(backends=["UCX"]))
        self.memory = numpy.ones(LENGTH, dtype=numpy.uint8)
        self.base = self.memory.ctypes.data
        self.registered = self.agent.register_memory([(self.base, LENGTH, 0, "")], "DRAM")


def far():
    agent = Agent("far")
    print("far is", agent.agent.get_agent_metadata().hex(), agent.base, flush=True)
    agent.agent.add_remote_agent(bytes.fromhex(sys.stdin.readline()))
    while not any(agent.agent.get_new_notifs().values()):
        time.sleep(0)
    os._exit(0)


def near(child, scale):
    line = next(line for line in child.stdout if line.startswith("far is "))
    _, _, metadata, base = line.split()
    here = Agent("near")
    agent = here.agent
    child.stdin.write(agent.get_agent_metadata().hex() + "\n")
    child.stdin.flush()
    name = agent.add_remote_agent(bytes.fromhex(metadata))
    name = name.decode() if isinstance(name, bytes) else name
    for way in ("WRITE", "READ"):
        for length, count in ((8, 3000), (65536, 1000), (LENGTH, 30)):
            count = max(5, int(count * scale))
            descs = [agent.get_xfer_descs([(at, length, 0)], "DRAM") for at in (here.base, int(base))]
            handle = agent.initialize_xfer(way, *descs, name, b"")
            # Not the first, which connects.
            for turn in range(count + 1):
                if turn == 1:
                    start = time.monotonic()
                state = agent.transfer(handle)
                while state == "PROC":
                    state = agent.check_xfer_state(handle)
                if state != "DONE":
                    sys.exit(f"{way} of {length} bytes ended with {state}")
            each = (time.monotonic() - start) / count
            agent.release_xfer_handle(handle)
            print(way.lower(), length, f"{each * 1e6:.2f}" if length < 65536 else f"{length / each / 2**20:.1f}", flush=True)
    agent.send_notif(name, b"bye")
    child.wait(20)


if sys.argv[-1] == "far":
    far()
else:
    with subprocess.Popen([sys.executable, *sys.argv, "far"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            near(process, float(sys.argv[1]))
        finally:
            process.kill()
    # Without the destructors of the package, which crash with its own UCX too.
    os._exit(0)
