"""One batch of what a user would pass to `fit`, read without changing the data or a random state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import keras
import numpy as np

from unisono._src import keras_hooks
from unisono._src.data.dataset import Dataset
from unisono._src.data.plans import as_model_batch
from unisono._src.devices import copies_fit, residency
from unisono._src.training import MethodCall, text_reader_for

NO_ROWS = """{function}: the data has no rows. Pass at least one batch of what the model is to be trained with."""

ONE_PASS_ONLY = """{function}: the data is a {kind}, of which reading a batch would take the batch away from training.
Pass arrays as a tuple (x, y), a unisono.data.Dataset or a keras.utils.PyDataset."""


@dataclass(frozen=True, eq=False)
class FirstBatch:
    """A batch as the training step gets it.

    Attributes:
        arrays: a nest of arrays with equally many rows.
        num_rows: the rows of all of the data, if that is known.
        resident_bytes: what `fit` would keep of the data on each device.
    """

    arrays: Any
    num_rows: int | None
    resident_bytes: int

    @property
    def rows(self) -> int:
        """The rows of this batch."""
        return len(jax.tree.leaves(self.arrays)[0])

    def spec(self, rows: int) -> Any:
        """Shapes and dtypes of a batch with so many rows."""
        return jax.tree.map(
            lambda leaf: jax.ShapeDtypeStruct((rows, *leaf.shape[1:]), jax.dtypes.canonicalize_dtype(leaf.dtype)),
            self.arrays,
        )

    def repeated(self, rows: int) -> Any:
        """A batch of so many rows: those of this one, again and again."""
        return jax.tree.map(lambda leaf: np.take(leaf, np.arange(rows) % len(leaf), axis=0), self.arrays)


def take_first_batch(call: MethodCall, data: Any, batch_size: int | None, function: str) -> FirstBatch:
    """The first batch of ``data``: arrays, a `Dataset` or a `PyDataset`; of arrays, ``batch_size`` rows.

    ``function``: what the user called, for errors.
    """
    num_rows, resident = None, 0
    if isinstance(data, Dataset):
        first = next(iter(Dataset(data._plan)), None)  # of another object: passes of `data` are not counted
        if first is None:
            raise ValueError(NO_ROWS.format(function=function))
        batch = keras_hooks.unpack(first)
    elif isinstance(data, keras.utils.PyDataset):
        batch = keras_hooks.unpack(data[0])
    else:
        batch = as_model_batch(keras_hooks.unpack(data))
        leaves = [leaf for leaf in keras.tree.flatten(batch) if leaf is not None]
        for leaf in leaves:
            if not (hasattr(leaf, "__getitem__") and hasattr(leaf, "__len__")):
                raise TypeError(ONE_PASS_ONLY.format(function=function, kind=type(leaf).__name__))
        num_rows = len(leaves[0]) if leaves else 0
        if not num_rows:
            raise ValueError(NO_ROWS.format(function=function))
        size = sum(getattr(leaf, "nbytes", 0) for leaf in leaves)
        if residency() != "host" and (residency() == "device" or copies_fit(size, call.placement.devices)):
            resident = size
        most = min(num_rows, batch_size or 32)
        batch = keras.tree.map_structure(lambda leaf: None if leaf is None else leaf[:most], batch)
    x, y, sample_weight = keras.tree.map_structure(lambda leaf: None if leaf is None else np.asarray(leaf), batch)
    read_text = text_reader_for(call.model, x, trains=True)
    arrays = keras.utils.pack_x_y_sample_weight(x if read_text is None else read_text(x), y, sample_weight)
    return FirstBatch(jax.tree.map(np.asarray, arrays), num_rows, resident)
