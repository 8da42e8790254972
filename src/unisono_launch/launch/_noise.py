"""Lines that a library prints whenever all is well: they are in the logs, and not on the screen."""

from __future__ import annotations

import re
from typing import Final

_CONNECTED: Final = re.compile(
    rb"\[Gloo\] Rank \d+ is connected to (\d+) peer ranks\. Expected number of connected peer ranks is : (\d+)"
)


def is_noise(line: bytes) -> bool:
    """Whether it is such a line: Gloo, which adds numbers up over CPUs, has found all whom it expected.

    >>> is_noise(b"[Gloo] Rank 0 is connected to 1 peer ranks. Expected number of connected peer ranks is : 1")
    True
    >>> is_noise(b"[Gloo] Rank 0 is connected to 1 peer ranks. Expected number of connected peer ranks is : 2")
    False
    """
    found = _CONNECTED.fullmatch(line)
    return found is not None and found[1] == found[2]
