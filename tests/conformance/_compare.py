"""What differs between two observations: the aspect, and the first place where it was found."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

TOLERANCE = 1e-6

Difference = tuple[str, str]

_ASPECTS_OF_THEIR_OWN = {"error", "cardinality", "len", "spec", "second_pass"}


def differences(theirs: Any, ours: Any) -> dict[str, str]:
    """Aspect -> the first difference of this kind. The aspects are those that `differences.py` may name."""
    found: dict[str, str] = {}
    for aspect, place in _observations(theirs, ours):
        found.setdefault(aspect, place)
    return found


def _observations(theirs: Any, ours: Any) -> Iterator[Difference]:
    if not isinstance(theirs, dict) or not isinstance(ours, dict):
        yield from _nests(theirs, ours, "")
        return
    if theirs.get("error") != ours.get("error"):
        yield (
            "stage",
            f"fails at {theirs.get('error', 'no time')} in TensorFlow, at {ours.get('error', 'no time')} here",
        )
        return
    for aspect in ("cardinality", "len"):
        if theirs.get(aspect) != ours.get(aspect):
            yield aspect, f"{theirs.get(aspect)} != {ours.get(aspect)}"
    yield from _specs(theirs.get("spec"), ours.get("spec"))
    for part in sorted((theirs.keys() | ours.keys()) - _ASPECTS_OF_THEIR_OWN):
        yield from _nests(theirs.get(part), ours.get(part), part)
    if ("second_pass" in theirs) != ("second_pass" in ours):
        yield "passes", "only one of the two gives the same elements in the second pass"


def _specs(theirs: Any, ours: Any) -> Iterator[Difference]:
    for aspect, place in _nests(theirs, ours, "spec"):
        yield ("dtype" if aspect == "dtype" else "spec"), place


def _nests(theirs: Any, ours: Any, place: str) -> Iterator[Difference]:
    if _is_leaf(theirs) and _is_leaf(ours):
        for aspect, one, other in zip(("shape", "dtype", "value"), theirs, ours, strict=False):
            if not _equal(one, other):
                yield aspect, f"{place}: {one} != {other}"
    elif isinstance(theirs, dict) and isinstance(ours, dict):
        if theirs.keys() != ours.keys():
            yield "structure", f"{place}: {sorted(theirs)} != {sorted(ours)}"
            return
        for key in theirs:
            yield from _nests(theirs[key], ours[key], f"{place}.{key}")
    elif isinstance(theirs, list) and isinstance(ours, list) and not _is_leaf(theirs) and not _is_leaf(ours):
        if len(theirs) != len(ours):
            yield "count", f"{place}: {len(theirs)} != {len(ours)}"
        for index, (one, other) in enumerate(zip(theirs, ours, strict=False)):
            yield from _nests(one, other, f"{place}[{index}]")
    elif type(theirs) is not type(ours) or _is_leaf(theirs) != _is_leaf(ours):
        yield "structure", f"{place}: {theirs} != {ours}"
    elif not _equal(theirs, ours):
        yield "value", f"{place}: {theirs} != {ours}"


def _is_leaf(nest: Any) -> bool:
    """[shape, dtype, value] of an array, or [shape, dtype] of a spec."""
    return isinstance(nest, list) and len(nest) in (2, 3) and isinstance(nest[1], str)


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, float) and isinstance(other, (int, float)):
        return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return bool(one == other)
