"""Plans with random access: the rows of every batch of every pass are a pure function of the plan.

`indexed` recognises such plans and splits them into what happens to row numbers (here, on the host,
vectorised) and what happens to data (the maps, left to the caller, who may compile them). It knows the
operations one by one: what it does not know, or cannot do exactly as the reference executor does, it leaves
to that executor.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unisono.plans._batch import Batch
from unisono.plans._cache import FIRST_PASS, Cache
from unisono.plans._map import Map
from unisono.plans._nest import Nest
from unisono.plans._operation import Path
from unisono.plans._pass_batches import PassBatches, cut, join, take
from unisono.plans._plan import Plan
from unisono.plans._prefetch import Prefetch
from unisono.plans._repeat import Repeat
from unisono.plans._shuffle import Shuffle
from unisono.plans._source import ArraySlices

MAX_REPEATED_ROWS = 2**26
"""Row numbers are made a pass at a time: 2**26 of them are 256 MB. Longer repeats are streamed."""

Step: TypeAlias = Shuffle | Repeat | Batch | Cache
Order: TypeAlias = "NDArray[np.int32] | PassBatches"


@dataclass(frozen=True, eq=False, kw_only=True)
class IndexedPlan:
    """A plan as row numbers and maps. Made by `indexed`."""

    arrays: Nest
    """The source, as the user gave it: leaves are NumPy or JAX arrays."""
    num_rows: int
    element_maps: tuple[Callable[..., Any], ...]
    """Functions of one element, in order, to be applied before batching."""
    batch_maps: tuple[Callable[..., Any], ...]
    """Functions of one batch, in order."""
    num_cached_maps: int
    """How many of `element_maps + batch_maps` stand before a `cache()`. They may be computed once and kept;
    one that is not pure must be."""
    batch_size: int
    drop_remainder: bool
    num_batches: int | None
    """Batches in one pass; None when the plan repeats without end."""
    rounds_per_window: int
    """For plans without end: the rounds of the data in one window of `pass_batches`."""
    steps: tuple[Step, ...] = field(repr=False)

    def pass_batches(self, iteration: int, stream: int = 0) -> PassBatches:
        """The row numbers of pass `iteration`, the same whenever and wherever they are asked for.

        A plan without end has one endless pass per `stream` (`iterate(plan, stream)` gives its elements);
        then `iteration` is a window of it: window 0, 1, 2, … one after the other are the stream.
        """
        path = (iteration,) if self.num_batches is not None else (stream, iteration)
        order = self._order(self.steps, path)
        assert isinstance(order, PassBatches), "indexed() sees to it that there is a batch"
        return order

    def _order(self, steps: tuple[Step, ...], path: Path) -> Order:
        """What `steps` make of the rows: row numbers before the batch, batches after it."""
        if not steps:
            return np.arange(self.num_rows, dtype=np.int32)
        before, step = steps[:-1], steps[-1]
        if isinstance(step, Cache):
            return self._order(before, FIRST_PASS)
        if isinstance(step, Repeat):
            return _join([self._order(before, each) for each in self._round_paths(step, path)])
        order = self._order(before, path)
        if isinstance(step, Shuffle):
            num_shuffles = sum(isinstance(each, Shuffle) for each in before)
            return _take(order, step.permutation(len(order), num_shuffles, path))
        assert isinstance(order, np.ndarray), "indexed() sees to it that there is one batch only"
        return cut(order, step)

    def _round_paths(self, repeat: Repeat, path: Path) -> list[Path]:
        if repeat.count is not None:
            return [repeat.round_path(path, number) for number in range(repeat.count)]
        stream, window = path
        first = window * self.rounds_per_window
        return [repeat.round_path((stream,), first + number) for number in range(self.rounds_per_window)]


def indexed(plan: Plan) -> IndexedPlan | None:
    """The plan with random access, or None where only the reference executor will do.

    Taken: arrays; then maps, shuffles, repeats, caches and prefetches in any order, with exactly one batch
    among them. Not taken: a shuffle or a second repeat after a repeat without end, and repeats of very many
    rows.

    >>> import numpy as np
    >>> from unisono.plans import ArraySlices, Batch, Plan, Shuffle, indexed
    >>> plan = indexed(Plan(ArraySlices(np.arange(5)), (Shuffle(5, seed=1), Batch(2))))
    >>> plan.num_batches, sorted(plan.pass_batches(0).rows.tolist())
    (3, [0, 1, 2, 3, 4])
    """
    source = plan.source
    if not isinstance(source, ArraySlices) or source.num_rows >= 2**31:  # row numbers are int32
        return None
    maps: list[Callable[..., Any]] = []
    steps: list[Step] = []
    batch: Batch | None = None
    num_element_maps = num_cached_maps = 0
    num_rows = source.num_rows  # in one pass, or in one round of an endless one, up to this operation
    rounds = 1
    endless = False
    for operation in plan.operations:
        match operation:
            case Map():
                maps.append(operation.function)
                num_element_maps += batch is None
            case Prefetch():
                pass
            case Cache():
                if not endless:  # what never ends is not kept
                    num_cached_maps = len(maps)
                    steps.append(operation)
            case Shuffle() if not endless:
                steps.append(operation)
            case Repeat() if not endless:
                steps.append(operation)
                endless = operation.count is None
                num_rows *= operation.count or 1
                if num_rows > MAX_REPEATED_ROWS and (operation.count or 1) > 1:
                    return None
            case Batch() if batch is None:
                batch = operation
                steps.append(operation)
                if endless:
                    # Batches run across the ends of rounds. After this many rounds both end together.
                    rounds = batch.batch_size // math.gcd(num_rows, batch.batch_size)
                    if rounds > 1 and rounds * num_rows > MAX_REPEATED_ROWS:
                        return None
                elif batch.drop_remainder:
                    num_rows -= num_rows % batch.batch_size
            case _:
                return None
    if batch is None or (endless and num_rows == 0):
        return None
    return IndexedPlan(
        arrays=source.arrays,
        num_rows=source.num_rows,
        element_maps=tuple(maps[:num_element_maps]),
        batch_maps=tuple(maps[num_element_maps:]),
        num_cached_maps=num_cached_maps,
        batch_size=batch.batch_size,
        drop_remainder=batch.drop_remainder,
        num_batches=None if endless else plan.cardinality,
        rounds_per_window=rounds,
        steps=tuple(steps),
    )


def _take(order: Order, permutation: NDArray[np.intp]) -> Order:
    return take(order, permutation) if isinstance(order, PassBatches) else order[permutation]


def _join(rounds: list[Order]) -> Order:
    batches = [each for each in rounds if isinstance(each, PassBatches)]
    if batches:
        return join(batches)
    return np.concatenate([each for each in rounds if isinstance(each, np.ndarray)])
