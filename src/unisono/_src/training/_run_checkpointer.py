"""Saves a `fit` while it runs, and leaves when the process is told to.

Every process holds the same state, so the chief alone writes. All of them decide alike: by steps and epochs each for
itself, by the clock and by signals in a round (`runtime/_consensus.py`).
"""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from unisono._src.devices import cache_compiled_programs, is_deterministic
from unisono._src.keras_hooks import StepGrid
from unisono._src.processes import Consensus, PreemptionNotice, all_gather_host, processes, run_on_chief
from unisono._src.state.checkpoint import (
    Progress,
    RetentionRecord,
    Snapshot,
    checkpoint_number,
    commit_snapshot,
    delete_old_checkpoints,
    load_newest_good,
    load_on_chief,
)
from unisono._src.state.store import BackgroundWriter, CheckpointSeries, LoadedCheckpoint
from unisono._src.training._resume import Resume, count_finished_fit, next_fit_folder
from unisono._src.training._training_state import TrainingState

_SAVE: Final = 1
_LEAVE: Final = 2
_FAILED: Final = 4


@contextlib.contextmanager
def checkpointing(resume: Resume | None) -> Iterator[RunCheckpointer | None]:
    """A keeper, if the training is to be kept, which hears SIGTERM until the training has ended."""
    if resume is None:
        yield None
        return
    with PreemptionNotice() as notice:
        keeper = RunCheckpointer(resume, notice)
        try:
            yield keeper
        except BaseException as error:
            try:
                keeper.close()
            except Exception as while_writing:
                error.add_note(f"Besides, the last save could not be written: {while_writing}")
            raise
        keeper.close()
        count_finished_fit(resume)


class RunCheckpointer:
    """Of one `fit`.

    Args:
        resume: where and when.
        notice: tells whether this process was told to end.

    Attributes:
        saved: what an earlier run left; None if this is the first one.
    """

    def __init__(self, resume: Resume, notice: PreemptionNotice):
        self._resume, self._notice = resume, notice
        if is_deterministic():
            cache_compiled_programs(Path(resume.directory).absolute() / "programs")
        self._shelf = CheckpointSeries(next_fit_folder(resume), "save")
        self.saved: LoadedCheckpoint | None = load_on_chief(lambda: load_newest_good(self._shelf))
        self._memory = (
            RetentionRecord() if self.saved is None else RetentionRecord.from_json(self.saved.state["memory"])
        )
        self._resumed_from = [] if self.saved is None else [checkpoint_number(self.saved)]
        self._writer = BackgroundWriter()
        self._consensus = Consensus()
        self._saved_step, self._saved_at = 0, time.monotonic()
        self._warned = False
        self._error: Exception | None = None

    @property
    def grids(self) -> list[StepGrid]:
        """Where a call has to end."""
        return [] if self._resume.policy.every is None else [StepGrid(self._resume.policy.every)]

    def begin(self, training: TrainingState) -> None:
        """The training is about to run its first step. A new one is saved at once: what cannot be saved is then known
        before it has cost anything, and a restart before the second save has the same order of data."""
        self._saved_step, self._saved_at = training.step, time.monotonic()
        if self.saved is None:
            self._save(training)

    def after_call(self, training: TrainingState) -> None:
        """Some steps were run."""
        policy = self._resume.policy
        certain = policy.due(self._progress(training, seconds=0.0))
        wishes = (_LEAVE if self._notice.received else 0) | (_FAILED if self._has_failed() else 0)
        if not certain and processes().is_chief and not self._writer.busy:
            wishes |= _SAVE if policy.due(self._progress(training)) else 0
        wished = self._consensus.vote(wishes) or 0
        if wished & _FAILED:
            self._wait()
        if wished & _LEAVE:
            self._leave(training)
        elif certain or wished & _SAVE:
            self._save(training)

    def after_validation_call(self, training: TrainingState) -> None:
        """Some steps of a validation were run. The training stands at the end of its epoch."""
        if (self._consensus.vote(_LEAVE if self._notice.received else 0) or 0) & _LEAVE:
            self._leave(training)

    def after_epoch(self, training: TrainingState) -> None:
        """An epoch has ended, and the callbacks were told."""
        progress = self._progress(training, seconds=0.0, ended=True)
        if self._resume.policy.due(progress):
            self._save(training, mark=self._resume.policy.worth_keeping(progress))

    def finish(self, training: TrainingState, epochs: int) -> None:
        """The training has come to its end, and the last save is what a new start of the script begins with."""
        self._save(training, finished=epochs)
        self._wait()
        if all_gather_host(np.uint8(self._notice.received)).any():
            self._notice.exit_for_restart(self._resume.directory)
        self.forget()

    def forget(self) -> None:
        """The end has been reached, by this run or an earlier one: deletes the saves, if that was asked for."""
        if processes().is_chief and self._resume.delete_at_end:
            self._shelf.clear()

    def close(self) -> None:
        """Waits for a save that is being written."""
        self._writer.close()

    def _leave(self, training: TrainingState) -> None:
        self._save(training)
        self._wait()
        self._notice.exit_for_restart(self._resume.directory)

    def _wait(self) -> None:
        """Until what is being written is on the disk. What went wrong with it is raised on all processes."""
        run_on_chief(self._finish_write)

    def _finish_write(self) -> None:
        error, self._error = self._error, None
        if error is not None:
            raise error
        self._writer.wait()

    def _has_failed(self) -> bool:
        """Whether the last save could not be written. Only the chief knows."""
        try:
            self._writer.check()
        except Exception as error:
            self._error = error
        return self._error is not None

    def _save(self, training: TrainingState, *, finished: int | None = None, mark: str | None = None) -> None:
        self._saved_step, self._saved_at = training.step, time.monotonic()
        if not self._warned and processes().is_chief:
            for doubt in training.doubts():
                warnings.warn(doubt, stacklevel=2)
        self._warned = True
        self._wait()
        training.settle()
        state, of_callbacks = training.state(finished=finished)
        if not processes().is_chief:
            return
        arrays, step = training.arrays() | of_callbacks, training.step
        self._writer.start(lambda: self._write(arrays, state, step, mark))

    def _write(
        self, arrays: dict[str, np.ndarray[Any, Any]], state: dict[str, Any], step: int, mark: str | None
    ) -> None:
        number = max([0, *self._shelf.steps()]) + 1
        self._memory.note(number, mark)
        state["memory"] = self._memory.to_json()
        commit_snapshot(self._shelf.path(number), Snapshot(arrays, state), step, {"kept": mark} if mark else {})
        delete_old_checkpoints(self._shelf, self._memory, self._resume.keep, None, in_use=self._resumed_from)

    def _progress(
        self,
        training: TrainingState,
        *,
        seconds: float | None = None,
        ended: bool = False,
    ) -> Progress:
        return Progress(
            step=training.step,
            saved_step=self._saved_step,
            seconds=time.monotonic() - self._saved_at if seconds is None else seconds,
            epochs=training.epoch if ended else None,
            logs=training.earlier[-1] if ended else {},
            earlier=training.earlier[:-1] if ended else training.earlier,
        )
