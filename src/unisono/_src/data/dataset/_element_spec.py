"""What the elements of a plan look like, found without running the plan where that is possible."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import jax
import numpy as np

from unisono._src.data.dataset._spec import DatasetSpec, TensorSpec
from unisono._src.data.dataset._trace import Traced, Untraceable, shape_struct, trace
from unisono._src.data.plans import (
    ArraySlices,
    Batch,
    Cache,
    ChosenElements,
    Concatenate,
    ConcatenateBatches,
    Counter,
    ElementList,
    Enumerate,
    FileCache,
    FileSource,
    GeneratedElements,
    GroupByWindow,
    Interleave,
    Map,
    Nest,
    Operation,
    PaddedBatch,
    Plan,
    RandomNumbers,
    Range,
    Rebatch,
    Repeat,
    Scan,
    Shuffle,
    Signature,
    Source,
    Unbatch,
    Window,
    ZippedPlans,
    flatten,
    iterate,
    map_leaves,
    structure,
    unflatten,
)


@dataclass(frozen=True)
class Stage:
    """A plan up to one of its operations: what its elements look like, and what was found out about a map."""

    operation: Operation | None
    """None for the source."""
    spec: Nest
    """UNKNOWN where a user's function would have to run to know it, and may not."""
    traced: Traced | Untraceable | None = None
    """For maps."""


UNKNOWN: Final = object()


def trace_stages(plan: Plan, may_run: bool = True) -> list[Stage]:
    """Follows the spec through the operations: one stage for the source and one for each operation.

    Dtypes are NumPy's, 64 bits included: an element on the host is not yet one of a training step.
    """
    with jax.enable_x64(True):
        return _Describer(may_run).stages(plan)


class _MustRunError(Exception):
    """The elements can only be known by running a user's function."""


class _Describer:
    def __init__(self, may_run: bool) -> None:
        self._may_run = may_run

    def stages(self, plan: Plan) -> list[Stage]:
        """The source and each operation."""
        try:
            stages = [Stage(None, self._source(plan.source))]
        except _MustRunError:
            stages = [Stage(None, UNKNOWN)]
        for number, operation in enumerate(plan.operations):
            before = Plan(plan.source, plan.operations[:number])
            stages.append(self._stage(stages[-1].spec, operation, before))
        return stages

    def _stage(self, spec: Nest, operation: Operation, before: Plan) -> Stage:
        if spec is UNKNOWN:
            return Stage(operation, UNKNOWN)
        try:
            return self._next(spec, operation, before)
        except _MustRunError:
            return Stage(operation, UNKNOWN)

    def _spec(self, plan: Plan) -> Nest:
        spec = self.stages(plan)[-1].spec
        if spec is UNKNOWN:
            raise _MustRunError
        return spec

    def _source(self, source: Source) -> Nest:
        match source:
            case ArraySlices():
                return map_leaves(lambda array: TensorSpec(array.shape[1:], array.dtype), source.arrays)
            case Range():
                return TensorSpec((), source.dtype)
            case FileSource():
                return TensorSpec((), object)
            case ZippedPlans():
                return map_leaves(self._spec, source.plans)
            case ChosenElements():
                return _merged([self._spec(plan) for plan in source.plans])
            case Counter():
                return TensorSpec((), source.dtype)
            case RandomNumbers():
                return TensorSpec((), np.int64)
            case ElementList() if source.spec is not None:
                return source.spec
            case ElementList():
                return _merged([map_specs(_spec_of, value) for value in source.values])
            case GeneratedElements() if source.signature is not None:
                return _of_signature(source.signature)
        return map_specs(_spec_of, self._first(Plan(source)))

    def _next(self, spec: Nest, operation: Operation, before: Plan) -> Stage:
        if isinstance(operation, Batch | PaddedBatch | ConcatenateBatches):
            _refuse_datasets(spec, operation)
        match operation:
            case Batch():
                dim = operation.batch_size if operation.drop_remainder else None
                return Stage(operation, map_specs(lambda leaf: TensorSpec((dim, *leaf.shape), leaf.dtype), spec))
            case ConcatenateBatches():
                return Stage(operation, map_specs(lambda leaf: TensorSpec((None, *leaf.shape[1:]), leaf.dtype), spec))
            case PaddedBatch():
                return Stage(operation, _padded(spec, operation))
            case Unbatch():
                _check_rows(spec, operation)
                return Stage(operation, map_specs(lambda leaf: TensorSpec(leaf.shape[1:], leaf.dtype), spec))
            case Rebatch():
                _check_rows(spec, operation)
                return Stage(operation, _rebatched(spec, operation))
            case Enumerate():
                return Stage(operation, (TensorSpec((), np.int64), spec))
            case Window():
                return Stage(operation, map_specs(DatasetSpec, spec))
            case Concatenate():
                return Stage(operation, _merged([spec, self._spec(operation.other)]))
            case GroupByWindow() if operation.batch is not None:
                return Stage(operation, self._next(spec, operation.batch, before).spec)
            case GroupByWindow():
                element = self._first(before)
                return Stage(operation, self._spec(operation.plan_of(operation.key_of(element), [element], (0, 0))))
            case Map():
                traced = _trace(operation, spec, _batch_size(before))
                if isinstance(traced, _TracedSpec):
                    return Stage(operation, traced.spec, traced.traced)
                seen = self._seen(before, operation, spec) if self._may_run else UNKNOWN
                return Stage(operation, seen, traced)
            case Scan():
                return Stage(operation, self._seen(before, operation, spec))
            case Interleave():
                first = _specified(self._first(before), spec)
                inner = self._spec(operation.plan_of(lambda: first, (0, 0)))
                return Stage(operation, _opened(inner, _open_sizes(first, spec)))
            case _:
                return Stage(operation, spec)

    def _seen(self, before: Plan, operation: Operation, spec: Nest) -> Nest:
        """The spec of the first element, with dimensions left open that were open before."""
        sizes = _open_sizes(self._first(before), spec)
        return _opened(map_specs(_spec_of, self._first(before.then(operation))), sizes)

    def _first(self, plan: Plan) -> Nest:
        if not self._may_run:
            raise _MustRunError
        for element in iterate(_without_mixing(plan)):
            return element
        raise ValueError(
            f"The dataset {plan} has no element, so there is none to learn its element_spec from. "
            f"Expected at least one full batch: use a smaller batch_size, or drop_remainder=False."
        )


@dataclass(frozen=True)
class _TracedSpec:
    spec: Nest
    traced: Traced


def _trace(operation: Map, spec: Nest, batch_size: int) -> _TracedSpec | Untraceable:
    """Traces with the full batch and with one row more: a dimension that differs between the two may vary."""
    leaves = [leaf for leaf in flatten(spec) if leaf is not None]
    if any(isinstance(leaf, DatasetSpec) for leaf in leaves):
        return Untraceable("it gets datasets, not arrays")

    def result(varying: int) -> Traced | Untraceable:
        def filled(leaf: TensorSpec) -> Any:
            return shape_struct([varying if dim is None else dim for dim in leaf.shape], leaf.dtype)

        return trace(operation.function, map_specs(filled, spec), operation.seed)

    full = result(batch_size)
    if isinstance(full, Untraceable):
        return full
    if not any(None in leaf.shape for leaf in leaves):
        return _TracedSpec(map_specs(_spec_of, full.result), full)
    longer = result(batch_size + 1)
    # A function that insists on the full batch, say reshape(64, -1), has fixed dimensions.
    other = longer.result if isinstance(longer, Traced) else full.result
    if structure(other) != structure(full.result):
        other = full.result
    merged = unflatten(full.result, map(_merged_pair, flatten(full.result), flatten(other)))
    return _TracedSpec(merged, full)


def _batch_size(plan: Plan) -> int:
    sizes = [operation.batch_size for operation in plan.operations if isinstance(operation, Batch | PaddedBatch)]
    return sizes[-1] if sizes else 2


def _merged(specs: Sequence[Nest]) -> Nest:
    """What elements of any of these specs look like."""
    first = specs[0]
    for other in specs[1:]:
        if structure(other) != structure(first):
            raise TypeError(
                f"Datasets of different structure cannot follow each other: {first} and {other}. "
                f"Map one of them to the structure of the other."
            )
        for one, two in zip(flatten(first), flatten(other), strict=True):
            if not _same_dtype(getattr(one, "dtype", None), getattr(two, "dtype", None)):
                raise TypeError(
                    f"Datasets of different dtypes cannot follow each other: {one} and {two}. "
                    f"Cast one of them first: map(lambda x: x.astype(...))."
                )
        first = unflatten(first, map(_merged_pair, flatten(first), flatten(other)))
    return first


def _same_dtype(one: Any, other: Any) -> bool:
    return bool(one == other or (one is not None and other is not None and one.kind == other.kind and one.kind in "US"))


def _merged_pair(one: Any, other: Any) -> Any:
    if isinstance(one, DatasetSpec) or one is None:
        return one
    if len(one.shape) != len(other.shape):
        return _spec_of(one)
    dims = zip(one.shape, other.shape, strict=True)
    return TensorSpec([a if a == b else None for a, b in dims], one.dtype)


def _padded(spec: Nest, operation: PaddedBatch) -> Nest:
    dim = operation.batch_size if operation.drop_remainder else None
    padded: list[TensorSpec | None] = []
    for leaf, shape in zip(flatten(spec), operation.shapes_of(spec), strict=True):
        if leaf is not None and shape is not None and len(shape) != len(leaf.shape):
            raise ValueError(f"{operation}: {leaf} cannot be padded to {shape}, which has another number of dims.")
        padded.append(leaf and TensorSpec((dim, *(leaf.shape if shape is None else shape)), leaf.dtype))
    return unflatten(spec, padded)


def _refuse_datasets(spec: Nest, operation: Operation) -> None:
    if any(isinstance(leaf, DatasetSpec) for leaf in flatten(spec)):
        raise TypeError(f"{operation}: elements are datasets. Use flat_map(lambda window: window.batch(n)) before it.")


def _check_rows(spec: Nest, operation: Operation) -> None:
    leaves = [leaf for leaf in flatten(spec) if leaf is not None]
    if any(not isinstance(leaf, TensorSpec) or not leaf.shape for leaf in leaves):
        raise ValueError(f"{operation}: elements have no rows: {spec}. Put batch(...) before it.")
    known = {leaf.shape[0] for leaf in leaves} - {None}
    if len(known) > 1:
        raise ValueError(f"{operation}: the parts of an element have different numbers of rows: {spec}.")


def _rebatched(spec: Nest, operation: Rebatch) -> Nest:
    sizes = set(operation.batch_sizes)
    size = operation.batch_sizes[0]

    def rebatched(leaf: TensorSpec) -> TensorSpec:
        before = leaf.shape[0] if leaf.shape else None
        known = len(sizes) == 1 and (operation.drop_remainder or (before is not None and before % size == 0))
        return TensorSpec((size if known else None, *leaf.shape[1:]), leaf.dtype)

    return map_specs(rebatched, spec)


def _of_signature(signature: Signature) -> Nest:
    pairs = zip(signature.shapes, signature.dtypes, strict=True)
    return unflatten(signature.like, [TensorSpec(shape, dtype) for shape, dtype in pairs])


def _open_sizes(element: Nest, spec: Nest) -> set[int]:
    """How large the open dimensions of an element are. Another element's may have other sizes, and so may what
    follows from them."""
    return {
        size
        for leaf, leaf_spec in zip(flatten(element), flatten(spec), strict=True)
        if isinstance(leaf_spec, TensorSpec)
        for size, dim in zip(leaf.shape, leaf_spec.shape, strict=True)
        if dim is None
    }


def _opened(spec: Nest, sizes: set[int]) -> Nest:
    """The spec with dimensions of these sizes left open."""

    def opened(leaf: Any) -> Any:
        if not isinstance(leaf, TensorSpec):
            return leaf
        return TensorSpec([None if dim in sizes else dim for dim in leaf.shape], leaf.dtype)

    return map_specs(opened, spec)


def _specified(element: Nest, spec: Nest) -> Nest:
    """An element whose datasets know what is known about their elements, beyond what the first ones show."""

    def specified(leaf: Any, leaf_spec: Any) -> Any:
        if not isinstance(leaf_spec, DatasetSpec) or not isinstance(leaf.plan.source, ElementList):
            return leaf
        return type(leaf)(Plan(replace(leaf.plan.source, spec=leaf_spec.element_spec), leaf.plan.operations))

    return unflatten(element, map(specified, flatten(element), flatten(spec)))


def _without_mixing(plan: Plan) -> Plan:
    """The first element is all that is needed, whichever it is: a shuffle would read its whole buffer for it."""
    kept = (each for each in plan.operations if not isinstance(each, Shuffle | Repeat | Cache | FileCache))
    return Plan(plan.source, tuple(kept))


def _spec_of(leaf: Any) -> Any:
    return DatasetSpec(leaf.inferred_element_spec) if hasattr(leaf, "plan") else TensorSpec(leaf.shape, leaf.dtype)


def map_specs(function: Callable[[Any], Any], nest: Nest) -> Nest:
    """`function` of each leaf that is not None."""
    return map_leaves(lambda leaf: None if leaf is None else function(leaf), nest)
