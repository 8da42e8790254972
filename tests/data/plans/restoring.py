"""One proof for every plan: a pass can be saved at any position and resumed there by another."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import islice
from typing import Any

from unisono._src.data.plans import Elements, PassId, Plan, flatten, is_dataset, iterate, structure

MakePlan = Callable[[], Plan]
"""Makes equal plans: separate objects with the same seeds."""

LIMIT = 24
"""Elements that are looked at of plans without end."""


def assert_restorable(make: MakePlan, pass_id: PassId = (0,), limit: int = LIMIT) -> None:
    """Every position of a pass can be saved as JSON, and restored by a new pass and by one at another position."""
    expected = collect_values(make(), pass_id, limit)
    states = collect_states(make(), pass_id, len(expected), ended=len(expected) < limit)
    for number, state in enumerate(states):
        fresh = make().open(pass_id)
        fresh.set_state(json.loads(state))
        assert read_rest(fresh, limit - number) == expected[number:], f"restored after {number} elements"
        fresh.close()
    for number, state in enumerate(states):
        moved = make().open(pass_id)
        read_rest(moved, limit if number % 2 else len(expected) // 2)
        moved.set_state(json.loads(state))
        again = make().open(pass_id)
        again.set_state(json.loads(json.dumps(moved.get_state())))
        assert read_rest(moved, limit - number) == expected[number:], f"moved to the position after {number} elements"
        assert read_rest(again, limit - number) == expected[number:], f"restored twice after {number} elements"
        moved.close()
        again.close()


def collect_states(plan: Plan, pass_id: PassId, count: int, ended: bool) -> list[str]:
    """The positions before the first element and after each one; and the one after the end was reached."""
    elements = plan.open(pass_id)
    states = [json.dumps(elements.get_state())]
    for _ in range(count):
        next(elements)()
        states.append(json.dumps(elements.get_state()))
        assert json.dumps(elements.get_state()) == states[-1], "reading the position changes it"
    if ended:
        assert next(elements, None) is None
        states.append(json.dumps(elements.get_state()))
    elements.close()
    return states


def collect_values(plan: Plan, pass_id: PassId = (0,), limit: int = LIMIT) -> list[Any]:
    """The elements of a pass, in a form that `==` compares with dtypes."""
    elements = plan.open(pass_id)
    try:
        return read_rest(elements, limit)
    finally:
        elements.close()


def read_rest(elements: Elements, limit: int = LIMIT) -> list[Any]:
    """What is left of a pass."""
    return [as_comparable(element()) for element in islice(elements, max(0, limit))]


def as_comparable(element: Any) -> Any:
    """Structure, dtypes, shapes and values; datasets inside an element as lists."""
    return structure(element), [_comparable_leaf(leaf) for leaf in flatten(element)]


def _comparable_leaf(leaf: Any) -> Any:
    if leaf is None:
        return None
    if is_dataset(leaf):
        return [as_comparable(element) for element in iterate(leaf._plan)]
    return str(leaf.dtype), leaf.shape, leaf.tolist()
