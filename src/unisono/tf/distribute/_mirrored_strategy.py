"""`tf.distribute.MirroredStrategy`: an empty list of devices, as from `list_logical_devices("GPU")`, means all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax

from unisono._src import strategy


class _OfSameInstances(type):
    """Every `unisono.MirroredStrategy` is an instance, so that scripts may create either and test for the other."""

    def __instancecheck__(cls, instance: Any) -> bool:
        kind = strategy.MirroredStrategy if cls is MirroredStrategy else cls
        return type.__instancecheck__(kind, instance)


class MirroredStrategy(strategy.MirroredStrategy, metaclass=_OfSameInstances):
    """`unisono.MirroredStrategy`, for which no devices in the list are an error; here they mean all, as in TensorFlow.

    Args:
        devices: names ("gpu:0", "/gpu:0", "/device:GPU:0") or devices; None or an empty list means all.
        cross_device_ops: accepted, without effect: XLA chooses how to sum.
    """

    def __init__(self, devices: Sequence[str | jax.Device] | None = None, cross_device_ops: object = None) -> None:
        is_empty = isinstance(devices, list | tuple) and not devices
        super().__init__(None if is_empty else devices, cross_device_ops)
