"""The status file of a worker has the progress of that worker, and is not needed to train."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from unisono_launch.worker import read_status

FORKING = """
import os
from unisono._src.processes import report_progress

report_progress("fit", 7)
child = os.fork()
if child == 0:
    report_progress("fit", 99)
    os._exit(0)
_, how = os.waitpid(child, 0)
assert how == 0, how
"""

ON_A_FULL_DISK = """
from unisono._src.processes import report_progress

for step in range(3):
    report_progress("fit", step)
print("trained")
"""


@pytest.mark.slow
def test_a_child_that_was_forked_does_not_write_into_the_file_of_its_worker(tmp_path: Path) -> None:
    status = tmp_path / "status"
    result = _run_as_worker(FORKING, status)
    assert result.returncode == 0, result.stderr
    found = read_status(status)
    assert found is not None
    assert (found.phase, found.step) == ("fit", 7)


@pytest.mark.slow
def test_a_full_disk_is_a_warning_not_the_end_of_training() -> None:
    result = _run_as_worker(ON_A_FULL_DISK, Path("/dev/full"))
    assert result.stdout == "trained\n", result.stderr
    assert result.stderr.count("No space left on device. Training continues") == 1


def _run_as_worker(program: str, status: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "UNISONO_STATUS": str(status)},
        start_new_session=True,  # as the launcher starts its workers
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
