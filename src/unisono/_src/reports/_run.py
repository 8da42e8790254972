"""A run as objects: its attempts, and the lines of each `fit`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from unisono._src.core import PARTS

_MAX_PLAUSIBLE: Final = 1e15  # of steps, devices, seconds: a larger number is a mistake in the file
_SPECIAL: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


@dataclass(frozen=True)
class Attempt:
    """One start of a `fit`, and its end; None if nobody wrote that, as after a kill."""

    start: Mapping[str, Any]
    end: Mapping[str, Any] | None = None

    @property
    def reason(self) -> str | None:
        """Why it ended: "finished", "preempted", …; None if that is not known."""
        return None if self.end is None else str(self.end.get("reason", ""))


@dataclass
class FitRecord:
    """The lines of one `fit` over all attempts.

    Attributes:
        number: its number in the run.
        description: its entry in run.json; empty if there is none.
        attempts: each start.
        epochs: the lines of epochs. What an attempt did again replaces what the attempts before had done.
        intervals: the lines within epochs, likewise.
        superseded: lines that were replaced.
    """

    number: int
    description: Mapping[str, Any]
    attempts: list[Attempt] = field(default_factory=list)
    epochs: list[Mapping[str, Any]] = field(default_factory=list)
    intervals: list[Mapping[str, Any]] = field(default_factory=list)
    superseded: list[Mapping[str, Any]] = field(default_factory=list)

    def add(self, line: Mapping[str, Any]) -> None:
        """The next line of the file."""
        kind = line.get("kind")
        if kind == "start":
            self._drop_after(int(line.get("step", 0)))
            self.attempts.append(Attempt(line))
        elif kind == "end" and self.attempts:
            self.attempts[-1] = Attempt(self.attempts[-1].start, line)
        elif kind == "epoch":
            self.epochs.append(line)
        elif kind == "steps":
            self.intervals.append(line)

    @property
    def model(self) -> Mapping[str, Any]:
        """Its model, as described in run.json."""
        return get_object(self.description, "model")

    @property
    def input(self) -> Mapping[str, Any]:
        """Its data, as described in run.json."""
        return get_object(self.description, "input")

    @property
    def lines(self) -> list[Mapping[str, Any]]:
        """Those of epochs, or those within an epoch if there is no more than one epoch to show."""
        return self.epochs if len(self.epochs) > 1 or not self.intervals else self.intervals

    @property
    def seconds_by_part(self) -> dict[str, float]:
        """The time of all its epochs, by parts; what was computed again is not counted."""
        lines = self.epochs or self.intervals
        seconds = {name: [get_number(line.get("parts", {}), name) for line in lines] for name in PARTS}
        return {name: sum(each for each in values if 0 <= each < _MAX_PLAUSIBLE) for name, values in seconds.items()}

    @property
    def num_devices(self) -> int:
        """The most that it had in any attempt."""
        return max((get_count(each.start, "devices", 1) for each in self.attempts), default=1)

    @property
    def metric_names(self) -> list[str]:
        """The metrics of all lines, in the order in which they appear."""
        names: dict[str, None] = {}
        for line in (*self.epochs, *self.intervals):
            names.update(dict.fromkeys(line.get("metrics", {})))
        return list(names)

    def _drop_after(self, step: int) -> None:
        for lines in (self.epochs, self.intervals):
            self.superseded += [line for line in lines if int(line.get("step", 0)) > step]
            lines[:] = [line for line in lines if int(line.get("step", 0)) <= step]


@dataclass
class Run:
    """A run: a folder."""

    path: Path
    name: str
    description: Mapping[str, Any]
    fits: list[FitRecord]
    events: list[Mapping[str, Any]]

    @property
    def main_fit(self) -> FitRecord:
        """The one that trained longest."""
        return max(self.fits, key=lambda fit: sum(fit.seconds_by_part.values()))

    @property
    def last_fit(self) -> FitRecord:
        """The one that was started last. That is an earlier one if the script was started again in the same folder."""
        return max(reversed(self.fits), key=lambda fit: get_number(fit.attempts[-1].start, "time"))

    @property
    def began(self) -> float:
        """When it began, in seconds since 1970."""
        return min(get_number(attempt.start, "time") for fit in self.fits for attempt in fit.attempts)

    @property
    def last_time(self) -> float:
        """The time of its last line."""
        times = [get_number(line, "time") for fit in self.fits for line in (*fit.epochs, *fit.intervals)]
        ends = [get_number(each.end or each.start, "time") for fit in self.fits for each in fit.attempts]
        return max([*times, *ends])


def get_number(values: Mapping[str, Any], name: str, default: float = 0.0) -> float:
    """A number of a line; NaN and infinity are written as text."""
    value = values.get(name)
    if isinstance(value, str):
        return _SPECIAL.get(value, math.nan)
    if not isinstance(value, int | float):
        return default
    try:
        return float(value)
    except OverflowError:  # a whole number of more than 308 digits
        return math.inf if value > 0 else -math.inf


def get_count(values: Mapping[str, Any], name: str, default: int = 0) -> int:
    """How many of something there are; ``default`` if that is not there, or is no such number.

    >>> get_count({"devices": 2}, "devices"), get_count({"devices": "NaN"}, "devices", 1)
    (2, 1)
    """
    number = get_number(values, name, default)
    return int(number) if 0 <= number < _MAX_PLAUSIBLE else default


def get_object(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """An object of a description; an empty one if there is none."""
    found = values.get(name)
    return found if isinstance(found, dict) else {}
