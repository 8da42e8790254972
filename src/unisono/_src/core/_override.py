"""Functions that a higher layer may replace in a lower one, and the first of them: the error at the end of data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeVar

_T = TypeVar("_T")


class Override(Generic[_T]):
    """A function with a default that a higher layer may replace, for the whole process.

    The last `set` wins. `reset` restores the default.

    >>> spell = Override(str.upper)
    >>> spell.set(str.title)
    >>> spell.current("all voices")
    'All Voices'
    >>> spell.reset()
    >>> spell.current("all voices")
    'ALL VOICES'

    Attributes:
        current: the function in force.
    """

    def __init__(self, default: _T) -> None:
        self._default = default
        self.current = default

    def set(self, current: _T) -> None:
        """Replaces the function, whatever was set before."""
        self.current = current

    def reset(self) -> None:
        """Restores the default."""
        self.current = self._default


class OutOfRangeError(Exception):
    """`get_next` was called at the end of the data."""


out_of_range_error: Final[Override[Callable[[str], OutOfRangeError]]] = Override(OutOfRangeError)
"""Makes the error from its text. The namespace `tf` sets a subclass that is one of TensorFlow's errors too."""
