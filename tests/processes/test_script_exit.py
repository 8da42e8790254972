"""Which exits end a process without waiting for its peers. Jobs of processes are in tests/workers/test_failures.py."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from unisono._src.processes import _script_exit, note_exit, report_progress
from unisono_launch.worker import PREEMPTED, ExitCode


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The codes with which this process would have ended at once."""
    codes: list[int] = []
    monkeypatch.setattr(_script_exit, "_noted", None)
    monkeypatch.setattr(_script_exit.os, "_exit", codes.append)
    return codes


@pytest.mark.parametrize(("status", "code"), [(3, 3), (-1, 255), (True, 1), ("no data left", 1), (2.0, 1)])
def test_an_exit_that_means_an_error_ends_with_the_code_of_python(status: Any, code: int, ended: list[int]) -> None:
    note_exit(status)
    _script_exit._end()
    assert ended == [code]


@pytest.mark.parametrize("status", [None, 0, 256, PREEMPTED, ExitCode.LOST])
def test_an_orderly_exit_waits_for_the_peers(status: Any, ended: list[int]) -> None:
    note_exit(status)
    _script_exit._end()
    assert ended == []


def test_an_exit_that_was_caught_before_training_continued_is_forgotten(ended: list[int]) -> None:
    note_exit(3)
    report_progress("fit", 1)
    _script_exit._end()
    assert ended == []


def test_an_exit_of_another_thread_ends_only_that_thread(ended: list[int]) -> None:
    thread = threading.Thread(target=note_exit, args=(3,))
    thread.start()
    thread.join()
    _script_exit._end()
    assert ended == []
