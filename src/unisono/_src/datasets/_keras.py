"""Makes `keras.datasets` read local files before it downloads."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import keras

from unisono._src.datasets._local_files import Arrays, DatasetFilesNotFoundError, read_local_dataset


def prefer_local_datasets() -> None:
    """Makes ``keras.datasets.mnist`` and ``fashion_mnist`` look where :func:`unisono.datasets.mnist` does.

    Without files there, Keras downloads them as usual.
    """
    for name in ("mnist", "fashion_mnist"):
        module = getattr(keras.datasets, name)
        module.load_data = _try_local_first(name, module.load_data)


def _try_local_first(name: str, download: Callable[..., Arrays]) -> Callable[..., Arrays]:
    @functools.wraps(download)
    def load_data(*args: Any, **kwargs: Any) -> Arrays:
        try:
            return read_local_dataset(name)
        except DatasetFilesNotFoundError:
            return download(*args, **kwargs)

    return load_data
