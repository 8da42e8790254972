"""batch: consecutive elements stacked into one; and what all operations that stack elements share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from math import gcd
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from unisono._src.data.plans._arguments import check_batch_size
from unisono._src.data.plans._composite_leaf import CompositeLeaf, concatenate_leaves, has_rows
from unisono._src.data.plans._identity import ComputedElement, current_identity, set_identity
from unisono._src.data.plans._inspection import Inspection
from unisono._src.data.plans._nest import Nest, flatten, leaf_names, same_structure, structure, unflatten
from unisono._src.data.plans._nested_dataset import is_dataset
from unisono._src.data.plans._operation import Deferred, Elements, Operation, PassId, Upstream
from unisono._src.data.plans._pass_batches import cut_into_batches
from unisono._src.data.plans._passes import StatelessElements
from unisono._src.data.plans._row_order import Order, RowRequest, RowStep
from unisono._src.data.plans._row_plan import MAX_REPEATED_ROWS, RowPlan
from unisono._src.data.plans._spec import check_no_datasets, map_specs, stack_spec, with_num_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class StackOperation(Operation):
    """`batch_size` elements at a time; the last batch may be smaller unless `drop_remainder`."""

    keeps_random_access = True
    makes_batches = True

    call: ClassVar[str]
    """The method that the user wrote."""

    batch_size: int
    drop_remainder: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "batch_size", check_batch_size(self.batch_size, self.call))

    @abstractmethod
    def stack(self, group: Sequence[Deferred]) -> Nest:
        """These elements as one."""

    @property
    def full_batch_size(self) -> int:
        return self.batch_size

    def cardinality(self, upstream: int) -> int:
        return num_batches(upstream, self.batch_size, self.drop_remainder)

    def elements(self, upstream: Upstream, pass_id: PassId) -> Elements:
        return group_elements(upstream.open(pass_id), self.batch_size, self.drop_remainder, self.stack)

    def __str__(self) -> str:
        return f"{self.call}({self.batch_size}{', drop_remainder=True' if self.drop_remainder else ''})"


@dataclass(frozen=True)
class Batch(StackOperation):
    """Elements of equal shapes, stacked."""

    call: ClassVar[str] = "batch"

    def stack(self, group: Sequence[Deferred]) -> Nest:
        """Copies each element into the batch as soon as it is computed, while it is in the CPU's caches."""
        first = group[0]()
        identity = current_identity()
        leaves = flatten(first)
        if not all(type(leaf) is np.ndarray for leaf in leaves):
            return stack_elements([ComputedElement(first), *group[1:]], self, self._stack_leaves)
        batch = [np.empty((len(group), *leaf.shape), leaf.dtype) for leaf in leaves]
        for number, deferred in enumerate(group):
            element = first if number == 0 else deferred()
            parts = flatten(element)
            if not same_structure(element, first) or not all(map(_fits, parts, batch)):
                before = [
                    ComputedElement(unflatten(first, [rows[row, ...] for rows in batch])) for row in range(number)
                ]
                return stack_elements(
                    [*before, ComputedElement(element), *group[number + 1 :]], self, self._stack_leaves
                )
            for rows, part in zip(batch, parts, strict=True):
                rows[number, ...] = part  # without `...` NumPy would store the array itself for one text
        set_identity(*identity)
        return unflatten(first, batch)

    def _stack_leaves(self, leaves: tuple[Any, ...], name: str) -> Any:
        if isinstance(leaves[0], CompositeLeaf):
            return type(leaves[0]).stack_leaves(leaves)
        shapes = {leaf.shape for leaf in leaves}
        if len(shapes) > 1:
            one, other, *_ = sorted(map(str, shapes))
            raise ValueError(
                f"{self}: {name} has shape {one} in one row and {other} in another. A batch needs one shape: "
                f"use padded_batch(...), or resize with map(...) before batch(...)."
            )
        return np.stack(leaves)

    def element_spec(self, spec: Nest, inspection: Inspection) -> Nest:
        return stack_spec(spec, self.batch_size if self.drop_remainder else None, self)

    def on_rows(self, rows: RowPlan) -> RowPlan | None:
        if rows.batch is not None:
            return None
        rounds = 1
        if rows.is_endless:
            # Batches run across the ends of rounds. After this many rounds both end together.
            rounds = self.batch_size // gcd(rows.size, self.batch_size)
            if rounds > 1 and rounds * rows.size > MAX_REPEATED_ROWS:
                return None
        num_rows = rows.size - rows.size % self.batch_size if self.drop_remainder else rows.size
        size = self.cardinality(rows.size)
        return rows.then(BatchStep(self), size, batch=self, rounds_per_segment=rounds, num_rows=num_rows)


@dataclass(frozen=True, eq=False)
class BatchStep(RowStep):
    """Consecutive row numbers as batches."""

    batch: Batch

    def apply(self, before: Callable[[RowRequest], Order], request: RowRequest) -> Order:
        rows = before(request)
        assert isinstance(rows, np.ndarray), "one batch at most is done by row"
        return cut_into_batches(rows, self.batch.batch_size, self.batch.cardinality(len(rows)))


@dataclass(frozen=True)
class ConcatenateBatches(Operation):
    """The rows of `number` elements at a time, in one batch.

    Not a method of `Dataset`: what `fit` makes of batches that are meant for single replicas.
    """

    keeps_random_access = True

    number: int

    def cardinality(self, upstream: int) -> int:
        return num_batches(upstream, self.number, drop_remainder=False)

    def elements(self, upstream: Upstream, pass_id: PassId) -> Elements:
        def concatenate(group: Sequence[Deferred]) -> Nest:
            return stack_elements(group, self, self._concatenate_leaves)

        return group_elements(upstream.open(pass_id), self.number, False, concatenate)

    def _concatenate_leaves(self, leaves: tuple[Any, ...], name: str) -> Any:
        if not all(map(has_rows, leaves)):
            raise ValueError(f"{self}: {name} has no rows to join. Batch the dataset that the function returns.")
        return concatenate_leaves(leaves)

    def element_spec(self, spec: Nest, inspection: Inspection) -> Nest:
        check_no_datasets(spec, self)
        return map_specs(lambda leaf: with_num_rows(leaf, None), spec)

    def __str__(self) -> str:
        return f"join({self.number})"


def _fits(leaf: Any, rows: NDArray[Any]) -> bool:
    return type(leaf) is np.ndarray and leaf.shape == rows.shape[1:] and leaf.dtype == rows.dtype


def group_elements(
    upstream: Elements, size: int, drop_remainder: bool, combine: Callable[[Sequence[Deferred]], Nest]
) -> Elements:
    """`size` consecutive elements at a time, each group made one element by `combine`."""

    def next_group(elements: Elements) -> Deferred:
        group = list(islice(elements, size))
        if not group or (drop_remainder and len(group) < size):
            raise StopIteration
        return partial(combine, group)

    return StatelessElements(upstream, next_group)


LeafStacker = Callable[[tuple[Any, ...], str], Any]
"""Makes one array of the same leaf of several elements, and the leaf's name."""


def stack_elements(group: Sequence[Deferred], operation: Operation, stack: LeafStacker) -> Nest:
    """The elements of a group as one, leaf by leaf. It has the identity of the first of them."""
    elements = [group[0]()]
    first_identity = current_identity()
    elements.extend(element() for element in group[1:])
    set_identity(*first_identity)
    first = structure(elements[0])
    for element in elements:
        if structure(element) != first:
            raise ValueError(
                f"{operation}: elements of different structure cannot be stacked: {first} and "
                f"{structure(element)}. What comes before it must give the same tuple or dict for all."
            )
    columns = list(zip(*map(flatten, elements), strict=True))
    names = leaf_names(elements[0], "element")
    stacked = [_stack_arrays(leaves, name, operation, stack) for leaves, name in zip(columns, names, strict=True)]
    return unflatten(elements[0], stacked)


def _stack_arrays(leaves: tuple[Any, ...], name: str, operation: Operation, stack: LeafStacker) -> Any:
    missing = sum(leaf is None for leaf in leaves)
    if missing == len(leaves):
        return None
    if missing:
        raise ValueError(f"{operation}: {name} is None in one row and an array in another. Return one kind for all.")
    if any(is_dataset(leaf) for leaf in leaves):
        raise TypeError(f"{operation}: {name} is a dataset. Use flat_map(lambda window: window.batch(n)) before it.")
    return stack(leaves, name)


def num_batches(num_rows: int, batch_size: int, drop_remainder: bool) -> int:
    """The number of batches in so many rows; the two special cardinalities stay what they are."""
    if num_rows < 0:
        return num_rows
    return num_rows // batch_size if drop_remainder else -(-num_rows // batch_size)
