"""Joins the workers of a cluster, before the first use of JAX."""

from __future__ import annotations

import jax
import keras

from unisono._src.core import read_environment
from unisono._src.jax_hooks import bind_gloo_to
from unisono._src.processes import Processes, join_processes
from unisono_launch.cluster import ClusterResolver, membership
from unisono_launch.worker import STRATEGY_VARIABLE


def join_cluster(resolver: ClusterResolver, timeout_seconds: float | None = None) -> None:
    """Joins the processes that ``resolver`` lists; returns when all of them have connected.

    Workers with other versions or another strategy are refused: their programs would not fit together.
    """
    found = membership(resolver)
    everyone = Processes(found.process_id, tuple(found.names))
    must_match = {
        "JAX": jax.__version__,
        "Keras": keras.__version__,
        "the number of workers": everyone.count,
        STRATEGY_VARIABLE: read_environment().strategy,
    }
    gpus = [found.local_rank] if found.takes_gpu_of_local_rank and found.local_size > 1 else None
    join_processes(found.coordinator, everyone, timeout_seconds, must_match, bind_gloo_to, gpus)
