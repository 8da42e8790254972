"""Times between and beyond those that were measured."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np


def interpolate_devices(seconds: Mapping[int, float], at: int) -> float:
    """On the line through the two nearest points; of one point, in proportion.

    >>> interpolate_devices({2: 1.0, 4: 2.0, 8: 4.0}, 16)
    8.0
    """
    if at in seconds:
        return seconds[at]
    known = sorted(seconds)
    if len(known) == 1:
        return seconds[known[0]] * at / known[0]
    above = next((index for index, each in enumerate(known) if each > at), len(known) - 1)
    low, high = known[max(0, above - 1)], known[max(1, above)]
    slope = max(0.0, (seconds[high] - seconds[low]) / (high - low))
    return seconds[low] + slope * (at - low)


def interpolate_rows(seconds: Mapping[int, float], rows: int) -> float:
    """Between two points on the line through them; beyond, on the line nearest to all: fixed time and time per row.

    >>> interpolate_rows({32: 3.0, 64: 5.0, 128: 9.0}, 96)
    7.0
    >>> round(interpolate_rows({32: 3.0, 64: 5.0, 128: 9.0}, 16), 6)
    2.0
    """
    known = sorted(seconds)
    if rows in seconds or len(known) == 1:
        return seconds[rows] if rows in seconds else seconds[known[0]] * rows / known[0]
    if known[0] < rows < known[-1]:
        return float(np.interp(rows, known, [seconds[each] for each in known]))
    values = np.array([seconds[each] for each in known])
    slope, fixed = np.polyfit(known, values, 1, w=1 / values)  # relative errors count alike
    if slope <= 0:
        return float(values.mean())
    if fixed < 0:
        return seconds[known[0]] * rows / known[0]
    return float(fixed + slope * rows)
