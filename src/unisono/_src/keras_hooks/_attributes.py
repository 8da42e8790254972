"""Attributes of Keras's objects: the strategy that owns them, which we set, and private ones that we only read.

Checked against Keras 3.15.1: `_layers` are those a layer owns itself, in the order in which it was given them;
`_open_name_scope` encloses `build` and `call`, and the first one to open it decides the path of the layer;
`current_path` joins the names of all `keras.name_scope`s in force; `get_input_signature` gives a list with an
`InputSpec` for each array, None for the batch.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any, Final

import keras
from keras.src.backend.common import name_scope
from keras.src.export import export_utils
from keras.src.legacy.preprocessing import image as legacy_image
from keras.src.legacy.preprocessing import sequence as legacy_sequence
from keras.src.legacy.preprocessing import text as legacy_text

from unisono._src import hooks
from unisono._src.replicas import context

_OWNER: Final = "_unisono_strategy"

LEGACY_PREPROCESSING: Final[dict[str, ModuleType]] = {
    "image": legacy_image,
    "sequence": legacy_sequence,
    "text": legacy_text,
}
"""Modules of Keras 2 that need no TensorFlow."""


def check_attributes() -> None:
    """Checks that Keras's objects have the attributes that are read here."""
    why = "models without variables are built by calling the layers inside them"
    hooks.require(keras.Layer, "_layers", expects="instance attribute", why=why)
    hooks.require(keras.Layer, "_open_name_scope", expects="(self)", why=why)
    hooks.require(name_scope, "current_path", expects="()", why="tf.name_scope names what is created inside")
    hooks.require(export_utils, "get_input_signature", expects="(model)", why="tf.saved_model.save of a built model")


def get_owner(thing: Any) -> context.HasPlacement | None:
    """The strategy in whose scope a model or a variable was made, or None."""
    owner: context.HasPlacement | None = getattr(thing, _OWNER, None)
    return owner


def set_owner(thing: Any, owner: context.HasPlacement | None) -> None:
    """From now on ``thing`` belongs to ``owner``."""
    setattr(thing, _OWNER, owner)


def child_layers(layer: Any) -> list[Any]:
    """The layers that it owns itself, in the order in which it was given them: the same in every process."""
    return list(layer._layers)


def child_name_scope(layer: Any) -> AbstractContextManager[Any]:
    """What is built in this block has the names that it gets when ``layer`` builds it."""
    return layer._open_name_scope()  # type: ignore[no-any-return]


def current_name_scope() -> str:
    """The names of all `keras.name_scope`s in force, joined by slashes; "" outside all."""
    return str(name_scope.current_path() or "")


def input_signature(model: Any) -> list[Any]:
    """The positional arguments of a built model, with Keras's `InputSpec` for each array."""
    return list(export_utils.get_input_signature(model))
