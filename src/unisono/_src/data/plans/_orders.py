"""The order of rows: what shuffles, repeats, batches and the like make of row numbers, a whole pass at once.

The same walk answers two questions about a pass: which rows, in which order; and who each of them is (the epoch and
the place that random numbers follow from), which is said by the source or by the last step that *renews* it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unisono._src.data.plans._batch import Batch
from unisono._src.data.plans._cache import FIRST_PASS, Cache
from unisono._src.data.plans._enumerate import Enumerate
from unisono._src.data.plans._identity import epoch_number
from unisono._src.data.plans._operation import Path
from unisono._src.data.plans._pass_batches import PassBatches, cut, join, take
from unisono._src.data.plans._repeat import Repeat
from unisono._src.data.plans._shard import Shard
from unisono._src.data.plans._shuffle import Shuffle
from unisono._src.data.plans._skip import Skip
from unisono._src.data.plans._take import Take

Order: TypeAlias = "NDArray[np.int32] | PassBatches"
"""Numbers before the batch, batches of them after it."""


@dataclass(frozen=True, eq=False)
class Rounds:
    """The first rounds of an endless repeat, as many as a later `take` needs."""

    repeat: Repeat
    count: int


@dataclass(frozen=True, eq=False)
class Joined:
    """The rows of another plan after these."""

    base: Base
    steps: tuple[Step, ...]
    num_first: int


@dataclass(frozen=True)
class Apart:
    """Batches taken apart again."""


Step: TypeAlias = Shuffle | Repeat | Batch | Cache | Take | Skip | Shard | Enumerate | Rounds | Joined | Apart

RENEWING = (Cache, Joined, Apart)
"""After these an element is known by its place among their elements, as the operations themselves have it."""


@dataclass(frozen=True)
class Origin:
    """Where elements got their identity: at a renewing step, at the source, or inside one branch of a zip."""

    step: int | None = None
    branch: int = 0
    inner: Origin | None = None


@dataclass(frozen=True)
class Probe:
    """Asks for identities instead of rows."""

    origin: Origin
    what: Literal["place", "epoch"]

    def answer(self, number: int, path: Path) -> NDArray[np.int32]:
        """For `number` elements of a pass."""
        if self.what == "place":
            return np.arange(number, dtype=np.int32)
        return np.full(number, epoch_number(path), np.int32)


Window: TypeAlias = "tuple[int, int] | None"
"""(which window, how many rounds make one) of an endless repeat; None for all of a pass."""


@dataclass(frozen=True, eq=False)
class Base:
    """Where row numbers begin: the rows of one source, or orders side by side."""

    num_rows: int
    branches: tuple[tuple[Base, tuple[Step, ...]], ...] = ()

    def rows(self, path: Path, probe: Probe | None) -> NDArray[np.int32]:
        """All rows, with a column for each table if there are branches."""
        if probe is not None:
            if not self.branches:
                return probe.answer(self.num_rows, path)
            assert probe.origin.inner is not None, "elements of a zip are known by a branch"
            base, steps = self.branches[probe.origin.branch]
            return self._column(order(base, steps, path, None, Probe(probe.origin.inner, probe.what)))[:, 0]
        if not self.branches:
            return np.arange(self.num_rows, dtype=np.int32)
        columns = [self._column(order(base, steps, path, None)) for base, steps in self.branches]
        return np.concatenate(columns, axis=1)

    def _column(self, branch: Order) -> NDArray[np.int32]:
        assert isinstance(branch, np.ndarray), "batches are not zipped by row"
        return _as_columns(branch[: self.num_rows])


def order(base: Base, steps: tuple[Step, ...], path: Path, window: Window, probe: Probe | None = None) -> Order:
    """What `steps` make of the rows in one pass, or who these rows are."""
    if not steps:
        return base.rows(path, probe)
    if probe is not None and probe.origin.step == len(steps) - 1:
        return _renewed(order(base, steps, path, window), path, probe)
    before, step = steps[:-1], steps[-1]
    if isinstance(step, Cache):
        return order(base, before, FIRST_PASS, window, probe)
    if isinstance(step, Repeat | Rounds):
        return _join([order(base, before, each, None, probe) for each in _round_paths(step, path, window)])
    rows = order(base, before, path, window, probe)
    match step:
        case Shuffle():
            num_shuffles = sum(isinstance(each, Shuffle) for each in before)
            return _taken(rows, step.permutation(len(rows), num_shuffles, path))
        case Take():
            return rows if step.count < 0 else _taken(rows, slice(0, step.count))
        case Skip():
            return _taken(rows, slice(len(rows) if step.count < 0 else step.count, None))
        case Shard():
            return _taken(rows, slice(step.index, None, step.num_shards))
        case Apart():
            assert isinstance(rows, PassBatches), "only batches are taken apart"
            return rows.rows
    assert isinstance(rows, np.ndarray), "the rest comes before the batch"
    match step:
        case Batch():
            return cut(rows, step)
        case Enumerate():
            if probe is not None:
                return rows
            places = np.arange(len(rows), dtype=np.int32)
            return np.concatenate([_as_columns(rows), places[:, None]], axis=1)
        case Joined():
            other = order(step.base, step.steps, path, None)
            assert probe is None, "a joined plan renews the identity"
            assert isinstance(other, np.ndarray), "batches are not joined by row"
            return np.concatenate([rows, other + np.int32(step.num_first)])


def _as_columns(rows: NDArray[np.int32]) -> NDArray[np.int32]:
    return rows[:, None] if rows.ndim == 1 else rows


def _renewed(rows: Order, path: Path, probe: Probe) -> Order:
    answer = probe.answer(len(rows), path)
    if isinstance(rows, PassBatches):
        return PassBatches(np.repeat(answer, np.diff(rows.offsets)), rows.offsets)
    return answer


def _round_paths(step: Repeat | Rounds, path: Path, window: Window) -> list[Path]:
    if isinstance(step, Rounds):
        return [step.repeat.round_path(path, number) for number in range(step.count)]
    if step.count is not None:
        return [step.round_path(path, number) for number in range(step.count)]
    assert window is not None, "an endless repeat is asked for by windows"
    index, rounds = window
    return [step.round_path(path, index * rounds + number) for number in range(rounds)]


def _taken(rows: Order, which: NDArray[np.intp] | slice) -> Order:
    if isinstance(rows, PassBatches):
        return take(rows, np.arange(len(rows))[which] if isinstance(which, slice) else which)
    return rows[which]


def _join(rounds: list[Order]) -> Order:
    batches = [each for each in rounds if isinstance(each, PassBatches)]
    if batches:
        return join(batches)
    return np.concatenate([each for each in rounds if isinstance(each, np.ndarray)])
