"""How programs run: eagerly or compiled, numerical precision, determinism, placement; and calls that change nothing."""

from __future__ import annotations

from typing import Any

import jax

from unisono._src.devices import deterministic, has_jax_started, num_gpus
from unisono_launch.cluster import ClusterResolver, ClusterSpec

NOT_A_CLUSTER = "experimental_connect_to_cluster: expected a cluster resolver or a tf.train.ClusterSpec, got {given!r}."

_soft_placement = True


def set_soft_device_placement(enabled: bool) -> None:
    """Whether `tf.device` uses another device if the named one does not exist, or raises an error."""
    global _soft_placement
    _soft_placement = bool(enabled)


def get_soft_device_placement() -> bool:
    """The value that was set; by default True."""
    return _soft_placement


def enable_tensor_float_32_execution(enabled: bool) -> None:
    """Whether GPUs may round the operands of float32 matrix products, which is faster and the default."""
    jax.config.update("jax_default_matmul_precision", None if enabled else "float32")


def tensor_float_32_execution_enabled() -> bool:
    """Whether GPUs may round the operands of float32 matrix products."""
    return bool(jax.config.values["jax_default_matmul_precision"] != "float32")


def enable_op_determinism() -> None:
    """Every run gives the same bits, on GPUs too: `unisono.config.deterministic()`. Call it before JAX starts.

    CPUs are deterministic anyway. Set seeds yourself: `tf.keras.utils.set_random_seed(seed)`.
    """
    if not has_jax_started() or num_gpus():
        deterministic()


def experimental_connect_to_cluster(
    cluster_spec_or_resolver: Any,
    job_name: str = "localhost",
    task_index: int = 0,
    protocol: str | None = None,
    make_master_device_default: bool = True,
    cluster_device_filters: Any = None,
) -> None:
    """Only checks the argument: the strategy that is created next connects to the cluster."""
    if not isinstance(cluster_spec_or_resolver, ClusterResolver | ClusterSpec):
        raise TypeError(NOT_A_CLUSTER.format(given=cluster_spec_or_resolver))


def experimental_connect_to_host(remote_host: Any = None, job_name: str = "worker") -> None:
    """Does nothing: scripts run on the machine with the devices, where strategies find them."""


def set_synchronous_execution(enable: bool) -> None:
    """Accepted, without effect: JAX dispatches operations asynchronously."""


def get_synchronous_execution() -> bool:
    """Always False."""
    return False


def set_device_policy(device_policy: str | None) -> None:
    """Accepted, without effect: JAX raises an error if operands are on different devices."""


def get_device_policy() -> str:
    """Always "explicit": arrays are not copied between devices silently."""
    return "explicit"


def enable_mlir_bridge() -> None:
    """Does nothing: XLA compiles everything."""


def disable_mlir_bridge() -> None:
    """Does nothing: XLA compiles everything."""
