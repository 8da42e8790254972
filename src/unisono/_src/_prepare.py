"""What must happen before JAX and Keras are imported for the first time. Runs when this module is imported."""

from unisono._src.core import check_versions, choose_jax_backend, read_environment

check_versions()
choose_jax_backend()

from unisono._src.devices import set_cpu_devices  # noqa: E402  (imports JAX)

_cpu_devices = read_environment().cpu_devices
if _cpu_devices is not None:
    set_cpu_devices(_cpu_devices)
