"""One run of ucx_perftest, against itself or as a pair; for the UCT and the UCP tests."""
import re

from launch import LIMIT, output, pair

# The result's line: "Final:", or without that word, or comma-separated, as the options ask.
RESULT = re.compile(r"^(Final: .*| *\d+( +[\d.]+)+ *| *\d+(,[\d.]+)+)$", re.M)


def perftest(programs, release, library, words, loop, limit=LIMIT, **more):
    """Whether it ended well and printed its result, the exit statuses, and all that was said."""
    env = programs.env(library, UCX_WARN_UNUSED_ENV_VARS="n", **more)
    tool = programs.bin[release] / "ucx_perftest"
    if loop:
        status, text = output(tool, *words, "-l", env=env, timeout=limit)
        return status == 0 and bool(RESULT.search(text)), (status,), text
    statuses, served, said = pair([tool, *words], [tool, "127.0.0.1", *words], env, limit)
    return statuses == (0, 0) and bool(RESULT.search(said)), statuses, said + served
