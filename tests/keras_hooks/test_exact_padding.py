"""Models that give the same results for padded sequences are recognised, and no others."""

from __future__ import annotations

import re
from typing import Any

import jax
import keras
import numpy as np
import pytest

from unisono._src.data.plans import PaddedRagged
from unisono._src.keras_hooks import ExactPadding, find_exact_padding

L = keras.layers
RNG = np.random.default_rng(0)
WORDS = RNG.integers(1, 20, (3, 7)).astype("int32")
WORDS[1, 4:] = 0  # a shorter row
VECTORS = RNG.normal(size=(3, 7, 5)).astype("float32")
VECTORS[2, 5:] = -1


def _embedded(*layers: Any) -> Any:
    return keras.Sequential([keras.Input((None,), dtype="int32"), L.Embedding(20, 4, mask_zero=True), *layers])


def _masked(*layers: Any) -> Any:
    return keras.Sequential([keras.Input((None, 5)), L.Masking(-1.0), *layers])


def _transformer() -> Any:
    words = keras.Input((None,), dtype="int32")
    x = L.Embedding(20, 4, mask_zero=True)(words)
    attended = L.MultiHeadAttention(2, 3)(x, x)
    x = L.LayerNormalization()(L.Add()([x, attended]))
    x = L.Concatenate()([x, L.Dense(3, "gelu")(x)])
    x = L.MultiHeadAttention(2, 3)(x, x, use_causal_mask=True)
    return keras.Model(words, L.BatchNormalization()(L.Dense(2)(L.GlobalAveragePooling1D()(x))))


def _two_inputs() -> Any:
    words, numbers = keras.Input((None,), dtype="int32", name="words"), keras.Input((3,), name="numbers")
    x = L.LSTM(3)(L.Embedding(20, 4, mask_zero=True)(words))
    return keras.Model({"words": words, "numbers": numbers}, L.Dense(1)(L.Concatenate()([x, L.Dense(2)(numbers)])))


EXACT = {
    "lstm": lambda: _embedded(L.LSTM(3)),
    "gru after dense": lambda: _embedded(L.Dense(3, "relu"), L.SpatialDropout1D(0.5), L.GRU(3, dropout=0.2)),
    "two recurrent layers": lambda: _embedded(L.SimpleRNN(3, return_sequences=True), L.LSTM(2, go_backwards=True)),
    "bidirectional": lambda: _embedded(L.Bidirectional(L.LSTM(3))),
    "bidirectional sequences": lambda: _embedded(L.Bidirectional(L.GRU(3, return_sequences=True)), L.LSTM(2)),
    "average": lambda: _embedded(L.Activation("tanh"), L.GlobalAveragePooling1D(), L.Dropout(0.5), L.Dense(1)),
    "masking": lambda: _masked(L.LayerNormalization(), L.LeakyReLU(), L.LSTM(3), L.Flatten(), L.Dense(1)),
    "attention": _transformer,
    "two inputs": _two_inputs,
}

NOT_EXACT = {
    "no mask": (lambda: keras.Sequential([keras.Input((None,)), L.Embedding(9, 2), L.LSTM(3)]), "no input is read by"),
    "fixed length": (
        lambda: keras.Sequential([keras.Input((7,)), L.Embedding(9, 2, mask_zero=True), L.LSTM(3)]),
        "no i",
    ),
    "convolution": (lambda: _embedded(L.Conv1D(3, 2), L.LSTM(3)), "'conv1d.*Conv1D. is not known to ignore padding"),
    "batch norm over time": (lambda: _embedded(L.BatchNormalization(), L.LSTM(3)), "BatchNormalization"),
    "maximum": (lambda: _embedded(L.GlobalMaxPooling1D()), "GlobalMaxPooling1D"),
    "dropout over time": (lambda: _embedded(L.Dropout(0.5), L.LSTM(3)), "draws a random number for every time step"),
    "output per step": (lambda: _embedded(L.LSTM(3, return_sequences=True), L.Dense(1)), "has a time axis"),
    "lambda": (lambda: _embedded(L.Lambda(lambda x: x + 1), L.LSTM(3)), "Lambda"),
    "own activation": (lambda: _embedded(L.Dense(3, activation=lambda x: x - x.mean(1)), L.LSTM(3)), "Dense"),
    "activity": (lambda: _embedded(L.Dense(3, activity_regularizer="l2"), L.LSTM(3)), "activity_regularizer"),
    "zero output": (lambda: _embedded(L.LSTM(3, zero_output_for_mask=True)), "LSTM"),
    "unrolled": (lambda: _embedded(L.LSTM(3, unroll=True)), "LSTM"),
    "own mask": (lambda: _own_mask(), "called with a mask"),
    "nested": (lambda: _embedded(keras.Sequential([L.LSTM(3)])), "Sequential"),
    "attention with dropout": (lambda: _attention(dropout=0.1), "MultiHeadAttention"),
}


def _own_mask() -> Any:
    words = keras.Input((None,), dtype="int32")
    x = L.Embedding(20, 4, mask_zero=True)(words)
    return keras.Model(words, L.LSTM(3)(x, mask=keras.ops.all(keras.ops.equal(x, x), axis=-1)))


def _attention(**options: Any) -> Any:
    words = keras.Input((None,), dtype="int32")
    x = L.Embedding(20, 4, mask_zero=True)(words)
    x = L.MultiHeadAttention(2, 3, **options)(x, x)
    return keras.Model(words, L.GlobalAveragePooling1D()(x))


# Compiling a recurrence takes a second; the default tests have one of each idea.
_LONG = {"two recurrent layers", "gru after dense", "bidirectional", "bidirectional sequences"}


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.full] * (name in _LONG)) for name in EXACT])
def test_padded_sequences_give_the_same_results(name: str) -> None:
    model = EXACT[name]()
    padding = find_exact_padding(model, trains=True)
    assert isinstance(padding, ExactPadding), padding
    inputs = {"masking": VECTORS, "two inputs": {"words": WORDS, "numbers": VECTORS[:, 0, :3]}}.get(name, WORDS)
    leaves = keras.tree.flatten(inputs)
    padded = [
        leaf if value is None else np.pad(leaf, [(0, 0), (0, 9), *[(0, 0)] * (leaf.ndim - 2)], constant_values=value)
        for leaf, value in zip(leaves, padding.values, strict=True)
    ]
    state = [
        [variable.value for variable in group] for group in (model.trainable_variables, model.non_trainable_variables)
    ]
    call = jax.jit(lambda x: model.stateless_call(*state, x, training=True)[0])  # equal seeds in both calls
    results = [call(keras.tree.pack_sequence_as(inputs, each)) for each in (leaves, padded)]
    np.testing.assert_allclose(*results, rtol=1e-5, atol=1e-6)


# With ragged rows, the mask is that of the model's input.
RAGGED = {
    "embedding": (lambda: _embedded(L.GlobalAveragePooling1D()), (3, 7), True),
    "without mask_zero": (lambda: _unmasked(keras.Input((None,)), L.Embedding(20, 4), L.LSTM(3)), (3, 7), True),
    "vectors": (lambda: _unmasked(keras.Input((None, 5)), L.LSTM(3)), (3, 7, 5), True),
    "softmax over time": (
        lambda: _unmasked(keras.Input((None,)), L.Activation("softmax"), L.Embedding(20, 4), L.LSTM(3)),
        (3, 7),
        "'activation.*not known to ignore",
    ),
    "masking by value": (lambda: _masked(L.LSTM(3)), (3, 7, 5), "'masking.*not known to ignore"),
    "built by a batch": (lambda: _unmasked(keras.Input((7,)), L.Embedding(20, 4), L.LSTM(3)), (3, 7), True),
}


def _unmasked(*layers: Any) -> Any:
    return keras.Sequential(layers)


@pytest.mark.parametrize("name", RAGGED)
def test_the_lengths_of_ragged_rows_are_their_mask(name: str) -> None:
    make, shape, expected = RAGGED[name]
    x = PaddedRagged.make(jax.ShapeDtypeStruct(shape, "int32"), jax.ShapeDtypeStruct(shape[:1], "int32"))
    found = find_exact_padding(make(), trains=True, x=x)
    if expected is True:
        assert isinstance(found, ExactPadding), found
        assert found.values == (0,)
    else:
        assert isinstance(found, str)
        assert re.search(str(expected), found)


@pytest.mark.slow
@pytest.mark.parametrize("name", NOT_EXACT)
@pytest.mark.filterwarnings("ignore:Layer .* was passed an input with a mask")
def test_other_models_are_not_padded_and_the_reason_is_named(name: str) -> None:
    make, reason = NOT_EXACT[name]
    found = find_exact_padding(make(), trains=True)
    assert isinstance(found, str)
    assert re.search(reason, found), found


def test_dropout_is_exact_where_it_draws_nothing() -> None:
    model = _embedded(L.Dropout(0.5), L.LSTM(3))
    assert isinstance(find_exact_padding(model, trains=False), ExactPadding)


def test_a_model_with_its_own_call_is_not_padded() -> None:
    class Own(keras.Model):
        def call(self, x: Any) -> Any:
            return x

    assert "Own is not a Sequential or functional model" in str(find_exact_padding(Own(), trains=False))
