"""Clusters: nothing is connected before a strategy is made."""

from __future__ import annotations

from typing import Any

from unisono_launch.cluster import ClusterResolver, ClusterSpec

NOT_A_CLUSTER = "experimental_connect_to_cluster: expected a cluster resolver or a tf.train.ClusterSpec, got {given!r}."


def experimental_connect_to_cluster(
    cluster_spec_or_resolver: Any,
    job_name: str = "localhost",
    task_index: int = 0,
    protocol: str | None = None,
    make_master_device_default: bool = True,
    cluster_device_filters: Any = None,
) -> None:
    """Checks that this is a cluster, and does nothing else: the strategy that is made next joins it."""
    if not isinstance(cluster_spec_or_resolver, ClusterResolver | ClusterSpec):
        raise TypeError(NOT_A_CLUSTER.format(given=cluster_spec_or_resolver))


def experimental_connect_to_host(remote_host: Any = None, job_name: str = "worker") -> None:
    """Does nothing: scripts run on the machine that has the devices, and strategies find them there."""
