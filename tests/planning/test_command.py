"""`unisono plan`, in this process: what it prints, and what it does not do."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from unisono._src.cli import main
from unisono._src.planning import _exchange_time, _timed_step
from unisono._src.planning._plan import count_cores

SCRIPT = Path(__file__).with_name("train.py")

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def short_measurements(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_timed_step, "_SECONDS_PER_ROUND", 0.001)
    monkeypatch.setattr(_timed_step, "_ROUNDS", 1)
    monkeypatch.setattr(_exchange_time, "_ROUNDS", 1)


def plan(capsys: pytest.CaptureFixture[str], kind: str, folder: Path, *options: str) -> dict[str, Any]:
    assert main(["plan", str(SCRIPT), *options, "--json", "--", kind, str(folder)]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_a_plan_has_memory_batch_work_exchange_and_times(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    options = ("--devices", "2", "--bandwidth", "nvlink4", "--memory", "100kB")
    assert main(["plan", str(SCRIPT), *options, "mirrored", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "2,177 parameters, MirroredStrategy on 2 CPU devices, global batch 64" in text
    assert "Largest global batch that fits: " in text
    assert "all-reduce of 8." in text
    assert "nvlink4: 360 GB/s" in text
    assert "Fixed global batch of 64" in text
    assert "More devices are worthwhile up to" in text


def test_nothing_is_trained_saved_or_run_after_fit(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = plan(capsys, "workers", tmp_path, "--devices", "2", "--bandwidth", "100gbe")
    assert found["devices"] == 2
    assert [path.name for path in tmp_path.iterdir()] == ["untouched"]
    assert (tmp_path / "untouched").read_text() == "True"
    assert found["same_batch_pays_up_to"] in {each["devices"] for each in found["same_batch"]}
    assert any("--memory" in note for note in found["notes"])


def test_sharded_weights_are_gathered(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = plan(capsys, "sharded", tmp_path, "--devices", "4", "--bandwidth", "nvlink4")
    assert "all-gather" in {each["kind"] for each in found["collectives"]}
    assert found["same_rows"][-1]["devices"] == 1024


@pytest.mark.full
def test_a_mesh_has_memory_and_no_times(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = plan(capsys, "mesh", tmp_path, "--bandwidth", "nvlink4")
    assert found["memory"]["total"] > 0
    assert found["same_batch"] == []
    assert any("ModelParallelStrategy" in note for note in found["notes"])


@pytest.mark.parametrize("kind", ["mirrored", pytest.param("sharded", marks=pytest.mark.full)])
def test_cpu_devices_of_this_machine_are_measured(
    kind: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found = plan(capsys, kind, tmp_path, "--devices", "2", "--bandwidth", "measure")
    assert found["cores"] >= 1
    # No more than the cores, the devices of the strategy, or those that were asked for.
    assert found["most_devices"] == found["same_rows"][-1]["devices"] == max(found["cores"], 2)
    assert "between cpu devices of one process" in found["exchange"]


def test_the_text_says_up_to_how_many_cpu_devices_it_predicts(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["plan", str(SCRIPT), "--devices", "3", "mirrored", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert f"times are predicted for up to {max(count_cores(), 3)} devices" in text
    assert re.search(r"│ +3 │ +22 │", text)  # a number that is no power of two has a line, too
    assert "--bandwidth 100gbe" in text


def test_a_script_without_fit_is_reported(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["plan", str(SCRIPT), "loop", str(tmp_path)]) == 1
    assert "ended without a call to model.fit" in capsys.readouterr().err


def test_an_unknown_bandwidth_is_one_line_without_a_traceback(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["plan", str(SCRIPT), "--bandwidth", "warp", "mirrored", str(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith("--bandwidth warp: no such interconnect.")
