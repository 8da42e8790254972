"""`MLflow`: logs a `fit` to MLflow.

MLflow keeps every point that it is given, also a second one for the same step, so a resumed run asks the server which
steps it has.
"""

from __future__ import annotations

import atexit
import re
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from unisono._src.core import warn_user
from unisono._src.training.callbacks._point_sender import PointSender
from unisono._src.training.callbacks._tracker import Point, Tracker

# Runs that a callback has begun and not ended. If an exception ends `fit`, MLflow would show them as finished.
_open_runs: Final[dict[str, PointSender]] = {}

_NOT_IN_NAMES: Final = re.compile(r"[^\w./: -]")  # MLflow refuses the whole request if one name has another character
_SECONDS_TO_SEND: Final = 10.0  # the last points of a `fit` that an exception has ended

KEPT = "the points are kept, and are sent when the server answers again."


class MLflow(Tracker):
    """Logs metrics, parameters and files of a `fit` to MLflow.

    Metrics have the names of Keras's logs and one point per epoch, counted from 0. With ``update_freq``, there are also
    `batch_loss` and so on, over steps. With several workers, only the chief logs. A resumed run continues the same run
    in MLflow, without duplicate steps. If a run is active, the callback uses it and does not end it.

    Args:
        experiment: name of the experiment (default: the one set by `mlflow.set_experiment` or MLFLOW_EXPERIMENT_NAME).
        run_name: name of the run (default: MLflow generates one).
        params: parameters of the run, such as `{"batch_size": 256}`.
        update_freq: "epoch"; or a number n, for points every n steps as well; or "batch" for n = 1.
        artifacts: files and folders to upload when training has finished, such as the file of a `ModelCheckpoint`.

    ```python
    mlflow.set_tracking_uri("http://127.0.0.1:5000")
    model.fit(x, y, epochs=10, callbacks=[unisono.callbacks.MLflow("mnist", params={"batch_size": 256})])
    ```
    """

    _package = "mlflow"

    def __init__(
        self,
        experiment: str | None = None,
        run_name: str | None = None,
        params: Mapping[str, Any] | None = None,
        update_freq: Literal["batch", "epoch"] | int = "epoch",
        artifacts: Iterable[str | Path] = (),
    ):
        super().__init__(update_freq, artifacts)
        self._experiment, self._run_name, self._params = experiment, run_name, dict(params or {})
        self._owns_run = False
        self._logged: dict[str, set[int]] = {}
        self._sender: PointSender | None = None
        self._client: Any = None
        self._has_warned = False

    def _open(self, run_id: str) -> str:
        import mlflow

        self._client = mlflow.MlflowClient()
        active = mlflow.active_run()
        if active is not None and active.info.run_id in _open_runs:  # of an earlier `fit`
            _fail(active.info.run_id)
            active = None
        self._owns_run = active is None
        if active is None:
            if self._experiment is not None and not run_id:
                mlflow.set_experiment(self._experiment)
            active = mlflow.start_run(run_id=run_id or None, run_name=None if run_id else self._run_name)
        is_continued, run_id = run_id == active.info.run_id, active.info.run_id
        metrics = self._client.get_run(run_id).data.metrics if is_continued else {}
        self._logged = {
            name: {point.step for point in self._client.get_metric_history(run_id, name)} for name in metrics
        }
        if self._params and not is_continued:
            mlflow.log_params(self._params, run_id=run_id)
        self._sender, self._has_warned = PointSender(partial(_send, self._client, run_id)), False
        if self._owns_run:
            _open_runs[run_id] = self._sender
            atexit.register(_fail, run_id)
        return run_id

    def _has(self, point: Point) -> bool:
        return all(point.step in self._logged.get(name, ()) for name in _metrics(point))

    def _log(self, point: Point) -> None:
        assert self._sender is not None
        self._sender.put(point)
        if self._sender.failure is not None and not self._has_warned:
            self._has_warned = True
            warn_user(f"MLflow: {self._sender.failure} Training continues; {KEPT}")

    def _unconfirmed(self) -> list[Point]:
        assert self._sender is not None
        return self._sender.unsent()

    def _upload(self, path: Path) -> None:
        if path.is_dir():
            self._client.log_artifacts(self.run_id, str(path), path.name)
        else:
            self._client.log_artifact(self.run_id, str(path))

    def _close(self) -> None:
        import mlflow

        assert self._sender is not None
        lost = self._sender.close()
        if lost:
            warn_user(
                f"MLflow: {len(lost)} points of run {self.run_id} are not on the server, the first of them at "
                f"{lost[0].level} {lost[0].step}: {self._sender.failure}"
            )
        if self._owns_run:
            mlflow.end_run()
            del _open_runs[self.run_id]


def _send(client: Any, run_id: str, points: list[Point]) -> None:
    import mlflow

    # A point that is sent again, because the answer was lost, is the same by its time: MLflow stores it once.
    client.log_batch(
        run_id,
        [mlflow.entities.Metric(name, value, p.time, p.step) for p in points for name, value in _metrics(p).items()],
    )


def _fail(run_id: str) -> None:
    """Ends a run that an exception has left open. MLflow would show it as finished."""
    import mlflow

    active = mlflow.active_run()
    sender = _open_runs.pop(run_id, None)
    if sender is not None and active is not None and active.info.run_id == run_id:
        sender.close(_SECONDS_TO_SEND)
        mlflow.end_run("FAILED")


def _metrics(point: Point) -> dict[str, float]:
    """Curves over steps and over epochs differ in name: MLflow has one axis for each name. `top@5` is "top_5"."""
    prefix = "batch_" if point.level == "batch" else ""
    return {_NOT_IN_NAMES.sub("_", f"{prefix}{name}"): value for name, value in point.values.items()}
