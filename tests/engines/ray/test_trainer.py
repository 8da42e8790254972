"""`unisono.ray.Trainer`: training in the processes of Ray's workers, interrupted in every way that Ray knows."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.engines.conftest import RecordScenario
from tests.engines.ray.conftest import Driver, RayCluster, StartDriver

pytestmark = [pytest.mark.engines, pytest.mark.timeout(400)]

_uninterrupted: dict[str, dict[str, Any]] = {}


# Ray looks more often for what has changed.
_QUICK = {"RAY_TRAIN_HEALTH_CHECK_INTERVAL_S": "0.5", "RAY_TRAIN_PREEMPTION_POLL_INTERVAL_S": "1"}


def result_of(driver: Driver) -> dict[str, Any]:
    assert driver.finish() == 0, driver.output()
    lines = [line for line in driver.output().splitlines() if line.startswith("RESULT ")]
    result: dict[str, Any] = json.loads(lines[-1].removeprefix("RESULT "))
    return result


def node_of_worker_1(driver: Driver) -> str:
    """Waits until both workers wait in their sixth step."""
    driver.wait_for("WAITING 0 on ")
    driver.wait_for("WAITING 1 on ")
    found = re.search(r"WAITING 1 on (\w+)", driver.output())
    assert found is not None
    return found[1]


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    return tmp_path / "storage"


@pytest.fixture
def uninterrupted(start_driver: StartDriver, tmp_path: Path) -> dict[str, Any]:
    """A run that nothing happens to."""
    if "arrays" not in _uninterrupted:
        _uninterrupted["arrays"] = result_of(
            start_driver("trainer.py", tmp_path / "whole", "run", "train", environment=_QUICK)
        )
    return _uninterrupted["arrays"]


def test_ray_gets_metrics_and_checkpoints(uninterrupted: dict[str, Any]) -> None:
    assert uninterrupted["metrics"]["epoch"] == 3
    assert uninterrupted["metrics"]["loss"] == pytest.approx(uninterrupted["returned"]["losses"][-1])
    assert uninterrupted["num_checkpoints"] == 3
    assert uninterrupted["checkpoint"].endswith("/run/checkpoint_epoch-000003")
    assert uninterrupted["loaded"] == uninterrupted["returned"]["digest"], "load_weights takes a reported checkpoint"
    assert {"arrays.safetensors", "manifest.json", "state.json"} <= set(uninterrupted["files"])


def test_a_killed_worker_is_restarted(
    start_driver: StartDriver, storage: Path, uninterrupted: dict[str, Any], record_scenario: RecordScenario
) -> None:
    result = result_of(start_driver("trainer.py", storage, "run", "kill", environment=_QUICK))
    assert result["returned"]["attempt"] == 1
    assert 0 < result["returned"]["steps"] < uninterrupted["returned"]["steps"], "it was resumed"
    assert result["returned"]["digest"] == uninterrupted["returned"]["digest"]
    assert result["metrics"] == uninterrupted["metrics"]
    record_scenario(
        engine="Ray", scenario="Trainer: a worker is killed with SIGKILL", result="restarted by Ray, bit-equal"
    )


def test_a_drained_node_is_left(
    start_driver: StartDriver,
    ray_cluster: RayCluster,
    storage: Path,
    uninterrupted: dict[str, Any],
    record_scenario: RecordScenario,
) -> None:
    driver = start_driver(
        "trainer.py", storage, "run", "wait", environment={"RAY_TRAIN_PREEMPTION_POLL_INTERVAL_S": "1"}
    )
    drained = node_of_worker_1(driver)
    ray_cluster.add_node()
    ray_cluster.drain_node(drained, deadline_seconds=120)
    result = result_of(driver)
    ray_cluster.kill_node(drained)
    assert "Ray takes away a node of this job; everything is saved" in driver.output()
    assert result["returned"]["attempt"] == 1
    assert 0 < result["returned"]["steps"] < uninterrupted["returned"]["steps"], "it was resumed"
    assert result["returned"]["digest"] == uninterrupted["returned"]["digest"]
    record_scenario(
        engine="Ray",
        scenario="Trainer: a node is drained",
        result="saved at the notice, restarted elsewhere, not counted as a failure, bit-equal",
    )


def test_a_lost_node_is_replaced(
    start_driver: StartDriver,
    ray_cluster: RayCluster,
    storage: Path,
    uninterrupted: dict[str, Any],
    record_scenario: RecordScenario,
) -> None:
    driver = start_driver("trainer.py", storage, "run", "wait-kill", environment=_QUICK)
    ray_cluster.kill_node(node_of_worker_1(driver))
    ray_cluster.add_node()
    result = result_of(driver)
    assert result["returned"]["attempt"] == 1
    assert 0 < result["returned"]["steps"] < uninterrupted["returned"]["steps"], "it was resumed"
    assert result["returned"]["digest"] == uninterrupted["returned"]["digest"]
    record_scenario(engine="Ray", scenario="Trainer: a node is lost", result="restarted by Ray on another, bit-equal")


def test_a_driver_that_gets_sigterm_saves(
    start_driver: StartDriver, storage: Path, uninterrupted: dict[str, Any], record_scenario: RecordScenario
) -> None:
    driver = start_driver("trainer.py", storage, "run", "wait", environment=_QUICK)
    node_of_worker_1(driver)
    driver.process.send_signal(signal.SIGTERM)
    assert driver.finish() == 75, driver.output()
    assert f"SIGTERM received; everything is saved in {storage}/run" in driver.output()
    result = result_of(start_driver("trainer.py", storage, "run", "wait", environment=_QUICK))
    assert 0 < result["returned"]["steps"] < uninterrupted["returned"]["steps"], "it was resumed"
    assert result["returned"]["digest"] == uninterrupted["returned"]["digest"]
    record_scenario(
        engine="Ray",
        scenario="Trainer: SIGTERM to the driver, then a new one with the same name",
        result="saved, exit code 75, resumed bit-equal",
    )


def test_a_driver_whose_training_cannot_save_ends_by_sigterm(start_driver: StartDriver, storage: Path) -> None:
    driver = start_driver("trainer.py", storage, "run", "wait-plain", environment=_QUICK)
    node_of_worker_1(driver)
    driver.process.send_signal(signal.SIGTERM)
    assert driver.finish() not in (0, 75), driver.output()
    assert "RESULT" not in driver.output()


def test_a_killed_worker_reads_on_in_its_shard(
    start_driver: StartDriver, tmp_path: Path, record_scenario: RecordScenario
) -> None:
    whole = result_of(start_driver("trainer.py", tmp_path / "whole", "run", "data", environment=_QUICK))
    killed = result_of(start_driver("trainer.py", tmp_path / "killed", "run", "data-kill", environment=_QUICK))
    assert killed["returned"]["attempt"] == 1
    assert 0 < killed["returned"]["steps"] < whole["returned"]["steps"], "it was resumed"
    assert killed["returned"]["digest"] == whole["returned"]["digest"]
    record_scenario(
        engine="Ray",
        scenario="Trainer on a Ray Dataset: a worker is killed within an epoch",
        result="restarted by Ray, reads on at its position in its shard, bit-equal",
    )


def test_shards_of_different_sizes_and_whole_datasets_give_one_devices_weights(
    start_driver: StartDriver, tmp_path: Path
) -> None:
    driver = start_driver("shards.py", tmp_path / "storage", environment=_QUICK)
    assert driver.finish() == 0, driver.output()
    assert "DONE" in driver.output()


def test_tune_compares_two_learning_rates(
    start_driver: StartDriver, tmp_path: Path, record_scenario: RecordScenario
) -> None:
    result = result_of(start_driver("tune.py", tmp_path / "storage", environment=_QUICK))
    assert result["best"] == 0.5
    assert [trial["epoch"] for trial in result["trials"]] == [2, 2]
    record_scenario(
        engine="Ray",
        scenario="Tune: two trials, each with a Trainer",
        result="metrics of every epoch, the best is found",
    )
