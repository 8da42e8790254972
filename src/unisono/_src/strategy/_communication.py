"""tf.distribute's options for communication between devices. Accepted, mostly without effect: XLA decides."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import jax

from unisono._src.processes import processes
from unisono._src.replicas.values import DistributedValues
from unisono._src.strategy._reduce import ReduceOp

CUSTOM_ALGORITHM = """cross_device_ops={given!r}: XLA sums over devices inside the compiled step, so that a custom
algorithm would never be called. Leave the argument out, or pass one of tf.distribute's, such as NcclAllReduce()."""

ONE_PROCESS = """CrossDeviceOps.reduce has the values of one process only, and there are {number} processes.
Write strategy.reduce(reduce_op, value, axis=None)."""

NEVER_CALLED = "XLA sums over devices inside the compiled step: a custom algorithm would never be called."


class CommunicationImplementation(enum.Enum):
    """Accepted, without effect: NCCL between GPUs, gloo between CPUs, ICI between TPUs."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


@dataclass(frozen=True)
class CommunicationOptions:
    """tf.distribute's options for collectives.

    Args:
        bytes_per_pack: accepted, without effect: XLA decides which sums to combine.
        timeout_seconds: how long workers wait for each other when they join; None for five minutes.
        implementation: accepted, without effect.
    """

    bytes_per_pack: int = 0
    timeout_seconds: float | None = None
    implementation: CommunicationImplementation = CommunicationImplementation.AUTO

    def __post_init__(self) -> None:
        if self.timeout_seconds is not None and self.timeout_seconds <= 0:
            raise ValueError(f"timeout_seconds is a number of seconds greater than 0; got {self.timeout_seconds!r}.")


class CrossDeviceOps:
    """Accepted by strategies, for scripts that pass one. XLA chooses how to sum."""

    def __init__(self, num_packs: int = 1) -> None:
        self.num_packs = num_packs

    def reduce(self, reduce_op: Any, per_replica_value: Any, destinations: Any, options: Any = None) -> Any:
        """The sum or mean of a value of all replicas, on the device of the first."""
        del destinations, options
        if processes().count > 1:
            raise NotImplementedError(ONE_PROCESS.format(number=processes().count))
        if not isinstance(per_replica_value, DistributedValues):
            return per_replica_value
        first, *rest = per_replica_value.values
        total = reduce(lambda sum, value: sum + jax.device_put(value, sum.sharding), rest, jax.numpy.asarray(first))
        return total if ReduceOp.of(reduce_op) is ReduceOp.SUM else total / len(per_replica_value.values)

    def batch_reduce(
        self, reduce_op: Any, value_destination_pairs: Sequence[tuple[Any, Any]], options: Any = None
    ) -> list[Any]:
        """:meth:`reduce` of several values."""
        return [self.reduce(reduce_op, value, where, options) for value, where in value_destination_pairs]

    def broadcast(self, tensor: Any, destinations: Any) -> Any:
        """The tensor itself: programs over several devices take it from where it is."""
        del destinations
        return tensor

    @staticmethod
    def reduce_implementation(*args: Any, **kwargs: Any) -> Any:
        """Not supported. XLA sums over devices, and a custom algorithm would never be called."""
        raise NotImplementedError(NEVER_CALLED)

    @staticmethod
    def batch_reduce_implementation(*args: Any, **kwargs: Any) -> Any:
        """Not supported. XLA sums over devices, and a custom algorithm would never be called."""
        raise NotImplementedError(NEVER_CALLED)

    @staticmethod
    def broadcast_implementation(*args: Any, **kwargs: Any) -> Any:
        """Not supported. XLA sums over devices, and a custom algorithm would never be called."""
        raise NotImplementedError(NEVER_CALLED)


class NcclAllReduce(CrossDeviceOps):
    """See :class:`CrossDeviceOps`."""


class HierarchicalCopyAllReduce(CrossDeviceOps):
    """See :class:`CrossDeviceOps`."""


class ReductionToOneDevice(CrossDeviceOps):
    """See :class:`CrossDeviceOps`."""

    def __init__(self, reduce_to_device: object = None, accumulation_fn: object = None) -> None:
        super().__init__()
        del reduce_to_device, accumulation_fn


def check_cross_device_ops(given: object) -> None:
    """Refuses a custom algorithm, which would never be called."""
    known = (CrossDeviceOps, NcclAllReduce, HierarchicalCopyAllReduce, ReductionToOneDevice)
    if given is not None and type(given) not in known:
        raise NotImplementedError(CUSTOM_ALGORITHM.format(given=given))
