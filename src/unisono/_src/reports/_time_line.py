"""What happened to a run, in order: starts, restarts with their cause, preemptions, the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from unisono._src.reports._run import FitRecord, Run, get_count, get_number

RunEventKind = Literal["start", "restart", "preemption", "excluded", "end"]


@dataclass(frozen=True)
class RunEvent:
    """One event: when (seconds since 1970), what, and at which step training continues, if that is known.

    ``cause``: why training was interrupted, for a restart or a preemption; it is part of ``text``.
    """

    time: float
    kind: RunEventKind
    text: str
    fit: int | None = None
    step: int | None = None
    cause: str = ""


def list_run_events(run: Run) -> list[RunEvent]:
    """What happened, in order. The cause of a restart is the launcher's if there was one; else what the `fit` wrote."""
    causes = [event for event in run.events if event.get("event") in ("failed", "preempted")]
    found: list[RunEvent] = []
    for fit in run.fits:
        for number, attempt in enumerate(fit.attempts):
            found.append(_describe_start(run, fit, number, causes))
            if attempt.end is not None and (number == len(fit.attempts) - 1 or not causes):
                found.append(_describe_end(fit, attempt.end))
    for event in run.events:
        if event.get("event") == "excluded":
            text = f"{event.get('what', 'a worker')} is left out from now on"
            found.append(RunEvent(get_number(event, "time"), "excluded", text))
        elif event.get("event") == "end" and event.get("code"):
            text = f"the job ended with exit code {event['code']}: {event.get('why', '')}"
            found.append(RunEvent(get_number(event, "time"), "end", text))
    return sorted(found, key=lambda each: each.time)


def list_restarts(run: Run) -> list[RunEvent]:
    """Restarts and preemptions alone."""
    return [each for each in list_run_events(run) if each.kind in ("restart", "preemption")]


def describe_status(run: Run, now: float) -> str:
    """ "finished", "running", or how it stopped."""
    fit = run.last_fit
    reason = fit.attempts[-1].reason
    if reason is not None:
        return reason
    ends = [event for event in run.events if event.get("event") == "end"]
    start = get_number(fit.attempts[-1].start, "time")
    if ends and get_number(ends[-1], "time") > start:
        return f"stopped (exit code {ends[-1].get('code')})"
    silent = now - run.last_time
    longest = max([get_number(line, "seconds") for line in (*fit.epochs, *fit.intervals)], default=0.0)
    if silent > max(60.0, 3 * longest):
        return f"no line for {format_seconds(silent)}: killed, or in a long epoch"
    return "running"


def format_seconds(seconds: float) -> str:
    """A time as one says it.

    >>> [format_seconds(each) for each in (0.25, 42.0, 150.0, 7300.0, 200_000.0)]
    ['0.25 s', '42 s', '2 min 30 s', '2 h 1 min', '2 d 7 h']
    """
    if seconds < 10:
        return f"{seconds:.2g} s"
    for size, unit, part, name in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if seconds >= size:
            rest = int(seconds % size // part)
            return f"{int(seconds // size)} {unit}" + (f" {rest} {name}" if rest else "")
    return f"{seconds:.0f} s"


def _describe_start(run: Run, fit: FitRecord, number: int, causes: list[Mapping[str, Any]]) -> RunEvent:
    start = fit.attempts[number].start
    time, step = get_number(start, "time"), get_count(start, "step")
    where = f"from step {step:,}" if start.get("resumed") else "from the beginning"
    name = "" if len(run.fits) == 1 else f"fit {fit.number} "
    if number == 0 and not start.get("resumed"):
        return RunEvent(time, "start", f"{name}starts on {_count_devices(start)}", fit.number, step)
    since = get_number(fit.attempts[number - 1].start, "time") if number else 0.0
    cause = next((each for each in reversed(causes) if since < get_number(each, "time") < time), None)
    reason = fit.attempts[number - 1].reason if number else None
    if cause is None and reason == "finished":  # and has more epochs now
        return RunEvent(time, "start", f"{name}continues {where} on {_count_devices(start)}", fit.number, step)
    if cause is not None:
        why, preempted = str(cause.get("cause", "")), cause.get("event") == "preempted"
    else:
        why = "the process was killed" if reason is None else reason
        preempted = reason == "preempted"
    kind: RunEventKind = "preemption" if preempted else "restart"
    text = f"{why}; {name}continues {where} on {_count_devices(start)}"
    if cause is None:
        return RunEvent(time, kind, text, fit.number, step, why)
    failed = get_number(cause, "time")
    return RunEvent(failed, kind, f"{text}, {format_seconds(time - failed)} later", fit.number, step, why)


def _describe_end(fit: FitRecord, end: Mapping[str, Any]) -> RunEvent:
    step = get_count(end, "step")
    text = f"fit {fit.number}: {end.get('reason', 'ended')}, at step {step:,}"
    return RunEvent(get_number(end, "time"), "end", text, fit.number, step)


def _count_devices(start: Mapping[str, Any]) -> str:
    number = get_count(start, "devices", 1)
    return f"{number} device{'' if number == 1 else 's'}"
