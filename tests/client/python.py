"""What the modules of Python clients share: their programs, which say `ok PART` for each part, and what they print."""
import case

PROGRAMS = case.ROOT / "tests/client/programs"


def all_parts(program):
    """A check that every function marked as a part has said ok."""
    return case.all_parts(program, r"^@part$")
