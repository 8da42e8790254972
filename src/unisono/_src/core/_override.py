"""What a higher layer may exchange in a lower one."""

from __future__ import annotations

from typing import Generic, TypeVar

_T = TypeVar("_T")


class Override(Generic[_T]):
    """Something with a default that a layer above may exchange, for all of the process.

    What was set last holds: a second `set` takes the place of the first. `reset` brings the default back.

    >>> spell = Override(str.upper)
    >>> spell.set(str.title)
    >>> spell.current("all voices")
    'All Voices'
    >>> spell.reset()
    >>> spell.current("all voices")
    'ALL VOICES'

    Attributes:
        current: what holds now.
    """

    def __init__(self, default: _T) -> None:
        self._default = default
        self.current = default

    def set(self, current: _T) -> None:
        """From now on ``current`` holds, whoever set another one before."""
        self.current = current

    def reset(self) -> None:
        """From now on the default holds again."""
        self.current = self._default
