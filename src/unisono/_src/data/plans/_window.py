"""window: datasets of consecutive elements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from unisono._src.data.plans._arguments import check_int
from unisono._src.data.plans._inspection import Inspection
from unisono._src.data.plans._list_source import ListSource
from unisono._src.data.plans._nest import Nest, flatten, unflatten
from unisono._src.data.plans._operation import Deferred, Elements, Operation, PassId, State, Upstream
from unisono._src.data.plans._spec import DatasetSpec, map_specs
from unisono._src.data.plans._tracked_input import TrackedInput

if TYPE_CHECKING:
    from unisono._src.data.plans._source import Source


@dataclass(frozen=True)
class Window(Operation):
    """Datasets of up to `size` elements, `stride` apart; one begins `shift` elements after the other.

    Each part of an element becomes a dataset: a window of pairs is a pair of datasets.
    """

    keeps_random_access = False

    size: int
    dataset: Callable[[Source], Any]
    """Makes the dataset that the user's functions get."""
    shift: int | None = None
    stride: int = 1
    drop_remainder: bool = False

    def __post_init__(self) -> None:
        shift = self.size if self.shift is None else self.shift
        for name, value in (("size", self.size), ("shift", shift), ("stride", self.stride)):
            number = check_int(value, "window", name)
            if number < 1:
                raise ValueError(
                    f"window: {name} must be at least 1, but it is {number}. Write window(5, shift=1), say."
                )
            object.__setattr__(self, name, number)

    def cardinality(self, upstream: int) -> int:
        if upstream < 0:
            return upstream
        assert self.shift is not None
        if not self.drop_remainder:
            return -(-upstream // self.shift)
        return max(0, (upstream - (self.size - 1) * self.stride - 1) // self.shift + 1)

    def elements(self, upstream: Upstream, pass_id: PassId) -> Elements:
        return _WindowElements(TrackedInput(upstream.open(pass_id)), self)

    def element_spec(self, spec: Nest, inspection: Inspection) -> Nest:
        return map_specs(DatasetSpec, spec)

    def __str__(self) -> str:
        shift = "" if self.shift == self.size else f", shift={self.shift}"
        stride = "" if self.stride == 1 else f", stride={self.stride}"
        return f"window({self.size}{shift}{stride}{', drop_remainder=True' if self.drop_remainder else ''})"


class _WindowElements(Elements):
    def __init__(self, upstream: TrackedInput, window: Window) -> None:
        self._upstream, self._window = upstream, window
        self._held: list[tuple[int, Deferred]] = []  # from the first element of the next window on
        self._start = 0  # the number of that element

    def __next__(self) -> Deferred:
        window, held = self._window, self._held
        reach = (window.size - 1) * window.stride + 1
        while (not held or held[-1][0] < self._start + reach - 1) and (numbered := self._upstream.next()) is not None:
            if numbered[0] >= self._start:
                held.append(numbered)
        chosen = [element for number, element in held if (number - self._start) % window.stride == 0][: window.size]
        if not chosen or (window.drop_remainder and len(chosen) < window.size):
            raise StopIteration
        assert window.shift is not None
        self._start += window.shift
        self._held = [numbered for numbered in held if numbered[0] >= self._start]
        self._upstream.forget([number for number, _ in self._held])
        return partial(self._make_datasets, chosen)

    def _make_datasets(self, chosen: list[Deferred]) -> Nest:
        elements = [element() for element in chosen]
        columns = zip(*map(flatten, elements), strict=True)
        return unflatten(elements[0], [self._window.dataset(ListSource(column)) for column in columns])

    def get_state(self) -> State:
        numbers = [number for number, _ in self._held]
        return {"start": self._start, "held": numbers, "input": self._upstream.get_state(numbers)}

    def set_state(self, state: State) -> None:
        found = self._upstream.set_state(state["input"], state["held"])
        self._start = state["start"]
        self._held = [(number, found[number]) for number in state["held"]]

    def close(self) -> None:
        self._held = []
        self._upstream.close()
