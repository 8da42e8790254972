"""What JAX is installed for, and what the machine has."""

from __future__ import annotations

import importlib.metadata

from unisono._src.devices import num_gpus


def is_built_with_cuda() -> bool:
    """Whether JAX is installed with CUDA."""
    return any("cuda" in name for name in _plugins())


def is_built_with_rocm() -> bool:
    """Whether JAX is installed with ROCm."""
    return any("rocm" in name for name in _plugins())


def is_built_with_gpu_support() -> bool:
    """Whether JAX is installed for GPUs."""
    return is_built_with_cuda() or is_built_with_rocm()


def is_built_with_xla() -> bool:
    """True."""
    return True


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: tuple[int, int] | None = None) -> bool:
    """Whether there is a GPU. The arguments are accepted, without effect."""
    return num_gpus() > 0


def gpu_device_name() -> str:
    """The name of the first GPU, or an empty text."""
    return "/device:GPU:0" if num_gpus() else ""


def is_cpu_target_available(target: str) -> bool:
    """Whether programs for this kind of CPU can be run: they are compiled for the one that there is."""
    return target in ("x86_64", "aarch64")


def _plugins() -> list[str]:
    return [point.name for point in importlib.metadata.entry_points(group="jax_plugins")]
