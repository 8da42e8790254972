"""Kubernetes: the pods of an indexed Job, or of a JobSet with one such Job."""

from __future__ import annotations

import enum
import os
from collections.abc import Mapping
from typing import Any, ClassVar

from unisono_launch.cluster._membership import Membership, membership_of_task
from unisono_launch.cluster._resolver import ClusterResolver
from unisono_launch.cluster._spec import ClusterSpec
from unisono_launch.cluster._variables import NUM_NODES, SUBDOMAIN, find_inner_launcher, read_int

_MANIFEST = """Expected an indexed Job whose pods find each other through a headless Service:
    spec:
      completionMode: Indexed
      completions: 4
      parallelism: 4
      template:
        spec:
          subdomain: my-service        # the headless Service; in a JobSet: the JobSet's name
          containers:
          - env:
            - {name: UNISONO_NUM_NODES, value: "4"}
            - {name: UNISONO_SUBDOMAIN, value: my-service}"""


class KubernetesExecutableLocation(enum.Enum):
    """Where TensorFlow's resolver talked to the API server from."""

    WITHIN_CLUSTER = 0
    OFF_CLUSTER = 1


class KubernetesClusterResolver(ClusterResolver):
    """Finds the pods of an indexed Job by their names, without the API server.

    Kubernetes gives each pod of an indexed Job its number (`JOB_COMPLETION_INDEX`) and the host name `<job>-<index>`;
    through a headless Service the pods find each other as `<job>-<index>.<service>`. The manifest has to set two
    things that a pod cannot know: how many pods there are, in `UNISONO_NUM_NODES`, and the Service, in
    `UNISONO_SUBDOMAIN`. In a JobSet the Service is the JobSet itself (or its `network.subdomain`), and all pods are in
    one replicated job with `replicas: 1`.

    TensorFlow's form, which asks the API server for pods with given labels, is refused: it needs the Kubernetes
    client, a service account with rights, and does not say which pod this is.

    >>> environ = {
    ...     "JOB_COMPLETION_INDEX": "1", "HOSTNAME": "train-1", "UNISONO_NUM_NODES": "2", "UNISONO_SUBDOMAIN": "svc"
    ... }
    >>> KubernetesClusterResolver(environ=environ).cluster_spec()
    ClusterSpec({'worker': ['train-0.svc:8470', 'train-1.svc:8470']})
    """

    _VARIABLES: ClassVar[tuple[str, ...]] = ("JOB_COMPLETION_INDEX", "HOSTNAME", NUM_NODES, SUBDOMAIN)

    def __init__(
        self,
        job_to_label_mapping: dict[str, list[str]] | None = None,
        tf_server_port: int = 8470,
        rpc_layer: str = "grpc",
        override_client: Any = None,
        executable_location: KubernetesExecutableLocation = KubernetesExecutableLocation.WITHIN_CLUSTER,
        *,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """TensorFlow's arguments. Every pod has its own network, so one port serves all: `tf_server_port`."""
        inside = executable_location is KubernetesExecutableLocation.WITHIN_CLUSTER
        if job_to_label_mapping is not None or override_client is not None or not inside:
            raise NotImplementedError(
                "KubernetesClusterResolver does not ask the API server for pods by label. In a pod of an indexed Job, "
                f"call it without job_to_label_mapping, override_client and executable_location. {_MANIFEST}"
            )
        self._environ = environ
        self._rpc_layer = rpc_layer
        self._task_type = "worker"
        self._task_id = index = read_int(environ, "JOB_COMPLETION_INDEX")
        self._addresses = [f"{host}:{tf_server_port}" for host in _hosts(environ, index)]

    @classmethod
    def _look(cls, environ: Mapping[str, str]) -> tuple[bool, str]:
        """Whether `environ` has a cluster of this kind, and why."""
        index, num_nodes = environ.get("JOB_COMPLETION_INDEX"), environ.get(NUM_NODES)
        if not index:
            return False, "JOB_COMPLETION_INDEX is not set: not a pod of an indexed Job"
        if not num_nodes:  # each pod may train a model by itself
            return False, f"{NUM_NODES} is not set: the pods of this indexed Job do not train together"
        inner = find_inner_launcher(environ, outer="Kubernetes")
        if inner:
            return False, inner
        return num_nodes != "1", f"pod {index} of {num_nodes} of an indexed Job"

    def cluster_spec(self) -> ClusterSpec:
        """All pods, as workers."""
        return ClusterSpec({"worker": self._addresses})

    def membership(self) -> Membership:
        """Which process this is among those that train together."""
        return membership_of_task(self.cluster_spec(), self.task_type, self.task_id, source=", ".join(self._VARIABLES))


def _hosts(environ: Mapping[str, str], index: int) -> list[str]:
    num_nodes = read_int(environ, NUM_NODES, least=1)
    hostname, subdomain = environ.get("HOSTNAME", ""), environ.get(SUBDOMAIN)
    job = hostname.split(".")[0].removesuffix(f"-{index}")
    if not subdomain or job == hostname.split(".")[0]:
        raise ValueError(
            f"The names of the other pods do not follow from HOSTNAME={hostname!r}, JOB_COMPLETION_INDEX={index} and "
            f"{SUBDOMAIN}={subdomain!r}. {_MANIFEST}"
        )
    return [f"{job}-{i}.{subdomain}" for i in range(num_nodes)]
