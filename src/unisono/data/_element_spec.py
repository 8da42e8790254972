"""What the elements of a plan look like, found without running the plan where that is possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unisono.data._spec import TensorSpec
from unisono.data._trace import MapFunction, one_line, struct, trace
from unisono.plans import (
    ArraySlices,
    Batch,
    Cache,
    Map,
    Nest,
    Plan,
    Prefetch,
    Repeat,
    Shuffle,
    flatten,
    iterate,
    map_leaves,
    structure,
    unflatten,
)


@dataclass(frozen=True)
class Description:
    """The spec, and why part of it was found by running a map on the host, if so."""

    spec: Nest
    untraceable: str | None


def describe(plan: Plan, may_run: bool = True) -> Description:
    """Follows the spec through the operations; None if a map would have to run and may not."""
    done = Plan(plan.source)
    spec = _source_spec(done)
    untraceable: str | None = None
    batch_size = 1
    for operation in plan.operations:
        match operation:
            case Shuffle() | Repeat() | Cache() | Prefetch():
                continue  # left out of `done` too: the first element is all that is needed, in any order
            case Batch():
                batch_size = operation.batch_size
                dim = batch_size if operation.drop_remainder else None
                spec = _map_specs(lambda leaf, dim=dim: TensorSpec((dim, *leaf.shape), leaf.dtype), spec)
            case Map():
                try:
                    spec = _traced(operation.function, spec, batch_size)
                except Exception as error:
                    untraceable = untraceable or f"{operation} cannot be traced: {one_line(error)}"
                    if not may_run:
                        return Description(None, untraceable)
                    spec = _seen(done, operation, spec)
            case _:
                raise TypeError(f"element_spec does not know what {operation} does to an element")
        done = done.then(operation)
    return Description(spec, untraceable)


def _source_spec(plan: Plan) -> Nest:
    if isinstance(plan.source, ArraySlices):
        return map_leaves(lambda array: TensorSpec(array.shape[1:], array.dtype), plan.source.arrays)
    return _map_specs(_spec_of, _first_element(plan))


def _traced(function: MapFunction, spec: Nest, batch_size: int) -> Nest:
    """Traces with the full batch and with one row more: a dimension that differs between the two may vary."""

    def result(varying: int) -> Nest:
        def filled(leaf: TensorSpec) -> Any:
            return struct([varying if dim is None else dim for dim in leaf.shape], leaf.dtype)

        return trace(function, _map_specs(filled, spec))

    full = result(batch_size)
    if not any(leaf is not None and None in leaf.shape for leaf in flatten(spec)):
        return _map_specs(_spec_of, full)
    try:
        longer = result(batch_size + 1)
    except Exception:  # a function that insists on the full batch, say reshape(64, -1): its dimensions are fixed
        longer = full
    if structure(longer) != structure(full):
        longer = full
    return unflatten(full, map(_merged, flatten(full), flatten(longer)))


def _merged(full: Any, longer: Any) -> TensorSpec | None:
    if full is None or len(full.shape) != len(longer.shape):
        return None if full is None else _spec_of(full)
    dims = zip(full.shape, longer.shape, strict=True)
    return TensorSpec([one if one == other else None for one, other in dims], full.dtype)


def _seen(before: Plan, operation: Map, spec: Nest) -> Nest:
    """The spec of the first element, with the batch dimension left open where it was open before."""
    num_rows = {
        leaf.shape[0]
        for leaf, leaf_spec in zip(flatten(_first_element(before)), flatten(spec), strict=True)
        if leaf_spec is not None and leaf_spec.shape[:1] == (None,)
    }

    def opened(leaf: Any) -> TensorSpec:
        first = tuple(None if dim in num_rows else dim for dim in leaf.shape[:1])
        return TensorSpec((*first, *leaf.shape[1:]), leaf.dtype)

    return _map_specs(opened, _first_element(before.then(operation)))


def _first_element(plan: Plan) -> Nest:
    for element in iterate(plan):
        return element
    raise ValueError(
        f"The dataset {plan} has no element, so there is none to learn its element_spec from. "
        f"Expected at least one full batch: use a smaller batch_size, or drop_remainder=False."
    )


def _spec_of(leaf: Any) -> TensorSpec:
    return TensorSpec(leaf.shape, leaf.dtype)


def _map_specs(function: Any, nest: Nest) -> Nest:
    return map_leaves(lambda leaf: None if leaf is None else function(leaf), nest)
