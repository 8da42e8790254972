"""`--max-restarts`: how often a job may start again, and when what it used up is given back.

A job that trains for days must not die of its fourth lost worker in a month, and one that fails again and again at the
same place must end. So the count begins anew once the job has run for an hour since the last failure *and* has passed
the furthest step of all attempts before (`_progress.py`). Either alone would not do: an hour of recomputing what was
lost is no progress, and a job that gets ten steps further each time would start for ever. A script that does not say
how far it is gets nothing back.
"""

from __future__ import annotations

from typing import Final

_ENOUGH: Final = 3600.0  # seconds; any job of hours gets there, no loop of failures does
_HASTY: Final = 10.0  # a worker that asks to be started again sooner than this has to wait, longer each time
_LONGEST_PAUSE: Final = 30.0


class Budget:
    """Counts restarts.

    >>> budget = Budget(1)
    >>> budget.pause_before_next(preempted=False, seconds=60.0, progressed=True), budget.left
    (0.0, 0)
    >>> budget.pause_before_next(preempted=False, seconds=60.0, progressed=True) is None
    True
    """

    def __init__(self, restarts: int) -> None:
        self._restarts = restarts
        self._used = 0
        self._hasty = 0
        self._seconds = 0.0  # since the last failure
        self._progressed = False

    @property
    def left(self) -> int:
        """How many more failures the job may survive."""
        return self._restarts - self._used

    def pause_before_next(self, *, preempted: bool, seconds: float, progressed: bool) -> float | None:
        """Takes notice of an attempt that ended badly; the seconds to wait before the next, None if there is none.

        Args:
            preempted: a worker asked to be started again. That uses up nothing, where there are restarts at all.
            seconds: how long the attempt ran.
            progressed: whether it passed the furthest step of those before.
        """
        self._seconds += seconds
        self._progressed |= progressed
        if self._seconds >= _ENOUGH and self._progressed:
            self._used = 0
        if not preempted:
            self._used += 1
            self._seconds, self._progressed = 0.0, False
        if self._used > self._restarts or not self._restarts:
            return None
        self._hasty = self._hasty + 1 if preempted and seconds < _HASTY else 0
        return min(2.0 ** (self._hasty - 1), _LONGEST_PAUSE) if self._hasty else 0.0
