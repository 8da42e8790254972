"""Hooks: shapes in Keras as TensorFlow's. `TensorShape` for symbolic tensors, variables and `build(input_shape)`; the
shape of a model's input, given to its first layer: `input_shape=(4,)`, `batch_input_shape=(1, None, 4)`.

Checked against Keras 3.15.1: `layer.get_shapes_dict` gives the arguments of `build`; `keras.tree` is optree with the
namespace "keras".
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any, Final

import keras
import numpy as np
import optree
from keras.src.layers import layer as layer_module

from unisono._src import hooks

# Keras 3 takes the first two with a warning that Input is better, which an old script need not heed.
_ARGUMENTS: Final = ("input_shape", "input_dim", "batch_input_shape", "input_length")

_ATTRIBUTE: Final = "_unisono_batch_input_shape"


def install_input_shapes() -> None:
    """Installs the arguments of first layers."""
    why = "the first layer of a Sequential accepts the shape of the input, as in Keras 2"
    init = "(self, *, activity_regularizer=None, trainable=True, dtype=None, autocast=True, name=None, **kwargs)"
    hooks.wrap(keras.Layer, "__init__", _accept_shapes, expects=init, why=why)
    hooks.wrap(keras.Sequential, "add", _keep_batch_size, expects="(self, layer, rebuild=True)", why=why)
    why = "a Sequential that was called on a batch may be built with another batch size, as in Keras 2"
    hooks.wrap(keras.Sequential, "build", _accept_other_batch_sizes, expects="(self, input_shape=None)", why=why)


def install_tensor_shapes(shape: type[tuple[Any, ...]]) -> None:
    """Shapes of symbolic tensors and of `build(input_shape)` are of the class ``shape``."""
    why = "x.shape of a symbolic tensor has TensorFlow's as_list() and rank"
    kind = keras.KerasTensor
    hooks.wrap(
        kind,
        "shape",
        lambda original: property(lambda self: shape(original.fget(self)), original.fset),
        expects="source 1a1e6657158e",
        why=why,
    )
    hooks.add(kind, "get_shape", lambda self: self.shape, why=why)
    hooks.add(kind, "set_shape", lambda self, shape: self.shape.assert_is_compatible_with(shape), why=why)
    # Keras's nests open these shapes as they open tuples: layers find the size of a batch in that way.
    optree.register_pytree_node(
        shape, lambda sizes: (tuple(sizes), None), lambda _, sizes: shape(sizes), namespace="keras"
    )
    why = "build(input_shape) gets a TensorShape"
    hooks.wrap(
        layer_module,
        "get_shapes_dict",
        lambda original: lambda call_spec: _with_shapes(original(call_spec), shape),
        expects="(call_spec)",
        why=why,
    )
    hooks.require(keras.Layer, "__call__", expects="calls CallSpec._maybe_build", why=why)
    hooks.require(keras.Layer, "_maybe_build", expects="calls get_shapes_dict", why=why)
    hooks.wrap(
        keras.Layer,
        "build_from_config",
        lambda original: lambda self, config: original(self, _with_shapes(config, shape)),
        expects="(self, config)",
        why=why,
    )


def _with_shapes(nest: Any, shape: type[tuple[Any, ...]]) -> Any:
    """The same nest with ``shape`` for its shapes: tuples of sizes, or lists of them, as JSON has it."""
    is_shape = isinstance(nest, list | tuple) and all(size is None or isinstance(size, int) for size in nest)
    if is_shape and (nest or isinstance(nest, tuple)):
        return shape(nest)
    if isinstance(nest, dict):
        return {key: _with_shapes(each, shape) for key, each in nest.items()}
    return type(nest)(_with_shapes(each, shape) for each in nest) if type(nest) in (list, tuple) else nest


def _accept_shapes(original: Callable[..., None]) -> Callable[..., None]:
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        old = {name: kwargs.pop(name) for name in _ARGUMENTS if kwargs.get(name) is not None}
        if not old:
            original(self, *args, **kwargs)
            return
        size, *shape = _batch_shape(**old, batch_size=kwargs.pop("batch_size", None))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Do not pass an `input_shape`", UserWarning)
            original(self, *args, **kwargs, input_shape=tuple(shape))
        if size is not None:
            object.__setattr__(self, _ATTRIBUTE, (size, *shape))

    init.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]  # Keras reads it
    return init


def _batch_shape(
    input_shape: Any = None,
    input_dim: int | None = None,
    batch_input_shape: Any = None,
    input_length: int | None = None,
    batch_size: int | None = None,
) -> tuple[int | None, ...]:
    if batch_input_shape is not None:
        return tuple(batch_input_shape)
    if input_shape is not None:
        return (batch_size, *((input_shape,) if np.ndim(input_shape) == 0 else input_shape))
    return (batch_size, input_dim) if input_length is None else (batch_size, input_length, input_dim)


def _accept_other_batch_sizes(original: Callable[..., None]) -> Callable[..., None]:
    """`model(x[:1])` builds for any batch size, except if a layer keeps a state from batch to batch; `model.build` of a
    model that is built does nothing if the shapes agree."""

    def build(self: Any, input_shape: Any = None) -> None:
        first = self._layers[0] if self._layers else None
        if not isinstance(input_shape, list | tuple) or not all(isinstance(size, int | None) for size in input_shape):
            original(self, input_shape)
        elif not isinstance(first, keras.layers.InputLayer):
            keeps_state = any(getattr(layer, "stateful", False) for layer in self._layers)
            original(self, input_shape if keeps_state else (None, *input_shape[1:]))
        elif not _agree(first.batch_shape, input_shape):
            original(self, input_shape)
        elif self._functional is None:
            original(self, first.batch_shape)

    return build


def _agree(shape: Any, other: Any) -> bool:
    """Whether both are shapes of the same rows, in batches of any size."""
    sizes = list(zip(shape, other, strict=False))[1:]
    return len(shape) == len(other) and all(None in pair or pair[0] == pair[1] for pair in sizes)


def _keep_batch_size(original: Callable[..., None]) -> Callable[..., None]:
    """Keras 3 looks for a shape without the batch, which layers that keep a state from batch to batch need to know."""

    def add(self: Any, layer: Any, rebuild: bool = True) -> None:
        shape = getattr(layer, _ATTRIBUTE, None)
        if shape is not None and not self._layers:
            original(self, keras.layers.InputLayer(batch_shape=shape))
        original(self, layer, rebuild)

    return add
