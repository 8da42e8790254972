"""From what a user passes to a feed."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, Literal

import jax
import numpy as np

from unisono.data import Dataset
from unisono.data._trace import can_trace, row_struct, trace
from unisono.input._feed import Feed
from unisono.input._indexed import IndexedFeed
from unisono.input._stream import StreamFeed
from unisono.input._transform import Transform
from unisono.plans import ArraySlices, Batch, IndexedPlan, PassBatches, Plan, Shuffle, indexed, iterate
from unisono.runtime import Placement
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
    if isinstance(x, Dataset):
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
        transform=None,
        placement=placement,
    )


def feed_of_one(batch: Any, placement: Placement) -> Feed:
    """A feed with exactly this batch, for the `_on_batch` methods."""
    return StreamFeed(lambda: iter([batch]), num_batches=1, restartable=True, transform=None, placement=placement)


def _array_feed(source: ArrayInput, placement: Placement) -> Feed:
    if source.num_rows == 0:
        raise ValueError("The data is empty: its arrays have 0 rows. Pass at least one row.")
    operations = (Batch(source.batch_size),)
    if source.shuffle is True:
        operations = (Shuffle(source.num_rows), *operations)  # type: ignore[assignment]
    # The plan is about row numbers; the arrays go beside it, for in a plan a list of arrays would be one array.
    plan = indexed(Plan(ArraySlices(np.arange(source.num_rows)), operations))
    assert plan is not None, "a plan of one shuffle and one batch is indexed"
    next_rows = _passes(plan, itertools.count().__next__)
    if source.shuffle == "batch":
        next_rows = _shuffled_within(next_rows, np.random.RandomState(np.random.randint(2**31)))
    return _indexed_feed(plan, source.arrays, next_rows, None, placement)


def _dataset_feed(dataset: Dataset, class_weight: tuple[tuple[int, float], ...], placement: Placement) -> Feed:
    if not any(isinstance(operation, Batch) for operation in dataset.plan.operations):
        raise ValueError(NOT_BATCHED.format(dataset=dataset))
    plan = indexed(dataset.plan)
    if plan is not None and _traceable(plan):
        transform = Transform(plan.element_maps, plan.batch_maps, class_weight)
        return _indexed_feed(plan, plan.arrays, _passes(plan, dataset.next_iteration), transform, placement)
    cardinality = dataset.cardinality()
    return StreamFeed(
        lambda: _host_batches(dataset),
        num_batches=cardinality if cardinality >= 0 else None,
        restartable=True,
        transform=Transform(class_weight=class_weight) if class_weight else None,
        placement=placement,
    )


def _indexed_feed(
    plan: IndexedPlan,
    arrays: Any,
    next_rows: Callable[[], PassBatches],
    transform: Transform | None,
    placement: Placement,
) -> Feed:
    if plan.num_batches == 0:
        raise ValueError(
            f"The data gives no batch: {plan.num_rows} rows are fewer than batch_size={plan.batch_size}, "
            "and drop_remainder=True. Use a smaller batch."
        )
    return IndexedFeed(
        arrays,
        batch_size=plan.batch_size if plan.num_batches != 1 else len(plan.pass_batches(0).rows),
        num_batches=plan.num_batches,
        next_rows=next_rows,
        transform=transform or None,
        placement=placement,
    )


def _passes(plan: IndexedPlan, next_iteration: Callable[[], int]) -> Callable[[], PassBatches]:
    if plan.num_batches is not None:
        return lambda: plan.pass_batches(next_iteration())
    stream, windows = next_iteration(), itertools.count()
    return lambda: plan.pass_batches(next(windows), stream)


def _shuffled_within(next_rows: Callable[[], PassBatches], random: np.random.RandomState) -> Callable[[], PassBatches]:
    """`shuffle="batch"`: the batches keep their rows, in a random order."""

    def rows() -> PassBatches:
        batches = next_rows()
        keys = np.repeat(np.arange(len(batches)), np.diff(batches.offsets)) + random.uniform(size=len(batches.rows))
        return PassBatches(batches.rows[np.argsort(keys)], batches.offsets)

    return rows


def _traceable(plan: IndexedPlan) -> bool:
    """Whether every map can be compiled into the step."""
    element = row_struct(plan.arrays)
    for function in plan.element_maps:
        if can_trace(function, element) is not None:
            return False
        element = trace(function, element)
    batch = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct((plan.batch_size, *leaf.shape), leaf.dtype), element)
    for function in plan.batch_maps:
        if can_trace(function, batch) is not None:
            return False
        batch = trace(function, batch)
    return True


def _host_batches(dataset: Dataset) -> Iterator[Any]:
    return iterate(dataset.plan, dataset.next_iteration())


def _check_batch_size(batch_size: int | None) -> None:
    if batch_size is not None and (not isinstance(batch_size, int | np.integer) or batch_size < 1):
        raise ValueError(f"batch_size is a whole number of at least 1; got {batch_size!r}.")
