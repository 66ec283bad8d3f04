"""Random programs of UCP calls (tests/differential) by processes on two libraries in turn, over tcp: they write the lines that
they write where all are on one library. Programs are drawn around what upstream's 1.22.0 gets wrong; where an older release
writes something else by itself the line is not compared, and a program that it does not end by itself is left out.
"""
import importlib.machinery
import importlib.util
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Programs with seeds in a row share processes and settings; so many of each such block are run.
IN_BLOCK = 4
LIMIT = 20  # seconds after which a program hangs
# A receive that ends within its call, as those of messages that were sent at once do, may tell neither.
UNTOLD, TOLD = " tag 0 length 0", re.compile(r" tag [0-9a-f]+ length \d+")


def script():
    """tests/differential as a module."""
    loader = importlib.machinery.SourceFileLoader("differential", str(ROOT / "tests/differential"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("differential", loader))
    loader.exec_module(module)
    return module


def seeds(first, count):
    """[(first seed, count)] of the blocks with `count` programs."""
    block = script().BLOCK
    return [(at * block, IN_BLOCK) for at in range(first, first + count // IN_BLOCK)]


def run(ours, release, within, device, blocks):
    """(programs that were compared, those that were left out, what is wrong or None)"""
    differential = script()
    program = differential.compile_program(differential.upstream_prefix())
    common = {"DIFFERENTIAL_TLS": "self,tcp", "DIFFERENTIAL_DEVICE": device, "UCX_UPSTREAM_PEERS": "y", "UCX_WARN_UNUSED_ENV_VARS": "n"}

    def library(path, **more):
        return differential.Library("", path, program, LIMIT, within, **common, **more)
    own, theirs = library(ours), library(release)
    mixed = {"process 0 on this library": library(ours, DIFFERENTIAL_OTHER=str(release)),
             "process 0 on the release": library(release, DIFFERENTIAL_OTHER=str(ours))}
    compared = left_out = 0
    for first, count in blocks:
        references = theirs.run(first, count), own.run(first, count)
        results = {name: each.run(first, count) for name, each in mixed.items()}
        for seed in range(first, first + count):
            theirs_lines, own_lines = (lines[seed] for lines in references)
            if isinstance(own_lines, str):
                return compared, left_out, f"program {seed}, all processes on this library: {own_lines}"
            if isinstance(theirs_lines, str):
                left_out += 1
                continue
            for name, lines in results.items():
                if not difference(lines[seed], theirs_lines, own_lines):
                    continue
                # A program that fails in its block is looked at alone, on the release too.
                alone = theirs.run(seed, 1)[seed]
                if isinstance(alone, str):
                    left_out += 1
                    break
                if wrong := difference(mixed[name].run(seed, 1)[seed], alone, own_lines):
                    return compared, left_out, f"program {seed}, {name}: {wrong}"
            else:
                compared += 1
    return compared, left_out, None


def difference(lines, theirs, own):
    """What is wrong with the lines of a program, which either library writes by itself where both write the same."""
    if isinstance(lines, str):
        return lines
    if len({len(lines), len(theirs), len(own)}) != 1:
        return f"{len(lines)} lines, alone {len(theirs)} and {len(own)}"
    for line, one, other in zip(lines, theirs, own):
        # Whether a message is announced or sent at once is another matter between two libraries.
        if UNTOLD in line:
            line, one, other = (TOLD.sub("", text) for text in (line, one, other))
        if line != one == other:
            return f"{line}\n    alone: {one}"
    return None
