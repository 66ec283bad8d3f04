"""Random programs of UCP calls (tests/differential) by processes on two libraries in turn, over tcp: they write the lines that
they write where all are on one library.

What may differ:
* A receive that ends within its call, as those of messages that were sent at once do, tells no tag and length on releases
  before 1.16. Whether it ends so is another matter between two libraries: such a line of a process on the release may have
  them or not. A process of ours tells always.
* Programs are drawn around what upstream's 1.22.0 gets wrong, and most of what the release does. Where the release by itself
  still writes something else than ours, a line has to be one of the two; these programs are counted.
* A program that a release by itself ends by a signal, or not at all, is left out, and named. That is also looked at with messages
  that are not announced: ours announces others than a release does. So is one that ends inside the release in a mixture, and passes
  there when the environment has another length: 1.16.0 reads a word of its stack that it has not written, and in program 880 ends by it
  or not, as an unrelated variable has it.
"""
import importlib.machinery
import importlib.util
import pathlib
import re
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Programs with seeds in a row share processes and settings; so many of each such block are run.
IN_BLOCK = 4
LIMIT = 20  # seconds after which a program hangs
# So often a program that fails is run on the release alone, which may end it only now and then: 1.16.0 ends program 1803 in 9 of
# 100 runs.
ALONE = 50
# And so often in the mixture, with as many lengths of the environment.
LENGTHS = 8
# Releases before this one are the old ones.
OLD = (1, 16)
UNTOLD, TOLD = " within the call, tells no message", re.compile(r" tag [0-9a-f]+ length \d+")


@dataclass
class Outcome:
    compared: int = 0
    in_part: int = 0  # of them: those of which the release by itself writes another line somewhere
    left_out: dict = field(default_factory=dict)  # program: how the release ends it
    wrong: list = field(default_factory=list)


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


class Mixed:
    """The libraries and their mixtures. `name` is the release's, `within` words before a command."""

    def __init__(self, ours, release, name, within, device):
        differential = script()
        program = differential.compile_program(differential.upstream_prefix())
        common = {"DIFFERENTIAL_TLS": "self,tcp", "DIFFERENTIAL_DEVICE": device, "UCX_WARN_UNUSED_ENV_VARS": "n"}
        self.is_old = tuple(int(n) for n in name.split(".")[:2]) < OLD
        common["DIFFERENTIAL_RELEASE"] = name.split(".")[1]

        def library(path, **more):
            return differential.Library("", path, program, LIMIT, within, **common, **more)
        self.release = str(release)
        self.own, self.theirs = library(ours), library(release)
        self.unannounced = library(release, DIFFERENTIAL_RNDV_THRESH="inf")
        # Name of a mixture, the parity of its processes on ours, and the library that runs it.
        self.mixtures = [("even processes on this library", 0, library(ours, DIFFERENTIAL_OTHER=str(release))),
                         ("odd processes on this library", 1, library(release, DIFFERENTIAL_OTHER=str(ours)))]

    def run(self, blocks):
        outcome = Outcome()
        for first, count in blocks:
            own, theirs = self.own.run(first, count), self.theirs.run(first, count)
            mixed = [(*mixture, mixture[2].run(first, count)) for mixture in self.mixtures]
            for seed in range(first, first + count):
                if isinstance(theirs[seed], str):
                    outcome.left_out[seed] = ending(theirs[seed])
                elif isinstance(own[seed], str):
                    outcome.wrong.append(f"program {seed}, all processes on this library: {own[seed]}")
                elif wrong := next(((name, parity, by, text) for name, parity, by, lines in mixed
                                    if (text := difference(lines[seed], theirs[seed], own[seed], parity, self.is_old))), None):
                    name, parity, by, text = wrong
                    if end := self.end_by_layout(first, seed, text, by, lambda lines: difference(lines, theirs[seed], own[seed], parity, self.is_old)):
                        outcome.left_out[seed] = end
                    elif end := self.end_alone(first, seed):
                        outcome.left_out[seed] = end
                    else:
                        outcome.wrong.append(f"program {seed}, {name}: {text}")
                else:
                    outcome.compared += 1
                    outcome.in_part += told(theirs[seed], own[seed]) != own[seed]
        return outcome

    def end_by_layout(self, first, seed, text, mixture, differs):
        """How a program ended inside the release, if it does not with another length of the environment."""
        inside = [line for line in text.splitlines() if re.match(r" *\d+ +/", line) and "libucs.so" not in line and "libc.so" not in line]
        if "Caught signal" not in text or not inside or self.release not in inside[0]:
            return None
        try:
            for length in range(1, LENGTHS + 1):
                mixture.settings["DIFFERENTIAL_LENGTH"] = "x" * length
                if not differs(mixture.run(first, seed + 1 - first)[seed]):
                    return f"{ending(text)}, not so with another environment"
        finally:
            mixture.settings.pop("DIFFERENTIAL_LENGTH", None)
        return None

    def end_alone(self, first, seed):
        """How the release by itself ends a program badly, if it does: with those of its block that come before, and alone."""
        for library in (self.theirs, self.unannounced):
            for begin in [first, *[seed] * (ALONE - 1)]:
                if isinstance(lines := library.run(begin, seed + 1 - begin)[seed], str):
                    return ending(lines)
        return None


def ending(text):
    """One line of what a run that ended badly said."""
    lines = text.splitlines()
    causes = "Assertion|Caught signal|no end after", "ended with wait status"
    said = next((match[0] for cause in causes for line in lines if (match := re.search(f"({cause}).*", line))), lines[-1])
    return f"{lines[0]}: {said[:120]}"


def difference(lines, theirs, own, parity, is_old):
    """What is wrong with the lines of a program by processes of which those of a parity are on ours."""
    if isinstance(lines, str):
        return lines
    if len({len(lines), len(theirs), len(own)}) != 1:
        return f"{len(lines)} lines, alone {len(theirs)} on the release and {len(own)} on this library"
    for line, one, other in zip(lines, told(theirs, own) if is_old else theirs, own):
        is_ours = int(line.split()[2]) % 2 == parity
        if is_old and not is_ours:
            line = told([line], [other])[0]
        if line not in (one, other) or (is_ours and UNTOLD in line):
            return f"{line}\n    the release alone: {one}\n    this library alone: {other}"
    return None


def told(lines, own):
    """The lines, with the messages that are not told in them as ours tells them."""
    return [line.replace(UNTOLD, match[0]) if UNTOLD in line and (match := TOLD.search(other)) else line for line, other in zip(lines, own)]
