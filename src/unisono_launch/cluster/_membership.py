"""Which processes take part in a training, and which of them this is: all that is needed to join them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, cast

from unisono_launch.cluster._address import split_address, split_host
from unisono_launch.cluster._spec import ClusterSpec

Role = Literal["chief", "worker", "evaluator"]

_ROLES: Final[tuple[str, ...]] = ("chief", "worker", "evaluator")

_PARAMETER_SERVERS = """The cluster of {source} has parameter servers ('ps': {servers}), which \
MultiWorkerMirroredStrategy cannot use: its workers train in lockstep, and each holds the variables.
Use unisono.ParameterServerStrategy; or remove the job 'ps' and make its machines workers."""

_WHICH_TASK = """{source} has a cluster, and does not say which task of it this process is: task type {task_type!r}, \
index {task_id!r}.
Give both: "task": {{"type": "worker", "index": 0}} in TF_CONFIG, or task_type="worker", task_id=0 to a resolver."""


@dataclass(frozen=True, kw_only=True)
class Membership:
    """Which process this is in the group that trains together.

    >>> alone = Membership(num_processes=1, process_id=0, coordinator=None, names=("worker 0",), source="nothing")
    >>> alone.is_chief
    True
    """

    num_processes: int
    """How many processes train together: the chief and the workers. An evaluator is alone in its group."""
    process_id: int
    """This one's number among them. The chief is 0."""
    coordinator: str | None
    """`host:port` where process 0 lets its peers join. None where there are no peers."""
    names: tuple[str, ...]
    """What errors call the processes, one each: 'worker 1 at host:port'."""
    role: Role = "worker"
    """The job that this process has in the cluster. Without a job 'chief' it is 'worker' 0 that is the chief."""
    local_rank: int = 0
    """This one's number among the processes of its machine, by which they divide its devices …"""
    local_size: int = 1
    """… and how many they are."""
    takes_gpu_of_local_rank: bool = False
    """Whether the launcher starts a process for each GPU, shows all GPUs of the machine to each of them, and leaves it
    to the process to take the GPU number `local_rank`. False where the visible GPUs are divided already."""
    source: str
    """From which variables, or from which resolver, this is known."""

    def __post_init__(self) -> None:
        if not 0 <= self.process_id < self.num_processes:
            raise ValueError(
                f"{self.source} says that this is process {self.process_id} of {self.num_processes}. "
                f"Processes are numbered from 0 to one less than their number."
            )
        if not 0 <= self.local_rank < self.local_size <= self.num_processes:
            raise ValueError(
                f"{self.source} says that this is process {self.local_rank} of {self.local_size} on its machine, "
                f"of {self.num_processes} in all."
            )
        if len(self.names) != self.num_processes:
            raise ValueError(f"{self.source} names {len(self.names)} of {self.num_processes} processes.")
        if self.coordinator is not None:
            split_address(self.coordinator)
        elif self.num_processes > 1:
            raise ValueError(f"{self.source} does not say where the coordinator of {self.num_processes} processes is.")

    @property
    def is_chief(self) -> bool:
        """Whether this process writes for its group: the first of those that train, or an evaluator."""
        return self.process_id == 0

    @property
    def name(self) -> str:
        """What errors call this process."""
        return self.names[self.process_id]


def membership_of_task(spec: ClusterSpec, task_type: str | None, task_id: int | None, *, source: str) -> Membership:
    """The membership of task `task_id` of job `task_type`: the chief first, then the workers by index.

    >>> cluster = ClusterSpec({"chief": ["a:1"], "worker": ["b:1", "b:2"]})
    >>> membership_of_task(cluster, "worker", 1, source="an example").names
    ('chief 0 at a:1', 'worker 0 at b:1', 'worker 1 at b:2')
    """
    if not spec:
        return Membership(num_processes=1, process_id=0, coordinator=None, names=("worker 0",), source=source)
    _check_jobs(spec, source)
    if task_type is None or task_id is None:
        raise ValueError(_WHICH_TASK.format(source=source, task_type=task_type, task_id=task_id))
    if task_type == "evaluator":  # may be missing in the cluster, as in TensorFlow: no process connects to it
        names = (f"evaluator {task_id}",)
        return Membership(num_processes=1, process_id=0, coordinator=None, names=names, role="evaluator", source=source)
    tasks = [(job, i) for job in _ROLES[:2] if job in spec.jobs for i in spec.task_indices(job)]
    if (task_type, task_id) not in tasks:
        raise ValueError(
            f"{source} says that this is {task_type!r} {task_id}, which is not in its cluster {spec.as_dict()}. "
            f"It has {', '.join(f'{job} {i}' for job, i in tasks)}. Give each process the index of one of these."
        )
    process_id = tasks.index((task_type, task_id))
    addresses = [spec.task_address(job, i) for job, i in tasks]
    hosts = [split_host(address) for address in addresses]
    if len(tasks) > 1:
        try:
            split_address(addresses[0])
        except ValueError as error:
            raise ValueError(f"{source}, {tasks[0][0]} {tasks[0][1]}: {error}") from None
    return Membership(
        num_processes=len(tasks),
        process_id=process_id,
        coordinator=addresses[0] if len(tasks) > 1 else None,
        names=tuple(f"{job} {i} at {address}" for (job, i), address in zip(tasks, addresses, strict=True)),
        role=cast(Role, task_type),
        local_rank=hosts[:process_id].count(hosts[process_id]),
        local_size=hosts.count(hosts[process_id]),
        source=source,
    )


def _check_jobs(spec: ClusterSpec, source: str) -> None:
    if "ps" in spec.jobs and spec.num_tasks("ps"):
        raise ValueError(_PARAMETER_SERVERS.format(source=source, servers=spec.as_dict()["ps"]))
    unknown = [job for job in spec.jobs if job not in (*_ROLES, "ps")]
    if unknown:
        hint = " TensorFlow 1's 'master' is now called 'chief'." if "master" in unknown else ""
        raise ValueError(f"{source} has the jobs {unknown}. Expected 'chief', 'worker' and 'evaluator' only.{hint}")
    for job in ("chief", "evaluator"):
        if job in spec.jobs and spec.num_tasks(job) > 1:
            raise ValueError(f"{source} has {spec.num_tasks(job)} tasks in job {job!r}. There is at most one.")
    for job in spec.jobs:
        indices = spec.task_indices(job)
        if indices != list(range(len(indices))):
            raise ValueError(
                f"{source} has the tasks {indices} in job {job!r}. Every process must know all: number them from 0, "
                "without gaps."
            )
