"""The contents of `run.json`: on what a run trains, what, and with which data."""

from __future__ import annotations

import collections
import importlib.metadata
import math
import os
import platform
import socket
import sys
from pathlib import Path
from typing import Any

import jax
import keras
import numpy as np

from unisono._src.core import RUN_VERSION, read_environment
from unisono._src.data.dataset import Dataset
from unisono._src.data.feed import Feed, IndexedFeed, unwrap_distributed
from unisono._src.devices import Placement
from unisono._src.processes import processes


def describe_run(strategy: Any, placement: Placement) -> dict[str, Any]:
    """What is the same for every `fit` of a process."""
    kinds = collections.Counter((device.platform, device.device_kind) for device in placement.devices)
    return {
        "version": RUN_VERSION,
        "command": _command(),
        "folder": os.getcwd(),
        "host": socket.gethostname(),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": {
            "python": platform.python_version(),
            "unisono": importlib.metadata.version("unisono"),
            "jax": jax.__version__,
            "keras": keras.__version__,
            "numpy": np.__version__,
        },
        "devices": [{"platform": name, "kind": kind, "count": count} for (name, kind), count in kinds.items()],
        "workers": processes().count,
        "strategy": type(strategy).__name__,
        "mesh": {str(axis): int(size) for axis, size in placement.mesh.shape.items()},
    }


def describe_fit(
    model: Any, x: Any, feed: Feed | None, *, epochs: int, steps_per_epoch: int | None, batch: int | None
) -> dict[str, Any]:
    """What this `fit` trains, and with which data."""
    state = [*model.variables, *([] if model.optimizer is None else model.optimizer.variables)]
    weights = list(model.weights)  # without the states of random generators, as count_params() has it
    return {
        "model": {
            "name": model.name,
            "parameters": sum(math.prod(variable.shape) for variable in weights),
            "trainable_parameters": sum(math.prod(variable.shape) for variable in model.trainable_variables),
            "weight_bytes": _num_bytes(weights),
            "state_bytes": _num_bytes(state),
            "dtype_policy": model.dtype_policy.name,
        },
        "optimizer": None if model.optimizer is None else type(model.optimizer).__name__,
        "epochs": epochs,
        "steps_per_epoch": steps_per_epoch,
        "batch": batch,
        "input": _describe_input(x, feed),
    }


def _describe_input(x: Any, feed: Feed | None) -> dict[str, Any]:
    dataset = unwrap_distributed(x)
    are_arrays = isinstance(feed, IndexedFeed) and not isinstance(dataset, Dataset)
    described: dict[str, Any] = {"kind": "arrays" if are_arrays else type(dataset).__name__}
    if feed is not None:
        described["resident_bytes"] = feed.resident_bytes
    if isinstance(dataset, Dataset):
        execution = dataset._execution
        described["explain"] = execution.explain()
        described["in_python"] = [
            {"operation": each.member, "location": each.location, "reason": each.reason}
            for each in execution.decisions
            if each.where in ("python", "host threads") and each.location
        ]
    return described


def _num_bytes(variables: list[Any]) -> int:
    return sum(math.prod(variable.shape) * np.dtype(variable.dtype).itemsize for variable in variables)


def _command() -> str:
    """What was typed, as far as a process knows it."""
    script = Path(sys.argv[0]).name if sys.argv and sys.argv[0] else "python"
    run = "unisono run … " if read_environment().run_dir is not None else "python "
    return run + " ".join([script, *sys.argv[1:]])
