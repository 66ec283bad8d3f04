"""Servers of io_demo go from upstream's library to ours, one by one, while clients on both go on. Used by tests/interop."""
import re
import signal
import time
from contextlib import ExitStack

from launch import Server

SERVERS, CLIENTS = 3, ["ours", "upstream"]
# Every byte and every transaction is checked.
WORK = ["-q", "-i", "1000000000", "-o", "read,write", "-d", "1:100000", "-w", "4"]
# Connections are made again until they stand; the work is told of often.
GOES_ON = ["-c", "inf", "-y", "0.1", "-P", "0.2"]
# A port is to be had again at once.
SETTINGS = {"UCX_TLS": "tcp", "UCX_TCP_CM_REUSEADDR": "y"}
PATIENCE = 30  # seconds
# What is said of a server that ends and is not there yet.
EXPECTED = re.compile(r"Connection reset by (remote )?peer|Broken pipe|closed the connection|not connected|Connection refused|unreachable|canceled|Rejected|rejected|"
                      r"Input/output error", re.I)
TROUBLE = re.compile(r"corrupt|mismatch|assert|ERROR|panicked|terminate called|timeout waiting|what\(\)", re.I)
# A report of a client: all servers are connected, and each has done something since the last.
ALL_WORK = re.compile(rf"total min:[1-9]\d* .* active:{SERVERS}/{SERVERS} ")
# So many of them: what the first counts may have begun before the last server came.
REPORTS = 3


def run(program, env, hosts, ports):
    """What went wrong, if anything did. `env(library, **settings)` is an environment; the servers are on the first host."""
    with ExitStack() as stack:
        def start(host, library, words, port):
            command = [*hosts.within(host), program, *WORK, *words]
            process = stack.enter_context(Server(command, 0, env(library, **SETTINGS)))
            end = time.monotonic() + PATIENCE
            while port and process.running() and not hosts.is_listening(port) and time.monotonic() < end:
                time.sleep(0.01)
            return process

        def serve(library, port):
            return start(0, library, ["-p", port, "-c", "inf", "-y", "0.1"], port)

        servers = [serve("upstream", port) for port in ports]
        targets = [f"{hosts.address(0)}:{port}" for port in ports]
        clients = [start(1, library, [*GOES_ON, "-s", seed, *targets], 0) for seed, library in enumerate(CLIENTS, 1)]
        ended = []
        for number in range(SERVERS + 1):
            if wrong := await_work(clients, f"after {number} of {SERVERS} servers"):
                return wrong
            if number < SERVERS:
                servers[number].process.send_signal(signal.SIGINT)
                servers[number].end(PATIENCE)
                ended.append(servers[number])
                servers[number] = serve("ours", ports[number])
        for library, client in zip(CLIENTS, clients):
            client.process.send_signal(signal.SIGINT)
            client.end(PATIENCE)
            if "run-time terminated by signal" not in client.said():
                wrong = f"the client on {library} has not ended as it was told: {client.said()[-400:]}"
                if library == "ours":
                    return wrong
                # It waits for ever for a receive whose message has come in part when it closes the endpoint by force, with servers on its own
                # library too.
                print(f"note {wrong}", flush=True)
        for server in servers:
            if not server.running():
                return f"a server has ended: {server.said()[-400:]}"
        for process in (*ended, *servers, *clients):
            for line in process.said().splitlines():
                if TROUBLE.search(line) and not EXPECTED.search(line):
                    return line[-300:]
    return ""


def await_work(clients, when):
    """Every client tells that it works with all servers; if not, what it said."""
    marks = [len(client.said()) for client in clients]
    end = time.monotonic() + PATIENCE
    for library, client, mark in zip(CLIENTS, clients, marks):
        while len(ALL_WORK.findall(client.said()[mark:])) < REPORTS:
            if not client.running() or time.monotonic() > end:
                return f"{when} the client on {library} does not work with all: {client.said()[-400:]}"
            time.sleep(0.05)
    return ""
