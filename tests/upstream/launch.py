"""Starting and stopping of upstream's programs, and what their end means. Used by every module beside this one."""
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time

LIMIT = 40  # seconds for one run; upstream needs less than one
REFUSED = re.compile(r"not support|unsupport|does not|No such device|No supported|Failed to reach|too long|"
                     r"unreachable|cannot reach|Invalid parameter", re.I)


class Missing(Exception):
    """Something that the tests need and that this machine does not have."""


def output(*command, env=None, timeout=300):
    """Exit status ("timeout" when stopped), stdout and stderr together."""
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, errors="replace", start_new_session=True, env=env)
    try:
        text, _ = process.communicate(timeout=timeout)
        return process.returncode, text
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        text, _ = process.communicate()
        return "timeout", text


def free_port():
    """A port below the range that the kernel hands out by itself, so that nobody takes it in between."""
    with free_port.lock:
        for port in range(max(10000 + os.getpid() * 7 % 20000, free_port.last + 1), 32000):
            with socket.socket() as probe:
                try:
                    probe.bind(("", port))
                except OSError:
                    continue
            free_port.last = port
            return port
    raise Missing("no free port")


free_port.last, free_port.lock = 0, threading.Lock()


PATIENCE = 5  # seconds for a server after its client has sent, or failed


def listening(port):
    wanted = re.compile(rf":{port:04X} [0-9A-F]+:0000 0A ")
    return any(wanted.search(pathlib.Path(f"/proc/net/{table}").read_text()) for table in ("tcp", "tcp6"))


class Server:
    """A program in the background, which listens on `port` (0: on none) once the constructor has returned, unless it
    ended before."""

    def __init__(self, command, port, env):
        self.file = tempfile.TemporaryFile("w+", errors="replace")
        self.process = subprocess.Popen([str(word) for word in command], stdout=self.file, stderr=subprocess.STDOUT,
                                        env=env, start_new_session=True)
        deadline = time.monotonic() + LIMIT
        while port and self.process.poll() is None and not listening(port) and time.monotonic() < deadline:
            time.sleep(0.01)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        self.file.close()

    def running(self):
        return self.process.poll() is None

    def kill(self):
        if self.running():
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def end(self, timeout):
        """Exit status, or "timeout" when it had to be stopped."""
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            return "timeout"

    def said(self, until=None):
        """What it has printed so far; with `until` it gets some time to say that."""
        deadline = time.monotonic() + PATIENCE
        while True:
            # Without moving the offset, which is the program's too.
            file = self.file.fileno()
            text = os.pread(file, os.fstat(file).st_size, 0).decode(errors="replace")
            if until is None or until in text or not self.running() or time.monotonic() > deadline:
                return text
            time.sleep(0.01)


def pair(server, client, env, limit=LIMIT, patience=PATIENCE):
    """Runs two commands, the second when the first listens on the port both are given by `-p`.

    Returns the statuses of client and server, and what server and client said. A client that failed or refused may
    leave a server that nobody will ever talk to: it gets `patience` seconds."""
    port = str(free_port())
    with Server([*server, "-p", port], int(port), env) as first:
        status, said = output(*client, "-p", port, env=env, timeout=limit)
        first_status = first.end(limit if status == 0 else patience)
        return (status, first_status), first.said(), said


def verdict(success, statuses, text):
    died = [status for status in statuses if isinstance(status, int) and status < 0 or status in (134, 139)]
    if success:
        return "pass", ""
    if REFUSED.search(text) and not died:
        return "refused", next(line for line in text.splitlines() if REFUSED.search(line))[-300:]
    errors = [line for line in text.splitlines() if re.search(r"UCX|rror|ssert|ault", line)]
    reason = re.sub(r"^\[.*?\] *\[.*?\] *", "", errors[0]).strip()[:160] if errors else ""
    return "fail", f"exit {', '.join(map(str, statuses))} {reason}".strip()


def complaints(text):
    """The lines by which a library of UCX reports an error or a doubt."""
    return [line for line in text.splitlines() if re.search(r"UCX +(ERROR|WARN|FATAL)|Assertion|panicked", line)]
