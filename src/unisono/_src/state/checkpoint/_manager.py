"""`CheckpointManager`: a series of checkpoints in a folder: when to save, which to keep, from which to resume."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

from unisono._src.processes import Consensus, processes, run_on_chief
from unisono._src.state.checkpoint._across_processes import load_newest_via_chief
from unisono._src.state.checkpoint._checkpoint import Checkpoint
from unisono._src.state.checkpoint._policies import Progress, SavePolicy
from unisono._src.state.checkpoint._retention import RetentionRecord, delete_old_checkpoints
from unisono._src.state.checkpoint._writer import CheckpointWriter
from unisono._src.state.store import (
    JSON,
    CheckpointError,
    CheckpointSeries,
    LoadedCheckpoint,
    Location,
    open_checkpoint,
    to_location,
)

_RECORD = "manager"  # the key of the RetentionRecord in the state of a checkpoint


class CheckpointManager:
    """Saves a `Checkpoint` repeatedly, keeps the newest ones, and restores the newest intact one after a restart.

    >>> import tempfile, keras
    >>> from unisono.checkpoint import EverySteps
    >>> model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    >>> checkpoint = Checkpoint(model=model, step=0)
    >>> with CheckpointManager(checkpoint, tempfile.mkdtemp(), max_to_keep=2, policy=EverySteps(10)) as manager:
    ...     manager.restore_or_initialize()
    ...     for checkpoint.step in range(1, 41):
    ...         _ = manager.save()  # at 10, 20, 30 and 40
    >>> [os.path.basename(path) for path in manager.checkpoints]
    ['ckpt-3', 'ckpt-4']

    With several processes, all have to call `save`, `restore_or_initialize`, `wait` and `close`.

    Args:
        checkpoint: the checkpoint to save.
        directory: the folder, which is created if it does not exist, or a URL such as "gs://bucket/runs".
        max_to_keep: how many of the newest checkpoints to keep; None keeps all. Older ones are deleted when a new one
            is complete, except the one that was restored.
        keep_checkpoint_every_n_hours: keeps one of the checkpoints that would be deleted for every n hours.
        checkpoint_name: folders are called ``{checkpoint_name}-{number}``.
        step_counter: anything that `int()` converts to the number of steps. Without it, calls to `save` are counted.
        checkpoint_interval: `save` saves only when that many steps have passed since the last checkpoint.
        init_fn: called by `restore_or_initialize` if there is nothing to restore.
        policy: `save` saves only when the policy says so.
        background: whether to write in a thread, once the values are copied, while training continues.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: str | os.PathLike[str],
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Any = None,
        checkpoint_interval: int | None = None,
        init_fn: Callable[[], Any] | None = None,
        *,
        policy: SavePolicy | None = None,
        background: bool = False,
    ) -> None:
        _check(checkpoint, max_to_keep, keep_checkpoint_every_n_hours, step_counter, checkpoint_interval, policy)
        self._checkpoint, self._directory = checkpoint, os.fspath(directory)
        self._series, self._name = CheckpointSeries(directory, checkpoint_name), checkpoint_name
        self._keep, self._hours = max_to_keep, keep_checkpoint_every_n_hours
        self._step_counter, self._interval, self._init_fn = step_counter, checkpoint_interval, init_fn
        self._policy, self._background = policy, background
        self._writer = CheckpointWriter()
        self._consensus = Consensus()
        self._record: RetentionRecord | None = None
        self._num_calls = 0
        self._saved_step: int | None = None
        self._saved_at = time.monotonic()
        self._num_restores = checkpoint._restored.count

    @property
    def directory(self) -> str:
        """The folder."""
        return self._directory

    @property
    def checkpoint(self) -> Checkpoint:
        """What is saved."""
        return self._checkpoint

    @property
    def checkpoint_interval(self) -> int | None:
        """How many steps there are between two checkpoints."""
        return self._interval

    @property
    def checkpoints(self) -> list[str]:
        """The folders of all complete checkpoints, by their number. Read from the disk of this process."""
        return [self._path(number) for number in self._series.steps()]

    @property
    def latest_checkpoint(self) -> str | None:
        """The last of `checkpoints`, or None."""
        return next(reversed(self.checkpoints), None)

    def save(
        self,
        checkpoint_number: Any = None,
        check_interval: bool = True,
        options: Any = None,
        *,
        epochs: int | None = None,
        logs: Mapping[str, Any] | None = None,
    ) -> str | None:
        """Saves, if it is time to; returns the folder, or None. Call it once for each step.

        Args:
            checkpoint_number: the number in the folder's name; by default one more than the last.
            check_interval: False saves now, without regard to the interval and the policy.
            options: accepted for scripts written for TensorFlow.
            epochs: how many epochs are done, in a call at the end of one: for `EveryEpoch` and `Best`.
            logs: the logs of that epoch, such as {"val_loss": 0.3}: for `Best`.
        """
        del options
        self._num_calls += 1
        step = self._step()
        progress = self._progress(step, epochs, logs)
        due = self._is_due(progress, check_interval)
        mark = self._policy.worth_keeping(progress) if self._policy is not None and due else None
        if epochs is not None and self._policy is not None:
            self._load_record().logs.append(dict(progress.logs))
        if not due:
            return None
        began = time.monotonic()
        self.wait()  # one write at a time; an error of the last one is raised here, on all processes
        number = self._new_number(checkpoint_number)
        self._commit(number, mark)
        self._saved_step, self._saved_at = step, began
        return self._path(number)

    def restore_or_initialize(self) -> str | None:
        """Restores the newest good checkpoint, and returns its folder. Newer ones that are damaged are named in a
        warning. Without any, calls `init_fn` and returns None."""
        self.wait()
        loaded = load_newest_via_chief(self._series)
        if loaded is None:
            if self._init_fn is not None:
                self._init_fn()
            return None
        self._checkpoint._restore_from(loaded, strict=True)
        self._record = _record_in(loaded)
        self._note_restore(self._step())
        return self._path(loaded.number)

    def wait(self) -> None:
        """Waits until the checkpoint that is being written is on disk. Raises the error if writing failed."""
        self._writer.wait()

    def close(self) -> None:
        """The same, at the end."""
        self._writer.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
            return
        try:
            self._writer.close()  # without the other processes, which may be anywhere
        except CheckpointError as failure:
            error.add_note(f"While this was raised, a checkpoint could not be written: {failure}")

    def _path(self, number: int) -> str:
        return os.path.join(self._directory, f"{self._name}-{number}")  # also of a URL

    def _step(self) -> int:
        return self._num_calls if self._step_counter is None else int(self._step_counter)

    def _progress(self, step: int, epochs: int | None, logs: Mapping[str, Any] | None) -> Progress:
        if self._num_restores != self._checkpoint._restored.count:
            self._note_restore(step - 1)
        return Progress(
            step=step,
            saved_step=self._saved_step or 0,
            seconds=time.monotonic() - self._saved_at,
            epochs=epochs,
            logs={name: float(value) for name, value in (logs or {}).items()},
            earlier=self._load_record().logs if epochs is not None and self._policy is not None else (),
        )

    def _note_restore(self, step: int) -> None:
        """The checkpoint that was restored counts as the last one saved."""
        self._saved_step, self._saved_at = step, time.monotonic()
        self._num_restores = self._checkpoint._restored.count

    def _is_due(self, progress: Progress, check_interval: bool) -> bool:
        """Whether to save now: the same answer on all processes."""
        alone = processes().count == 1
        if alone and self._writer.has_failed():
            self._writer.wait()
        if not check_interval:
            return True
        if self._interval is not None and self._saved_step is not None:
            return progress.step - self._saved_step >= self._interval and self._is_due_by_policy(progress, alone)
        return self._is_due_by_policy(progress, alone)

    def _is_due_by_policy(self, progress: Progress, alone: bool) -> bool:
        if self._policy is None or self._policy.due(dataclasses.replace(progress, seconds=0.0)):
            return True
        if alone:
            return self._policy.due(progress)
        # Clocks differ: the chief's decides, and all get the answer after the same call.
        return bool(self._consensus.vote(processes().is_chief and self._policy.due(progress)))

    def _new_number(self, given: Any) -> int:
        counter = self._checkpoint.save_counter
        if given is not None:
            counter.assign_add(1)
            return int(given)
        # Higher than all that exist, restored or not: a newer checkpoint has a higher number, and none is overwritten.
        newest = int(run_on_chief(lambda: max(self._series.steps(), default=0)))
        return int(counter.assign(max(int(counter), newest) + 1))

    def _commit(self, number: int, mark: str | None) -> None:
        record = self._load_record()
        record.note(number, mark)
        snapshot = self._checkpoint._snapshot(**{_RECORD: record.to_json()})
        restored = self._restored_folder()

        def delete_old() -> None:
            in_use = [each for each in self._series.steps() if each == number or self._series.path(each) == restored]
            delete_old_checkpoints(self._series, record, self._keep, self._hours, in_use)

        write = self._writer.start if self._background else self._writer.write
        info = {} if mark is None else {"kept": mark}
        write(snapshot, number, lambda: self._series.path(number), info=info, after=delete_old)

    def _restored_folder(self) -> Location | None:
        """The one that was restored from, which is kept however old it becomes."""
        folder = self._checkpoint._restored.folder
        return None if folder is None else to_location(folder)

    def _load_record(self) -> RetentionRecord:
        """The record of earlier managers of this folder, read from the newest good checkpoint if it is needed. All
        processes have to call it, and get the same: policies decide by it."""
        if self._record is None:
            needs_old = self._policy is not None or self._hours is not None

            def read() -> JSON:
                loaded = self._series.load_newest_good(open_checkpoint)[0] if needs_old else None
                return None if loaded is None else _record_in(loaded).to_json()

            self._record = RetentionRecord.from_json(run_on_chief(read))
        return self._record


def _record_in(loaded: LoadedCheckpoint) -> RetentionRecord:
    return RetentionRecord.from_json(loaded.state.get(_RECORD) if isinstance(loaded.state, dict) else None)


def _check(checkpoint: Any, keep: Any, hours: Any, step_counter: Any, interval: Any, policy: Any) -> None:
    if not isinstance(checkpoint, Checkpoint):
        raise TypeError(
            f"CheckpointManager: expected a Checkpoint, got {type(checkpoint).__name__}. "
            f"Write CheckpointManager(Checkpoint(model=model), directory)."
        )
    if keep is not None and (not isinstance(keep, int) or keep < 1):
        raise ValueError(f"CheckpointManager: max_to_keep must be at least 1, or None to keep all, got {keep!r}.")
    if hours is not None and not hours > 0:
        raise ValueError(f"CheckpointManager: keep_checkpoint_every_n_hours must be above 0, got {hours!r}.")
    if interval is not None and step_counter is None:
        raise ValueError("CheckpointManager: checkpoint_interval needs a step_counter, as optimizer.iterations.")
    if policy is not None and not isinstance(policy, SavePolicy):
        raise TypeError(f"CheckpointManager: expected a policy, as EverySteps(100), got {policy!r}.")
