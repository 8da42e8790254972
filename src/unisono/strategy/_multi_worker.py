"""All devices of several processes, on one machine or many."""

from __future__ import annotations

import os
from typing import Any

import jax
import keras

from unisono.cluster_resolver import (
    ClusterResolver,
    Membership,
    OpenMpiClusterResolver,
    TorchrunClusterResolver,
    detect,
    membership,
)
from unisono.runtime import Placement, Processes, all_devices, join
from unisono.seams import gloo_listens_at
from unisono.strategy._communication import CommunicationOptions
from unisono.strategy._strategy import Strategy


class MultiWorkerMirroredStrategy(Strategy):
    """One replica on each device of every worker; weights are kept equal on all of them.

    Every worker runs the same script, and joins the others when it makes the strategy: before any other use of JAX.

    ```python
    strategy = unisono.MultiWorkerMirroredStrategy()   # the cluster from TF_CONFIG, SLURM, `unisono run`, ...
    with strategy.scope():
        model = ...
        model.compile(...)
    model.fit(dataset)                                 # global batches, whatever the number of workers
    ```

    Args:
        cluster_resolver: who takes part; None finds it in the environment, and without a cluster there is one worker.
        communication_options: `timeout_seconds` says how long to wait for workers that are not there yet.
    """

    def __init__(
        self,
        cluster_resolver: ClusterResolver | None = None,
        communication_options: CommunicationOptions | None = None,
    ):
        options = communication_options or CommunicationOptions()
        self._resolver = cluster_resolver or detect(os.environ)
        if self._resolver is not None:
            found = membership(self._resolver)
            everyone = Processes(found.process_id, tuple(found.names))
            alike = {"JAX": jax.__version__, "Keras": keras.__version__, "the number of workers": everyone.number}
            gpus = _own_gpus(self._resolver, found)
            join(found.coordinator, everyone, options.timeout_seconds, alike, gloo_listens_at, gpus)
        super().__init__(Placement.over(all_devices()))

    @property
    def cluster_resolver(self) -> Any:
        """Who takes part, as the resolver says; None without a cluster."""
        return self._resolver


def _own_gpus(resolver: ClusterResolver, found: Membership) -> list[int] | None:
    """These launchers start a process for each GPU and leave it to the process to take its own."""
    undivided = isinstance(resolver, TorchrunClusterResolver | OpenMpiClusterResolver)
    return [found.local_rank] if undivided and found.local_size > 1 else None
