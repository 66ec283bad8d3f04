"""docs/results/PERFORMANCE.md, from the record; `charts.py` draws.

The tables stand between marks; everything else in the page is written by hand and stays.
"""
import json
import pathlib
import re
import statistics
import subprocess

from reach import goals
from rows import gain_of, state_of

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TITLES = {
    "start": "Start-up",
    "endpoints": "Endpoints and idle peers",
    "messages": "Messages (UCP)",
    "memory": "Remote memory and atomics (UCP)",
    "crowded": "Two processes on one processor (UCP)",
    "threads": "Threads (UCP)",
    "many": "Many processes and threads at once (UCP)",
    "loop": "A process that talks to itself (UCP)",
    "mixed": "One of two processes on upstream's library (UCP over tcp)",
    "uct": "UCT",
    "sleeping": "Processes that sleep for each message (UCP)",
    "mpi": "MPI",
    "whole": "Whole programs",
    "zeromq": "ZeroMQ",
    "peers": "Other libraries, and what the kernel offers",
    "secure": "With a secret, and encrypted",
    "limits": "Limits: loops that only move the bytes",
}
BEGIN, END = "<!-- tables: written by make bench -->", "<!-- end of the tables -->"


def figure(value):
    if value is None:
        return "failed"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}" if abs(value) < 1000 else f"{value:.0f}"


def placement(record):
    seen = "/".join(sorted({state_of(line) for line in record["line_ns"]}))
    runs = len(record["line_ns"])
    return f"{seen}, {runs} of {runs + record['left_out']}" if "left_out" in record else seen


def line(record):
    gain = gain_of(record)
    middle = [statistics.median(values) if values else None for values in (record["figures"]["upstream"], record["figures"]["ours"])]
    spread = f"{min(record['ratios']):.2f} - {max(record['ratios']):.2f}" if len(record["ratios"]) > 1 else ""
    return (f"| {record['name']} | {record['unit']} | {figure(middle[0])} | {figure(middle[1])} | "
            f"{'-' if gain is None else f'{gain:.2f}'} | {spread} | {placement(record)} |")


def summary(records):
    gains = {record["name"]: gain_of(record) for record in records if record["ratios"]}
    if not gains:
        return "No test ran on both sides."
    below = [f"{name} ({gain:.2f})" for name, gain in sorted(gains.items(), key=lambda item: item[1]) if gain < 1]
    return (f"{len(gains)} rows, median gain {statistics.median(gains.values()):.2f}. "
            f"Below 1.00: {', '.join(below) or 'none'}.")


def how(records):
    dates = sorted({record["date"] for record in records})
    words = sorted({f"{record['processor']}; {record['reps']} repetitions, scale {record['scale']:g}" for record in records})
    lines = [value for record in records for value in record["line_ns"] if value is not None]
    between = f"; a cache line took {min(lines):.0f} to {max(lines):.0f} ns one way" if lines else ""
    return f"{' to '.join(dates[:1] + dates[-1:] if len(dates) > 1 else dates)}, {' / '.join(words)}{between}."


def draw(path, charts, target):
    """Draws the charts, with a plotting library in an environment of its own."""
    tools = target / "charts-tools"
    subprocess.run([ROOT / "scripts/venv", tools, "matplotlib==3.11.2"], check=True)
    script = pathlib.Path(__file__).with_name("charts.py")
    subprocess.run([tools / "bin/python", script, path, charts, json.dumps(TITLES)], check=True)


def pictures(charts, name, title):
    """The charts of a group, one or one for each transport."""
    files = sorted(charts.glob(f"{name}.svg")) + sorted(charts.glob(f"{name}-*.svg"))
    return [line for file in files for line in (f"![{title}: {file.stem}]({charts.name}/{file.name})", "")]


def reach(record):
    """A table of the goals: whether each is reached, and what a loop that only moves the bytes leaves of it."""
    lines, reached, known = [], 0, 0
    for goal in goals():
        row = record.rows.get((goal.group, goal.name))
        if row is None:
            continue
        gain = gain_of(row)
        ours = statistics.median(row["figures"]["ours"]) if row["figures"]["ours"] else None
        is_reached = goal.verdict(gain, ours)
        known, reached = known + 1, reached + is_reached
        limit = record.rows.get(("limits", goal.limited)) if goal.limit and not is_reached else None
        left = ""
        if limit and limit["ratios"]:
            share = gain_of(limit)
            left = (f"{goal.twin}: {share:.2f} of the raw loop" if goal.twin else
                    f"{share:.2f} of the raw loop, which is {gain / share:.2f} times upstream")
        asked, got = (f"{goal.bound:g} {row['unit']} at most", f"{figure(ours)} {row['unit']}") if goal.bound else (
            f"{goal.gain:.3g} times", "-" if gain is None else f"{gain:.2f} times")
        lines.append(f"| {goal.name} | {asked} | {got} | {'yes' if is_reached else '**no**'} | {left} |")
    if not lines:
        return []
    return ["### Goals", "", f"{reached} of {known} are reached.", "",
            "| row | asked | is | reached | limit |", "|---|---|---|---|---|", *lines, ""]


def write(record, page, charts):
    record = record.of_one_placement()
    text = [BEGIN, "", *reach(record), "### Rates", "", *pictures(charts, "rates", "operations a second")]
    for group, title in TITLES.items():
        records = record.group(group)
        if not records:
            continue
        text += [f"### {title}", "", how(records), "", summary(records), "", *pictures(charts, group, title)]
        text += ["| test | unit | upstream or other | ours | gain | range of gains | cores |", "|---|---|---|---|---|---|---|",
                 *map(line, records), ""]
    text.append(END)
    old = page.read_text()
    new, count = re.subn(f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: "\n".join(text), old, flags=re.S)
    if count != 1:
        raise SystemExit(f"{page} has no place for the tables: {BEGIN} … {END}")
    page.write_text(new)
