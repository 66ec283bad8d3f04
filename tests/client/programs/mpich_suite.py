"""Runs one folder of MPICH's own tests as its files `testlist` say, and says which fail.

    mpich_suite.py BUILT SOURCE FOLDER LAUNCHER RANKS [--only|--without NAME...]

BUILT is the compiled suite, where some of the lists are, SOURCE has the others. RANKS is the most processes of one test: one
that asks for more gets that many. A test passes that ends with status 0 and says "No Errors"; NAME is a program as
`folder/program`: of tests that are known to fail somewhere `--only` runs, and gives less time to each."""
import os
import pathlib
import re
import sys

sys.dont_write_bytecode = True

import launcher

LIMIT, LONGEST = 300, 600  # seconds for one test: the least, and the most that a list can ask for
SHORT = 60  # for one of `--only`


def listed(built, source, folder):
    """Tests of a folder and of those that its list names: name, number of processes, options by key and value."""
    lists = [top / folder / "testlist" for top in (built, source)]
    for line in next(path for path in lists if path.exists()).read_text().splitlines():
        words = line.partition("#")[0].split()
        if len(words) == 1:
            yield from listed(built, source, f"{folder}/{words[0]}")
        elif words:
            yield f"{folder}/{words[0]}", int(words[1]), [word.partition("=")[::2] for word in words[2:]]


def wrong(command, cwd, env, limit):
    """What is wrong with a run, "" if nothing."""
    status, text = launcher.run(command, limit, cwd=cwd, env=env)
    if status is None:
        return "hangs"
    if status != 0:
        return f"exit {status}"
    return "" if re.search(r"^\s*No Errors\s*$", text, re.M | re.I) else "does not say that it has no errors"


def main():
    built, source = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    folder, launcher, most, choice = sys.argv[3], sys.argv[4], int(sys.argv[5]), sys.argv[6:]
    done, failed = 0, []
    for program, ranks, options in listed(built, source, folder):
        if choice and (choice[0] == "--only") != (program in choice[1:]):
            continue
        ranks = min(ranks, most)
        arguments = [value for key, value in options if key == "arg"]
        env = dict(os.environ) | dict(value.split("=", 1) for key, value in options if key == "env")
        limit = min(LONGEST, max([LIMIT, *(int(value) for key, value in options if key == "timeLimit")]))
        limit = SHORT if choice[:1] == ["--only"] else limit
        name = " ".join([program, str(ranks), *arguments])
        path = built / program
        reason = wrong([launcher, "-n", str(ranks), path, *arguments], path.parent, env, limit)
        print(f"fail {name}: {reason}" if reason else f"pass {name}", flush=True)
        done += 1
        failed += [name] if reason else []
    print(f"{len(failed)} of {done} fail: {', '.join(failed)}" if failed or not done else f"all {done} pass")


if __name__ == "__main__":
    main()
