"""What tests/interop --long has passed, by release and kind: the record tests/interop.tsv, and its table in docs/COMPATIBILITY.md."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RECORD, PAGE = ROOT / "tests/interop.tsv", ROOT / "docs/COMPATIBILITY.md"
BEGIN, END = "<!-- by tests/interop --long --record -->\n", "<!-- end -->\n"
# Beginnings of names of rows, what they are, and in which roles ours is there.
KINDS = {"messages with": ("by worker address", "server, client"), "sockets with": ("by socket address", "server, client"),
         "modes with": ("modes of error handling", "server, client"), "perftest of": ("ucx_perftest", "server, client"),
         "programs of": ("io_demo", "server, client"), "upgrade from": ("rolling upgrade", "servers, client"), "mpi of": ("MPI", "ranks"),
         "seeds with": ("random programs", "processes in turn"),
         "ends of": ("end of the peer", "server, client"), "deaths of": ("its end in operations", "server, client")}


def parts(name):
    """Kind and release of a row that the table has."""
    match = re.fullmatch(rf"({'|'.join(KINDS)}) (\S+)", name)
    return match and (match[1], match[2])


def read():
    return {tuple(line.split("\t")) for line in RECORD.read_text().splitlines() if not line.startswith("#")}


def write(results):
    """Takes the results of a run, {name: whether it was ok}, into the record, and the record into the page."""
    rows = read() if RECORD.exists() else set()
    for name, is_ok in results.items():
        if row := parts(name):
            rows = rows | {row} if is_ok else rows - {row}
    lines = sorted("\t".join(row) for row in rows)
    RECORD.write_text("# Rows that tests/interop --long has passed: kind, release.\n" + "".join(f"{line}\n" for line in lines))
    before, _, after = split()
    PAGE.write_text(before + BEGIN + table(rows) + END + after)


def table(rows):
    releases = sorted({release for _, release in rows}, key=lambda release: [int(n) for n in release.split(".")])
    out = f"| release | {' | '.join(title for title, _ in KINDS.values())} |\n|{'---|' * (len(KINDS) + 1)}\n"
    for release in releases:
        out += f"| {release} | {' | '.join(roles if (kind, release) in rows else '' for kind, (_, roles) in KINDS.items())} |\n"
    return out


def split():
    """The page before the table, the table, and what follows."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    inside, _, after = rest.partition(END)
    return before, inside, after


def is_current():
    return split()[1] == table(read())
