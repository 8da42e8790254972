"""Reads the file of steps: which of them ran twice, and whether they had to."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults._jobs import Job

STEPS_PER_EPOCH = 8


@dataclass
class Attempt:
    """One process, from its start to its end.

    Attributes:
        committed: the step of the newest checkpoint when it started; None if there was none.
        calls: the first step of each of its calls, and the last one if the call finished.
        done: whether the script finished.
    """

    committed: int | None
    calls: list[tuple[int, int | None]] = field(default_factory=list)
    done: bool = False

    @property
    def first(self) -> int:
        return self.committed or 0

    @property
    def end(self) -> int:
        """The first step that it did not begin."""
        if not self.calls:
            return self.first
        first, last = self.calls[-1]
        return (first if last is None else last) + 1


def attempts_of(folder: Path, process: int = 0) -> list[Attempt]:
    """All of one process of a job, in order."""
    attempts: list[Attempt] = []
    *lines, _ = (folder / "steps.jsonl").read_text().split("\n")  # the last one may be incomplete
    for line in lines:
        index, event, *values = json.loads(line)
        if index != process:
            continue
        if event == "start":
            attempts.append(Attempt(values[0]))
        elif event == "begin":
            attempts[-1].calls.append((values[0], None))
        elif event == "end":
            attempts[-1].calls[-1] = (attempts[-1].calls[-1][0], values[0])
        elif event == "done":
            attempts[-1].done = True
        else:
            raise AssertionError(line)
    return attempts


def steps_run_twice(job: Job, folder: Path) -> int:
    """How many, by the process that ran most of them. Checks that each start resumed from the newest checkpoint.

    A checkpoint is begun every `save_every` steps, and the one before it has been written then. So no more than twice
    as many steps can be without one.
    """
    return max(_run_twice(job, attempts_of(folder, process)) for process in range(job.workers))


def _run_twice(job: Job, attempts: list[Attempt]) -> int:
    assert attempts[-1].done, attempts
    twice = reached = 0
    newest: int | None = None
    for attempt in attempts:
        assert newest is None or (attempt.committed is not None and attempt.committed >= newest), f"lost: {attempts}"
        newest, next_step = attempt.committed, attempt.first
        for first, last in attempt.calls:
            assert first == next_step, f"step {first} instead of {next_step}: {attempts}"
            next_step = first + 1 if last is None else last + 1
        if job.save_by == "steps":
            assert reached - attempt.first <= 2 * job.save_every, attempts
        twice += max(0, min(reached, attempt.end) - attempt.first)
        reached = max(reached, attempt.end)
    assert reached == job.epochs * STEPS_PER_EPOCH, attempts
    return twice
