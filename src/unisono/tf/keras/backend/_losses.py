"""What losses and metrics are made of."""

from __future__ import annotations

from typing import Any

from keras import ops


def binary_crossentropy(target: Any, output: Any, from_logits: bool = False) -> Any:
    """For each number; Keras 2 did not average here."""
    return ops.binary_crossentropy(target, output, from_logits=from_logits)


def categorical_crossentropy(target: Any, output: Any, from_logits: bool = False, axis: int = -1) -> Any:
    """For each row."""
    return ops.categorical_crossentropy(target, output, from_logits=from_logits, axis=axis)


def sparse_categorical_crossentropy(target: Any, output: Any, from_logits: bool = False, axis: int = -1) -> Any:
    """For each row."""
    return ops.sparse_categorical_crossentropy(target, output, from_logits=from_logits, axis=axis)


def in_top_k(predictions: Any, targets: Any, k: int) -> Any:
    """Whether each target is among the ``k`` highest predictions of its row."""
    return ops.in_top_k(targets, predictions, k)
