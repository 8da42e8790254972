"""The machine as JAX sees it: devices by name, several CPU devices, and where arrays live."""

from unisono._src.devices._cpu_devices import set_cpu_devices
from unisono._src.devices._determinism import cache_compiled_programs, deterministic, is_deterministic
from unisono._src.devices._devices import all_devices, default_devices, device_name, resolve_devices
from unisono._src.devices._launches import LaunchQueue
from unisono._src.devices._memory import copies_fit, residency, set_residency
from unisono._src.devices._physical import gpu_model, num_cpu_devices, num_gpus, restrict_gpus
from unisono._src.devices._placement import Placement, ReleasableArrays
from unisono._src.devices._started import has_jax_started
from unisono._src.devices._sync_check import set_sync_check, sync_check
