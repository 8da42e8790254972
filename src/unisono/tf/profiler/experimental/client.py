"""`tf.profiler.experimental.client`: profiles of other processes. They are asked for by TensorBoard here."""

from typing import Any, NoReturn

from unisono.tf._missing import missing_in as _missing_in

NOT_HERE = """tf.profiler.experimental.client.{name}: profiles of other processes are not taken from a script here. Call
tf.profiler.experimental.server.start(port) there, and use "Capture profile" of TensorBoard's profile page; or record in
the process itself with tf.profiler.experimental.start(logdir)."""


def trace(*args: Any, **kwargs: Any) -> NoReturn:
    """Refused. TensorBoard asks other processes for their profiles."""
    raise NotImplementedError(NOT_HERE.format(name="trace"))


def monitor(*args: Any, **kwargs: Any) -> NoReturn:
    """Refused. TensorBoard asks other processes for their profiles."""
    raise NotImplementedError(NOT_HERE.format(name="monitor"))


__getattr__ = _missing_in("tf.profiler.experimental.client")
