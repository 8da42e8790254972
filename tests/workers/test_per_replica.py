"""Values per replica that each worker makes for its own replicas."""

from pathlib import Path

import pytest

from tests.quick_compilation import QUICK_COMPILATION
from tests.workers._job import finish, job


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("devices", [1, pytest.param(2, marks=pytest.mark.full)])
def test_numbers_of_rows_may_differ_between_workers_and_other_differences_are_one_error(
    tmp_path: Path, devices: int
) -> None:
    flags = {"XLA_FLAGS": QUICK_COMPILATION}
    replicas = range(2 * devices)
    with job(tmp_path, "ragged.py", workers=2, devices=devices, environment=flags) as workers:
        assert finish(workers, 90) == [1, 1], "\n".join(worker.output() for worker in workers)
        for index, worker in enumerate(workers):
            own = [(number + 1, 2) for number in replicas[index * devices :][:devices]]
            output = worker.output()
            assert f"own {own}" in output
            assert f"even {float(6 * sum(replicas))}" in output
            assert f"scalars {float(sum(replicas))}" in output
            assert f"uneven {float(2 * sum(number + 1 for number in replicas))}" in output
            assert f"replica {index * devices}" in output
            assert "ValueError: The replicas have values that one program cannot take" in output
