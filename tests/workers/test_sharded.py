"""State that is divided over real processes: every strategy trains as one device, and says what it cannot do."""

from pathlib import Path

import numpy as np
import pytest

import unisono
from tests.quick_compilation import QUICK_COMPILATION
from tests.workers._job import finish, job
from tests.workers.scripts import sharded

OVER_PROCESSES = {"zero1": (False, True), "mesh": (False, False), "split": (True, True)}
"""Whether weights and variables of the optimizer have parts on both processes."""


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("names", [["zero1"], pytest.param(["mesh", "split"], marks=pytest.mark.full)], ids="-".join)
def test_two_workers_train_sharded_state_as_one_device(tmp_path: Path, names: list[str]) -> None:
    flags = {"XLA_FLAGS": QUICK_COMPILATION}
    with job(tmp_path, "sharded.py", [str(tmp_path), *names], workers=2, devices=2, environment=flags) as workers:
        assert finish(workers, 120) == [0, 0], "\n".join(worker.output() for worker in workers)
        outputs = [worker.output() for worker in workers]
    expected, _ = sharded.train(unisono.OneDeviceStrategy("cpu:0"))
    for name in names:
        weights, slots = OVER_PROCESSES[name]
        for index, output in enumerate(outputs):
            assert f"{name}: weights over processes {weights}, optimizer over processes {slots}" in output
            with np.load(tmp_path / f"{name}-{index}.npz") as found:
                assert set(found) == set(expected)
                for key, value in expected.items():
                    np.testing.assert_allclose(found[key], value, rtol=1e-4, atol=1e-5, err_msg=f"{name} {index} {key}")
    if "split" in names:
        check_split_replicas(tmp_path, outputs)


def check_split_replicas(folder: Path, outputs: list[str]) -> None:
    """A replica of several processes can be trained by `run`; what a process has of it is refused on all of them."""
    losses = sharded.train_in_a_loop(unisono.OneDeviceStrategy("cpu:0"))
    for index, output in enumerate(outputs):
        with np.load(folder / f"loop-{index}.npz") as found:
            np.testing.assert_allclose(found["losses"], losses, rtol=1e-5)
        for call in ("dataset", "values", "local results"):
            assert (
                f"{call}: On the mesh {{'batch': 1, 'model': 4}} a replica has devices of several processes, each of "
                "which has 2. `fit`, `evaluate`, `predict`, and `run` with arrays that all processes have, can do that"
            ) in output


@pytest.mark.full
@pytest.mark.timeout(180)
def test_state_is_sharded_within_each_machine_and_replicated_between_them(tmp_path: Path) -> None:
    """The two processes have host names of their own, as in two containers."""
    arguments = [[f"machine-{index}", str(tmp_path)] for index in range(2)]
    flags = {"XLA_FLAGS": QUICK_COMPILATION}
    with job(
        tmp_path, "sharded_by_machine.py", workers=2, devices=2, environment=flags, arguments_of=arguments
    ) as workers:
        assert finish(workers, 120) == [0, 0], "\n".join(worker.output() for worker in workers)
        outputs = [worker.output() for worker in workers]
    if any("no rights" in output for output in outputs):
        pytest.skip("a process may not give itself a host name here")
    expected, _ = sharded.train(unisono.OneDeviceStrategy("cpu:0"))
    for index, output in enumerate(outputs):
        assert "mesh {'group': 2, 'replica': 2} shards here 2 of" in output
        with np.load(tmp_path / f"machine-{index}.npz") as found:
            for key, value in expected.items():
                np.testing.assert_allclose(found[key], value, rtol=1e-4, atol=1e-5, err_msg=f"{index} {key}")
