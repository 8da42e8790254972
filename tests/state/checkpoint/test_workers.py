"""Several processes: the chief alone writes and reads, and an error is raised on all of them or on none."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import keras
import pytest

from tests.workers._job import finish, job
from unisono._src.state.checkpoint import Snapshot, apply_snapshot
from unisono.checkpoint import Checkpoint, CheckpointMismatch

SCRIPT = Path(__file__).parent / "scripts" / "workers.py"


@pytest.mark.timeout(180)
@pytest.mark.full
def test_workers_save_and_restore_together(tmp_path: Path) -> None:
    with job(tmp_path, str(SCRIPT), [str(tmp_path)], workers=2) as workers:
        codes = finish(workers, 150)
        outputs = [worker.output() for worker in workers]
    assert codes == [0, 0], "\n".join(outputs)
    found: list[Any] = [json.loads(output.rpartition("FOUND ")[2].splitlines()[0]) for output in outputs]

    assert [each["equal"] for each in found] == [True, True]
    assert [each["restored"] for each in found] == ["ckpt-2", "ckpt-2"]
    assert [each["never"] for each in found] == [None, None]
    # Each continues in its own data, with its own state.
    assert found[0]["own"] == [[[13, 14], [15, 16]], 0]
    assert found[1]["own"] == [[[22, 23], [24, 25]], 1]
    # Only the chief has touched the disk.
    assert sorted(os.listdir(tmp_path / "worker-0")) == ["blocked", "ckpt-2"]
    assert not (tmp_path / "worker-1").exists()

    chief, second = (each["failing"] for each in found)
    assert "ckpt-99" in chief["missing"]
    assert "BadCheckpoint" in second["missing"]
    assert "without a value in it: x" in chief["mismatch"]
    assert "without a value in it: x" in second["mismatch"]
    assert "failed to do the same" in chief["one"]
    assert "without a value in it: x" in second["one"]
    assert "could not get the state of own" in chief["state"]
    assert "LookupError" in second["state"]
    assert "'blocked' is a file" in chief["write"].replace(str(tmp_path / "worker-0") + "/", "")
    assert "CheckpointError" in second["write"]

    # One process restores everything but the positions of two readers.
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, "tanh"), keras.layers.Dense(1)])
    checkpoint = Checkpoint(model=model, optimizer=keras.optimizers.Adam(), loss=keras.metrics.Mean(), n=0)
    checkpoint.restore(tmp_path / "worker-0" / "ckpt-2").expect_partial()
    assert (checkpoint.n, int(checkpoint.optimizer.iterations.value)) == (2, 2)


def test_the_positions_of_several_readers_are_refused_with_another_number_of_them() -> None:
    class Reader:
        def get_state(self) -> Any:
            return 0

        def set_state(self, state: Any) -> None:
            raise AssertionError("not reached")

    stored = Snapshot({}, {"objects": {"data": {"states": [1, 2]}}})
    with pytest.raises(CheckpointMismatch, match=r"(?s)data was stored by 2 processes.*there are\n1 now"):
        apply_snapshot({"data": Reader()}, stored, strict=False)
