"""SIGTERM under `unisono run`: all workers save at the same step and leave, and no step runs twice."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from tests.faults._cells import VICTIMS
from tests.faults._jobs import (
    check_nothing_temporary,
    finish,
    pid_of_worker,
    result_of,
    run_once,
    said,
    started,
    wait_until,
)
from tests.faults._steps import attempts_of, steps_run_twice

JOB: Final = VICTIMS["worker 1"]
PREEMPTED: Final = 75


Record = Callable[[str, object], None]


@pytest.mark.full
@pytest.mark.parametrize("victim", [0, 1])
@pytest.mark.timeout(600)
def test_all_leave_with_one_worker_and_start_again_without_using_up_a_restart(
    victim: int, undisturbed: Callable[..., Any], tmp_path: Path, record_property: Record
) -> None:
    record_property("preempted", f"worker {victim}")
    expected, began = undisturbed(JOB), time.monotonic()
    with started(replace(JOB, max_restarts=1), tmp_path) as launcher:
        _wait_for_steps(tmp_path)
        os.kill(pid_of_worker(victim, tmp_path), signal.SIGTERM)
        code = finish(launcher, tmp_path)
    assert code == 0, said(tmp_path)
    assert "asked to be restarted (exit code 75)" in said(tmp_path)
    assert "1 restart left" in said(tmp_path)
    _check(tmp_path, expected, record_property)
    record_property("codes", [code])
    record_property("seconds", round(time.monotonic() - began, 1))


@pytest.mark.full
@pytest.mark.timeout(600)
def test_a_launcher_that_receives_sigterm_exits_with_75_and_resumes_when_it_is_started_again(
    undisturbed: Callable[..., Any], tmp_path: Path, record_property: Record
) -> None:
    record_property("preempted", "launcher")
    expected, began = undisturbed(JOB), time.monotonic()
    with started(JOB, tmp_path) as launcher:
        _wait_for_steps(tmp_path)
        launcher.send_signal(signal.SIGTERM)
        codes = [finish(launcher, tmp_path)]
    codes.append(run_once(JOB, tmp_path))
    assert codes == [PREEMPTED, 0], said(tmp_path)
    _check(tmp_path, expected, record_property)
    record_property("codes", codes)
    record_property("seconds", round(time.monotonic() - began, 1))


def _wait_for_steps(folder: Path) -> None:
    log = folder / "steps.jsonl"
    wait_until(lambda: log.exists() and log.read_text().count("end") > 20, folder, "ten steps of two workers")


def _check(folder: Path, expected: Any, record_property: Record) -> None:
    chief, other = attempts_of(folder, 0), attempts_of(folder, 1)
    assert len(chief) == len(other) == 2
    assert chief[0].end == other[0].end == chief[1].committed == other[1].committed
    twice = steps_run_twice(JOB, folder)
    assert twice == 0
    assert result_of(folder) == expected
    check_nothing_temporary(folder)
    record_property("left_at", chief[0].end)
    record_property("twice", twice)
