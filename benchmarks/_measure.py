"""Interleaved rounds, and their statistics.

The load of the machine may change from minute to minute. So all contenders of a case are alive at the same time and
alternate: each runs one round while the rest wait on stdin. Ratios are computed within a round, between times that are
seconds apart; the result is the median and the spread of the ratios of all rounds.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import platform
import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from _cases import UNISONO, Case
from _contender import Contender, ContenderError, start
from _environments import HERE, Environments


@dataclass(frozen=True, kw_only=True)
class Series:
    """Measurements of one contender: times per step of every counted round (elapsed, and of all its cores together),
    and the losses of all rounds. Without training, a step is one element, and there are no losses."""

    about: dict[str, str]
    seconds_per_step: list[float]
    cpu_seconds_per_step: list[float]
    losses: list[float]
    failure: str | None = None
    first_seconds: float = 0.0
    """Of the first round, which compiles."""
    peak_bytes: float = 0.0
    """The most memory of the device in use, if the contender says so."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """The result of a case."""

    case: str
    workload: dict[str, Any]
    data: str
    machine: str
    measured: str
    series: dict[str, Series]
    stored_programs: bool = False
    """Whether contenders found programs that were compiled before: then the first round does not compile them."""

    def ratios(self, contender: str, other: str) -> list[float] | None:
        """The contender's time divided by the other's, round by round; None if one of them failed."""
        if any(name not in self.series or self.series[name].failure for name in (contender, other)):
            return None
        pairs = (self.series[name].seconds_per_step for name in (contender, other))
        return [one / two for one, two in zip(*pairs, strict=True)]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Result:
        series = {name: Series(**one) for name, one in values["series"].items()}
        return cls(**{**values, "series": series})


@dataclass(eq=False)
class _Record:
    contender: Contender
    seconds_per_step: list[float] = field(default_factory=list)
    cpu_seconds_per_step: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    failure: str | None = None
    first_seconds: float = 0.0
    peak_bytes: float = 0.0


def measure(
    case: Case, environments: Environments, *, data: str, rounds: int, warm_up: int, say: Callable[[str], None]
) -> Result:
    """Runs ``warm_up`` rounds, which include compilation and are discarded, and then ``rounds`` rounds."""
    workload = case.workload
    commands = {name: environments.command(name, workload) for name in case.contenders}
    with contextlib.ExitStack() as stack:
        records = []
        for name, command in commands.items():
            say(f"{case.name}: starting {name}")
            variables = environments.variables(name, workload)
            records.append(_Record(stack.enter_context(start(name, command, variables, HERE))))
        for record in records:  # all build at the same time, which is not measured
            with _noted(record):
                record.contender.wait_until_ready()
        for number in range(warm_up + rounds):
            say(f"{case.name}: " + (f"warm-up {number + 1}" if number < warm_up else f"round {number - warm_up + 1}"))
            first = number % len(records)
            for record in records[first:] + records[:first]:
                _one_round(record, workload.steps_per_round, counted=number >= warm_up)
    return Result(
        case=case.name,
        workload=json.loads(workload.to_json()),
        data=data,
        machine=f"{platform.machine()}, {os.cpu_count()} cores",
        measured=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        series={
            record.contender.name: Series(
                about=record.contender.about,
                seconds_per_step=record.seconds_per_step,
                cpu_seconds_per_step=record.cpu_seconds_per_step,
                losses=record.losses,
                failure=record.failure,
                first_seconds=record.first_seconds,
                peak_bytes=record.peak_bytes,
            )
            for record in records
        },
        stored_programs=environments.stored_programs,
    )


def _one_round(record: _Record, steps: int, *, counted: bool) -> None:
    if record.failure:
        return
    with _noted(record):
        answer = record.contender.round()
        record.first_seconds = record.first_seconds or answer["seconds"]
        record.peak_bytes = max(record.peak_bytes, answer.get("peak_bytes", 0.0))
        if "loss" in answer:
            record.losses.append(answer["loss"])
        if counted:
            record.seconds_per_step.append(answer["seconds"] / steps)
            record.cpu_seconds_per_step.append(answer["cpu_seconds"] / steps)


@contextlib.contextmanager
def _noted(record: _Record) -> Any:
    """Records the failure of a contender; the rest continue."""
    try:
        yield
    except ContenderError as error:
        record.failure = str(error)


def median_and_spread(values: list[float]) -> tuple[float, float, float]:
    """(median, lower quartile, upper quartile)."""
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return middle, low, high


def trains_differently(result: Result, contender: str, *, number: int = 0, tolerance: float = 0.25) -> bool:
    """Whether the loss after a round, by default the first, differs from Unisono's: then it is other work."""
    losses, ours = (result.series[name].losses for name in (contender, UNISONO))
    return bool(losses and ours) and abs(losses[number] - ours[number]) > tolerance * ours[number]
