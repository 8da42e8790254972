"""Symbolic tensors and the shapes that layers are built with have the manners of TensorFlow's."""

from __future__ import annotations

from typing import Any

import keras

from unisono._src import keras_hooks
from unisono.tf._shape import TensorShape


def give_manners() -> None:
    """Gives them to Keras's tensors, and `build(input_shape)` a `TensorShape`."""
    kind = keras.KerasTensor
    plain = kind.shape
    kind.shape = property(lambda self: TensorShape(plain.fget(self)), plain.fset)
    kind.get_shape = lambda self: self.shape
    kind.set_shape = lambda self, shape: self.shape.assert_is_compatible_with(shape)
    keras_hooks.register_shape_as_tuple(TensorShape)
    keras_hooks.build_with_shapes(_shapes)
    build_from_config = keras.Layer.build_from_config
    keras.Layer.build_from_config = lambda self, config: build_from_config(self, _shapes(config))


def _shapes(nest: Any) -> Any:
    """The same nest with `TensorShape` for its shapes: tuples of sizes, or lists of them, as JSON has it."""
    is_shape = isinstance(nest, list | tuple) and all(size is None or isinstance(size, int) for size in nest)
    if is_shape and (nest or isinstance(nest, tuple)):
        return TensorShape(nest)
    if isinstance(nest, dict):
        return {key: _shapes(each) for key, each in nest.items()}
    return type(nest)(map(_shapes, nest)) if type(nest) in (list, tuple) else nest
