"""How the driver of `unisono.ray.Trainer` asks its workers to save and stop: a Ray actor on the driver's node.

It is here because actors import the module of their class, and this package imports neither JAX nor Keras. Ray ends
the actor, as all actors of a job, when the driver dies.
"""

from __future__ import annotations

from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy


class StopFlag:
    """The actor."""

    def __init__(self) -> None:
        self._requested = self._saved = self._ignored = False

    def request(self) -> None:
        """Called by the driver: the workers are to save and stop."""
        self._requested = True

    def is_requested(self) -> bool:
        """Called by workers, about once a second."""
        return self._requested

    def mark_saved(self) -> None:
        """Called by workers that have saved and stop."""
        self._saved = True

    def mark_ignored(self) -> None:
        """Called by workers that have nothing to save: the training is not one that can be resumed."""
        self._ignored = True

    def is_ignored(self) -> bool:
        """Called by the driver, while it waits for the end of the run."""
        return self._ignored

    def is_saved(self) -> bool:
        """Called by the driver, when the run has ended."""
        return self._saved


def start_stop_flag() -> Any:
    """The handle of a new actor. Connects to Ray if that was not done."""
    if not ray.is_initialized():
        ray.init()
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    return ray.remote(num_cpus=0, scheduling_strategy=here)(StopFlag).remote()
