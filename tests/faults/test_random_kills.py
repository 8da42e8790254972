"""Kills at random moments of one job: it finishes, and its result is that of a job that was not killed."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from tests.faults._jobs import (
    Job,
    check_checkpoints,
    finish,
    pid_of_worker,
    result_of,
    run_to_the_end,
    said,
    started,
    wait_until,
)
from tests.faults._steps import STEPS_PER_EPOCH, Attempt, attempts_of, steps_run_twice

KILLS: Final = 20
AFTER_FIRST_SAVE: Final = 15

TWO_WORKERS: Final = Job(
    workers=2, epochs=60, save_by="seconds", save_every=0.5, step_seconds=0.05, data="arrays", max_restarts=20
)
KILLS_OF_WORKERS: Final = 10

JOBS: Final = {
    "a step per call": Job(epochs=60, save_every=5, step_seconds=0.02, data="rows"),
    "many steps per call": Job(epochs=60, save_every=12, steps_per_call=8, step_seconds=0.02, data="stream"),
}


Record = Callable[[str, object], None]


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", JOBS)
def test_twenty_kills_change_nothing(
    name: str, undisturbed: Callable[..., Any], tmp_path: Path, record_property: Record
) -> None:
    record_property("random", name)
    job, draw, began = JOBS[name], random.Random(name), time.monotonic()
    expected, saved = undisturbed(job), 0
    for number in range(KILLS):
        _kill_process(job, tmp_path, draw, asleep=number % 4 == 0)
        saved += _has_saves(tmp_path)
        check_checkpoints(tmp_path)
    ending = run_to_the_end(job, tmp_path)
    assert ending.codes == [0], said(tmp_path)
    assert saved >= AFTER_FIRST_SAVE
    record_property("kills", KILLS)
    record_property("after_first_save", saved)
    _check(job, tmp_path, expected, record_property)
    record_property("seconds", round(time.monotonic() - began, 1))


@pytest.mark.full
@pytest.mark.timeout(1800)
def test_a_job_that_saves_by_the_clock_outlives_kills_of_its_workers_and_its_launcher(
    undisturbed: Callable[..., Any], tmp_path: Path, record_property: Record
) -> None:
    record_property("random", "two workers, or their launcher; a checkpoint every half a second")
    job, draw, began = TWO_WORKERS, random.Random(2), time.monotonic()
    expected, saved, code = undisturbed(job), [], -1
    while code != 0:
        victim = ""
        with started(job, tmp_path) as launcher:
            while len(saved) < KILLS_OF_WORKERS and victim != "launcher":
                victim = _kill_one(job, tmp_path, launcher.pid, draw)
                saved.append(_has_saves(tmp_path))
            code = finish(launcher, tmp_path)
        assert code == 0 or victim == "launcher", said(tmp_path)
    record_property("kills", len(saved))
    record_property("after_first_save", sum(saved))
    _check(job, tmp_path, expected, record_property)
    record_property("seconds", round(time.monotonic() - began, 1))


def _kill_process(job: Job, folder: Path, draw: random.Random, *, asleep: bool) -> None:
    """Starts the job and kills it: while it starts, or (not `asleep`) up to half a second after its first steps."""
    before = _num_lines(folder)
    with started(job, folder) as process:
        if asleep:
            time.sleep(draw.uniform(0, 4))
        else:
            wait_until(lambda: _num_lines(folder) >= before + 3, folder, "the first steps")  # a start, a call
            time.sleep(draw.uniform(0, 0.5))
        assert process.poll() is None, f"too early for a kill:\n{said(folder)}"
        process.kill()
        process.wait()


def _kill_one(job: Job, folder: Path, launcher: int, draw: random.Random) -> str:
    """Kills a worker or the launcher, up to 2.5 s after all workers train. Whom, is returned."""
    before = [len(attempts) for attempts in _all_attempts(job, folder)]

    def all_train() -> bool:
        after = _all_attempts(job, folder)
        return all(len(each) > number and each[-1].calls for number, each in zip(before, after, strict=True))

    wait_until(all_train, folder, "all workers to train")
    time.sleep(draw.uniform(0, 2.5))
    victim = draw.choice(("worker 0", "worker 1", "launcher"))
    os.kill(launcher if victim == "launcher" else pid_of_worker(int(victim[-1]), folder), signal.SIGKILL)
    return victim


def _all_attempts(job: Job, folder: Path) -> list[list[Attempt]]:
    started_at_all = (folder / "steps.jsonl").exists()
    return [attempts_of(folder, process) if started_at_all else [] for process in range(job.workers)]


def _check(job: Job, folder: Path, expected: Any, record_property: Record) -> None:
    attempts = attempts_of(folder)
    record_property("in_training", sum(bool(attempt.calls) for attempt in attempts) - 1)
    record_property("twice", steps_run_twice(job, folder))
    record_property("steps", STEPS_PER_EPOCH * job.epochs)
    assert result_of(folder) == expected, said(folder)


def _has_saves(folder: Path) -> bool:
    return any(folder.glob("run/checkpoints/fit-1/save-*"))


def _num_lines(folder: Path) -> int:
    path = folder / "steps.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0
