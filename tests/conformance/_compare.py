"""What differs between two observations: the aspect, and where it was first found."""

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
    for aspect, where in _observations(theirs, ours):
        found.setdefault(aspect, where)
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
    for aspect, where in _nests(theirs, ours, "spec"):
        yield ("dtype" if aspect == "dtype" else "spec"), where


def _nests(theirs: Any, ours: Any, where: str) -> Iterator[Difference]:
    if _is_leaf(theirs) and _is_leaf(ours):
        for aspect, one, other in zip(("shape", "dtype", "value"), theirs, ours, strict=False):
            if not _equal(one, other):
                yield aspect, f"{where}: {one} != {other}"
    elif isinstance(theirs, dict) and isinstance(ours, dict):
        if theirs.keys() != ours.keys():
            yield "structure", f"{where}: {sorted(theirs)} != {sorted(ours)}"
            return
        for key in theirs:
            yield from _nests(theirs[key], ours[key], f"{where}.{key}")
    elif isinstance(theirs, list) and isinstance(ours, list) and not _is_leaf(theirs) and not _is_leaf(ours):
        if len(theirs) != len(ours):
            yield "count", f"{where}: {len(theirs)} != {len(ours)}"
        for index, (one, other) in enumerate(zip(theirs, ours, strict=False)):
            yield from _nests(one, other, f"{where}[{index}]")
    elif type(theirs) is not type(ours) or _is_leaf(theirs) != _is_leaf(ours):
        yield "structure", f"{where}: {theirs} != {ours}"
    elif not _equal(theirs, ours):
        yield "value", f"{where}: {theirs} != {ours}"


def _is_leaf(nest: Any) -> bool:
    """[shape, dtype, value] of an array, or [shape, dtype] of a spec."""
    return isinstance(nest, list) and len(nest) in (2, 3) and isinstance(nest[1], str)


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, float) and isinstance(other, (int, float)):
        return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return bool(one == other)
