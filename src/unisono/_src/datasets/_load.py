"""MNIST and Fashion-MNIST from files of this machine, else from Keras, which downloads them into its cache."""

from __future__ import annotations

from typing import Any

import keras

from unisono._src.datasets._local_files import Arrays, DatasetFilesNotFoundError, read_local_dataset


def mnist() -> Arrays:
    """``(x_train, y_train), (x_test, y_test)``: 60,000 and 10,000 digits of 28x28 bytes."""
    return _load("mnist")


def fashion_mnist() -> Arrays:
    """``(x_train, y_train), (x_test, y_test)``: 60,000 and 10,000 garments of 28x28 bytes."""
    return _load("fashion_mnist")


def _load(name: str) -> Arrays:
    try:
        return read_local_dataset(name)
    except DatasetFilesNotFoundError as error:
        where_to_put_it = str(error)
    return load_with_keras(name, where_to_put_it)


def load_with_keras(name: str, where_to_put_it: str, **kwargs: Any) -> Arrays:
    """The arrays from Keras's cache, into which it downloads them if needed. Without network: an error that ends with
    ``where_to_put_it``."""
    try:
        arrays: Arrays = getattr(keras.datasets, name).load_data(**kwargs)
    except Exception as error:  # Keras raises nothing more specific
        raise DatasetFilesNotFoundError(f"Keras could not download {name}: {error}\n{where_to_put_it}") from error
    return arrays
