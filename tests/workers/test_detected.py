"""Processes that know each other from what another system has set train as one job."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.workers._job import finish, job

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


def jax_variables(rank: int, port: int) -> dict[str, str]:
    """As Kubeflow Trainer sets them."""
    coordinator = f"127.0.0.1:{port}"
    return {"JAX_COORDINATOR_ADDRESS": coordinator, "JAX_NUM_PROCESSES": "2", "JAX_PROCESS_ID": str(rank)}


def skypilot(rank: int, port: int) -> dict[str, str]:
    """As on two nodes, each with one process."""
    nodes = {"SKYPILOT_NUM_NODES": "2", "SKYPILOT_NODE_IPS": "127.0.0.1\n127.0.0.1", "SKYPILOT_TASK_ID": f"sky-{port}"}
    return {**nodes, "SKYPILOT_NODE_RANK": str(rank)}


def dstack(rank: int, port: int) -> dict[str, str]:
    """As on two nodes, each with one process."""
    run = {"DSTACK_NODES_NUM": "2", "DSTACK_MASTER_NODE_IP": "127.0.0.1", "DSTACK_RUN_NAME": f"run-{port}"}
    return {**run, "DSTACK_NODE_RANK": str(rank)}


@pytest.mark.parametrize(
    ("variables", "resolver"),
    [
        pytest.param(jax_variables, "JaxClusterResolver", id="jax"),
        pytest.param(skypilot, "SkyPilotClusterResolver", id="skypilot", marks=pytest.mark.full),
        pytest.param(dstack, "DstackClusterResolver", id="dstack", marks=pytest.mark.full),
    ],
)
def test_two_processes_train_as_one_job(
    tmp_path: Path, variables: Callable[[int, int], dict[str, str]], resolver: str
) -> None:
    with job(tmp_path, "detected.py", workers=2, variables=variables) as workers:
        codes = finish(workers, 120)
    outputs = [worker.output() for worker in workers]
    assert codes == [0, 0], outputs
    for rank, output in enumerate(outputs):
        assert f"{resolver}: worker {rank} of 2" in output, output
    weights = [re.findall(r"weights (\w+)", output) for output in outputs]
    assert weights[0] == weights[1] != [], outputs
