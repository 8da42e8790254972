"""Hooks: arguments of layers as scripts write them: sizes that are NumPy integers or tensors, as `np.prod(shape)`; the
name by position, `super().__init__("block")`; names with a slash; lists as operands of symbolic tensors.

Checked against Keras 3.15.1: the classes below test sizes with `isinstance(size, int)`; others take any integer.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Final

import jax
import keras
import numpy as np
from keras.src.backend.common.name_scope import name_scope
from keras.src.backend.jax.core import JaxVariable
from keras.src.layers.convolutional.base_conv import BaseConv
from keras.src.layers.convolutional.base_conv_transpose import BaseConvTranspose
from keras.src.layers.convolutional.base_depthwise_conv import BaseDepthwiseConv
from keras.src.layers.convolutional.base_separable_conv import BaseSeparableConv
from keras.src.layers.pooling.base_pooling import BasePooling
from keras.src.layers.rnn.conv_lstm import ConvLSTM, ConvLSTMCell

from unisono._src import hooks

_TYPED: Final = (
    keras.layers.Dense, keras.layers.EinsumDense, keras.layers.Embedding, keras.layers.MultiHeadAttention,
    BaseConv, BaseConvTranspose, BaseDepthwiseConv, BaseSeparableConv, BasePooling, ConvLSTM, ConvLSTMCell,
    keras.layers.LSTMCell, keras.layers.GRUCell, keras.layers.SimpleRNNCell, keras.layers.LSTM, keras.layers.GRU,
    keras.layers.SimpleRNN, keras.layers.Reshape, keras.layers.RepeatVector, keras.layers.UpSampling1D,
    keras.layers.UpSampling2D, keras.layers.UpSampling3D, keras.layers.ZeroPadding1D, keras.layers.ZeroPadding2D,
    keras.layers.ZeroPadding3D, keras.layers.Cropping1D, keras.layers.Cropping2D, keras.layers.Cropping3D,
    keras.layers.LayerNormalization, keras.layers.GroupNormalization, keras.layers.UnitNormalization,
    keras.layers.Normalization, keras.layers.CategoryEncoding, keras.layers.Resizing, keras.layers.Dot,
    keras.layers.Concatenate, keras.layers.InputLayer, keras.random.SeedGenerator,
)  # fmt: skip

_OPERATORS: Final = (
    "add", "radd", "sub", "rsub", "mul", "rmul", "matmul", "rmatmul", "truediv", "rtruediv", "pow", "rpow",
    "floordiv", "rfloordiv", "mod", "rmod", "lt", "le", "gt", "ge", "ne", "and", "rand", "or", "ror", "xor", "rxor",
)  # fmt: skip

# Those of Keras 2. A name in the first place is meant to be one.
_POSITIONS: Final = ("trainable", "name", "dtype")


def install_array_sizes() -> None:
    """Installs the conversion of sizes to Python's integers."""
    for kind in _TYPED:
        why = "sizes may be NumPy's integers or tensors, as np.prod(shape) is"
        hooks.wrap(kind, "__init__", _convert_sizes, expects="type function", why=why)


def install_positional_names() -> None:
    """Installs names by position and with a slash."""
    why = "layers take their name by position, and with a slash, as in Keras 2"
    init = "(self, *, activity_regularizer=None, trainable=True, dtype=None, autocast=True, name=None, **kwargs)"
    hooks.wrap(keras.Layer, "__init__", _accept_names, expects=init, why=why)
    hooks.wrap(
        keras.Model,
        "get_layer",
        lambda original: lambda self, name=None, index=None: original(self, _replace_slashes(name), index),
        expects="(self, name=None, index=None)",
        why=why,
    )
    why = "names of variables and of scopes may contain a slash"
    variable = (
        "(self, initializer, shape=None, dtype=None, trainable=True, autocast=True, aggregation='none', "
        "synchronization='auto', name=None, layout=None, **kwargs)"
    )
    hooks.wrap(JaxVariable, "__init__", _replace_in_name, expects=variable, why=why, inherited=True)
    scope = "(self, name, caller=None, deduplicate=True, override_parent=None)"
    hooks.wrap(name_scope, "__init__", _replace_in_first, expects=scope, why=why)


def install_list_operands_in_models() -> None:
    """Installs lists as operands of symbolic tensors: `inputs - [103.9, 116.8, 123.7]`."""
    for name in _OPERATORS:
        why = "an operand may be a list of numbers, as with TensorFlow's tensors"
        hooks.wrap(keras.KerasTensor, f"__{name}__", _convert_list, expects="(self, other)", why=why)


def _convert_list(original: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def operate(self: Any, other: Any) -> Any:
        return original(self, np.asarray(other, self.dtype) if type(other) in (list, tuple) else other)

    return operate


def _convert_sizes(original: Callable[..., None]) -> Callable[..., None]:
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *map(_to_python, args), **{name: _to_python(value) for name, value in kwargs.items()})

    init.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]  # Keras reads it
    return init


def _to_python(value: Any) -> Any:
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.ndarray | jax.Array) and not isinstance(value, jax.core.Tracer):
        return int(value) if value.ndim == 0 and value.dtype.kind in "iu" else value
    return type(value)(map(_to_python, value)) if type(value) in (list, tuple) else value


def _accept_names(original: Callable[..., None]) -> Callable[..., None]:
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        if args:
            names = _POSITIONS[1:] if isinstance(args[0], str) else _POSITIONS
            kwargs |= dict(zip(names, args, strict=False))
        if "name" in kwargs:
            kwargs["name"] = _replace_slashes(kwargs["name"])
        original(self, **kwargs)

    init.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]  # Keras reads it
    return init


def _replace_in_name(original: Callable[..., None]) -> Callable[..., None]:
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        if "name" in kwargs:
            kwargs["name"] = _replace_slashes(kwargs["name"])
        original(self, *args, **kwargs)

    init.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]
    return init


def _replace_in_first(original: Callable[..., None]) -> Callable[..., None]:
    return lambda self, name, *args, **kwargs: original(self, _replace_slashes(name), *args, **kwargs)


def _replace_slashes(name: Any) -> Any:
    """Keras 3 forms paths with slashes."""
    return name.replace("/", "_") if isinstance(name, str) else name
