"""`ClusterSpec`: the jobs of a cluster and the addresses of their tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ClusterSpec:
    """Jobs by name, each with its tasks by index: `tf.train.ClusterSpec` without protocol buffers.

    >>> cluster = ClusterSpec({"chief": ["a:2222"], "worker": {0: "b:2222", 2: "c:2222"}})
    >>> cluster.as_dict()
    {'chief': ['a:2222'], 'worker': {0: 'b:2222', 2: 'c:2222'}}
    >>> cluster.num_tasks("worker"), cluster.task_address("worker", 2)
    (2, 'c:2222')
    """

    def __init__(self, cluster: Mapping[str, Any] | ClusterSpec) -> None:
        """Copies `cluster`: job name -> list of addresses, or dictionary from task index to address."""
        if isinstance(cluster, ClusterSpec):
            cluster = cluster.as_dict()
        if not isinstance(cluster, Mapping):
            raise TypeError(
                f"A ClusterSpec is made of a dictionary from job names to lists of addresses; got {cluster!r}. "
                "Write ClusterSpec({'worker': ['host1:2222', 'host2:2222']})."
            )
        self._tasks: dict[str, dict[int, str]] = {
            _check_name(job): _index_tasks(job, tasks) for job, tasks in cluster.items()
        }

    def as_dict(self) -> dict[str, list[str] | dict[int, str]]:
        """Job name -> list of addresses, or dictionary by index where indices are missing or there is no task."""
        return {job: list(tasks.values()) if _is_dense(tasks) else dict(tasks) for job, tasks in self._tasks.items()}

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs."""
        return list(self._tasks)

    def num_tasks(self, job_name: str) -> int:
        """How many tasks the job has."""
        return len(self._job(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """The indices of the job's tasks, in order."""
        return list(self._job(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """The address of one task."""
        tasks = self._job(job_name)
        if task_index not in tasks:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}: it has {list(tasks)}.")
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[str | None]:
        """The addresses of the job's tasks by index; None where an index is missing."""
        tasks = self._job(job_name)
        return [tasks.get(index) for index in range(max(tasks, default=-1) + 1)]

    def _job(self, job_name: str) -> dict[int, str]:
        if job_name not in self._tasks:
            raise ValueError(f"No such job in cluster: {job_name!r}. It has {self.jobs}.")
        return self._tasks[job_name]

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def __eq__(self, other: object) -> bool:
        return self._tasks == (other._tasks if isinstance(other, ClusterSpec) else other)

    __hash__ = None  # type: ignore[assignment]  # as in TensorFlow: equal to a dictionary, which has none

    def __repr__(self) -> str:
        jobs = self.as_dict()
        return "ClusterSpec({" + ", ".join(f"{job!r}: {jobs[job]!r}" for job in sorted(jobs)) + "})"


def _check_name(job: object) -> str:
    if not isinstance(job, str):
        raise TypeError(f"A job's name is a string; got {job!r}.")
    return job


def _index_tasks(job: str, tasks: object) -> dict[int, str]:
    if isinstance(tasks, list | tuple):
        indexed = dict(enumerate(tasks))
    elif isinstance(tasks, Mapping):
        indexed = {int(index): tasks[index] for index in tasks}
    else:
        raise TypeError(
            f"The tasks of job {job!r} are a list of addresses, or a dictionary from index to address; got {tasks!r}."
        )
    for address in indexed.values():
        if not isinstance(address, str):
            raise TypeError(f"The address of a task is a string such as 'host1:2222'; job {job!r} has {address!r}.")
    return dict(sorted(indexed.items()))


def _is_dense(tasks: dict[int, str]) -> bool:
    return bool(tasks) and max(tasks) + 1 == len(tasks)
