"""How far the job has got, over all attempts, and who keeps it from getting further."""

from __future__ import annotations

from collections.abc import Hashable, Mapping


class Progress:
    """The furthest step of each phase, as workers write it into their status files.

    Steps of different phases are not compared: every evaluation counts from one.

    >>> progress = Progress()
    >>> progress.passes({"fit": 120}), progress.passes({"fit": 120}), progress.passes({"fit": 121})
    (True, False, True)
    """

    def __init__(self) -> None:
        self._furthest: dict[str, int] = {}

    def passes(self, reached: Mapping[str, int]) -> bool:
        """Takes notice of what an attempt has reached; whether that is further than any before."""
        further = {phase: step for phase, step in reached.items() if step > self._furthest.get(phase, 0)}
        self._furthest.update(further)
        return bool(further)


class Losses:
    """Who is lost for good: lost in two attempts running, the second of which got no further than those before.

    One loss is an accident: starting again mends it. A second one after progress is another accident. Who is lost twice
    before the job has passed the step it had reached will most likely be lost again.

    >>> losses = Losses()
    >>> losses.for_good("worker 1", progressed=True), losses.for_good("worker 1", progressed=False)
    (False, True)
    """

    def __init__(self) -> None:
        self._last: Hashable | None = None

    def for_good(self, who: Hashable | None, *, progressed: bool) -> bool:
        """Takes notice of who was lost in an attempt, None if nobody was; whether that was once too often."""
        again = who is not None and who == self._last and not progressed
        self._last = None if again else who
        return again
