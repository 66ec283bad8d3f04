"""One run of ucx_perftest, against itself or as a pair; for the UCT and the UCP tests."""
from launch import LIMIT, output, pair


def perftest(programs, release, library, words, loop, limit=LIMIT, **more):
    """Whether it ended well and printed its result, the exit statuses, and all that was said."""
    env = programs.env(library, UCX_WARN_UNUSED_ENV_VARS="n", **more)
    tool = programs.bin[release] / "ucx_perftest"
    if loop:
        status, text = output(tool, *words, "-l", env=env, timeout=limit)
        return status == 0 and "Final" in text, (status,), text
    statuses, served, said = pair([tool, *words], [tool, "127.0.0.1", *words], env, limit)
    return statuses == (0, 0) and "Final" in said, statuses, said + served
