"""`SyncBatchNormalization`: batch normalization with the statistics of all replicas."""

from __future__ import annotations

from typing import Any

import keras


def SyncBatchNormalization(*args: Any, **kwargs: Any) -> Any:  # noqa: N802  (a class's name in TensorFlow)
    """`BatchNormalization(synchronized=True)`. Under `fit` all batch normalization is of this kind (docs/loops.md)."""
    return keras.layers.BatchNormalization(*args, synchronized=True, **kwargs)
