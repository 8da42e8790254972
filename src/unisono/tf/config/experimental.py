"""`tf.config.experimental`: older spellings, and what never left it."""

# ruff: noqa: F401  (names that the module re-exports)

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf._unsupported import unsupported_class, unsupported_function
from unisono.tf.config._accuracy import (
    enable_op_determinism,
    enable_tensor_float_32_execution,
    tensor_float_32_execution_enabled,
)
from unisono.tf.config._details import get_device_details
from unisono.tf.config._devices import list_logical_devices, list_physical_devices
from unisono.tf.config._logical import LogicalDeviceConfiguration
from unisono.tf.config._logical import get_logical_device_configuration as _get_logical
from unisono.tf.config._logical import set_logical_device_configuration as _set_logical
from unisono.tf.config._memory import get_memory_growth, get_memory_info, get_memory_usage, set_memory_growth
from unisono.tf.config._visible import get_visible_devices, set_visible_devices
from unisono.tf.config._ways_to_run import (
    disable_mlir_bridge,
    enable_mlir_bridge,
    get_device_policy,
    get_synchronous_execution,
    set_device_policy,
    set_synchronous_execution,
)

VirtualDeviceConfiguration = LogicalDeviceConfiguration
get_virtual_device_configuration = _get_logical
set_virtual_device_configuration = _set_logical

ClusterDeviceFilters = unsupported_class(
    "tf.config.experimental.ClusterDeviceFilters",
    "devices of other machines are not chosen one by one; every process of MultiWorkerMirroredStrategy uses its own.",
)
reset_memory_stats = unsupported_function(
    "tf.config.experimental.reset_memory_stats",
    "JAX keeps the peak of the whole process; compare two values of get_memory_info(device)['peak'].",
)

__getattr__ = _explain_missing_names("tf.config.experimental")
