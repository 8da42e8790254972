"""`Wandb`: logs a `fit` to Weights & Biases.

wandb's own Keras callbacks import TensorFlow. The names and axes of the metrics are theirs.

A resumed run continues the same run of wandb. Online, the server returns its last values; offline, each process writes
a file of its own, and the earlier ones are read. wandb numbers its rows (`_step`): offline, the first row of a resumed
run gets the number after the last one, so that `wandb sync` uploads the files as one run.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, Literal

from unisono._src.training.callbacks._tracker import Point, Tracker
from unisono._src.training.callbacks._wandb_files import BLOCK, read_rows

_AXES: Final = {"batch": "batch/batch_step", "epoch": "epoch/epoch"}

# Runs that a callback has begun and not ended: an exception ended `fit`.
_open_runs: Final[set[str]] = set()


class Wandb(Tracker):
    """Logs metrics and files of a `fit` to Weights & Biases, with the names of `WandbMetricsLogger`.

    `epoch/loss` and so on have one point per epoch over `epoch/epoch`, counted from 0. With ``update_freq``,
    `batch/loss` and so on have points over `batch/batch_step`, the number of steps. With several workers, only the
    chief logs. A resumed run continues the same run in wandb, without duplicate steps. If a run is active
    (`wandb.init`), the callback uses it and does not end it.

    Args:
        update_freq: "epoch"; or a number n, for points every n steps as well; or "batch" for n = 1.
        artifacts: files and folders to upload when training has finished, such as the file of a `ModelCheckpoint`.
        init: arguments of `wandb.init`: `project`, `name`, `config`, `mode`, `dir` and so on.

    ```python
    model.fit(x, y, epochs=10, callbacks=[unisono.callbacks.Wandb(project="mnist", config={"batch_size": 256})])
    ```
    """

    _package = "wandb"

    def __init__(
        self,
        update_freq: Literal["batch", "epoch"] | int = "epoch",
        artifacts: Iterable[str | Path] = (),
        **init: Any,
    ):
        super().__init__(update_freq, artifacts)
        self._init = init
        self._run: Any = None
        self._owns_run = False
        self._last: dict[str, float] = {}
        self._first_row: int | None = None
        self._kept: deque[tuple[Point, int]] = deque()
        self._kept_size = 0

    def _open(self, run_id: str) -> str:
        import wandb

        if wandb.run is not None and wandb.run.id in _open_runs:
            _open_runs.discard(wandb.run.id)
            wandb.run.finish(exit_code=1)
        self._owns_run = wandb.run is None
        arguments = {**self._init, "id": run_id or self._init.get("id"), "resume": self._init.get("resume") or "allow"}
        self._run = wandb.run if wandb.run is not None else wandb.init(**arguments)
        if self._owns_run:
            _open_runs.add(self._run.id)
        self._last, self._first_row = {}, None
        if self._is_resumed and run_id == self._run.id:
            self._find_last_points()
        for level, axis in _AXES.items():
            self._run.define_metric(axis)
            self._run.define_metric(f"{level}/*", step_metric=axis)
        self._kept, self._kept_size = deque(), 0
        return str(self._run.id)

    def _find_last_points(self) -> None:
        self._last = {axis: self._run.summary.get(axis, -1) for axis in _AXES.values()}
        for row in read_rows(Path(self._run.dir).parents[1], self._run.id):
            self._last |= {axis: row[axis] for axis in _AXES.values() if axis in row}
            self._first_row = row["_step"] + 1

    def _has(self, point: Point) -> bool:
        return point.step <= self._last.get(_AXES[point.level], -1)

    def _log(self, point: Point) -> None:
        row = {f"{point.level}/{name}": value for name, value in point.values.items()}
        if self._first_row is None:
            self._run.log({**row, _AXES[point.level]: point.step})
        else:
            self._run.log({**row, _AXES[point.level]: point.step}, step=self._first_row, commit=True)
            self._first_row = None
        self._kept.append((point, len(json.dumps(point))))
        self._kept_size += self._kept[-1][1]
        while self._kept_size - self._kept[0][1] > BLOCK:
            self._kept_size -= self._kept.popleft()[1]

    def _unconfirmed(self) -> list[Point]:
        """What the last block of the file may have, which is not on disk yet."""
        return [point for point, _ in self._kept]

    def _upload(self, path: Path) -> None:
        import wandb

        name = re.sub(r"[^A-Za-z0-9_.-]", "_", f"run_{self.run_id}_{path.name}")  # wandb refuses other letters
        artifact = wandb.Artifact(name, type="model")
        if path.is_dir():
            artifact.add_dir(str(path))
        else:
            artifact.add_file(str(path))
        self._run.log_artifact(artifact)

    def _close(self) -> None:
        if self._owns_run:
            _open_runs.discard(self.run_id)
            self._run.finish()
