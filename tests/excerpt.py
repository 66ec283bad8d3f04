"""What of a failed test's output is shown: lines that name a cause, wherever they stand, and the last ones."""
import re
from collections import deque

# Panics, errors that libraries log, assertions, the allocator, sanitizers, exceptions of Python and Java, signals.
CAUSE = re.compile(r"panicked at|\b(FATAL|[Ff]atal|ERROR|FAIL|FAILED|[Aa]ssert\w*|Traceback|Exception|Sanitizer)\b|\w+Error\b"
                   r"|(malloc|calloc|realloc|free|munmap_chunk)\(\)|corrupt|stack smashing"
                   r"|[Ss]egmentation fault|Bus error|Illegal instruction|Aborted|\bsignal:? \d+|undefined symbol"
                   r"|^frame .*/libuc[ptsm][^/]*\.so")
# What launchers add to the end of their processes.
BANNER = re.compile(r"[-=]{9,}$|=   |This typically refers to|Please see the FAQ page")
CAUSES, LAST, WIDTH = 20, 25, 240  # lines, lines, characters of a line


class Excerpt:
    """Takes the lines one by one; is iterated when all are there."""

    def __init__(self, lines=()):
        self.count, self.causes, self.last = 0, [], deque(maxlen=LAST)
        for line in lines:
            self.add(line)

    def add(self, line):
        line = line.strip()
        if not line or BANNER.match(line):
            return
        self.count += 1
        entry = self.count, line[:WIDTH]
        if len(self.causes) < CAUSES and CAUSE.search(line):
            self.causes.append(entry)
        self.last.append(entry)

    def __iter__(self):
        shown = dict(self.causes) | dict(self.last)
        before = 0
        for number, line in sorted(shown.items()):
            if number != before + 1:
                yield "..."
            yield line
            before = number
