"""`tf.config`: the devices there are, and switches of the process.

Listing devices does not start JAX, so that their number can still be set afterwards.
"""

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.config import experimental, optimizer, threading
from unisono.tf.config._devices import LogicalDevice, PhysicalDevice, list_logical_devices, list_physical_devices
from unisono.tf.config._functions import (
    experimental_functions_run_eagerly,
    experimental_run_functions_eagerly,
    functions_run_eagerly,
    run_functions_eagerly,
)
from unisono.tf.config._logical import (
    LogicalDeviceConfiguration,
    get_logical_device_configuration,
    set_logical_device_configuration,
)
from unisono.tf.config._remote import experimental_connect_to_cluster, experimental_connect_to_host
from unisono.tf.config._soft_placement import get_soft_device_placement, set_soft_device_placement
from unisono.tf.config._visible import get_visible_devices, set_visible_devices

__getattr__ = _explain_missing_names("tf.config")
