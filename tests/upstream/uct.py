"""uct_hello_world of both releases, compiled, linked and swapped in every way, and the UCT tests of ucx_perftest."""
from launch import pair, verdict
from perftest import perftest
from programs import Case

TRANSPORTS = [("self", "memory"), ("posix", "memory"), ("sysv", "memory"), ("cma", "memory"), ("tcp", "lo")]
PERFTEST = ["put_lat -D short", "put_lat -D bcopy", "put_lat -D zcopy", "put_bw -D short", "put_bw -D bcopy",
            "put_bw -D zcopy", "get -D short", "get -D bcopy", "get -D zcopy", "am_lat -D short", "am_lat -D shortiov",
            "am_lat -D bcopy", "am_lat -D zcopy", "am_bw -D short", "am_bw -D shortiov", "am_bw -D bcopy",
            "am_bw -D zcopy", "add_lat", "add_mr", "fadd", "swap", "cswap"]
MODES = ["am_lat -D short -M serialized", "am_lat -D short -M multi", "am_lat -D bcopy -A thread_mutex",
         "am_lat -D bcopy -A signal", "put_lat -D short -A thread_mutex", "am_bw -D bcopy -s 4096",
         "am_bw -D zcopy -s 8000", "put_bw -D zcopy -s 1000000", "get -D zcopy -s 1000000", "fadd -s 4", "cswap -s 4",
         "am_lat -D bcopy -s 8000", "add_mr -s 4"]


def device(release_of_library, transport, name):
    # The device of `self` got its present name after 1.13.
    return "memory0" if (release_of_library, transport) == ("1.13.1", "self") else name


def hello_cases(programs):
    def run(source, headers, linked, swap, words):
        def one(library, upstream):
            build = (headers, linked) if library == "ours" else (upstream, upstream)
            program, reason = programs.example("uct_hello_world", source, *build)
            if program is None:
                return "fail", "does not compile: " + reason
            env = programs.swapped(linked, swap) if library == "ours" else programs.env(upstream)
            statuses, served, said = pair([program, *words], [program, *words, "-n", "127.0.0.1"], env)
            return verdict(statuses == (0, 0) and "TEST SUCCESS" in served, statuses, served + said)
        return one

    for source in ("1.13.1", "1.22.0"):
        builds = [("ours", "ours", "path"), (source, "ours", "path"), (source, source, "path"),
                  (source, source, "preload")]
        if source == "1.22.0":
            builds.insert(1, ("1.13.1", "ours", "path"))
        for headers, linked, swap in builds:
            for transport, name in TRANSPORTS[1:]:
                for mode in ("-i", "-b", "-z"):
                    for size in ("16", "90", "4000", "8000"):
                        words = ["-t", transport, "-d", name, mode, "-s", size]
                        build = f"headers {headers}, linked {linked}, {swap}"
                        title = f"uct_hello_world {source}, {build}: {' '.join(words)}"
                        yield Case(title, run(source, headers, linked, swap, words), source,
                                   long=size != "16" or (headers, linked, swap) == builds[1] and source == "1.22.0",
                                   upstream=f"uct_hello_world {source} {words}")


def valgrind_cases(programs):
    """uct_hello_world of 1.22.0, both sides under memcheck: an error or a definite leak is a failure."""
    # Without fair scheduling a thread that polls keeps the library's own threads from running for seconds.
    memcheck = ["valgrind", "-q", "--fair-sched=try", "--leak-check=full", "--show-leak-kinds=definite",
                "--errors-for-leak-kinds=definite", "--error-exitcode=99"]

    def run(words):
        def one(library, upstream):
            program, reason = programs.example("uct_hello_world", "1.22.0", "ours", "ours")
            if program is None:
                return "fail", "does not compile: " + reason
            command = [*memcheck, program, *words]
            statuses, served, said = pair(command, [*command, "-n", "127.0.0.1"], programs.env("ours"))
            return verdict(statuses == (0, 0) and "TEST SUCCESS" in served, statuses, served + said)
        return one

    for transport, name in TRANSPORTS[1:]:
        for mode in ("-i", "-b", "-z"):
            words = ["-t", transport, "-d", name, mode]
            yield Case(f"uct_hello_world 1.22.0 under valgrind: {' '.join(words)}", run(words), "1.22.0")


def perftest_cases(programs):
    def run(release, transport, name, test, loop):
        def one(library, upstream):
            use = upstream if library == "upstream" else "ours"
            words = ["-x", transport, "-d", device(use, transport, name), "-n", "1000", "-w", "100", "-t"]
            words += test.split()
            return verdict(*perftest(programs, release, use, words, loop))
        return one

    for release in ("1.13.1", "1.22.0"):
        for transport, name in TRANSPORTS:
            for loop in (False, True):
                for test in PERFTEST + MODES:
                    if transport == "self" and not loop:
                        continue  # self reaches only its own process
                    long = test in MODES or loop and transport != "self"
                    where = "loopback" if loop else "pair"
                    yield Case(f"ucx_perftest {release} {where} {transport}/{name} {test}",
                               run(release, transport, name, test, loop), release, long=long)
