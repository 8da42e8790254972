"""`tf.tpu.experimental`: what TPU scripts call before they create a strategy."""

from unisono._src.strategy._tpu_cluster_resolver import TPUSystemMetadata
from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.tpu.experimental import embedding
from unisono.tf.tpu.experimental._device_assignment import DeviceAssignment, DeviceOrderMode, HardwareFeature, Topology
from unisono.tpu.experimental import initialize_tpu_system, shutdown_tpu_system

__getattr__ = _explain_missing_names("tf.tpu.experimental")
