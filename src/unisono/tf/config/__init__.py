"""`tf.config`: the devices there are, and switches of the process.

Listing devices does not start JAX, so that their number can still be set afterwards.
"""

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.config import experimental as experimental
from unisono.tf.config import optimizer as optimizer
from unisono.tf.config import threading as threading
from unisono.tf.config._devices import LogicalDevice as LogicalDevice
from unisono.tf.config._devices import PhysicalDevice as PhysicalDevice
from unisono.tf.config._devices import list_logical_devices as list_logical_devices
from unisono.tf.config._devices import list_physical_devices as list_physical_devices
from unisono.tf.config._functions import experimental_functions_run_eagerly as experimental_functions_run_eagerly
from unisono.tf.config._functions import experimental_run_functions_eagerly as experimental_run_functions_eagerly
from unisono.tf.config._functions import functions_run_eagerly as functions_run_eagerly
from unisono.tf.config._functions import run_functions_eagerly as run_functions_eagerly
from unisono.tf.config._logical import LogicalDeviceConfiguration as LogicalDeviceConfiguration
from unisono.tf.config._logical import get_logical_device_configuration as get_logical_device_configuration
from unisono.tf.config._logical import set_logical_device_configuration as set_logical_device_configuration
from unisono.tf.config._remote import experimental_connect_to_cluster as experimental_connect_to_cluster
from unisono.tf.config._remote import experimental_connect_to_host as experimental_connect_to_host
from unisono.tf.config._soft_placement import get_soft_device_placement as get_soft_device_placement
from unisono.tf.config._soft_placement import set_soft_device_placement as set_soft_device_placement
from unisono.tf.config._visible import get_visible_devices as get_visible_devices
from unisono.tf.config._visible import set_visible_devices as set_visible_devices

__getattr__ = _missing_in("tf.config")
