"""Finds labels that name no output of the model: Keras on JAX would train with them, and give a wrong loss."""

from __future__ import annotations

from typing import Any, Final

import keras
import numpy as np

# Reading more takes longer than a person would wait: 9 ms for 50 million labels of 4 bytes.
_MAX_LABELS: Final = 50_000_000

OUT_OF_RANGE = """The labels y have class {largest} in row {row}, and the model has outputs for classes 0 to {last}.
Count the classes from 0, as in y - 1, or give the last layer an output for each of them: Dense({needed})."""


def check_label_range(model: Any, y: Any) -> None:
    """Raises `ValueError` if class numbers in the array ``y`` are too large for the model, which is built."""
    if not isinstance(y, np.ndarray) or y.dtype.kind not in "iu" or not 0 < y.size <= _MAX_LABELS:
        return
    if type(model).compute_loss is not keras.Model.compute_loss or type(model).train_step is not keras.Model.train_step:
        return  # which may change the labels first, for example if classes are counted from 1
    loss = keras.losses.get(model.loss) if isinstance(model.loss, str) else model.loss
    shape = _output_shape(model)
    is_sparse = isinstance(loss, keras.losses.SparseCategoricalCrossentropy) or (
        loss is keras.losses.sparse_categorical_crossentropy
    )
    if not is_sparse or not isinstance(shape, tuple) or not isinstance(shape[-1], int):
        return
    classes, ignored = shape[-1], getattr(loss, "ignore_class", None)
    largest = int(y.max())
    if largest < classes or largest == ignored:
        return
    row = int(np.argmax(y.reshape(len(y), -1).max(axis=1) == largest))
    raise ValueError(OUT_OF_RANGE.format(largest=largest, row=row, last=classes - 1, needed=largest + 1))


def _output_shape(model: Any) -> Any:
    """That of a Sequential or functional model; None for others, of which Keras does not know it."""
    try:
        return model.output_shape
    except (AttributeError, ValueError):
        return None
