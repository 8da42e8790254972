"""What the elements of a plan look like, found without running the plan where that is possible.

Each operation says what it makes of a spec (`Operation.element_spec`). This file follows the spec through a plan, and
provides the `Inspection` that traces and runs users' functions for them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import jax

from unisono._src.data.dataset._trace import Traced, Untraceable, shape_struct, trace
from unisono._src.data.plans import (
    CompositeSpec,
    DatasetSpec,
    Inspection,
    Nest,
    Operation,
    Plan,
    SpecUnknownError,
    TensorSpec,
    find_open_sizes,
    flatten,
    iterate,
    leave_open,
    map_specs,
    merge_leaves,
    spec_of_leaf,
    structure,
)


@dataclass(frozen=True)
class Stage:
    """A plan up to one of its operations: what its elements look like, and how tracing a map went."""

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
        return _find_stages(plan, may_run)


def _find_stages(plan: Plan, may_run: bool) -> list[Stage]:
    inspection = _PlanInspection(Plan(plan.source), None, None, may_run)
    try:
        stages = [Stage(None, plan.source.element_spec(inspection))]
    except SpecUnknownError:
        stages = [Stage(None, UNKNOWN)]
    for number, operation in enumerate(plan.operations):
        stages.append(_next_stage(stages[-1].spec, operation, Plan(plan.source, plan.operations[:number]), may_run))
    return stages


def _next_stage(spec: Nest, operation: Operation, before: Plan, may_run: bool) -> Stage:
    if spec is UNKNOWN:
        return Stage(operation, UNKNOWN)
    inspection = _PlanInspection(before.then(operation), before, spec, may_run)
    try:
        found = operation.element_spec(spec, inspection)
    except SpecUnknownError:
        found = UNKNOWN
    return Stage(operation, found, inspection.traced)


class _PlanInspection(Inspection):
    """Answers the last member of a plan.

    Args:
        plan: the plan up to the member that asks.
        before: the plan before it; None for a source.
        spec: what the elements of `before` look like.
        may_run: whether users' functions may be called.
    """

    def __init__(self, plan: Plan, before: Plan | None, spec: Nest, may_run: bool) -> None:
        self._plan, self._before, self._spec, self._may_run = plan, before, spec, may_run
        self.traced: Traced | Untraceable | None = None

    def trace(self, function: Callable[..., Any], seed: int) -> Nest:
        assert self._before is not None, "a source has no elements to trace a function with"
        self.traced, spec = _trace_spec(function, seed, self._spec, _full_batch_size(self._before))
        return self.observe() if isinstance(self.traced, Untraceable) else spec

    def observe(self) -> Nest:
        open_sizes = set() if self._before is None else find_open_sizes(self.first_input(), self._spec)
        return leave_open(map_specs(spec_of_leaf, self._first(self._plan)), open_sizes)

    def first_input(self) -> Nest:
        assert self._before is not None, "a source has no input"
        return self._first(self._before)

    def spec_of(self, plan: Plan) -> Nest:
        spec = _find_stages(plan, self._may_run)[-1].spec
        if spec is UNKNOWN:
            raise SpecUnknownError
        return spec

    def _first(self, plan: Plan) -> Nest:
        if not self._may_run:
            raise SpecUnknownError
        # Any element will do, and a shuffle would read its whole buffer for one.
        kept = tuple(operation for operation in plan.operations if not operation.only_reorders)
        for element in iterate(Plan(plan.source, kept)):
            return element
        raise ValueError(
            f"The dataset {plan} has no element, so there is none to learn its element_spec from. "
            f"Expected at least one full batch: use a smaller batch_size, or drop_remainder=False."
        )


def _trace_spec(
    function: Callable[..., Any], seed: int, spec: Nest, batch_size: int
) -> tuple[Traced, Nest] | tuple[Untraceable, None]:
    """Traces with the full batch and with one row more: a dimension that differs between the two may vary."""
    leaves = [leaf for leaf in flatten(spec) if leaf is not None]
    if any(isinstance(leaf, DatasetSpec | CompositeSpec) for leaf in leaves):
        return Untraceable("it gets datasets, or ragged or sparse tensors, not arrays"), None

    def trace_with(size: int) -> Traced | Untraceable:
        def close_dims(leaf: TensorSpec) -> Any:
            return shape_struct([size if dim is None else dim for dim in leaf.shape], leaf.dtype)

        return trace(function, map_specs(close_dims, spec), seed)

    full = trace_with(batch_size)
    if isinstance(full, Untraceable):
        return full, None
    if not any(None in leaf.shape for leaf in leaves):
        return full, map_specs(spec_of_leaf, full.result)
    longer = trace_with(batch_size + 1)
    # A function that insists on the full batch, such as reshape(64, -1), has fixed dimensions.
    other = longer.result if isinstance(longer, Traced) else full.result
    if structure(other) != structure(full.result):
        other = full.result
    return full, merge_leaves(full.result, other)


def _full_batch_size(plan: Plan) -> int:
    sizes = [operation.full_batch_size for operation in plan.operations if operation.full_batch_size is not None]
    return sizes[-1] if sizes else 2
