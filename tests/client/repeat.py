#!/usr/bin/env python3
"""Runs a command many times, and looks after each what it has left behind.

    tests/client/repeat.py RUNS COMMAND...

It has a /dev/shm and System V segments of its own, so that what is found is the command's. Ends with status 1 at the
first run that fails, that hangs (60 s), or behind which a segment of either kind is left."""
import os
import pathlib
import signal
import subprocess
import sys

LIMIT = 60


def left_behind():
    rows = pathlib.Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    return sorted(entry.path for entry in os.scandir("/dev/shm")) + [f"segment {row.split()[1]}" for row in rows]


def apart(runs, command):
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/dev/shm"], check=True)
    for run in range(1, runs + 1):
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        try:
            status = process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGTERM)
            print(f"run {run} hangs", flush=True)
            return 1
        left = left_behind()
        if status != 0 or left:
            print(f"run {run}: status {status}, left behind: {', '.join(left) or 'nothing'}", flush=True)
            return 1
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "--apart":
        sys.exit(apart(int(sys.argv[2]), sys.argv[3:]))
    os.execvp("unshare", ["unshare", "--mount", "--ipc", "--propagation", "private", sys.executable, __file__, "--apart",
                          *sys.argv[1:]])
