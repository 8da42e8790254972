"""One worker is to be preempted: all write a checkpoint after the same step, exit, and resume where they were."""

from pathlib import Path

import numpy as np
import pytest

from tests.workers._job import finish, job

pytestmark = [pytest.mark.full, pytest.mark.timeout(300)]


@pytest.mark.parametrize("notice", ["request", "signal"])
def test_workers_that_read_their_own_data_exit_and_resume_together(notice: str, tmp_path: Path) -> None:
    (tmp_path / "uninterrupted").mkdir()
    (tmp_path / "preempted").mkdir()
    assert _run(tmp_path / "uninterrupted", -1, notice) == [0, 0]
    assert _run(tmp_path / "preempted", 5, notice) == [75, 75]
    assert not (tmp_path / "preempted" / "worker-0.npz").exists()
    assert _run(tmp_path / "preempted", -1, notice) == [0, 0]
    for index in range(2):
        uninterrupted, preempted = (
            _result(tmp_path / name / f"worker-{index}.npz") for name in ("uninterrupted", "preempted")
        )
        assert uninterrupted.keys() == preempted.keys()
        for name in uninterrupted.keys() - {"steps"}:
            np.testing.assert_array_equal(uninterrupted[name], preempted[name], err_msg=f"worker {index}: {name}")
        assert 0 < preempted["steps"] < uninterrupted["steps"], "what was trained before was not trained again"


def _result(path: Path) -> dict[str, np.ndarray]:
    with np.load(path) as arrays:
        return dict(arrays)


def _run(folder: Path, notice_step: int, notice: str) -> list[int]:
    with job(folder, "preempted.py", [str(folder), str(notice_step), notice], workers=2) as workers:
        codes = finish(workers, 120)
        print("\n".join(worker.output() for worker in workers))
        return codes
