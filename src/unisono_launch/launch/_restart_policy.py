"""Whether a job may start again after a failure, and without which worker.

`--max-restarts` bounds how often. A job that trains for days must not die of its fourth lost worker in a month, and one
that fails again and again at the same step must end. So the count starts again at zero once the job has run for an hour
since the last failure *and* has passed the furthest step of all attempts before. Either alone would not do: an hour of
recomputing what was lost is no progress, and a job that gets ten steps further each time would start for ever. A script
that does not report how far it is gets nothing back.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Final

_ENOUGH_SECONDS: Final = 3600.0  # any job of hours gets there, no loop of failures does
_HASTY_SECONDS: Final = 10.0  # a worker that asks to be started again sooner has to wait, longer each time
_LONGEST_PAUSE: Final = 30.0


class RestartBudget:
    """Counts restarts.

    >>> budget = RestartBudget(1)
    >>> budget.pause_before_next(preempted=False, seconds=60.0, progressed=True), budget.left
    (0.0, 0)
    >>> budget.pause_before_next(preempted=False, seconds=60.0, progressed=True) is None
    True
    """

    def __init__(self, restarts: int) -> None:
        self._restarts = restarts
        self._used = 0
        self._num_hasty = 0
        self._seconds = 0.0  # since the last failure
        self._progressed = False

    @property
    def left(self) -> int:
        """How many more failures the job may survive."""
        return self._restarts - self._used

    def pause_before_next(self, *, preempted: bool, seconds: float, progressed: bool) -> float | None:
        """Records an attempt that ended badly; the seconds to wait before the next, None if there is none.

        Args:
            preempted: a worker asked to be restarted. That uses up nothing, where there are restarts at all.
            seconds: how long the attempt ran.
            progressed: whether it passed the furthest step of those before.
        """
        self._seconds += seconds
        self._progressed |= progressed
        if self._seconds >= _ENOUGH_SECONDS and self._progressed:
            self._used = 0
        if not preempted:
            self._used += 1
            self._seconds, self._progressed = 0.0, False
        if self._used > self._restarts or not self._restarts:
            return None
        self._num_hasty = self._num_hasty + 1 if preempted and seconds < _HASTY_SECONDS else 0
        return min(2.0 ** (self._num_hasty - 1), _LONGEST_PAUSE) if self._num_hasty else 0.0


class FurthestSteps:
    """The furthest step of each phase over all attempts, as workers write it into their status files.

    Steps of different phases are not compared: every evaluation counts from one.

    >>> furthest = FurthestSteps()
    >>> furthest.advance({"fit": 120}), furthest.advance({"fit": 120}), furthest.advance({"fit": 121})
    (True, False, True)
    """

    def __init__(self) -> None:
        self._furthest: dict[str, int] = {}

    def advance(self, reached: Mapping[str, int]) -> bool:
        """Records what an attempt has reached; whether that is further than any before."""
        further = {phase: step for phase, step in reached.items() if step > self._furthest.get(phase, 0)}
        self._furthest.update(further)
        return bool(further)


class RepeatedlyLost:
    """Which worker or machine is lost permanently: lost in two successive attempts, the second without progress.

    One loss is an accident, which a restart repairs. A second one after progress is another accident. What is lost
    twice before the job has passed the step it had reached will most likely be lost again.

    >>> losses = RepeatedlyLost()
    >>> losses.is_permanent("worker 1", progressed=True), losses.is_permanent("worker 1", progressed=False)
    (False, True)
    """

    def __init__(self) -> None:
        self._last: Hashable | None = None

    def is_permanent(self, lost: Hashable | None, *, progressed: bool) -> bool:
        """Records what was lost in an attempt, None if nothing was; whether that was once too often."""
        again = lost is not None and lost == self._last and not progressed
        self._last = None if again else lost
        return again
