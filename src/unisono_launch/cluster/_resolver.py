"""`ClusterResolver`: the interface of everything that knows a cluster."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping

from unisono_launch.cluster._accelerators import local_accelerators
from unisono_launch.cluster._membership import Membership, membership_of_task
from unisono_launch.cluster._spec import ClusterSpec


class ClusterResolver(ABC):
    """Says which processes there are and which one this is.

    A user-defined resolver implements :meth:`cluster_spec`, and sets `_task_type`, `_task_id` and, where there is one,
    `_rpc_layer`. The other members have defaults; override what differs.

    >>> class TwoMachines(ClusterResolver):
    ...     _task_type, _task_id = "worker", 1
    ...
    ...     def cluster_spec(self):
    ...         return ClusterSpec({"worker": ["a:2222", "b:2222"]})
    >>> TwoMachines().membership().process_id, TwoMachines().master()
    (1, 'b:2222')
    """

    _task_type: str | None = None
    _task_id: int | None = None
    _rpc_layer: str | None = None
    _environ: Mapping[str, str] = os.environ

    @abstractmethod
    def cluster_spec(self) -> ClusterSpec:
        """The jobs of the cluster and the addresses of their tasks."""

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str | None:
        """The address of the given task, otherwise of this process, as TensorFlow 1's sessions wanted it."""
        task_type = self.task_type if task_type is None else task_type
        task_id = self.task_id if task_id is None else task_id
        if task_type is None or task_id is None:
            return ""
        return master_url(self.cluster_spec().task_address(task_type, task_id), rpc_layer or self.rpc_layer)

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: object = None
    ) -> dict[str, int]:
        """The accelerators of a task by kind, such as `{"GPU": 2}`.

        They can be counted on this machine only; `{}` for any task but this one.
        """
        del config_proto
        if task_type not in (None, self.task_type) or task_id not in (None, self.task_id):
            return {}
        return local_accelerators(self._environ)

    def membership(self) -> Membership:
        """Which process this is among those that train together."""
        return membership_of_task(self.cluster_spec(), self.task_type, self.task_id, source=type(self).__name__)

    @property
    def environment(self) -> str | None:
        """TensorFlow's name for where it runs: "google" inside Google, else empty."""
        return ""

    @property
    def task_type(self) -> str | None:
        """The job of this process: "chief", "worker" or "evaluator"; None if it is not known."""
        return self._task_type

    @task_type.setter
    def task_type(self, task_type: str | None) -> None:
        self._task_type = task_type

    @property
    def task_id(self) -> int | None:
        """The index of this process in its job; None if it is not known."""
        return self._task_id

    @task_id.setter
    def task_id(self, task_id: int | None) -> None:
        self._task_id = task_id

    @property
    def rpc_layer(self) -> str | None:
        """What :meth:`master` puts before an address, as in `grpc://host:port`."""
        return self._rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer: str | None) -> None:
        self._rpc_layer = rpc_layer


def membership(resolver: ClusterResolver) -> Membership:
    """Which process this is among those that train together, by `resolver`."""
    return resolver.membership()


def master_url(address: str, rpc_layer: str | None) -> str:
    """`address` after the name of its protocol, if it has one.

    >>> master_url("a:2222", "grpc"), master_url("a:2222", None)
    ('grpc://a:2222', 'a:2222')
    """
    return f"{rpc_layer}://{address}" if rpc_layer else address
