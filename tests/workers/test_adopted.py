"""Processes that JAX has joined before Unisono is asked: adopted with JAX's own numbers, never trained apart."""

from pathlib import Path

import numpy as np
import pytest

from tests.workers._job import free_ports, job


@pytest.mark.slow
@pytest.mark.parametrize("with_tf_config", ["no", pytest.param("yes", marks=pytest.mark.full)])
def test_joined_processes_are_adopted(tmp_path: Path, with_tf_config: str) -> None:
    address = f"127.0.0.1:{free_ports(1)[0]}"
    arguments = [[address, "2", str(rank), with_tf_config, str(tmp_path)] for rank in (0, 1)]
    # Numbered against TF_CONFIG: JAX's own index decides.
    with job(tmp_path, "adopted.py", workers=2, arguments_of=arguments[::-1]) as workers:
        for worker in workers:
            assert worker.process.wait(120) == 0, worker.output()
            assert "replicas 2" in worker.output()
    weights = [np.load(tmp_path / f"weights-{rank}.npy") for rank in (0, 1)]
    np.testing.assert_array_equal(*weights)
    assert [(tmp_path / f"{rank}.keras").exists() for rank in (0, 1)] == [True, False]


@pytest.mark.full
def test_other_counts_are_an_error(tmp_path: Path) -> None:
    address = f"127.0.0.1:{free_ports(1)[0]}"
    arguments = [[address, "2", str(rank), "yes", str(tmp_path)] for rank in (0, 1)]
    with job(tmp_path, "adopted.py", workers=3, absent=[2], arguments_of=arguments) as workers:
        for worker in workers:
            assert worker.process.wait(60) == 1, worker.output()
            assert "JAX has joined 2 processes" in worker.output()
            assert "has 3 workers" in worker.output()
