"""Creates, reads, assigns and describes variables and constants."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras import ops


def dtype_name(dtype: Any) -> str:
    """Keras's name of a dtype."""
    name: str = keras.backend.standardize_dtype(dtype)
    return name


def float_dtype_name(dtype: Any) -> str:
    """Keras's name of a dtype; `floatx()` for None."""
    name: str = keras.config.floatx() if dtype is None else dtype_name(dtype)
    return name


def int_shape(x: Any) -> tuple[int | None, ...]:
    """The shape as a tuple."""
    return tuple(x.shape)


def dtype(x: Any) -> str:
    """The name of the dtype."""
    return dtype_name(x.dtype)


def cast_to_floatx(x: Any) -> Any:
    """Casts to `floatx()`; NumPy arrays stay NumPy arrays."""
    if isinstance(x, keras.KerasTensor | keras.Variable) or ops.is_tensor(x):
        return ops.cast(x, keras.config.floatx())
    return np.asarray(x, keras.config.floatx())


def constant(value: Any, dtype: Any = None, shape: Any = None, name: Any = None) -> Any:
    """Creates a tensor."""
    created = ops.convert_to_tensor(value, float_dtype_name(dtype))
    return created if shape is None else ops.broadcast_to(created, shape)


def variable(value: Any, dtype: Any = None, name: str | None = None, constraint: Any = None) -> Any:
    """Creates a variable."""
    created = keras.Variable(value, dtype=float_dtype_name(dtype), name=name)
    if constraint is not None:
        created.constraint = constraint
    return created


def zeros(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Creates a variable of zeros."""
    return variable(np.zeros(shape), dtype, name)


def ones(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Creates a variable of ones."""
    return variable(np.ones(shape), dtype, name)


def zeros_like(x: Any, dtype: Any = None, name: Any = None) -> Any:
    """Zeros in the shape of ``x``."""
    return ops.zeros_like(x, dtype=dtype if dtype is None else dtype_name(dtype))


def ones_like(x: Any, dtype: Any = None, name: Any = None) -> Any:
    """Ones in the shape of ``x``."""
    return ops.ones_like(x, dtype=dtype if dtype is None else dtype_name(dtype))


def get_value(x: Any) -> Any:
    """The value of a variable or a tensor as a NumPy array."""
    return np.asarray(x.value if isinstance(x, keras.Variable) else x)[()]


def set_value(x: Any, value: Any) -> None:
    """Assigns a value to a variable."""
    x.assign(value)


def batch_get_value(tensors: Any) -> list[Any]:
    """:func:`get_value` for each tensor."""
    return [get_value(each) for each in tensors]


def batch_set_value(tuples: Any) -> None:
    """:func:`set_value` for each pair."""
    for each, value in tuples:
        set_value(each, value)


def update(x: Any, new_x: Any) -> Any:
    """Assigns; returns the new value."""
    return x.assign(new_x)


def update_add(x: Any, increment: Any) -> Any:
    """Adds; returns the new value."""
    return x.assign_add(increment)


def update_sub(x: Any, decrement: Any) -> Any:
    """Subtracts; returns the new value."""
    return x.assign_sub(decrement)


def moving_average_update(x: Any, value: Any, momentum: Any) -> Any:
    """Moves a variable towards ``value``."""
    return x.assign(x * momentum + value * (1 - momentum))


def count_params(x: Any) -> int:
    """The number of elements."""
    return int(np.prod(x.shape))


def eval(x: Any) -> Any:
    """The value of a variable or a tensor as a NumPy array."""
    return get_value(x)


def is_tensor(x: Any) -> bool:
    """Whether it is a tensor, symbolic or not."""
    return bool(ops.is_tensor(x)) or isinstance(x, keras.KerasTensor)


def is_sparse(tensor: Any) -> bool:
    """Whether it is sparse; always False for tensors of the namespace."""
    return bool(getattr(tensor, "sparse", False))
