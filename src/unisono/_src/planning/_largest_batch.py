"""The largest batch that fits: a search over compiled programs, which are never run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import jax

from unisono._src.core import format_bytes

# Rows of a replica have at most four significant bits: 1 to 16, 18, 20, ... 32, 36, ... The next candidate is at most
# an eighth larger, few programs are compiled, and kernels get sizes that they like.
_SIGNIFICANT_BITS: Final = 4
_FIRST_ROWS: Final = 8
_MAX_ROWS: Final = 2**20

NOT_EVEN_ONE = """{function}: a step with one row on each of {replicas} replicas needs {needed} on a device, and {limit}
may be used. Divide the model among devices (unisono.FullyShardedStrategy), compute activations again (unisono.remat),
or use fewer weights."""


@dataclass(frozen=True)
class BatchSearch:
    """What was found.

    Attributes:
        global_batch_size: the largest batch that fits.
        bytes_by_batch: the memory of a device for each global batch that was compiled; None if XLA ran out of memory
            while compiling it.
        is_all_rows: whether the data has no more rows, so that a larger batch was not tried.
    """

    global_batch_size: int
    bytes_by_batch: dict[int, int | None] = field(default_factory=dict)
    is_all_rows: bool = False


def search_largest_batch(
    bytes_of: Callable[[int], int], replicas: int, limit: int, *, num_rows: int | None, function: str
) -> BatchSearch:
    """The largest global batch whose step needs at most ``limit`` bytes on a device.

    ``bytes_of`` compiles the step for a global batch. Memory grows almost linearly with the rows, so that a line
    through two sizes gives the next one to try.
    """
    found: dict[int, int | None] = {}

    def fits(rows: int) -> bool:
        if rows not in found:
            found[rows] = _bytes_or_none(bytes_of, rows * replicas)
        needed = found[rows]
        return needed is not None and needed <= limit

    most = _MAX_ROWS if num_rows is None else max(1, num_rows // replicas)
    most = _round_down(most)
    low, high = min(_FIRST_ROWS, most), most + 1
    while not fits(low):
        if low == 1:
            needed = found[1]
            text = "more than the compiler has" if needed is None else format_bytes(needed)
            raise ValueError(
                NOT_EVEN_ONE.format(function=function, replicas=replicas, needed=text, limit=format_bytes(limit))
            )
        low, high = low // 2, low
    while _next(low) < high:
        guess = _guess(found, low, high, limit)
        if fits(guess):
            low = guess
        else:
            high = guess
    return BatchSearch(
        low * replicas,
        {rows * replicas: size for rows, size in sorted(found.items())},
        is_all_rows=num_rows is not None and low == most,
    )


def _bytes_or_none(bytes_of: Callable[[int], int], batch: int) -> int | None:
    try:
        return bytes_of(batch)
    except jax.errors.JaxRuntimeError as error:
        if "RESOURCE_EXHAUSTED" not in str(error):
            raise
        return None


def _guess(found: dict[int, int | None], low: int, high: int, limit: int) -> int:
    """A candidate between ``low``, which fits, and ``high``, which does not."""
    points = sorted((rows, size) for rows, size in found.items() if size is not None)
    base = found[low]
    assert base is not None, "it fits"
    if len(points) == 1:
        guess = 2 * low
    else:
        (rows, size), (more_rows, more_size) = points[-2:]
        slope = max(1.0, (more_size - size) / (more_rows - rows))
        guess = low + int(min((limit - base) / slope, _MAX_ROWS))
    return min(max(_round_down(guess), _next(low)), _round_down(high - 1))


def _round_down(rows: int) -> int:
    shift = max(0, rows.bit_length() - _SIGNIFICANT_BITS)
    return rows >> shift << shift


def _next(rows: int) -> int:
    return rows + (1 << max(0, rows.bit_length() - _SIGNIFICANT_BITS))
