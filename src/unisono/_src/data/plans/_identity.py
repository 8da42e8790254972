"""The identity of an element: the pass and the row of its source that it comes from.

Random numbers inside a map are derived from it, so that they are the same whichever executor runs the map, in
whichever order and thread. A source sets the identity when one of its elements is computed; every map
computed after it, for the same element, reads it here. A batch has the identity of its first element. Operations after
which two elements could have one identity (a cache, whose elements are those of pass 0 in every pass, concatenate,
unbatch, choices between datasets) *renew* it: from there on an element is identified by its position among theirs.
"""

from __future__ import annotations

import threading
import zlib
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from unisono._src.data.plans._nest import Nest
from unisono._src.data.plans._operation import Deferred, PassId


@dataclass(frozen=True)
class Draw:
    """Names one draw of random numbers: all of it together is different for any two draws of a plan.

    `epoch` and `row` are numbers on the host, and traced values where the map is being compiled.
    """

    seed: int
    epoch: Any
    row: Any
    number: int
    """The first, second, … draw of one call of the map function, or of a generator that has its own seed."""


class _ThreadIdentity(threading.local):
    epoch: Any = 0
    row: Any = 0
    seed: int | None = None
    num_draws: int = 0
    num_draws_of: dict[int, int] | None = None


_thread = _ThreadIdentity()


class ComputedElement:
    """An element that has been computed already, as a deferred element."""

    __slots__ = ("_epoch", "_row", "value")

    def __init__(self, value: Nest) -> None:
        self.value, self._epoch, self._row = value, _thread.epoch, _thread.row

    @classmethod
    def of(cls, element: Deferred) -> ComputedElement:
        """Computes an element."""
        return cls(element())

    def __call__(self) -> Nest:
        _thread.epoch, _thread.row = self._epoch, self._row
        return self.value


def pass_number(pass_id: PassId) -> int:
    """A number for a pass: equal for equal IDs, different for almost all different ones."""
    return zlib.crc32(np.asarray(pass_id, "<i8").tobytes()) & 0x7FFFFFFF


def set_identity(epoch: Any, row: Any) -> None:
    """What this thread computes from now on belongs to this element."""
    _thread.epoch, _thread.row = epoch, row


def renew_identity(element: Deferred, epoch: int, row: int) -> Deferred:
    """The same element, identified from here on by its position among the elements of an operation."""
    return partial(_compute_renewed, element, epoch, row)


def _compute_renewed(element: Deferred, epoch: int, row: int) -> Nest:
    value = element()
    set_identity(epoch, row)
    return value


def current_identity() -> tuple[Any, Any]:
    """(epoch, row) of the element that is being computed."""
    return _thread.epoch, _thread.row


class RandomDraws:
    """Context in which the function of one map runs and may draw; counts the draws."""

    __slots__ = ("_before", "_seed", "num_draws")

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self.num_draws = 0

    def __enter__(self) -> RandomDraws:
        self._before = (_thread.seed, _thread.num_draws, _thread.num_draws_of)
        _thread.seed, _thread.num_draws, _thread.num_draws_of = self._seed, 0, None
        return self

    def __exit__(self, *_: object) -> None:
        self.num_draws = _thread.num_draws
        _thread.seed, _thread.num_draws, _thread.num_draws_of = self._before


def next_draw(generator: object = None) -> Draw | None:
    """The next draw of the map that runs in this thread; None outside maps.

    A ``generator`` with its own seed counts its own draws: two of them with one seed draw the same numbers.
    """
    if _thread.seed is None:
        return None
    number = _thread.num_draws
    _thread.num_draws += 1
    if generator is not None:
        counts = _thread.num_draws_of = _thread.num_draws_of or {}
        number = counts.get(id(generator), 0)
        counts[id(generator)] = number + 1
    return Draw(_thread.seed, _thread.epoch, _thread.row, number)
