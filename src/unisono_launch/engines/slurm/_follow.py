"""Shows the output of a job until it has ended, through requeues."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Final

from unisono_launch.cluster import SlurmError, SlurmJob, read_job
from unisono_launch.launch import StopRequestedError, UsageError, exit_code_after, stop_signals_raised
from unisono_launch.worker import ExitCode

_POLL_OUTPUT: Final = 0.25
_POLL_SOON: Final = 1.0  # seconds between questions to SLURM, for half a minute after something has happened
_POLL_LATER: Final = 5.0  # and then: there may be many of us
_SOON: Final = 30.0
_LAST_OUTPUT: Final = 2.0  # network file systems show the last lines late
_ACCOUNTED: Final = 120.0  # so long SLURM may not answer before we stop asking

# Of waiting. Others say that something must be done: PartitionTimeLimit, ReqNodeNotAvail, QOSMaxCpuPerUserLimit, …
_USUAL_REASONS: Final = ("None", "Priority", "Resources", "BeginTime")

# What users ask about most.
_EXPLAINED_REASONS: Final = {
    "PartitionConfig": "the partition does not have what the job asks for, so it cannot start",
    "PartitionNodeLimit": "the partition has fewer machines than the job asks for, so it cannot start",
    "PartitionTimeLimit": "the partition does not allow so long a time limit, so it cannot start",
}

# How a job ends that is not requeued: what `unisono run` would return, and a word for the user.
_ENDINGS: Final = {
    "COMPLETED": (ExitCode.DONE, "is done"),
    "CANCELLED": (ExitCode.TERMINATED, "was cancelled"),
    "DEADLINE": (ExitCode.TERMINATED, "reached its deadline"),
    "TIMEOUT": (ExitCode.TERMINATED, "reached its time limit before its workers had saved and ended"),
    "PREEMPTED": (ExitCode.PREEMPTED, "was preempted, and SLURM does not requeue it"),
    "NODE_FAIL": (ExitCode.LOST, "has lost a machine, and SLURM does not requeue it"),
    "BOOT_FAIL": (ExitCode.LOST, "could not start a machine"),
    "OUT_OF_MEMORY": (ExitCode.LOST, "ran out of memory"),
    "REVOKED": (ExitCode.LOST, "was revoked"),
}


def follow(job_id: str) -> int:
    """Shows the output and the changes of state; returns the exit code of the job, with the meaning of `unisono run`.

    Ctrl-C, and a signal that asks this process to end, leave the job as it is: it belongs to SLURM.
    """
    try:
        with stop_signals_raised():
            return _follow(job_id)
    except StopRequestedError as stop:
        _say(f"job {job_id} continues. Follow it: unisono run --on slurm --follow {job_id}    End it: scancel {job_id}")
        return exit_code_after(stop.number, [])


def _follow(job_id: str) -> int:
    job = _ask(job_id)
    output = _GrowingFile(Path(job.output))
    shown = ""
    changed = time.monotonic()
    while True:
        text = _describe(job_id, job)
        if text != shown and not _is_over(job):
            output.show()
            _say(text)
            shown, changed = text, time.monotonic()
        if _is_over(job):
            output.show_rest()
            again = _ask(job_id)
            if again.state == job.state:  # a job that is requeued can pass through such a state
                break
            job = again
            continue
        soon = time.monotonic() - changed < _SOON
        next_question = time.monotonic() + (_POLL_SOON if soon else _POLL_LATER)
        while time.monotonic() < next_question:
            output.show()
            time.sleep(_POLL_OUTPUT)
        job = _ask(job_id)
    if not output.exists():
        _say(f"its output, {job.output}, is not here. Is that folder on a file system that all machines share?")
    code, text = _judge(job)
    script = Path(job.output).with_name("job.sh")  # as `unisono run --on slurm` has written it
    advice = f" To continue it: sbatch {script}" if code != ExitCode.DONE and script.exists() else ""
    _say(f"job {job_id} {text}. Exit code {int(code)}.{advice}")
    return code


def _ask(job_id: str) -> SlurmJob:
    deadline = time.monotonic() + _ACCOUNTED
    while True:
        try:
            return read_job(job_id)
        except SlurmError as error:
            if "Invalid job id" in str(error) or time.monotonic() > deadline:
                raise UsageError(
                    f"SLURM says nothing about job {job_id}: {error}. If it has ended, sacct -j {job_id} may know how."
                ) from None
        time.sleep(_POLL_LATER)


def _is_over(job: SlurmJob) -> bool:
    return job.state in _ENDINGS or job.state == "FAILED"


def _judge(job: SlurmJob) -> tuple[int, str]:
    if job.state != "FAILED":
        return _ENDINGS[job.state]
    if job.exit_signal:
        return ExitCode.LOST, f"failed: its batch script was ended by signal {job.exit_signal}"
    if job.exit_code == ExitCode.TERMINATED:
        return job.exit_code, "was stopped by SIGTERM before its workers had saved, and is not requeued"
    if job.exit_code > 128 and job.exit_code != ExitCode.INTERRUPTED:  # a launcher was killed: 128 and the signal
        return ExitCode.LOST, f"failed with code {job.exit_code}"
    return job.exit_code, "failed"


def _describe(job_id: str, job: SlurmJob) -> str:
    again = f" (restart {job.restarts})" if job.restarts else ""
    if job.state == "PENDING":
        if job.restarts and job.reason == "BeginTime":
            why = f". SLURM waits about two minutes; to start it now: scontrol update jobid={job_id} StartTime=now"
        elif job.reason in _USUAL_REASONS:
            why = ""
        else:
            why = f": {_EXPLAINED_REASONS.get(job.reason, job.reason.replace('_', ' '))}"
        return f"job {job_id} waits in the queue{again}{why}"
    if job.state == "RUNNING":
        return f"job {job_id} runs on {job.nodes}{again}"
    return f"job {job_id} is {job.state.lower().replace('_', ' ')}{again}"


def _say(text: str) -> None:
    print(f"unisono: {text}", file=sys.stderr, flush=True)


class _GrowingFile:
    """A file that others append to, and that need not exist yet."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._position = 0
        self._is_shown = True

    def exists(self) -> bool:
        """Whether there is a file."""
        return self._path.exists()

    def show(self) -> bool:
        """Prints what is new; whether there was anything."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._position)
                new = file.read()
        except FileNotFoundError:
            return False
        self._position += len(new)
        rest = memoryview(new)
        try:
            while rest and self._is_shown:
                rest = rest[os.write(sys.stdout.fileno(), rest) :]
        except BrokenPipeError:  # `| head`: the code of the job is still wanted
            self._is_shown = False
        return bool(new)

    def show_rest(self) -> None:
        """Prints what is new until nothing comes any more."""
        deadline = time.monotonic() + _LAST_OUTPUT
        while self.show() or time.monotonic() < deadline:
            time.sleep(_POLL_OUTPUT)
