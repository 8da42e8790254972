"""Kinds of numbers, and dimensions of shapes as older releases had them."""

from __future__ import annotations

import numbers
from typing import Any, Final

import numpy as np

bytes_or_text_types: Final = (bytes, str)
complex_types: Final = (numbers.Complex, np.number)
integral_types: Final = (numbers.Integral, np.integer)
real_types: Final = (numbers.Real, np.integer, np.floating)


def dimension_value(dimension: Any) -> int | None:
    """The dimension: it is a number, or None, already."""
    return None if dimension is None else int(dimension)


def dimension_at_index(shape: Any, index: int) -> int | None:
    """A dimension of a shape."""
    return dimension_value(shape[index])


def forward_compatible(year: int, month: int, day: int) -> bool:
    """True: nothing here is held back for older readers of graphs."""
    return True
