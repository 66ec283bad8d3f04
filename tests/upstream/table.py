"""All results, ours beside upstream's, as a page of docs/: one table a program and build, transports across."""
import re

HEAD = """# Upstream's programs on this library

Written by `tests/upstream_tools --long --table`; do not edit. Each cell is what the unmodified program of that release
does on our library; where upstream's own library gives something else, that follows in brackets. `refused`: the
program says that the transport does not have the operation.
"""
# Name of a case: which table, which column, which row.
SHAPES = [r"(?P<table>ucx_perftest \S+ \S+) (?P<column>\S+) (?P<row>.*)",
          r"(?P<table>uct_hello_world .*): -t (?P<column>\S+) -d \S+ (?P<row>.*)",
          r"(?P<table>ucp_\w+ .*?): (?P<column>\S+) (?P<row>.*)"]


def cell(name, ours, upstream):
    mine, theirs = ours.get(name, ("not run",))[0], upstream.get(name, ("not run",))[0]
    return mine if mine == theirs else f"**{mine}** (upstream: {theirs})"


def totals(names, ours, upstream):
    """How many cases ended how, by program."""
    counts = {}
    for name in names:
        program = " ".join(re.split(r"[ ,:]+", name)[:3 if "ucx_perftest" in name else 2])
        row = counts.setdefault(program, {})
        for side, results in (("ours", ours), ("upstream", upstream)):
            verdict = results.get(name, ("not run",))[0]
            row[side, verdict] = row.get((side, verdict), 0) + 1
    columns = [(side, verdict) for side in ("ours", "upstream") for verdict in ("pass", "refused", "fail", "not run")]
    yield "| program | " + " | ".join(f"{side}: {verdict}" for side, verdict in columns) + " |"
    yield "|---" * (len(columns) + 1) + "|"
    for program, row in counts.items():
        yield f"| {program} | " + " | ".join(str(row.get(column, 0)) for column in columns) + " |"


def write_table(path, names, ours, upstream):
    grids, plain = {}, []
    for name in names:
        shape = next(filter(None, (re.fullmatch(shape, name) for shape in SHAPES)), None)
        if shape:
            grids.setdefault(shape["table"], {}).setdefault(shape["row"], {})[shape["column"]] = name
        else:
            plain.append(f"| {name} | {cell(name, ours, upstream)} |")
    lines = [HEAD, "## Sums", "", *totals(names, ours, upstream), "",
             "## ucx_info", "", "| command | result |", "|---|---|", *plain, ""]
    for title, rows in grids.items():
        columns = list(dict.fromkeys(column for row in rows.values() for column in row))
        lines += [f"## {title}", "", "| test | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
        for test, row in rows.items():
            cells = (cell(row[column], ours, upstream) if column in row else "" for column in columns)
            lines.append(f"| {test} | " + " | ".join(cells) + " |")
        lines.append("")
    path.write_text("\n".join(lines))
