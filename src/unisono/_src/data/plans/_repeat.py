"""repeat: several passes as one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from unisono._src.data.plans._arguments import check_int
from unisono._src.data.plans._batch import BatchStep
from unisono._src.data.plans._operation import (
    INFINITE_CARDINALITY,
    Deferred,
    Elements,
    Operation,
    PassId,
    State,
    Upstream,
)
from unisono._src.data.plans._row_order import Order, RowRequest, RowStep, concatenate_orders
from unisono._src.data.plans._row_plan import MAX_REPEATED_ROWS, RowPlan


@dataclass(frozen=True)
class Repeat(Operation):
    """`count` rounds, without end for None or -1. Shuffles before it give each round its own order."""

    keeps_random_access = True
    commutes_with_maps = True
    only_reorders = True

    count: int | None = None

    def __post_init__(self) -> None:
        if self.count is None:
            return
        number = check_int(self.count, "repeat", "count")
        if number < -1:
            raise ValueError(
                f"repeat: count must be at least 0, but it is {number}. "
                f"Write repeat(2) for two rounds, or repeat() to continue without end."
            )
        object.__setattr__(self, "count", None if number == -1 else number)

    def cardinality(self, upstream: int) -> int:
        if self.count == 0:
            return 0
        if self.count is None and upstream != 0:
            return INFINITE_CARDINALITY
        return upstream if upstream < 0 else upstream * (self.count or 1)

    def round_pass_id(self, pass_id: PassId, number: int) -> PassId:
        """The ID of one round, unique among the rounds of all passes."""
        if self.count is None:
            return (*pass_id, number)
        return (*pass_id[:-1], pass_id[-1] * self.count + number)

    def elements(self, upstream: Upstream, pass_id: PassId) -> Elements:
        return _RepeatedElements(upstream, pass_id, self)

    def on_rows(self, rows: RowPlan) -> RowPlan | None:
        if rows.is_endless:
            return None
        if self.count is None:
            if rows.size == 0:
                return rows
            number = len(rows.order.steps)
            return rows.then(RepeatStep(self, None), rows.size, endless_step=number, round_size=rows.size)
        if self.count == 0:
            return rows.select(0, lambda number, pass_id: slice(0, 0))
        num_rows = rows.size * (rows.batch.batch_size if rows.batch else 1)
        if self.count > 1 and num_rows * self.count > MAX_REPEATED_ROWS:
            return None
        return rows.then(RepeatStep(self, self.count), rows.size * self.count)

    def __str__(self) -> str:
        return f"repeat({'' if self.count is None else self.count})"


@dataclass(frozen=True, eq=False)
class RepeatStep(RowStep):
    """Several rounds of row numbers; those of one segment if `num_rounds` is None."""

    repeat: Repeat
    num_rounds: int | None

    def apply(self, before: Callable[[RowRequest], Order], request: RowRequest) -> Order:
        first, count = 0, self.num_rounds
        if count is None:
            assert request.segment is not None, "an endless repeat is read in segments"
            segment, count = request.segment
            first = segment * count
        pass_ids = [self.repeat.round_pass_id(request.pass_id, first + number) for number in range(count)]
        return concatenate_orders([before(RowRequest(pass_id, probe=request.probe)) for pass_id in pass_ids])


def limit_rounds(rows: RowPlan, count: int) -> RowPlan | None:
    """The plan with as many rounds of its endless repeat as `count` elements need; itself if it has none.

    None if they are too many to be numbered at once.
    """
    if rows.endless_step is None:
        return rows
    steps, number = rows.order.steps, rows.endless_step
    batch_size = rows.batch.batch_size if rows.batch else 1
    if count * batch_size > MAX_REPEATED_ROWS:
        return None
    is_batched_after = any(isinstance(step, BatchStep) for step in steps[number:])
    num_rounds = max(1, -(-count * (batch_size if is_batched_after else 1) // rows.round_size))
    endless = steps[number]
    assert isinstance(endless, RepeatStep), "only a repeat is endless"
    limited = (*steps[:number], replace(endless, num_rounds=num_rounds), *steps[number + 1 :])
    return replace(rows, order=replace(rows.order, steps=limited), size=count, endless_step=None, rounds_per_segment=1)


class _RepeatedElements(Elements):
    def __init__(self, upstream: Upstream, pass_id: PassId, repeat: Repeat) -> None:
        self._upstream, self._pass_id, self._repeat = upstream, pass_id, repeat
        self._round = 0
        self._empty = True
        self._elements: Elements | None = None

    def __next__(self) -> Deferred:
        while self._round != self._repeat.count:
            if self._elements is None:
                self._open()
            element = next(self._elements, None)  # type: ignore[arg-type]
            if element is not None:
                self._empty = False
                return element
            if self._empty:  # as in tf.data: nothing, repeated without end, is nothing, not a hang
                break
            self.close()
            self._round, self._empty = self._round + 1, True
        raise StopIteration

    def _open(self) -> None:
        self._elements = self._upstream.open(self._repeat.round_pass_id(self._pass_id, self._round))

    def get_state(self) -> State:
        inner = None if self._elements is None else self._elements.get_state()
        return {"round": self._round, "empty": self._empty, "input": inner}

    def set_state(self, state: State) -> None:
        self.close()
        self._round, self._empty = state["round"], state["empty"]
        if state["input"] is not None:
            self._open()
            self._elements.set_state(state["input"])  # type: ignore[union-attr]

    def close(self) -> None:
        elements, self._elements = self._elements, None
        if elements is not None:
            elements.close()
