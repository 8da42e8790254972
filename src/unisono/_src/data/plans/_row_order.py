"""The order of rows: what shuffles, repeats, batches and the like do to row numbers, a whole pass at once.

The same walk answers two questions about a pass: which rows, in which order; and what the identity of each row is
(the epoch and the position that random numbers are derived from). The source gives the identity, or the last step
that *renews* it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unisono._src.data.plans._identity import pass_number
from unisono._src.data.plans._operation import PassId
from unisono._src.data.plans._pass_batches import PassBatches, concatenate_batches, select_batches

Order: TypeAlias = "NDArray[np.int32] | PassBatches"
"""Row numbers before the batch, batches of them after it."""

Selection: TypeAlias = "NDArray[np.intp] | slice"
"""Which elements, in which order."""


@dataclass(frozen=True)
class Origin:
    """Where elements got their identity: at a renewing step, at the source, or inside one branch of a zip."""

    step: int | None = None
    branch: int = 0
    inner: Origin | None = None


@dataclass(frozen=True)
class IdentityProbe:
    """Asks for identities instead of rows."""

    origin: Origin
    what: Literal["position", "epoch"]

    def number(self, count: int, pass_id: PassId) -> NDArray[np.int32]:
        """The identities of `count` elements that get one here."""
        if self.what == "position":
            return np.arange(count, dtype=np.int32)
        return np.full(count, pass_number(pass_id), np.int32)


@dataclass(frozen=True)
class RowRequest:
    """What is asked of an order: one pass, or one segment of an endless one; its rows, or their identities."""

    pass_id: PassId
    segment: tuple[int, int] | None = None
    """(which segment, rounds per segment) of an endless repeat; None for a whole pass."""
    probe: IdentityProbe | None = None


class RowStep(ABC):
    """What one operation does to the row numbers of a pass."""

    renews_identity: ClassVar[bool] = False
    """Whether elements are identified by their position among the elements of this step from here on."""

    @abstractmethod
    def apply(self, before: Callable[[RowRequest], Order], request: RowRequest) -> Order:
        """The order after this step. `before` gives the order before it, of any pass."""


@dataclass(frozen=True, eq=False)
class SelectRows(RowStep):
    """Some elements, in some order: `choose(number of elements, pass_id)` says which."""

    choose: Callable[[int, PassId], Selection]

    def apply(self, before: Callable[[RowRequest], Order], request: RowRequest) -> Order:
        rows = before(request)
        which = self.choose(len(rows), request.pass_id)
        if isinstance(rows, PassBatches):
            return select_batches(rows, np.arange(len(rows))[which] if isinstance(which, slice) else which)
        return rows[which]


@dataclass(frozen=True, eq=False)
class RowOrder:
    """The rows of one source, or of several side by side, and the steps that change their order."""

    num_rows: int
    branches: tuple[RowOrder, ...] = ()
    """The orders of plans that are zipped: each gives columns of row numbers."""
    steps: tuple[RowStep, ...] = ()

    def rows(self, request: RowRequest) -> Order:
        """What the request asks for, after all steps."""
        return self._after(len(self.steps), request)

    def _after(self, num_steps: int, request: RowRequest) -> Order:
        if num_steps == 0:
            return self._source_rows(request)
        probe = request.probe
        if probe is not None and probe.origin.step == num_steps - 1:
            return _renumber(self._after(num_steps, replace(request, probe=None)), probe, request.pass_id)
        return self.steps[num_steps - 1].apply(partial(self._after, num_steps - 1), request)

    def _source_rows(self, request: RowRequest) -> NDArray[np.int32]:
        probe = request.probe
        if not self.branches:
            if probe is None:
                return np.arange(self.num_rows, dtype=np.int32)
            return probe.number(self.num_rows, request.pass_id)
        if probe is None:
            whole = RowRequest(request.pass_id)
            return np.concatenate([self._columns(branch, whole) for branch in self.branches], axis=1)
        assert probe.origin.inner is not None, "elements of a zip are identified by a branch"
        inner = RowRequest(request.pass_id, probe=IdentityProbe(probe.origin.inner, probe.what))
        return self._columns(self.branches[probe.origin.branch], inner)[:, 0]

    def _columns(self, branch: RowOrder, request: RowRequest) -> NDArray[np.int32]:
        rows = branch.rows(request)
        assert isinstance(rows, np.ndarray), "batches are not zipped by row"
        return as_columns(rows[: self.num_rows])


def as_columns(rows: NDArray[np.int32]) -> NDArray[np.int32]:
    """Row numbers with a column for each table, even if there is one."""
    return rows[:, None] if rows.ndim == 1 else rows


def concatenate_orders(orders: list[Order]) -> Order:
    """One order after the other: all rows, or all batches."""
    batches = [order for order in orders if isinstance(order, PassBatches)]
    if batches:
        return concatenate_batches(batches)
    return np.concatenate([order for order in orders if isinstance(order, np.ndarray)])


def _renumber(rows: Order, probe: IdentityProbe, pass_id: PassId) -> Order:
    numbers = probe.number(len(rows), pass_id)
    if isinstance(rows, PassBatches):
        return PassBatches(np.repeat(numbers, np.diff(rows.offsets)), rows.offsets)
    return numbers
