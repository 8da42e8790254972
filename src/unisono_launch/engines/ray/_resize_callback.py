"""Lets workers save before Ray Train changes their number.

Ray Train looks once a minute whether an elastic job could have more workers, and ends the present ones by SIGKILL then.
"""

from __future__ import annotations

import time
from typing import Any, Final

import ray
from ray.train.v2._internal.execution.callback import ControllerCallback
from ray.train.v2._internal.execution.controller.state import ResizingState

_INTERVAL_SECONDS: Final = 0.2


class SaveBeforeResize(ControllerCallback):
    """Runs in the controller of the run.

    Args:
        channel: the handle of the `JobChannel`.
        seconds: how long the controller waits for the workers to end.
    """

    def __init__(self, channel: Any, seconds: float) -> None:
        self._channel = channel
        self._seconds = seconds

    def after_controller_state_update(self, previous_state: Any, current_state: Any) -> None:
        """Waits, if this is the state before the workers are ended."""
        if not isinstance(current_state, ResizingState):
            return
        deadline = time.monotonic() + self._seconds
        while ray.get(self._channel.announce_resize.remote()) and time.monotonic() < deadline:
            time.sleep(_INTERVAL_SECONDS)
