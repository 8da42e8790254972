"""From a cluster to processes that have joined."""

from __future__ import annotations

import jax
import keras

from unisono._src.jax_hooks import bind_gloo_to
from unisono._src.processes import Processes, join_processes
from unisono_launch.cluster import ClusterResolver, OpenMpiClusterResolver, TorchrunClusterResolver, membership


def join_cluster(resolver: ClusterResolver, timeout_seconds: float | None = None) -> None:
    """Joins the others that ``resolver`` knows of; returns when all are there."""
    found = membership(resolver)
    everyone = Processes(found.process_id, tuple(found.names))
    alike = {"JAX": jax.__version__, "Keras": keras.__version__, "the number of workers": everyone.count}
    # These launchers start a process for each GPU and leave it to the process to take its own.
    undivided = isinstance(resolver, TorchrunClusterResolver | OpenMpiClusterResolver) and found.local_size > 1
    gpus = [found.local_rank] if undivided else None
    join_processes(found.coordinator, everyone, timeout_seconds, alike, bind_gloo_to, gpus)
