"""How many steps to run per call: so many that a call is worth making, so few that the progress bar moves."""

from __future__ import annotations

from typing import Final

import numpy as np

from unisono._src.processes import broadcast_from_chief

_SECONDS_PER_CALL: Final = 0.2
_GROWTH: Final = 8


class StepsPerCall:
    """Adapts to the clock, which is harmless: the number of steps in a call changes no result.

    Args:
        fixed: run exactly so many steps per call and ignore the clock.
        block: prefer multiples of this number.
        across_processes: several processes make the same calls: the chief's clock decides until the number settles.
    """

    def __init__(self, fixed: int | None = None, block: int = 1, *, across_processes: bool = False):
        self._across_processes = across_processes
        self._fixed = fixed
        self._block = block
        self._steps = fixed or 1
        self._settled = fixed is not None

    @property
    def steps(self) -> int:
        """Steps for the next call."""
        return self._steps

    @property
    def settled(self) -> bool:
        """Whether a call may be made before the last one has ended. Until then each is waited for, so that a slow
        step is found before many of them are started at once."""
        return self._settled

    def record(self, steps: int, seconds: float) -> None:
        """``steps`` steps took ``seconds``."""
        if self._fixed is None and not (self._across_processes and self._settled):
            wanted = int(_SECONDS_PER_CALL * steps / max(seconds, 1e-6))
            if self._across_processes:
                wanted = int(broadcast_from_chief(np.int64(wanted)))
            self._settled = self._settled or wanted < self._steps * _GROWTH
            steps = max(1, min(wanted, self._steps * _GROWTH))
            self._steps = steps if steps < self._block else steps - steps % self._block
