"""`UnionResolver`: several resolvers of one cluster, where the first that knows a value decides it."""

from __future__ import annotations

from typing import TypeVar

from unisono_launch.cluster._membership import Membership, membership_of_task
from unisono_launch.cluster._resolver import ClusterResolver, master_url
from unisono_launch.cluster._spec import ClusterSpec

T = TypeVar("T")


class UnionResolver(ClusterResolver):
    """Takes the cluster that all resolvers agree on, and everything else from the first of them that knows it.

    TensorFlow joins the tasks of different clusters into one list, which doubles a cluster that was named twice.
    Here the clusters must be equal, or empty where a resolver has none.

    >>> from unisono_launch.cluster import SimpleClusterResolver
    >>> cluster = ClusterSpec({"worker": ["host1:2222", "host2:2222"]})
    >>> two_gpus = SimpleClusterResolver(cluster, num_accelerators={"GPU": 2})
    >>> second = SimpleClusterResolver(cluster, task_type="worker", task_id=1)
    >>> both = UnionResolver(two_gpus, second)
    >>> both.num_accelerators(), both.task_id
    ({'GPU': 2}, 1)
    """

    def __init__(
        self,
        *resolvers: ClusterResolver,
        rpc_layer: str | None = None,
        task_type: str | None = None,
        task_id: int | None = None,
    ) -> None:
        if not resolvers:
            raise ValueError("UnionResolver needs at least one ClusterResolver.")
        for resolver in resolvers:
            if not isinstance(resolver, ClusterResolver):
                raise TypeError(f"UnionResolver is made of ClusterResolvers; got {resolver!r}.")
        self._resolvers = resolvers
        self._rpc_layer = _first_known(rpc_layer, *(resolver.rpc_layer for resolver in resolvers))
        self._task_type = _first_known(task_type, *(resolver.task_type for resolver in resolvers))
        self._task_id = _first_known(task_id, *(resolver.task_id for resolver in resolvers))

    def cluster_spec(self) -> ClusterSpec:
        """The cluster that all of them know."""
        known = [spec for spec in (resolver.cluster_spec() for resolver in self._resolvers) if spec]
        if any(spec != known[0] for spec in known):
            raise ValueError(
                f"UnionResolver got different clusters: {', '.join(map(repr, known))}. "
                "Write one ClusterSpec with all jobs and pass it to SimpleClusterResolver."
            )
        return known[0] if known else ClusterSpec({})

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str | None:
        """The address of the given task, otherwise the first resolver's master."""
        if task_type is not None and task_id is not None:
            return master_url(self.cluster_spec().task_address(task_type, task_id), rpc_layer or self._rpc_layer)
        return self._resolvers[0].master(rpc_layer=rpc_layer)

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: object = None
    ) -> dict[str, int]:
        """What the first resolver says."""
        return self._resolvers[0].num_accelerators(task_type, task_id, config_proto)

    def membership(self) -> Membership:
        """What a resolver says that knows this task: it may also know where the coordinator is."""
        spec = self.cluster_spec()
        for resolver in self._resolvers:
            if (resolver.task_type, resolver.task_id) == (self.task_type, self.task_id):
                return resolver.membership()
        return membership_of_task(spec, self.task_type, self.task_id, source="UnionResolver")

    @property
    def environment(self) -> str | None:
        """What the first resolver says."""
        return self._resolvers[0].environment


def _first_known(*values: T | None) -> T | None:
    return next((value for value in values if value is not None), None)
