"""The shapes for which models were built, stored beside their values: models without variables are built by them."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Mapping
from typing import Any, Final

import keras

from unisono import context
from unisono.checkpoint._tree import leaves
from unisono.seams import owner_of
from unisono.store import JSON

NOT_BUILT = """{path!r} has no variables yet, and cannot be built for the shapes that the checkpoint has of it: {why}
Build it before `restore`: call it once, or its `build(input_shape)`."""

_SHAPES: Final = ("input_shape", "shapes_dict")


def shapes_of(objects: Mapping[str, Any]) -> dict[str, JSON]:
    """Keras's build configs of the models and layers in ``objects``, by path, as far as they are JSON."""
    found = {path: thing.get_build_config() for path, thing in leaves(objects) if isinstance(thing, keras.Layer)}
    return {path: _plain(config) for path, config in found.items() if isinstance(config, dict) and _is_plain(config)}


def build_by_shapes(objects: Mapping[str, Any], shapes: JSON) -> None:
    """Builds what has no variables yet, for batches of any size, in the scope of its strategy."""
    if not isinstance(shapes, dict):
        return
    for path, thing in leaves(objects):
        if isinstance(thing, keras.Layer) and not thing.built and not thing.weights and path in shapes:
            owner = owner_of(thing)
            with contextlib.nullcontext() if owner is None else context.entered(owner), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # Keras's, where it cannot; then there is an error with what to do
                try:
                    thing.build_from_config(_for_any_batch(shapes[path]))
                except Exception as error:
                    raise ValueError(NOT_BUILT.format(path=path, why=error)) from error


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
    """The same with None for the first dimension of Keras's own entries. What a layer adds to them stays as it is."""
    if not isinstance(config, dict):
        return config
    return {name: _any_batch(value) if name in _SHAPES else value for name, value in config.items()}


def _any_batch(value: JSON) -> Any:
    if isinstance(value, dict):
        return {name: _any_batch(inner) for name, inner in value.items()}
    if not isinstance(value, list):
        return value
    if value and all(size is None or isinstance(size, int) for size in value):
        return (None, *value[1:])
    return [_any_batch(inner) for inner in value]
