"""`tf.config`: devices, and settings of the process.

Listing devices does not start JAX, so that their number can still be set afterwards.
"""

from unisono._src.tracing.functions import functions_run_eagerly, run_functions_eagerly
from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.config import experimental, optimizer, threading
from unisono.tf.config._devices import (
    LogicalDevice, PhysicalDevice, get_visible_devices, list_logical_devices, list_physical_devices,
    set_visible_devices,
)
from unisono.tf.config._execution import (
    experimental_connect_to_cluster, experimental_connect_to_host, get_soft_device_placement, set_soft_device_placement,
)
from unisono.tf.config._logical_devices import (
    LogicalDeviceConfiguration, get_logical_device_configuration, set_logical_device_configuration,
)

experimental_functions_run_eagerly = functions_run_eagerly
experimental_run_functions_eagerly = run_functions_eagerly

__getattr__ = _explain_missing_names("tf.config")
