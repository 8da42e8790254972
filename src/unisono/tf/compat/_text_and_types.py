"""Conversion between `str` and `bytes`, tuples of number types, and dimensions of shapes as TensorFlow 1 had them."""

from __future__ import annotations

import numbers
import os
from typing import Any, Final

import numpy as np

bytes_or_text_types: Final = (bytes, str)
complex_types: Final = (numbers.Complex, np.number)
integral_types: Final = (numbers.Integral, np.integer)
real_types: Final = (numbers.Real, np.integer, np.floating)

NOT_TEXT = "Expected str or bytes, got {value!r} ({kind})."


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """Encodes a `str`; returns `bytes` unchanged.

    >>> as_bytes("é")
    b'\\xc3\\xa9'
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes | bytearray):
        return bytes(bytes_or_text)
    raise TypeError(NOT_TEXT.format(value=bytes_or_text, kind=type(bytes_or_text).__name__))


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """Decodes `bytes`; returns a `str` unchanged.

    >>> as_text(b"a"), as_text("a")
    ('a', 'a')
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(NOT_TEXT.format(value=bytes_or_text, kind=type(bytes_or_text).__name__))


def as_str(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """The same as `as_text`."""
    return as_text(bytes_or_text, encoding)


def as_str_any(value: Any, encoding: str = "utf-8") -> str:
    """Converts any value to `str`; `bytes` are decoded."""
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


def path_to_str(path: Any) -> Any:
    """Converts a path object to `str`; returns anything else unchanged."""
    return as_str_any(os.fspath(path)) if hasattr(path, "__fspath__") else path


def dimension_value(dimension: Any) -> int | None:
    """Returns the dimension, which is an integer or None already: there is no `Dimension` class."""
    return None if dimension is None else int(dimension)


def dimension_at_index(shape: Any, index: int) -> int | None:
    """Returns one dimension of a shape."""
    return dimension_value(shape[index])


def forward_compatible(year: int, month: int, day: int) -> bool:
    """Returns True: no change is delayed for older programs that read graphs."""
    return True
