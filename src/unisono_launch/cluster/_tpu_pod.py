"""TPU pods: one process on each machine of a slice, or of several slices."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import ClassVar, Final

from unisono_launch.cluster._address import join_address, split_host
from unisono_launch.cluster._membership import Membership, membership_of_task
from unisono_launch.cluster._resolver import ClusterResolver
from unisono_launch.cluster._spec import ClusterSpec
from unisono_launch.cluster._variables import read_int

# The port that JAX takes there. It is free: the machines of a pod run one job.
_PORT: Final = 8482


class TPUPodClusterResolver(ClusterResolver):
    """Reads the variables that Google Cloud sets on the machines of a TPU slice.

    `TPU_WORKER_HOSTNAMES` (or `TPU_PROCESS_ADDRESSES`) lists the machines of this slice, `TPU_WORKER_ID` is this one's
    number. Where slices are joined, `MEGASCALE_NUM_SLICES`, `MEGASCALE_SLICE_ID` and `MEGASCALE_COORDINATOR_ADDRESS`
    say how; the names of the machines in other slices are not known.

    >>> environ = {"TPU_WORKER_HOSTNAMES": "t0,t1", "TPU_WORKER_ID": "1"}
    >>> TPUPodClusterResolver(environ=environ).membership().names
    ('worker 0 at t0:8482', 'worker 1 at t1:8482')
    """

    _VARIABLES: ClassVar[tuple[str, ...]] = (
        "TPU_WORKER_ID",
        "TPU_WORKER_HOSTNAMES",
        "TPU_PROCESS_ADDRESSES",
        "MEGASCALE_NUM_SLICES",
        "MEGASCALE_SLICE_ID",
        "MEGASCALE_COORDINATOR_ADDRESS",
    )

    def __init__(self, *, rpc_layer: str | None = "grpc", environ: Mapping[str, str] = os.environ) -> None:
        self._environ = environ
        self._rpc_layer = rpc_layer
        self._task_type = "worker"
        per_slice = len(_addresses(environ))
        slice_id = read_int(environ, "MEGASCALE_SLICE_ID", default=0)
        self._task_id = slice_id * per_slice + read_int(environ, "TPU_WORKER_ID")

    @classmethod
    def _look(cls, environ: Mapping[str, str]) -> tuple[bool, str]:
        """Whether `environ` has a cluster of this kind, and why."""
        if not environ.get("TPU_WORKER_ID") or not _addresses(environ):
            return False, "TPU_WORKER_ID or TPU_WORKER_HOSTNAMES is not set: not a machine of a TPU pod"
        count = len(_addresses(environ)) * read_int(environ, "MEGASCALE_NUM_SLICES", least=1, default=1)
        return count > 1, f"one of {count} machines of a TPU pod"

    def cluster_spec(self) -> ClusterSpec:
        """All machines, as workers."""
        own = [join_address(split_host(address), _PORT) for address in _addresses(self._environ)]
        num_slices = read_int(self._environ, "MEGASCALE_NUM_SLICES", least=1, default=1)
        slice_id = read_int(self._environ, "MEGASCALE_SLICE_ID", default=0)
        workers = [
            own[i] if number == slice_id else f"slice-{number}-worker-{i}.invalid:0"
            for number in range(num_slices)
            for i in range(len(own))
        ]
        head = self._environ.get("MEGASCALE_COORDINATOR_ADDRESS")
        if head:
            workers[0] = join_address(split_host(head), _PORT)
        return ClusterSpec({"worker": workers})

    def membership(self) -> Membership:
        """Which process this is among those that train together."""
        source = ", ".join(name for name in self._VARIABLES if self._environ.get(name))
        return membership_of_task(self.cluster_spec(), self.task_type, self.task_id, source=source)


def _addresses(environ: Mapping[str, str]) -> list[str]:
    text = environ.get("TPU_PROCESS_ADDRESSES") or environ.get("TPU_WORKER_HOSTNAMES") or ""
    return [part.strip() for part in text.split(",") if part.strip()]
