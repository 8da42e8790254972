"""`tf.make_tensor_proto` and `tf.make_ndarray`: arrays as messages, which event files hold, and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unisono._src.data import files
from unisono.tf._dtypes import as_dtype
from unisono.tf._tensors import convert_to_tensor

OTHER_SHAPE = "tf.make_tensor_proto: expected values of shape {shape}, got {given}."


def make_tensor_proto(
    values: Any, dtype: Any = None, shape: Any = None, verify_shape: bool = False, allow_broadcast: bool = False
) -> Any:
    """Converts a tensor to a TensorProto message.

    >>> make_ndarray(make_tensor_proto([[1.5, 2.5]]))
    array([[1.5, 2.5]], dtype=float32)

    Args:
        values: the tensor. Python values have the dtype that `tf.constant` gives them.
        dtype: another dtype.
        shape: another shape. A scalar fills it.
        verify_shape: whether the values must have that shape.
        allow_broadcast: accepted; a scalar always fills a shape.
    """
    if isinstance(values, np.ndarray | np.generic):
        array = np.asarray(values) if dtype is None else np.asarray(values).astype(as_dtype(dtype).dtype)
    else:
        array = np.asarray(convert_to_tensor(values, dtype))
    if shape is not None:
        array = _reshape(array, tuple(int(size) for size in shape), verify_shape)
    return files.make_tensor_proto(array)


def make_ndarray(tensor: Any) -> np.ndarray[Any, Any]:
    """The array in a TensorProto message; text is an array of `bytes`."""
    try:
        return files.parse_tensor(tensor.SerializeToString()).copy()
    except files.ExampleError as error:
        raise TypeError(f"tf.make_ndarray: {error}") from error


def _reshape(array: np.ndarray[Any, Any], shape: tuple[int, ...], verify: bool) -> np.ndarray[Any, Any]:
    if array.shape == shape:
        return array
    if verify:
        raise TypeError(OTHER_SHAPE.format(shape=shape, given=array.shape))
    if array.size == 1:
        return np.broadcast_to(array.reshape(()), shape)
    if array.size != math.prod(shape):
        raise ValueError(OTHER_SHAPE.format(shape=shape, given=array.shape))
    return array.reshape(shape)
