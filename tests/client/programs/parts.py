"""The parts of a test program: each says `ok NAME` when it went well; the first that does not ends the program.

tests/client/*.py counts the functions that are marked with `part` in the text of a program, and these lines."""
import faulthandler
import sys
import traceback

PARTS = []


def part(function):
    PARTS.append(function)
    return function


def run(call, quiet=False, patience=60):
    """Calls `call(part)` for each; a program that hangs says where, and ends."""
    faulthandler.enable()
    for function in PARTS:
        faulthandler.dump_traceback_later(patience, exit=True)
        try:
            call(function)
        except BaseException:
            traceback.print_exc()
            print(f"failed {function.__name__}", flush=True)
            sys.exit(1)
        if not quiet:
            print(f"ok {function.__name__}", flush=True)
    faulthandler.cancel_dump_traceback_later()


def expect(condition, *words):
    if not condition:
        raise AssertionError(" ".join(map(str, words)))
