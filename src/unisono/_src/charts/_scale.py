"""One axis: from values to pixels, and the values that get a tick."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

ScaleKind = Literal["linear", "log"]
_NICE_STEPS: Final = (1.0, 2.0, 2.5, 5.0, 10.0)
_LARGEST: Final = 1e150  # ratios and margins of larger numbers overflow
_LEAST_RANGE: Final = 1e-9  # of the size of the values: ticks have 12 digits


@dataclass(frozen=True)
class Scale:
    """Maps ``low`` … ``high`` to the pixels ``start`` … ``end``, which may run downwards.

    >>> Scale("linear", 0, 10, 0, 100).place(5)
    50.0
    >>> Scale("log", 1, 100, 0, 100).place(10)
    50.0
    """

    kind: ScaleKind
    low: float
    high: float
    start: float
    end: float

    def place(self, value: float) -> float:
        """The pixel of ``value``."""
        low, high, value = (self._transform(each) for each in (self.low, self.high, value))
        return self.start + (value - low) / (high - low) * (self.end - self.start)

    def can_place(self, value: float) -> bool:
        """Whether ``value`` has a pixel: it is finite, and positive on a logarithmic axis."""
        return _has_place(self.kind, value)

    def ticks(self, wanted: int, whole: bool = False) -> list[float]:
        """About ``wanted`` round values between the ends; whole numbers only, if ``whole``."""
        if self.kind == "log":
            return self._log_ticks(wanted)
        step = _nice_step((self.high - self.low) / max(wanted, 1))
        if whole:
            step = max(1.0, math.ceil(step))
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [float(f"{number * step:.12g}") for number in range(first, last + 1)]

    def _log_ticks(self, wanted: int) -> list[float]:
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        decades = last - first
        multiples = (1, 2, 5) if decades <= 2 else (1, 3) if decades <= 3 else (1,)
        every = max(1, math.ceil(decades / max(wanted, 1)))
        values = [multiple * 10.0**exponent for exponent in range(first, last + 1, every) for multiple in multiples]
        return [value for value in values if self.low * (1 - 1e-9) <= value <= self.high * (1 + 1e-9)]

    def _transform(self, value: float) -> float:
        return math.log10(value) if self.kind == "log" else value


def fit_scale(kind: ScaleKind, values: Iterable[float], start: float, end: float, margin: float = 0.0) -> Scale | None:
    """The scale on which all ``values`` have a pixel, with a ``margin`` (a share of the range); None without values."""
    usable = [value for value in values if _has_place(kind, value)]
    if not usable:
        return None
    low, high = min(usable), max(usable)
    if kind == "log":
        if high - low <= _LEAST_RANGE * low:
            low, high = low / 2, high * 2
        factor = (high / low) ** margin
        return Scale(kind, low / factor, high * factor, start, end)
    size = max(abs(low), abs(high))
    is_zero = size < 1 / _LARGEST
    if is_zero or high - low <= _LEAST_RANGE * size:
        extent = 1.0 if is_zero else size * 0.1
        low, high = low - extent, high + extent
    extent = (high - low) * margin
    # An axis of counts, seconds or losses begins at 0 rather than at a small negative number.
    return Scale(kind, 0.0 if 0 <= low < extent else low - extent, high + extent, start, end)


def _has_place(kind: ScaleKind, value: float) -> bool:
    # A NaN is smaller than no number, and infinity is not smaller than the largest one.
    return abs(value) < _LARGEST if kind == "linear" else 1 / _LARGEST < value < _LARGEST


def _nice_step(step: float) -> float:
    power = 10.0 ** math.floor(math.log10(step))
    return min((nice * power for nice in _NICE_STEPS), key=lambda nice: abs(math.log(nice / step)))
