"""Measures this library side by side with upstream 1.22.0 and writes the tables and charts of docs/results/PERFORMANCE.md.

    python3 benches/side_by_side [--groups G,G...] [--only REGEX] [--reps N] [--scale X] [--cores N,N...] [--again] [--report]
                                   [--list]

    --groups  start, endpoints, messages, memory, crowded, threads, many, loop, mixed, uct, sleeping, mpi, whole, zeromq,
              peers, secure, limits; all of them without
    --cores   the processors, in the order in which processes and threads get them: the first two are those of the
              pairs of most rows; without it all that the process may use, by number
    --again   measures rows anew that are in the record; without it a run that was stopped goes on where it was, and
              only rows that were measured with another build of the library, or otherwise, are measured again
    --report  measures nothing, writes the page from the record
    --list    names the rows

The record is benches/record.jsonl. Nothing else should run on the machine; as root the measured processes run under
SCHED_RR, so that other work does not show. A whole run with 5 repetitions takes about an hour and a half: `messages`
half of it, `start`, `endpoints` and `zeromq` a few minutes each. `--scale 0.1 --reps 2` gives a first look in a quarter
of an hour.
"""
import argparse
import os
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import report
from peers import Peers
from perftest import Perftest
from programs import Programs
from rows import Machine, Record, gain_of, measure, of_one_placement
from whole import Whole

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
RECORD = ROOT / "benches/record.jsonl"
PAGE = ROOT / "docs/results/PERFORMANCE.md"
CHARTS = ROOT / "docs/results/performance"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--groups", default=",".join(report.TITLES))
    parser.add_argument("--only", default="")
    parser.add_argument("--reps", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--cores", type=lambda text: [int(word) for word in text.split(",")], default=())
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    groups = options.groups.split(",")
    if unknown := set(groups) - report.TITLES.keys():
        parser.error(f"no group {', '.join(sorted(unknown))}; there are {', '.join(report.TITLES)}")
    record = Record(RECORD)
    if options.report:
        report.draw(RECORD, CHARTS, TARGET)
        report.write(record, PAGE, CHARTS)
        return 0
    machine = Machine(ROOT, TARGET, options.scale, options.cores)
    perftest = Perftest(machine)
    programs = Programs(machine, perftest)
    # Making their rows installs what they need.
    others = [row for group, owner in (("peers", Peers(machine, perftest, programs)), ("whole", Whole(machine, programs)))
              if group in groups for row in owner.rows()]
    rows = [row for row in (*programs.rows(), *perftest.rows(), *others)
            if row.group in groups and re.search(options.only, f"{row.group} {row.name}")]
    rows.sort(key=lambda row: groups.index(row.group))
    if options.list:
        print("\n".join(f"{row.group}: {row.name}" for row in rows))
        return 0
    if options.again and not options.only:
        record.forget(groups)
    known = set() if options.again else record.fresh(machine, options.reps)
    failed = 0
    for row in rows:
        if (row.group, row.name) in known:
            continue
        done = measure(row, machine, options.reps)
        record.add(done)
        failed += gain_of(done) is None
        print(report.line(of_one_placement(done)), flush=True)
        report.write(record, PAGE, CHARTS)
    report.draw(RECORD, CHARTS, TARGET)
    report.write(record, PAGE, CHARTS)
    print(f"{len(rows)} rows, {failed} of the measured ones failed on one side")
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
