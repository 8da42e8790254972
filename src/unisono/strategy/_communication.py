"""How values travel between devices. XLA decides; what users may say about it is accepted here."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class CommunicationImplementation(enum.Enum):
    """Accepted, and of no effect: NCCL between GPUs, gloo between CPUs, ICI between TPUs."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


@dataclass(frozen=True)
class CommunicationOptions:
    """What tf.distribute lets one say about collectives.

    Args:
        bytes_per_pack: accepted, without effect: XLA combines what belongs together.
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
    """Accepted by strategies for the sake of scripts that pass one. XLA chooses how to sum."""

    def __init__(self, num_packs: int = 1) -> None:
        self.num_packs = num_packs


class NcclAllReduce(CrossDeviceOps):
    """See :class:`CrossDeviceOps`."""


class HierarchicalCopyAllReduce(CrossDeviceOps):
    """See :class:`CrossDeviceOps`."""


class ReductionToOneDevice(CrossDeviceOps):
    """See :class:`CrossDeviceOps`."""

    def __init__(self, reduce_to_device: object = None, accumulation_fn: object = None) -> None:
        super().__init__()
        del reduce_to_device, accumulation_fn
