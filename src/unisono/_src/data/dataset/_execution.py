"""How a plan is run: rewritten so that less Python runs, without changing an element.

1. The longest beginning that has rows is taken as row numbers (`IndexedSource`).
2. Of the rest, maps that can be traced move behind the next batch and become one compiled call (`VectorMap`). They may
   pass operations that `commute_with_maps`.
3. Where the user allowed it, threads compute elements ahead (`ComputeAhead`): `num_parallel_calls` says how many calls
   of a function may run at once, `prefetch` that one thread may work ahead.

The two optimisations are about maps and batches alone. What other operations permit, they say themselves (`Operation`).
Each decision is kept with its reason: `explain` prints them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import jax
import numpy as np

from unisono._src.data.dataset._element_spec import UNKNOWN, Stage
from unisono._src.data.dataset._indexed_source import IndexedSource
from unisono._src.data.dataset._trace import Traced, Untraceable, trace_indexed_maps
from unisono._src.data.dataset._vector_map import VectorMap
from unisono._src.data.plans import (
    Batch,
    ComputeAhead,
    IndexedMap,
    IndexedPlan,
    Map,
    Operation,
    Plan,
    Prefetch,
    Rebatch,
    TensorSpec,
    Unbatch,
    flatten,
    function_location,
    index_plan,
    num_host_threads,
)

_AHEAD: Final = 2
"""Elements that wait computed for each thread, if the user gave no number."""

Where = Literal["row numbers", "compiled", "host vectorized", "host threads", "python"]


@dataclass(frozen=True)
class Decision:
    """Where one member of a plan runs, and why not somewhere faster.

    Attributes:
        member: as in a plan, such as "map(decode)".
        where: where it runs.
        reason: why not somewhere faster.
        location: where the user's function was written, as "train.py:41", if it runs in Python.
    """

    member: str
    where: Where
    reason: str = ""
    location: str = ""


@dataclass(frozen=True, eq=False)
class Execution:
    """A plan made ready to run on the host."""

    plan: Plan
    """The rewritten plan."""
    beginning: IndexedPlan | None
    """The part that has rows."""
    num_by_row: int | None
    """How many operations of the plan that part replaces. States of a pass depend on it."""
    complete: bool
    """Whether that part is the whole plan."""
    untraceable: str | None
    """Why the maps of the beginning cannot be compiled."""
    decisions: tuple[Decision, ...]

    def explain(self) -> str:
        """The decisions as a table: one line for each member of the plan, where it runs, why not somewhere faster."""
        lines = [(decision.member, decision.where, decision.reason) for decision in self.decisions]
        member_width, where_width = (max(len(line[column]) for line in lines) for column in (0, 1))
        table = [
            f"{member:<{member_width}} {where:<{where_width}} {reason}".rstrip() for member, where, reason in lines
        ]
        return "\n".join([*table, "", self._summary()])

    def _summary(self) -> str:
        if self.complete and self.untraceable is None:
            return "In fit: rows are gathered and mapped inside the compiled step; Python does not run for a batch."
        if self.untraceable is not None:
            return f"In fit: the host prepares batches ahead of the step. {self.untraceable}."
        return "In fit: the host prepares batches ahead of the step: not every operation can be done by row number."


def plan_execution(plan: Plan, stages: list[Stage], num_by_row: int | None = None) -> Execution:
    """Decides how to run a plan of these stages. With `num_by_row`, as it ran when a state was saved."""
    found = _split_rows(plan) if num_by_row is None else _split_at(plan, num_by_row)
    if found is None:
        rest, decisions = _move_maps(stages)
        first = Decision(str(plan.source), "python", "its elements are read one after the other")
        return Execution(
            plan=Plan(plan.source, _add_threads(rest)),
            beginning=None,
            num_by_row=None,
            complete=False,
            untraceable=None,
            decisions=(first, *decisions),
        )
    beginning, left, traces = found
    taken = Plan(plan.source, plan.operations[: len(plan.operations) - len(left)])
    rest, rest_decisions = _move_maps(stages[len(taken.operations) :])
    in_python = _maps_in_python(beginning, traces)
    prefetch = None
    if in_python:
        prefetch = next((each for each in reversed(taken.operations) if isinstance(each, Prefetch)), None)
    draws = any(isinstance(each, Traced) and each.draws for each in traces)
    rows = IndexedSource(
        plan=beginning,
        compiled=not in_python,
        draws=draws,
        identifies=draws or any(isinstance(operation, Map) for operation in left),
        row_bytes=_row_bytes(beginning, traces),
        description=str(taken),
    )
    return Execution(
        plan=Plan(rows, _add_threads(rest, in_python, prefetch)),
        beginning=beginning,
        num_by_row=len(taken.operations),
        complete=not left,
        untraceable=_explain_untraceable(in_python, traces),
        decisions=(*_beginning_decisions(taken, beginning, traces, in_python), *rest_decisions),
    )


def _split_rows(plan: Plan) -> tuple[IndexedPlan, tuple[Operation, ...], list[Traced | Untraceable]] | None:
    """The part of the plan that has rows, the rest, and whether the maps of the first can be traced."""
    found = index_plan(plan)
    if found is None:
        return None
    with jax.enable_x64(True):
        traces = trace_indexed_maps(found[0])
    untraced = _maps_in_python(found[0], traces)
    if any(each.cached for each in untraced):
        # Cached results may be computed again only if the functions are pure. The maps before the cache stay the same.
        found = index_plan(plan, recomputes_cached_maps=False)
        assert found is not None, "the same source has rows without its caches"
        traces = traces[: _num_maps(found[0])]
    taken = plan.operations[: len(plan.operations) - len(found[1])]
    number = _find_serial_map(taken, found[0], _maps_in_python(found[0], traces))
    return (*found, traces) if number is None else _split_at(plan, number)


def _split_at(plan: Plan, num_operations: int) -> tuple[IndexedPlan, tuple[Operation, ...], list[Traced | Untraceable]]:
    """The same for the first `num_operations` operations of the plan, all of which can be done by row number."""
    found = index_plan(Plan(plan.source, plan.operations[:num_operations]))
    assert found is not None, "the source has rows"
    assert not found[1], "they were done by row number before"
    with jax.enable_x64(True):
        return found[0], plan.operations[num_operations:], trace_indexed_maps(found[0])


def _find_serial_map(
    taken: tuple[Operation, ...], beginning: IndexedPlan, untraced: Sequence[IndexedMap]
) -> int | None:
    """The number of the operation that is the first serial map after one that may run on several threads: a stage
    computes all its maps on one thread or on several. None if there is none, or if the two cannot be separated."""
    serial = [number for number, one in enumerate(untraced) if one.num_parallel_calls is None]
    if not serial or serial[0] == 0:
        return None
    numbers = [number for number, operation in enumerate(taken) if isinstance(operation, Map)]
    number = _num_maps(beginning) - len(untraced) + serial[0] - _num_inside_zips(taken, beginning)
    if number < 0 or _is_shuffled_later(taken[numbers[number] :]):
        return None
    return numbers[number]


def _num_inside_zips(taken: Sequence[Operation], beginning: IndexedPlan) -> int:
    """Maps of the beginning that are not among its operations: those of zipped plans. They come first."""
    return _num_maps(beginning) - sum(isinstance(operation, Map) for operation in taken)


def _num_maps(plan: IndexedPlan) -> int:
    return len(plan.element_maps) + len(plan.batch_maps)


def _explain_untraceable(in_python: Sequence[IndexedMap], traces: Sequence[Traced | Untraceable]) -> str | None:
    last = traces[-1] if traces else None
    return f"{in_python[0]} cannot be compiled: {last.reason}" if isinstance(last, Untraceable) else None


def _row_bytes(plan: IndexedPlan, traces: Sequence[Traced | Untraceable]) -> int:
    def size(leaves: Iterable[Any], dims_of_row: int) -> int:
        return sum(math.prod(leaf.shape[dims_of_row:]) * np.dtype(leaf.dtype).itemsize for leaf in leaves)

    source = size(flatten(plan.arrays), 1)
    element_maps = [each for each in traces[: len(plan.element_maps)] if isinstance(each, Traced)]
    return max([1, source, *(size(jax.tree.leaves(each.result), 0) for each in element_maps)])


def add_background_thread(plan: Plan) -> Plan:
    """The same plan, with its elements computed by a thread."""
    if plan.operations and isinstance(plan.operations[-1], ComputeAhead):
        return plan
    return plan.then(ComputeAhead(1, _AHEAD))


def _move_maps(stages: list[Stage]) -> tuple[tuple[Operation, ...], list[Decision]]:
    """Moves maps behind batches. The first stage is what comes before the first operation."""
    rest: list[Operation] = []
    waiting: list[Map] = []  # maps that may still move
    decisions: list[Decision] = []
    spec_before_unbatch: Any = UNKNOWN

    def add_operation(operation: Operation) -> None:
        """A batch directly after an unbatch cuts slices of the batches before it, instead of copying row by row."""
        reason = ""
        if type(operation) is Batch and rest and isinstance(rest[-1], Unbatch) and _has_fixed_rows(spec_before_unbatch):
            rest[-1] = Rebatch((operation.batch_size,), operation.drop_remainder)
            reason = "slices of the batches before unbatch()"
        else:
            rest.append(operation)
        decisions.append(Decision(str(operation), "python", reason))

    def stop_moving(where: Where, reason: str) -> None:
        """The waiting maps run here, one element at a time."""
        rest.extend(waiting)
        decisions.extend(Decision(str(each), where, reason, function_location(each.function)) for each in waiting)
        waiting.clear()

    for before, stage in itertools.pairwise(stages):
        operation = stage.operation
        assert operation is not None, "only the first stage is a source"
        if isinstance(operation, Map):
            reason = _reason_not_to_move(before, stage)
            if reason is None:
                waiting.append(operation)
                continue
            stop_moving("python", "no batch follows")
            rest.append(operation)
            decisions.append(_python_decision(operation, reason))
        elif isinstance(operation, Batch) and waiting:
            add_operation(operation)
            rest.append(VectorMap(tuple(waiting)))
            decisions.extend(Decision(str(each), "host vectorized", "one compiled call per batch") for each in waiting)
            waiting.clear()
        else:
            if not operation.commutes_with_maps:
                stop_moving("python", f"{operation} follows, which needs each element")
            if isinstance(operation, Unbatch):
                spec_before_unbatch = before.spec
            add_operation(operation)
    stop_moving("python", "no batch follows")
    return tuple(rest), decisions


def _has_fixed_rows(spec: Any) -> bool:
    """Whether all batches of this spec have rows of one shape: slices of them can then be joined."""
    if spec is UNKNOWN:
        return False
    return all(isinstance(leaf, TensorSpec) and leaf.shape and None not in leaf.shape[1:] for leaf in flatten(spec))


def _reason_not_to_move(before: Stage, stage: Stage) -> str | None:
    """Why a map cannot be one compiled call per batch; None if it can."""
    if isinstance(stage.traced, Untraceable):
        return stage.traced.reason
    if stage.traced is None or before.spec is UNKNOWN:
        return "what its elements look like is unknown until it has run"
    if stage.traced.draws:
        return "it draws random numbers, which are derived from each element"
    leaves = [leaf for leaf in flatten(before.spec) if leaf is not None]
    if not all(isinstance(leaf, TensorSpec) and None not in leaf.shape for leaf in leaves):
        return "the shapes of its elements vary"
    return None


def _add_threads(
    operations: tuple[Operation, ...], in_python: Sequence[IndexedMap] = (), prefetch: Prefetch | None = None
) -> tuple[Operation, ...]:
    """Adds threads behind the functions that may run on several of them, and at the end for a prefetch.

    Args:
        operations: of the rest of the plan.
        in_python: functions that its beginning runs in Python.
        prefetch: one in its beginning.
    """
    result: list[Operation] = []
    waiting: list[Map | IndexedMap] = list(in_python)
    gives_batches = False
    for number, operation in enumerate(operations):
        threads = _num_threads(waiting)
        is_serial = isinstance(operation, Map) and operation.num_parallel_calls is None
        if not operation.keeps_random_access or (is_serial and not _is_shuffled_later(operations[number:])):
            if threads > 1:
                result.append(ComputeAhead(threads, threads * _AHEAD))
                waiting = []
            if not operation.keeps_random_access:
                waiting, prefetch = [], None
        if isinstance(operation, Map):
            waiting.append(operation)
        prefetch = operation if isinstance(operation, Prefetch) else prefetch
        gives_batches = gives_batches or operation.makes_batches is True
        result.append(operation)
    threads = _num_threads(waiting)
    ahead = max(prefetch.buffer_size if prefetch else 0, threads * _AHEAD)
    # A thread costs some ten microseconds per element: too much for single rows that cost nothing to compute.
    if threads > 1 or (prefetch and prefetch.buffer_size and (waiting or gives_batches)):
        result.append(ComputeAhead(threads, ahead))
    return tuple(result)


def _is_shuffled_later(operations: Sequence[Operation]) -> bool:
    """Whether an operation follows that holds all elements deferred: they must not have been computed before it."""
    until = itertools.takewhile(lambda operation: operation.keeps_random_access, operations)
    return any(operation.holds_all_deferred for operation in until)


def _num_threads(maps: Sequence[Map | IndexedMap]) -> int:
    """How many threads may run these functions: one, unless every one of them allows more."""
    allowed = [each.num_parallel_calls for each in maps]
    if not allowed or None in allowed:
        return 1
    return max(num_host_threads(number) for number in allowed if number is not None)


def _maps_in_python(beginning: IndexedPlan, traces: Sequence[Traced | Untraceable]) -> tuple[IndexedMap, ...]:
    """The first map that cannot be traced, and those after it. Those before it are pure, and may run on any thread."""
    maps = (*beginning.element_maps, *beginning.batch_maps)
    return maps[len(traces) - 1 :] if traces and isinstance(traces[-1], Untraceable) else ()


def _beginning_decisions(
    taken: Plan, beginning: IndexedPlan, traces: Sequence[Traced | Untraceable], in_python: Sequence[IndexedMap]
) -> Iterator[Decision]:
    yield Decision(str(taken.source), "row numbers")
    following = iter(traces[_num_inside_zips(taken.operations, beginning) :])
    for operation in taken.operations:
        if not isinstance(operation, Map):
            yield Decision(str(operation), "row numbers")
            continue
        trace = next(following, None)
        if isinstance(trace, Untraceable):
            yield _python_decision(operation, trace.reason)
        elif in_python:
            yield _python_decision(operation, f"{in_python[0]} runs in Python, and so do all maps of the rows")
        else:
            yield Decision(str(operation), "compiled")


def _python_decision(operation: Map, reason: str) -> Decision:
    location = function_location(operation.function)
    if operation.num_parallel_calls is None:
        return Decision(str(operation), "python", f"{reason}; one call at a time: no num_parallel_calls", location)
    threads = num_host_threads(operation.num_parallel_calls)
    return Decision(str(operation), "host threads", f"{reason}; {threads} threads", location)
