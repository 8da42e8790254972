"""How processes that run in lockstep come to act on a wish of one of them at the same call."""

from __future__ import annotations

import time
from typing import Final

import numpy as np

from unisono._src.processes._exchange import exchanged
from unisono._src.processes._processes import processes

_SECONDS: Final = 1.0
_MOST_CALLS: Final = 1000


class Rounds:
    """About once a second all processes tell each other what they wish.

    Clocks and signals differ between processes, the number of calls does not. So a round is held after so many calls,
    a number that the chief took from its clock at the round before. Alone, a process holds one after every call.
    """

    def __init__(self) -> None:
        self._calls = self._calls_left = 0
        self._last = time.monotonic()

    def hold(self, wishes: int) -> int | None:
        """Has to be called by all processes after the same calls. ``wishes`` are bits; returns those of all of them,
        or None if this is not the time for a round."""
        if processes().number == 1:
            return wishes
        self._calls += 1
        self._calls_left -= 1
        if self._calls_left > 0:
            return None
        elapsed = max(time.monotonic() - self._last, 1e-3)
        wanted = min(max(int(_SECONDS * self._calls / elapsed), 1), _MOST_CALLS)
        every = exchanged(np.array([wishes, wanted], np.int64))
        self._calls, self._calls_left, self._last = 0, int(every[0, 1]), time.monotonic()
        return int(np.bitwise_or.reduce(every[:, 0]))
