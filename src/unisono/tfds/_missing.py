"""Names of TensorFlow Datasets that are not there: what is said of them."""

from __future__ import annotations

from typing import Any

MISSING = """tensorflow_datasets.{name} is not there: this is Unisono's own tensorflow_datasets, which has `load`, \
`builder`, `list_builders`, `as_numpy` and `Split`.
Install tensorflow_datasets itself, or read the data with tf.data. See docs/datasets.md."""


def __getattr__(name: str) -> Any:
    raise AttributeError(MISSING.format(name=name))
