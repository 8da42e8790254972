"""`tf.profiler.experimental.server`: lets TensorBoard, or another process, ask for profiles of this one."""

import jax

from unisono.tf._missing import explain_missing_names as _explain_missing_names


def start(port: int) -> None:
    """Listens at ``port`` until the process ends."""
    jax.profiler.start_server(port)


__getattr__ = _explain_missing_names("tf.profiler.experimental.server")
