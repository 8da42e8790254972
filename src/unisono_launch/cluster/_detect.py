"""Finds the cluster that this process is in: one order, for training and for `unisono doctor`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final, NamedTuple, Protocol

from unisono_launch.cluster._cloud_nodes import DstackClusterResolver, SkyPilotClusterResolver
from unisono_launch.cluster._jax_variables import JaxClusterResolver
from unisono_launch.cluster._kubernetes import KubernetesClusterResolver
from unisono_launch.cluster._launched import LaunchedClusterResolver
from unisono_launch.cluster._open_mpi import OpenMpiClusterResolver
from unisono_launch.cluster._resolver import ClusterResolver
from unisono_launch.cluster._slurm import SlurmClusterResolver
from unisono_launch.cluster._tf_config import TFConfigClusterResolver
from unisono_launch.cluster._torchrun import TorchrunClusterResolver
from unisono_launch.cluster._tpu_pod import TPUPodClusterResolver
from unisono_launch.cluster._tpu_vm import TPUVMClusterResolver


class DetectionStep(NamedTuple):
    """Which variables were read to find one kind of cluster, and with what result."""

    kind: str
    found: bool
    variables: dict[str, str | None]
    """Their values; None: not set."""
    reason: str


class _Kind(Protocol):
    """The interface of a resolver class that can be detected."""

    @property
    def _VARIABLES(self) -> tuple[str, ...]: ...  # noqa: N802

    def _look(self, environ: Mapping[str, str]) -> tuple[bool, str]: ...

    def __call__(self, *, environ: Mapping[str, str]) -> ClusterResolver: ...


# What a person or our launcher has set comes first, and JAX's variables with it: they are set for one process, by hand
# or by Kubeflow Trainer, and say exactly which it is. Then the schedulers, which are not used where one of the
# launchers below them runs inside (`find_inner_launcher`). SkyPilot and dstack come last: they know the machines, and
# whatever else was found knows the processes on them, or the order in which a TPU needs its machines. Every kind but
# the first two needs at least two processes.
ORDER: Final[tuple[tuple[str, _Kind], ...]] = (
    ("unisono run", LaunchedClusterResolver),
    ("TF_CONFIG", TFConfigClusterResolver),
    ("JAX variables", JaxClusterResolver),
    ("SLURM", SlurmClusterResolver),
    ("Kubernetes", KubernetesClusterResolver),
    ("Open MPI", OpenMpiClusterResolver),
    ("torchrun", TorchrunClusterResolver),
    ("TPU pod", TPUPodClusterResolver),
    ("TPU VM", TPUVMClusterResolver),
    ("SkyPilot", SkyPilotClusterResolver),
    ("dstack", DstackClusterResolver),
)


def detect(environ: Mapping[str, str] = os.environ) -> ClusterResolver | None:
    """The resolver of the cluster that `environ` describes; None: this process is alone.

    The order is that of :data:`ORDER`: `unisono run`, `TF_CONFIG`, JAX's variables, SLURM (inside srun), Kubernetes
    (indexed Jobs), Open MPI, torchrun, TPU pods, TPU VMs, SkyPilot, dstack. The first that is found is taken; if it is
    broken, that is an error (here or when its membership is read) and never a reason to try the next.

    >>> detect({}) is None
    True
    >>> environ = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "localhost", "MASTER_PORT": "29500"}
    >>> detect(environ).membership().num_processes
    2
    """
    return next((kind(environ=environ) for _, kind in ORDER if _find(kind, environ)[0]), None)


def explain_detection(environ: Mapping[str, str] = os.environ) -> list[DetectionStep]:
    """What :func:`detect` reads and finds, kind by kind in its order. The first that was found is the one taken.

    >>> for step in explain_detection({"TF_CONFIG": "{}"})[:2]:
    ...     print(step.kind, step.found, step.reason, sep=" | ")
    unisono run | False | UNISONO_CLUSTER is not set: not started by `unisono run`
    TF_CONFIG | False | TF_CONFIG has no cluster: this process is alone
    """
    steps = []
    for name, kind in ORDER:
        found, reason = _find(kind, environ)
        steps.append(
            DetectionStep(name, found, {variable: environ.get(variable) for variable in kind._VARIABLES}, reason)
        )
    return steps


def _find(kind: _Kind, environ: Mapping[str, str]) -> tuple[bool, str]:
    """A kind whose variables are set and make no sense counts as found: its use raises the error."""
    try:
        return kind._look(environ)
    except ValueError as error:
        return True, str(error)
