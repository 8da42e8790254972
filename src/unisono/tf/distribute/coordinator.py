"""`tf.distribute.coordinator`, which is not supported: it belongs to parameter-server training."""

# ruff: noqa: F401  (names that the module re-exports)

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.distribute._parameter_servers import (
    ClusterCoordinator,
    PerWorkerValue,
    RemoteValue,
    experimental_get_current_worker_index,
)

__getattr__ = _explain_missing_names("tf.distribute.coordinator")
