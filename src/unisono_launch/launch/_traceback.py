"""Finds the last traceback, or the last lines, in what a worker wrote to standard error."""

from __future__ import annotations

import re
from typing import Final

_START: Final = re.compile(r"^(?:  \+ Exception Group )?Traceback \(most recent call last\):$")
# Between the tracebacks of an exception and of the one that was raised while it was handled.
_CHAINED: Final = re.compile(
    r"^(?:The above exception was the direct cause of the following exception:"
    r"|During handling of the above exception, another exception occurred:)$"
)
# Lines of other programs' logs, which follow a traceback but do not belong to it: absl's and Python's.
_LOG_LINE: Final = re.compile(r"^(?:[IWEF]\d{4} \d\d:\d\d:\d\d|\d{4}-\d\d-\d\d[ T]\d\d:|\*\*\* Check failure)")
_MAX_LINES: Final = 80
# What Python says of exceptions in destructors and at exit: they follow the one that ended the program.
_IGNORED: Final = ("Exception ignored", "Error in atexit._run_exitfuncs")


def last_traceback(errors: str) -> str | None:
    r"""The last exception that was not ignored, with those that led to it; None if there is none.

    >>> last_traceback("hello\nTraceback (most recent call last):\n  File ...\nValueError: 3\n")
    'Traceback (most recent call last):\n  File ...\nValueError: 3'
    """
    lines = errors.splitlines()
    starts = [i for i, line in enumerate(lines) if _START.match(line) and not _is_ignored(lines, i)]
    if not starts:
        return None
    first = starts[-1]
    for earlier in reversed(starts[:-1]):
        if not any(_CHAINED.match(line) for line in lines[earlier:first]):
            break
        first = earlier
    stops = (i for i in range(starts[-1], len(lines)) if _LOG_LINE.match(lines[i]) or lines[i].startswith(_IGNORED))
    found = lines[first : next(stops, len(lines))]
    if len(found) > _MAX_LINES:
        found = [f"… {len(found) - _MAX_LINES} lines", *found[-_MAX_LINES:]]
    return "\n".join(found).strip()


def last_lines(errors: str, count: int = 10) -> str:
    """The last lines that are not blank."""
    return "\n".join([line for line in errors.splitlines() if line.strip()][-count:])


def _is_ignored(lines: list[str], position: int) -> bool:
    return position > 0 and lines[position - 1].startswith(_IGNORED)
