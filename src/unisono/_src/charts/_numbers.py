"""Numbers as short text: 0.25, 12,000 as 12k, 0.00003 as 3e-5."""

from __future__ import annotations

import math
from typing import Final

_SUFFIXES: Final = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def format_number(value: float, digits: int = 3) -> str:
    """``value`` with ``digits`` significant digits and a suffix for thousands, millions, …

    >>> [format_number(value) for value in (0, 0.25, 150, 12_345, 3e-5, -2.5e6)]
    ['0', '0.25', '150', '12.3k', '3e-5', '-2.5M']
    """
    if math.isnan(value) or math.isinf(value):
        return str(value)
    if value == 0:
        return "0"
    value = float(f"{value:.{digits}g}")
    size = abs(value)
    if size < 1e-3 or size >= 1e15:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        return f"{_strip_zeros(mantissa)}e{int(exponent)}"
    for factor, suffix in _SUFFIXES:
        if size >= factor * (10 if factor == 1e3 else 1):  # 1,500 is as short as 1.5k, and reads better
            return _strip_zeros(f"{value / factor:.{digits}g}") + suffix
    decimals = max(0, digits - 1 - math.floor(math.log10(size)))
    return _strip_zeros(f"{value:,.{decimals}f}")


def _strip_zeros(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
