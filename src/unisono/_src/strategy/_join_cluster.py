"""Joins the workers of a cluster, before the first use of JAX, or adopts those that JAX has joined already."""

from __future__ import annotations

from typing import Any, Final

import jax
import keras

from unisono._src.core import Override, read_environment
from unisono._src.jax_hooks import bind_gloo_to
from unisono._src.processes import Processes, adopt_joined_jax, all_gather_json, join_processes, processes
from unisono_launch.cluster import ClusterResolver, membership
from unisono_launch.worker import STRATEGY_VARIABLE

OTHER_COUNT = """JAX has joined {jax} processes (jax.distributed.initialize), and {source} has {count} workers.
Remove one of the two, or make them equal."""

OTHER_ENVIRONMENT = """The processes that JAX has joined differ in {what}: {found}.
Their programs would not fit together. Start all of them with the same."""


ignore_cluster: Final[Override[bool]] = Override(False)
"""Whether strategies for clusters train in this process alone. For `unisono plan`."""


def join_cluster(resolver: ClusterResolver | None, timeout_seconds: float | None = None) -> bool:
    """Joins the processes that ``resolver`` lists; returns when all of them have connected.

    Processes that other code has joined by `jax.distributed.initialize` (a script, Ray's JaxTrainer, Kubeflow) are
    adopted instead: ranks follow JAX's own. Workers with other versions or another strategy are refused: their programs
    would not fit together. Returns whether there are several processes.
    """
    if ignore_cluster.current:
        return False
    must_match = {
        "JAX": jax.__version__,
        "Keras": keras.__version__,
        STRATEGY_VARIABLE: read_environment().strategy,
    }
    if jax.distributed.is_initialized() and processes().count == 1:
        return _adopt(resolver, must_match)
    if resolver is not None:
        found = membership(resolver)
        everyone = Processes(found.process_id, tuple(found.names))
        gpus = [found.local_rank] if found.takes_gpu_of_local_rank and found.local_size > 1 else None
        must_match["the number of workers"] = everyone.count
        join_processes(found.coordinator, everyone, timeout_seconds, must_match, bind_gloo_to, gpus)
    return processes().count > 1


def _adopt(resolver: ClusterResolver | None, must_match: dict[str, Any]) -> bool:
    names = None
    if resolver is not None:
        found = membership(resolver)
        names = tuple(found.names)
        if len(names) > 1 and len(names) != jax.process_count():
            raise ValueError(OTHER_COUNT.format(jax=jax.process_count(), source=found.source, count=len(names)))
    if not adopt_joined_jax(names):
        return False
    gathered = all_gather_json(must_match)
    for what, own in must_match.items():
        if any(others[what] != own for others in gathered):
            listed = ", ".join(
                f"{name} {others[what]}" for name, others in zip(processes().names, gathered, strict=True)
            )
            raise RuntimeError(OTHER_ENVIRONMENT.format(what=what, found=listed))
    return True
