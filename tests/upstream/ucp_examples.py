"""ucp_hello_world and ucp_client_server of both releases: built and swapped in every way, with every option."""
import itertools
import re

from launch import LIMIT, Server, complaints, free_port, output, pair, verdict
from programs import ROOT, Case

TRANSPORTS = ["posix", "sysv", "posix,cma", "tcp", "all"]
MEMCHECK = ["valgrind", "-q", f"--suppressions={ROOT}/tests/upstream/examples.supp", "--leak-check=full",
            "--show-leak-kinds=definite", "--errors-for-leak-kinds=definite", "--error-exitcode=99"]
# How a server says that its client was dead before it sent: it is out of reach, or the send fails at once.
LATE = re.compile(r"Failed to ucp_ep_create|unable to send UCX data message \(Connection reset")
# A dead peer is to be noticed within the test's time.
KEEPALIVE = {"UCX_KEEPALIVE_INTERVAL": "500ms", "UCX_KEEPALIVE_NUM_EPS": "10"}


def builds(source):
    """Headers, linked library, way to ours; the first is the one that the cases with options use."""
    other = "1.13.1" if source == "1.22.0" else "1.22.0"
    return [("ours", "ours", "path"), (source, "ours", "path"), (other, "ours", "path"), (source, source, "path"),
            (source, source, "preload")]


class Example:
    """One example program in one build, for our library or for upstream's."""

    def __init__(self, programs, name, source, build, tls, **more):
        self.programs, self.name, self.source, self.build = programs, name, source, build
        self.more = {"UCX_TLS": tls, "UCX_WARN_UNUSED_ENV_VARS": "n", **more}

    def on(self, library, upstream):
        """(program, environment), or (None, reason)."""
        headers, linked, swap = self.build if library == "ours" else (upstream, upstream, None)
        program, reason = self.programs.example(self.name, self.source, headers, linked)
        if program is None:
            return None, "does not compile: " + reason
        env = self.programs.env(upstream) if library == "upstream" else self.programs.swapped(linked, swap)
        return program, {**env, **self.more}


def judged(success, library, statuses, text):
    """A verdict; success with an error line of our library or of valgrind is none."""
    if success and library == "ours" and complaints(text):
        return "fail", complaints(text)[0]
    if success and library == "ours" and (found := re.search(r"^==\d+== .*", text, re.M)):
        return "fail", found[0]
    return verdict(success, statuses, text)


def hello(example, words, wrap=()):
    """Both sides; `words` may name another address with `-6`."""
    def run(library, upstream):
        program, env = example.on(library, upstream)
        if program is None:
            return "fail", env
        host = "::1" if "-6" in words else "127.0.0.1"
        command = [*(wrap if library == "ours" else ()), program, *words]
        statuses, served, said = pair(command, [*command, "-n", host], env)
        return judged(statuses == (0, 0) and "TEST SUCCESS" in said, library, statuses, served + said)
    return run


def hello_dies(example, words, failure):
    """One side kills itself at `failure`; the other has to be told by its failure handler, and end."""
    def run(library, upstream):
        program, env = example.on(library, upstream)
        if program is None:
            return "fail", env
        # The server of `recv` sleeps five seconds before it looks at its client.
        (client, server), served, said = pair([program, *words, "-e", failure],
                                              [program, *words, "-e", failure, "-n", "127.0.0.1"], env, patience=20)
        survivor, victim, text = (client, server, said) if failure == "send" else (server, client, served)
        told = "failure handler called" in text or failure == "recv" and LATE.search(text)
        return verdict(victim == -9 and survivor in (0, 255) and told, (client, server), said + served)
    return run


def clients(example, words, count=1, restart=False, together=False, wrap=()):
    """A server that serves `count` clients in turn. `restart` kills it and starts it anew in between; `together` first
    has as many clients knock at once: the server takes one at a time, and may turn the others away."""
    def run(library, upstream):
        program, env = example.on(library, upstream)
        if program is None:
            return "fail", env
        if restart:
            # A server that closed a connection first leaves its port in TIME_WAIT.
            env = {**env, "UCX_CM_REUSEADDR": "y"}
        port = free_port()
        # The server never ends by itself: what it printed has to be in the file before it is killed.
        watched = [*(wrap if library == "ours" else ()), program]
        serve = ["stdbuf", "-oL", *watched, *words, "-p", str(port)]
        knock = [*watched, *words, "-p", str(port), "-a", "::1" if "-6" in words else "127.0.0.1"]
        heard, statuses, good = [], [], True
        server = Server(serve, port, env)
        try:
            if together:
                crowd = [Server(knock, 0, env) for _ in range(count)]
                ends = [client.end(LIMIT) for client in crowd]
                good = 0 in ends and all(end in (0, 1, 255) for end in ends)
                if not good:
                    statuses, heard = ends, [client.said() for client in crowd]
            for number in range(1 if together else count):
                if restart and number:
                    server.kill()
                    heard.append(server.said())
                    server = Server(serve, port, env)
                status, text = output(*knock, env=env, timeout=LIMIT)
                statuses.append(status)
                heard.append(text)
            served = server.said(until="TEST SUCCESS")
            good = good and not any(statuses) and server.running() and "TEST SUCCESS" in served
            return judged(good, library, [*statuses, server.process.poll()], "".join([*heard, served]))
        finally:
            server.kill()
    return run


def named(program, source, build, tls, words):
    return f"{program} {source}, headers {build[0]}, linked {build[1]}, {build[2]}: {tls} {' '.join(words)}"


def ucp_hello_cases(programs):
    def case(source, build, tls, words, long, wrap=()):
        title = named("ucp_hello_world", source, build, tls, words)
        if wrap:
            title += " under valgrind"
        example = Example(programs, "ucp_hello_world", source, build, tls)
        return Case(title, hello(example, words, wrap), source, long, f"ucp_hello_world {source} {tls} {words}")

    for source in ("1.13.1", "1.22.0"):
        first = builds(source)[0]
        for build, tls in itertools.product(builds(source), TRANSPORTS):
            for mode, size in itertools.product(("-b", "-w", "-f"), ("16", "5000", "3000000")):
                short = mode == "-b" and size == "16" and tls in ("posix,cma", "tcp")
                short = short or source == "1.22.0" and build == first and tls in ("posix,cma", "tcp", "all")
                yield case(source, build, tls, [mode, "-s", size], not short)
        for tls in TRANSPORTS:
            for words in (["-6"], ["-c"], ["-m", "host"], ["-6", "-w", "-s", "100000"]):
                yield case(source, first, tls, words, tls != "all")
            for failure, mode in itertools.product(("send", "recv", "keepalive"), ("-b", "-w", "-f")):
                example = Example(programs, "ucp_hello_world", source, first, tls, **KEEPALIVE)
                short = source == "1.22.0" and failure != "recv" and tls in ("posix", "tcp", "all") and mode != "-f"
                yield Case(f"ucp_hello_world {source} -e {failure}: {tls} {mode}",
                           hello_dies(example, [mode], failure), source, long=not short)
    for tls in TRANSPORTS:
        for mode, size in (("-b", "16"), ("-w", "5000"), ("-f", "1000000")):
            yield case("1.22.0", builds("1.22.0")[0], tls, [mode, "-s", size], tls not in ("tcp", "all"), MEMCHECK)


def client_server_cases(programs):
    def case(source, build, tls, words, long, note="", **more):
        title = named("ucp_client_server", source, build, tls, words)
        example = Example(programs, "ucp_client_server", source, build, tls)
        on_upstream = f"ucp_client_server {source} {tls} {words}" + note.replace(" under valgrind", "")
        return Case(title + note, clients(example, words, **more), source, long, on_upstream)

    ways = list(itertools.product(("tag", "stream", "am"), ("16", "10000", "2000000"), ("1", "5")))
    for source in ("1.13.1", "1.22.0"):
        first = builds(source)[0]
        for build, tls in itertools.product(builds(source), TRANSPORTS):
            for kind, size, vector in ways:
                words = ["-c", kind, "-s", size, "-v", vector, "-i", "5"]
                short = kind == "tag" and size == "10000" and vector == "1" and tls in ("tcp", "all")
                short = short or source == "1.22.0" and build == first and tls == "all"
                yield case(source, build, tls, words, not short)
        for tls, kind in itertools.product(TRANSPORTS, ("tag", "stream", "am")):
            words = ["-c", kind, "-s", "5000"]
            long = source != "1.22.0" or tls not in ("tcp", "all") or kind == "stream"
            yield case(source, first, tls, words, long, ", ten clients in turn", count=10)
            yield case(source, first, tls, words, long, ", server restarted three times", count=4, restart=True)
            yield case(source, first, tls, words, long, ", four clients at once", count=4, together=True)
            yield case(source, first, tls, [*words, "-6"], long, ", IPv6")
    for tls, kind in itertools.product(TRANSPORTS, ("tag", "stream", "am")):
        # The example's handler writes into the buffer of the present iteration: of two active messages that arrive at
        # once, the second would leave its own buffer unwritten, and valgrind would see it printed.
        rounds = "1" if kind == "am" else "3"
        yield case("1.22.0", builds("1.22.0")[0], tls, ["-c", kind, "-s", "20000", "-v", "2", "-i", rounds],
                   tls not in ("tcp", "all"), " under valgrind", wrap=MEMCHECK)
