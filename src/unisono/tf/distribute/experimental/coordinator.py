"""`tf.distribute.experimental.coordinator`: older names of `tf.distribute.coordinator`, not supported either."""

# ruff: noqa: F401  (names that the module re-exports)

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.distribute import _parameter_servers as _servers
from unisono.tf.distribute._parameter_servers import ClusterCoordinator, RemoteValue

PerWorkerValues = _servers.PerWorkerValue

__getattr__ = _explain_missing_names("tf.distribute.experimental.coordinator")
