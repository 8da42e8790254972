"""Plans with random access: the rows of every batch of every pass are a pure function of the plan.

`index_plan` takes as many operations as it can from the beginning of a plan, and splits them into what happens to
row numbers (on the host, vectorised) and what happens to data (the maps, left to the caller, who may compile
them). It knows the operations one by one: what it does not know, or cannot do exactly as the reference executor
does, it leaves to that executor, together with everything after it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unisono._src.data.plans._array_slices import ArraySlices
from unisono._src.data.plans._batch import Batch
from unisono._src.data.plans._branch import BranchMap
from unisono._src.data.plans._cache import Cache
from unisono._src.data.plans._cardinality import INFINITE_CARDINALITY
from unisono._src.data.plans._concatenate import Concatenate
from unisono._src.data.plans._enumerate import Enumerate
from unisono._src.data.plans._map import Map, function_name
from unisono._src.data.plans._nest import Nest, flatten, map_leaves, structure, unflatten
from unisono._src.data.plans._operation import Operation, Path
from unisono._src.data.plans._options import WithOptions
from unisono._src.data.plans._orders import RENEWING, Apart, Base, Joined, Origin, Probe, Rounds, Step, order
from unisono._src.data.plans._pass_batches import PassBatches, cut
from unisono._src.data.plans._plan import Plan
from unisono._src.data.plans._prefetch import Prefetch
from unisono._src.data.plans._range import Range
from unisono._src.data.plans._repeat import Repeat
from unisono._src.data.plans._rows import ConcatenatedArray, RangeArray
from unisono._src.data.plans._shard import Shard
from unisono._src.data.plans._shuffle import Shuffle
from unisono._src.data.plans._skip import Skip
from unisono._src.data.plans._take import Take
from unisono._src.data.plans._unbatch import Rebatch, Unbatch
from unisono._src.data.plans._zip import ZippedPlans

MAX_REPEATED_ROWS = 2**26
"""Row numbers are made a pass at a time: 2**26 of them are 256 MB. Longer repeats are streamed."""


@dataclass(frozen=True, eq=False)
class IndexedMap:
    """A map that is applied to elements or batches after their rows have been taken."""

    function: Callable[..., Any]
    seed: int
    num_parallel_calls: int | None
    origin: int = 0
    """Which of the plan's `origins` its elements are known by."""
    cached: bool = False
    """Whether it stands before a `cache()`: it may be computed once and kept; one that is not pure must be."""

    def __str__(self) -> str:
        return f"map({function_name(self.function)})"


@dataclass(frozen=True, eq=False)
class Identities:
    """Who the rows of a pass are, with a column for each origin: what random numbers follow from."""

    epochs: NDArray[np.int32]
    positions: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class PassRows:
    """The rows of one pass, or of one window of an endless one."""

    batches: PassBatches
    identities: Identities | None = None
    """Who the rows are, where somebody may ask."""


@dataclass(frozen=True, eq=False, kw_only=True)
class IndexedPlan:
    """A plan as row numbers and maps. Made by `index_plan`.

    Row numbers have a column, a *table*, for each source that is walked through in its own order: one for a
    plan over arrays, and one more for each plan zipped with it.
    """

    arrays: Nest
    """The sources, as the user gave them: leaves have rows."""
    tables: tuple[int, ...]
    """For each leaf of `arrays`, which column of the row numbers is its."""
    element_maps: tuple[IndexedMap, ...]
    """Functions of one element, in order, to be applied before batching."""
    batch_maps: tuple[IndexedMap, ...]
    """Functions of one batch, in order."""
    batch: Batch | None
    """How rows are batched; None for single elements."""
    cardinality: int
    """Elements in one pass; INFINITE_CARDINALITY when the plan repeats without end."""
    mixable: bool
    """Whether a shuffle after it permutes fully."""
    rounds_per_window: int
    """For plans without end: the rounds of the data in one window of `pass_batches`."""
    steps: tuple[Step, ...] = field(repr=False)
    """What happens to row numbers."""
    base: Base = field(repr=False)
    origins: tuple[Origin, ...] = field(repr=False)
    """Where maps find who their elements are; the last one is where what follows the plan does."""

    @property
    def num_batches(self) -> int | None:
        """Batches (or elements) in one pass; None when the plan repeats without end."""
        return None if self.cardinality < 0 else self.cardinality

    @property
    def num_shuffles(self) -> int:
        """Shuffles among the operations it was made of."""
        return sum(isinstance(step, Shuffle) for step in self.steps)

    @property
    def num_tables(self) -> int:
        """Columns of the row numbers."""
        return max(self.tables) + 1

    def pass_rows(self, path: Path, window: int = 0, *, identified: bool) -> PassRows:
        """`pass_batches`, and `pass_identities` if they are asked for."""
        return PassRows(self.pass_batches(path, window), self.pass_identities(path, window) if identified else None)

    def pass_batches(self, path: Path, window: int = 0) -> PassBatches:
        """The row numbers of a pass, the same whenever and wherever they are asked for.

        A plan without end has one endless pass per path; it is given by windows: 0, 1, 2, … one after the other.
        A plan without a batch gives batches of one row.
        """
        return self._pass(path, window, None)

    def pass_identities(self, path: Path, window: int = 0) -> Identities:
        """Who the rows of `pass_batches` are."""
        columns = [
            [self._pass(path, window, Probe(origin, what)).rows for origin in self.origins]
            for what in ("epoch", "place")
        ]
        return Identities(*(np.stack(each, axis=1) for each in columns))

    def _pass(self, path: Path, window: int, probe: Probe | None) -> PassBatches:
        rounds = None if self.num_batches is not None else (window, self.rounds_per_window)
        rows = order(self.base, self.steps, path, rounds, probe)
        return rows if isinstance(rows, PassBatches) else cut(rows, Batch(1))


def index_plan(plan: Plan, *, caches: bool = True) -> tuple[IndexedPlan, tuple[Operation, ...]] | None:
    """The beginning of the plan with random access, and the operations that are left to the reference executor.

    Taken: arrays, ranges and zips of them; then maps, shuffles, repeats, caches, takes, skips, shards,
    enumerations and prefetches in any order, with one batch among them. None if the source cannot be indexed.
    Without `caches`, nothing is taken from the first cache on that keeps the results of a map.

    >>> import numpy as np
    >>> from unisono._src.data.plans import ArraySlices, Batch, Plan, Shuffle, index_plan
    >>> beginning, rest = index_plan(Plan(ArraySlices(np.arange(5)), (Shuffle(5, seed=1), Batch(2))))
    >>> beginning.num_batches, sorted(beginning.pass_batches((0,)).rows.tolist()), rest
    (3, [0, 1, 2, 3, 4], ())
    """
    beginning = _begun(plan)
    if beginning is None:
        return None
    for number, operation in enumerate(plan.operations):
        stops = isinstance(operation, Cache) and beginning.maps and not caches
        following = None if stops else beginning.then(operation)
        if following is None:
            return beginning.finished(), plan.operations[number:]
        beginning = following
    return beginning.finished(), ()


@dataclass(frozen=True, eq=False, kw_only=True)
class _Beginning:
    """An indexed plan under construction."""

    arrays: Nest
    tables: tuple[int, ...]
    base: Base
    size: int
    """Elements in one pass, or in one round of an endless one."""
    steps: tuple[Step, ...] = ()
    maps: tuple[IndexedMap, ...] = ()
    num_element_maps: int = 0
    batch: Batch | None = None
    endless: Repeat | None = None
    round_size: int = 0
    """Elements in one round of the endless repeat."""
    num_rows: int = 0
    """Rows in all batches together, once there are batches."""
    rounds: int = 1
    origins: tuple[Origin, ...] = (Origin(),)
    mixable: bool = True
    """Whether the reference executor would shuffle fully here."""

    def then(self, operation: Operation) -> _Beginning | None:
        """With one more operation; None if it cannot be taken."""
        match operation:
            case Prefetch() | WithOptions():
                return self
            case Map():
                origin = len(self.origins) - 1
                one = IndexedMap(operation.function, operation.seed, operation.num_parallel_calls, origin)
                return replace(
                    self, maps=(*self.maps, one), num_element_maps=self.num_element_maps + (self.batch is None)
                )
            case Cache():
                if self.endless:  # what never ends is not kept
                    return self
                return self._step(operation, self.size, maps=tuple(replace(each, cached=True) for each in self.maps))
            case Take() if self.endless:
                return self._taken(operation)
            case Take() | Skip() | Shard() if not self.endless:
                return self._step(operation, operation.cardinality(self.size))
            case Shuffle() if not self.endless and self.mixable:
                return self._step(operation, self.size)
            case Repeat() if not self.endless:
                return self._repeated(operation)
            case Enumerate() if not self.endless and self.batch is None:
                return self._enumerated(operation)
            case Concatenate() if not self.endless and self.batch is None and not self.maps:
                return self._joined(operation)
            case Batch() if self.batch is None:
                return self._batched(operation)
            case Unbatch() | Rebatch() if self.batch and not self.endless and len(self.maps) == self.num_element_maps:
                return self._apart(operation)
            case _:
                return None

    def finished(self) -> IndexedPlan:
        return IndexedPlan(
            arrays=self.arrays,
            tables=self.tables,
            element_maps=self.maps[: self.num_element_maps],
            batch_maps=self.maps[self.num_element_maps :],
            batch=self.batch,
            cardinality=INFINITE_CARDINALITY if self.endless else self.size,
            mixable=self.mixable,
            rounds_per_window=self.rounds,
            steps=self.steps,
            base=self.base,
            origins=self.origins,
        )

    def _step(self, step: Step, size: int, **changes: Any) -> _Beginning:
        origins = (*self.origins, Origin(step=len(self.steps))) if isinstance(step, RENEWING) else self.origins
        return replace(self, steps=(*self.steps, step), size=size, origins=origins, **changes)

    def _repeated(self, repeat: Repeat) -> _Beginning | None:
        if repeat.count is None:
            if self.size == 0:
                return self
            return self._step(repeat, self.size, endless=repeat, round_size=self.size)
        if repeat.count == 0:
            return self._step(Take(0), 0)
        num_rows = self.size * (self.batch.batch_size if self.batch else 1)
        if repeat.count > 1 and num_rows * repeat.count > MAX_REPEATED_ROWS:
            return None
        return self._step(repeat, self.size * repeat.count)

    def _batched(self, batch: Batch) -> _Beginning | None:
        rounds = 1
        if self.endless:
            # Batches run across the ends of rounds. After this many rounds both end together.
            rounds = batch.batch_size // math.gcd(self.size, batch.batch_size)
            if rounds > 1 and rounds * self.size > MAX_REPEATED_ROWS:
                return None
        num_rows = self.size - self.size % batch.batch_size if batch.drop_remainder else self.size
        return self._step(batch, batch.cardinality(self.size), batch=batch, rounds=rounds, num_rows=num_rows)

    def _taken(self, take: Take) -> _Beginning | None:
        """The first elements of an endless repeat: the rounds that hold them are known."""
        if take.count < 0:
            return self
        assert self.endless is not None
        place = self.steps.index(self.endless)
        batch_size = self.batch.batch_size if self.batch else 1
        batched_since = any(isinstance(step, Batch) for step in self.steps[place:])
        rounds = max(1, -(-take.count * (batch_size if batched_since else 1) // self.round_size))
        if take.count * batch_size > MAX_REPEATED_ROWS:
            return None
        steps = (*self.steps[:place], Rounds(self.endless, rounds), *self.steps[place + 1 :])
        return replace(self, steps=(*steps, take), size=take.count, endless=None, rounds=1)

    def _enumerated(self, operation: Enumerate) -> _Beginning:
        like = (..., ...)
        maps = tuple(replace(each, function=BranchMap(like, 1, each.function)) for each in self.maps)
        numbers = RangeArray(range(operation.start, operation.start + self.size))
        return self._step(
            operation,
            self.size,
            arrays=(numbers, self.arrays),
            tables=(max(self.tables) + 1, *self.tables),
            maps=maps,
        )

    def _joined(self, operation: Concatenate) -> _Beginning | None:
        found = index_plan(operation.other)
        if found is None or found[1]:
            return None
        other = found[0]
        if other.element_maps or other.batch or other.num_batches is None or max(*self.tables, *other.tables):
            return None
        if not _alike(self.arrays, other.arrays):
            return None
        # Nobody asked yet who the elements are, and from here on they are known by their places.
        beginning = replace(self, origins=())
        leaves = [ConcatenatedArray(*pair) for pair in zip(flatten(self.arrays), flatten(other.arrays), strict=True)]
        return beginning._step(
            Joined(other.base, other.steps, flatten(self.arrays)[0].shape[0]),
            self.size + other.cardinality,
            arrays=unflatten(self.arrays, leaves),
        )

    def _apart(self, operation: Unbatch | Rebatch) -> _Beginning | None:
        if not isinstance(self.steps[-1], Batch):
            return None  # batches were mixed or left out: how many rows are left is not known without looking
        apart = self._step(Apart(), self.num_rows, batch=None, mixable=False)
        if isinstance(operation, Unbatch):
            return apart
        if len(operation.batch_sizes) > 1:
            return None
        return apart._batched(Batch(operation.batch_sizes[0], operation.drop_remainder))


def _begun(plan: Plan) -> _Beginning | None:
    """The source, if it has rows."""
    source = plan.source
    if source.cardinality >= 2**31:  # row numbers are int32
        return None
    match source:
        case ArraySlices():
            arrays = source.arrays
        case Range():
            arrays = RangeArray(source.numbers, source.dtype)
        case ZippedPlans():
            return _zipped(source)
        case _:
            return None
    size = source.cardinality
    return _Beginning(arrays=arrays, tables=(0,) * len(flatten(arrays)), base=Base(size), size=size)


def _zipped(source: ZippedPlans) -> _Beginning | None:
    found = [index_plan(plan) for plan in source.inputs]
    branches: list[IndexedPlan] = []
    for each in found:
        if each is None or each[1] or each[0].batch or each[0].num_batches is None:
            return None
        branches.append(each[0])
    like = map_leaves(lambda _: ..., source.plans)
    tables: list[int] = []
    maps: list[IndexedMap] = []
    origins: list[Origin] = []
    num_tables = 0
    for index, branch in enumerate(branches):
        maps.extend(
            replace(each, function=BranchMap(like, index, each.function), origin=each.origin + len(origins))
            for each in branch.element_maps
        )
        origins.extend(Origin(branch=index, inner=origin) for origin in branch.origins)
        tables.extend(table + num_tables for table in branch.tables)
        num_tables += branch.num_tables
    origins.append(Origin(branch=0, inner=branches[0].origins[-1]))  # after the zip, by the element of the first
    size = source.cardinality
    return _Beginning(
        arrays=unflatten(source.plans, [branch.arrays for branch in branches]),
        tables=tuple(tables),
        base=Base(size, tuple((branch.base, branch.steps) for branch in branches)),
        size=size,
        maps=tuple(maps),
        num_element_maps=len(maps),
        origins=tuple(origins),
    )


def _alike(one: Nest, other: Nest) -> bool:
    """Whether the rows of both have the same structure, shapes and dtypes."""
    if structure(one) != structure(other):
        return False
    pairs = zip(flatten(one), flatten(other), strict=True)
    return all(a.shape[1:] == b.shape[1:] and a.dtype == b.dtype for a, b in pairs)
