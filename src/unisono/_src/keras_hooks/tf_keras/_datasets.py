"""Hooks: `keras.datasets` reads local files before it downloads.

Checked against Keras 3.15.1: `mnist.load_data` takes the name of a file in Keras's cache, `fashion_mnist.load_data`
nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras

from unisono._src import hooks

_SIGNATURES = {"mnist": "(path='mnist.npz')", "fashion_mnist": "()"}


def install_local_datasets(read: Callable[[str], Any], not_found: type[Exception]) -> None:
    """Makes ``keras.datasets.mnist`` and ``fashion_mnist`` try ``read(name)`` first.

    If that raises ``not_found``, Keras downloads the files as usual.
    """
    for name, signature in _SIGNATURES.items():

        def try_local_first(download: Callable[..., Any], name: str = name) -> Callable[..., Any]:
            def load_data(*args: Any, **kwargs: Any) -> Any:
                try:
                    return read(name)
                except not_found:
                    return download(*args, **kwargs)

            return load_data

        why = "scripts load MNIST without a network where its files are on this machine"
        hooks.wrap(getattr(keras.datasets, name), "load_data", try_local_first, expects=signature, why=why)
