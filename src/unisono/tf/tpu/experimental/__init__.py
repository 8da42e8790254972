"""`tf.tpu.experimental`: what scripts for TPUs call before they make a strategy."""

from unisono._src.strategy._tpu_cluster_resolver import TPUSystemMetadata as TPUSystemMetadata
from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.tpu.experimental import embedding as embedding
from unisono.tf.tpu.experimental._assignment import DeviceAssignment as DeviceAssignment
from unisono.tf.tpu.experimental._assignment import DeviceOrderMode as DeviceOrderMode
from unisono.tf.tpu.experimental._assignment import HardwareFeature as HardwareFeature
from unisono.tf.tpu.experimental._assignment import Topology as Topology
from unisono.tpu.experimental import initialize_tpu_system as initialize_tpu_system
from unisono.tpu.experimental import shutdown_tpu_system as shutdown_tpu_system

__getattr__ = _missing_in("tf.tpu.experimental")
