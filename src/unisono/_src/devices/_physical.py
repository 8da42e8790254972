"""What the machine has, found without starting JAX: once it has started, the number of CPU devices is fixed."""

from __future__ import annotations

import importlib.metadata
import os
from pathlib import Path

import jax

from unisono._src.devices._startup import has_jax_started
from unisono_launch.cluster import visible_gpus


def num_gpus() -> int:
    """How many GPUs this process has. Before JAX has started: how many the driver shows, if JAX can use any."""
    if has_jax_started():
        return _count_devices("gpu")
    platforms = [name for name in (jax.config.values["jax_platforms"] or "").split(",") if name]
    allowed = not platforms or any(name in ("cuda", "gpu", "rocm") for name in platforms)
    return len(visible_gpus(os.environ)) if allowed and _has_gpu_plugin() else 0


def num_cpu_devices() -> int:
    """How many CPU devices this process has, or will have."""
    return _count_devices("cpu") if has_jax_started() else max(1, jax.config.values["jax_num_cpu_devices"])


def restrict_gpus(indices: list[int]) -> None:
    """Makes JAX see only these of the GPUs that :func:`num_gpus` counts. Only before it has started."""
    if not indices:
        jax.config.update("jax_platforms", "cpu")
    else:
        jax.config.update("jax_cuda_visible_devices", ",".join(map(str, indices)))


def gpu_model(index: int, driver: Path = Path("/proc/driver/nvidia/gpus")) -> str | None:
    """The model name that the driver gives for a GPU; None if it gives none."""
    folders = sorted(driver.glob("*"))
    if index >= len(folders):
        return None
    lines = (folders[index] / "information").read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("Model:")), None)


def _count_devices(kind: str) -> int:
    try:
        return len(jax.local_devices(backend=kind))
    except RuntimeError:  # JAX raises this when the machine has no device of this kind
        return 0


def _has_gpu_plugin() -> bool:
    names = [point.name for point in importlib.metadata.entry_points(group="jax_plugins")]
    return any("cuda" in name or "rocm" in name for name in names)
