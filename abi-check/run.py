#!/usr/bin/env python3
"""Proves that include/ and the built library speak upstream's ABI, release by release.

    python3 abi-check/run.py [--only alone,layout,prototypes,symbols,states] [--releases 1.13.1,...]

Each line `ok|not ok|skip ...` is one check; the last line is `N passed, N failed, N skipped`, and the exit code is 1 if
one failed. Differences that are right stand in exceptions.toml with their reasons.
"""

import argparse
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True

import exceptions
import facts
import internal
import layout
import matrix
import sources
import symbols
import upstream

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
PARTS = ("alone", "layout", "prototypes", "symbols", "states")
SHOWN = 40  # messages printed per failed check; the rest is counted


class Tally:
    def __init__(self, verbose):
        self.verbose = verbose
        self.passed = self.failed = self.skipped = 0

    def result(self, title, messages, notes=()):
        if messages:
            self.failed += 1
            print(f"not ok {title}")
            shown = messages if self.verbose else messages[:SHOWN]
            for message in shown:
                print(f"     {message}")
            if len(messages) > len(shown):
                print(f"     and {len(messages) - len(shown)} more (--verbose shows them)")
        else:
            self.passed += 1
            print(f"ok {title}")
        for note in notes if self.verbose else ():
            print(f"     allowed: {note}")

    def skip(self, title, reason):
        self.skipped += 1
        print(f"skip {title}: {reason}")


def main():
    options = arguments()
    tally = Tally(options.verbose)
    listed = symbols.listed(options.data)
    allowed = exceptions.Exceptions(options.exceptions)
    ours = None
    if {"alone", "layout", "prototypes"} & options.only:
        ours = headers(options, tally, listed, allowed)
    if "symbols" in options.only:
        exports(options, tally, listed, ours, allowed)
    if "states" in options.only:
        state_table(options, tally, listed)
    print(f"{tally.passed} passed, {tally.failed} failed, {tally.skipped} skipped")
    return 1 if tally.failed else 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ours", type=pathlib.Path, default=ROOT / "include", help="our headers")
    parser.add_argument("--lib", type=pathlib.Path, help="the built library (default: build it)")
    parser.add_argument("--data", type=pathlib.Path, default=HERE / "data")
    parser.add_argument("--exceptions", type=pathlib.Path, default=HERE / "exceptions.toml")
    parser.add_argument("--state", type=pathlib.Path, default=HERE / "state.tsv")
    parser.add_argument("--source", type=pathlib.Path, default=ROOT / "src", help="our Rust source")
    parser.add_argument("--matrix", type=pathlib.Path, default=HERE / "MATRIX.md")
    parser.add_argument("--cache", type=pathlib.Path, default=ROOT / ".cache")
    parser.add_argument("--releases", type=lambda text: text.split(","), help="default: all")
    parser.add_argument("--only", type=lambda text: set(text.split(",")), default=set(PARTS))
    parser.add_argument("--verbose", action="store_true", help="all messages, and what is allowed")
    options = parser.parse_args()
    unknown = options.only - set(PARTS)
    if unknown:
        parser.error(f"--only knows {', '.join(PARTS)}, not {', '.join(sorted(unknown))}")
    return options


def headers(options, tally, listed, allowed):
    """Every check that reads include/; returns our facts, or None when libclang is missing."""
    have = facts.headers_in(options.ours)
    if not have:
        tally.result("headers", [f"{options.ours} holds no headers"])
        return None
    if "alone" in options.only:
        for header, standard, message in sources.alone(options.ours, have):
            if message and allowed.allows("alone", header, None):
                message = None
            tally.result(f"{header} compiles alone as {standard}", [message] if message else [])
    if not {"layout", "prototypes"} & options.only:
        return None
    try:
        cindex = upstream.clang(options.cache)
    except upstream.Unavailable as error:
        tally.skip("layout and prototypes", str(error))
        return None
    ours = layout.read_tree(cindex, options.ours, set(have), options.cache)
    if "layout" in options.only:
        tally.result("our headers declare every listed symbol", list(symbols.unpromised(ours, listed)))
    known = upstream.releases(options.data)
    chosen = [row for row in known if not options.releases or row[0] in options.releases]
    trees = {}
    for row in chosen if known[-1] in chosen else [*chosen, known[-1]]:
        try:
            include = upstream.headers_of(*row, options.cache)
            trees[row[0]] = layout.read_tree(cindex, include, set(have), options.cache)
        except upstream.Unavailable as error:
            tally.skip(f"{row[0]}: all checks", str(error))
    newest = trees.get(known[-1][0])
    if newest is None:
        tally.skip("all releases", f"what {known[-1][0]} has is needed to judge the others")
        return ours
    checked = [row[0] for row in chosen if row[0] in trees]
    for name in checked:
        release(options, tally, name, have, ours, trees[name], newest, listed, allowed)
    if {"alone", "layout", "prototypes"} <= options.only:
        tally.result("every exception is needed", [f"{e}: no release needs it" for e in allowed.unused(checked)])
    return ours


def release(options, tally, name, have, ours, theirs, newest, listed, allowed):
    both = layout.Comparison(ours, theirs, theirs is newest, listed)

    def reason(what, symbol):
        if layout.gone(what, symbol, ours, newest):
            return "upstream itself removed it later"
        return allowed.allows(what, symbol, name)

    if "layout" in options.only:
        for title in ("headers", "records", "constants", "types", "macros", "names"):
            differences, equal = getattr(both, title)()
            judge(tally, f"{name} {title}", equal, differences, reason)
    if "prototypes" in options.only:
        statements = list(sources.redeclarations(ours, theirs, both.covered, listed))
        found = sources.check(options.ours, have, statements)
        for position, (standard, _, _) in enumerate(sources.MODES):
            asked = sum(1 for statement in statements if statement[2 + position])
            differences = [
                (what, symbol, f"{symbol}: {text}")
                for mode, what, symbol, text in found
                if mode == standard
            ]
            judge(tally, f"{name} declared again in {standard}", asked - len(differences), differences, reason)


def judge(tally, title, equal, differences, reason):
    """Splits differences into those with a reason to be right and those that fail."""
    wrong, notes = [], []
    for what, name, message in differences:
        why = reason(what, name)
        if why:
            notes.append(f"{message}: {why}")
        else:
            wrong.append(message)
    tally.result(f"{title}: {equal} equal, {len(notes)} allowed differences", wrong, notes)


def exports(options, tally, listed, ours, allowed):
    library = options.lib
    if library is None:
        done = subprocess.run(["cargo", "build", "-q", "--lib"], cwd=ROOT, capture_output=True, text=True)
        if done.returncode != 0:
            tally.result("the library builds", done.stderr.splitlines()[-SHOWN:] or ["cargo build failed"])
            return
        library = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug/libferrucx.so"
    for title, messages in symbols.check(library, listed, options.data / "objects.tsv", ours):
        tally.result(title, messages)
    wrong, agree = internal.check(options.data, options.source)
    tally.result(f"functions without a header have upstream's signature: {agree} agree", wrong)
    for title, messages in symbols.check_file(library, listed):
        tally.result(title, messages)
    if ours is not None:
        wrong = [
            f"{name} is declared by our headers, but not exported"
            for name in symbols.undeclared(ours, listed)
            if not allowed.allows("unexported", name, None)
        ]
        tally.result("what our headers declare is exported", wrong)


def state_table(options, tally, listed):
    table = matrix.states(options.state)
    stubs = matrix.stubs(options.source)
    tally.result("every symbol has a true state", matrix.check(listed, table, stubs))
    late = matrix.understated(listed, table, stubs)
    if late:
        print(f"     {len(late)} have a body and are still called not-yet in state.tsv: {' '.join(late)}")
    text = matrix.page(listed, table, upstream.read_table(options.data / "clients.tsv"))
    if not options.matrix.is_file() or options.matrix.read_text() != text:
        options.matrix.write_text(text)
        print(f"     {options.matrix.name} was rewritten")


if __name__ == "__main__":
    sys.exit(main())
