"""`JAX_COORDINATOR_ADDRESS`, `JAX_NUM_PROCESSES` and `JAX_PROCESS_ID`: what Kubeflow Trainer sets for JAX."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import ClassVar

from unisono_launch.cluster._address import split_address
from unisono_launch.cluster._membership import Membership
from unisono_launch.cluster._ranked import RankedResolver, name_workers
from unisono_launch.cluster._variables import find_inner_launcher, read_int


class JaxClusterResolver(RankedResolver):
    """Reads the variables that are named after the arguments of `jax.distributed.initialize`.

    Kubeflow Trainer sets them in the pods of its runtime `jax-distributed`, and scripts for
    `jax.distributed.initialize` set them by hand. All three are needed. JAX itself reads the address, and
    `JAX_LOCAL_DEVICE_IDS`: the GPUs of the machine that this process takes (all of them, if it is not set).

    >>> environ = {"JAX_COORDINATOR_ADDRESS": "node0:1234", "JAX_NUM_PROCESSES": "2", "JAX_PROCESS_ID": "1"}
    >>> JaxClusterResolver(environ=environ).membership().names
    ('worker 0 at node0:1234', 'worker 1')
    """

    _VARIABLES: ClassVar[tuple[str, ...]] = (
        "JAX_COORDINATOR_ADDRESS",
        "JAX_NUM_PROCESSES",
        "JAX_PROCESS_ID",
        "JAX_LOCAL_DEVICE_IDS",
    )

    def __init__(self, *, rpc_layer: str | None = None, environ: Mapping[str, str] = os.environ) -> None:
        super().__init__(_membership(environ), rpc_layer)
        self._environ = environ

    @classmethod
    def _look(cls, environ: Mapping[str, str]) -> tuple[bool, str]:
        """Whether `environ` has a cluster of this kind, and why."""
        size, process_id = environ.get("JAX_NUM_PROCESSES"), environ.get("JAX_PROCESS_ID")
        if not size and not process_id:  # the address alone: JAX takes the rest from the scheduler
            return False, "JAX_NUM_PROCESSES, JAX_PROCESS_ID not set"
        inner = find_inner_launcher(environ, outer="a process of JAX_NUM_PROCESSES")
        if inner:
            return False, inner
        _membership(environ)  # a part of the variables is an error: each process would train alone
        return size != "1", f"process {process_id} of {size}"


def _membership(environ: Mapping[str, str]) -> Membership:
    names = ("JAX_COORDINATOR_ADDRESS", "JAX_NUM_PROCESSES", "JAX_PROCESS_ID")
    missing = [name for name in names if not environ.get(name)]
    if missing and environ.get("JAX_NUM_PROCESSES") != "1":
        found = ", ".join(f"{name}={environ[name]}" for name in names if environ.get(name))
        raise ValueError(
            f"{' and '.join(missing)} not set, while {found or 'none of the others'} is. Set all of "
            f"{', '.join(names)} for each process, as in JAX_COORDINATOR_ADDRESS=host1:1234 JAX_NUM_PROCESSES=2 "
            "JAX_PROCESS_ID=0; or none of them."
        )
    size = read_int(environ, "JAX_NUM_PROCESSES", least=1)
    coordinator = environ.get("JAX_COORDINATOR_ADDRESS") or None
    if coordinator is not None:
        try:
            split_address(coordinator)
        except ValueError as error:
            raise ValueError(f"JAX_COORDINATOR_ADDRESS: {error}") from None
    return Membership(
        num_processes=size,
        process_id=read_int(environ, "JAX_PROCESS_ID", default=0 if size == 1 else None),
        coordinator=coordinator,
        names=name_workers(size, coordinator),
        source=", ".join(names),
    )
