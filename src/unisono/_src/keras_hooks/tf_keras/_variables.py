"""Hooks: variables with the methods of TensorFlow's, and public names of Keras that need TensorFlow there.

Checked against Keras 3.15.1: `keras.Variable` has `shape` as a property and `__getitem__`; the layers and functions in
`replace_public_names` raise without TensorFlow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import keras
import numpy as np

from unisono._src import hooks
from unisono._src.data.plans import CompositeLeaf
from unisono._src.jax_hooks import Reference


def install_dtype_names(make_dtype: Callable[[Any], Any]) -> None:
    """``make_dtype`` makes of a name what variables and symbolic tensors give as their `dtype`."""
    for kind, source in ((keras.Variable, "source 22ac1ae5f3c4"), (keras.KerasTensor, "source 3057803aaf29")):
        hooks.wrap(
            kind,
            "dtype",
            lambda original: property(lambda self: make_dtype(original.fget(self)), original.fset),
            expects=source,
            why="v.dtype has attributes of TensorFlow's dtypes, such as is_floating",
            inherited=True,
        )


def install_variable_methods(make_shape: Callable[[Any], Any]) -> None:
    """Installs TensorFlow's methods. ``make_shape`` makes of a tuple what variables give as their `shape`."""
    kind, why = keras.Variable, "scripts call TensorFlow's methods on variables"
    hooks.wrap(
        kind,
        "shape",
        lambda original: property(lambda self: make_shape(original.fget(self))),
        expects="source 1239ec1ceee0",
        why="v.shape has TensorFlow's as_list() and rank",
        inherited=True,
    )
    hooks.patch(
        kind,
        "numpy",
        lambda self: np.array(self)[()],
        expects="source 0ff3deba1209",
        why="v.numpy() is a copy, which may be written to, and a number if there is only one",
        inherited=True,
    )
    hooks.patch(
        kind,
        "__bool__",
        lambda self: bool(self.value),
        expects="source 45c46daf5b21",
        why="`if flag:` reads the value",
        inherited=True,
    )
    added = {
        # Without it Python would index until an IndexError, which arrays never raise.
        "__iter__": lambda self: iter(self.value),
        "get_shape": lambda self: self.shape,
        "read_value": lambda self: self.value,
        "ref": lambda self: Reference(self),
        "device": property(lambda self: self.value.device),
        "__format__": lambda self, spec: format(self.numpy(), spec) if spec else str(self),
    }
    for name, value in added.items():
        hooks.add(kind, name, value, why=why)
    why = "`variable * ragged` is left to the ragged or sparse tensor"
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
        hooks.wrap(kind, f"__{name}__", _leave_to_composites, expects="(self, other)", why=why, inherited=True)


def _leave_to_composites(original: Any) -> Any:
    def operate(self: Any, other: Any) -> Any:
        return NotImplemented if isinstance(other, CompositeLeaf) else original(self, other)

    return operate


def install_variable_parts(
    methods: Mapping[str, Any], remember_part: Callable[[Any], Any], assign_and_return: Callable[[Any], Any]
) -> None:
    """Installs methods that assign to a variable or to a part of it.

    ``remember_part`` makes of `__getitem__` one that remembers which part of which variable its result is,
    ``assign_and_return`` of `assign` one with TensorFlow's arguments and result.
    """
    for name, method in methods.items():
        hooks.add(keras.Variable, name, method, why="parts of variables are assigned, as in v.scatter_nd_update(...)")
    why = "v[1:3].assign(x) assigns to a part of a variable"
    hooks.wrap(keras.Variable, "__getitem__", remember_part, expects="(self, idx)", why=why, inherited=True)
    why = "v.assign(x, read_value=False), and v.assign_add(x).assign_sub(y)"
    for name in ("assign", "assign_add", "assign_sub"):
        hooks.wrap(keras.Variable, name, assign_and_return, expects="(self, value)", why=why, inherited=True)


def replace_public_names(layers: Mapping[str, Any], datasets: Mapping[str, Any]) -> None:
    """Stock `keras.layers` and `keras.utils` have these classes and functions; Keras's need TensorFlow."""
    why = "Keras's own raises without TensorFlow"
    for name, layer in layers.items():
        hooks.patch(keras.layers, name, layer, expects="type type", why=why)
    for name, function in datasets.items():
        hooks.patch(keras.utils, name, function, expects="type function", why=why)
        if name != "audio_dataset_from_directory":  # newer than that module
            hooks.patch(keras.preprocessing, name, function, expects="type function", why=why)
