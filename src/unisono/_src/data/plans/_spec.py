"""Specs: what the leaves of an element look like, and what operations make of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from unisono._src.data.plans._composite_leaf import CompositeLeaf, CompositeSpec
from unisono._src.data.plans._nest import Nest, flatten, map_leaves, structure, unflatten
from unisono._src.data.plans._nested_dataset import is_dataset


@dataclass(frozen=True, init=False, repr=False)
class TensorSpec:
    """A shape, with None for a dimension that may vary, and a dtype.

    >>> TensorSpec((None, 28, 28), "uint8")
    TensorSpec(shape=(None, 28, 28), dtype=uint8)
    """

    shape: tuple[int | None, ...]
    dtype: np.dtype[Any]
    name: str | None

    def __init__(self, shape: Iterable[int | None], dtype: DTypeLike = "float32", name: str | None = None) -> None:
        object.__setattr__(self, "shape", tuple(shape))
        object.__setattr__(self, "dtype", np.dtype(object if dtype in ("string", bytes, str) else dtype))
        object.__setattr__(self, "name", name)

    def __repr__(self) -> str:
        name = "" if self.name is None else f", name={self.name!r}"
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype}{name})"


@dataclass(frozen=True)
class DatasetSpec:
    """A dataset inside an element, as `window` makes them."""

    element_spec: Any


def map_specs(function: Callable[[Any], Any], nest: Nest) -> Nest:
    """`function` of each leaf that is not None."""
    return map_leaves(lambda leaf: None if leaf is None else function(leaf), nest)


def spec_of_leaf(leaf: Any) -> Any:
    """The spec of an array, of a composite leaf, or of a dataset."""
    if isinstance(leaf, CompositeLeaf):
        return leaf.leaf_spec()
    return DatasetSpec(leaf._inferred_element_spec) if is_dataset(leaf) else TensorSpec(leaf.shape, leaf.dtype)


def merge_specs(specs: Sequence[Nest]) -> Nest:
    """What elements of any of these specs look like."""
    merged = specs[0]
    for other in specs[1:]:
        if structure(other) != structure(merged):
            raise TypeError(
                f"Datasets of different structure cannot follow each other: {merged} and {other}. "
                f"Map one of them to the structure of the other."
            )
        for one, two in zip(flatten(merged), flatten(other), strict=True):
            if not _have_same_dtype(getattr(one, "dtype", None), getattr(two, "dtype", None)):
                raise TypeError(
                    f"Datasets of different dtypes cannot follow each other: {one} and {two}. "
                    f"Cast one of them first: map(lambda x: x.astype(...))."
                )
        merged = merge_leaves(merged, other)
    return merged


def merge_leaves(one: Nest, other: Nest) -> Nest:
    """Two nests of equal structure, leaf by leaf: a dimension that differs may vary."""
    return unflatten(one, map(_merge_pair, flatten(one), flatten(other)))


def _merge_pair(one: Any, other: Any) -> Any:
    if isinstance(one, DatasetSpec) or one is None:
        return one
    if isinstance(one, CompositeSpec):
        return one.merged(other)
    if len(one.shape) != len(other.shape):
        return spec_of_leaf(one)
    dims = zip(one.shape, other.shape, strict=True)
    return TensorSpec([a if a == b else None for a, b in dims], one.dtype)


def _have_same_dtype(one: Any, other: Any) -> bool:
    return bool(one == other or (one is not None and other is not None and one.kind == other.kind and one.kind in "US"))


def find_open_sizes(element: Nest, spec: Nest) -> set[int]:
    """How large the open dimensions of an element are. Other elements may have other sizes there, and in everything
    that is computed from them."""
    return {
        size
        for leaf, leaf_spec in zip(flatten(element), flatten(spec), strict=True)
        if isinstance(leaf_spec, TensorSpec | CompositeSpec)
        for size, dim in zip(getattr(leaf, "shape", ()), getattr(leaf_spec, "shape", ()), strict=False)
        if dim is None and size is not None
    }


def leave_open(spec: Nest, sizes: set[int]) -> Nest:
    """The spec with None for dimensions of these sizes."""

    def open_dims(leaf: Any) -> Any:
        if isinstance(leaf, CompositeSpec):
            return leaf.with_open_dims(sizes)
        if not isinstance(leaf, TensorSpec):
            return leaf
        return TensorSpec([None if dim in sizes else dim for dim in leaf.shape], leaf.dtype)

    return map_specs(open_dims, spec)


def stack_spec(spec: Nest, num_rows: int | None, operation: object) -> Nest:
    """Elements of this spec stacked into one; refuses datasets."""
    check_no_datasets(spec, operation)

    def stack(leaf: Any) -> Any:
        if isinstance(leaf, CompositeSpec):
            return leaf.batched(num_rows)
        return TensorSpec((num_rows, *leaf.shape), leaf.dtype)

    return map_specs(stack, spec)


def row_spec(leaf: Any) -> Any:
    """The spec of a row."""
    return leaf.unbatched() if isinstance(leaf, CompositeSpec) else TensorSpec(leaf.shape[1:], leaf.dtype)


def with_num_rows(leaf: Any, num_rows: int | None) -> Any:
    """The spec with another first dim."""
    shape = (num_rows, *leaf.shape[1:])
    return leaf.with_shape(shape) if isinstance(leaf, CompositeSpec) else TensorSpec(shape, leaf.dtype)


def check_no_datasets(spec: Nest, operation: object) -> None:
    """Refuses elements that hold datasets, for operations on arrays."""
    if any(isinstance(leaf, DatasetSpec) for leaf in flatten(spec)):
        raise TypeError(f"{operation}: elements are datasets. Use flat_map(lambda window: window.batch(n)) before it.")


def _has_rows(spec: Any) -> bool:
    if isinstance(spec, CompositeSpec):
        return spec.has_rows()
    return isinstance(spec, TensorSpec) and bool(spec.shape)


def check_has_rows(spec: Nest, operation: object) -> None:
    """Refuses elements whose leaves do not share a first dimension."""
    leaves = [leaf for leaf in flatten(spec) if leaf is not None]
    if not all(map(_has_rows, leaves)):
        raise ValueError(f"{operation}: elements have no rows: {spec}. Put batch(...) before it.")
    known = {leaf.num_rows() if isinstance(leaf, CompositeSpec) else leaf.shape[0] for leaf in leaves} - {None}
    if len(known) > 1:
        raise ValueError(f"{operation}: the parts of an element have different numbers of rows: {spec}.")
