"""`tf.train.ClusterSpec` and the messages that describe a cluster: jobs, and the addresses of their tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from unisono import cluster_resolver
from unisono.tf._unsupported import unsupported_class


@dataclass
class JobDef:
    """A job: the addresses of its tasks, by index."""

    name: str = ""
    tasks: dict[int, str] = field(default_factory=dict)


@dataclass
class ClusterDef:
    """The jobs of a cluster."""

    job: list[JobDef] = field(default_factory=list)


@dataclass
class ServerDef:
    """A task of a cluster."""

    cluster: ClusterDef = field(default_factory=ClusterDef)
    job_name: str = ""
    task_index: int = 0
    protocol: str = "grpc"


class ClusterSpec(cluster_resolver.ClusterSpec):
    """Jobs by name, each with its tasks.

    >>> ClusterSpec({"worker": ["a:2222"]}).as_cluster_def()
    ClusterDef(job=[JobDef(name='worker', tasks={0: 'a:2222'})])
    """

    def __init__(self, cluster: Mapping[str, Any] | ClusterDef | cluster_resolver.ClusterSpec) -> None:
        super().__init__({job.name: job.tasks for job in cluster.job} if isinstance(cluster, ClusterDef) else cluster)

    def as_cluster_def(self) -> ClusterDef:
        """Converts to a message."""
        tasks = {job: {index: self.task_address(job, index) for index in self.task_indices(job)} for job in self.jobs}
        return ClusterDef([JobDef(job, tasks[job]) for job in sorted(tasks)])


Coordinator = unsupported_class(
    "tf.train.Coordinator", "there are no queues with threads to stop; use Python's threading.Event."
)
