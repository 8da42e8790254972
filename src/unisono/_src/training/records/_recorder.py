"""Records a `fit` in the folder of its run, from what the loop knows anyway.

Nothing here waits for a device: an epoch is recorded when its logs were fetched, and within an epoch the logs of a
call are written once they are there. docs/reports.md describes the lines.
"""

from __future__ import annotations

import contextlib
import contextvars
import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from unisono._src import keras_hooks
from unisono._src.core import (
    RUN_VERSION,
    FitFacts,
    active_fit_facts,
    collect_fit_facts,
    divide_time,
    measure,
    read_environment,
)
from unisono._src.devices import is_computed
from unisono._src.processes import Preempted, processes, run_dir_of_worker
from unisono._src.state.store import to_location
from unisono._src.training._resume import Resume, run_folder
from unisono._src.training.records._run_files import RunFiles
from unisono_launch.worker import PREEMPTED

# Between two lines within an epoch: so many seconds, or this share of the time so far. A run of ten days has 800 lines.
_SECONDS: Final = 5.0
_SHARE: Final = 0.01

_num_fits: Counter[Path] = Counter()
_is_recorded = contextvars.ContextVar("is_recorded", default=True)


@contextlib.contextmanager
def without_recording() -> Iterator[None]:
    """Each `fit` in this block is an experiment, which is not part of the run."""
    token = _is_recorded.set(False)
    try:
        yield
    finally:
        _is_recorded.reset(token)


@contextlib.contextmanager
def recording(resume: Resume | None) -> Iterator[RunRecorder | None]:
    """The recorder of one `fit`; None on workers that are not the chief, and for a `fit` without a folder of its run.

    The folder is that of ``resume``, else the one of `unisono run`. If the first is a URL, it is the second too: lines
    cannot be appended to a file in a bucket.
    """
    folders = [None if resume is None else run_folder(resume), run_dir_of_worker()]
    paths = [path for path in (to_location(folder) for folder in folders if folder) if isinstance(path, Path)]
    if not paths or not _is_recorded.get():
        yield None
        return
    _num_fits[paths[0]] += 1
    if not processes().is_chief:
        yield None
        return
    with contextlib.ExitStack() as stack:
        facts = active_fit_facts() or stack.enter_context(collect_fit_facts())
        recorder = RunRecorder(RunFiles(paths[0]), facts, _num_fits[paths[0]])
        try:
            yield recorder
        except BaseException as error:
            recorder.end(error)
            raise
        recorder.end(None)


class _Span:
    """A stretch of time, and what the collector and the loop had counted when it began."""

    def __init__(self, facts: FitFacts, step: int) -> None:
        self._facts = facts
        self._times, self._began, self._first_step = facts.times(), time.perf_counter(), step
        self._validation_times = dict.fromkeys(self._times, 0.0)
        self._validation_seconds = 0.0

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._began

    def exclude(self, before: Mapping[str, float], seconds: float) -> None:
        """A validation that began at the times ``before`` took ``seconds``. What was timed in it is part of it, except
        the compilation of its program."""
        took = {name: now - before[name] for name, now in self._facts.times().items()}
        compiling = took.pop("compile_seconds")
        for name, value in took.items():
            self._validation_times[name] += value
        self._validation_seconds += seconds - compiling

    def summarize(self, step: int, batch: int | None) -> dict[str, Any]:
        """Steps, speed and parts of the time until now."""
        now, seconds, steps = self._facts.times(), self.seconds, step - self._first_step
        times = {name: now[name] - self._times[name] - self._validation_times[name] for name in now}
        parts = divide_time(seconds, self._validation_seconds, times)
        training = max(seconds - parts["validation"] - parts["compile"], 1e-9)
        return {
            "steps": steps,
            "seconds": round(seconds, 6),
            "steps_per_second": _round(steps / training),
            "rows_per_second": None if batch is None else _round(steps * batch / training),
            "parts": {name: round(value, 6) for name, value in parts.items()},
        }


class RunRecorder:
    """Writes the lines of one `fit`.

    Args:
        files: where.
        facts: the collector that is active.
        fit: the number of this `fit` among those of the process in this folder, from 1.
    """

    def __init__(self, files: RunFiles, facts: FitFacts, fit: int) -> None:
        self._files, self._facts, self._fit = files, facts, fit
        self._began = time.perf_counter()
        self._batch: int | None = None
        self._epoch = self._step = 0
        self._has_begun = False
        self._epoch_span = self._line_span = _Span(facts, 0)
        self._next_line = math.inf
        self._waiting: tuple[dict[str, Any], Any] | None = None  # a line whose logs are not computed yet
        self._read_rate: Any = None

    def begin(
        self, model: Any, run: Mapping[str, Any], description: Mapping[str, Any], epoch: int, step: int, resumed: bool
    ) -> None:
        """The first epoch is about to begin."""
        self._batch, self._epoch, self._step, self._has_begun = description["batch"], epoch, step, True
        self._read_rate = keras_hooks.learning_rate_reader(model)
        self._files.describe(self._fit, run, description)
        startup = time.perf_counter() - self._began
        line = self._line(
            "start",
            version=RUN_VERSION,
            attempt=read_environment().attempt,
            resumed=resumed,
            workers=run["workers"],
            devices=sum(each["count"] for each in run["devices"]),
            startup_seconds=round(startup, 6),
            open_input_seconds=round(self._facts.open_input_seconds, 6),
        )
        self._files.append(line, quiet=True)

    def begin_epoch(self, epoch: int, step: int) -> None:
        """The steps of an epoch follow."""
        self._epoch, self._step, self._waiting = epoch, step, None
        self._epoch_span = self._line_span = _Span(self._facts, step)
        self._next_line = time.perf_counter() + _SECONDS

    def after_call(self, step: int, logs: Any) -> None:
        """Some steps were started; ``logs`` are those of the last one, computed or not."""
        self._step = step
        if self._waiting is not None and is_computed(self._waiting[1]):
            self._write_waiting()
        now = time.perf_counter()
        if now < self._next_line or self._waiting is not None:
            return
        self._waiting = self._line("steps", **self._line_span.summarize(step, self._batch)), logs
        self._line_span = _Span(self._facts, step)
        self._next_line = now + max(_SECONDS, _SHARE * (now - self._began))

    @contextlib.contextmanager
    def validation(self) -> Iterator[None]:
        """What happens in the block is validation, whatever is timed in it."""
        before, began = self._facts.times(), time.perf_counter()
        with measure("validation_seconds"):
            yield
        self._epoch_span.exclude(before, time.perf_counter() - began)

    def end_epoch(self, epoch: int, step: int, logs: Mapping[str, Any]) -> None:
        """An epoch has ended; its logs were fetched, and no step is running."""
        self._epoch, self._step = epoch, step
        self._write_waiting()
        summary = self._epoch_span.summarize(step, self._batch)
        self._files.append(self._line("epoch", **summary, learning_rate=self._read_rate(), metrics=to_metrics(logs)))

    def end(self, error: BaseException | None) -> None:
        """The `fit` has ended, by ``error`` if it is not None."""
        if self._has_begun or error is not None:
            self._files.append(self._line("end", reason=_describe_end(error)), quiet=error is not None)
        self._files.close()

    def _write_waiting(self) -> None:
        if self._waiting is not None:
            line, logs = self._waiting
            self._waiting = None
            self._files.append({**line, "metrics": to_metrics(logs)})

    def _line(self, kind: str, **values: Any) -> dict[str, Any]:
        first = {"kind": kind, "fit": self._fit, "time": round(time.time(), 3)}
        return {**first, "epoch": self._epoch, "step": self._step, **values}


def to_metrics(logs: Any) -> dict[str, float]:
    """The logs that are single numbers."""
    if not isinstance(logs, Mapping):
        return {}
    arrays = {str(name): np.asarray(value) for name, value in logs.items()}
    found = {name: array.item() for name, array in arrays.items() if array.size == 1}
    return {name: float(value) for name, value in found.items() if isinstance(value, int | float)}


def _describe_end(error: BaseException | None) -> str:
    if error is None:
        return "finished"
    if isinstance(error, Preempted) or (isinstance(error, SystemExit) and error.code == PREEMPTED):
        return "preempted"
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"[:300]


def _round(value: float) -> float:
    return float(f"{value:.5g}")
