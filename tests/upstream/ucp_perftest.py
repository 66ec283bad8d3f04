"""The UCP tests of ucx_perftest of both releases: those that its own lists of tests name, and the options of `-h`."""
import re
import tempfile

from launch import complaints, verdict
from perftest import perftest
from programs import Case

PAIR = ["posix", "sysv", "posix,cma", "tcp", "all"]
LOOP = ["self", *PAIR]
LISTS = ["test_types_ucp", "test_types_ucp_rma", "test_types_ucp_amo"]
# Tests and layouts that the lists do not name.
MORE = ["tag_sync_bw", "tag_bw -U", "tag_bw -C", "tag_lat -D contig,iov", "tag_bw -D contig,iov",
        "tag_sync_lat -D iov,iov", "ucp_am_lat", "ucp_am_bw", "ucp_am_lat -D iov,contig", "ucp_am_bw -D iov,iov",
        "ucp_am_bw -D contig,iov",
        "ucp_am_lat -H 8", "ucp_am_bw -H 200 -z", "stream_lat -D iov,iov -r recv", "stream_bw -D iov,contig -r recv",
        "ucp_put_lat -D iov,contig", "ucp_get -D iov,contig", "ucp_put_bw -z", "ucp_get -z", "stream_bw -z"]
NEWER = ["ucp_am_lat -y", "ucp_am_bw -y"]  # since 1.17
# Every operation in every mode of the worker.
OPERATIONS = ["tag_lat", "tag_bw", "tag_sync_lat", "stream_lat", "ucp_am_lat", "ucp_am_bw", "ucp_put_lat", "ucp_put_bw",
              "ucp_get", "ucp_add", "ucp_fadd"]
MODES = ["-I -E sleep", "-e", "-T 2 -M multi", "-T 4 -M multi", "-T 2 -M serialized", "-O 1", "-O 16"]
ODDS = ["tag_lat -B -z", "ucp_put_bw -o", "ucp_get -o", "tag_lat -R 99.9", "tag_lat -6", "tag_lat -T 4",
        "ucp_am_bw -T 4", "tag_bw -N -f", "tag_lat -v", "tag_bw -s 0", "ucp_am_lat -s 0", "tag_bw -s 4194304",
        "ucp_put_bw -s 4194304", "tag_bw -D iov,iov -s 512,512,512 -i 4096", "tag_bw -e -z -I -E sleep -s 262144",
        "stream_bw -E sleep -I -s 100000"]
GPU = re.compile(r"cuda|rocm|ze-|gaudi")


def listed(folder):
    """The tests of upstream's lists, in their order, each once; those on the memory of a GPU left out."""
    tests = {}
    for name in LISTS:
        for line in (folder / name).read_text().splitlines():
            line = line.split("#")[0]
            if match := re.match(r"\S+\s+(?:.*)-t (\S+)\s*(.*)", line):
                if not GPU.search(line):
                    tests[" ".join([match[1], *match[2].split()])] = None
    return list(tests)


def large(test):
    """The same test with messages that take another way, where it has a size to choose."""
    if re.search(r"add|swap", test):
        return f"{test} -s 4"
    if "-D iov" in test:
        return f"{test} -s 16,48,8192,8192,14,70000"
    return f"{test} -s 300000"


def iterations(test):
    """Enough to wrap every ring and window, few enough for machines where both sides share a processor."""
    sizes = re.search(r"-s (\S+)", test)
    size = sum(int(word) for word in sizes[1].split(",")) if sizes else 8
    count = 400 if size < 10_000 else 60 if size < 1_000_000 else 20
    return ["-n", str(count // 4 if "-T" in test else count), "-w", str(count // 10)]


def ucp_perftest_cases(programs):
    def run(release, tls, test, loop):
        def one(library, upstream):
            name, *words = test.split()
            use = upstream if library == "upstream" else "ours"
            success, statuses, text = perftest(programs, release, use, ["-t", name, *words, *iterations(test)], loop,
                                               UCX_TLS=tls)
            # A library that does its work has nothing to complain of.
            if success and library == "ours" and complaints(text):
                return "fail", complaints(text)[0]
            return verdict(success, statuses, text)
        return one

    def batch(release, tls):
        def one(library, upstream):
            use = upstream if library == "upstream" else "ours"
            with tempfile.NamedTemporaryFile("w", suffix=".tests") as file:
                # A batch takes these options on its command line only.
                tests = [test for test in listed(programs.perftest["1.22.0"]) if not re.search(r"-[UCz]\b", test)]
                file.writelines(f"test{number} -t {test}\n" for number, test in enumerate(tests))
                file.flush()
                success, statuses, text = perftest(programs, release, use, ["-b", file.name, "-n", "100", "-w", "10"],
                                                   False, UCX_TLS=tls)
            success = success and text.count("Final") == len(tests)
            return verdict(success, statuses, text)
        return one

    def wakes(test, tls, loop):
        """Whether who sleeps is woken: not by others that read, nor by those that write into shared memory. There
        it is luck, with upstream's library too."""
        if "-E sleep" not in test or not test.startswith("ucp_") or test.startswith("ucp_am"):
            return True
        return test.startswith("ucp_put") and (loop or tls == "tcp")

    base = listed(programs.perftest["1.22.0"])
    modes = [f"{operation} {mode}" for operation in OPERATIONS for mode in MODES]
    for release in ("1.13.1", "1.22.0"):
        more = MORE + (NEWER if release == "1.22.0" else [])
        for loop in (False, True):
            where = "ucp-loopback" if loop else "ucp-pair"
            for tls in LOOP if loop else PAIR:
                tests = [*base, *map(large, base)]
                if not loop or tls in ("self", "all"):
                    tests += [*more, *map(large, more), *modes, *ODDS]
                for test in (test for test in tests if wakes(test, tls, loop)):
                    short = not loop and (test in base and (release == "1.22.0" or tls in ("posix,cma", "tcp"))
                                          or release == "1.22.0" and tls == "all" and test in [*more, *modes, *ODDS])
                    short = short or loop and tls == "self" and test in base and release == "1.22.0"
                    yield Case(f"ucx_perftest {release} {where} {tls} {test}", run(release, tls, test, loop), release,
                               long=not short)
                if not loop:
                    yield Case(f"ucx_perftest {release} {where} {tls} all listed tests by -b", batch(release, tls),
                               release)
