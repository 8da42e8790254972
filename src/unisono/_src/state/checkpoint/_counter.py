"""`Checkpoint.save_counter`."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from unisono._src.state.store import JSON


@final
class SaveCounter:
    """How often a `Checkpoint` was saved: a whole number that is itself stored and restored.

    >>> counter = SaveCounter()
    >>> counter.assign(3)
    SaveCounter(3)
    >>> int(counter.assign_add(1)), counter == 4
    (4, True)
    """

    def __init__(self) -> None:
        self._number = 0

    def assign(self, value: Any) -> SaveCounter:
        """Sets it."""
        self._number = int(value)
        return self

    def assign_add(self, delta: Any) -> SaveCounter:
        """Adds to it."""
        return self.assign(self._number + int(delta))

    def numpy(self) -> np.int64:
        """The number, as NumPy has it."""
        return np.int64(self._number)

    def get_state(self) -> JSON:
        """The number, for a checkpoint."""
        return self._number

    def set_state(self, state: JSON) -> None:
        """Restores what `get_state` returned."""
        self.assign(state)

    def __int__(self) -> int:
        return self._number

    def __index__(self) -> int:
        return self._number

    def __eq__(self, other: object) -> bool:
        return self._number == other

    def __repr__(self) -> str:
        return f"SaveCounter({self._number})"
