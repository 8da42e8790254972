"""The contenders of `make bench` do the same work, and the page of results is up to date. Nothing is timed."""

import importlib
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import unisono
from tests.docs.page import ROOT

FOLDER = ROOT / "benchmarks"

Load = Callable[[str], Any]


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Load:
    """Imports a module of the benchmarks."""
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module


@pytest.fixture
def workload(load: Load) -> Any:
    """Four steps of the MLP."""
    return load("_cases").Workload(
        network="mlp", platform="cpu", replicas=1, global_batch_size=32, steps=4, epochs=1, call="evaluate"
    )


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=FOLDER, env=variables, capture_output=True, text=True, timeout=280, check=False)


@pytest.mark.parametrize("network", ["mlp", "cnn"])
@pytest.mark.full
def test_evaluate_and_predict_agree_with_the_reference(load: Load, workload: Any, network: str) -> None:
    calls = load("_inference_calls")
    strategy = unisono.MirroredStrategy(["cpu:0"])
    workload = replace(workload, network=network)
    for contender in (
        load("contenders.hand_written_inference").contender(workload),
        load("contenders._keras_inference").contender(strategy.scope(), workload),
    ):
        calls.check(workload, contender.evaluate())
        calls.check(replace(workload, call="predict"), contender.predict())


def test_a_contender_that_computes_something_else_is_excluded(load: Load, workload: Any) -> None:
    calls, reference, data = load("_inference_calls"), load("_reference"), load("_data")
    x, y = data.load(workload)
    logits = reference.predict_logits("mlp", x).astype("float32")
    loss, accuracy = reference.mean_loss_and_accuracy(logits, y)
    calls.check(workload, (loss, accuracy))
    calls.check(replace(workload, call="predict"), logits)
    with pytest.raises(ValueError, match="evaluate differs"):
        calls.check(workload, (loss + 0.01, accuracy))
    with pytest.raises(ValueError, match="The accuracy is"):
        calls.check(workload, (loss, accuracy + 0.1))
    logits[-1, -1] += 0.01
    with pytest.raises(ValueError, match="predict differs"):
        calls.check(replace(workload, call="predict"), logits)
    with pytest.raises(ValueError, match=r"\(96, 10\), not \(128, 10\)"):
        calls.check(replace(workload, call="predict"), logits[:-32])


@pytest.mark.parametrize("devices", [4, 8])
@pytest.mark.full
def test_fit_on_more_devices_learns_as_the_hand_written_program(load: Load, workload: Any, devices: int) -> None:
    workload = replace(workload, replicas=devices, steps=40, call="fit")
    ours, _ = load("contenders.unisono_fit").contender(workload)()
    theirs, _ = load("contenders.hand_written").contender(workload)()
    assert ours == pytest.approx(theirs, rel=0.25)


def test_a_table_has_the_ratios_by_the_number_of_devices() -> None:
    tables = _run("run.py", "--markdown", "--save", "mlp-1", "mlp-2").stdout
    assert [line for line in tables.splitlines() if line.startswith("#")] == ["### `fit`"]
    by_devices = tables.partition("By the number of CPU devices.")[2]
    rows = [line.replace(" ", "").split("|")[1:4] for line in by_devices.splitlines() if line.startswith("| mlp")]
    assert rows == [["mlp", "1", "32"], ["mlp", "2", "16"]]


def test_an_unknown_case_is_an_error() -> None:
    done = _run("run.py", "mlp-3")
    assert done.returncode == 2
    assert "no such case: mlp-3. There are mlp-1, cnn-1" in done.stderr


def _result(load: Load, **seconds: list[float]) -> Any:
    """The result of a case, from the times of each contender."""
    measure = load("_measure")
    series = {
        name.replace("_", "-"): measure.Series(about={}, seconds_per_step=its, cpu_seconds_per_step=its, losses=[])
        for name, its in seconds.items()
    }
    return measure.Result(case="a", workload={}, data="", machine="", measured="", series=series)


@pytest.mark.parametrize(
    ("saved", "now", "passes"),
    [
        ([1.0, 1.02, 1.04], [1.0, 1.02, 1.04], True),  # misses the target of 1, as the saved result does
        ([0.98, 0.99, 1.0], [1.0, 1.01, 1.02], False),  # misses a target that was met
        ([1.0, 1.02, 1.04], [1.05, 1.06, 1.07], True),  # no more than two runs of one program differ
        ([1.0, 1.02, 1.04], [0.9, 1.1, 1.2], True),  # no more than the rounds differ
        ([1.0, 1.02, 1.04], [1.1, 1.12, 1.14], False),
        ([0.5, 0.52, 0.54], [0.6, 0.62, 0.64], False),  # slower, within the target
        (None, [1.0, 1.02, 1.04], False),  # nothing was saved
        (None, [0.9, 0.92, 0.94], True),
    ],
)
def test_a_check_compares_with_the_saved_result(
    load: Load, workload: Any, saved: list[float] | None, now: list[float], passes: bool
) -> None:
    cases = load("_cases")
    case = cases.Case(name="a", workload=workload, contenders=("unisono", "torch"), targets=(cases.Target("torch", 1),))
    before = saved and _result(load, unisono=saved, torch=[1.0] * 3)
    result = _result(load, unisono=now, torch=[1.0] * 3)
    assert load("_table").passes(case, result, before) is passes


def test_a_target_may_be_of_another_contender_than_unisono(load: Load) -> None:
    target = load("_cases").Target("torch", 1, contender="unisono-fit")
    result = _result(load, unisono=[1.0] * 3, unisono_fit=[2.0] * 3, torch=[1.5] * 3)
    assert str(target) == "unisono-fit: faster than torch"
    assert not load("_table").met(target, result)


@pytest.mark.slow
def test_one_command_knows_all_results_of_a_gpu() -> None:
    done = _run("gpu.py", "--markdown", "--save", "--path", "folder")
    assert done.returncode == 0, done.stderr
    for row in ("| mlp-gpu ", "| cnn-gpu ", "| gpu-input ", "| gpt2 ", "| resnet50-4-epochs ", "| NVIDIA H200 "):
        assert row in done.stdout
    assert "| mlp-1 " not in done.stdout


@pytest.mark.slow
def test_the_page_shows_the_saved_results() -> None:
    done = _run("page.py", "--check")
    assert done.returncode == 0, done.stdout + done.stderr
