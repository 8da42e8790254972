"""The feed of a model. For a model that takes text, the layers that read text run on the host, before the feed."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Literal

import keras
import numpy as np

from unisono._src import keras_hooks
from unisono._src.data.dataset import Dataset
from unisono._src.data.feed import Feed, open_feed, unwrap_distributed
from unisono._src.data.plans import as_model_batch
from unisono._src.training._method_call import MethodCall

NOT_ROWS = "batches of text come from arrays or a Dataset here, not from {kind}"


def open_model_feed(
    call: MethodCall,
    x: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    batch_size: int | None = None,
    shuffle: bool | Literal["batch"] = False,
    trains: bool = False,
    **options: Any,
) -> Feed:
    """A feed of whatever `fit`, `evaluate` and `predict` accept, for this model."""
    if not isinstance(x, Dataset):
        x, y, sample_weight = as_model_batch((x, y, sample_weight))
    read = text_reader_for(call.model, x, trains)
    if read is not None:
        x = _map_text(read, _to_dataset(x, y, sample_weight, batch_size, shuffle))
        y = sample_weight = batch_size = None
        shuffle = False
    return open_feed(
        call.distribute(x),
        y,
        placement=call.placement,
        sample_weight=sample_weight,
        batch_size=batch_size,
        shuffle=shuffle,
        **options,
    )


def text_reader_for(model: Any, x: Any, trains: bool) -> Callable[[Any], Any] | None:
    """The function that turns the text in ``x`` into numbers; None for models that take numbers."""
    return keras_hooks.host_part(model, lambda: _spec_of(x), trains)


_Datasets = weakref.WeakKeyDictionary[Dataset, tuple[Callable[[Any], Any], Dataset]]
_MAPPED: _Datasets = weakref.WeakKeyDictionary()


def _map_text(read: Callable[[Any], Any], dataset: Dataset) -> Dataset:
    """The dataset with numbers instead of text; the same object each time, so that it continues to count its passes."""

    def read_text(*batch: Any) -> Any:
        x = read(batch[0])
        return (x, *batch[1:]) if len(batch) > 1 else x

    if dataset not in _MAPPED or _MAPPED[dataset][0] is not read:
        _MAPPED[dataset] = read, Dataset(dataset._plan).map(read_text)
    return _MAPPED[dataset][1]


def _to_dataset(x: Any, y: Any, sample_weight: Any, batch_size: int | None, shuffle: bool | Literal["batch"]) -> Any:
    x = unwrap_distributed(x)
    if isinstance(x, Dataset):
        return x
    if isinstance(x, keras.utils.PyDataset) or not _is_rows(x):
        raise TypeError(keras_hooks.TEXT_ON_HOST.format(why=NOT_ROWS.format(kind=type(x).__name__)))
    given = (x,) if y is None else (x, y) if sample_weight is None else (x, y, sample_weight)
    rows = Dataset.from_tensor_slices(_to_arrays(given))
    rows = rows.shuffle(rows.cardinality()) if shuffle is True else rows
    batches = rows.batch(batch_size or 32)
    return batches.shuffle(batches.cardinality()) if shuffle == "batch" else batches


def _is_rows(x: Any) -> bool:
    return all(hasattr(leaf, "__array__") or keras_hooks.is_text(leaf) for leaf in keras.tree.flatten(x))


def _to_arrays(nest: Any) -> Any:
    """Arrays instead of lists and frames, tuples instead of lists of arrays."""
    if isinstance(nest, dict):
        return {name: _to_arrays(part) for name, part in nest.items()}
    if isinstance(nest, list | tuple) and nest and all(hasattr(part, "__array__") for part in nest):
        return tuple(map(_to_arrays, nest))
    if isinstance(nest, tuple):
        return tuple(map(_to_arrays, nest))
    array = np.asarray(nest, object) if isinstance(nest, list) and keras_hooks.is_text(nest[0]) else np.asarray(nest)
    return array.astype("float32") if array.dtype == np.float64 else array


def _spec_of(x: Any) -> Any:
    x = unwrap_distributed(x)
    if isinstance(x, Dataset):
        return keras_hooks.unpack(x._inferred_element_spec)[0]
    return _to_arrays(x) if _is_rows(x) else None
