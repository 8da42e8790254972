"""Functions of TensorFlow's private modules that have no public counterpart, and that scripts import."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from unisono._src import devices
from unisono.tf._control_flow import cond
from unisono.tf._execution import executing_eagerly, get_static_value, init_scope
from unisono.tf._tensors import as_array
from unisono.tf.io._gfile import GFile
from unisono.tf.sysconfig import get_build_info

build_info = get_build_info()  # platform.build_info
num_gpus = devices.num_gpus  # eager.context


def smart_cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: str | None = None) -> Any:
    """Calls one of two functions; `tf.cond` if the predicate is known only at run time."""
    known = smart_constant_value(pred)
    if known is None:
        return cond(pred, true_fn, false_fn)
    return true_fn() if known else false_fn()


def smart_constant_value(pred: Any) -> bool | None:
    """The predicate as a bool; None if it is known only at run time."""
    value = get_static_value(pred) if hasattr(pred, "dtype") else pred
    return None if value is None else bool(value)


def assign_moving_average(
    variable: Any, value: Any, decay: Any, zero_debias: bool = False, name: str | None = None
) -> Any:
    """Moves the variable toward the value: ``variable * decay + value * (1 - decay)``."""
    if zero_debias:
        raise ValueError(
            "assign_moving_average: zero_debias=True is not supported; use tf.train.ExponentialMovingAverage."
        )
    value = as_array(value, variable.dtype)
    variable.assign_sub((as_array(variable) - value) * (1 - decay))
    return variable


def no_dependency(value: Any) -> Any:
    """The value: attributes of modules are tracked by what they are."""
    return value


def enabled() -> bool:
    """Returns True: `tensorflow.python.tf2` says that the behavior is TensorFlow 2's."""
    return True


def eager_mode() -> contextlib.AbstractContextManager[None]:
    """Code inside runs eagerly, as in `tf.init_scope`."""
    return contextlib.nullcontext() if executing_eagerly() else init_scope()


def read_file_to_string(filename: Any, binary_mode: bool = False) -> Any:
    """The content of a file."""
    with GFile(filename, "rb" if binary_mode else "r") as file:
        return file.read()


def write_string_to_file(filename: Any, file_content: str) -> None:
    """Writes a text file."""
    with GFile(filename, "w") as file:
        file.write(file_content)
