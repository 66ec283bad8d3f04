"""Every size from 1 byte to 4 MiB, side by side with upstream 1.22.0, on one host.

    python3 benches/sizes [--only REGEX] [--reps N] [--scale X] [--again] [--report] [--list]
    python3 benches/sizes --check [--only REGEX]

A series is a test of ucx_perftest over one choice of transports; one run of the tool, by its batch files, measures all sizes of
it. Sides take turns and their order flips, as in benches/side_by_side, whose machinery this uses; a gain is the median of the
ratios of neighbouring runs, above 1 this library is better: of the median latency, of the message rate, of a get's average.
Where an operation is one copy, the tool runs a third time, with a library that does nothing but this copy: a size below 1.00 where
that is no faster than either side is at its limit; such a series makes three runs in a repetition.
Writes benches/sizes/record.jsonl and the section "Every size" of docs/results/PERFORMANCE.md; prints at the end what is below 1.00
and not at its limit.

    --only    measures the series whose transports and name match, such as "posix tag_lat$"
    --again   measures anew what is in the record; without it a run that was stopped goes on where it was
    --report  measures nothing, writes the page
    --list    names the series
    --check   the short test: runs each once with few messages, prints "ok|not ok SERIES", writes nothing; a size that upstream's
              library runs must run on this one, and with the copy alone where an operation is one copy
"""
import argparse
import os
import pathlib
import re
import statistics
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "side_by_side"))

import report
from perftest import LIMIT, Perftest
from rows import SIDES, Machine, Record, gain_of, of_one_placement, state_of
from series import SERIES, SIZES

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
RECORD = pathlib.Path(__file__).with_name("record.jsonl")
PAGE = ROOT / "docs/results/PERFORMANCE.md"
BEGIN, END = "<!-- sizes: written by make sizes -->", "<!-- end of the sizes -->"
# test,size,iterations,median,average,overall,MB/s,overall,rate,overall
LINE = re.compile(r"^\w+,(\d+), *\d+,([\d.]+),[\d.]+,([\d.]+),[\d.]+,[\d.]+,[\d.]+,([\d.]+)$", re.M)
# A median is told in steps of the clock. An average no more than a step away says the same with more digits; one farther away
# has interruptions in it.
STEP_US = 0.005
# What counts as equally fast, where a side is compared with the copy alone.
EQUAL = 0.97
MARKS = {"ahead": "", "below": "**", "limit": "*"}


def title(series):
    return f"{series.table.removeprefix('UCP, ').replace('UCT, ', 'UCT ')} {series.name}"


def short(size):
    return f"{size >> 20}M" if size >= 1 << 20 else f"{size >> 10}K" if size >= 1 << 10 else str(size)


def figures_of(text, metric):
    """{size: figure} of what the tool printed."""
    found = {}
    for size, median, overall, rate in LINE.findall(text):
        median, rate = float(median), float(rate)
        if not rate:
            continue
        each_us = 1e6 / rate
        figure = {"mr": rate, "avg": each_us, "lat": each_us if abs(float(overall) - median) <= STEP_US else median}[metric]
        found[int(size)] = float(f"{figure:.4g}")
    return found


class Preloads:
    """Put before the library: `always` on both sides, `copies` for the limit of what is one copy."""

    def __init__(self, machine):
        self.always, self.copies = (machine.program(name, ["-shared", "-fPIC"]) for name in ("nodelay", "calls_copy"))


def run(series, perftest, preloads, side):
    """Figures of all sizes, and whether the tool ended in time: what it printed before counts."""
    machine = perftest.machine
    words = []
    for level, text in enumerate(series.batches(machine.scale)):
        file = machine.work / f"sizes-{level}.batch"
        file.write_text(text)
        words += ["-b", str(file)]
    preload = f"{preloads.always}:{preloads.copies}" if side == "limit" else str(preloads.always)
    library = "ours" if side == "limit" else side
    text, finished = perftest.output((library, library), series.two, [*words, "-f", "-v"], {**series.variables, "LD_PRELOAD": preload})
    found = figures_of(text, series.metric)
    return [found.get(size) for size in SIZES], finished


def measure(series, perftest, preloads, reps, runs=1):
    machine = perftest.machine
    sides = (*SIDES, "limit") if series.copies else SIDES
    figures, states = {side: [] for side in sides}, []
    for rep in range(reps * runs):
        states.append(machine.line_ns())
        ended = True
        for side in sides if rep % 2 == 0 else sides[::-1]:
            found, finished = run(series, perftest, preloads, side)
            figures[side].append(found)
            if not finished or not any(found):
                print(f"{title(series)}: {side} {'printed nothing' if finished else f'took more than {LIMIT} s'}", flush=True)
                ended = False
        if not ended:
            break  # it will not get better
    return {"group": series.table, "name": series.name, "metric": series.metric, **figures, "line_ns": states,
            "date": time.strftime("%Y-%m-%d", time.gmtime()), "processor": machine.processor, "reps": reps,
            "scale": machine.scale, "library": machine.library}


def ratios(record, at, other):
    """[(line_ns, ratio)] of one size, for the runs that both sides have: above 1 this library is better than `other`."""
    runs = [(line, theirs[at], ours[at]) for line, theirs, ours in zip(record["line_ns"], record.get(other, []), record["ours"])]
    return [(line, ours / theirs if record["metric"] == "mr" else theirs / ours) for line, theirs, ours in runs if theirs and ours]


class Cell:
    """One size of a series, in the placement that most runs had; `other` is its gain in the other one."""

    def __init__(self, series, record, at):
        self.series, self.size = series, SIZES[at]
        ran = {side: any(run[at] for run in record[side]) for side in SIDES}
        self.only_upstream = ran["upstream"] and not ran["ours"]
        self.gain = self.other = self.of_limit = None
        if pairs := ratios(record, at, "upstream"):
            shown = of_one_placement({"line_ns": [line for line, _ in pairs], "ratios": [ratio for _, ratio in pairs], "figures": {}})
            self.state = state_of(shown["line_ns"][0])
            self.gain = round(gain_of(shown), 2)
            rest = [ratio for line, ratio in pairs if state_of(line) != self.state]
            if rest and "left_out" in shown:
                self.other = round(statistics.median(rest), 2)
            limits = [ratio for line, ratio in ratios(record, at, "limit") if state_of(line) == self.state]
            if limits:
                self.of_limit = round(statistics.median(limits), 2)

    @property
    def verdict(self):
        """Of a cell that was measured: "ahead", "below", or "limit" where the copy alone is no faster than either side; a side that
        were would show that it is not the limit."""
        if self.gain >= 1:
            return "ahead"
        is_limit = self.of_limit is not None and min(self.of_limit, self.gain / self.of_limit) >= EQUAL
        return "limit" if is_limit else "below"

    @property
    def is_otherwise(self):
        """Whether the other placement has the other side ahead."""
        return self.other is not None and (self.other < 1) != (self.gain < 1)

    def text(self):
        if self.gain is None:
            return "-"
        mark = MARKS[self.verdict]
        return f"{mark}{self.gain:.2f}{mark}"

    def otherwise(self):
        return f"{self.series.name} {short(self.size)} ({self.other:.2f})"


def cells_of(series, record):
    row = record.rows.get((series.table, series.name))
    return [Cell(series, row, at) for at in range(len(SIZES))] if row else []


def summary(cells):
    measured = [cell for cell in cells if cell.gain is not None]
    if not measured:
        return "Nothing ran on both sides."
    gains = [cell.gain for cell in measured]
    below, at_limit = (sum(cell.verdict == kind for cell in measured) for kind in ("below", "limit"))
    return (f"{len(gains)} cells measured, {below} below 1.00{f' and {at_limit} at their limit' if at_limit else ''}; "
            f"median {statistics.median(gains):.2f}, least {min(gains):.2f}.")


def table(name, record):
    """One of the page's, a row a series."""
    rows = [(series, cells) for series in SERIES if series.table == name and (cells := cells_of(series, record))]
    if not rows:
        return []
    every = [cell for _, cells in rows for cell in cells]
    text = [f"### {name}", "", summary(every), "", f"| test | {' | '.join(map(short, SIZES))} |", f"|---|{'---|' * len(SIZES)}",
            *(f"| {series.name} | {' | '.join(cell.text() for cell in cells)} |" for series, cells in rows), ""]
    for state, other in (("near", "far"), ("far", "near")):
        if found := [cell.otherwise() for cell in every if cell.is_otherwise and cell.state == state]:
            text += [f"On the other side of 1.00 with the processors {other}: {', '.join(found)}.", ""]
    if found := [f"{cell.series.name} {short(cell.size)}" for cell in every if cell.only_upstream]:
        text += [f"**Upstream alone ran** {', '.join(found)}.", ""]
    return text


def write(record):
    known = [row for series in SERIES if (row := record.rows.get((series.table, series.name)))]
    every = [cell for series in SERIES for cell in cells_of(series, record)]
    text = [BEGIN, "", *((report.how(known), "", f"All: {summary(every)}") if known else ("Nothing is recorded yet.",)), ""]
    for name in dict.fromkeys(series.table for series in SERIES):
        text += table(name, record)
    page = PAGE.read_text()
    new, count = re.subn(f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: "\n".join([*text, END]), page, flags=re.S)
    if count != 1:
        raise SystemExit(f"{PAGE} has no place for the sizes: {BEGIN} … {END}")
    PAGE.write_text(new)


def check(perftest, preloads, chosen):
    """A few messages of each size; figures do not count."""
    failed = 0
    for series in chosen:
        record = Record(RECORD.with_suffix(".none"))
        record.put(measure(series, perftest, preloads, 1))
        cells = cells_of(series, record)
        wrong = [f"{short(cell.size)} ran on upstream alone" for cell in cells if cell.only_upstream]
        if series.copies:
            wrong += [f"{short(cell.size)} has no limit" for cell in cells if cell.gain is not None and cell.of_limit is None]
        is_ok = not wrong and any(cell.gain is not None for cell in cells)
        failed += not is_ok
        print(f"{'ok' if is_ok else 'not ok'} {title(series)}{': ' + ', '.join(wrong) if wrong else ''}", flush=True)
    return 1 if failed or not chosen else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--reps", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    chosen = [series for series in SERIES if re.search(options.only, title(series))]
    if options.list:
        print("\n".join(map(title, chosen)))
        return 0 if chosen else 1
    record = Record(RECORD)
    if not options.report:
        machine = Machine(ROOT, TARGET, 0.01 if options.check else options.scale)
        perftest = Perftest(machine)
        preloads = Preloads(machine)
        if options.check:
            return check(perftest, preloads, chosen)
        known = set() if options.again else record.fresh(machine, options.reps)
        todo = [series for series in chosen if (series.table, series.name) not in known]
        seconds = options.reps * sum(series.seconds(options.scale) for series in todo)
        print(f"{len(todo)} series, about {seconds / 60:.1f} minutes", flush=True)
        for series in todo:
            record.add(measure(series, perftest, preloads, options.reps, series.runs))
            print(f"{title(series)}: {summary(cells_of(series, record))}", flush=True)
            write(record)
    write(record)
    cells = [cell for series in chosen for cell in cells_of(series, record)]
    for cell in cells:
        if cell.gain is not None and cell.verdict == "below":
            print(f"below: {title(cell.series)} {short(cell.size)} {cell.gain:.2f} {cell.state}")
    print(summary(cells))
    return 0 if chosen else 1


if __name__ == "__main__":
    sys.exit(main())
