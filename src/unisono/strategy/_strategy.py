"""What all strategies have in common: everything but the choice of devices."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Self

from unisono import context
from unisono.runtime import Placement, device_name


class Strategy:
    """A set of devices that train in lockstep. Made by the subclasses, which only choose the devices.

    ```python
    strategy = unisono.MirroredStrategy()
    with strategy.scope():
        model = keras.Sequential([keras.layers.Dense(10)])
        model.compile("adam", "mse")
    model.fit(x, y, batch_size=256)     # 256 rows over all devices
    ```
    """

    def __init__(self, placement: Placement):
        self._placement = placement
        self._extended = StrategyExtended(placement)

    @property
    def placement(self) -> Placement:
        """Where variables and batches of this strategy live."""
        return self._placement

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas share a global batch."""
        return self._placement.num_replicas

    @property
    def extended(self) -> StrategyExtended:
        """tf.distribute's second level: the names of the devices."""
        return self._extended

    @property
    def cluster_resolver(self) -> None:
        """None: this strategy lives in one process."""
        return None

    @contextlib.contextmanager
    def scope(self) -> Iterator[Self]:
        """Models, variables, optimizers and metrics made inside belong to this strategy, and stay so.

        Re-entrant, per thread. Entering the scope of another strategy inside is an error.
        """
        with context.entered(self):
            yield self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._extended.worker_devices))})"


class StrategyExtended:
    """The devices of a strategy by name."""

    def __init__(self, placement: Placement):
        self._placement = placement

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The devices that compute, one per replica: ``("gpu:0", "gpu:1")``."""
        return tuple(device_name(device) for device in self._placement.devices)

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The devices that hold variables: all of them."""
        return self.worker_devices
