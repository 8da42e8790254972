"""Of several workers the chief writes, and all decide the same."""

import json
from pathlib import Path

import pytest

from tests.workers._job import finish, job

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parent / "scripts" / "chief_writes.py"


@pytest.mark.timeout(180)
def test_only_the_chief_writes(tmp_path: Path) -> None:
    with job(tmp_path, str(SCRIPT), [str(tmp_path)], workers=2) as workers:
        codes = finish(workers, 120)
        assert codes == [0, 0], workers[0].output() + workers[1].output()
        chief, other = (json.loads(worker.output().rpartition("said ")[2].splitlines()[0]) for worker in workers)
    assert {"fit/1.keras", "ckpt/1", "ckpt/3", "files/1.keras", "logs/train"} <= set(chief["files"])
    assert "ckpt/2" not in chief["files"]
    assert other["files"] == []
    assert chief["best"] == other["best"] == 0.4
    assert chief["weights"] == other["weights"] == [[3.0, 3.0], [4.0]]
