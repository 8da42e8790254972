"""`tf.profiler.experimental.server`: lets TensorBoard, or another process, ask for profiles of this one."""

import jax

from unisono.tf._missing import missing_in as _missing_in


def start(port: int) -> None:
    """Listens at ``port`` until the process ends."""
    jax.profiler.start_server(port)


__getattr__ = _missing_in("tf.profiler.experimental.server")
