"""Where in the data training stands: epochs cut out of passes.

Without `steps_per_epoch` an epoch is a pass. With it, an epoch is that many steps and the next one goes on where it
ended; a new pass begins when one is used up at the end of an epoch. As in Keras, an epoch that finds the data used
up half-way ends early, with a warning.
"""

from __future__ import annotations

import warnings
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from unisono._src.data.feed import DataPass, Feed, StepChunk
from unisono._src.data.plans import State

RAN_OUT = """The input ran out of data after {got} of {wanted} steps of this epoch, so the epoch ends here.
Give it at least steps_per_epoch * epochs batches, for example with `.repeat()`, or leave steps_per_epoch out."""

EXHAUSTED = """The generator is used up: it gave {batches} batches, and a generator cannot begin again.
Pass `steps_per_epoch` and a generator that yields enough batches, or a keras.utils.PyDataset."""

TOO_FEW = """{name}={steps} was asked for, but one pass over the data has {batches} batches.
Use {name}<={batches}, a smaller batch, or `.repeat()` on the dataset."""

INFINITE = """The data has no end, so `{name}` must say how many steps make an epoch.
Pass {name}=..., or leave `.repeat()` out."""


OTHER_STEPS = """{name} was {there} in the run that goes on, and is {here} now.
Go on with {name}={there}, or begin a new run in another folder."""


class EpochCursor:
    """Hands out the windows of one epoch after the other.

    Args:
        feed: the data.
        steps: steps per epoch, None for whole passes.
        name: what the user calls ``steps``, for errors.
        place: where the cursor of an earlier run stood; the feed was opened at the same place.
    """

    def __init__(self, feed: Feed, steps: int | None, name: str, place: State = None):
        problem = _problem(feed, steps, name, place)
        if problem is not None:
            feed.close()
            raise ValueError(problem)
        self.feed = feed
        self._steps = steps
        self._pass: DataPass | None = None
        self._last_place: State = None
        self._seen_in_pass = 0
        self._seen_in_epoch = 0
        self._epoch_is_over = False
        self._passes = 0
        self._batches_given = 0
        self._thread: ThreadPoolExecutor | None = None
        self._next_pass: Future[DataPass] | None = None
        if place is not None:
            self._open_pass()
            self._seen_in_pass = place["seen_in_pass"]
            self._seen_in_epoch, self._epoch_is_over = place["seen_in_epoch"], place["epoch_is_over"]
            if place["ended"]:
                self._end_pass()
                self._passes = 0  # those of the earlier run

    @property
    def steps_per_epoch(self) -> int | None:
        """How many steps an epoch has, if that is known."""
        return self._steps or self.feed.num_batches

    @property
    def batch_spec(self) -> Any:
        """Shapes and dtypes of an ordinary batch."""
        return self.feed.batch_spec

    @property
    def position(self) -> int:
        """Steps handed out in this epoch."""
        return self._seen_in_epoch

    def place(self) -> State:
        """Where the data stands, as JSON: that of the feed, and what was counted."""
        if self._last_place is None:
            self._open_pass()
        return {
            "feed": self._last_place if self._pass is None else self._pass.position(),
            "ended": self._pass is None,
            "steps": self._steps,
            "seen_in_pass": self._seen_in_pass,
            "seen_in_epoch": self._seen_in_epoch,
            "epoch_is_over": self._epoch_is_over,
        }

    def begin_epoch(self, *, another_follows: bool = False, within: bool = False) -> None:
        """The next window is the first of a new epoch. The pass of the epoch after it is prepared meanwhile.

        ``within``: the epoch has begun in an earlier run, and goes on.
        """
        if not within:
            self._seen_in_epoch, self._epoch_is_over = 0, False
            used_up = self.feed.num_batches is not None and self._seen_in_pass >= self.feed.num_batches
            if self._seen_in_pass and (self._steps is None or used_up):
                self._end_pass()
        if another_follows and self._steps is None and self.feed.can_open_ahead and not self._epoch_is_over:
            self._open_pass()
            self._thread = self._thread or ThreadPoolExecutor(1, thread_name_prefix="unisono-next-pass")
            self._next_pass = self._thread.submit(self.feed.open)

    def window(self, most: int) -> StepChunk | None:
        """The next steps of this epoch, at most ``most``; None at its end."""
        ahead = None if self._steps is None else self._steps - self._seen_in_epoch
        if ahead == 0 or self._epoch_is_over:
            return None
        window = self._open_pass().next_chunk(most if ahead is None else min(most, ahead), ahead)
        if window is None and self.feed.is_endless:
            self._end_pass()
            window = self._open_pass().next_chunk(min(most, ahead or most), ahead)
        if window is None:
            self._ran_out()
            return None
        self._seen_in_epoch += window.count
        self._seen_in_pass += window.count
        return window

    def close(self) -> None:
        """Gives back what the current pass and the feed hold."""
        if self._pass is not None:
            self._pass.close()
            self._pass = None
        self.feed.close()
        if self._thread is not None:
            self._thread.shutdown()
            self._thread = self._next_pass = None

    def _open_pass(self) -> DataPass:
        if self._pass is None:
            if self._passes and not self.feed.is_restartable:
                raise ValueError(EXHAUSTED.format(batches=self._batches_given))
            prepared, self._next_pass = self._next_pass, None
            self._pass = self.feed.open() if prepared is None else prepared.result()
            self._passes += 1
        return self._pass

    def _end_pass(self) -> None:
        if self._pass is not None:
            self._last_place = self._pass.position()
            self._pass.close()
            self._batches_given = self._seen_in_pass
            self._pass, self._seen_in_pass = None, 0

    def _ran_out(self) -> None:
        self._epoch_is_over = True
        self._end_pass()
        if self._steps is not None:
            warnings.warn(RAN_OUT.format(got=self._seen_in_epoch, wanted=self._steps), stacklevel=2)


def _problem(feed: Feed, steps: int | None, name: str, place: State) -> str | None:
    """Why the feed cannot give epochs of so many steps."""
    if steps is not None and steps < 1:
        return f"{name} is a whole number of at least 1; got {steps!r}."
    if place is not None and place["steps"] != steps:
        return OTHER_STEPS.format(name=name, there=place["steps"], here=steps)
    if steps is None and feed.is_endless:
        return INFINITE.format(name=name)
    if steps is not None and feed.num_batches is not None and steps > feed.num_batches:
        return TOO_FEW.format(name=name, steps=steps, batches=feed.num_batches)
    return None
