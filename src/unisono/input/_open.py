"""From what a user passes to a feed."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np

from unisono.data import Dataset
from unisono.data._execution import with_background_thread
from unisono.data._trace import FOREIGN_KINDS, Traced, trace_indexed
from unisono.input._feed import Feed
from unisono.input._indexed import IndexedFeed
from unisono.input._stream import StreamFeed
from unisono.input._transform import Transform
from unisono.plans import (
    INFINITE_CARDINALITY,
    ArraySlices,
    Batch,
    Files,
    GroupByWindow,
    IndexedPlan,
    Interleave,
    Operation,
    PaddedBatch,
    PassBatches,
    PassRows,
    Plan,
    Range,
    Rebatch,
    Shuffle,
    flatten,
    indexed,
)
from unisono.runtime import Placement, from_chief, seeds_of_chief
from unisono.seams import ArrayInput, adapt

NOT_BATCHED = """{dataset!r} yields single elements, and training takes batches.
Add .batch(global_batch_size) to it; the batch is shared by all replicas."""


def open_feed(
    x: Any,
    y: Any = None,
    *,
    placement: Placement,
    sample_weight: Any = None,
    batch_size: int | None = None,
    steps: int | None = None,
    shuffle: bool | Literal["batch"] = False,
    class_weight: dict[int, float] | None = None,
) -> Feed:
    """A feed of whatever `fit`, `evaluate` and `predict` accept. ``batch_size`` is the global batch."""
    _check_batch_size(batch_size)
    exchanged = getattr(x, "exchanged_batches", None)
    if exchanged is not None:
        return StreamFeed(
            exchanged,
            num_batches=None,
            restartable=True,
            endless=False,
            transform=Transform(class_weight=tuple(class_weight.items())) if class_weight else None,
            placement=placement,
        )
    x = getattr(x, "global_batches", x)  # a distributed dataset
    if isinstance(x, Dataset):
        x = x.agreed() if placement.spans_processes else x
        for name, value in (("y", y), ("sample_weight", sample_weight), ("batch_size", batch_size)):
            if value is not None:
                raise ValueError(f"A Dataset holds its own {name}: leave `{name}` out of the call.")
        return _dataset_feed(x, tuple((class_weight or {}).items()), placement)
    source = adapt(
        x,
        y,
        sample_weight=sample_weight,
        batch_size=batch_size,
        steps=steps,
        shuffle=shuffle,
        class_weight=class_weight,
    )
    if isinstance(source, ArrayInput):
        return _array_feed(source, placement)
    return StreamFeed(
        source.batches,
        num_batches=source.num_batches,
        restartable=source.restartable,
        endless=False,
        transform=None,
        placement=placement,
    )


def feed_of_one(batch: Any, placement: Placement) -> Feed:
    """A feed with exactly this batch, for the `_on_batch` methods."""
    return StreamFeed(
        lambda: iter([batch]), num_batches=1, restartable=True, endless=False, transform=None, placement=placement
    )


def _array_feed(source: ArrayInput, placement: Placement) -> Feed:
    if source.num_rows == 0:
        raise ValueError("The data is empty: its arrays have 0 rows. Pass at least one row.")
    operations: tuple[Operation, ...] = (Batch(source.batch_size),)
    if source.shuffle is True:
        operations = (Shuffle(source.num_rows), *operations)
    # The plan is about row numbers; the arrays go beside it, for in a plan a list of arrays would be one array.
    of_rows = Plan(Range(range(source.num_rows)), operations)
    found = indexed(of_rows.with_seeds(seeds_of_chief(of_rows.seeds)))
    assert found is not None, "a plan of one shuffle and one batch is indexed"
    plan, _ = found
    next_rows = _passes(plan, itertools.count().__next__, draws=False)
    if source.shuffle == "batch":
        next_rows = _shuffled_within(next_rows, np.random.RandomState(int(from_chief(np.random.randint(2**31)))))
    return _indexed_feed(plan, source.arrays, next_rows, None, placement)


def _dataset_feed(dataset: Dataset, class_weight: tuple[tuple[int, float], ...], placement: Placement) -> Feed:
    if _gives_single_rows(dataset.plan):
        raise ValueError(NOT_BATCHED.format(dataset=dataset))
    execution = dataset.execution
    plan = execution.beginning
    if plan is not None and execution.complete and plan.batch is not None and _fits_a_step(plan):
        traces = trace_indexed(plan)
        if all(isinstance(each, Traced) for each in traces):
            transform = Transform.of(plan, traces, class_weight)  # type: ignore[arg-type]
            next_rows = _passes(plan, dataset.next_iteration, transform.draws)
            return _indexed_feed(plan, plan.arrays, next_rows, transform, placement)
    cardinality = dataset.cardinality()
    return StreamFeed(
        lambda: _host_batches(dataset),
        num_batches=cardinality if cardinality >= 0 else None,
        restartable=True,
        endless=cardinality == INFINITE_CARDINALITY,
        transform=Transform(class_weight=class_weight) if class_weight else None,
        placement=placement,
    )


def _indexed_feed(
    plan: IndexedPlan,
    arrays: Any,
    next_rows: Callable[[], PassRows],
    transform: Transform | None,
    placement: Placement,
) -> Feed:
    assert plan.batch is not None, "training takes batches"
    if plan.num_batches == 0:
        raise ValueError(
            f"The data gives no batch: there are fewer rows than batch_size={plan.batch.batch_size} and "
            "drop_remainder=True, or no rows at all. Use a smaller batch, or look at the source of the data."
        )
    return IndexedFeed(
        arrays,
        batch_size=plan.batch.batch_size if plan.num_batches != 1 else len(plan.pass_batches((0,)).rows),
        num_batches=plan.num_batches,
        next_rows=next_rows,
        transform=transform or None,
        placement=placement,
        tables=plan.tables if plan.num_tables > 1 else None,
        num_origins=len(plan.origins) if transform is not None and transform.draws else 0,
    )


def _passes(plan: IndexedPlan, next_iteration: Callable[[], int], draws: bool) -> Callable[[], PassRows]:
    if plan.num_batches is not None:
        return lambda: plan.pass_rows((next_iteration(),), identified=draws)
    stream, windows = next_iteration(), itertools.count()
    return lambda: plan.pass_rows((stream,), next(windows), identified=draws)


def _shuffled_within(next_rows: Callable[[], PassRows], random: np.random.RandomState) -> Callable[[], PassRows]:
    """`shuffle="batch"`: the batches keep their rows, in a random order."""

    def rows() -> PassRows:
        batches = next_rows().batches
        keys = np.repeat(np.arange(len(batches)), np.diff(batches.offsets)) + random.uniform(size=len(batches.rows))
        return PassRows(PassBatches(batches.rows[np.argsort(keys)], batches.offsets))

    return rows


def _fits_a_step(plan: IndexedPlan) -> bool:
    """Whether its arrays are ones that a compiled step can hold."""
    return all(np.dtype(array.dtype).kind not in FOREIGN_KINDS for array in flatten(plan.arrays))


def _gives_single_rows(plan: Plan) -> bool:
    """Whether it is known that elements are not batches: rows of arrays, or lines, that nothing puts together."""
    makes_batches = Batch | PaddedBatch | Rebatch | GroupByWindow | Interleave
    if any(isinstance(operation, makes_batches) for operation in plan.operations):
        return False
    return isinstance(plan.source, ArraySlices | Range | Files) and plan.source.cardinality != 1


def _host_batches(dataset: Dataset) -> Iterator[Any]:
    """Batches computed by a thread while the devices train, closed when the pass is."""
    elements = with_background_thread(dataset.execution.plan).open((dataset.next_iteration(),))
    try:
        for element in elements:
            yield element()
    finally:
        elements.close()


def _check_batch_size(batch_size: int | None) -> None:
    if batch_size is not None and (not isinstance(batch_size, int | np.integer) or batch_size < 1):
        raise ValueError(f"batch_size is a whole number of at least 1; got {batch_size!r}.")
