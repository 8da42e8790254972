"""Whole models: the gradients of a tape are those of `jax.grad` over Keras's stateless call."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import jax
import keras
import numpy as np
import pytest
from keras import layers

from unisono import GradientTape

pytestmark = pytest.mark.slow

HIDDEN: dict[str, Callable[[Any], Any]] = {
    "relu, gelu and softmax": lambda x: layers.Softmax()(
        layers.Dense(7, activation="gelu")(layers.Dense(7, activation="relu")(x))
    ),
    "LSTM": lambda x: layers.LSTM(5)(x),
    "Bidirectional GRU": lambda x: layers.Bidirectional(layers.GRU(4))(x),
    "Conv, BatchNormalization and MaxPooling": lambda x: layers.MaxPooling1D(2)(
        layers.ReLU()(layers.BatchNormalization()(layers.Conv1D(5, 3)(x)))
    ),
    "MultiHeadAttention": lambda x: layers.MultiHeadAttention(2, 4)(x, x),
    "Dropout": lambda x: layers.Dropout(0.5, seed=3)(layers.Dense(7)(x)),
    "Embedding": lambda x: layers.Embedding(11, 5)(x),
    "LayerNormalization": lambda x: layers.Dense(4, activation="silu")(layers.LayerNormalization()(x)),
    "RematScope": lambda x: layers.Dense(7, activation="relu")(x),
}


_COVERED = ("Bidirectional GRU", "MultiHeadAttention")  # by tests of training


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.full if name in _COVERED else []) for name in HIDDEN],
)
def test_gradients_of_a_model_are_those_of_jax_eagerly_and_compiled(name: str) -> None:
    keras.utils.set_random_seed(0)
    model, x = model_with(name)
    y = np.random.default_rng(1).integers(0, 3, 4).astype("int32")
    loss_function = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    trainable = [variable.value for variable in model.trainable_variables]
    non_trainable = [variable.value for variable in model.non_trainable_variables]

    def by_jax(trainable: Any, non_trainable: Any) -> Any:
        outputs, _ = model.stateless_call(trainable, non_trainable, x, training=True)
        return loss_function(y, outputs)

    def by_tape(trainable: Any, non_trainable: Any) -> Any:
        values = zip(model.trainable_variables + model.non_trainable_variables, trainable + non_trainable, strict=True)
        with keras.StatelessScope(state_mapping=list(values)):
            return loss_and_gradients()

    def loss_and_gradients() -> Any:
        with GradientTape() as tape:
            loss = loss_function(y, model(x, training=True))
        return loss, tape.gradient(loss, model.trainable_variables)

    expected_loss, expected = jax.jit(jax.value_and_grad(by_jax))(trainable, non_trainable)
    for loss, gradients in (jax.jit(by_tape)(trainable, non_trainable), loss_and_gradients()):
        np.testing.assert_allclose(loss, expected_loss, rtol=1e-4)
        for variable, ours, theirs in zip(model.trainable_variables, gradients, expected, strict=True):
            assert ours.dtype == variable.dtype
            np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-5, err_msg=variable.path)


def model_with(name: str) -> tuple[keras.Model, np.ndarray]:
    x = np.random.default_rng(0).normal(size=(4, 6, 8)).astype("float32")
    if name == "Embedding":
        x = (np.abs(x[..., 0]) * 4).astype("int32")
    with keras.RematScope(mode="full") if name == "RematScope" else contextlib.nullcontext():
        inputs = keras.Input(x.shape[1:], dtype=x.dtype.name)
        hidden = HIDDEN[name](inputs)
        outputs = layers.Dense(3, dtype="float32")(layers.Flatten()(hidden))
    return keras.Model(inputs, outputs), x
