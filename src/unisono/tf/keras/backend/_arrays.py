"""Functions of tensors, losses included. Aliases where Keras 3 has the same name and parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
from keras import ops

from unisono.tf._indexing import slice as tf_slice
from unisono.tf._print import print as tf_print
from unisono.tf.keras.backend._values import dtype_name, float_dtype_name

abs = ops.abs
all = ops.all
any = ops.any
cast = ops.cast
cos = ops.cos
elu = ops.elu
exp = ops.exp
log = ops.log
logsumexp = ops.logsumexp
max = ops.max
min = ops.min
prod = ops.prod
reshape = ops.reshape
round = ops.round
shape = ops.shape
sigmoid = ops.sigmoid
sign = ops.sign
sin = ops.sin
softmax = ops.softmax
softplus = ops.softplus
softsign = ops.softsign
square = ops.square
squeeze = ops.squeeze
stack = ops.stack
stop_gradient = ops.stop_gradient
sum = ops.sum
tanh = ops.tanh
transpose = ops.transpose
relu = keras.activations.relu
switch = ops.cond


def ndim(x: Any) -> int:
    """The number of dims, also of a symbolic tensor."""
    return len(x.shape)


def mean(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`keras.ops.mean`."""
    return ops.mean(_bool_to_float(x), axis=axis, keepdims=keepdims)


def std(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`keras.ops.std`."""
    return ops.std(_bool_to_float(x), axis=axis, keepdims=keepdims)


def var(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`keras.ops.var`."""
    return ops.var(_bool_to_float(x), axis=axis, keepdims=keepdims)


def sqrt(x: Any) -> Any:
    """The square root; 0 for negative numbers."""
    return ops.sqrt(ops.maximum(x, 0))


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


def hard_sigmoid(x: Any) -> Any:
    """Keras 2's piecewise linear sigmoid; Keras 3's has another slope."""
    return ops.clip(0.2 * x + 0.5, 0.0, 1.0)


def l2_normalize(x: Any, axis: Any = None) -> Any:
    """Divides by the L2 norm along ``axis``."""
    return x * ops.rsqrt(ops.maximum(ops.sum(ops.square(x), axis=axis, keepdims=True), 1e-12))


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = "int32") -> Any:
    """Numbers from ``start`` to ``stop``; from 0 to ``start`` if ``stop`` is None."""
    begin, end = (0, start) if stop is None else (start, stop)
    return ops.arange(begin, begin if end < begin and step > 0 else end, step, dtype=dtype_name(dtype))


def slice(x: Any, start: Any, size: Any) -> Any:
    """A part of a tensor; a size of -1 means all that is left."""
    return tf_slice(x, start, size)


def to_dense(tensor: Any) -> Any:
    """The tensor: arrays are dense already."""
    return tensor


def print_tensor(x: Any, message: str = "", summarize: int = 3) -> Any:
    """Prints the values now, or each time the compiled function runs, and returns the tensor."""
    tf_print(message, x, summarize=summarize)
    return x


def eye(size: int, dtype: Any = None, name: Any = None) -> Any:
    """`keras.ops.eye`."""
    return ops.eye(size, dtype=float_dtype_name(dtype))


def dot(x: Any, y: Any) -> Any:
    """The matrix product over the last dim of ``x`` and the second to last of ``y``."""
    return ops.dot(x, y)


def batch_dot(x: Any, y: Any, axes: Any = None) -> Any:
    """The product of vectors or matrices for each element of a batch, over one dim of each."""
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
    """Applies the function to each row."""
    return ops.map(fn, elems)


def binary_crossentropy(target: Any, output: Any, from_logits: bool = False) -> Any:
    """The loss of each element; like Keras 2, without the mean."""
    return ops.binary_crossentropy(target, output, from_logits=from_logits)


def categorical_crossentropy(target: Any, output: Any, from_logits: bool = False, axis: int = -1) -> Any:
    """The loss of each row."""
    return ops.categorical_crossentropy(target, output, from_logits=from_logits, axis=axis)


def sparse_categorical_crossentropy(target: Any, output: Any, from_logits: bool = False, axis: int = -1) -> Any:
    """The loss of each row, for integer targets."""
    return ops.sparse_categorical_crossentropy(target, output, from_logits=from_logits, axis=axis)


def in_top_k(predictions: Any, targets: Any, k: int) -> Any:
    """Whether each target is among the ``k`` highest predictions of its row."""
    return ops.in_top_k(targets, predictions, k)


def _bool_to_float(x: Any) -> Any:
    """Converts bools to numbers, so that they have a mean, as in Keras 2."""
    return ops.cast(x, keras.config.floatx()) if hasattr(x, "dtype") and dtype_name(x.dtype) == "bool" else x
