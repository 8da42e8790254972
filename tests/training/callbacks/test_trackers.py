"""What can be tested of the callbacks for trackers without any tracker. `tests/trackers` has the rest."""

import importlib.machinery
import sys
import threading
import types
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

import unisono
from unisono._src.training.callbacks import _mlflow
from unisono._src.training.callbacks._point_sender import MOST_VALUES, PointSender
from unisono._src.training.callbacks._tracker import Point, Tracker


class _Lists(Tracker):
    """A tracker of two lists."""

    _package = "json"

    def __init__(self, **arguments: Any):
        super().__init__(**{"update_freq": "epoch", "artifacts": (), **arguments})
        self.log: list[Point] = []

    def _open(self, run_id: str) -> str:
        return run_id or "new"

    def _has(self, point: Point) -> bool:
        return False

    def _log(self, point: Point) -> None:
        self.log.append(point)

    def _unconfirmed(self) -> list[Point]:
        return self.log

    def _close(self) -> None: ...

    _upload = None


@pytest.mark.parametrize(("kind", "package"), [("MLflow", "mlflow"), ("Wandb", "wandb")])
def test_a_package_that_is_missing_is_named(kind: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=f"callbacks.{kind} needs the package {package}.*: pip install {package}"):
        getattr(unisono.callbacks, kind)()


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "step", True])
def test_an_update_freq_that_means_nothing_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"_Lists: update_freq=.* Expected"):
        _Lists(update_freq=wrong)


def test_artifacts_are_a_list() -> None:
    with pytest.raises(TypeError, match=r"artifacts='best.keras'. Expected a list"):
        _Lists(artifacts="best.keras")


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("run_id", "../other"),
        ("run_id", 5),
        ("recent", [["epoch", 0, {"loss": "0.5"}, 0]]),
        ("recent", [["step", 0, {"loss": 0.5}, 0]]),
        ("recent", ["epoch"]),
    ],
)
def test_a_state_that_the_callback_did_not_write_is_refused(name: str, wrong: Any) -> None:
    callback = _Lists()
    callback.on_train_begin()
    state = callback.get_state()
    with pytest.raises(ValueError, match=f"as '{name}' of the callback _Lists"):
        callback.set_state({**state, name: wrong})


def test_logs_that_are_no_single_numbers_are_not_logged() -> None:
    callback = _Lists(update_freq=1)
    callback.on_train_begin()
    callback.on_train_batch_end(0, {"loss": np.float32(0.5), "f1_score": np.ones(3), "phase": "warm-up"})
    assert [point.values for point in callback.log] == [{"loss": 0.5}]


@pytest.mark.parametrize("run_id", ["", "mnist.v2", "lr=0.1 seed+3", "\ud559\uc2b5-1", "a[1]"])
def test_a_state_with_an_id_that_the_user_chose_is_restored(run_id: str) -> None:
    callback = _Lists()
    callback.on_train_begin()
    callback.set_state({**callback.get_state(), "run_id": run_id})
    assert callback.run_id == run_id


def test_metrics_have_names_that_mlflow_takes() -> None:
    values = {"top@5": 0.5, "val_loss": 1.0, "head/f1 (macro)": 0.25, "정확도": 0.75}
    assert _mlflow._metrics(Point("batch", 0, values, 0)) == {
        "batch_top_5": 0.5,
        "batch_val_loss": 1.0,
        "batch_head/f1 _macro_": 0.25,
        "batch_정확도": 0.75,
    }


def test_the_end_of_a_sender_does_not_wait_for_a_server_that_does_not_answer() -> None:
    answers = threading.Event()
    sender = PointSender(lambda points: answers.wait())
    sender.put(Point("epoch", 0, {"loss": 0.5}, 0))
    assert len(sender.close(timeout=0.1)) == 1
    answers.set()
    assert sender.close() == []


def test_an_artifact_has_a_name_that_wandb_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[str] = []
    wandb: Any = types.ModuleType("wandb")
    wandb.__spec__ = importlib.machinery.ModuleSpec("wandb", None)
    wandb.Artifact = lambda name, type: names.append(name) or mock.Mock()
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    callback = unisono.callbacks.Wandb()
    callback.run_id, callback._run = "lr=0.1", mock.Mock()
    callback._upload(tmp_path / "모델 1.keras")
    assert names == ["run_lr_0.1____1.keras"]


class _Offline(_Lists):
    """A tracker whose server has gone."""

    closed = 0

    def _upload(self, path: Path) -> None:
        raise ConnectionError(f"no route for {path.name}.")

    def _close(self) -> None:
        self.closed += 1
        raise ConnectionError("no route")


def test_what_fails_when_training_has_ended_is_a_warning() -> None:
    callback = _Offline(artifacts=["best.keras"])
    callback.on_train_begin()
    callback._open_on_chief()
    callback._is_open = True
    with pytest.warns(UserWarning, match="The training itself is complete") as warned:
        callback.on_train_end()
    assert [str(each.message) for each in warned] == [
        "_Offline: best.keras is not uploaded: no route for best.keras. The training itself is complete.",
        "_Offline: run new is not marked as ended: no route. The training itself is complete.",
    ]
    assert callback.closed == 1


def test_points_of_a_request_that_failed_are_sent_with_the_next_ones() -> None:
    sent, tried, is_down = [], threading.Event(), True

    def send(points: list[Point]) -> None:
        tried.set()
        if is_down:
            raise ConnectionError("down")
        sent.extend(points)

    points = [Point("epoch", number, {"loss": 0.5}, 0) for number in range(3)]
    sender = PointSender(send)
    sender.put(points[0])
    assert tried.wait(60)
    sender.put(points[1])
    assert sender.unsent() == points[:2]
    is_down = False
    sender.put(points[2])
    assert sender.close() == []
    assert sent == points


def test_points_that_cannot_be_sent_are_returned_at_the_end() -> None:
    def send(points: list[Point]) -> None:
        raise ConnectionError("down")

    sender, point = PointSender(send), Point("epoch", 0, {"loss": 0.5}, 0)
    sender.put(point)
    assert sender.close() == [point]
    assert str(sender.failure) == "down"


def test_a_request_has_no_more_values_than_the_server_takes() -> None:
    sizes: list[int] = []
    is_full = threading.Event()

    def send(points: list[Point]) -> None:
        is_full.wait(60)
        sizes.append(sum(len(point.values) for point in points))

    sender = PointSender(send)
    for number in range(2_500):
        sender.put(Point("batch", number, {"loss": 0.5, "mae": 0.5}, 0))
    is_full.set()
    assert sender.close() == []
    assert sum(sizes) == 5_000
    assert max(sizes) <= MOST_VALUES
