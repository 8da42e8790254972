"""torchrun: `RANK`, `WORLD_SIZE`, `MASTER_ADDR` and `MASTER_PORT`, which other launchers set too."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import ClassVar

from unisono_launch.cluster._address import derive_port, join_address
from unisono_launch.cluster._membership import Membership
from unisono_launch.cluster._ranked import RankedResolver, name_workers
from unisono_launch.cluster._variables import read_int


class TorchrunClusterResolver(RankedResolver):
    """Reads the variables that torchrun sets, and that Kubeflow's PyTorchJob and many scripts set like it.

    The coordinator is at `MASTER_ADDR`. At `MASTER_PORT` torchrun itself listens (it says so in
    `TORCHELASTIC_USE_AGENT_STORE`), so under torchrun the port is one that follows from it.

    >>> environ = {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "node0", "MASTER_PORT": "29500"}
    >>> TorchrunClusterResolver(environ=environ).membership().coordinator
    'node0:29500'
    """

    _VARIABLES: ClassVar[tuple[str, ...]] = (
        "RANK",
        "WORLD_SIZE",
        "LOCAL_RANK",
        "LOCAL_WORLD_SIZE",
        "MASTER_ADDR",
        "MASTER_PORT",
        "TORCHELASTIC_RUN_ID",
        "TORCHELASTIC_USE_AGENT_STORE",
    )

    def __init__(self, *, rpc_layer: str | None = None, environ: Mapping[str, str] = os.environ) -> None:
        super().__init__(_membership(environ), rpc_layer)
        self._environ = environ

    @classmethod
    def _look(cls, environ: Mapping[str, str]) -> tuple[bool, str]:
        """Whether `environ` has a cluster of this kind, and why."""
        missing = [name for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT") if not environ.get(name)]
        if missing:
            return False, f"{', '.join(missing)} not set"
        return environ["WORLD_SIZE"] != "1", f"process {environ['RANK']} of {environ['WORLD_SIZE']}"


def _membership(environ: Mapping[str, str]) -> Membership:
    size = read_int(environ, "WORLD_SIZE", least=1)
    host, port = environ.get("MASTER_ADDR"), read_int(environ, "MASTER_PORT", least=1)
    if not host:
        raise ValueError("MASTER_ADDR is not set. Expected the host of the process with RANK=0.")
    if environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True":
        port = derive_port(port) if derive_port(port) != port else derive_port(port + 1)
    coordinator = join_address(host, port)
    return Membership(
        num_processes=size,
        process_id=read_int(environ, "RANK"),
        coordinator=coordinator,
        names=name_workers(size, coordinator),
        local_rank=read_int(environ, "LOCAL_RANK", default=0),
        local_size=read_int(environ, "LOCAL_WORLD_SIZE", least=1, default=1),
        takes_gpu_of_local_rank=True,
        source="RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT",
    )
