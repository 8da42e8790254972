"""All devices of several processes, on one machine or many."""

from __future__ import annotations

import os
from typing import Any

from unisono._src.devices import Placement, all_devices
from unisono._src.strategy._communication import CommunicationOptions
from unisono._src.strategy._joining import join_cluster
from unisono._src.strategy._strategy import Strategy
from unisono_launch.cluster import ClusterResolver, detect


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
            join_cluster(self._resolver, options.timeout_seconds)
        super().__init__(Placement.over(all_devices()))

    @property
    def cluster_resolver(self) -> Any:
        """Who takes part, as the resolver says; None without a cluster."""
        return self._resolver
