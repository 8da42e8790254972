"""Class numbers that name no output of the model are an error, unless they may be masked."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest

import unisono

X = np.zeros((8, 3), "float32")


def new_model(**loss: Any) -> Any:
    with unisono.MirroredStrategy(["cpu:0"]).scope():
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4)])
        model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True, **loss))
    return model


def test_a_class_without_an_output_is_an_error_that_names_the_row() -> None:
    y = np.array([0, 1, 2, 3, 4, 0, 1, 2])
    with pytest.raises(
        ValueError, match=r"class 4 in row 4, and the model has outputs for classes 0 to 3\.\n.*Dense\(5\)"
    ):
        new_model().fit(X, y, verbose=0)


@pytest.mark.slow
def test_labels_that_are_masked_may_be_any_number() -> None:
    y = np.array([0, 1, 2, 3, 255, 0, 1, 2])
    new_model(ignore_class=255).fit(X, y, verbose=0)
    new_model().fit(X, y, sample_weight=(y < 4).astype("float32"), verbose=0)
