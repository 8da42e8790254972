"""`tf.profiler.experimental.client`: profiles of other processes. Not supported: TensorBoard captures them."""

from typing import Any, NoReturn

from unisono.tf._missing import explain_missing_names as _explain_missing_names

UNSUPPORTED = """tf.profiler.experimental.client.{name} is not supported. Call
tf.profiler.experimental.server.start(port) in the other process and use "Capture profile" on
TensorBoard's profile page; or record a profile in the process itself with tf.profiler.experimental.start(logdir)."""


def trace(*args: Any, **kwargs: Any) -> NoReturn:
    """Not supported. TensorBoard captures profiles of other processes."""
    raise NotImplementedError(UNSUPPORTED.format(name="trace"))


def monitor(*args: Any, **kwargs: Any) -> NoReturn:
    """Not supported. TensorBoard captures profiles of other processes."""
    raise NotImplementedError(UNSUPPORTED.format(name="monitor"))


__getattr__ = _explain_missing_names("tf.profiler.experimental.client")
