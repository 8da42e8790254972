"""`SyncBatchNormalization`: batch normalization with statistics over all replicas."""

from __future__ import annotations

from typing import Any

import keras


def SyncBatchNormalization(*args: Any, **kwargs: Any) -> Any:  # noqa: N802  (a class's name in TensorFlow)
    """`BatchNormalization(synchronized=True)`. Under `fit` every BatchNormalization does this (docs/loops.md)."""
    return keras.layers.BatchNormalization(*args, synchronized=True, **kwargs)
