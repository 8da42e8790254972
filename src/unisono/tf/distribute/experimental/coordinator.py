"""`tf.distribute.experimental.coordinator`: older names of `tf.distribute.coordinator`."""

# ruff: noqa: F401  (names that the module re-exports)

from unisono._src.parameter_servers import ClusterCoordinator, PerWorkerValues, RemoteValue
from unisono.tf._missing import explain_missing_names as _explain_missing_names

__getattr__ = _explain_missing_names("tf.distribute.experimental.coordinator")
