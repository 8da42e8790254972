"""A position that costs nothing after most elements."""

from __future__ import annotations

import json

import pytest

from unisono._src.data.plans._counting_elements import CountingElements
from unisono._src.data.plans._identity import ComputedElement
from unisono._src.data.plans._operation import Deferred, Elements, State


class _Numbers(Elements):
    def __init__(self, size: int) -> None:
        self.size, self.position, self.num_states = size, 0, 0

    def __next__(self) -> Deferred:
        if self.position == self.size:
            raise StopIteration
        self.position += 1
        return ComputedElement(self.position - 1)

    def get_state(self) -> State:
        self.num_states += 1
        return {"position": self.position}

    def set_state(self, state: State) -> None:
        self.position = state["position"]

    def close(self) -> None:
        pass


def test_a_position_after_every_element_takes_few_states_of_the_input() -> None:
    numbers = _Numbers(150)
    counting = CountingElements(numbers)
    states = [json.dumps(counting.get_state()) for element in counting if element() is not None]
    assert numbers.num_states == 3
    for read, state in enumerate(states, 1):
        counting.set_state(json.loads(state))
        assert [element() for element in counting] == [*range(read, 150)]


def test_an_input_that_has_become_shorter_is_an_error() -> None:
    counting = CountingElements(_Numbers(20))
    for _ in range(10):
        next(counting)
    with pytest.raises(ValueError, match="it ended before the position of that run"):
        CountingElements(_Numbers(9)).set_state(counting.get_state())
