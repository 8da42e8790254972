"""`tf.distribute.coordinator`: gives functions to the workers of a `ParameterServerStrategy`."""

# ruff: noqa: F401  (names that the module re-exports)

from unisono._src.parameter_servers import ClusterCoordinator, RemoteValue
from unisono._src.parameter_servers import PerWorkerValues as PerWorkerValue
from unisono._src.parameter_servers import get_current_worker_index as experimental_get_current_worker_index
from unisono.tf._missing import explain_missing_names as _explain_missing_names

__getattr__ = _explain_missing_names("tf.distribute.coordinator")
