"""`tf.keras.utils.experimental`: `DatasetCreator`, an argument of `fit` that creates the dataset of a worker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unisono.tf._missing import explain_missing_names

__getattr__ = explain_missing_names("tf.keras.utils.experimental")


class DatasetCreator:
    """Creates the dataset when `fit` starts.

    Args:
        dataset_fn: takes a `tf.distribute.InputContext` and returns a dataset, batched for one replica.
        input_options: accepted; there is one way to send data to devices.
    """

    def __init__(self, dataset_fn: Callable[[Any], Any], input_options: Any = None) -> None:
        if not callable(dataset_fn):
            raise TypeError(f"DatasetCreator: expected a function that returns a dataset, got {dataset_fn!r}.")
        self.dataset_fn = dataset_fn
        self.input_options = input_options

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Creates the dataset."""
        return self.dataset_fn(*args, **kwargs)
