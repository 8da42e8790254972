"""Starting and stopping TPUs. JAX does both by itself; these are for scripts that call them."""

from __future__ import annotations

from unisono._src.strategy._tpu_cluster_resolver import TPUClusterResolver, TPUSystemMetadata

__all__ = ["initialize_tpu_system", "shutdown_tpu_system"]


def initialize_tpu_system(cluster_resolver: TPUClusterResolver | None = None) -> TPUSystemMetadata:
    """Checks that there are TPUs, and returns facts about them; without any, a ValueError: "no TPU: …".

    ```python
    resolver = unisono.cluster_resolver.TPUClusterResolver()
    unisono.tpu.experimental.initialize_tpu_system(resolver)
    strategy = unisono.TPUStrategy(resolver)
    ```
    """
    return (cluster_resolver or TPUClusterResolver()).get_tpu_system_metadata()


def shutdown_tpu_system(cluster_resolver: TPUClusterResolver | None = None) -> None:
    """Does nothing: TPUs are released when the process ends."""
    del cluster_resolver
