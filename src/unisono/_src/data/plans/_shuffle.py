"""shuffle: the same elements in a random order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unisono._src.data.plans._arguments import check_int
from unisono._src.data.plans._operation import (
    UNKNOWN_CARDINALITY,
    Deferred,
    Elements,
    Operation,
    PassId,
    State,
    Upstream,
)
from unisono._src.data.plans._passes import NumberedElements
from unisono._src.data.plans._permutation import permutation, random_words
from unisono._src.data.plans._seeds import draw_seed
from unisono._src.data.plans._tracked_input import TrackedInput

if TYPE_CHECKING:
    from unisono._src.data.plans._row_plan import RowPlan


@dataclass(frozen=True)
class Shuffle(Operation):
    """A random order, new in every pass unless `reshuffle_each_iteration` is False.

    Where elements can be read by number the order is a full permutation, whatever the buffer size: elements
    are deferred, so it costs nothing, and it mixes better than tf.data does. Otherwise a buffer of
    `buffer_size` elements is kept and one of them is drawn at a time, as in tf.data.
    """

    keeps_random_access = True
    num_shuffles = 1
    commutes_with_maps = True
    only_reorders = True
    holds_all_deferred = True

    buffer_size: int
    seed: int | None = None
    """None is replaced by a number when the operation is made."""
    reshuffle_each_iteration: bool = True

    def __post_init__(self) -> None:
        size = check_int(self.buffer_size, "shuffle", "buffer_size")
        if size == UNKNOWN_CARDINALITY:  # as in tf.data: as large as the data
            size = 2**63 - 1
        if size < 1:
            raise ValueError(
                f"shuffle: buffer_size must be at least 1, but it is {size}. "
                f"Write shuffle(len(x)); rows of arrays are permuted fully whatever the size."
            )
        seed = draw_seed() if self.seed is None else check_int(self.seed, "shuffle", "seed")
        object.__setattr__(self, "buffer_size", size)
        object.__setattr__(self, "seed", seed)

    def elements(self, upstream: Upstream, pass_id: PassId) -> Elements:
        if upstream.random_access and upstream.cardinality >= 0:
            source = upstream.open(pass_id)
            elements = list(source)
            order = self._permutation(upstream.num_shuffles, len(elements), pass_id)
            return NumberedElements(len(elements), lambda position: elements[order[position]], source)
        words = random_words(self._seed, upstream.num_shuffles, self._pass(pass_id))
        return _BufferedElements(TrackedInput(upstream.open(pass_id)), self.buffer_size, words)

    def on_rows(self, rows: RowPlan) -> RowPlan | None:
        if rows.is_endless or not rows.shuffles_fully:
            return None
        choose = partial(self._permutation, rows.num_shuffles)
        return rows.select(rows.size, choose, num_shuffles=rows.num_shuffles + 1)

    def _permutation(self, shuffle: int, size: int, pass_id: PassId) -> NDArray[np.intp]:
        """The order of `size` elements in this pass; `shuffle` counts the shuffles that come before."""
        return permutation(size, self._seed, shuffle, self._pass(pass_id))

    @property
    def _seed(self) -> int:
        assert self.seed is not None, "__post_init__ draws one"
        return self.seed

    def _pass(self, pass_id: PassId) -> PassId:
        return pass_id if self.reshuffle_each_iteration else ()

    def __str__(self) -> str:
        return f"shuffle({self.buffer_size})"


class _BufferedElements(Elements):
    """Elements drawn one at a time from a buffer that is kept full."""

    def __init__(self, upstream: TrackedInput, size: int, words: np.random.Philox) -> None:
        self._upstream, self._size, self._words = upstream, size, words
        self._buffer: list[tuple[int, Deferred]] = []

    def __next__(self) -> Deferred:
        buffer = self._buffer
        while len(buffer) < self._size and (numbered := self._upstream.next()) is not None:
            buffer.append(numbered)
            if numbered[0] % 1024 == 0:
                self._upstream.forget(self._numbers())
        if not buffer:
            raise StopIteration
        drawn = self._words.random_raw() % len(buffer)
        buffer[drawn], buffer[-1] = buffer[-1], buffer[drawn]
        return buffer.pop()[1]

    def _numbers(self) -> list[int]:
        return [number for number, _ in self._buffer]

    def get_state(self) -> State:
        numbers = self._numbers()
        return {"buffer": numbers, "words": _as_json(self._words.state), "input": self._upstream.get_state(numbers)}

    def set_state(self, state: State) -> None:
        found = self._upstream.set_state(state["input"], state["buffer"])
        self._buffer = [(number, found[number]) for number in state["buffer"]]
        self._words.state = _from_json(state["words"])

    def close(self) -> None:
        self._buffer = []
        self._upstream.close()


def _as_json(state: Any) -> Any:
    if isinstance(state, dict):
        return {key: _as_json(value) for key, value in state.items()}
    return {"uint64": state.tolist()} if isinstance(state, np.ndarray) else state


def _from_json(state: Any) -> Any:
    if not isinstance(state, dict):
        return state
    if set(state) == {"uint64"}:
        return np.array(state["uint64"], np.uint64)
    return {key: _from_json(value) for key, value in state.items()}
