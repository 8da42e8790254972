"""The environment variables that Unisono defines about clusters, and what several kinds read from variables.

| variable            | set by                | what it says                                                |
|---------------------|-----------------------|-------------------------------------------------------------|
| `UNISONO_CLUSTER`   | `unisono run`         | the whole group and which process of it this is, as JSON    |
| `UNISONO_NUM_NODES` | a Kubernetes manifest | how many pods of the indexed Job train together             |
| `UNISONO_SUBDOMAIN` | a Kubernetes manifest | the headless Service through which the pods find each other |
| `UNISONO_RESTARTS`  | a Kubernetes manifest | how often all pods were started before                      |
| `UNISONO_FAKE_TPU`  | a user without a TPU  | how many CPU devices act as TPU cores                       |

Variables of other systems (`TF_CONFIG`, `JAX_…`, `SLURM_…` and so on) are named in the file of their kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

CLUSTER: Final = "UNISONO_CLUSTER"
NUM_NODES: Final = "UNISONO_NUM_NODES"
SUBDOMAIN: Final = "UNISONO_SUBDOMAIN"
RESTARTS: Final = "UNISONO_RESTARTS"
FAKE_TPU: Final = "UNISONO_FAKE_TPU"


def read_int(environ: Mapping[str, str], name: str, *, least: int = 0, default: int | None = None) -> int:
    """The value of variable `name` as a number of at least `least`; `default` if it is not set.

    >>> read_int({"RANK": "3"}, "RANK")
    3
    """
    text = environ.get(name)
    if not text:
        if default is None:
            raise ValueError(f"{name} is not set. Expected a whole number of at least {least}.")
        return default
    if not text.isdecimal() or int(text) < least:
        raise ValueError(f"{name}={text!r} is not a whole number of at least {least}.")
    return int(text)


def num_requeues(environ: Mapping[str, str]) -> int:
    """How often the engine has started this job before: after a preemption, a lost node, or `scontrol requeue`.

    >>> num_requeues({"SLURM_RESTART_COUNT": "2"}), num_requeues({"UNISONO_RESTARTS": "1"}), num_requeues({})
    (2, 1, 0)
    """
    by_manifest = read_int(environ, RESTARTS, default=0)
    return read_int(environ, "SLURM_RESTART_COUNT", default=by_manifest)


def fake_tpu_cores(environ: Mapping[str, str]) -> int | None:
    """How many CPU devices act as TPU cores; None: none do."""
    return read_int(environ, FAKE_TPU, least=1) if environ.get(FAKE_TPU) else None


def find_inner_launcher(environ: Mapping[str, str], *, outer: str) -> str | None:
    """The launcher that started this process inside one task of `outer`, as a reason; None if there is none.

    `srun torchrun …` starts one torchrun on each node, and mpirun under SLURM starts its own daemons with srun. The
    processes below inherit the outer numbers, which count nodes or daemons and not them.
    """
    if environ.get("TORCHELASTIC_RUN_ID"):
        return f"TORCHELASTIC_RUN_ID is set: torchrun started this process, inside a task of {outer}"
    if environ.get("OMPI_COMM_WORLD_SIZE") and outer != "Open MPI":
        return f"OMPI_COMM_WORLD_SIZE is set: mpirun started this process, inside a task of {outer}"
    return None
