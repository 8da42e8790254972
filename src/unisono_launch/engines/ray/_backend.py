"""The backend for Ray Train: sets in every Ray worker what `unisono run` sets in the workers that it starts.

To Unisono each Ray worker is a machine of its own with one worker, wherever Ray has placed it: Ray has divided the
GPUs already, by `CUDA_VISIBLE_DEVICES`, so workers of one node have nothing left to divide. Ray's own JAX backend sets
that variable to 0, 1, … in every worker; here it stays as Ray Core has set it.

Ray starts new processes for each attempt, so what is set here is never left over from an earlier one.
"""

from __future__ import annotations

import contextlib
import os
import socket
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import ray
from ray.train.backend import Backend, BackendConfig

from unisono_launch.connection import SECRET_VARIABLE, new_nonce
from unisono_launch.launch import (
    AttemptPlan,
    MachineDevices,
    Machines,
    find_devices,
    hold_free_ports,
    worker_environment,
)

_held_port: Final = contextlib.ExitStack()  # in worker 0: the port at which the workers connect
_plans: Final[list[AttemptPlan]] = []  # in each worker: one


@dataclass(frozen=True, kw_only=True)
class UnisonoConfig(BackendConfig):
    """What the workers of a Ray Train run have in common."""

    devices: str = "cpu:1"
    """Of each worker: "cpu:K": K CPU devices; "gpu": the GPUs that Ray has given to it; "tpu": the same with TPUs."""
    run_dir: str | None = None
    """The folder of the run, for `UNISONO_RUN_DIR`: a path or a URL that every node can use."""
    as_tensorflow: bool = False
    sharded: bool = False
    secret: str = field(default_factory=lambda: os.environ.get(SECRET_VARIABLE) or new_nonce(), repr=False)
    """What workers prove to each other when they connect; the driver's `UNISONO_JOB_SECRET`, or a random one."""

    @property
    def backend_cls(self) -> type[Backend]:
        """The class that Ray Train's controller creates."""
        return UnisonoBackend

    def to_dict(self) -> dict[str, Any]:
        """What Ray's dashboard shows: all but the secret."""
        return {
            "devices": self.devices,
            "run_dir": self.run_dir,
            "as_tensorflow": self.as_tensorflow,
            "sharded": self.sharded,
        }


class UnisonoBackend(Backend):
    """Runs in the controller of a Ray Train run, and counts its attempts."""

    def __init__(self) -> None:
        self._attempt = 0

    def on_start(self, worker_group: Any, backend_config: UnisonoConfig) -> None:
        """Called for every attempt, when all workers have started and before the training function runs."""
        places: list[tuple[str, str]] = worker_group.execute(_place)
        port: int = worker_group.execute_single(0, _take_port)
        machines = [
            Machines(
                rank=rank,
                hosts=tuple(host for _, host in places),
                master_address=places[0][0],
                master_port=port,
                source="Ray",
            )
            for rank in range(len(places))
        ]
        started = [
            worker_group.execute_single_async(machine.rank, _set_environment, machine, self._attempt, backend_config)
            for machine in machines
        ]
        ray.get(started)
        self._attempt += 1


def plan_of_this_worker() -> AttemptPlan:
    """The attempt as this Ray worker has to know it. Its `run_dir` is empty."""
    return _plans[-1]


def _place() -> tuple[str, str]:
    return ray.util.get_node_ip_address(), socket.gethostname()


def _take_port() -> int:
    # In worker 0, not in the controller: the port must be free on the machine of worker 0.
    return _held_port.enter_context(hold_free_ports(1))[0]


def _set_environment(machines: Machines, attempt: int, config: UnisonoConfig) -> None:
    plan = AttemptPlan(
        attempt=attempt,
        run_dir=Path(),
        machines=machines,
        devices=_devices(config.devices),
        num_local_workers=1,
        ports=(machines.master_port or 0,),
        as_tensorflow=config.as_tensorflow,
        sharded=config.sharded,
        secret=config.secret,
    )
    _plans.append(plan)
    variables = worker_environment(plan, machines.rank, os.environ)
    del variables["UNISONO_STATUS"]  # for a launcher, and Ray Train has none
    if config.run_dir is None:
        del variables["UNISONO_RUN_DIR"]
    else:
        variables["UNISONO_RUN_DIR"] = config.run_dir
    # Ray imports what the training function uses when it gets the function, and that may be Keras before Unisono.
    variables["KERAS_BACKEND"] = "jax"
    for name in os.environ.keys() - variables.keys():
        del os.environ[name]
    os.environ.update(variables)


def _devices(asked: str) -> MachineDevices:
    if asked == "tpu":
        return MachineDevices(kind="as found")
    if asked == "gpu":
        gpus = os.environ.get("CUDA_VISIBLE_DEVICES", "")
        return MachineDevices(kind="gpu", gpus=tuple(gpus.split(","))) if gpus else MachineDevices(kind="as found")
    return find_devices(asked, os.environ)
