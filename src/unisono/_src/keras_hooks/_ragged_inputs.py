"""Hook: models and layers take rows of different lengths. They get a padded array, and a mask of the row lengths.

A ragged tensor that is passed to a layer is padded at once. A batch of a compiled step has a dict of two arrays in its
place, the padded rows and their lengths, whose rows can be shared by replicas; the model makes the mask of them.

Checked against Keras 3.15.1: `Layer.__call__` keeps the mask of its arguments and passes it on as `mask`;
`Layer.stateless_call` calls `call` itself; `Functional.call` sets the masks that it is given on its inputs;
`Embedding` drops the mask of its input unless it supports masking.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import Any, Final

import jax
import jax.numpy as jnp
import keras
from keras.src import backend
from keras.src.models.functional import Functional

from unisono._src import hooks
from unisono._src.data.plans import CompositeLeaf, PaddedRagged
from unisono._src.keras_hooks._layer_calls import CallHandler, handle_layer_calls, handle_stateless_calls

_CONTAINERS: Final = (dict, list, tuple)


@dataclass(frozen=True, eq=False)
class RaggedRows:
    """Padded rows and their lengths as one leaf of a nest."""

    rows: Any
    lengths: Any


def fold_ragged_rows(nest: Any) -> Any:
    """The nest with one leaf in place of each dict of rows and lengths: the nest that the model declares."""
    return keras.tree.traverse(
        lambda part: RaggedRows(*PaddedRagged.parts(part)) if PaddedRagged.is_in(part) else None, nest
    )


def unfold_ragged_rows(nest: Any) -> Any:
    """The inverse of `fold_ragged_rows`."""
    return keras.tree.map_structure(
        lambda leaf: PaddedRagged.make(leaf.rows, leaf.lengths) if isinstance(leaf, RaggedRows) else leaf, nest
    )


def install_ragged_inputs() -> None:
    """Installs the hook."""
    handle_layer_calls(CallHandler(name="ragged inputs", adapt=_adapt_call))
    handle_stateless_calls(CallHandler(name="ragged inputs", adapt=_adapt_stateless_call))
    why = "the mask of rows of different lengths passes through embeddings"
    hooks.wrap(keras.layers.Embedding, "compute_mask", _keep_mask, expects="(self, inputs, mask=None)", why=why)
    why = "the masks of a model's inputs are for its layers; its outputs have those that its layers made"
    expects = "(self, inputs, previous_mask)"
    hooks.wrap(keras.Model, "compute_mask", _compute_model_mask, expects=expects, why=why, inherited=True)
    hooks.require(backend, "set_keras_mask", expects="(x, mask)", why=why)
    hooks.require(backend, "get_keras_mask", expects="(x)", why=why)


def mask_ragged_inputs(nest: Any) -> Any:
    """The nest with padded arrays that have a mask, instead of ragged tensors and of dicts of rows and lengths."""
    if isinstance(nest, CompositeLeaf):
        given = nest.model_input()
        return given if given is nest else mask_ragged_inputs(given)
    if PaddedRagged.is_in(nest):
        return _with_mask(*PaddedRagged.parts(nest))
    if isinstance(nest, dict):
        return {key: mask_ragged_inputs(part) for key, part in nest.items()}
    if isinstance(nest, list | tuple):
        parts = [mask_ragged_inputs(part) for part in nest]
        return type(nest)(*parts) if hasattr(nest, "_fields") else type(nest)(parts)
    return nest


def _with_mask(rows: Any, lengths: Any) -> Any:
    array = jnp.asarray(rows)
    if array is rows:
        array = jnp.copy(rows)  # a mask belongs to one object, and the argument is not ours
    backend.set_keras_mask(array, jnp.arange(array.shape[1])[None] < jnp.asarray(lengths)[:, None])
    return array


def _has_ragged(nest: Any) -> bool:
    if isinstance(nest, CompositeLeaf) or PaddedRagged.is_in(nest):
        return True
    if isinstance(nest, _CONTAINERS):
        return any(map(_has_ragged, nest.values() if isinstance(nest, dict) else nest))
    return False


def _adapt_call(layer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if not args:
        return args, kwargs
    first = args[0]
    if not isinstance(first, jax.Array | keras.KerasTensor) and _has_ragged(first):
        if getattr(layer, "runs_on_host", False):
            return args, kwargs
        first = mask_ragged_inputs(first)
        args = (first, *args[1:])
        if isinstance(layer, keras.Model):
            _models.add(layer)
            layer.supports_masking = True  # without it Keras warns that the mask is lost
    if isinstance(layer, keras.layers.Embedding) and backend.get_keras_mask(first) is not None:
        layer.supports_masking = True
    return args, kwargs


def _adapt_stateless_call(
    model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if len(args) < 3 or not _has_ragged(args[2]):
        return args, kwargs
    inputs = mask_ragged_inputs(args[2])
    if isinstance(model, Functional | keras.Sequential) and kwargs.get("mask") is None:
        # `call` is called directly, so nobody collects the masks of its inputs.
        kwargs = {**kwargs, "mask": keras.tree.map_structure(backend.get_keras_mask, inputs)}
    return (*args[:2], inputs, *args[3:]), kwargs


_models: Final[weakref.WeakSet[Any]] = weakref.WeakSet()
"""Those that have been called with rows of different lengths."""


def _compute_model_mask(original: Any) -> Any:
    def compute_mask(self: Any, inputs: Any, previous_mask: Any = None) -> Any:
        return None if self in _models else original(self, inputs, previous_mask)

    return compute_mask


def _keep_mask(original: Any) -> Any:
    def compute_mask(self: Any, inputs: Any, mask: Any = None) -> Any:
        own = original(self, inputs, mask)
        return own if mask is None else mask if own is None else keras.ops.logical_and(own, mask)

    return compute_mask
