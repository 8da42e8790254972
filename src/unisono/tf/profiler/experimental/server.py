"""`tf.profiler.experimental.server`: lets TensorBoard capture profiles of this process."""

import jax

from unisono.tf._missing import explain_missing_names as _explain_missing_names


def start(port: int) -> None:
    """Starts the profiler server on ``port``; it runs until the process ends."""
    jax.profiler.start_server(port)


__getattr__ = _explain_missing_names("tf.profiler.experimental.server")
