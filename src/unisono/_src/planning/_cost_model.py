"""Step time and efficiency for more devices: compute, then exchange, on each number of devices."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from unisono._src.planning._collectives import Collective
from unisono._src.planning._compute_time import ComputeTimer
from unisono._src.planning._interconnect import Exchange

MOST_DEVICES: Final = 1024

# Twice the devices have to make training at least this many times as fast.
PAYS: Final = 1.5

# Beyond this number of devices, rows per device are so few that a measurement more would say nothing new.
_MEASURED_DEVICES: Final = 8


@dataclass(frozen=True)
class Prediction:
    """A step on some number of devices.

    Attributes:
        devices: how many.
        rows: of each device.
        global_batch: rows of all devices. Where it does not divide evenly, some devices have fewer than ``rows``.
        compute: seconds in which it computes.
        exchange: seconds in which it exchanges.
        efficiency: rows per second of a device, relative to one device that computes as many rows as one does here (for
            the same rows per device), or the whole batch (for the same global batch).
    """

    devices: int
    rows: int
    global_batch: int
    compute: float
    exchange: float
    efficiency: float

    @property
    def seconds(self) -> float:
        return self.compute + self.exchange

    @property
    def rows_per_second(self) -> float:
        return self.global_batch / self.seconds


@dataclass(frozen=True, eq=False)
class CostModel:
    """Predicts steps.

    On n devices a step takes ``compute(rows of a device) + exchange(n)``: nothing is exchanged while devices compute.
    """

    timer: ComputeTimer
    collectives: Sequence[Collective]
    exchange: Exchange

    def same_batch(self, global_batch: int, numbers: Sequence[int]) -> list[Prediction]:
        """The global batch stays, and is divided among more devices."""
        cases = [(number, -(-global_batch // number), global_batch) for number in numbers if number <= global_batch]
        for number, rows, _ in cases:
            if number <= _MEASURED_DEVICES:
                self.timer.measure(number, rows)
        return self._predict(cases)

    def same_rows(self, rows: int, numbers: Sequence[int]) -> list[Prediction]:
        """The rows of a device stay, and the global batch grows with the devices."""
        for number in numbers:
            self.timer.measure(number, rows)
        return self._predict([(number, rows, number * rows) for number in numbers])

    def _predict(self, cases: Sequence[tuple[int, int, int]]) -> list[Prediction]:
        """For each number of devices, rows of each of them, and rows of all of them; the first one is one device."""
        found: list[Prediction] = []
        for number, rows, global_batch in cases:
            compute = self.timer.predict(number, rows)
            exchange = self.exchange.seconds(self.collectives, number)
            alone = found[0].rows_per_second if found else rows / compute
            efficiency = global_batch / number / (compute + exchange) / alone
            found.append(Prediction(number, rows, global_batch, compute, exchange, efficiency))
        return found


def choose_numbers(most: int, *also: int) -> list[int]:
    """The numbers of devices to predict: 1, 2, 4, … up to ``most``, that one, and those in ``also``.

    >>> choose_numbers(6), choose_numbers(8, 3)
    ([1, 2, 4, 6], [1, 2, 3, 4, 8])
    """
    doublings = [2**power for power in range(most.bit_length())]
    return sorted({*doublings, most, *also})


def last_that_pays(predictions: Sequence[Prediction]) -> Prediction:
    """The last number of devices before one that is not worth its devices (:func:`least_gain`)."""
    for fewer, more in itertools.pairwise(predictions):
        if more.rows_per_second < least_gain(fewer, more) * fewer.rows_per_second:
            return fewer
    return predictions[-1]


def least_gain(fewer: Prediction, more: Prediction) -> float:
    """How many times as fast more devices have to be: ``PAYS`` for a doubling, less for fewer."""
    return float(PAYS ** math.log2(more.devices / fewer.devices))
