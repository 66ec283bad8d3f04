#!/usr/bin/env python3
"""Runs a command many times, and looks after each what it has left behind.

    tests/client/repeat.py RUNS COMMAND...

Ends with status 1 at the first run that fails, that hangs (60 s), or behind which a segment of shared memory is left:
a file in /dev/shm or a System V segment that was not there before and that no process has any more."""
import os
import pathlib
import signal
import subprocess
import sys

LIMIT = 60


def files():
    return {entry.path for entry in os.scandir("/dev/shm")}


def segments():
    """System V segments that nobody is attached to and whose maker is gone."""
    lines = pathlib.Path("/proc/sysvipc/shm").read_text().splitlines()
    names = lines[0].split()
    rows = [dict(zip(names, line.split())) for line in lines[1:]]
    return {f"segment {row['shmid']} of process {row['cpid']}" for row in rows
            if row["nattch"] == "0" and not os.path.exists(f"/proc/{row['cpid']}")}


def in_use():
    """What is mapped or open anywhere, as text."""
    text = []
    for process in os.scandir("/proc"):
        if process.name.isdigit():
            try:
                text.append(pathlib.Path(process.path, "maps").read_text())
                text += [os.readlink(entry.path) + "\n" for entry in os.scandir(f"{process.path}/fd")]
            except OSError:
                pass
    return "".join(text)


def left_behind(before):
    new = files() - before
    if new:
        used = in_use()
        # What is unlinked meanwhile belonged to somebody who has ended since.
        new = {path for path in new if path not in used and os.path.exists(path)}
    return new


def main():
    runs, command = int(sys.argv[1]), sys.argv[2:]
    for run in range(1, runs + 1):
        before, old = files(), segments()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        try:
            status = process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGTERM)
            print(f"run {run} hangs", flush=True)
            return 1
        left = left_behind(before) | segments() - old
        if status != 0 or left:
            print(f"run {run}: status {status}, left behind: {', '.join(sorted(left)) or 'nothing'}", flush=True)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
