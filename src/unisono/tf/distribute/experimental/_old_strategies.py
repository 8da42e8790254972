"""Strategies with the signatures that they had while they were experimental."""

from __future__ import annotations

from typing import Any

from unisono._src import strategy
from unisono._src.strategy import CommunicationImplementation, CommunicationOptions
from unisono.tf._unsupported import unsupported_class


class MultiWorkerMirroredStrategy(strategy.MultiWorkerMirroredStrategy):
    """`tf.distribute.MultiWorkerMirroredStrategy` with its older signature.

    Args:
        communication: accepted, without effect: XLA chooses.
        cluster_resolver: the resolver of the cluster; None reads the environment.
    """

    def __init__(
        self,
        communication: CommunicationImplementation = CommunicationImplementation.AUTO,
        cluster_resolver: Any = None,
    ) -> None:
        super().__init__(cluster_resolver, CommunicationOptions(implementation=communication))


class TPUStrategy(strategy.TPUStrategy):
    """`tf.distribute.TPUStrategy` with its older signature."""

    def __init__(self, tpu_cluster_resolver: Any = None, device_assignment: Any = None) -> None:
        super().__init__(tpu_cluster_resolver, device_assignment)


class CollectiveHints(CommunicationOptions):
    """The older name of `CommunicationOptions`."""

    def __init__(self, bytes_per_pack: int = 0, timeout_seconds: float | None = None) -> None:
        super().__init__(bytes_per_pack, timeout_seconds)


PreemptionWatcher = unsupported_class(
    "tf.distribute.experimental.PreemptionWatcher",
    "preemption notices are handled only in training loops; use "
    "tf.distribute.experimental.PreemptionCheckpointHandler, or BackupAndRestore in fit: both handle SIGTERM.",
)
