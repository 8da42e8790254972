"""One proof for every plan: a pass can be left at any place and taken up there by another."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import islice
from typing import Any

from unisono._src.data.plans import Elements, Path, Plan, flatten, iterate, structure

MakePlan = Callable[[], Plan]
"""Makes equal plans: objects of their own, with the same seeds."""

LIMIT = 24
"""Elements that are looked at of plans without end."""


def assert_restorable(make: MakePlan, path: Path = (0,), limit: int = LIMIT) -> None:
    """Every place of a pass can be kept as JSON, and found again by a new pass and by one that stands elsewhere."""
    expected = values_of(make(), path, limit)
    states = states_along(make(), path, len(expected), ended=len(expected) < limit)
    for number, state in enumerate(states):
        fresh = make().open(path)
        fresh.set_state(json.loads(state))
        assert rest_of(fresh, limit - number) == expected[number:], f"restored after {number} elements"
        fresh.close()
    for number, state in enumerate(states):
        moved = make().open(path)
        rest_of(moved, limit if number % 2 else len(expected) // 2)
        moved.set_state(json.loads(state))
        again = make().open(path)
        again.set_state(json.loads(json.dumps(moved.get_state())))
        assert rest_of(moved, limit - number) == expected[number:], f"moved to the place after {number} elements"
        assert rest_of(again, limit - number) == expected[number:], f"restored twice after {number} elements"
        moved.close()
        again.close()


def states_along(plan: Plan, path: Path, count: int, ended: bool) -> list[str]:
    """The places before the first element and after each one; and the one after the end was seen."""
    elements = plan.open(path)
    states = [json.dumps(elements.get_state())]
    for _ in range(count):
        next(elements)()
        states.append(json.dumps(elements.get_state()))
        assert json.dumps(elements.get_state()) == states[-1], "asking for the place changes it"
    if ended:
        assert next(elements, None) is None
        states.append(json.dumps(elements.get_state()))
    elements.close()
    return states


def values_of(plan: Plan, path: Path = (0,), limit: int = LIMIT) -> list[Any]:
    """The elements of a pass, in a form that `==` compares with dtypes."""
    elements = plan.open(path)
    try:
        return rest_of(elements, limit)
    finally:
        elements.close()


def rest_of(elements: Elements, limit: int = LIMIT) -> list[Any]:
    """What is left of a pass."""
    return [comparable(element()) for element in islice(elements, max(0, limit))]


def comparable(element: Any) -> Any:
    """Structure, dtypes, shapes and values; datasets inside an element as lists."""
    return structure(element), [_comparable_leaf(leaf) for leaf in flatten(element)]


def _comparable_leaf(leaf: Any) -> Any:
    if leaf is None:
        return None
    if hasattr(leaf, "plan"):
        return [comparable(element) for element in iterate(leaf.plan)]
    return str(leaf.dtype), leaf.shape, leaf.tolist()
