"""What environment variables mean to workers and to `unisono doctor`: threads, the strategy, how checkpoints are
completed, folders of datasets."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

IDX_FOLDERS: Final = {"mnist": "mnist", "fashion_mnist": "fashion-mnist"}
"""By the name of a dataset: the folder with the four original files, as Keras and Debian call it."""

STRATEGY_VARIABLE: Final = "UNISONO_STRATEGY"
COMMIT_VARIABLE: Final = "UNISONO_CHECKPOINT_COMMIT"

STRATEGIES: Final = {
    "mirrored": "weights and optimizer state are copied to every device",
    "sharded": "weights, gradients and optimizer state are divided among the devices",
    "sharded-optimizer": "optimizer state is divided among the devices, weights are copied to each",
}
"""What `MirroredStrategy`, `MultiWorkerMirroredStrategy` and `TPUStrategy` do, by the value of ``UNISONO_STRATEGY``."""

_DEBIAN: Final = Path("/usr/share/datasets")  # of the package dataset-fashion-mnist


def num_cpu_threads(cpu_devices: int) -> int:
    """The value of ``NPROC`` under which that many CPU devices cannot starve each other.

    XLA:CPU sizes its thread pool by ``NPROC`` (else by the cores). A launch with a collective occupies one
    thread per device until all have joined it; with too few threads two launches wait for each other for ever.
    Twice the devices is enough while few launches are in flight (4 devices pass with 8 threads, 8 devices
    abort with 8 and pass with 16).
    """
    return max(2 * cpu_devices, os.cpu_count() or 1)


def read_strategy(environ: Mapping[str, str] = os.environ) -> str:
    """One of :data:`STRATEGIES`; raises ``ValueError`` for anything else in ``UNISONO_STRATEGY``.

    >>> read_strategy({"UNISONO_STRATEGY": "sharded"})
    'sharded'
    """
    found = environ.get(STRATEGY_VARIABLE) or "mirrored"
    if found not in STRATEGIES:
        *first, last = map(repr, STRATEGIES)
        raise ValueError(f"{STRATEGY_VARIABLE}={found!r} is no strategy. Set it to {', '.join(first)} or {last}.")
    return found


def read_commit_method(environ: Mapping[str, str] = os.environ) -> str:
    """How a checkpoint on a disk is completed, from ``UNISONO_CHECKPOINT_COMMIT``: "rename", "marker", or "auto" to
    find out what the file system can do.

    >>> read_commit_method({"UNISONO_CHECKPOINT_COMMIT": "marker"})
    'marker'
    """
    found = environ.get(COMMIT_VARIABLE) or "auto"
    if found not in ("auto", "marker", "rename"):
        raise ValueError(f"{COMMIT_VARIABLE}={found!r} is not known. Set it to 'marker' or 'rename', or unset it.")
    return found


def dataset_folders(environ: Mapping[str, str] = os.environ) -> list[Path]:
    """Where datasets are looked for, in this order: `UNISONO_DATASETS`, a clone of the repository, Keras, Debian.

    >>> dataset_folders({"UNISONO_DATASETS": "/data"})[0]
    PosixPath('/data')
    """
    chosen = environ.get("UNISONO_DATASETS")
    clone = Path(__file__).parents[3] / "examples" / "data"
    return [
        *([Path(chosen)] if chosen else []),
        *([clone] if clone.is_dir() else []),
        keras_dataset_cache(environ),
        _DEBIAN,
    ]


def keras_dataset_cache(environ: Mapping[str, str] = os.environ) -> Path:
    """The folder into which Keras downloads datasets."""
    # Not Path.home(): it raises for users without a home, which need no data either.
    return Path(environ.get("KERAS_HOME") or os.path.expanduser("~/.keras"), "datasets")
