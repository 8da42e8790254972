"""One worker is told to end: all save after the same step, leave, and go on where they were."""

from pathlib import Path

import numpy as np
import pytest

from tests.workers._job import finish, job

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def test_workers_with_data_of_their_own_leave_and_go_on_together(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    (tmp_path / "told").mkdir()
    assert _run(tmp_path / "whole", -1) == [0, 0]
    assert _run(tmp_path / "told", 5) == [75, 75]
    assert not (tmp_path / "told" / "worker-0.npz").exists()
    assert _run(tmp_path / "told", -1) == [0, 0]
    for index in range(2):
        whole, told = (_result(tmp_path / name / f"worker-{index}.npz") for name in ("whole", "told"))
        assert whole.keys() == told.keys()
        for name in whole.keys() - {"steps"}:
            np.testing.assert_array_equal(whole[name], told[name], err_msg=f"worker {index}: {name}")
        assert 0 < told["steps"] < whole["steps"], "what was trained before was not trained again"


def _result(path: Path) -> dict[str, np.ndarray]:
    with np.load(path) as arrays:
        return dict(arrays)


def _run(folder: Path, told_in: int) -> list[int]:
    with job(folder, "preempted.py", [str(folder), str(told_in)], workers=2) as workers:
        codes = finish(workers, 120)
        print("\n".join(worker.output() for worker in workers))
        return codes
