"""The base of kinds that know a rank, a size and the coordinator, and no address of other processes."""

from __future__ import annotations

from unisono_launch.cluster._membership import Membership
from unisono_launch.cluster._resolver import ClusterResolver
from unisono_launch.cluster._spec import ClusterSpec


class RankedResolver(ClusterResolver):
    """Knows a membership and nothing else. All processes are workers, the first is the chief.

    The cluster has as many workers as there are processes. Only the first one's address is known; the rest get names
    that can never be one (`.invalid`, RFC 2606).
    """

    def __init__(self, membership: Membership, rpc_layer: str | None) -> None:
        self._membership = membership
        self._task_type = "worker"
        self._task_id = membership.process_id
        self._rpc_layer = rpc_layer

    def cluster_spec(self) -> ClusterSpec:
        """As many workers as there are processes."""
        found = self._membership
        unknown = [f"worker-{i}.invalid:0" for i in range(found.num_processes)]
        return ClusterSpec({"worker": [found.coordinator or unknown[0], *unknown[1:]]})

    def membership(self) -> Membership:
        """Which process this is among those that train together."""
        return self._membership


def name_workers(size: int, first_address: str | None) -> tuple[str, ...]:
    """What errors call the processes: by their rank, and the first one also by its address.

    >>> name_workers(2, "host1:2222")
    ('worker 0 at host1:2222', 'worker 1')
    """
    first = f"worker 0 at {first_address}" if first_address else "worker 0"
    return (first, *(f"worker {i}" for i in range(1, size)))
