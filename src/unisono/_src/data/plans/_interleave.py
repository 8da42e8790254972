"""flat_map and interleave: datasets made of elements, and read one after the other or alternately."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from unisono._src.data.plans._arguments import check_function, check_int, function_name
from unisono._src.data.plans._counting_elements import CountingElements
from unisono._src.data.plans._inspection import Inspection
from unisono._src.data.plans._list_source import ListSource
from unisono._src.data.plans._nest import Nest, apply, flatten, unflatten
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
from unisono._src.data.plans._passes import next_or_raise
from unisono._src.data.plans._plan import Plan
from unisono._src.data.plans._seeds import derive_seeds, draw_map_seed
from unisono._src.data.plans._spec import DatasetSpec, find_open_sizes, leave_open


@dataclass(frozen=True)
class Interleave(Operation):
    """`function` makes a dataset of each element. `cycle_length` of them are open at a time and are read
    cyclically, `block_length` elements each. With a cycle of one, a dataset is read to its end before the next.
    """

    keeps_random_access = False
    makes_batches = None  # the function decides

    function: Callable[..., Any]
    cycle_length: int = 1
    block_length: int = 1
    flat: bool = False
    """Whether the user wrote `flat_map`."""
    seed: int = field(default_factory=draw_map_seed)
    """Of shuffles without a seed that the function makes."""

    def __post_init__(self) -> None:
        check_function(self.function, self._name)
        for name in ("cycle_length", "block_length"):
            number = check_int(getattr(self, name), self._name, name)
            if number < 1:
                raise ValueError(f"interleave: {name} must be at least 1, but it is {number}. Write {name}=4, say.")
            object.__setattr__(self, name, number)

    def cardinality(self, upstream: int) -> int:
        return upstream if upstream in (0, INFINITE_CARDINALITY) else UNKNOWN_CARDINALITY

    def elements(self, upstream: Upstream, pass_id: PassId) -> Elements:
        return _InterleavedElements(upstream.open(pass_id), pass_id, self)

    def element_spec(self, spec: Nest, inspection: Inspection) -> Nest:
        first = _attach_specs(inspection.first_input(), spec)
        inner = inspection.spec_of(self.make_plan(lambda: first, (0, 0)))
        return leave_open(inner, find_open_sizes(first, spec))

    def make_plan(self, element: Deferred, pass_id: PassId) -> Plan:
        """The plan that the function makes of an element."""
        value = element()
        with derive_seeds(self.seed, pass_id):
            dataset = apply(self.function, value)
        plan = plan_of(dataset)
        if plan is None:
            raise TypeError(
                f"{self}: the function must return a Dataset, but it returned {type(dataset).__name__}. "
                f"For one element per element use map(...); for the rows of an array, "
                f"Dataset.from_tensor_slices(array)."
            )
        return plan

    @property
    def _name(self) -> str:
        return "flat_map" if self.flat else "interleave"

    def __str__(self) -> str:
        options = "" if self.flat else f", cycle_length={self.cycle_length}"
        return f"{self._name}({function_name(self.function)}{options})"


def _attach_specs(element: Nest, spec: Nest) -> Nest:
    """An element whose datasets carry what is known about their elements, beyond what the first ones show."""

    def attach(leaf: Any, leaf_spec: Any) -> Any:
        if not isinstance(leaf_spec, DatasetSpec) or not isinstance(leaf._plan.source, ListSource):
            return leaf
        return type(leaf)(Plan(replace(leaf._plan.source, spec=leaf_spec.element_spec), leaf._plan.operations))

    return unflatten(element, map(attach, flatten(element), flatten(spec)))


@dataclass
class _OpenDataset:
    """One of the datasets that are read in turns."""

    number: int
    """Of the element that it was made of."""
    before: State
    """The state of the input before that element."""
    elements: Elements


class _InterleavedElements(Elements):
    def __init__(self, upstream: Elements, pass_id: PassId, operation: Interleave) -> None:
        self._upstream, self._pass_id, self._operation = CountingElements(upstream), pass_id, operation
        self._slots: list[_OpenDataset | None] = [None] * operation.cycle_length
        self._current = self._given = 0  # the slot that is read, and how many elements of its block it has given
        self._num_read = 0
        self._ended = False

    def __next__(self) -> Deferred:
        while True:
            slot = self._slots[self._current]
            if slot is None:
                if self._ended:
                    if not any(self._slots):
                        raise StopIteration
                    self._next_slot()
                    continue
                slot = self._slots[self._current] = self._read()
                if slot is None:
                    self._ended = True
                    continue
            element = next(slot.elements, None)
            if element is None:
                slot.elements.close()
                self._slots[self._current] = None
                self._next_slot()
                continue
            self._given += 1
            if self._given == self._operation.block_length:
                self._next_slot()
            return element

    def _next_slot(self) -> None:
        self._current, self._given = (self._current + 1) % len(self._slots), 0

    def _read(self) -> _OpenDataset | None:
        before = self._upstream.get_state()
        element = next(self._upstream, None)
        if element is None:
            return None
        slot = self._open_slot(self._num_read, before, element)
        self._num_read += 1
        return slot

    def _open_slot(self, number: int, before: State, element: Deferred) -> _OpenDataset:
        pass_id = (*self._pass_id, number)
        return _OpenDataset(number, before, self._operation.make_plan(element, pass_id).open(pass_id))

    def get_state(self) -> State:
        return {
            "turn": [self._current, self._given],
            "read": self._num_read,
            "ended": self._ended,
            "slots": [slot and [slot.number, slot.before, slot.elements.get_state()] for slot in self._slots],
            "input": self._upstream.get_state(),
        }

    def set_state(self, state: State) -> None:
        self._close_slots()
        for index, slot in enumerate(state["slots"]):
            if slot is not None:
                number, before, inner = slot
                self._upstream.set_state(before)
                opened = self._open_slot(number, before, next_or_raise(self._upstream))
                opened.elements.set_state(inner)
                self._slots[index] = opened
        self._current, self._given = state["turn"]
        self._num_read, self._ended = state["read"], state["ended"]
        self._upstream.set_state(state["input"])

    def close(self) -> None:
        self._close_slots()
        self._upstream.close()

    def _close_slots(self) -> None:
        for slot in self._slots:
            if slot is not None:
                slot.elements.close()
        self._slots = [None] * self._operation.cycle_length
