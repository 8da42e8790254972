"""What SLURM says about a job, by `scontrol`: its state, when it ends, how long it has after SIGTERM."""

from __future__ import annotations

import re
import subprocess
import time
from dataclasses import dataclass, replace
from typing import Final

_TIMEOUT: Final = 10.0  # for a question: a busy slurmctld can take seconds
_TIMEOUT_AFTER_SIGNAL: Final = 3.0  # the launcher does nothing else meanwhile
_DEFAULT_KILL_WAIT: Final = 30.0  # slurm.conf(5)
_BEFORE_KILL: Final = 5.0  # of SLURM's time, for the launcher to end and to report what did not
_BEFORE_LIMIT: Final = 20.0  # of the time before the time limit, for the batch script to requeue the job


class SlurmError(Exception):
    """A command of SLURM is missing or has failed; the text is its own."""


@dataclass(frozen=True, kw_only=True)
class SlurmJob:
    """A job at one moment.

    >>> job = parse_job("JobId=7 JobName=mnist JobState=RUNNING Reason=None Restarts=1 ExitCode=0:0 NodeList=n[1-2]")
    >>> job.state, job.restarts, job.nodes
    ('RUNNING', 1, 'n[1-2]')
    """

    state: str
    reason: str
    restarts: int
    """How often SLURM has started it before."""
    exit_code: int
    """Of the batch script."""
    exit_signal: int
    """That ended the batch script; 0 if none did."""
    nodes: str
    output: str
    """The file of its output."""
    ends_at: float | None
    """When its time is up, by `time.time`; None if it has no limit, or has not started."""
    preempted_at: float | None
    """When the GraceTime of a preemption began, by `time.time`; None if it is not in one."""
    partition: str

    def seconds_until_kill(self, kill_wait: float, now: float) -> float | None:
        """So long after SIGTERM the workers may take to save; None if SLURM does not end the job.

        A job that still runs got a notice. Before the time limit it must end early enough to be requeued. In the
        GraceTime of a preemption it has that time: then comes a second SIGTERM, which workers do not survive, and SLURM
        requeues the job itself. A job that does not run any more is being ended (a preemption without GraceTime,
        scancel, a lost node), and KillWait is all it has.
        """
        if self.state != "RUNNING":
            return kill_wait - _BEFORE_KILL
        if self.ends_at is None:
            return None
        return self.ends_at - now - (_BEFORE_LIMIT if self.preempted_at is None else 0.0)


def read_job(job_id: str, timeout: float = _TIMEOUT) -> SlurmJob:
    """Asks SLURM about a job; raises :class:`SlurmError`, also for one that ended minutes ago and was forgotten."""
    return parse_job(call_slurm("scontrol", "--oneliner", "show", "job", job_id, timeout=timeout))


def seconds_until_kill(job_id: str) -> float | None:
    """So long the processes of a job may take to end after a SIGTERM that arrives now; None if that is not known."""
    try:
        job = read_job(job_id, _TIMEOUT_AFTER_SIGNAL)
        if job.preempted_at is not None and job.ends_at is None:  # scontrol hides the end of a job without a time limit
            job = replace(job, ends_at=job.preempted_at + _read_grace_time(job.partition))
        return job.seconds_until_kill(_read_kill_wait(), time.time())
    except SlurmError:  # a container without SLURM's commands, say
        return None


def _read_grace_time(partition: str) -> float:
    """Seconds of notice before a job of this partition is preempted; a QOS may have its own, which is not looked up."""
    match = re.search(r"\bGraceTime=(\d+)", _ask("show", "partition", partition))
    return float(match[1]) if match else 0.0


def _read_kill_wait() -> float:
    """Seconds between SIGTERM and SIGKILL when SLURM ends a job."""
    match = re.search(r"(?m)^KillWait\s*=\s*(\d+)", _ask("show", "config"))
    return float(match[1]) if match else _DEFAULT_KILL_WAIT


def _ask(*words: str) -> str:
    return call_slurm("scontrol", *words, timeout=_TIMEOUT_AFTER_SIGNAL)


def call_slurm(*words: str, timeout: float) -> str:
    """The output of a command of SLURM; raises :class:`SlurmError` with what it said."""
    try:
        result = _run(words, timeout)
        if result.returncode < 0:  # SLURM signals every process of a job, some of them twice
            result = _run(words, timeout)
    except FileNotFoundError:
        raise SlurmError(f"{words[0]} is not on the PATH") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SlurmError(str(error)) from None
    if result.returncode:
        raise SlurmError((result.stderr or result.stdout).strip() or f"{words[0]} ended with code {result.returncode}")
    return result.stdout


def _run(words: tuple[str, ...], timeout: float) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, check=False)


def parse_job(text: str) -> SlurmJob:
    """Reads a line of `scontrol --oneliner show job`."""
    # A value may have blanks, as file names do: it ends before the next key.
    fields = dict(re.findall(r"(?m)(?:^|\s)([A-Z][\w/:]*)=(.*?)(?=\s+[A-Z][\w/:]*=|\s*$)", text))
    if "JobState" not in fields:
        raise SlurmError(f"scontrol shows no job, but: {text.strip()[:200]!r}")
    code, _, number = fields.get("ExitCode", "0:0").partition(":")
    return SlurmJob(
        state=fields["JobState"],
        reason=fields.get("Reason", "None"),
        restarts=int(fields.get("Restarts", "0")),
        exit_code=int(code),
        exit_signal=int(number or 0),
        nodes=fields.get("NodeList", ""),
        output=fields.get("StdOut", ""),
        ends_at=_parse_time(fields.get("EndTime", "")),
        preempted_at=_parse_time(fields.get("PreemptTime", "")),
        partition=fields.get("Partition", ""),
    )


def _parse_time(text: str) -> float | None:
    """A time of this machine's time zone, as `scontrol` writes it; None for Unknown, None and N/A."""
    try:
        return time.mktime(time.strptime(text, "%Y-%m-%dT%H:%M:%S"))
    except ValueError:
        return None
