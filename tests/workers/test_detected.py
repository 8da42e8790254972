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


@pytest.mark.parametrize(
    ("variables", "resolver"),
    [pytest.param(jax_variables, "JaxClusterResolver", id="jax")],
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
