"""What faults are compared with, the disk that becomes full, and the file that results are written to."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults._jobs import Job, result_of, run_once, said
from tests.result_rows import append_result_row

Undisturbed = Callable[[Job], Any]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fault-results", type=Path, help="append a line of JSON for each fault to this file")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    report = yield
    append_result_row(item, report, "--fault-results")
    return report


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """The result of a job that nothing happened to and of which nothing was kept. Each runs once."""
    results: dict[Job, Any] = {}

    def result(job: Job) -> Any:
        job = job.undisturbed
        if job not in results:
            folder = tmp_path_factory.mktemp("undisturbed")
            assert run_once(job, folder) == 0, said(folder)
            results[job] = result_of(folder)
        return results[job]

    return result


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[str]:
    """Makes the run folder a disk of 1 MB, if that is permitted; how a process can fill it."""
    run = tmp_path / "run"
    run.mkdir()
    mounted = os.geteuid() == 0 and not subprocess.call(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "faults", str(run)], stderr=subprocess.DEVNULL
    )
    yield "tmpfs" if mounted else "RLIMIT_FSIZE"
    if mounted:
        subprocess.run(["umount", str(run)], check=True)
