"""Which accelerators JAX is installed for, and which the machine has."""

from __future__ import annotations

import importlib.metadata

from unisono._src.devices import num_gpus


def is_built_with_cuda() -> bool:
    """Whether JAX is installed with CUDA support."""
    return any("cuda" in name for name in _jax_plugins())


def is_built_with_rocm() -> bool:
    """Whether JAX is installed with ROCm support."""
    return any("rocm" in name for name in _jax_plugins())


def is_built_with_gpu_support() -> bool:
    """Whether JAX is installed with CUDA or ROCm support."""
    return is_built_with_cuda() or is_built_with_rocm()


def is_built_with_xla() -> bool:
    """Returns True."""
    return True


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: tuple[int, int] | None = None) -> bool:
    """Whether there is a GPU. The arguments are accepted without effect."""
    return num_gpus() > 0


def gpu_device_name() -> str:
    """Returns the name of the first GPU, or an empty string."""
    return "/device:GPU:0" if num_gpus() else ""


def is_cpu_target_available(target: str) -> bool:
    """Whether ``target`` is a CPU architecture that Unisono runs on. It is not compared with this machine's."""
    return target in ("x86_64", "aarch64")


def _jax_plugins() -> list[str]:
    return [point.name for point in importlib.metadata.entry_points(group="jax_plugins")]
