"""The process that uses JAX: imports Unisono, asks for devices, all-reduces over them, trains a step.

It writes one line of JSON for each stage. It may hang or die in any of them: `_probe_process.py` watches it.

    python -m unisono_launch.doctor._probe [STAGE ...]      all but `hooks` if none is named
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import os
import statistics
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any, Final

_FLOATS: Final = 250_000  # 1 MB: the gradients of a small model
_NUM_RUNS: Final = 10


def main(selected: Sequence[str]) -> None:
    """Runs stages. One whose prerequisites failed is not tried, and names the first of them."""
    report = _private_output()
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    failed: set[str] = set()
    for name, stage, needs in STAGES:
        if name not in selected:
            continue
        line: dict[str, Any] = {"stage": name}
        missing = [need for need in needs if need in failed]
        if missing:
            line["untried"] = missing[0]
        else:
            try:
                line["facts"] = stage()
            except Exception as error:
                line["error"] = f"{type(error).__name__}: {error}"
                line["traceback"] = traceback.format_exc()
        if "facts" not in line:
            failed.add(name)
        print(json.dumps(line), file=report, flush=True)


def _private_output() -> Any:
    """Standard output for us alone: what libraries print goes to standard error."""
    report = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return report


def _exit_with_parent() -> None:
    """The doctor holds the other end of standard input, which closes however it ends."""
    sys.stdin.buffer.read()
    os._exit(1)


def _import() -> dict[str, Any]:
    began = time.perf_counter()
    unisono = importlib.import_module("unisono")
    keras = importlib.import_module("keras")
    return {
        "unisono": unisono.__version__,
        "keras_backend": keras.backend.backend(),
        "seconds": round(time.perf_counter() - began, 3),
    }


def _devices() -> dict[str, Any]:
    import jax

    local = jax.local_devices()
    try:
        num_cpu_devices = len(jax.local_devices(backend="cpu"))
    except RuntimeError:  # JAX_PLATFORMS leaves them out
        num_cpu_devices = 0
    nproc = os.environ.get("NPROC", "")
    return {
        "platform": jax.default_backend(),
        "devices": [_describe_device(device) for device in local],
        "num_cpu_devices": num_cpu_devices,
        # XLA:CPU has at least a thread per device.
        "num_cpu_threads": max(num_cpu_devices, int(nproc) if nproc.isdecimal() else os.cpu_count() or 1),
    }


def _describe_device(device: Any) -> dict[str, Any]:
    try:
        memory = device.memory_stats() or {}
    except Exception:  # not every kind of device reports it
        memory = {}
    return {
        "name": f"{device.platform}:{device.id}",
        "kind": device.device_kind,
        "memory_bytes": memory.get("bytes_limit"),
    }


def _all_reduce() -> dict[str, Any]:
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    devices = jax.local_devices()
    mesh = Mesh(np.array(devices), ("replica",))
    rows = NamedSharding(mesh, PartitionSpec("replica"))

    def all_reduce(part: jax.Array) -> Any:
        return jax.lax.psum(part, "replica")

    program = jax.jit(
        jax.shard_map(all_reduce, mesh=mesh, in_specs=PartitionSpec("replica"), out_specs=PartitionSpec())
    )
    # Whole numbers so small that every order of adding gives the same.
    parts = np.arange(len(devices) * _FLOATS, dtype=np.float32).reshape(len(devices), _FLOATS) % 251
    placed = jax.device_put(parts, rows)
    first, result = _measure(lambda: jax.block_until_ready(program(placed)))
    seconds = [_measure(lambda: jax.block_until_ready(program(placed)))[0] for _ in range(_NUM_RUNS)]
    return {
        "num_devices": len(devices),
        "num_bytes": parts[0].nbytes,
        "correct": bool(np.array_equal(np.asarray(result)[0], parts.sum(axis=0))),
        "first_seconds": round(first, 3),
        "milliseconds": round(1e3 * statistics.median(seconds), 3),
    }


def _training() -> dict[str, Any]:
    import unisono  # isort: skip  (before keras, whose backend it chooses)
    import keras
    import numpy as np

    strategy = unisono.MirroredStrategy()
    with strategy.scope():
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, use_bias=False, kernel_initializer="zeros")])
        model.compile(keras.optimizers.SGD(0.25), "mse")
    num_rows = 8 * strategy.num_replicas_in_sync
    x = (np.arange(4 * num_rows).reshape(num_rows, 4) % 5 - 2).astype("float32")
    y = x.sum(axis=1, keepdims=True)
    seconds, _ = _measure(lambda: model.fit(x, y, batch_size=num_rows, shuffle=False, verbose=0))
    expected = 0.25 * 2 / num_rows * x.T @ y  # one step of gradient descent from zero
    difference = float(np.max(np.abs(model.get_weights()[0] - expected)))
    return {
        "num_replicas": strategy.num_replicas_in_sync,
        "correct": difference < 1e-5,
        "difference": difference,
        "seconds": round(seconds, 3),
    }


def _hooks() -> dict[str, Any]:
    """Installs those of the tf namespace and of jobs of several processes, too."""
    importlib.import_module("unisono.tf")
    importlib.import_module("unisono._src._install_hooks").install_hooks_of_jobs()
    registry = importlib.import_module("unisono._src.hooks")
    return {"hooks": [dataclasses.asdict(hook) for hook in registry.registered_hooks()]}


def _measure(call: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    result = call()
    return time.perf_counter() - began, result


# (stage, what it does, its prerequisites)
STAGES: Final[tuple[tuple[str, Callable[[], dict[str, Any]], tuple[str, ...]], ...]] = (
    ("import", _import, ()),
    ("devices", _devices, ()),
    ("all_reduce", _all_reduce, ("devices",)),
    ("training", _training, ("import", "all_reduce")),
    ("hooks", _hooks, ("import",)),
)


if __name__ == "__main__":
    main(sys.argv[1:] or [name for name, _, _ in STAGES if name != "hooks"])
