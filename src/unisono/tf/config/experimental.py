"""`tf.config.experimental`: older names of `tf.config`, and names that exist only here."""

# ruff: noqa: F401  (names that the module re-exports)

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf._unsupported import unsupported_class, unsupported_function
from unisono.tf.config._devices import (
    get_device_details,
    get_visible_devices,
    list_logical_devices,
    list_physical_devices,
    set_visible_devices,
)
from unisono.tf.config._execution import (
    disable_mlir_bridge,
    enable_mlir_bridge,
    enable_op_determinism,
    enable_tensor_float_32_execution,
    get_device_policy,
    get_synchronous_execution,
    set_device_policy,
    set_synchronous_execution,
    tensor_float_32_execution_enabled,
)
from unisono.tf.config._logical_devices import LogicalDeviceConfiguration as VirtualDeviceConfiguration
from unisono.tf.config._logical_devices import get_logical_device_configuration as get_virtual_device_configuration
from unisono.tf.config._logical_devices import set_logical_device_configuration as set_virtual_device_configuration
from unisono.tf.config._memory import get_memory_growth, get_memory_info, get_memory_usage, set_memory_growth

ClusterDeviceFilters = unsupported_class(
    "tf.config.experimental.ClusterDeviceFilters",
    "devices of other machines cannot be selected; every process of MultiWorkerMirroredStrategy uses its own.",
)
reset_memory_stats = unsupported_function(
    "tf.config.experimental.reset_memory_stats",
    "JAX reports the peak of the whole process; compare two values of get_memory_info(device)['peak'].",
)

__getattr__ = _explain_missing_names("tf.config.experimental")
