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
@pytest.mark.parametrize("method", ["compute_loss", "train_step"])
def test_a_model_that_counts_the_classes_from_1_itself_is_trained(method: str) -> None:
    class Shifted(keras.Sequential):
        def compute_loss(self, x: Any = None, y: Any = None, *arguments: Any, **keywords: Any) -> Any:
            return super().compute_loss(x, y - (method == "compute_loss"), *arguments, **keywords)

    class OwnStep(keras.Sequential):
        def train_step(self, state: Any, data: Any) -> Any:
            x, y = data
            return super().train_step(state, (x, y - 1))

    with unisono.MirroredStrategy(["cpu:0"]).scope():
        model = (Shifted if method == "compute_loss" else OwnStep)([keras.Input((3,)), keras.layers.Dense(4)])
        model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    history = model.fit(X, np.array([1, 2, 3, 4, 1, 2, 3, 4]), verbose=0).history
    assert np.isfinite(history["loss"]).all()


@pytest.mark.slow
def test_labels_that_are_masked_may_be_any_number() -> None:
    y = np.array([0, 1, 2, 3, 255, 0, 1, 2])
    new_model(ignore_class=255).fit(X, y, verbose=0)
    new_model().fit(X, y, sample_weight=(y < 4).astype("float32"), verbose=0)
