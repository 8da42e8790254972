"""How a plan is put together: its data, its options, and what it says. `test_command.py` runs whole plans."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
import pytest

import unisono
from unisono._src.devices import Placement
from unisono._src.planning import _exchange_time, _plan
from unisono._src.planning._collectives import Collective
from unisono._src.planning._cost_model import Prediction
from unisono._src.planning._interconnect import Measured
from unisono._src.planning._plan import PlanOptions, _Planner, make_plan
from unisono._src.planning._plan_text import _verdict

X = np.zeros((4, 2), "float32")


class CapturedError(Exception):
    """Ends a plan when its data is known."""


def data_of_plan(monkeypatch: pytest.MonkeyPatch, **fit_arguments: Any) -> Any:
    @contextlib.contextmanager
    def capture(model: Any, data: Any, batch_size: int | None, function: str) -> Iterator[None]:
        raise CapturedError(data)
        yield

    monkeypatch.setattr(_plan, "examine_model", capture)
    with pytest.raises(CapturedError) as captured:
        make_plan(None, fit_arguments, PlanOptions())
    return captured.value.args[0]


def test_a_list_of_inputs_without_labels_is_not_taken_for_inputs_and_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    x = [X, X[:, :1]]
    found, y, sample_weight = data_of_plan(monkeypatch, x=x)
    assert found is x
    assert (y, sample_weight) == (None, None)


def test_a_distributed_dataset_is_planned_as_its_global_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = unisono.data.Dataset.from_tensor_slices((X, X)).batch(2)
    distributed = unisono.MirroredStrategy(["cpu:0"]).experimental_distribute_dataset(rows)
    assert isinstance(data_of_plan(monkeypatch, x=distributed), unisono.data.Dataset)


def make_planner(**options: Any) -> _Planner:
    call = SimpleNamespace(placement=Placement.over(jax.devices("cpu")[:1]))
    return _Planner(SimpleNamespace(call=call), PlanOptions(**options))  # type: ignore[arg-type]


def test_a_size_that_is_none_is_refused_with_the_name_of_the_option() -> None:
    with pytest.raises(ValueError, match=r"^--memory: '8X' is not a size\. Write") as refused:
        make_planner(memory="8X")._memory_limit()
    # `unisono plan` prints errors of this package without a traceback.
    assert refused.traceback[-1].path.parent.name == "planning"


def test_a_latency_beside_a_measurement_is_said_to_be_unused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_plan, "measure_devices", lambda *arguments: Measured("here", {2: 1e-3}))
    planner = make_planner(latency=5e-6)
    planner._exchange(None, [])
    assert any("--latency is not used" in note for note in planner._notes)


def test_a_batch_of_one_row_is_not_blamed_on_the_machine() -> None:
    assert _verdict([Prediction(1, 1, 1, 1e-3, 0.0, 1.0)]).endswith("a batch of one row cannot be divided.")
    assert _verdict([Prediction(1, 8, 8, 1e-3, 0.0, 1.0)]).endswith("this machine has one core.")


def test_processes_are_measured_with_a_cpu_device_each_and_leave_no_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    commands: list[list[str]] = []

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return subprocess.CompletedProcess(command, 0, "[0] seconds=0.25\n", "")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(subprocess, "run", run)
    found = _exchange_time.measure_processes([Collective("all-reduce", 8)])
    assert found.seconds_by_devices == {2: 0.25, 4: 0.25}
    for command in commands:
        assert command[command.index("--devices") + 1] == "cpu:1"
        assert not Path(command[command.index("--run-dir") + 1]).exists()


def test_processes_that_do_not_answer_are_an_error_that_says_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(command: list[str], **options: Any) -> None:
        raise subprocess.TimeoutExpired(command, options["timeout"])

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(RuntimeError, match=r"2 processes could not be measured(.|\n)*--bandwidth 100gbe"):
        _exchange_time.measure_processes([Collective("all-reduce", 8)])


def test_a_step_is_measured_on_other_devices_if_its_layouts_are_known_there() -> None:
    names = [f"cpu:{index}" for index in range(4)]
    two = jax.devices("cpu")[:2]
    mirrored = _exchange_time._over_devices(unisono.MirroredStrategy(names[:1]).placement, two)
    assert mirrored is not None
    assert mirrored.devices == two
    sharded = _exchange_time._over_devices(unisono.FullyShardedStrategy(names).placement, two)
    assert sharded is not None
    assert sharded.devices == two
    assert tuple(sharded.layout((4096, 3)).spec) == ("replica", None)
    for strategy in (
        unisono.FullyShardedStrategy(names[:1]),
        unisono.FullyShardedStrategy(names, shard_group=2),
        unisono.ModelParallelStrategy({"batch": 2, "model": 2}, devices=names),
    ):
        assert _exchange_time._over_devices(strategy.placement, two) is None
