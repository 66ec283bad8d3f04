"""Draws docs/results/performance/*.svg from the record of measurements.

    python charts.py RECORD FOLDER

Times and bandwidths over the size of messages stand on logarithmic axes, a line a library; the band goes from the least
to the most of the repetitions. Rates are bars, and so are the gains of what has no size. Needs matplotlib: `report`
calls it in an environment of its own.
"""
import collections
import json
import pathlib
import re
import statistics
import sys
import textwrap

import matplotlib
from matplotlib.ticker import FuncFormatter, LogLocator

matplotlib.use("svg")
# The same record gives the same file, and text stays text.
matplotlib.rcParams.update({"svg.hashsalt": "performance", "svg.fonttype": "none", "font.size": 8, "axes.titlesize": 9})
from matplotlib import pyplot  # noqa: E402  (after the choice of the back end)

from rows import of_one_placement  # noqa: E402

COLOURS = {"upstream": "#7a7a7a", "ours": "#1f6fb4"}
LABELS = {"upstream": "UCX 1.22.0", "ours": "ferrucx"}
SIZED = re.compile(r"^(?P<where>\S+(?: loop)?) (?P<test>[a-z_]+)(?: rate)? (?P<size>\d+)$")
# Groups whose rows are drawn over the size of messages, by the transport that their names begin with.
OVER_SIZE = {"messages": "messages (UCP)", "memory": "remote memory (UCP)", "loop": "a process that talks to itself (UCP)"}


def bytes_text(value, _=None):
    for unit, size in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if value >= size:
            return f"{value / size:g} {unit}"
    return f"{value:g} B"


def number_text(value, _=None):
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g}"


def source(rows):
    """Machine, dates and versions: a picture says what it shows wherever it is shown."""
    def all_of(key):
        return " / ".join(map(str, sorted({row[key] for row in rows})))

    return textwrap.fill(f"{all_of('processor')}; {all_of('date')}; {all_of('reps')} runs of each side, in turns; ferrucx build "
                         f"{all_of('library')} beside UCX 1.22.0", 150)


def save(figure, rows, title, path):
    figure.suptitle(title, fontsize=11, x=0.01, ha="left")
    below = 0.35 / figure.get_figheight()
    figure.get_layout_engine().set(rect=(0, below, 1, 1 - below))
    figure.text(0.01, 0.05 / figure.get_figheight(), source(rows), fontsize=7, color="#555555", va="bottom")
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def series(rows, side, factor):
    """Sizes with the median, the least and the most of a side."""
    points = [(size, [value * factor(row, size) for value in row["figures"][side]]) for size, row in rows]
    return [(size, statistics.median(values), min(values), max(values)) for size, values in points if values]


def draw_lines(axes, rows, unit):
    """One panel: `rows` are (size, row). A rate is drawn as the bandwidth that it is."""
    for side in COLOURS:
        points = series(rows, side, lambda row, size: size / 1e6 if row["unit"] == "/s" and unit == "MB/s" else 1)
        if not points:
            continue
        sizes, middle, least, most = zip(*points)
        axes.plot(sizes, middle, color=COLOURS[side], marker="o", markersize=3, linewidth=1.4, label=LABELS[side])
        axes.fill_between(sizes, least, most, color=COLOURS[side], alpha=0.25, linewidth=0)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks([size for size, _ in rows])
    axes.xaxis.set_major_formatter(FuncFormatter(bytes_text))
    axes.xaxis.minorticks_off()
    axes.yaxis.set_major_locator(LogLocator(base=10, numticks=12))
    axes.yaxis.set_major_formatter(FuncFormatter(number_text))
    axes.yaxis.minorticks_off()
    axes.tick_params(axis="x", labelrotation=45)
    axes.grid(True, which="major", color="#e2e2e2", linewidth=0.6)
    axes.set_ylabel(unit)


def over_size(group, rows, folder):
    """A picture for each transport: times above, bandwidths below."""
    panels = collections.defaultdict(lambda: collections.defaultdict(dict))
    for row in rows:
        found = SIZED.match(row["name"])
        if found and row["ratios"]:
            panels[found["where"]][found["test"]][int(found["size"])] = row
    for where, tests in panels.items():
        tests = {test: sorted(sized.items()) for test, sized in tests.items() if len(sized) > 2}
        lines = [[(test, sized) for test, sized in tests.items() if (sized[-1][1]["unit"] == "us") == is_time]
                 for is_time in (True, False)]
        lines = [line for line in lines if line]
        if not lines:
            continue
        columns = max(map(len, lines))
        figure, grid = pyplot.subplots(len(lines), columns, figsize=(3.1 * columns, 0.9 + 2.7 * len(lines)), squeeze=False,
                                       layout="constrained")
        for line, row_of_axes in zip(lines, grid):
            for at, axes in enumerate(row_of_axes):
                if at >= len(line):
                    axes.axis("off")
                    continue
                test, sized = line[at]
                draw_lines(axes, sized, "us" if sized[-1][1]["unit"] == "us" else "MB/s")
                axes.set_title(test)
        grid[0][0].legend(frameon=False)
        used = [row for line in lines for _, sized in line for _, row in sized]
        save(figure, used, f"UCX_TLS={where.split()[0]}: {OVER_SIZE[group]}", folder / f"{group}-{where.split()[0].replace(',', '-')}.svg")


def rates(rows, folder):
    rows = [row for row in rows if row["unit"] == "/s" and row["ratios"] and row["against"] == "upstream"]
    if not rows:
        return
    figure, axes = pyplot.subplots(figsize=(8.6, 1.2 + 0.3 * len(rows)), layout="constrained")
    for at, row in enumerate(rows):
        for offset, side in ((-0.2, "upstream"), (0.2, "ours")):
            values = row["figures"][side]
            middle = statistics.median(values)
            axes.barh(at + offset, middle, height=0.38, color=COLOURS[side], label=LABELS[side] if at == 0 else None,
                      xerr=[[middle - min(values)], [max(values) - middle]], error_kw={"elinewidth": 0.7})
            axes.text(max(values) * 1.06, at + offset, number_text(middle), va="center", fontsize=6.5)
    axes.set_yticks(range(len(rows)), [f"{row['group']}: {row['name']}" for row in rows])
    axes.set_xscale("log")
    axes.set_xlim(right=axes.get_xlim()[1] * 2)
    axes.xaxis.set_major_formatter(FuncFormatter(number_text))
    axes.margins(y=0.01)
    axes.invert_yaxis()
    axes.set_xlabel("operations a second")
    axes.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    save(figure, rows, "Rates", folder / "rates.svg")


def gains(group, title, rows, folder):
    rows = [row for row in rows if row["ratios"] and 0 < statistics.median(row["ratios"]) < float("inf")]
    if not rows:
        return
    figure, axes = pyplot.subplots(figsize=(8.6, 1.2 + 0.2 * len(rows)), layout="constrained")
    for at, row in enumerate(rows):
        gain = statistics.median(row["ratios"])
        axes.barh(at, gain - 1, left=1, height=0.7, color="#2a7f3f" if gain >= 1 else "#b03a2e")
        axes.text(max(gain, 1) * 1.04, at, f"{gain:.2f}", va="center", fontsize=6.5)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_yticks(range(len(rows)), [row["name"] for row in rows], fontsize=7)
    axes.set_xscale("log")
    axes.set_xlim(right=axes.get_xlim()[1] * 1.5)
    axes.xaxis.set_major_formatter(FuncFormatter(number_text))
    axes.xaxis.set_minor_formatter(FuncFormatter(lambda value, _: ""))
    axes.margins(y=0.01)
    axes.invert_yaxis()
    axes.set_xlabel("gain over the other side; right of 1 ours is better")
    save(figure, rows, title, folder / f"{group}.svg")


def main():
    record, folder, titles = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), json.loads(sys.argv[3])
    rows = [of_one_placement(json.loads(line)) for line in record.read_text().splitlines()]
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.svg"):
        old.unlink()
    for group, title in titles.items():
        of_group = [row for row in rows if row["group"] == group]
        if group in OVER_SIZE:
            over_size(group, of_group, folder)
        else:
            gains(group, title, of_group, folder)
    rates(rows, folder)


main()
