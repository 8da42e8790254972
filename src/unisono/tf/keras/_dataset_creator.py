"""`tf.keras.utils.experimental.DatasetCreator`: a function that makes a worker's dataset, passed to `fit`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class DatasetCreator:
    """Makes the dataset when `fit` begins.

    Args:
        dataset_fn: takes a `tf.distribute.InputContext` and returns a dataset, batched for one replica.
        input_options: accepted; there is one way to send data to devices.
    """

    def __init__(self, dataset_fn: Callable[[Any], Any], input_options: Any = None) -> None:
        if not callable(dataset_fn):
            raise TypeError(f"DatasetCreator takes a function that makes a dataset, got {dataset_fn!r}.")
        self.dataset_fn = dataset_fn
        self.input_options = input_options

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The dataset."""
        return self.dataset_fn(*args, **kwargs)
