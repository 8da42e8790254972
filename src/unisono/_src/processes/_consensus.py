"""How processes that run in lockstep act on a flag of one of them at the same call."""

from __future__ import annotations

import time
from typing import Final

import numpy as np

from unisono._src.processes._host_collectives import all_gather_host
from unisono._src.processes._processes import processes

_SECONDS_BETWEEN_VOTES: Final = 1.0
_MAX_CALLS_BETWEEN_VOTES: Final = 100  # the next calls may be slower than those that were measured


class Consensus:
    """About once a second all processes exchange their flags.

    Clocks and signals differ between processes, the number of calls does not. So a vote takes place after a number of
    calls that the chief derived from its clock at the previous vote. A single process votes at every call.
    """

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """All processes begin calls of another kind, which may take longer: the first of them votes."""
        self._calls = self._calls_left = 0
        self._last_vote = time.monotonic()

    def vote(self, flags: int) -> int | None:
        """All processes have to call this after the same calls. ``flags`` are bits; returns the union of the flags of
        all processes, or None if no vote takes place at this call."""
        if processes().count == 1:
            return flags
        self._calls += 1
        self._calls_left -= 1
        if self._calls_left > 0:
            return None
        elapsed = max(time.monotonic() - self._last_vote, 1e-3)
        wanted = min(max(int(_SECONDS_BETWEEN_VOTES * self._calls / elapsed), 1), _MAX_CALLS_BETWEEN_VOTES)
        gathered = all_gather_host(np.array([flags, wanted], np.int64))
        self._calls, self._calls_left, self._last_vote = 0, int(gathered[0, 1]), time.monotonic()
        return int(np.bitwise_or.reduce(gathered[:, 0]))
