"""What must happen before JAX and Keras are imported for the first time. Runs when this module is imported."""

from unisono._src.core import WRONG_BACKEND, check_versions, choose_jax_backend, read_environment

check_versions()
choose_jax_backend()

import keras  # noqa: E402  (reads KERAS_BACKEND once, when it is first imported)

if keras.backend.backend() != "jax":
    raise ImportError(WRONG_BACKEND.format(where="Keras, imported before Unisono,", backend=keras.backend.backend()))

from unisono._src.devices import set_cpu_devices  # noqa: E402  (imports JAX)

_cpu_devices = read_environment().cpu_devices
if _cpu_devices is not None:
    set_cpu_devices(_cpu_devices)
