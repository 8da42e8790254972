"""Who an element is: the pass and the row of its source that it comes from.

Random numbers inside a map follow from it, so that they are the same whichever executor runs the map, in
whichever order and thread. A source notes the identity when one of its elements is computed; every map
computed after it, for the same element, finds it here. A batch is known by its first element. Operations after
which two elements could have one identity (a cache, whose elements are those of pass 0 in every pass, concatenate,
unbatch, choices between datasets) *renew* it: from there on an element is known by its place among theirs.
"""

from __future__ import annotations

import threading
import zlib
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from unisono._src.data.plans._nest import Nest
from unisono._src.data.plans._operation import Deferred, Path


@dataclass(frozen=True)
class Draw:
    """Names one draw of random numbers: all of it together is different for any two draws of a plan.

    `epoch` and `row` are numbers on the host, and traced values where the map is being compiled.
    """

    seed: int
    epoch: Any
    row: Any
    number: int
    """The first, second, … draw of one call of the map function; of a generator with a seed of its own, among its."""


class _Here(threading.local):
    epoch: Any = 0
    row: Any = 0
    seed: int | None = None
    num_draws: int = 0
    num_draws_of: dict[int, int] | None = None


_here = _Here()


class ComputedElement:
    """An element that has been computed already, as a deferred element."""

    __slots__ = ("_epoch", "_row", "value")

    def __init__(self, value: Nest) -> None:
        self.value, self._epoch, self._row = value, _here.epoch, _here.row

    @classmethod
    def of(cls, element: Deferred) -> ComputedElement:
        """Computes an element."""
        return cls(element())

    def __call__(self) -> Nest:
        _here.epoch, _here.row = self._epoch, self._row
        return self.value


def epoch_number(path: Path) -> int:
    """A number for a path: equal for equal paths, and different for almost all others."""
    return zlib.crc32(np.asarray(path, "<i8").tobytes()) & 0x7FFFFFFF


def set_identity(epoch: Any, row: Any) -> None:
    """What is computed from now on in this thread is this element's."""
    _here.epoch, _here.row = epoch, row


def renew_identity(element: Deferred, epoch: int, row: int) -> Deferred:
    """The same element, known from here on by its place among the elements of an operation."""
    return partial(_renewed, element, epoch, row)


def _renewed(element: Deferred, epoch: int, row: int) -> Nest:
    value = element()
    set_identity(epoch, row)
    return value


def current_identity() -> tuple[Any, Any]:
    """(epoch, row) of the element that is being computed."""
    return _here.epoch, _here.row


class RandomDraws:
    """Inside, the function of one map runs, and may draw."""

    __slots__ = ("_before", "_seed", "num_draws")

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self.num_draws = 0

    def __enter__(self) -> RandomDraws:
        self._before = (_here.seed, _here.num_draws, _here.num_draws_of)
        _here.seed, _here.num_draws, _here.num_draws_of = self._seed, 0, None
        return self

    def __exit__(self, *_: object) -> None:
        self.num_draws = _here.num_draws
        _here.seed, _here.num_draws, _here.num_draws_of = self._before


def next_draw(generator: object = None) -> Draw | None:
    """The next draw of the map that runs in this thread; None outside of maps.

    A ``generator`` with a seed of its own counts its draws alone: two of them with one seed draw the same numbers.
    """
    if _here.seed is None:
        return None
    number = _here.num_draws
    _here.num_draws += 1
    if generator is not None:
        counts = _here.num_draws_of = _here.num_draws_of or {}
        number = counts.get(id(generator), 0)
        counts[id(generator)] = number + 1
    return Draw(_here.seed, _here.epoch, _here.row, number)
