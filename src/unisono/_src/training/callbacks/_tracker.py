"""What callbacks for experiment trackers have in common: which points are logged, by whom, and in which run.

A tracker takes points one after the other and cannot take them back. A run that was killed had logged points beyond its
last checkpoint, which the resumed run computes again; and the tracker's client may have lost the last points before
the checkpoint, which it sends or writes later than it takes them. So each checkpoint holds the id of the tracker's run
and the last points, and a resumed run logs those that the tracker does not have.
"""

from __future__ import annotations

import importlib.util
import re
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import keras

from unisono._src.core import read_environment, warn_user
from unisono._src.keras_hooks import pythonify
from unisono._src.processes import processes
from unisono._src.state.checkpoint import run_on_all
from unisono._src.training.callbacks._batch_counter import BatchCounter
from unisono._src.training.callbacks._learning_rates import learning_rates

_LEVELS: Final = ("batch", "epoch")
_RUN_ID: Final = re.compile(r"[^/\\#?%:\x00-\x1f]{0,128}")  # what wandb allows; an id becomes a part of paths

NOT_INSTALLED = (
    """unisono.callbacks.{kind} needs the package {package}, which is not installed: pip install {package}"""
)

BAD_STATE = """The checkpoint has {found!r:.200} as {name!r} of the callback {kind}, which that did not write. Use a
checkpoint of your own, or begin again in another folder."""

NOT_DONE = "{kind}: {what}: {error}. The training itself is complete."


class Point(NamedTuple):
    """Values at a step: of an epoch, counted from 0, or of a batch, the number of steps of all epochs."""

    level: str
    step: int
    values: dict[str, float]
    time: int  # in milliseconds, since 1970


class Tracker(keras.callbacks.Callback):
    """Logs to an experiment tracker, of several workers on the chief alone. A resumed run continues the same run there.

    Attributes:
        run_id: the tracker's id of the run, once training has begun; empty on workers other than the chief.
    """

    _package: str

    def __init__(self, update_freq: Literal["batch", "epoch"] | int, artifacts: Iterable[str | Path]):
        super().__init__()
        kind = type(self).__name__
        if importlib.util.find_spec(self._package) is None:
            raise ImportError(NOT_INSTALLED.format(kind=kind, package=self._package))
        self.update_freq = 1 if update_freq == "batch" else update_freq
        if self.update_freq != "epoch" and not (type(self.update_freq) is int and self.update_freq > 0):
            raise ValueError(
                f'{kind}: update_freq={update_freq!r}. Expected "epoch", "batch", or every how many steps a point is '
                "logged: update_freq=100."
            )
        if isinstance(artifacts, str | Path):
            raise TypeError(f"{kind}: artifacts={str(artifacts)!r}. Expected a list of files and folders.")
        self.artifacts = [Path(path) for path in artifacts]
        self.run_id = ""
        self._counter = BatchCounter()
        self._recent: list[Point] = []
        self._is_open = self._is_resumed = False

    @abstractmethod
    def _open(self, run_id: str) -> str:
        """Continues the tracker's run ``run_id``, or begins a new one if it is empty. Returns its id."""

    @abstractmethod
    def _has(self, point: Point) -> bool:
        """Whether the run that was continued has this point."""

    @abstractmethod
    def _log(self, point: Point) -> None:
        """Hands a point to the tracker."""

    @abstractmethod
    def _unconfirmed(self) -> list[Point]:
        """Points, in order, that may be lost if all processes are killed now."""

    @abstractmethod
    def _upload(self, path: Path) -> None:
        """Adds a file or folder to the run."""

    @abstractmethod
    def _close(self) -> None:
        """Ends the run, when all points have arrived."""

    def prepare_for_resume(self, epoch: int, step: int) -> None:
        """`fit` calls it before `on_train_begin` of a run that resumes, or that died before its first checkpoint."""
        self._is_resumed = True

    def on_train_begin(self, logs: Any = None) -> None:
        """Counts from the first step. The run is opened when its id is known: a resume sets it after this."""
        self._counter, self._recent, self.run_id, self._is_open = BatchCounter(), [], "", False

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Opens the run before the first epoch."""
        self._counter.begin_epoch(epoch)
        if not self._is_open:
            run_on_all(self._open_on_chief)
            self._is_open = True

    @property
    def on_train_batch_end(self) -> Any:
        """The batch hook, if points are logged between epochs. Otherwise training does not wait for logs."""
        return self._after_call if self.update_freq != "epoch" else super().on_train_batch_end

    def _after_call(self, batch: int, logs: Any = None) -> None:
        before, steps, every = self._counter.steps, self._counter.end_batch(batch), int(self.update_freq)
        if steps // every > before // every:
            self._add("batch", steps, logs)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Logs the values of the epoch and the learning rate."""
        self._add("epoch", epoch, {**(logs or {}), **learning_rates(self.model)})

    def on_train_end(self, logs: Any = None) -> None:
        """Uploads the artifacts and ends the run. What fails is a warning: the script has yet to save its model."""
        if not self._is_open:
            return
        self._is_open = self._is_resumed = False
        if processes().is_chief:
            for path in self.artifacts:
                self._try(partial(self._upload, path), f"{path} is not uploaded")
            self._try(self._close, f"run {self.run_id} is not marked as ended")
            file = self._id_file()
            if file is not None:
                file.unlink(missing_ok=True)

    def _add(self, level: str, step: int, logs: Mapping[str, Any] | None) -> None:
        """Adds a point of the logs that are single numbers. Those of `F1Score`, one for each class, are no point."""
        if processes().is_chief:
            values = {name: value for name, value in pythonify(logs or {}).items() if isinstance(value, float)}
            self._log_once(Point(level, step, values, time.time_ns() // 1_000_000))

    def _try(self, action: Callable[[], None], what: str) -> None:
        try:
            action()
        except Exception as error:
            warn_user(NOT_DONE.format(kind=type(self).__name__, what=what, error=str(error).rstrip(".")))

    def _log_once(self, point: Point) -> None:
        if not (self._is_resumed and self._has(point)):
            self._log(point)

    def _open_on_chief(self) -> None:
        if not processes().is_chief:
            return
        file, run_id = self._id_file(), self.run_id
        if self._is_resumed and not run_id and file is not None and file.exists():
            run_id = _check_run_id(self, file.read_text(encoding="utf-8").strip())
        self.run_id = self._open(run_id)
        if file is not None:
            file.write_text(self.run_id + "\n", encoding="utf-8")
        for point in self._recent:
            self._log_once(point)
        self._recent = []

    def _id_file(self) -> Path | None:
        """For a job that is restarted before its first checkpoint: in the folder of `unisono run`, if it is local."""
        folder = read_environment().run_dir
        return None if folder is None or "://" in folder else Path(folder) / f"{self._package}-run-id"

    def get_state(self) -> dict[str, Any]:
        """What a resume needs: the steps, the run, and the points that it may lack."""
        recent = self._unconfirmed() if self._is_open and processes().is_chief else self._recent
        return {"counter": self._counter.get_state(), "run_id": self.run_id, "recent": [[*point] for point in recent]}

    def set_state(self, state: dict[str, Any]) -> None:
        """Resumes from ``state``."""
        self._counter.set_state(state["counter"])
        if not self._is_open:  # within an epoch it is restored again, after the run was opened
            self.run_id = _check_run_id(self, state["run_id"])
            self._recent = [_check_point(self, point) for point in state["recent"]]


def _check_run_id(callback: Tracker, found: Any) -> str:
    if not isinstance(found, str) or not _RUN_ID.fullmatch(found):
        raise ValueError(BAD_STATE.format(found=found, name="run_id", kind=type(callback).__name__))
    return found


def _check_point(callback: Tracker, found: Any) -> Point:
    if isinstance(found, list) and len(found) == len(Point._fields) and isinstance(found[2], dict):
        point = Point(*found)
        numbers = [point.step, point.time, *point.values.values()]
        if point.level in _LEVELS and all(type(number) in (int, float) for number in numbers):
            return point
    raise ValueError(BAD_STATE.format(found=found, name="recent", kind=type(callback).__name__))
