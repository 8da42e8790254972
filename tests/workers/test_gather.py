"""What workers gather from each other, on the host and on devices."""

from pathlib import Path

import pytest

from tests.quick_compilation import QUICK_COMPILATION
from tests.workers._job import finish, job


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("devices", [1, pytest.param(2, marks=pytest.mark.full)])
def test_every_worker_gathers_the_rows_of_all(tmp_path: Path, devices: int) -> None:
    flags = {"XLA_FLAGS": QUICK_COMPILATION}
    number = 2 * devices
    rows = [[float(replica)] for replica in range(number) for _ in range(replica + 1)]
    names = [f"replica {replica}" for replica in range(number) for _ in range(replica + 1)]
    lines = [f"line {worker}.{line}" for worker in range(2) for line in range(3 + 4 * worker)]
    expected = [
        f"rows {rows}",
        f"doubled {[[2 * row] for (row,) in rows]}",
        "unlike True",
        f"names {names}",
        f"results {['a'] * devices}",
        f"texts {lines}",
        f"lengths {float(sum(map(len, lines)))}",
        "empty [0.0, 0.0]",
        "shape [0, 2]",
        "TypeError: Workers exchange arrays of numbers and of text; got an element of type int: 1.",
    ]
    with job(tmp_path, "gathering.py", workers=2, devices=devices, environment=flags) as workers:
        assert finish(workers, 90) == [1, 1], "\n".join(worker.output() for worker in workers)
        for worker in workers:
            output = worker.output()
            assert [line for line in expected if line not in output] == [], output
