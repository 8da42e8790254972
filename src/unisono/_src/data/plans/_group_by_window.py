"""group_by_window: elements grouped by key, and a dataset made of each full group."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from unisono._src.data.plans._arguments import check_function, function_name
from unisono._src.data.plans._identity import ComputedElement
from unisono._src.data.plans._inspection import Inspection
from unisono._src.data.plans._list_source import ListSource
from unisono._src.data.plans._nest import Nest, apply
from unisono._src.data.plans._nested_dataset import plan_of
from unisono._src.data.plans._operation import (
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    Deferred,
    Elements,
    Operation,
    PassId,
    State,
    Upstream,
)
from unisono._src.data.plans._seeds import derive_seeds, draw_map_seed
from unisono._src.data.plans._tracked_input import TrackedInput

if TYPE_CHECKING:
    from unisono._src.data.plans._plan import Plan
    from unisono._src.data.plans._source import Source


@dataclass(frozen=True, kw_only=True)
class GroupByWindow(Operation):
    """Elements are grouped by `key`. A group that has `size(key)` elements is given to `reduce`, which makes a
    dataset of it; its elements come next. Groups left at the end are given to `reduce` in the order of their keys.
    """

    keeps_random_access = False
    makes_batches = None  # `reduce` decides

    key: Callable[..., Any]
    reduce: Callable[[Any, Any], Any]
    size: Callable[[int], Any]
    dataset: Callable[[Source], Any]
    """Makes the dataset that `reduce` gets."""
    call: str = ""
    """What the user wrote, if not `group_by_window`."""
    batch: Operation | None = None
    """What `reduce` does, if that is known."""
    drop_remainder: bool = False
    seed: int = field(default_factory=draw_map_seed)

    def __post_init__(self) -> None:
        for function in (self.key, self.reduce, self.size):
            check_function(function, "group_by_window")

    def cardinality(self, upstream: int) -> int:
        return upstream if upstream in (0, INFINITE_CARDINALITY) else UNKNOWN_CARDINALITY

    def elements(self, upstream: Upstream, pass_id: PassId) -> Elements:
        return _GroupElements(TrackedInput(upstream.open(pass_id)), pass_id, self)

    def element_spec(self, spec: Nest, inspection: Inspection) -> Nest:
        if self.batch is not None:
            return self.batch.element_spec(spec, inspection)
        element = inspection.first_input()
        return inspection.spec_of(self.make_plan(self.find_key(element), [element], (0, 0)))

    def find_key(self, element: Nest) -> int:
        """The group of an element."""
        return int(apply(self.key, element))

    def find_size(self, key: int) -> int:
        """How many elements make the group full."""
        size = int(self.size(key))
        if size < 1:
            raise ValueError(f"{self}: a window needs at least 1 element, but for key {key} the size is {size}.")
        return size

    def make_plan(self, key: int, group: list[Nest], pass_id: PassId) -> Plan:
        """What `reduce` makes of a group."""
        with derive_seeds(self.seed, pass_id):
            dataset = self.reduce(np.int64(key), self.dataset(ListSource(tuple(group))))
        plan = plan_of(dataset)
        if plan is None:
            raise TypeError(
                f"{self}: the reduce function must return a Dataset, but it returned {type(dataset).__name__}. "
                f"Write lambda key, window: window.batch(32), say."
            )
        return plan

    def __str__(self) -> str:
        return self.call or f"group_by_window({function_name(self.key)}, {function_name(self.reduce)})"


@dataclass
class _OpenGroup:
    """A group whose dataset is being read."""

    key: int
    numbers: list[int]
    elements: Elements


class _GroupElements(Elements):
    def __init__(self, upstream: TrackedInput, pass_id: PassId, operation: GroupByWindow) -> None:
        self._upstream, self._pass_id, self._operation = upstream, pass_id, operation
        self._groups: dict[int, list[tuple[int, Deferred]]] = {}
        self._open: _OpenGroup | None = None
        self._num_opened = 0

    def __next__(self) -> Deferred:
        while True:
            if self._open is not None:
                element = next(self._open.elements, None)
                if element is not None:
                    return element
                self._close_open()
            key = self._full_group()
            if key is None:
                raise StopIteration
            self._begin(key, self._groups.pop(key))

    def _full_group(self) -> int | None:
        """Reads until a group is full; at the end, the smallest key that is left."""
        operation = self._operation
        while (numbered := self._upstream.next()) is not None:
            number, element = numbered
            value = ComputedElement.of(element)
            key = operation.find_key(value.value)
            group = self._groups.setdefault(key, [])
            group.append((number, value))
            if len(group) == operation.find_size(key):
                return key
        return min(self._groups, default=None) if not operation.drop_remainder else None

    def _begin(self, key: int, group: list[tuple[int, Deferred]]) -> None:
        pass_id = (*self._pass_id, self._num_opened)
        self._num_opened += 1
        plan = self._operation.make_plan(key, [element() for _, element in group], pass_id)
        self._open = _OpenGroup(key, [number for number, _ in group], plan.open(pass_id))

    def _held(self) -> list[int]:
        held = [number for group in self._groups.values() for number, _ in group]
        return held + (self._open.numbers if self._open else [])

    def get_state(self) -> State:
        opened = self._open
        return {
            "groups": [[key, [number for number, _ in group]] for key, group in self._groups.items()],
            "open": opened and [opened.key, opened.numbers, opened.elements.get_state()],
            "opened": self._num_opened,
            "input": self._upstream.get_state(self._held()),
        }

    def set_state(self, state: State) -> None:
        self._close_open()
        wanted = [number for _, numbers in state["groups"] for number in numbers]
        if state["open"] is not None:
            wanted += state["open"][1]
        found = self._upstream.set_state(state["input"], wanted)
        self._groups = {key: [(number, found[number]) for number in numbers] for key, numbers in state["groups"]}
        self._num_opened = state["opened"]
        if state["open"] is not None:
            key, numbers, inner = state["open"]
            self._num_opened -= 1
            self._begin(key, [(number, found[number]) for number in numbers])
            assert self._open is not None
            self._open.elements.set_state(inner)

    def close(self) -> None:
        self._close_open()
        self._groups = {}
        self._upstream.close()

    def _close_open(self) -> None:
        opened, self._open = self._open, None
        if opened is not None:
            opened.elements.close()
            self._upstream.forget(self._held())
