"""Arguments that must be whole numbers, checked where the user wrote them."""

from __future__ import annotations

import operator
from typing import Any


def whole_number(value: Any, call: str, name: str) -> int:
    """`value` as an int. `call` is what the user typed, for the error.

    NumPy's and JAX's integers are whole numbers; a float is not, even 64.0: it comes from a `/` that was
    meant as `//`, and the next one would not be as round.
    """
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(
            f"{call}: {name} must be a whole number, but it is {value!r} ({type(value).__name__}). "
            f"If it comes from a division, write a // b instead of a / b."
        ) from None
