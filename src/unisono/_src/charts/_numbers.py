"""Numbers as short text: 0.25, 12,000 as 12k, 0.00003 as 3e-5."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Final, Literal

_LEAST_DECIMAL: Final = 1e-4  # an axis up to less has exponents
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
        return _format_exponent(value, digits)
    for factor, suffix in _SUFFIXES:
        if size >= _first_with(factor):
            return _strip_zeros(f"{value / factor:.{digits}g}") + suffix
    decimals = max(0, digits - 1 - math.floor(math.log10(size)))
    return _strip_zeros(f"{value:,.{decimals}f}")


def format_ticks(values: Sequence[float], kind: Literal["linear", "log"]) -> list[str]:
    """The values of an axis, in ascending order, all in the same format.

    >>> format_ticks([0, 0.0005, 0.001], "linear"), format_ticks([0, 5_000, 10_000], "linear")
    (['0', '0.0005', '0.001'], ['0', '5k', '10k'])
    >>> format_ticks([0, 4e-6, 8e-6, 12e-6], "linear"), format_ticks([1e-7, 1e-3, 10], "log")
    (['0', '0.4e-5', '0.8e-5', '1.2e-5'], ['1e-7', '1e-3', '1e1'])
    """
    sizes = [abs(value) for value in values if value]
    if not sizes:
        return ["0" for _ in values]
    if kind == "log":
        if min(sizes) >= _LEAST_DECIMAL and max(sizes) < 1e6:
            return [_format_decimal(value, value) for value in values]
        return [_format_exponent(value, 3) for value in values]
    largest = max(sizes)
    if largest < _LEAST_DECIMAL or largest >= 1e15:
        exponent = math.floor(math.log10(largest) + 1e-9)
        factor, suffix = 10.0**exponent, f"e{exponent}"
    else:
        factor, suffix = next((each for each in _SUFFIXES if largest >= _first_with(each[0])), (1.0, ""))
    step = min((later - sooner for sooner, later in itertools.pairwise(values)), default=largest)
    return [_format_decimal(value / factor, step / factor) + suffix if value else "0" for value in values]


def _format_exponent(value: float, digits: int) -> str:
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return f"{_strip_zeros(mantissa)}e{int(exponent)}"


def _format_decimal(value: float, step: float) -> str:
    """With as many decimals as numbers in steps of ``step`` need."""
    return _strip_zeros(f"{value:,.{max(0, 1 - math.floor(math.log10(step)))}f}")


def _first_with(factor: float) -> float:
    """The least number that is written with the suffix of ``factor``."""
    return factor * (10 if factor == 1e3 else 1)  # 1,500 is as short as 1.5k, and reads better


def _strip_zeros(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
