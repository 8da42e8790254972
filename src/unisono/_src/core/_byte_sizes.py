"""Numbers of bytes as people write and read them."""

from __future__ import annotations

import re
from typing import Final

_UNITS: Final = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30}
_SIZE: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(ki|mi|gi|k|m|g|t|)b?\s*", re.IGNORECASE)


def parse_bytes(size: int | float | str) -> int:
    """The bytes of a number or a text.

    >>> parse_bytes("16GB"), parse_bytes("1.5 GiB"), parse_bytes(4096)
    (16000000000, 1610612736, 4096)
    """
    if isinstance(size, int | float) and not isinstance(size, bool) and size > 0:
        return int(size)
    match = _SIZE.fullmatch(size) if isinstance(size, str) else None
    if match is None:
        raise ValueError(f'{size!r} is not a size. Write a number of bytes, or a text such as "16GB" or "512MiB".')
    return int(float(match[1]) * _UNITS[match[2].lower()])


def format_bytes(number: float) -> str:
    """A number of bytes with a unit of 1000, 1000², ...

    >>> format_bytes(812), format_bytes(4_200_000), format_bytes(21e9)
    ('812 B', '4.2 MB', '21.00 GB')
    """
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.2f} GB"
