"""Makes a feed of whatever a user passes to `fit`."""

from __future__ import annotations

import functools
import itertools
from typing import Any, Literal

import jax
import numpy as np

from unisono._src.core import warn_user
from unisono._src.data.dataset import Dataset
from unisono._src.data.dataset._trace import NON_JAX_KINDS, Traced, trace_indexed_maps
from unisono._src.data.feed._batches import IteratorBatches, PlanBatches
from unisono._src.data.feed._feed import Feed
from unisono._src.data.feed._indexed import IndexedFeed
from unisono._src.data.feed._order import PassOrder
from unisono._src.data.feed._stream import StreamFeed
from unisono._src.data.feed._transform import Transform
from unisono._src.data.plans import (
    INFINITE_CARDINALITY,
    Batch,
    GroupByWindow,
    IndexedPlan,
    Operation,
    Plan,
    Range,
    Shuffle,
    State,
    TensorSpec,
    Unbatch,
    flatten,
    index_plan,
    unflatten,
)
from unisono._src.devices import Placement
from unisono._src.keras_hooks import ArrayInput, adapt
from unisono._src.processes import broadcast_from_chief, broadcast_seeds_from_chief

NOT_BATCHED = """{dataset!r} yields single elements, and training takes batches.
Add .batch(global_batch_size) to it; the batch is shared by all replicas."""

ROWS_AS_BATCHES = """{dataset!r} has no .batch, so each of its elements is a batch of {size} rows.
If an element is a single example, add .batch(global_batch_size)."""

OTHER_DATA = """The data differs from the data of the run that is being resumed.
  that run: {theirs}
  here:     {ours}
Resume with the same data and batch size, or start a new run in another folder."""

RESUME_CAVEAT = """{kind} cannot be resumed at a position. After an interruption its batches are read again from the
beginning and dropped up to the position, so the resumed run is exact only if it gives the same batches again.
A unisono.data.Dataset, or arrays, resume at once and exactly."""


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
    position: State = None,
) -> Feed:
    """A feed of whatever `fit`, `evaluate` and `predict` accept. ``batch_size`` is the global batch.

    With a ``position`` the first pass begins there, in the order of the run that the position comes from.
    """
    _check_batch_size(batch_size)
    gathered = getattr(x, "_gathered_batches", None)
    if gathered is not None:
        origin = {"kind": "batches of several workers", "data": repr(x)}
        _check_origin(position, origin)
        return StreamFeed(
            gathered,
            num_batches=None,
            is_restartable=True,
            is_endless=False,
            transform=Transform(class_weight=tuple(class_weight.items())) if class_weight else None,
            placement=placement,
            origin=origin,
            position=position,
            resume_caveat=x._resume_caveat,
            differs_by_process=True,
        )
    x = unwrap_distributed(x)
    if isinstance(x, Dataset):
        x = x._with_agreed_seeds() if placement.spans_processes else x
        for name, value in (("y", y), ("sample_weight", sample_weight), ("batch_size", batch_size)):
            if value is not None:
                raise ValueError(f"A Dataset contains its {name} already: leave `{name}` out of the call.")
        return _dataset_feed(x, tuple((class_weight or {}).items()), placement, position)
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
        return _array_feed(source, placement, position)
    origin = {"kind": "batches", "data": type(x).__name__}
    _check_origin(position, origin)
    return StreamFeed(
        functools.partial(IteratorBatches, source.batches),
        num_batches=source.num_batches,
        is_restartable=source.restartable,
        is_endless=False,
        transform=None,
        placement=placement,
        origin=origin,
        position=position,
        resume_caveat=RESUME_CAVEAT.format(kind=type(x).__name__),
    )


def single_batch_feed(batch: Any, placement: Placement) -> Feed:
    """A feed with exactly this batch, for the `_on_batch` methods."""
    return StreamFeed(
        functools.partial(IteratorBatches, lambda: iter([batch])),
        num_batches=1,
        is_restartable=True,
        is_endless=False,
        transform=None,
        placement=placement,
    )


def unwrap_distributed(x: Any) -> Any:
    """The dataset of global batches inside a distributed dataset; anything else as it is.

    Strategies are above this package, so a distributed dataset is known by its attribute.
    """
    return getattr(x, "_global_batches", x)


def _array_feed(source: ArrayInput, placement: Placement, position: State) -> Feed:
    if source.num_rows == 0:
        raise ValueError("The data is empty: its arrays have 0 rows. Pass at least one row.")
    operations: tuple[Operation, ...] = (Batch(source.batch_size),)
    if source.shuffle is True:
        operations = (Shuffle(source.num_rows), *operations)
    # The plan is about row numbers; the arrays are kept beside it, since a list of arrays in a plan is one array.
    row_plan = Plan(Range(range(source.num_rows)), operations)
    rows = [f"{array.dtype}{list(array.shape[1:])}" for array in flatten(source.arrays) if array is not None]
    origin: dict[str, Any] = {"kind": "arrays", "data": str(row_plan), "rows": rows, "shuffle": source.shuffle}
    _check_origin(position, origin)
    # Also on a resume, so that what the script draws after it is what the run drew that is resumed.
    drawn = np.random.randint(2**31) if source.shuffle == "batch" else None
    if position is None:
        origin["seeds"] = broadcast_seeds_from_chief(row_plan.seeds)
        origin["within"] = None if drawn is None else int(broadcast_from_chief(drawn))
    else:
        origin = position["origin"]
    found = index_plan(row_plan.with_seeds(origin["seeds"]))
    assert found is not None, "a plan of one shuffle and one batch is indexed"
    plan, _ = found
    first = None if position is None else position["number"]
    order = PassOrder(
        plan,
        itertools.count(0 if first is None else first[0] + 1).__next__,
        draws=False,
        seed_within_batches=origin["within"],
        first=first,
    )
    return _indexed_feed(plan, source.arrays, order, None, placement, origin, position)


def _dataset_feed(
    dataset: Dataset, class_weight: tuple[tuple[int, float], ...], placement: Placement, position: State
) -> Feed:
    if _yields_single_elements(dataset._plan, dataset._known_element_spec):
        raise ValueError(NOT_BATCHED.format(dataset=dataset))
    origin: dict[str, Any] = {"kind": "dataset", "data": str(dataset._plan)}
    _check_origin(position, origin)
    if position is not None:
        origin = position["origin"]
        iteration = position["number"][0] if "number" in position else position["base"]["iteration"]
        dataset._resume_from(origin["seeds"], origin["by_row"], iteration + 1)
    origin |= {"seeds": list(dataset._plan.seeds), "by_row": dataset._execution.num_by_row}
    execution = dataset._execution
    plan = execution.beginning
    if plan is not None and execution.complete and plan.batch is not None and _fits_into_step(plan):
        traces = trace_indexed_maps(plan)
        if all(isinstance(each, Traced) for each in traces):
            transform = Transform.of(plan, traces, class_weight)  # type: ignore[arg-type]
            first = None if position is None else position["number"]
            order = PassOrder(plan, dataset._next_iteration, draws=transform.draws, first=first)
            return _indexed_feed(plan, plan.arrays, order, transform, placement, origin, position)
    cardinality = dataset.cardinality()
    feed = StreamFeed(
        functools.partial(PlanBatches, dataset),
        num_batches=cardinality if cardinality >= 0 else None,
        is_restartable=True,
        is_endless=cardinality == INFINITE_CARDINALITY,
        transform=Transform(class_weight=class_weight) if class_weight else None,
        placement=placement,
        origin=origin,
        position=position,
        resume_caveat=dataset._plan.resume_caveat,
    )
    if _yields_single_elements(dataset._plan, feed.batch_spec):
        feed.close()
        raise ValueError(NOT_BATCHED.format(dataset=dataset))
    if _gives_single_rows(dataset._plan):
        size = _shapes(feed.batch_spec)[0][0]
        warn_user(ROWS_AS_BATCHES.format(dataset=dataset, size=size))
    return feed


def _indexed_feed(
    plan: IndexedPlan,
    arrays: Any,
    order: PassOrder,
    transform: Transform | None,
    placement: Placement,
    origin: State,
    position: State,
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
        order=order,
        transform=transform or None,
        placement=placement,
        # In JAX's order of the leaves, which differs from that of plans in an OrderedDict.
        tables=tuple(jax.tree.leaves(unflatten(plan.arrays, plan.tables))) if plan.num_tables > 1 else None,
        num_origins=len(plan.origins) if transform is not None and transform.draws else 0,
        origin=origin,
        position=position,
    )


def _check_origin(position: State, origin: dict[str, Any]) -> None:
    """Raises an error if the position is one of another input."""
    if position is not None and {name: position["origin"].get(name) for name in origin} != origin:
        theirs, ours = ({name: each.get(name) for name in origin} for each in (position["origin"], origin))
        raise ValueError(OTHER_DATA.format(theirs=theirs, ours=ours))


def _fits_into_step(plan: IndexedPlan) -> bool:
    """Whether a compiled step can hold its arrays."""
    return all(np.dtype(array.dtype).kind not in NON_JAX_KINDS for array in flatten(plan.arrays))


def _yields_single_elements(plan: Plan, spec: Any) -> bool:
    """Whether elements of this spec are no batches: x or y has no dims, or the arrays of a row share no first dim.

    Without dims, y may be what a user's function makes of a batch.
    """
    x, y = map(_shapes, (*spec, None)[:2]) if isinstance(spec, tuple) else (_shapes(spec), [])
    if (x and not any(x)) or (y and not any(y) and not _is_batched(plan)):
        return True
    return _gives_single_rows(plan) and len({shape[:1] for shape in _shapes(spec)} - {(None,)}) > 1


def _is_batched(plan: Plan) -> bool:
    for operation in reversed(plan.operations):
        if isinstance(operation, Unbatch):
            return False
        if operation.makes_batches or isinstance(operation, GroupByWindow):
            return True
    return any(map(_is_batched, plan.source.inputs))


def _shapes(spec: Any) -> list[tuple[int | None, ...]]:
    return [leaf.shape for leaf in flatten(spec) if isinstance(leaf, TensorSpec | jax.ShapeDtypeStruct)]


def _gives_single_rows(plan: Plan) -> bool:
    """Whether no operation stacks the rows of the source. Rows may be batches all the same, if an array holds some."""
    if any(operation.makes_batches is not False for operation in plan.operations):
        return False
    return plan.source.gives_single_rows and plan.source.cardinality != 1


def _check_batch_size(batch_size: int | None) -> None:
    if batch_size is not None and (not isinstance(batch_size, int | np.integer) or batch_size < 1):
        raise ValueError(f"batch_size is a whole number of at least 1; got {batch_size!r}.")
