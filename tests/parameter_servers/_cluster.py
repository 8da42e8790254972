"""A cluster in this process: its servers are threads, over real sockets."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from typing import Any

from unisono._src.parameter_servers import ClusterCoordinator, ParameterServerStrategy, Server
from unisono_launch.cluster import ClusterSpec, SimpleClusterResolver


def free_addresses(number: int) -> list[str]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("localhost", 0))) for _ in range(number)]
        return [f"localhost:{each.getsockname()[1]}" for each in sockets]


class Cluster:
    """The servers, the strategy and its coordinator."""

    def __init__(self, num_workers: int, num_ps: int, partitioner: Any = None) -> None:
        addresses = free_addresses(num_workers + num_ps)
        self.spec = ClusterSpec({"worker": addresses[:num_workers], "ps": addresses[num_workers:]})
        self.workers = [Server(self.spec, "worker", index) for index in range(num_workers)]
        self.ps = [Server(self.spec, "ps", index) for index in range(num_ps)]
        self.strategy = ParameterServerStrategy(SimpleClusterResolver(self.spec), partitioner)
        self.coordinator = ClusterCoordinator(self.strategy)

    def close(self) -> None:
        self.strategy.close()
        for server in (*self.workers, *self.ps):
            server.stop()


@contextlib.contextmanager
def cluster(num_workers: int = 2, num_ps: int = 2, partitioner: Any = None) -> Iterator[Cluster]:
    made = Cluster(num_workers, num_ps, partitioner)
    try:
        yield made
    finally:
        made.close()
