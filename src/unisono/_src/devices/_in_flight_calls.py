"""A bound on how many compiled calls are in flight on the devices at once."""

from __future__ import annotations

from collections import deque
from typing import Any

import jax


class InFlightCalls:
    """The launches in flight: enough to keep a device busy, too few to deadlock XLA:CPU.

    JAX returns from a call before it has run. Unbounded, more than 32 calls with collectives on CPU devices
    wait for each other until the process aborts; and on any device their results pile up in memory.
    """

    def __init__(self) -> None:
        self._in_flight: deque[tuple[Any, int]] = deque()

    def add(self, result: Any, steps: int, limit: int) -> int:
        """Records a launch of ``steps`` steps by (some of) its results.

        Waits for the oldest while more than ``limit`` are in flight; returns the steps of those waited for.
        """
        self._in_flight.append((result, steps))
        return self._wait_until_at_most(limit)

    def drain(self) -> int:
        """Waits for all of them; returns their steps."""
        return self._wait_until_at_most(0)

    def steps_running(self) -> int:
        """The steps of the calls that are not finished; asks, and does not wait."""
        running = 0
        for result, steps in reversed(self._in_flight):  # devices run calls in order
            if is_computed(result):
                break
            running += steps
        return running

    def _wait_until_at_most(self, limit: int) -> int:
        finished_steps = 0
        while len(self._in_flight) > limit:
            result, steps = self._in_flight.popleft()
            jax.block_until_ready(result)
            finished_steps += steps
        return finished_steps


def is_computed(results: Any) -> bool:
    """Whether the results of a compiled call are there; asks, and does not wait. They are there all at once."""
    first: Any = next((leaf for leaf in jax.tree.leaves(results) if isinstance(leaf, jax.Array)), None)
    return first is None or bool(first.is_ready())
