"""`tf.distribute.coordinator`, which is refused: it belongs to training with parameter servers."""

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.distribute._parameter_servers import ClusterCoordinator as ClusterCoordinator
from unisono.tf.distribute._parameter_servers import PerWorkerValue as PerWorkerValue
from unisono.tf.distribute._parameter_servers import RemoteValue as RemoteValue
from unisono.tf.distribute._parameter_servers import (
    experimental_get_current_worker_index as experimental_get_current_worker_index,
)

__getattr__ = _missing_in("tf.distribute.coordinator")
