"""`TF_CONFIG`: the cluster as TensorFlow's users and their platforms set it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, ClassVar

from unisono_launch.cluster._membership import Membership, membership_of_task
from unisono_launch.cluster._resolver import ClusterResolver, master_url
from unisono_launch.cluster._spec import ClusterSpec

_EXAMPLE = '{"cluster": {"worker": ["host1:2222", "host2:2222"]}, "task": {"type": "worker", "index": 0}}'


class TFConfigClusterResolver(ClusterResolver):
    """Reads the variable `TF_CONFIG` at each call. What is passed here overrides what is set there.

    >>> environ = {"TF_CONFIG": '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}}'}
    >>> resolver = TFConfigClusterResolver(environ=environ)
    >>> resolver.cluster_spec(), resolver.task_type, resolver.task_id
    (ClusterSpec({'worker': ['a:1', 'b:1']}), 'worker', 1)
    """

    _VARIABLES: ClassVar[tuple[str, ...]] = ("TF_CONFIG",)

    def __init__(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
        environment: str | None = None,
        *,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._task_type = task_type
        self._task_id = task_id
        self._rpc_layer = rpc_layer
        self._environment = environment
        self._environ = environ

    @classmethod
    def _look(cls, environ: Mapping[str, str]) -> tuple[bool, str]:
        """Whether `environ` has a cluster of this kind, and why."""
        if not environ.get("TF_CONFIG"):
            return False, "TF_CONFIG is not set"
        has_cluster = bool(_read(environ).get("cluster"))
        return has_cluster, "it has a cluster" if has_cluster else "TF_CONFIG has no cluster: this process is alone"

    def cluster_spec(self) -> ClusterSpec:
        """The cluster of `TF_CONFIG`; empty without one."""
        cluster = _read(self._environ).get("cluster", {})
        try:
            return ClusterSpec(cluster)
        except (TypeError, ValueError) as error:
            raise ValueError(f"The cluster of TF_CONFIG is {cluster!r}. {error} Expected: {_EXAMPLE}") from None

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """The address of the given task, otherwise of this process; empty if it is alone."""
        session_master = _read(self._environ).get("session_master")
        if session_master is not None:
            return str(session_master)
        spec = self.cluster_spec()
        if sum(spec.num_tasks(job) for job in spec.jobs) < 2:
            return ""
        task_type = self.task_type if task_type is None else task_type
        task_id = self.task_id if task_id is None else task_id
        return master_url(spec.task_address(task_type, task_id), rpc_layer or self.rpc_layer)  # type: ignore[arg-type]

    def membership(self) -> Membership:
        """Which process this is among those that train together."""
        return membership_of_task(self.cluster_spec(), self.task_type, self.task_id, source="TF_CONFIG")

    @property
    def task_type(self) -> str | None:
        """The job of this process."""
        task_type = self._task().get("type") if self._task_type is None else self._task_type
        return None if task_type is None else str(task_type)

    @task_type.setter
    def task_type(self, task_type: str | None) -> None:
        self._task_type = task_type

    @property
    def task_id(self) -> int | None:
        """The index of this process in its job."""
        index = self._task().get("index") if self._task_id is None else self._task_id
        try:
            return None if index is None else int(index)
        except (TypeError, ValueError):
            raise ValueError(f"The task index of TF_CONFIG is {index!r}, not a number. Expected: {_EXAMPLE}") from None

    @task_id.setter
    def task_id(self, task_id: int | None) -> None:
        self._task_id = task_id

    @property
    def rpc_layer(self) -> str | None:
        """What :meth:`master` puts before an address."""
        return _read(self._environ).get("rpc_layer") if self._rpc_layer is None else self._rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer: str | None) -> None:
        self._rpc_layer = rpc_layer

    @property
    def environment(self) -> str | None:
        """The environment that was passed, else that of `TF_CONFIG`."""
        return _read(self._environ).get("environment") if self._environment is None else self._environment

    def _task(self) -> dict[str, Any]:
        task = _read(self._environ).get("task", {})
        if not isinstance(task, dict):
            raise ValueError(f"The task of TF_CONFIG is {task!r}. Expected: {_EXAMPLE}")
        return task


def has_parameter_servers(environ: Mapping[str, str]) -> bool:
    """Whether `TF_CONFIG` has a cluster for `ParameterServerStrategy`, whose tasks do not join each other.

    >>> has_parameter_servers({"TF_CONFIG": '{"cluster": {"chief": ["a:1"], "worker": ["b:1"], "ps": ["c:1"]}}'})
    True
    """
    try:
        return bool(json.loads(environ.get("TF_CONFIG", ""))["cluster"].get("ps"))
    except (AttributeError, KeyError, TypeError, ValueError):
        return False


def _read(environ: Mapping[str, str]) -> dict[str, Any]:
    text = environ.get("TF_CONFIG") or "{}"
    try:
        config = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"TF_CONFIG is not JSON ({error}): {text}\nExpected: {_EXAMPLE}") from None
    if not isinstance(config, dict):
        raise ValueError(f"TF_CONFIG is not a JSON object: {text}\nExpected: {_EXAMPLE}")
    return config
