"""Sizes that a function needs of inputs of unknown size, as found in the errors of its trace.

A function of a matrix `[None, None]` that multiplies it with weights of 13 rows works for 13 columns only. TensorFlow
notices when the function is called. JAX notices while it is traced, and names both sizes:

    dot_general requires contracting dimensions to have the same shape, got (size_0_1,) and (13,).
"""

from __future__ import annotations

import re
from itertools import pairwise

_SHAPE = re.compile(r"[\[(]([^()\[\]]*)[\])]")
_SYMBOL = re.compile(r"size_(\d+)_(\d+)")


def find_needed_size(message: str) -> tuple[int, int, int] | None:
    """The input, its axis and the size that an error of JAX asks for; None if it asks for none.

    >>> find_needed_size("sub got incompatible shapes for broadcasting: (batch, size_0_1), (1, 13).")
    (0, 1, 13)
    >>> find_needed_size("got (batch,) and (13,)")
    """
    shapes = [[size.strip() for size in found.split(",") if size.strip()] for found in _SHAPE.findall(message)]
    for one, other in pairwise(shapes):
        for sizes in zip(reversed(one), reversed(other), strict=False):
            for symbol, number in (sizes, sizes[::-1]):
                match = _SYMBOL.fullmatch(symbol)
                if match and number.isdigit() and int(number) > 1:
                    return int(match[1]), int(match[2]), int(number)
    return None
