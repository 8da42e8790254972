"""`SimpleClusterResolver`: a cluster that the program passes."""

from __future__ import annotations

from unisono_launch.cluster._resolver import ClusterResolver, master_url
from unisono_launch.cluster._spec import ClusterSpec


class SimpleClusterResolver(ClusterResolver):
    """Returns what was passed to it.

    >>> cluster = ClusterSpec({"worker": ["host1:2222", "host2:2222"]})
    >>> resolver = SimpleClusterResolver(cluster, task_type="worker", task_id=0, num_accelerators={"GPU": 8})
    >>> resolver.master("worker", 1, rpc_layer="grpc"), resolver.num_accelerators()
    ('grpc://host2:2222', {'GPU': 8})
    """

    def __init__(
        self,
        cluster_spec: ClusterSpec,
        master: str = "",
        task_type: str | None = None,
        task_id: int | None = None,
        environment: str = "",
        num_accelerators: dict[str, int] | None = None,
        rpc_layer: str | None = None,
    ) -> None:
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError(f"cluster_spec is a ClusterSpec; got {cluster_spec!r}. Write ClusterSpec(…) around it.")
        if not isinstance(master, str):
            raise TypeError(f"master is a string such as 'host1:2222'; got {master!r}.")
        self._cluster_spec = cluster_spec
        self._master = master
        self._task_type = task_type
        self._task_id = task_id
        self._environment = environment
        self._num_accelerators = num_accelerators
        self._rpc_layer = rpc_layer

    def cluster_spec(self) -> ClusterSpec:
        """The cluster that was passed."""
        return self._cluster_spec

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """The address of the given task, otherwise the master that was passed."""
        address = self._master
        if task_type is not None and task_id is not None:
            address = self._cluster_spec.task_address(task_type, task_id)
        return master_url(address, rpc_layer or self._rpc_layer)

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: object = None
    ) -> dict[str, int]:
        """What was passed; nothing is counted."""
        del task_type, task_id, config_proto
        return self._num_accelerators or {}

    @property
    def environment(self) -> str:
        """The environment that was passed."""
        return self._environment
