"""`tf.distribute.experimental.coordinator`: older spellings, refused as the newer ones are."""

# ruff: noqa: F401  (names that the module re-exports)

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.distribute import _parameter_servers as _servers
from unisono.tf.distribute._parameter_servers import ClusterCoordinator, RemoteValue

PerWorkerValues = _servers.PerWorkerValue

__getattr__ = _missing_in("tf.distribute.experimental.coordinator")
