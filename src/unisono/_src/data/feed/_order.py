"""Which rows the passes over an indexed plan read."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from unisono._src.data.plans import IndexedPlan, PassBatches, PassRows

PassNumber: TypeAlias = tuple[int, int]
"""The iteration of the dataset, and which segment of it if it has no end."""


class NumberedRows(NamedTuple):
    """The rows of a pass, and the number that identifies the pass."""

    number: PassNumber
    rows: PassRows


class PassOrder:
    """The rows of one pass after the other.

    Args:
        plan: the rows.
        next_iteration: gives the number of a new pass over the dataset.
        draws: whether maps draw random numbers, and so need the identities of rows.
        seed_within_batches: a seed to shuffle the rows inside each batch; None keeps their order.
        first: the number of the first pass; None for the next unused one.
    """

    def __init__(
        self,
        plan: IndexedPlan,
        next_iteration: Callable[[], int],
        *,
        draws: bool,
        seed_within_batches: int | None = None,
        first: Sequence[int] | None = None,
    ):
        self._plan, self._next_iteration, self._draws, self._seed = plan, next_iteration, draws, seed_within_batches
        self._first = None if first is None else (first[0], first[1])
        if plan.num_batches is None:
            self._stream = next_iteration() if first is None else first[0]
            self._segments = itertools.count(0 if first is None else first[1] + 1)

    def next(self) -> NumberedRows:
        """The next pass."""
        number, self._first = self._first, None
        if number is None and self._plan.num_batches is None:
            number = (self._stream, next(self._segments))
        elif number is None:
            number = (self._next_iteration(), 0)
        rows = self._plan.pass_rows((number[0],), number[1], identified=self._draws)
        return NumberedRows(
            number, rows if self._seed is None else _shuffle_within_batches(rows, [self._seed, *number])
        )


def _shuffle_within_batches(rows: PassRows, seed: list[int]) -> PassRows:
    """`shuffle="batch"`: the batches keep their rows, in a random order."""
    batches = rows.batches
    random = np.random.default_rng(seed).uniform(size=len(batches.rows))
    keys = np.repeat(np.arange(len(batches)), np.diff(batches.offsets)) + random
    return PassRows(PassBatches(batches.rows[np.argsort(keys)], batches.offsets))
