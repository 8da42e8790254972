"""The error for modules that the namespace does not have."""

from __future__ import annotations

import importlib
from typing import Final, NoReturn

NAMESPACE: Final = "unisono.tf"

_PRIVATE: Final = """{name} is not part of TensorFlow's public interface, and Unisono does not have it.
Use the public name: tf.nest instead of tensorflow.python.util.nest, tf.keras instead of tensorflow.python.keras.
See docs/tf.md."""

_DATASETS: Final = """{name} is not available: this tensorflow_datasets is Unisono's, which has `load`, `builder`, \
`as_numpy` and little else.
Install tensorflow_datasets itself, or read the data with tf.data. See docs/datasets.md."""


def raise_missing(name: str) -> NoReturn:
    """Raises `ModuleNotFoundError` for a module "tensorflow.x" or "tensorflow_datasets.x"."""
    raise ModuleNotFoundError(_describe(name), name=name) from None


def _describe(name: str) -> str:
    package, part, *_ = name.split(".")
    if package == "tensorflow_datasets":
        return _DATASETS.format(name=name)
    if part in ("python", "core", "compiler") or part.startswith("_"):
        return _PRIVATE.format(name=name)
    known = importlib.import_module(f"{NAMESPACE}._missing")
    text: str = known.describe_missing_name("tf" + name.removeprefix("tensorflow"))
    return text
