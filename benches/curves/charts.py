"""Draws the curves of `benches/curves`: python charts.py FILE.svg < PANELS. A panel an operation, cost over N, both logarithmic."""
import json
import sys
import textwrap

import matplotlib

matplotlib.use("svg")
# The same record gives the same file, and text stays text.
matplotlib.rcParams.update({"svg.hashsalt": "curves", "svg.fonttype": "none", "font.size": 7, "axes.titlesize": 8})
from matplotlib import pyplot  # noqa: E402  (after the choice of the back end)

COLOURS = {"upstream": "#7a7a7a", "ours": "#1f6fb4"}
LABELS = {"upstream": "UCX 1.22.0", "ours": "ferrucx"}
COLUMNS = 5


def main():
    panels = json.load(sys.stdin)
    lines = -(-len(panels) // COLUMNS)
    figure, grid = pyplot.subplots(lines, COLUMNS, figsize=(2.6 * COLUMNS, 0.6 + 2.0 * lines), squeeze=False, layout="constrained")
    for axes in grid.flat[len(panels):]:
        axes.axis("off")
    for axes, panel in zip(grid.flat, panels):
        costs = []
        for side, colour in COLOURS.items():
            points = [(int(n), cost) for n, cost in panel["curves"].get(side, {}).items() if cost]
            if points:
                axes.plot(*zip(*points), color=colour, marker="o", markersize=2.5, linewidth=1.3,
                          label=f"{LABELS[side]}: {panel['exponents'][side]}")
                costs += [cost for _, cost in points]
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.minorticks_off()
        # A decade at least, so that flat looks flat.
        if costs:
            axes.set_ylim(min(costs) / 2.5, max(max(costs) * 2.5, min(costs) * 10))
        axes.grid(True, which="major", color="#e2e2e2", linewidth=0.6)
        axes.set_title(textwrap.fill(panel["title"], 34))
        axes.set_ylabel(panel["unit"])
        axes.legend(frameon=False, title="exponent", title_fontsize=6, fontsize=6)
    words = sorted({f"{panel['record']['date']}, {panel['record']['processor']}" for panel in panels})
    figure.suptitle(f"Cost of one operation over the number N of its kind ({' / '.join(words)}: make curves)", fontsize=9, x=0.01, ha="left")
    figure.savefig(sys.argv[1], metadata={"Date": None})


main()
