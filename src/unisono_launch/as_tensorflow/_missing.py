"""The error for modules that the namespace does not have."""

from __future__ import annotations

import importlib
from typing import Final, NoReturn

NAMESPACE: Final = "unisono.tf"

_NO_TENSORFLOW: Final = (
    "`import tensorflow` gives Unisono's namespace here, on which this package cannot run, even if it is installed."
)

_DATASETS: Final = """{name} is not available: this tensorflow_datasets is Unisono's, which has `load`, `builder`, \
`as_numpy`, `as_dataframe` and little else.
Install tensorflow_datasets itself, or read the data with tf.data. See docs/datasets.md."""


def raise_missing(name: str) -> NoReturn:
    """Raises `ModuleNotFoundError` for a module "tensorflow.x" or "tensorflow_datasets.x"."""
    raise ModuleNotFoundError(_describe(name), name=name) from None


def describe_package(name: str) -> str:
    """Why a package that is made for TensorFlow cannot be imported, and what to use instead."""
    return f"{_describe_in_namespace(name)}\n{_NO_TENSORFLOW}"


def _describe(name: str) -> str:
    if name.partition(".")[0] == "tensorflow_datasets":
        return _DATASETS.format(name=name)
    return _describe_in_namespace("tf" + name.removeprefix("tensorflow"))


def _describe_in_namespace(name: str) -> str:
    known = importlib.import_module(f"{NAMESPACE}._missing")
    text: str = known.describe_missing_name(name)
    return text
