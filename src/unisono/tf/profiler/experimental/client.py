"""`tf.profiler.experimental.client`: profiles of other processes. They are asked for by TensorBoard here."""

from typing import Any, NoReturn

from unisono.tf._missing import explain_missing_names as _explain_missing_names

NOT_HERE = """tf.profiler.experimental.client.{name}: profiles of other processes are not taken from a script here. Call
tf.profiler.experimental.server.start(port) there, and use "Capture profile" of TensorBoard's profile page; or record in
the process itself with tf.profiler.experimental.start(logdir)."""


def trace(*args: Any, **kwargs: Any) -> NoReturn:
    """Not supported. TensorBoard asks other processes for their profiles."""
    raise NotImplementedError(NOT_HERE.format(name="trace"))


def monitor(*args: Any, **kwargs: Any) -> NoReturn:
    """Not supported. TensorBoard asks other processes for their profiles."""
    raise NotImplementedError(NOT_HERE.format(name="monitor"))


__getattr__ = _explain_missing_names("tf.profiler.experimental.client")
