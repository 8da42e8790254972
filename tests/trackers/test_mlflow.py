"""`MLflow` with a real server, read back over its REST API."""

from __future__ import annotations

import json
import urllib.parse
import urllib.request
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from tests.trackers.conftest import BATCH_STEPS, EPOCHS, FIT, Train, losses_of, run_python

pytestmark = pytest.mark.trackers

Runs = Callable[[], list[dict[str, Any]]]


def _get(address: str, path: str, **query: str) -> Any:
    url = f"{address}/api/2.0/mlflow/{path}"
    with urllib.request.urlopen(f"{url}?{urllib.parse.urlencode(query)}", timeout=30) as response:
        return json.load(response)


def _post(address: str, path: str, **values: Any) -> Any:
    data, kind = json.dumps(values).encode(), {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}/api/2.0/mlflow/{path}", data, kind)
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)


def _search(address: str, experiment: str) -> Any:
    """All runs, the newest first."""
    return _post(address, "runs/search", experiment_ids=[experiment]).get("runs", [])


@pytest.fixture
def experiment(mlflow_server: str, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """The address of the server, and the id of an empty experiment that the processes of this test use."""
    monkeypatch.setenv("MLFLOW_TRACKING_URI", mlflow_server)
    name = uuid.uuid4().hex
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", name)
    return mlflow_server, _post(mlflow_server, "experiments/create", name=name)["experiment_id"]


def _curves(address: str, run: Any) -> dict[str, list[tuple[int, float]]]:
    names = [metric["key"] for metric in run["data"]["metrics"]]
    histories = {
        name: _get(address, "metrics/get-history", run_id=run["info"]["run_id"], metric_key=name)["metrics"]
        for name in names
    }
    return {name: sorted((int(p.get("step", 0)), p["value"]) for p in points) for name, points in histories.items()}


def _check_complete(address: str, run: Any, losses: list[float]) -> None:
    """Every step is there once, with the values of a run that nobody disturbed."""
    curves = _curves(address, run)
    epoch = {"loss", "mae", "val_loss", "val_mae", "learning_rate"}
    assert curves.keys() == epoch | {"batch_loss", "batch_mae"}
    for name, points in curves.items():
        assert [step for step, _ in points] == (EPOCHS if name in epoch else BATCH_STEPS), name
    assert [value for _, value in curves["val_loss"]] == pytest.approx(losses, abs=1e-12)
    assert run["info"]["status"] == "FINISHED"
    assert {param["key"]: param["value"] for param in run["data"]["params"]} == {"batch_size": "8"}
    listed = _get(address, "artifacts/list", run_id=run["info"]["run_id"])
    assert [file["path"] for file in listed["files"]] == ["model.keras"]


def test_a_run_that_is_killed_twice_is_one_run_with_every_step_once(experiment: tuple[str, str], train: Train) -> None:
    address, number = experiment
    for step in (13, 19):
        train("mlflow", "--kill-after", str(step), succeeds=False)
        (run,) = _search(address, number)
        assert run["info"]["status"] == "RUNNING"
    output = train("mlflow")
    (run,) = _search(address, number)
    assert run["info"]["run_id"] in output
    assert run["info"]["run_name"] == "first"
    _check_complete(address, run, losses_of(output))


@pytest.mark.parametrize("rank", [0, 1])
def test_the_chief_of_two_workers_logs_and_a_restarted_job_continues_its_run(
    experiment: tuple[str, str], train: Train, rank: int
) -> None:
    address, number = experiment
    output = train("mlflow", "--kill-after", "14", "--kill-rank", str(rank), workers=2)
    (run,) = _search(address, number)
    _check_complete(address, run, losses_of(output))


def test_a_job_that_is_restarted_before_its_first_checkpoint_continues_its_run(
    experiment: tuple[str, str], train: Train
) -> None:
    address, number = experiment
    output = train("mlflow", "--kill-after", "6", "--save-every", "100", workers=1)
    (run,) = _search(address, number)
    _check_complete(address, run, losses_of(output))


def test_a_fit_that_raises_is_a_failed_run(experiment: tuple[str, str], train: Train) -> None:
    address, number = experiment
    assert "a mistake in a callback" in train("mlflow", "--fail-after", "11", succeeds=False)
    (run,) = _search(address, number)
    assert run["info"]["status"] == "FAILED"
    assert [step for step, _ in _curves(address, run)["batch_loss"]] == BATCH_STEPS[:5]


def test_a_run_that_is_active_is_used_and_not_ended(experiment: tuple[str, str]) -> None:
    address, number = experiment
    active = """
import mlflow
with mlflow.start_run() as active:
    mlflow.log_param("mine", 1)
    fit(unisono.callbacks.MLflow(params={"theirs": 2}))
    print(mlflow.get_run(active.info.run_id).info.status)
"""
    assert "RUNNING" in run_python("-c", FIT + active)
    (run,) = _search(address, number)
    assert run["info"]["status"] == "FINISHED"
    assert {param["key"] for param in run["data"]["params"]} == {"mine", "theirs"}
    assert [step for step, _ in _curves(address, run)["loss"]] == [0, 1]


def test_the_fit_after_one_that_failed_has_a_run_of_its_own(experiment: tuple[str, str]) -> None:
    address, number = experiment
    failed = """
try:
    fit(unisono.callbacks.MLflow(), keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: 1 / 0))
except ZeroDivisionError:
    fit(unisono.callbacks.MLflow())
"""
    run_python("-c", FIT + failed)
    assert [run["info"]["status"] for run in _search(address, number)] == ["FINISHED", "FAILED"]


def test_the_callback_of_mlflow_itself_logs_on_one_worker(experiment: tuple[str, str]) -> None:
    address, number = experiment
    own = """
import mlflow
with mlflow.start_run():
    print("losses", fit(mlflow.keras.MlflowCallback()).history["loss"])
"""
    output = run_python("-c", FIT + own)
    (run,) = _search(address, number)
    assert [value for _, value in _curves(address, run)["loss"]] == pytest.approx(losses_of(output))
