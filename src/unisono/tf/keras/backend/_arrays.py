"""Functions on tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
from keras import ops

from unisono.tf.keras.backend._dtypes import dtype_name, float_name

cast = ops.cast
ndim = ops.ndim
reshape = ops.reshape
relu = keras.activations.relu
shape = ops.shape
sigmoid = ops.sigmoid
softplus = ops.softplus
softsign = ops.softsign
squeeze = ops.squeeze
stop_gradient = ops.stop_gradient
switch = ops.cond
tanh = ops.tanh


def mean(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`keras.ops.mean`."""
    return ops.mean(_number(x), axis=axis, keepdims=keepdims)


def sum(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`keras.ops.sum`."""
    return ops.sum(x, axis=axis, keepdims=keepdims)


def max(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`keras.ops.max`."""
    return ops.max(x, axis=axis, keepdims=keepdims)


def min(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`keras.ops.min`."""
    return ops.min(x, axis=axis, keepdims=keepdims)


def prod(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`keras.ops.prod`."""
    return ops.prod(x, axis=axis, keepdims=keepdims)


def std(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`keras.ops.std`."""
    return ops.std(_number(x), axis=axis, keepdims=keepdims)


def var(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`keras.ops.var`."""
    return ops.var(_number(x), axis=axis, keepdims=keepdims)


def any(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`keras.ops.any`."""
    return ops.any(x, axis=axis, keepdims=keepdims)


def all(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`keras.ops.all`."""
    return ops.all(x, axis=axis, keepdims=keepdims)


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`keras.ops.logsumexp`."""
    return ops.logsumexp(x, axis=axis, keepdims=keepdims)


def abs(x: Any) -> Any:
    """`keras.ops.abs`."""
    return ops.abs(x)


def exp(x: Any) -> Any:
    """`keras.ops.exp`."""
    return ops.exp(x)


def log(x: Any) -> Any:
    """`keras.ops.log`."""
    return ops.log(x)


def sqrt(x: Any) -> Any:
    """The square root; 0 for what is below 0."""
    return ops.sqrt(ops.maximum(x, 0))


def square(x: Any) -> Any:
    """`keras.ops.square`."""
    return ops.square(x)


def round(x: Any) -> Any:
    """`keras.ops.round`."""
    return ops.round(x)


def sign(x: Any) -> Any:
    """`keras.ops.sign`."""
    return ops.sign(x)


def sin(x: Any) -> Any:
    """`keras.ops.sin`."""
    return ops.sin(x)


def cos(x: Any) -> Any:
    """`keras.ops.cos`."""
    return ops.cos(x)


def transpose(x: Any) -> Any:
    """`keras.ops.transpose`."""
    return ops.transpose(x)


def pow(x: Any, a: Any) -> Any:
    """`keras.ops.power`."""
    return ops.power(x, a)


def maximum(x: Any, y: Any) -> Any:
    """`keras.ops.maximum`."""
    return ops.maximum(x, y)


def minimum(x: Any, y: Any) -> Any:
    """`keras.ops.minimum`."""
    return ops.minimum(x, y)


def equal(x: Any, y: Any) -> Any:
    """`keras.ops.equal`."""
    return ops.equal(x, y)


def not_equal(x: Any, y: Any) -> Any:
    """`keras.ops.not_equal`."""
    return ops.not_equal(x, y)


def greater(x: Any, y: Any) -> Any:
    """`keras.ops.greater`."""
    return ops.greater(x, y)


def greater_equal(x: Any, y: Any) -> Any:
    """`keras.ops.greater_equal`."""
    return ops.greater_equal(x, y)


def less(x: Any, y: Any) -> Any:
    """`keras.ops.less`."""
    return ops.less(x, y)


def less_equal(x: Any, y: Any) -> Any:
    """`keras.ops.less_equal`."""
    return ops.less_equal(x, y)


def clip(x: Any, min_value: Any, max_value: Any) -> Any:
    """`keras.ops.clip`."""
    return ops.clip(x, -np.inf if min_value is None else min_value, np.inf if max_value is None else max_value)


def argmax(x: Any, axis: int = -1) -> Any:
    """`keras.ops.argmax`."""
    return ops.argmax(x, axis=axis)


def argmin(x: Any, axis: int = -1) -> Any:
    """`keras.ops.argmin`."""
    return ops.argmin(x, axis=axis)


def cumsum(x: Any, axis: int = 0) -> Any:
    """`keras.ops.cumsum`."""
    return ops.cumsum(x, axis=axis)


def cumprod(x: Any, axis: int = 0) -> Any:
    """`keras.ops.cumprod`."""
    return ops.cumprod(x, axis=axis)


def flatten(x: Any) -> Any:
    """`keras.ops.reshape`."""
    return ops.reshape(x, (-1,))


def batch_flatten(x: Any) -> Any:
    """`keras.ops.reshape`."""
    return ops.reshape(x, (-1, int(np.prod(x.shape[1:]))))


def expand_dims(x: Any, axis: int = -1) -> Any:
    """`keras.ops.expand_dims`."""
    return ops.expand_dims(x, axis)


def concatenate(tensors: Any, axis: int = -1) -> Any:
    """`keras.ops.concatenate`."""
    return ops.concatenate(tensors, axis=axis)


def stack(x: Any, axis: int = 0) -> Any:
    """`keras.ops.stack`."""
    return ops.stack(x, axis=axis)


def tile(x: Any, n: Any) -> Any:
    """`keras.ops.tile`."""
    return ops.tile(x, [n] if isinstance(n, int) else n)


def repeat(x: Any, n: int) -> Any:
    """`keras.ops.repeat`."""
    return ops.repeat(ops.expand_dims(x, 1), n, axis=1)


def repeat_elements(x: Any, rep: int, axis: int) -> Any:
    """`keras.ops.repeat`."""
    return ops.repeat(x, rep, axis=axis)


def reverse(x: Any, axes: Any) -> Any:
    """`keras.ops.flip`."""
    return ops.flip(x, axis=axes)


def permute_dimensions(x: Any, pattern: Any) -> Any:
    """`keras.ops.transpose`."""
    return ops.transpose(x, pattern)


def gather(reference: Any, indices: Any) -> Any:
    """`keras.ops.take`."""
    return ops.take(reference, indices, axis=0)


def one_hot(indices: Any, num_classes: int) -> Any:
    """`keras.ops.one_hot`."""
    return ops.one_hot(indices, num_classes)


def softmax(x: Any, axis: int = -1) -> Any:
    """`keras.ops.softmax`."""
    return ops.softmax(x, axis=axis)


def elu(x: Any, alpha: float = 1.0) -> Any:
    """`keras.ops.elu`."""
    return ops.elu(x, alpha)


def hard_sigmoid(x: Any) -> Any:
    """The sigmoid in three straight lines, as Keras 2 drew it."""
    return ops.clip(0.2 * x + 0.5, 0.0, 1.0)


def l2_normalize(x: Any, axis: Any = None) -> Any:
    """The tensor divided by its length along ``axis``."""
    return x * ops.rsqrt(ops.maximum(ops.sum(ops.square(x), axis=axis, keepdims=True), 1e-12))


def eye(size: int, dtype: Any = None, name: Any = None) -> Any:
    """`keras.ops.eye`."""
    return ops.eye(size, dtype=float_name(dtype))


def dot(x: Any, y: Any) -> Any:
    """The product of matrices, over the last dim of ``x`` and the second to last of ``y``."""
    return ops.dot(x, y)


def batch_dot(x: Any, y: Any, axes: Any = None) -> Any:
    """The product of each row's vectors or matrices, over one dim of each."""
    if axes is None:
        axes = (x.ndim - 1, y.ndim - 2 if y.ndim > 2 else 1)
    first, second = (axes, axes) if isinstance(axes, int) else axes
    letters = "abcdefghijklmnopqrstuvwxyz"
    left = letters[: x.ndim]
    right = left[0] + letters[x.ndim : x.ndim + y.ndim - 1]
    contracted = left[first]
    right = right[: second % y.ndim] + contracted + right[second % y.ndim + 1 :]
    result = left.replace(contracted, "") + right[1:].replace(contracted, "")
    product = ops.einsum(f"{left},{right}->{result}", x, y)
    return ops.expand_dims(product, 1) if len(result) == 1 else product


def map_fn(fn: Callable[[Any], Any], elems: Any, name: Any = None, dtype: Any = None) -> Any:
    """The function of each row."""
    return ops.map(fn, elems)


def _number(x: Any) -> Any:
    """Truth values as numbers, as Keras 2 took the mean of them."""
    return ops.cast(x, keras.config.floatx()) if hasattr(x, "dtype") and dtype_name(x.dtype) == "bool" else x
