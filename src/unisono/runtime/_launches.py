"""A bound on how many compiled calls wait on the devices at once."""

from __future__ import annotations

from collections import deque
from typing import Any

import jax


class Launches:
    """Lets at most ``limit`` launches be in flight: enough to keep a device busy, too few to wedge XLA:CPU.

    JAX returns from a call before it has run. Unbounded, more than 32 calls with collectives on CPU devices
    wait for each other until the process aborts; and on any device their results pile up in memory.
    """

    def __init__(self, limit: int = 2):
        self._limit = limit
        self._in_flight: deque[tuple[Any, int]] = deque()

    def add(self, result: Any, steps: int) -> int:
        """Records a launch of ``steps`` steps by (some of) its results; waits for the oldest if there are too many.

        Returns the steps of the launches that were waited for.
        """
        self._in_flight.append((result, steps))
        return self._wait_until(self._limit)

    def drain(self) -> int:
        """Waits for all of them; returns their steps."""
        return self._wait_until(0)

    def _wait_until(self, number: int) -> int:
        ended = 0
        while len(self._in_flight) > number:
            result, steps = self._in_flight.popleft()
            jax.block_until_ready(result)
            ended += steps
        return ended
