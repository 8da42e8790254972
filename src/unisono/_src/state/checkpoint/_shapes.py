"""The shapes for which models were built, stored with their values: a model without variables is built from them."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Mapping
from typing import Any, Final

import keras

from unisono._src.keras_hooks import child_layers, child_name_scope, get_owner
from unisono._src.replicas import context
from unisono._src.state.checkpoint._tree import is_unbuilt, leaves
from unisono._src.state.store import JSON

NOT_BUILT = """{path!r} has no variables yet, and cannot be built for the shapes that the checkpoint has of it: {why}
Build it before `restore`: call it once, or its `build(input_shape)`."""

SHAPES: Final = "shapes"
"""The key of the shapes in the state of a checkpoint."""

_ENTRIES: Final = ("input_shape", "shapes_dict")
_OWN, _INSIDE = "own", "inside"


def collect_build_shapes(objects: Mapping[str, Any]) -> dict[str, JSON]:
    """Keras's build configs of the models and layers in ``objects``, by path, as far as they are JSON.

    Of each its own, and those of the layers inside it: a model that is called with more than one tensor has no
    build config, but its layers do.
    """
    return {path: _configs(value) for path, value in leaves(objects) if isinstance(value, keras.Layer)}


def build_from_shapes(objects: Mapping[str, Any], shapes: JSON) -> None:
    """Builds what has no variables yet, for batches of any size, in the scope of its strategy."""
    if not isinstance(shapes, dict):
        return
    for path, value in leaves(objects):
        if is_unbuilt(value) and path in shapes:
            owner = get_owner(value)
            with (
                contextlib.nullcontext() if owner is None else context.enter_strategy(owner),
                warnings.catch_warnings(),
            ):
                warnings.simplefilter("ignore")  # Keras warns where it cannot build; the error below says what to do
                try:
                    _build(value, shapes[path])
                except Exception as error:
                    raise ValueError(NOT_BUILT.format(path=path, why=error)) from error


def _build(layer: Any, configs: JSON) -> None:
    own, inside = configs[_OWN], configs[_INSIDE]
    with child_name_scope(layer):
        if own is not None:
            layer.build_from_config(_for_any_batch(own))
        layers = child_layers(layer)
        if len(layers) != len(inside):  # the layer makes some of them later
            return
        unbuilt = [(inner, each) for inner, each in zip(layers, inside, strict=True) if not inner.built]
        for inner, each in unbuilt:
            _build(inner, each)
    layer.built &= not unbuilt  # else its first call may still have something to build


def _configs(layer: Any) -> JSON:
    config = layer.get_build_config()
    own = _plain(config) if isinstance(config, dict) and _is_plain(config) else None
    return {_OWN: own, _INSIDE: [_configs(inner) for inner in child_layers(layer)]}


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(name, str) and _is_plain(inner) for name, inner in value.items())
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None or type(value) in (bool, int, float, str)


def _plain(value: Any) -> JSON:
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value


def _for_any_batch(config: JSON) -> Any:
    """``config`` with None for the batch dimension in Keras's entries. Entries that a layer adds are unchanged."""
    if not isinstance(config, dict):
        return config
    return {name: _any_batch(value) if name in _ENTRIES else value for name, value in config.items()}


def _any_batch(value: JSON) -> Any:
    if isinstance(value, dict):
        return {name: _any_batch(inner) for name, inner in value.items()}
    if not isinstance(value, list):
        return value
    if value and all(size is None or isinstance(size, int) for size in value):
        return (None, *value[1:])
    return [_any_batch(inner) for inner in value]
