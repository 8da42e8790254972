"""How many steps a `fit` has done, from the numbers that batch hooks are called with."""

from __future__ import annotations

from typing import Any


class BatchCounter:
    """Counts steps where a hook is called once for several of them, across epochs and across a resume.

    >>> counter = BatchCounter()
    >>> counter.begin_epoch(0)
    >>> counter.end_batch(3), counter.end_batch(9)  # four steps in one call, then six
    (4, 10)
    >>> counter.begin_epoch(1)
    >>> counter.end_batch(3)
    14
    """

    def __init__(self) -> None:
        self.steps = 0
        self._epoch = -1
        self._last_batch = -1

    def begin_epoch(self, epoch: int) -> None:
        """The batches of an epoch that is resumed keep their numbers: it does not begin again."""
        if epoch != self._epoch:
            self._epoch, self._last_batch = epoch, -1

    def end_batch(self, batch: int) -> int:
        """``batch``, counted from 0 in its epoch, has run. Returns how many have in all."""
        if batch <= self._last_batch:  # an epoch without `begin_epoch`
            self._last_batch = -1
        self.steps += batch - self._last_batch
        self._last_batch = batch
        return self.steps

    def get_state(self) -> dict[str, int]:
        """The counts, for a checkpoint."""
        return {"steps": self.steps, "epoch": self._epoch, "last_batch": self._last_batch}

    def set_state(self, state: dict[str, Any]) -> None:
        """Resumes from ``state``."""
        for name in ("steps", "epoch", "last_batch"):
            if type(state.get(name)) is not int:
                raise ValueError(
                    f"A checkpoint's count of steps has {state.get(name)!r:.80} as {name!r}, not a number."
                )
        self.steps, self._epoch, self._last_batch = state["steps"], state["epoch"], state["last_batch"]
