"""Runs fabtests, the tests of libfabric, on one of its providers, and says which fail.

    fab_tests.py FOLDER PROVIDER

FOLDER is where libfabric and fabtests are installed. Which tests there are is read from the list of its script
runfabtests.sh, which ends processes by their names and is therefore not run itself; which of them the provider does not
pass by its authors' word, from the file that the script reads for that. Each is a server and a client, which exchange
addresses over a socket of their own."""
import errno
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "upstream"))
sys.dont_write_bytecode = True

from launch import Server, free_port, output

GROUPS = ("functional_tests", "short_tests")
LIMIT = 60  # seconds for one
FOLDER, PROVIDER = pathlib.Path(sys.argv[1]), sys.argv[2]
# What they answer when the provider does not offer what they test.
NOT_OFFERED = (errno.ENODATA, errno.ENOSYS)


def listed():
    """Command lines of the tests, without those that the provider's authors leave out."""
    script = (FOLDER / "bin/runfabtests.sh").read_text()
    left_out = [line for line in (FOLDER / f"share/fabtests/test_configs/{PROVIDER}/{PROVIDER}.exclude").read_text().split("\n")
                if line.strip() and not line.startswith("#")]
    for group in GROUPS:
        lines = re.search(rf"^{group}=\(\n(.*?)^\)", script, re.M | re.S)[1]
        for test in re.findall(r'"(.*)"', lines):
            if not any(re.search(pattern, test) for pattern in left_out):
                yield test


def verdict(test):
    program, *arguments = test.split()
    port = free_port()
    command = [FOLDER / "bin" / program, *arguments, "-p", PROVIDER, f"-E={port}"]
    with Server(command, port, None) as server:
        status, text = output(*command, "127.0.0.1", timeout=LIMIT)
        statuses = status, server.end(LIMIT if status == 0 else 1)
        text += server.said()
    if statuses == (0, 0):
        return "pass"
    if set(statuses) <= set(NOT_OFFERED):
        return "not offered"
    print(f"{test}:", *(f"    {line}" for line in text.splitlines()[-8:]), sep="\n")
    return f"fail, {' and '.join(map(str, statuses))}"


os.environ["LD_LIBRARY_PATH"] = f"{os.environ.get('LD_LIBRARY_PATH', '')}:{FOLDER / 'lib'}"
tests = list(listed())
failed = 0
for test in tests:
    result = verdict(test)
    failed += result.startswith("fail")
    print(f"test {test}: {result}", flush=True)
print(f"{failed} of {len(tests)} fail" if failed or not tests else f"all {len(tests)} pass or are not offered")
