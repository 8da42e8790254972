"""The error at the end of data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from unisono._src.core._override import Override


class OutOfRangeError(Exception):
    """`get_next` was called at the end of the data."""


out_of_range_error: Final[Override[Callable[[str], OutOfRangeError]]] = Override(OutOfRangeError)
"""Makes the error of its text. The namespace `tf` has a subclass, which is one of TensorFlow's errors too."""
