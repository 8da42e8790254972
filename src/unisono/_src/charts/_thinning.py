"""Fewer points for a line that has more of them than the chart has pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

_MAX_POINTS: Final = 600  # of a plot about 400 pixels wide


def thin_points(x: Sequence[float], y: Sequence[float]) -> tuple[list[float], list[float]]:
    """About 600 points: of each group of neighbours the smallest and the largest, so that no peak is lost.

    >>> [len(each) for each in thin_points(range(100_000), range(100_000))]
    [600, 600]
    """
    if len(x) <= _MAX_POINTS:
        return list(x), list(y)
    size = math.ceil(2 * len(x) / _MAX_POINTS)
    kept: list[int] = []
    for start in range(0, len(x), size):
        group = range(start, min(start + size, len(x)))
        finite = [index for index in group if math.isfinite(y[index])]
        chosen = {min(finite, key=lambda i: y[i]), max(finite, key=lambda i: y[i])} if finite else set()
        if len(finite) < len(group):  # one of the others stays: the line has a gap there
            chosen.add(next(index for index in group if not math.isfinite(y[index])))
        kept.extend(sorted(chosen))
    return [x[index] for index in kept], [y[index] for index in kept]
