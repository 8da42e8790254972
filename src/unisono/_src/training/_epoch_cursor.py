"""The position of training in its data: epochs cut out of passes.

Without `steps_per_epoch` an epoch is a pass. With it, an epoch is that many steps and the next one continues where it
ended; a new pass begins when one is used up at the end of an epoch. As in Keras, an epoch that finds the data used
up half-way ends early, with a warning, and 0 steps mean a whole pass.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from unisono._src.core import warn_user
from unisono._src.data.feed import DataPass, Feed, StepChunk
from unisono._src.data.plans import State

RAN_OUT = """The input ran out of data after {got} of {name}={wanted} steps, so this pass ends here.
Give it more batches, for example with `.repeat()`, or leave {name} out."""

EXHAUSTED = """The generator ended after {batches} batches, and a generator cannot begin again. As in Keras, this pass
and all later ones have only the batches that were read ahead at the beginning, usually two. Pass a generator with
enough batches and the number of steps (`steps_per_epoch`, `validation_steps`), or a keras.utils.PyDataset."""

INFINITE = """The data has no end, so `{name}` must say how many steps make an epoch.
Pass {name}=..., or leave `.repeat()` out."""

OTHER_STEPS = """{name} was {there} in the run that is resumed, and is {here} now.
Resume with {name}={there}, or begin a new run in another folder."""


class EpochCursor:
    """Gives the chunks of steps of one epoch after the other.

    Args:
        feed: the data.
        steps: steps per epoch, None for whole passes.
        name: what the user calls ``steps``, for errors.
        position: that of the cursor of an earlier run; the feed was opened at the same position.
    """

    def __init__(self, feed: Feed, steps: int | None, name: str, position: State = None):
        steps = steps or None
        problem = _find_problem(feed, steps, name, position)
        if problem is not None:
            feed.close()
            raise ValueError(problem)
        self.feed = feed
        self._steps, self._name = steps, name
        self._pass: DataPass | None = None
        self._last_position: State = None
        self._seen_in_pass = 0
        self._seen_in_epoch = 0
        self._epoch_is_over = False
        self._num_passes = 0
        self._batches_given = 0
        self._thread: ThreadPoolExecutor | None = None
        self._next_pass: Future[DataPass] | None = None
        self._was_pass_opened_ahead = position is not None and bool(position.get("pass_opened_ahead"))
        if position is not None:
            self._open_pass()
            self._seen_in_pass = position["seen_in_pass"]
            self._seen_in_epoch, self._epoch_is_over = position["seen_in_epoch"], position["epoch_is_over"]
            if position["ended"]:
                self._end_pass()
                self._num_passes = 0  # those of the earlier run

    @property
    def steps_per_epoch(self) -> int | None:
        """How many steps an epoch has, if that is known."""
        return self._steps or self.feed.num_batches

    @property
    def batch_spec(self) -> Any:
        """Shapes and dtypes of a regular batch."""
        return self.feed.batch_spec

    @property
    def steps_in_epoch(self) -> int:
        """Steps given in this epoch so far."""
        return self._seen_in_epoch

    def position(self) -> State:
        """The position as JSON: that of the feed, and what was counted."""
        if self._last_position is None:
            self._open_pass()
        return {
            "feed": self._last_position if self._pass is None else self._pass.position(),
            "ended": self._pass is None,
            "steps": self._steps,
            "seen_in_pass": self._seen_in_pass,
            "seen_in_epoch": self._seen_in_epoch,
            "epoch_is_over": self._epoch_is_over,
            "pass_opened_ahead": self._next_pass is not None or self._was_pass_opened_ahead,
        }

    def skip_pass_opened_ahead(self) -> None:
        """The earlier run has ended before the pass that it had opened ahead, which counts for the next `fit` with the
        same dataset."""
        if self._was_pass_opened_ahead:
            self.feed.open().close()

    def begin_epoch(self, *, another_follows: bool = False, mid_epoch: bool = False) -> None:
        """The next chunk is the first of a new epoch. The pass of the epoch after it is prepared meanwhile.

        ``mid_epoch``: an earlier run began the epoch, and it continues.
        """
        self._was_pass_opened_ahead = False  # it is opened again
        if not mid_epoch:
            self._seen_in_epoch, self._epoch_is_over = 0, False
            used_up = self.feed.num_batches is not None and self._seen_in_pass >= self.feed.num_batches
            if self._seen_in_pass and (self._steps is None or used_up):
                self._end_pass()
        if another_follows and self._steps is None and self.feed.can_open_ahead and not self._epoch_is_over:
            self._open_pass()
            self._thread = self._thread or ThreadPoolExecutor(1, thread_name_prefix="unisono-next-pass")
            self._next_pass = self._thread.submit(self.feed.open)

    def next_chunk(self, max_steps: int) -> StepChunk | None:
        """The next steps of this epoch, at most ``max_steps``; None at its end."""
        left = None if self._steps is None else self._steps - self._seen_in_epoch
        if left == 0 or self._epoch_is_over:
            return None
        chunk = self._open_pass().next_chunk(max_steps if left is None else min(max_steps, left), left)
        if chunk is None and self.feed.is_endless:
            self._end_pass()
            chunk = self._open_pass().next_chunk(min(max_steps, left or max_steps), left)
        if chunk is None:
            self._end_early()
            return None
        self._seen_in_epoch += chunk.count
        self._seen_in_pass += chunk.count
        return chunk

    def close(self) -> None:
        """Releases what the current pass and the feed hold."""
        if self._pass is not None:
            self._pass.close()
            self._pass = None
        self.feed.close()
        if self._thread is not None:
            self._thread.shutdown()
            self._thread = self._next_pass = None

    def _open_pass(self) -> DataPass:
        if self._pass is None:
            if self._num_passes == 1 and not self.feed.is_restartable:  # once; later passes are as short
                warn_user(EXHAUSTED.format(batches=self._batches_given))
            prepared, self._next_pass = self._next_pass, None
            self._pass = self.feed.open() if prepared is None else prepared.result()
            self._num_passes += 1
        return self._pass

    def _end_pass(self) -> None:
        if self._pass is not None:
            self._last_position = self._pass.position()
            self._pass.close()
            self._batches_given = self._seen_in_pass
            self._pass, self._seen_in_pass = None, 0

    def _end_early(self) -> None:
        self._epoch_is_over = True
        self._end_pass()
        if self._steps is not None:
            found = {"got": self._seen_in_epoch, "name": self._name, "wanted": self._steps}
            warn_user(RAN_OUT.format(**found))


def _find_problem(feed: Feed, steps: int | None, name: str, position: State) -> str | None:
    """Why the feed cannot give epochs of so many steps."""
    if steps is not None and steps < 1:
        return f"{name} is a whole number, or None for all batches; got {steps!r}."
    if position is not None and position["steps"] != steps:
        return OTHER_STEPS.format(name=name, there=position["steps"], here=steps)
    if steps is None and feed.is_endless:
        return INFINITE.format(name=name)
    return None
