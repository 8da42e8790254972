"""`tf.tpu.experimental`: what scripts for TPUs call before they make a strategy."""

from unisono._src.strategy._tpu_cluster_resolver import TPUSystemMetadata
from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.tpu.experimental import embedding
from unisono.tf.tpu.experimental._device_assignment import DeviceAssignment, DeviceOrderMode, HardwareFeature, Topology
from unisono.tpu.experimental import initialize_tpu_system, shutdown_tpu_system

__getattr__ = _missing_in("tf.tpu.experimental")
