"""ucx_info of both releases: every option, and the skeleton of its text beside that of upstream's library."""
import itertools
import re

from launch import LIMIT, complaints, output
from programs import Case

INFO = {"1.13.1": ["-v", "-d", "-c", "-f", "-T", "-s", "-d -t tcp", "-b"],
        "1.22.0": ["-v", "-d", "-c", "-f", "-T", "-s", "-d -t tcp", "-b"]}


def info_cases(programs):
    def keys(text):
        """The skeleton of ucx_info's text: what it talks about, without the machine's numbers."""
        names = set()
        block = ""
        for line in text.splitlines():
            if match := re.match(r"#\s+(Transport|Device|Component|Memory domain|Connection manager): *(\S+)", line):
                block = block if match[1] in ("Device", "Component") else f"{match[1]} {match[2]}"
                names.add(f"{match[1]} {match[2]}")
            elif match := re.match(r"#\s+([a-z][a-z_ ]+): ", line):
                names.add(f"{block}: {match[1].strip()}" if block else "")
            elif match := re.match(r"(?:# *)?(UCX_[A-Z0-9_]+)=", line):
                names.add(match[1])
        return names - {""}

    def run(release, words, preload=False):
        def one(library, upstream):
            env = programs.env(upstream) if library == "upstream" else programs.swapped(release, preload and "preload")
            status, text = output(programs.bin[release] / "ucx_info", *words, env=env, timeout=LIMIT)
            if status != 0 or len(text.splitlines()) < 2:
                return "fail", f"exit {status}, {len(text.splitlines())} lines: {text[-160:]}"
            if library == "ours" and words[0] in ("-d", "-f", "-c"):
                _, theirs = output(programs.bin[release] / "ucx_info", *words, env=programs.env(release), timeout=LIMIT)
                missing = sorted(key for key in keys(theirs) - keys(text) if not EXPECTED_MISSING.search(key))
                if missing:
                    return "fail", f"{len(missing)} of {len(keys(theirs))} lines missing: {', '.join(missing)[:1500]}"
            return "pass", ""
        return one

    for release, options in INFO.items():
        for words in options:
            yield Case(f"ucx_info {release} {words}", run(release, words.split()), release)
        for words in ("-v", "-d"):
            # Upstream's libraries are loaded beside ours here, and run their start-up code.
            yield Case(f"ucx_info {release} {words}, one file preloaded", run(release, words.split(), True), release)


# Lines that our text need not have: plug-ins for hardware that is not ours to serve; the device of `self` before
# 1.14; what upstream itself has dropped since 1.13.
EXPECTED_MISSING = re.compile(r"IB|RDMA|rdma|CUDA|cuda|ROCM|rocm|GDR|gdr|\bZE|MLX5|RC_|UD_|DC_|DCI_|XPMEM|KNEM|GPU|EFA|"
                              r"GGA|SRD|RCACHE|NVLINK|FUSE|Device memory0|UCX_ASYNC_MAX_EVENTS|UCX_RNDV_FRAG_MEM_TYPE|"
                              r"Memory domain cma: register")


FEATURES = ["t", "a", "r", "s", "m"]
MODIFIERS = ["", "w", "e", "we"]
# Everything else that one may ask about UCP, each with all features.
ASKED = ["-p", "-w", "-p -w", "-p -w -e", "-e -D all", "-e -D shm", "-e -D net", "-e -D self", "-e -P self",
         "-e -P intra", "-e -P inter", "-e -n 100 -N 4", "-e -A 127.0.0.1", "-e -A ::1 -6", "-m 1", "-m 1000", "-m 1m", "-m 64m",
         "-p -w -e -m 4k"]


def skeleton(text):
    """What ucx_info tells of UCP, without numbers and names of lanes: {(block, line)}."""
    found, block = set(), ""
    for line in text.splitlines():
        if match := re.match(r"# (UCP [a-z]+(?: [a-z]+)?)", line):
            block = match[1]
            found.add((block, "title"))
        elif match := re.match(r"#\s+(component|md|resource|lane)[ \[]", line):
            found.add((block, match[1]))
            if match := re.search(r"-> md\[\d+\]/\w+/sysdev", line):
                found.add((block, "lane of the peer"))
            if match := re.search(r"flags -- (\S+)", line):
                found.add((block, match[1]))
            if "lane[0]: cm" in line:
                found.add((block, "connection manager"))
        elif match := re.match(r"#\s+([a-z ]+?)(?: +[\d'/]|:)", line):
            found.add((block, match[1]))
        elif match := re.match(r"# \| *(\w+ \w+) by (\w+)", line):
            found.add((block, f"table of {match[1]} by {match[2]}"))
    return found


def ucp_info_cases(programs):
    def ask(release, library, words):
        env = programs.env(library, UCX_WARN_UNUSED_ENV_VARS="n")
        return output(programs.bin[release] / "ucx_info", *words, env=env, timeout=LIMIT)

    def run(release, words):
        def one(library, upstream):
            status, text = ask(release, upstream if library == "upstream" else "ours", words)
            # Some letters the tool itself does not take alone.
            if "Show this help message" in text:
                return "refused", ""
            failed = re.search(r"<Failed.*>$", text, re.M)
            if status != 0 or failed or len(text.splitlines()) < 5:
                return "fail", f"exit {status}: {text[-160:]!r}"
            if library == "ours":
                # With -A the tool closes endpoints by force that have no error handling: refused by both libraries.
                if found := [line for line in complaints(text) if "cannot be closed by force" not in line]:
                    return "fail", found[0]
                # Our library prints in the form of the release that it implements, also to older programs.
                _, theirs = ask("1.22.0", "1.22.0", words)
                missing = sorted(f"{block}: {line}" for block, line in skeleton(theirs) - skeleton(text))
                if missing and not re.search(r"<Failed.*>$", theirs, re.M):
                    return "fail", f"missing: {', '.join(missing)}"
            return "pass", ""
        return one

    letters = ["".join(chosen) for count in range(1, 6) for chosen in itertools.combinations(FEATURES, count)]
    for release in ("1.13.1", "1.22.0"):
        for chosen, modifiers in itertools.product(letters, MODIFIERS):
            words = ["-e", "-u", chosen + modifiers]
            yield Case(f"ucx_info {release} {' '.join(words)}", run(release, words), release,
                       long=1 < len(chosen) < 5 or release == "1.13.1" and modifiers != "")
        for asked in ASKED:
            words = [*asked.split(), "-u", "tarsm"]
            yield Case(f"ucx_info {release} {' '.join(words)}", run(release, words), release)
