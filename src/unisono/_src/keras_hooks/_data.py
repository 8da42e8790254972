"""Keras's data adapters turn whatever a user passes into arrays or a stream of batches.

Checked against Keras 3.15.1: `get_data_adapter` chooses and validates; an `ArrayDataAdapter` keeps the packed
arrays in `_inputs` and its decisions in `_batch_size` and `_shuffle`; every adapter has `get_jax_iterator`,
`num_batches`, `on_epoch_begin` and `on_epoch_end`.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import keras
import numpy as np
from keras.src import tree
from keras.src.trainers import data_adapters
from keras.src.trainers.data_adapters import array_slicing, data_adapter_utils, get_data_adapter
from keras.src.trainers.data_adapters.array_data_adapter import ArrayDataAdapter

from unisono._src import hooks
from unisono._src.keras_hooks._host_part import TEXT_ON_HOST, is_text


def check_data_adapters() -> None:
    """Checks that Keras's data adapters have what is read here."""
    why = "fit accepts under a strategy what it accepts without one"
    arguments = (
        "(x, y=None, sample_weight=None, batch_size=None, steps_per_epoch=None, shuffle=False, class_weight=None)"
    )
    hooks.require(data_adapters, "get_data_adapter", expects=arguments, why=why)
    for name in ("_inputs", "_num_samples", "_batch_size", "_shuffle"):
        hooks.require(ArrayDataAdapter, name, expects="instance attribute", why=why)
    hooks.require(array_slicing, "convert_to_sliceable", expects="(arrays, target_backend=None)", why=why)
    hooks.require(array_slicing, "train_validation_split", expects="(arrays, validation_split)", why=why)
    hooks.require(array_slicing, "can_slice_array", expects="(x)", why=why)
    hooks.require(data_adapter_utils, "class_weight_to_sample_weights", expects="(y, class_weight)", why=why)


@dataclass(frozen=True, eq=False)
class ArrayInput:
    """Arrays that can be addressed by row: a nest (x, y, sample_weight) with None left out."""

    arrays: Any
    num_rows: int
    batch_size: int
    shuffle: bool | Literal["batch"]


@dataclass(frozen=True, eq=False)
class StreamInput:
    """Batches that come one after the other, from an object that Keras can iterate."""

    adapter: Any
    restartable: bool

    @property
    def num_batches(self) -> int | None:
        """Batches in one pass, if known."""
        number: int | None = self.adapter.num_batches
        return number

    def batches(self) -> Iterator[Any]:
        """One pass, as nests of NumPy arrays; the source's epoch hooks are called around it."""
        self.adapter.on_epoch_begin()
        try:
            for batch in self.adapter.get_jax_iterator():
                yield tree.map_structure(_dense, batch)
        finally:
            self.adapter.on_epoch_end()


def adapt(
    x: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    batch_size: int | None = None,
    steps: int | None = None,
    shuffle: bool | Literal["batch"] = False,
    class_weight: dict[int, float] | None = None,
) -> ArrayInput | StreamInput:
    """Anything that stock `fit` accepts, with Keras's own checks and errors."""
    for leaf in tree.flatten((x, y, sample_weight)):
        if isinstance(leaf, np.ndarray):
            _check_numbers(leaf)
    adapter = get_data_adapter(
        x=x,
        y=y,
        sample_weight=sample_weight,
        batch_size=batch_size,
        steps_per_epoch=steps,
        # Keras warns when it ignores shuffle=True, which is the default; only arrays and PyDatasets heed it.
        shuffle=shuffle if _heeds_shuffle(x) else False,
        class_weight=class_weight,
    )
    if not isinstance(adapter, ArrayDataAdapter):
        return StreamInput(adapter, restartable=not isinstance(x, types.GeneratorType))
    sliceables = array_slicing.convert_to_sliceable(adapter._inputs, target_backend="jax")
    arrays = tree.map_structure(_whole, sliceables, none_is_leaf=False)
    return ArrayInput(arrays, adapter._num_samples, adapter._batch_size, adapter._shuffle)


def split_for_validation(x: Any, y: Any, sample_weight: Any, share: float) -> tuple[Any, Any]:
    """Cuts the last ``share`` of the rows off, for validation: two triples (x, y, sample_weight)."""
    given = (x, y, sample_weight)
    if any(map(is_text, tree.flatten(given))):  # of which Keras makes no slices
        arrays = tree.map_structure(lambda leaf: leaf if leaf is None else np.asarray(leaf), given)
        numbers = np.arange(len(tree.flatten(arrays)[0]))
        first, last = array_slicing.train_validation_split(numbers, validation_split=share)
        return _rows(arrays, first), _rows(arrays, last)
    train, validation = array_slicing.train_validation_split((x, y, sample_weight), validation_split=share)
    return train, validation


def _rows(arrays: Any, rows: np.ndarray[Any, Any]) -> Any:
    return tree.map_structure(lambda leaf: leaf if leaf is None else leaf[rows], arrays)


def unpack(data: Any) -> tuple[Any, Any, Any]:
    """(x, y, sample_weight) of what a user calls a batch or validation data."""
    x, y, sample_weight = data_adapter_utils.unpack_x_y_sample_weight(data)
    return x, y, sample_weight


def class_weights(y: Any, class_weight: dict[int, float]) -> Any:
    """One weight per row of ``y``."""
    return data_adapter_utils.class_weight_to_sample_weights(y, class_weight)


def _heeds_shuffle(x: Any) -> bool:
    return isinstance(x, keras.utils.PyDataset) or array_slicing.can_slice_array(next(iter(tree.flatten(x)), None))


def _whole(sliceable: Any) -> np.ndarray[Any, Any] | None:
    return _dense(sliceable.convert_to_jax_compatible(sliceable[:]))


def _dense(leaf: Any) -> np.ndarray[Any, Any] | None:
    if leaf is None:
        return None
    if not hasattr(leaf, "__array__"):
        raise TypeError(
            f"Training under a strategy takes dense arrays; got {type(leaf).__name__}. "
            "Convert sparse input first, for example with `.toarray()` or `.todense()`."
        )
    return _check_numbers(np.asarray(leaf))


def _check_numbers(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if is_text(array):
        raise TypeError(TEXT_ON_HOST.format(why=f"the data has an array of dtype {array.dtype}"))
    if array.dtype.kind not in "biufcV":  # V: bfloat16 and other types of ml_dtypes
        raise TypeError(
            f"Training takes arrays of numbers; got dtype {array.dtype}. Encode strings as integers first; "
            "lists of rows of different lengths have to be padded, with keras.utils.pad_sequences for example."
        )
    return array
