"""The status file of a worker has the progress of that worker, not of its child processes."""

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


@pytest.mark.slow
def test_a_child_that_was_forked_does_not_write_into_the_file_of_its_worker(tmp_path: Path) -> None:
    status = tmp_path / "status"
    result = subprocess.run(
        [sys.executable, "-c", FORKING],
        env={**os.environ, "UNISONO_STATUS": str(status)},
        start_new_session=True,  # as the launcher starts its workers
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    found = read_status(status)
    assert found is not None
    assert (found.phase, found.step) == ("fit", 7)
