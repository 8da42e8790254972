"""`ParameterServerStrategy`: variables on parameter servers, workers that train independently of each other."""

from __future__ import annotations

import atexit
import os
import secrets
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unisono._src.devices import Placement, default_devices
from unisono._src.parameter_servers._servers import ParameterServers
from unisono._src.parameter_servers._stored_variable import store_remotely
from unisono._src.strategy import Strategy
from unisono_launch.cluster import ClusterResolver, ClusterSpec, TFConfigClusterResolver, detect, split_address

NO_TASKS = """ParameterServerStrategy: the cluster has {found}. Expected are tasks "worker" and "ps":
    {{"cluster": {{"chief": ["host0:2222"], "worker": ["host1:2222"], "ps": ["host2:2222"]}}, "task": ...}}"""

WRONG_TASK = """ParameterServerStrategy: this process is {task!r}. The strategy is made by the chief's process only; one
of a "worker" or a "ps" runs a server:
    tf.distribute.Server(resolver.cluster_spec(), resolver.task_type, resolver.task_id, protocol="grpc").join()"""

BAD_ADDRESS = """ParameterServerStrategy: {task} {index} of the cluster has the address {address!r}.
Expected is host:port without blanks, such as "node1:2222". Correct the cluster of all processes, as in TF_CONFIG."""

NOT_FIRST_DIMENSION = """The partitioner splits a variable of shape {shape} into {parts} parts. Variables are split
along their first dimension only: of the numbers it returns, all but the first have to be 1."""


@dataclass(frozen=True, eq=False)
class ServerPlacement(Placement):
    """A device of the chief, with variables that are stored on parameter servers."""

    servers: ParameterServers
    partitioner: Callable[..., Any] | None

    def adopt(self, variable: Any) -> None:
        store_remotely(variable, self.servers, self)

    def num_shards(self, shape: tuple[int, ...], dtype: str) -> int:
        if self.partitioner is None or not shape:
            return 1
        parts = [int(number) for number in self.partitioner(shape=shape, dtype=np.dtype(dtype))]
        if any(number != 1 for number in parts[1:]):
            raise ValueError(NOT_FIRST_DIMENSION.format(shape=shape, parts=parts))
        return min(parts[0], shape[0])


class ParameterServerStrategy(Strategy):
    """Parameter servers hold the variables; workers read them, compute, and send updates, each at its own pace.

    The chief makes the strategy, and runs the script. Workers and parameter servers run a :class:`Server` and nothing
    else. See docs/parameter-servers.md.

    ```python
    strategy = unisono.ParameterServerStrategy(unisono.cluster_resolver.TFConfigClusterResolver())
    with strategy.scope():
        model = keras.Sequential([keras.layers.Dense(10)])
        model.compile("adam", "mse")
    model.fit(dataset, epochs=10, steps_per_epoch=100)
    ```

    Args:
        cluster_resolver: the cluster, with the jobs "worker" and "ps"; None finds it in the environment.
        variable_partitioner: splits weights of layers over the servers; None stores each in one piece.
    """

    def __init__(self, cluster_resolver: ClusterResolver | None = None, variable_partitioner: Any = None) -> None:
        in_tf_config = TFConfigClusterResolver._look(os.environ)[0]  # before the launcher's own cluster
        resolver = cluster_resolver or (TFConfigClusterResolver() if in_tf_config else detect(os.environ))
        spec = None if resolver is None else resolver.cluster_spec()
        jobs = [] if spec is None else [job for job in spec.jobs if spec.num_tasks(job)]
        if resolver is None or spec is None or not {"worker", "ps"} <= set(jobs):
            raise ValueError(NO_TASKS.format(found=f"the jobs {jobs}" if jobs else "no tasks"))
        if resolver.task_type in ("worker", "ps"):
            raise ValueError(WRONG_TASK.format(task=resolver.task_type))
        self.worker_addresses = _checked_addresses(spec, "worker")
        """Where the workers listen."""
        self.servers = ParameterServers(_checked_addresses(spec, "ps"), secrets.token_hex(8))
        """The parameter servers."""
        self.coordinator: Any = None
        """The `ClusterCoordinator`, once there is one."""
        mesh = Placement.over(default_devices()[:1]).mesh
        super().__init__(ServerPlacement(mesh, self.servers, variable_partitioner), resolver)
        atexit.register(_close, weakref.ref(self))

    def close(self) -> None:
        """Ends the job: workers and parameter servers forget it, and wait for the next chief."""
        if self.coordinator is not None:
            self.coordinator.close()
        self.servers.close()

    def __repr__(self) -> str:
        return f"ParameterServerStrategy({len(self.worker_addresses)} workers, {len(self.servers)} parameter servers)"


def _checked_addresses(spec: ClusterSpec, job: str) -> list[str]:
    """The addresses of a job. Checked here, in the script: those of workers are used by threads that try for long."""
    checked = []
    for index, address in enumerate(spec.job_tasks(job)):
        try:
            host, _ = split_address(address or "")
            host.encode("idna")  # as the resolver does, which refuses "node..1"
        except ValueError:
            host = ""
        if address is None or not host or any(map(str.isspace, host)):
            raise ValueError(BAD_ADDRESS.format(task=job, index=index, address=address))
        checked.append(address)
    return checked


def _close(strategy: weakref.ref[ParameterServerStrategy]) -> None:
    alive = strategy()
    if alive is not None:
        alive.close()
