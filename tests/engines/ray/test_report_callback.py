"""Where the checkpoints that are reported to Ray are, without a run of Ray."""

from __future__ import annotations

import shutil
from pathlib import Path

import keras
import numpy as np
import pytest

import unisono
from unisono._src.state.store import RemotePath, commit, load

pytest.importorskip("ray", reason="Ray is not installed")

from unisono._src.ray import _report_callback

pytestmark = pytest.mark.engines


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    folder = tmp_path / "run" / "checkpoints" / "save-1"
    commit(folder, arrays={"x": np.arange(3)}, step=7)
    return folder


def test_a_checkpoint_is_linked_and_lives_on_its_own(saved: Path, tmp_path: Path) -> None:
    stored = _report_callback._put_into_storage(saved, str(tmp_path / "run"), "checkpoint_epoch-000001")
    assert stored == str(tmp_path / "run" / "checkpoint_epoch-000001")
    assert (Path(stored) / "arrays.safetensors").samefile(saved / "arrays.safetensors")
    assert [path.name for path in Path(stored).parent.iterdir() if path.name.startswith(".check")] == []
    shutil.rmtree(saved)
    assert load(Path(stored)).step == 7


def test_a_link_of_an_earlier_attempt_is_replaced(saved: Path, tmp_path: Path) -> None:
    for _ in range(2):
        stored = _report_callback._put_into_storage(saved, str(tmp_path / "run"), "checkpoint_epoch-000001")
    assert stored is not None
    assert load(Path(stored)).step == 7


def test_what_cannot_be_linked_is_left_to_ray(saved: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()  # no folder can be made in it
    assert _report_callback._put_into_storage(saved, str(tmp_path / "file"), "checkpoint_epoch-000001") is None
    assert _report_callback._put_into_storage(saved, "bucket/run", "checkpoint_epoch-000001") is None


def test_a_checkpoint_in_the_bucket_of_the_run_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNISONO_RUN_DIR", "s3://bucket/runs/mnist")
    inside = RemotePath("s3://bucket/runs/mnist/checkpoints/fit-1/save-2")
    elsewhere = RemotePath("s3://bucket/runs/mnist-2/checkpoints/fit-1/save-2")
    assert (
        _report_callback._put_into_storage(inside, "bucket/runs/mnist", "checkpoint_epoch-000001")
        == "bucket/runs/mnist/checkpoints/fit-1/save-2"
    )
    assert _report_callback._put_into_storage(elsewhere, "bucket/runs/mnist", "checkpoint_epoch-000001") is None


def test_there_must_be_somebody_to_report_to() -> None:
    with unisono.MirroredStrategy(["cpu:0"]).scope():
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile("sgd", "mse")
    with pytest.raises(RuntimeError, match=r"this process is not one of its workers\. Run the\nfunction"):
        model.fit(np.ones((4, 1)), np.ones(4), verbose=0, callbacks=[_report_callback.ReportCallback()])


def test_a_checkpoint_after_so_many_epochs() -> None:
    callback = _report_callback.ReportCallback(epochs_per_checkpoint=2)
    assert [callback.wants_checkpoint(epoch) for epoch in range(4)] == [False, True, False, True]
    with pytest.raises(ValueError, match="at least 1; got 0"):
        _report_callback.ReportCallback(epochs_per_checkpoint=0)
