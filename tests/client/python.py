"""What the modules of Python clients share: their programs, which say `ok PART` for each part, and what they print."""
import re

from case import ROOT

PROGRAMS = ROOT / "tests/client/programs"


def all_parts(program):
    """A check that every function marked as a part has said ok."""
    parts = len(re.findall(r"^@part$", program.read_text(), re.M))

    def check(text):
        done = re.findall(r"^ok (.+)$", text, re.M)
        return "" if len(done) == parts else f"{len(done)} of {parts} parts are ok: {', '.join(done)}"
    return check
