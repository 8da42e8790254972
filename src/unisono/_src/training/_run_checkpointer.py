"""Checkpoints a `fit` while it runs, and ends the process for a restart when it is preempted.

The chief writes what every process holds, and each process its own pieces of state that is sharded over processes. All
of them decide alike: by steps and epochs each for itself, by the clock and by preemption notices in a vote
(`processes/_consensus.py`).
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from unisono._src.core import active_fit_facts, measure, warn_user
from unisono._src.devices import is_deterministic, use_cache
from unisono._src.keras_hooks import EveryNSteps
from unisono._src.processes import Consensus, PreemptionNotice, all_gather_host, processes
from unisono._src.state.checkpoint import (
    CheckpointWriter,
    Progress,
    RetentionRecord,
    Snapshot,
    delete_old_checkpoints,
    load_newest_via_chief,
)
from unisono._src.state.store import CheckpointSeries, LoadedCheckpoint, Location
from unisono._src.training._resume import (
    Resume,
    count_finished_fit,
    next_fit_folder,
    prepare_programs_folder,
    run_folder,
)
from unisono._src.training._training_state import TrainingState, check_saved_fields

# The flags of the vote after a call.
_SAVE: Final = 1
_EXIT: Final = 2
_FAILED: Final = 4


@contextlib.contextmanager
def checkpointing(resume: Resume | None) -> Iterator[RunCheckpointer | None]:
    """The checkpointer of one `fit`, which listens for preemption notices in the block; None without a ``resume``."""
    if resume is None:
        yield None
        return
    with PreemptionNotice() as notice:
        checkpointer = RunCheckpointer(resume, notice)
        try:
            yield checkpointer
        except BaseException as error:
            try:
                checkpointer.close()
            except Exception as while_writing:
                error.add_note(f"Besides, the last checkpoint could not be written: {while_writing}")
            raise
        checkpointer.close()
        count_finished_fit(resume)


class RunCheckpointer:
    """Saves and restores one `fit`.

    Args:
        resume: where and when.
        notice: whether this process is to be preempted.

    Attributes:
        saved: the checkpoint to resume from; None if this is the first run.
    """

    def __init__(self, resume: Resume, notice: PreemptionNotice):
        self._resume, self._notice = resume, notice
        if is_deterministic():
            use_cache(prepare_programs_folder(resume))
        self._series = CheckpointSeries(next_fit_folder(resume), "save")
        self.saved: LoadedCheckpoint | None = load_newest_via_chief(self._series)
        if self.saved is not None:
            check_saved_fields(self.saved)
        self._retention = RetentionRecord.from_json(self.saved.state["retention"] if self.saved else None)
        self._resumed_from = [self.saved.number] if self.saved else []
        self._writer = CheckpointWriter(during=lambda: measure("checkpoint_write_seconds"))
        self._consensus = Consensus()
        self._saved_step, self._saved_at = 0, time.monotonic()
        self._has_warned = False
        self._newest: Location | None = None  # on the chief: the checkpoint that was last begun

    @property
    def call_ends_at(self) -> list[EveryNSteps]:
        """The steps at which a call has to end."""
        return [] if self._resume.policy.every is None else [EveryNSteps(self._resume.policy.every)]

    def begin(self, training: TrainingState) -> None:
        """The training is about to run its first step. A new one is saved at once: what cannot be saved is then known
        before it has cost anything, and a restart before the second checkpoint has the same order of data."""
        self._saved_step, self._saved_at = training.step, time.monotonic()
        if self.saved is None:
            self._save(training)

    def begin_pass(self) -> None:
        """An epoch or a validation begins."""
        self._consensus.restart()

    def after_call(self, training: TrainingState) -> None:
        """Some steps were run: saves if it is time to, exits if a process is to be preempted."""
        policy = self._resume.policy
        # What all processes know without asking: the step. Their clocks differ, so the chief's decides.
        is_due_for_all = policy.due(self._progress(training, seconds=0.0))
        flags = (_EXIT if self._notice.received else 0) | (_FAILED if self._writer.has_failed() else 0)
        if not is_due_for_all and processes().is_chief and not self._writer.busy:
            flags |= _SAVE if policy.due(self._progress(training)) else 0
        voted = self._consensus.vote(flags) or 0
        if voted & _FAILED:
            self._writer.wait()
        if voted & _EXIT:
            self._save_and_exit(training)
        elif is_due_for_all or voted & _SAVE:
            self._save(training)

    def after_validation_call(self, training: TrainingState) -> None:
        """Some steps of a validation were run. The training is at the end of its epoch."""
        if (self._consensus.vote(_EXIT if self._notice.received else 0) or 0) & _EXIT:
            self._save_and_exit(training)

    def after_epoch(self, training: TrainingState) -> None:
        """An epoch has ended, and the callbacks have been called. Those with `on_epoch_saved` get its checkpoint."""
        progress = self._progress(training, seconds=0.0, epoch_ended=True)
        is_due = self._resume.policy.due(progress)
        epoch = training.epoch - 1
        wanting = [each for each in training.callbacks.callbacks if hasattr(each, "on_epoch_saved")]
        wanting = [callback for callback in wanting if callback.wants_checkpoint(epoch)]
        if is_due or wanting:
            self._save(training, mark=self._resume.policy.worth_keeping(progress) if is_due else None)
        if wanting:
            self._writer.wait()
            for callback in wanting:
                callback.on_epoch_saved(epoch, self._newest)

    def finish(self, training: TrainingState, epochs: int) -> None:
        """The training has finished. The last checkpoint is what the next start of the script restores.

        It is written even if `EveryEpoch` has just saved: `on_train_end` may have changed the model, and a kill inside
        of it must not cost an epoch.
        """
        if not self._resume.delete_at_end:
            self._save(training, finished=epochs)
        self._writer.wait()
        if all_gather_host(np.uint8(self._notice.received)).any():
            if self._resume.delete_at_end:
                self._save(training, finished=epochs)
                self._writer.wait()
            self._notice.exit_for_restart(run_folder(self._resume))
        self.delete_if_asked()

    def delete_if_asked(self) -> None:
        """Training has finished, in this run or an earlier one: deletes the checkpoints if `delete_at_end` is set."""
        if processes().is_chief and self._resume.delete_at_end:
            self._series.clear()

    def close(self) -> None:
        """Waits for a checkpoint that is being written."""
        self._writer.close()

    def _save_and_exit(self, training: TrainingState) -> None:
        self._save(training)
        self._writer.wait()
        self._notice.exit_for_restart(run_folder(self._resume))

    def _save(self, training: TrainingState, *, finished: int | None = None, mark: str | None = None) -> None:
        self._saved_step, self._saved_at = training.step, time.monotonic()
        if not self._has_warned and processes().is_chief:
            for caveat in training.resume_caveats():
                warn_user(caveat)
        self._has_warned = True
        with measure("checkpoint_wait_seconds"):
            self._writer.wait()
        with measure("checkpoint_snapshot_seconds"):
            training.wait_for_callbacks()
            state, callback_arrays = training.state(finished=finished)
            snapshot = Snapshot(training.arrays() | callback_arrays, state)
        self._writer.start(
            snapshot,
            training.step,
            lambda: self._choose_folder(state, mark),
            info={"kept": mark} if mark else {},
            after=self._note_written,
        )

    def _choose_folder(self, state: dict[str, Any], mark: str | None) -> Location:
        number = max([0, *self._series.steps()]) + 1
        self._retention.note(number, mark)
        state["retention"] = self._retention.to_json()
        self._newest = self._series.path(number)
        return self._newest

    def _note_written(self) -> None:
        delete_old_checkpoints(self._series, self._retention, self._resume.keep, None, in_use=self._resumed_from)
        facts = active_fit_facts()
        if facts is not None:
            facts.add(checkpoints=1)

    def _progress(
        self, training: TrainingState, *, seconds: float | None = None, epoch_ended: bool = False
    ) -> Progress:
        logs = training.logs_of_epochs
        return Progress(
            step=training.step,
            saved_step=self._saved_step,
            seconds=time.monotonic() - self._saved_at if seconds is None else seconds,
            epochs=training.epoch if epoch_ended else None,
            logs=logs[-1] if epoch_ended else {},
            earlier=logs[:-1] if epoch_ended else logs,
        )
