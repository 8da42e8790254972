"""SLURM: the tasks of an `srun` step."""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping
from dataclasses import replace
from typing import ClassVar, Final

from unisono_launch.cluster._address import derive_port, join_address, split_host
from unisono_launch.cluster._membership import Membership, membership_of_task
from unisono_launch.cluster._resolver import ClusterResolver
from unisono_launch.cluster._slurm_gpus import gpus_of_task
from unisono_launch.cluster._slurm_hostlist import expand_hostlist, expand_tasks_per_node
from unisono_launch.cluster._slurm_layout import correct_own_place, place_ranks
from unisono_launch.cluster._spec import ClusterSpec
from unisono_launch.cluster._variables import find_inner_launcher, read_int

_TENSORFLOW_PORT: Final = 8888

_UNKNOWN_HOSTS = """SLURM has distributed the tasks of this step by {distribution!r}, and does not say on which host \
task 0 is. Use `srun -m block` or `srun -m cyclic`; or name the file of the hosts by SLURM_HOSTFILE, on a file system \
that all nodes see; or say where task 0 is: export JAX_COORDINATOR_ADDRESS=host1:61500"""


class SlurmClusterResolver(ClusterResolver):
    """Finds the tasks of the `srun` step that this process is one of.

    Hosts and tasks come from `SLURM_STEP_NODELIST` and `SLURM_STEP_TASKS_PER_NODE` (else those of the job), in SLURM's
    order; TensorFlow sorts the hosts by name, which puts `n10` before `n2` and tasks onto the wrong hosts. The
    coordinator is on the host of the first task: at `port_base` if you give one, else at a port that follows from the
    job's and the step's number, so that jobs on the same node do not connect to each other. `JAX_COORDINATOR_ADDRESS`
    comes before both, as in JAX.

    The tasks are on their hosts as `srun -m` says (block, cyclic, plane, arbitrary with a `SLURM_HOSTFILE`), and this
    one is where `SLURMD_NODENAME` and `SLURM_LOCALID` say. If these contradict, the hosts of other tasks are not known.

    :meth:`cluster_spec` sets `CUDA_VISIBLE_DEVICES` to this task's share of the node's GPUs, as in TensorFlow. Where
    SLURM has divided the GPUs already (`--gpus-per-task`) that is what the task has; `auto_set_gpu=False` sets nothing.

    >>> environ = {
    ...     "SLURM_JOB_ID": "200505", "SLURM_STEP_ID": "0", "SLURM_PROCID": "2", "SLURM_STEP_NUM_TASKS": "4",
    ...     "SLURM_STEP_NODELIST": "gnode[10,20]", "SLURM_STEP_TASKS_PER_NODE": "2(x2)",
    ... }
    >>> resolver = SlurmClusterResolver(gpus_per_node=0, environ=environ)
    >>> resolver.cluster_spec().as_dict()["worker"]
    ['gnode10:8888', 'gnode10:8889', 'gnode20:8888', 'gnode20:8889']
    >>> found = resolver.membership()
    >>> found.name, found.coordinator
    ('worker 2 at gnode20:8888', 'gnode10:63463')
    """

    _VARIABLES: ClassVar[tuple[str, ...]] = (
        "SLURM_JOB_ID",
        "SLURM_STEP_ID",
        "SLURM_PROCID",
        "SLURM_STEP_NUM_TASKS",
        "SLURM_STEP_NODELIST",
        "SLURM_STEP_TASKS_PER_NODE",
        "SLURM_NTASKS",
        "SLURM_JOB_NODELIST",
        "SLURM_TASKS_PER_NODE",
        "SLURM_DISTRIBUTION",
        "SLURMD_NODENAME",
        "SLURM_LOCALID",
    )

    def __init__(
        self,
        jobs: dict[str, int] | None = None,
        port_base: int = _TENSORFLOW_PORT,
        gpus_per_node: int | None = None,
        gpus_per_task: int | None = None,
        tasks_per_node: int | dict[str, int] | None = None,
        auto_set_gpu: bool = True,
        rpc_layer: str = "grpc",
        *,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """TensorFlow's arguments; those that are left out come from the environment.

        Args:
            jobs: Job name -> number of its tasks. The ranks are given to the jobs in the order of their names.
            port_base: The port of the first task on a node; counted up for the next ones.
            gpus_per_node: How many GPUs each node has.
            gpus_per_task: How many of them a task gets.
            tasks_per_node: One number for all nodes, or host -> number.
            auto_set_gpu: Whether to set `CUDA_VISIBLE_DEVICES`.
            rpc_layer: What :meth:`master` puts before an address.
            environ: The environment, for tests.
        """
        _check_step(environ)
        self._environ = environ
        self._rpc_layer = rpc_layer
        self._port_base = port_base
        self._rank = read_int(environ, "SLURM_PROCID")
        tasks = _tasks(environ, tasks_per_node)
        self._tasks = place_ranks(tasks, environ)
        if tasks_per_node is None:
            self._tasks = correct_own_place(self._tasks, self._rank, environ)
        self._jobs = jobs or {"worker": _num_tasks(environ, default=len(self._tasks))}
        if sum(self._jobs.values()) != len(self._tasks):
            raise RuntimeError(
                f"Requested {sum(self._jobs.values())} tasks ({self._jobs}), but SLURM assigned {len(self._tasks)} "
                f"({tasks}). Make both equal, with `srun --ntasks={sum(self._jobs.values())}` say."
            )
        self._task_type, self._task_id = _find_task(self._rank, self._jobs)
        place = self._tasks[self._rank]
        slot = read_int(environ, "SLURM_LOCALID", default=place[1] if place else None)
        self._gpus = gpus_of_task(environ, slot, max(tasks.values()), gpus_per_node, gpus_per_task)
        self._auto_set_gpu = auto_set_gpu

    @classmethod
    def _look(cls, environ: Mapping[str, str]) -> tuple[bool, str]:
        """Whether `environ` has a cluster of this kind, and why."""
        if not environ.get("SLURM_PROCID"):
            return False, "SLURM_PROCID is not set: not a SLURM task"
        try:
            _check_step(environ)
        except RuntimeError:
            return False, "no SLURM_STEP_… is set: a job of SLURM outside srun. Start the script with srun"
        inner = find_inner_launcher(environ, outer="SLURM")
        if inner:
            return False, inner
        num_tasks = _num_tasks(environ, default=1)
        return num_tasks > 1, f"task {environ['SLURM_PROCID']} of {num_tasks} of an srun step"

    def cluster_spec(self) -> ClusterSpec:
        """The jobs and the addresses of their tasks. Sets `CUDA_VISIBLE_DEVICES`, unless `auto_set_gpu` is False."""
        if self._auto_set_gpu and self._gpus and isinstance(self._environ, MutableMapping):
            self._environ["CUDA_VISIBLE_DEVICES"] = ",".join(self._gpus)
        addresses = [
            f"{place[0]}:{self._port_base + place[1]}" if place else f"task-{rank}.invalid:1"
            for rank, place in enumerate(self._tasks)
        ]
        jobs: dict[str, list[str]] = {}
        for job, count in sorted(self._jobs.items()):
            jobs[job], addresses = addresses[:count], addresses[count:]
        return ClusterSpec(jobs)

    def get_task_info(self) -> tuple[str | None, int | None]:
        """The job of this process and its index in it."""
        return self.task_type, self.task_id

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: object = None
    ) -> dict[str, int]:
        """The GPUs of a task; all have equally many."""
        del task_type, task_id, config_proto
        return {"GPU": len(self._gpus)}

    def membership(self) -> Membership:
        """Which process this is among those that train together."""
        source = ", ".join(name for name in self._VARIABLES if self._environ.get(name))
        found = membership_of_task(self.cluster_spec(), self.task_type, self.task_id, source=source)
        if found.coordinator is None:
            return found
        coordinator = self._environ.get("JAX_COORDINATOR_ADDRESS")
        if None in self._tasks:  # on all tasks or on none: a single error would leave the others waiting
            if not coordinator:
                raise RuntimeError(_UNKNOWN_HOSTS.format(distribution=self._environ.get("SLURM_DISTRIBUTION")))
            names = [name.partition(" at ")[0] if ".invalid:" in name else name for name in found.names]
            return replace(found, coordinator=coordinator, names=tuple(names))
        if self._port_base != _TENSORFLOW_PORT:
            return found
        derived = join_address(split_host(found.coordinator), _derive_port(self._environ))
        return replace(found, coordinator=coordinator or derived)


def is_srun_task(environ: Mapping[str, str]) -> bool:
    """Whether this process was started by `srun`.

    >>> is_srun_task({"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0"}), is_srun_task({"SLURM_JOB_ID": "7"})
    (True, False)
    """
    return bool(environ.get("SLURM_JOB_ID") and environ.get("SLURM_STEP_ID"))


def _check_step(environ: Mapping[str, str]) -> None:
    names = ("SLURM_STEP_ID", "SLURM_STEP_NODELIST", "SLURM_STEP_NUM_TASKS")
    if not any(environ.get(name) for name in names) or not environ.get("SLURM_PROCID"):
        raise RuntimeError(
            f"None of {', '.join(names)}, or no SLURM_PROCID, was found in the environment: this process is not inside "
            "an srun step. Start it with `srun python train.py`."
        )


def _num_tasks(environ: Mapping[str, str], *, default: int) -> int:
    job = read_int(environ, "SLURM_NTASKS", least=1, default=default)
    return read_int(environ, "SLURM_STEP_NUM_TASKS", least=1, default=job)


def _tasks(environ: Mapping[str, str], tasks_per_node: int | dict[str, int] | None) -> dict[str, int]:
    """Host -> number of its tasks, in SLURM's order."""
    if isinstance(tasks_per_node, dict):
        return tasks_per_node
    hosts = expand_hostlist(_read_either(environ, "SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"))
    if tasks_per_node is not None:
        return dict.fromkeys(hosts, int(tasks_per_node))
    text = _read_either(environ, "SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE")
    counts = expand_tasks_per_node(text)
    if len(counts) != len(hosts):
        raise RuntimeError(f"SLURM names {len(hosts)} nodes ({hosts}) and the tasks of {len(counts)} ({text}).")
    return dict(zip(hosts, counts, strict=True))


def _read_either(environ: Mapping[str, str], of_step: str, of_job: str) -> str:
    text = environ.get(of_step) or environ.get(of_job)
    if not text:
        raise RuntimeError(f"Neither {of_step} nor {of_job} was found in the environment. Start the script with srun.")
    return text


def _find_task(rank: int, jobs: dict[str, int]) -> tuple[str, int]:
    left = rank
    for job, count in sorted(jobs.items()):
        if left < count:
            return job, left
        left -= count
    raise RuntimeError(f"SLURM_PROCID={rank} is beyond the {sum(jobs.values())} tasks of {jobs}.")


def _derive_port(environ: Mapping[str, str]) -> int:
    """31: job numbers follow each other, and so do step numbers. This keeps both apart."""
    job = read_int(environ, "SLURM_JOB_ID", default=0)
    return derive_port(31 * job + read_int(environ, "SLURM_STEP_ID", default=0))
