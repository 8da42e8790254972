"""The one place in this package where environment variables are read.

Everything else calls :func:`read_environment`, so that what a shell can change about Unisono is one short list. Two are
not on it, and are read in `unisono_launch.worker`: ``UNISONO_DATASETS``, for the doctor too, and
``UNISONO_CHECKPOINT_COMMIT``, for the store, which does not know this package.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from unisono_launch.connection import SECRET_VARIABLE
from unisono_launch.worker import keras_dataset_cache, num_cpu_threads, read_strategy


@dataclass(frozen=True, kw_only=True)
class Environment:
    """The environment variables of this process that Unisono reads.

    Attributes:
        attempt: ``UNISONO_ATTEMPT``, how often the launcher has started this job before; without a launcher
            ``SLURM_RESTART_COUNT``, how often SLURM has.
        cpu_devices: ``UNISONO_CPU_DEVICES``, how many CPU devices JAX shall have; None leaves it to JAX.
        job_secret: ``UNISONO_JOB_SECRET``, which workers prove to know when they connect; empty if there is none.
        keras_backend: ``KERAS_BACKEND`` as it was found.
        keras_cache: the folder into which Keras downloads datasets; by ``KERAS_HOME``.
        run_dir: ``UNISONO_RUN_DIR``, the folder of the run, from the launcher.
        status: ``UNISONO_STATUS``, the file in which this process reports its progress to the launcher.
        strategy: ``UNISONO_STRATEGY``, what mirrored strategies do: "mirrored", "sharded" or "sharded-optimizer".
    """

    attempt: int
    cpu_devices: int | None
    job_secret: str
    keras_backend: str | None
    keras_cache: Path
    run_dir: str | None
    status: str | None
    strategy: str


def read_environment() -> Environment:
    """Reads the environment now; raises ``ValueError`` where a value makes no sense."""
    return Environment(
        attempt=int(os.environ.get("UNISONO_ATTEMPT") or os.environ.get("SLURM_RESTART_COUNT") or 0),
        cpu_devices=_positive_int("UNISONO_CPU_DEVICES"),
        job_secret=os.environ.get(SECRET_VARIABLE, ""),
        keras_backend=os.environ.get("KERAS_BACKEND") or None,
        keras_cache=keras_dataset_cache(),
        run_dir=os.environ.get("UNISONO_RUN_DIR") or None,
        status=os.environ.get("UNISONO_STATUS") or None,
        strategy=read_strategy(),
    )


def nproc_for(cpu_devices: int) -> int:
    """The value of ``NPROC`` for that many CPU devices: at least what they need, and what the shell says."""
    return max(num_cpu_threads(cpu_devices), _positive_int("NPROC") or 1)


def _positive_int(name: str) -> int | None:
    text = os.environ.get(name)
    if not text:
        return None
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"{name}={text!r} is not a whole number of at least 1. Set {name}=4, say, or unset it.")
    return int(text)
