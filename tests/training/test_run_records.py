"""What `fit` writes into the folder of its run: metrics.jsonl and run.json."""

import json
import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import unisono
from unisono._src.core import PARTS, active_fit_facts
from unisono._src.training.records import _recorder
from unisono._src.training.records._run_files import RunFiles
from unisono.data import Dataset

XY = tuple[np.ndarray, np.ndarray]
Make = Callable[..., Any]


def read_lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def test_every_epoch_is_a_line_with_metrics_speed_and_parts_that_add_up(
    make_model: Make, xy: XY, tmp_path: Path
) -> None:
    history = make_model().fit(*xy, batch_size=11, epochs=2, validation_data=xy, resume=tmp_path, verbose=0).history
    lines = read_lines(tmp_path)
    assert [line["kind"] for line in lines] == ["start", "epoch", "epoch", "end"]
    assert [line["fit"] for line in lines] == [1] * 4
    assert lines[0]["version"] == 1
    assert (lines[0]["resumed"], lines[0]["step"], lines[0]["attempt"]) == (False, 0, 0)
    assert lines[-1]["reason"] == "finished"
    for number, line in enumerate(lines[1:3]):
        assert (line["epoch"], line["step"], line["steps"]) == (number, 2 * number + 2, 2)
        assert line["metrics"] == {name: pytest.approx(values[number]) for name, values in history.items()}
        assert line["parts"].keys() == PARTS.keys()
        assert sum(line["parts"].values()) == pytest.approx(line["seconds"], rel=0.01)
        assert line["parts"]["validation"] > 0
        assert line["rows_per_second"] == pytest.approx(11 * line["steps_per_second"], rel=1e-3)
        assert line["learning_rate"] > 0
    assert lines[1]["parts"]["compile"] > 0
    assert active_fit_facts() is None


def test_run_json_describes_model_devices_versions_and_each_fit(make_model: Make, xy: XY, tmp_path: Path) -> None:
    dataset = Dataset.from_tensor_slices(xy).map(_slow_in_python).batch(11)
    model = make_model()
    model.fit(dataset, resume=tmp_path, verbose=0)
    model.fit(*xy, batch_size=11, resume=tmp_path, verbose=0)
    run = json.loads((tmp_path / "run.json").read_text())
    assert run["version"] == 1
    assert run["versions"]["keras"] == keras.__version__
    assert run["devices"][0]["platform"] == "cpu"
    assert run["fits"]["1"]["model"]["parameters"] == model.count_params()
    assert run["fits"]["1"]["batch"] == 11
    assert run["fits"]["1"]["input"]["explain"] == dataset.explain()
    (operation,) = run["fits"]["1"]["input"]["in_python"]
    assert operation["operation"] == "map(_slow_in_python)"
    line = _slow_in_python.__code__.co_firstlineno
    assert operation["location"].endswith(f"test_run_records.py:{line}")
    assert run["fits"]["2"]["input"]["kind"] == "arrays"
    assert [line["fit"] for line in read_lines(tmp_path)] == [1, 1, 1, 2, 2, 2]


def _slow_in_python(x: Any, y: Any) -> Any:
    return np.asarray([float(each) for each in x], np.float32), y


class Fail(keras.callbacks.Callback):
    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if epoch == 1:
            raise RuntimeError("the disk burns\nand more")


def test_an_exception_is_the_last_line_and_a_resumed_fit_appends(make_model: Make, xy: XY, tmp_path: Path) -> None:
    policy = unisono.checkpoint.EveryEpoch()
    with pytest.raises(RuntimeError, match="the disk burns"):
        make_model().fit(*xy, epochs=3, resume=unisono.Resume(tmp_path, policy=policy), callbacks=[Fail()], verbose=0)
    assert read_lines(tmp_path)[-1]["reason"] == "RuntimeError: the disk burns"
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write('{"kind":"epo')  # a process that was killed
    _recorder._num_fits.clear()  # a new process counts from one
    make_model().fit(*xy, epochs=3, resume=unisono.Resume(tmp_path, policy=policy), verbose=0)
    text = (tmp_path / "metrics.jsonl").read_text().splitlines()
    assert '{"kind":"epo' in text
    lines = [json.loads(line) for line in text if line != '{"kind":"epo']
    resumed = [line["kind"] for line in lines].index("start", 1)
    assert lines[resumed]["resumed"]
    assert [line["epoch"] for line in lines[resumed:] if line["kind"] == "epoch"] == [1, 2]
    assert {line["fit"] for line in lines} == {1}


def test_a_preemption_is_distinguished_from_an_error(make_model: Make, xy: XY, tmp_path: Path) -> None:
    class Preempt(keras.callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            unisono.checkpoint.request_preemption("the node drains")

    with pytest.raises(SystemExit):
        make_model().fit(*xy, batch_size=4, resume=tmp_path, callbacks=[Preempt()], verbose=0)
    assert read_lines(tmp_path)[-1]["reason"] == "preempted"


def test_lines_within_an_epoch_have_the_metrics_of_a_step_that_was_computed(
    make_model: Make, xy: XY, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_recorder, "_SECONDS", 0.0)
    pause = keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: time.sleep(0.01))
    make_model().fit(*xy, batch_size=4, resume=tmp_path, callbacks=[pause], verbose=0)
    within = [line for line in read_lines(tmp_path) if line["kind"] == "steps"]
    assert within
    for line in within:
        assert line["metrics"].keys() >= {"loss"}
        assert line["steps"] >= 1
        assert line["parts"]["callbacks"] >= 0.009


def test_nothing_is_written_without_a_folder_of_a_run(
    make_model: Make, xy: XY, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make_model().fit(*xy, verbose=0)
    make_model().fit(*xy, verbose=0, callbacks=[unisono.callbacks.BackupAndRestore(tmp_path / "backup")])
    assert not list(tmp_path.rglob("metrics.jsonl"))
    monkeypatch.setenv("UNISONO_RUN_DIR", str(tmp_path / "run"))
    make_model().fit(*xy, verbose=0)
    assert read_lines(tmp_path / "run")[-1]["reason"] == "finished"


def test_a_learning_rate_range_test_is_not_part_of_the_run(
    make_model: Make, xy: XY, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNISONO_RUN_DIR", str(tmp_path))
    model = make_model()
    unisono.find_learning_rate(model, xy, batch_size=4, steps=10)
    model.fit(*xy, verbose=0)
    assert {(line["fit"], line["epoch"]) for line in read_lines(tmp_path)} == {(1, 0)}


def test_a_child_process_of_a_worker_does_not_write_into_its_folder(
    make_model: Make, xy: XY, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNISONO_RUN_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("UNISONO_STATUS", str(tmp_path / "status"))  # a worker leads its session, and pytest does not
    make_model().fit(*xy, verbose=0)
    assert not (tmp_path / "run").exists()


def test_the_weights_are_bit_identical_with_and_without_a_record(make_model: Make, xy: XY, tmp_path: Path) -> None:
    weights = []
    for folder in (None, tmp_path):
        keras.utils.set_random_seed(3)
        model = make_model()
        model.fit(*xy, batch_size=4, epochs=2, resume=folder, verbose=0)
        weights.append(model.get_weights())
    for recorded, expected in zip(*weights, strict=True):
        np.testing.assert_array_equal(recorded, expected)


def test_numbers_that_are_not_finite_are_strict_json(tmp_path: Path) -> None:
    files = RunFiles(tmp_path / "new" / "run")
    files.append({"metrics": {"loss": math.nan, "up": math.inf, "down": -math.inf}})
    files.close()
    (line,) = read_lines(tmp_path / "new" / "run")
    assert line["metrics"] == {"loss": "NaN", "up": "Infinity", "down": "-Infinity"}


def test_numbers_of_numpy_are_numbers_in_json(tmp_path: Path) -> None:
    files = RunFiles(tmp_path)
    files.append({"epochs": np.int64(3), "rate": np.float32(0.5), "resumed": True, "bad": np.float32("nan")})
    files.describe(1, {"version": 1}, {"steps_per_epoch": np.int32(7)})
    files.close()
    assert read_lines(tmp_path) == [{"epochs": 3, "rate": 0.5, "resumed": True, "bad": "NaN"}]
    assert json.loads((tmp_path / "run.json").read_text())["fits"]["1"]["steps_per_epoch"] == 7


def test_logs_that_are_no_numbers_are_left_out() -> None:
    logs = {
        "loss": np.float32(0.5),
        "steps": np.array([3]),
        "text": "warm-up",
        "wave": np.complex64(1j),
        "classes": np.ones(3),
        "object": object(),
        "day": np.datetime64("2026-01-01"),
        "nothing": None,
    }
    assert _recorder.to_metrics(logs) == {"loss": 0.5, "steps": 3.0}


def test_a_line_that_a_full_disk_cuts_is_the_last_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = RunFiles(tmp_path)
    files.append({"kind": "start"})
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:6]))
    with pytest.warns(UserWarning, match="No space left on device"):
        files.append({"kind": "epoch"})
    files.append({"kind": "epoch"})
    files.close()
    assert (tmp_path / "metrics.jsonl").read_text() == '{"kind":"start"}\n{"kind'


def test_a_folder_that_cannot_be_written_is_a_warning_and_training_continues(
    make_model: Make, xy: XY, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("UNISONO_RUN_DIR", str(tmp_path / "file" / "run"))
    with pytest.warns(UserWarning, match="its metrics are not recorded from here on"):
        make_model().fit(*xy, verbose=0)
    assert (tmp_path / "file").read_text() == ""


def test_the_learning_rate_of_a_schedule_is_that_of_the_last_step(make_model: Make, xy: XY, tmp_path: Path) -> None:
    model = make_model()
    schedule = keras.optimizers.schedules.ExponentialDecay(0.5, decay_steps=2, decay_rate=0.5)
    model.compile(keras.optimizers.SGD(schedule), "mse")
    model.fit(*xy, batch_size=11, epochs=2, resume=tmp_path, verbose=0)
    rates = [line["learning_rate"] for line in read_lines(tmp_path) if line["kind"] == "epoch"]
    assert rates == pytest.approx([0.25, 0.125])
