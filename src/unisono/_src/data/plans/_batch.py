"""batch: consecutive elements stacked into one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from unisono._src.data.plans._identity import ComputedElement, current_identity, set_identity
from unisono._src.data.plans._nest import Nest, flatten, leaf_names, same_structure, structure, unflatten
from unisono._src.data.plans._operation import Deferred, Elements, Operation, Path, Upstream
from unisono._src.data.plans._stateless import StatelessElements
from unisono._src.data.plans._whole_number import whole_number


@dataclass(frozen=True)
class Batch(Operation):
    """`batch_size` elements at a time; the last batch may be smaller unless `drop_remainder`."""

    batch_size: int
    drop_remainder: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "batch_size", check_batch_size(self.batch_size, "batch"))

    @property
    def keeps_random_access(self) -> bool:
        return True

    def cardinality(self, upstream: int) -> int:
        return num_batches(upstream, self.batch_size, self.drop_remainder)

    def elements(self, upstream: Upstream, path: Path) -> Elements:
        return group_elements(upstream.open(path), self.batch_size, self.drop_remainder, self.join)

    def join(self, group: Sequence[Deferred]) -> Nest:
        """These elements as one."""
        return self._filled(group[0](), group)

    def _filled(self, first: Nest, group: Sequence[Deferred]) -> Nest:
        """Copies each element into the batch as soon as it is computed, while it is in the caches."""
        who = current_identity()
        leaves = flatten(first)
        if not all(type(leaf) is np.ndarray for leaf in leaves):
            return stack_elements([ComputedElement(first), *group[1:]], self, self._stack)
        batch = [np.empty((len(group), *leaf.shape), leaf.dtype) for leaf in leaves]
        for number, deferred in enumerate(group):
            element = first if number == 0 else deferred()
            parts = flatten(element)
            if not same_structure(element, first) or not all(map(_fits, parts, batch)):
                before = [ComputedElement(unflatten(first, [rows[row] for rows in batch])) for row in range(number)]
                return stack_elements([*before, ComputedElement(element), *group[number + 1 :]], self, self._stack)
            for rows, part in zip(batch, parts, strict=True):
                rows[number, ...] = part  # of one text NumPy would take the array for the object
        set_identity(*who)
        return unflatten(first, batch)

    def _stack(self, leaves: tuple[Any, ...], name: str) -> Any:
        shapes = {leaf.shape for leaf in leaves}
        if len(shapes) > 1:
            one, other, *_ = sorted(map(str, shapes))
            raise ValueError(
                f"{self}: {name} has shape {one} in one row and {other} in another. A batch needs one shape: "
                f"use padded_batch(...), or resize with map(...) before batch(...)."
            )
        return np.stack(leaves)

    def __str__(self) -> str:
        return f"batch({self.batch_size}{', drop_remainder=True' if self.drop_remainder else ''})"


def _fits(leaf: Any, rows: np.ndarray[Any, Any]) -> bool:
    return type(leaf) is np.ndarray and leaf.shape == rows.shape[1:] and leaf.dtype == rows.dtype


def group_elements(
    upstream: Elements, size: int, drop_remainder: bool, join: Callable[[Sequence[Deferred]], Nest]
) -> Elements:
    """`size` consecutive elements at a time, each group made one element by `join`."""

    def next_group(elements: Elements) -> Deferred:
        group = list(islice(elements, size))
        if not group or (drop_remainder and len(group) < size):
            raise StopIteration
        return partial(join, group)

    return StatelessElements(upstream, next_group)


def stack_elements(
    group: Sequence[Deferred], operation: Operation, join: Callable[[tuple[Any, ...], str], Any]
) -> Nest:
    """The elements of a group as one, leaf by leaf through `join(leaves, name)`. It is known by the first of them."""
    elements = [group[0]()]
    first_identity = current_identity()
    elements.extend(element() for element in group[1:])
    set_identity(*first_identity)
    first = structure(elements[0])
    for element in elements:
        if structure(element) != first:
            raise ValueError(
                f"{operation}: elements of different structure cannot be stacked: {first} and "
                f"{structure(element)}. What stands before it must give the same tuple or dict for all."
            )
    columns = list(zip(*map(flatten, elements), strict=True))
    names = leaf_names(elements[0], "element")
    return unflatten(
        elements[0], [_joined(leaves, name, operation, join) for leaves, name in zip(columns, names, strict=True)]
    )


def _joined(
    leaves: tuple[Any, ...], name: str, operation: Operation, join: Callable[[tuple[Any, ...], str], Any]
) -> Any:
    missing = sum(leaf is None for leaf in leaves)
    if missing == len(leaves):
        return None
    if missing:
        raise ValueError(f"{operation}: {name} is None in one row and an array in another. Return one kind for all.")
    if any(hasattr(leaf, "plan") for leaf in leaves):
        raise TypeError(f"{operation}: {name} is a dataset. Use flat_map(lambda window: window.batch(n)) before it.")
    return join(leaves, name)


def num_batches(num_rows: int, batch_size: int, drop_remainder: bool) -> int:
    """The number of batches in so many rows; the two special cardinalities stay what they are."""
    if num_rows < 0:
        return num_rows
    return num_rows // batch_size if drop_remainder else -(-num_rows // batch_size)


def check_batch_size(value: Any, call: str) -> int:
    """`value` as a number of at least 1."""
    size = whole_number(value, call, "batch_size")
    if size < 1:
        raise ValueError(f"{call}: batch_size must be at least 1, but it is {size}. Write {call}(32), say.")
    return size
