"""repeat: several passes as one."""

from __future__ import annotations

from dataclasses import dataclass

from unisono._src.data.plans._cardinality import INFINITE_CARDINALITY
from unisono._src.data.plans._operation import Deferred, Elements, Operation, Path, State, Upstream
from unisono._src.data.plans._whole_number import whole_number


@dataclass(frozen=True)
class Repeat(Operation):
    """`count` rounds, without end for None or -1. Shuffles before it give each round its own order."""

    count: int | None = None

    def __post_init__(self) -> None:
        if self.count is None:
            return
        number = whole_number(self.count, "repeat", "count")
        if number < -1:
            raise ValueError(
                f"repeat: count must be at least 0, but it is {number}. "
                f"Write repeat(2) for two rounds, or repeat() to go on without end."
            )
        object.__setattr__(self, "count", None if number == -1 else number)

    @property
    def keeps_random_access(self) -> bool:
        return True

    def cardinality(self, upstream: int) -> int:
        if self.count == 0:
            return 0
        if self.count is None and upstream != 0:
            return INFINITE_CARDINALITY
        return upstream if upstream < 0 else upstream * (self.count or 1)

    def round_path(self, path: Path, number: int) -> Path:
        """The path of one round, unique among the rounds of all passes."""
        if self.count is None:
            return (*path, number)
        return (*path[:-1], path[-1] * self.count + number)

    def elements(self, upstream: Upstream, path: Path) -> Elements:
        return _Rounds(upstream, path, self)

    def __str__(self) -> str:
        return f"repeat({'' if self.count is None else self.count})"


class _Rounds(Elements):
    def __init__(self, upstream: Upstream, path: Path, repeat: Repeat) -> None:
        self._upstream, self._path, self._repeat = upstream, path, repeat
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
        self._elements = self._upstream.open(self._repeat.round_path(self._path, self._round))

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
