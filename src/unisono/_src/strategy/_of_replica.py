"""The values of all replicas inside a `merge_call`."""

from __future__ import annotations

from typing import Any

from unisono._src.replicas.context import Replica
from unisono._src.replicas.values import DistributedValues


class OfReplica(DistributedValues):
    """A value that each replica has, in a `merge_call`: known here by the one of the replica that runs."""

    def __init__(self, own: Any, replica: Replica):
        self.own, self.replica = own, replica

    @property
    def values(self) -> tuple[Any, ...]:
        return tuple(self.replica.stack(self.own))
