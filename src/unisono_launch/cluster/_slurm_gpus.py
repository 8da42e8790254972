"""Which of a node's GPUs belong to one of its SLURM tasks."""

from __future__ import annotations

from collections.abc import Mapping

from unisono_launch.cluster._accelerators import visible_gpus
from unisono_launch.cluster._variables import read_int


def gpus_of_task(
    environ: Mapping[str, str],
    slot: int,
    tasks_per_node: int,
    gpus_per_node: int | None = None,
    gpus_per_task: int | None = None,
) -> list[str]:
    """The GPUs of task number `slot` of a node, as `CUDA_VISIBLE_DEVICES` names them; all tasks get equally many.

    >>> gpus_of_task({"CUDA_VISIBLE_DEVICES": "4,5,6,7"}, slot=1, tasks_per_node=2)
    ['6', '7']
    """
    visible = visible_gpus(environ)
    if gpus_per_node is gpus_per_task is None and _has_divided_gpus(environ, len(visible), tasks_per_node):
        return visible
    if gpus_per_node is None:
        gpus_per_node = len(visible)
    if gpus_per_task is None:
        gpus_per_task = gpus_per_node // tasks_per_node
    if gpus_per_task * tasks_per_node > gpus_per_node:
        raise RuntimeError(
            f"Requested more GPUs per node than available: {tasks_per_node} tasks with {gpus_per_task} GPUs each, on "
            f"nodes with {gpus_per_node}."
        )
    gpus = visible if len(visible) >= gpus_per_node else [str(index) for index in range(gpus_per_node)]
    return gpus[slot * gpus_per_task : (slot + 1) * gpus_per_task]


def _has_divided_gpus(environ: Mapping[str, str], num_visible: int, tasks_per_node: int) -> bool:
    """Whether SLURM has given each task its own GPUs: it was asked to, or a task sees fewer than the node has."""
    if environ.get("SLURM_GPUS_PER_TASK") or "gpu" in environ.get("SLURM_TRES_PER_TASK", ""):
        return True
    on_node = read_int(environ, "SLURM_GPUS_ON_NODE", default=0)
    return "CUDA_VISIBLE_DEVICES" in environ and num_visible < max(on_node, tasks_per_node)
