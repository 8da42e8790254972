"""Keras models and layers take ragged and sparse tensors: as padded arrays with a mask, or dense ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import keras
import numpy as np
import pytest

import unisono
import unisono.tf as tf
from unisono._src.core import collect_fit_facts

ROWS = [[3, 1, 4], [5], [9, 2, 6, 5], [3, 5], [8, 9, 7], [1, 2], [3, 8, 4, 6], [2]]
LABELS = np.array([[1.0], [0.0], [1.0], [0.0], [1.0], [0.0], [1.0], [1.0]], np.float32)
SENTENCES = ["what is this", "this is it", "is this it or what is it", "it is"]


def ragged_rows() -> Any:
    return tf.ragged.constant(ROWS)


def padded_rows() -> Any:
    return ragged_rows().to_tensor().numpy()


def make_model(pooling: Any, mask_zero: bool, **strategy: Any) -> Any:
    keras.utils.set_random_seed(3)
    model = keras.Sequential([keras.layers.Embedding(10, 4, mask_zero=mask_zero), pooling(), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.5), "mse")
    return model


POOLING = {
    "lstm": lambda: keras.layers.LSTM(3),
    "average": lambda: keras.layers.GlobalAveragePooling1D(),
}


def fit(model: Any, *data: Any) -> Any:
    history = model.fit(*data, epochs=2, verbose=0, **({"batch_size": 4, "shuffle": False} if len(data) > 1 else {}))
    return history.history["loss"], model.get_weights()


def assert_same(one: Any, other: Any) -> None:
    np.testing.assert_allclose(one[0], other[0], rtol=1e-5)
    for a, b in zip(one[1], other[1], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("pooling", ["average", pytest.param("lstm", marks=pytest.mark.full)])
def test_fit_with_ragged_rows_is_fit_with_padded_rows_and_a_mask(pooling: str) -> None:
    padded = make_model(POOLING[pooling], mask_zero=True)  # no row has a 0, so this masks the padding
    expected = fit(padded, padded_rows(), LABELS)
    arrays = make_model(POOLING[pooling], mask_zero=False)
    assert_same(fit(arrays, ragged_rows(), LABELS), expected)
    np.testing.assert_allclose(
        arrays.predict(ragged_rows(), verbose=0), padded.predict(padded_rows(), verbose=0), rtol=1e-5
    )
    np.testing.assert_allclose(arrays(ragged_rows()[:3]), arrays.predict(ragged_rows(), verbose=0)[:3], rtol=1e-5)
    assert arrays.evaluate(ragged_rows(), LABELS, verbose=0) == pytest.approx(
        padded.evaluate(padded_rows(), LABELS, verbose=0), rel=1e-5
    )
    dataset = tf.data.Dataset.from_tensor_slices((ragged_rows(), LABELS)).batch(4)
    assert_same(fit(make_model(POOLING[pooling], mask_zero=False), dataset), expected)


@pytest.mark.slow
def test_two_replicas_train_with_ragged_rows_as_one() -> None:
    expected = fit(make_model(POOLING["average"], mask_zero=True), padded_rows(), LABELS)
    with tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"]).scope():
        model = make_model(POOLING["average"], mask_zero=False)
    dataset = tf.data.Dataset.from_tensor_slices((ragged_rows(), LABELS)).batch(4)
    assert_same(fit(model, dataset), expected)


LENGTHS = [3, 5, 9, 5, 12, 10, 14, 11, 13, 16]


def batches_of_many_lengths() -> Any:
    rng = np.random.default_rng(0)
    rows = [[rng.integers(0, 9, size) for size in (length, 1 + length // 2)] for length in LENGTHS]
    ragged = tf.ragged.constant([row.tolist() for batch in rows for row in batch])
    labels = rng.normal(size=(2 * len(LENGTHS), 1)).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((ragged, labels)).batch(2)


def make_replicated(pooling: Any, mask_zero: bool) -> Any:
    keras.utils.set_random_seed(3)
    layers = [keras.layers.Embedding(10, 4, mask_zero=mask_zero), pooling(), keras.layers.Dense(1)]
    with tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"]).scope():
        model = keras.Sequential(layers if mask_zero else [keras.Input((None,), dtype="int32"), *layers])
        model.compile(keras.optimizers.SGD(0.5), "mse")
    return model


@pytest.fixture
def padding() -> Iterator[Any]:
    yield unisono.config.set_sequence_padding
    unisono.config.set_sequence_padding("auto")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pooling", "mask_zero"),
    [
        ("average", False),
        pytest.param("average", True, marks=pytest.mark.full),
        pytest.param("lstm", False, marks=pytest.mark.full),
    ],
)
def test_ragged_rows_of_many_lengths_are_padded_to_a_few_and_masked(
    pooling: str, mask_zero: bool, padding: Any
) -> None:
    with collect_fit_facts() as facts:
        found = fit(make_replicated(POOLING[pooling], mask_zero), batches_of_many_lengths())
    assert facts.programs <= 4, "3 and 5 as they are, all others as 16; two forms of the first"
    padding("off")
    with pytest.warns(UserWarning, match=r"batches of 8 shapes.*\(2, 3\), \(2, 5\)"):
        assert_same(found, fit(make_replicated(POOLING[pooling], mask_zero), batches_of_many_lengths()))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Layer .* was passed an input with a mask")
def test_ragged_rows_are_not_padded_for_a_layer_that_sees_the_padding() -> None:
    model = make_replicated(keras.layers.GlobalMaxPooling1D, mask_zero=False)
    with pytest.warns(UserWarning, match=r"every shape compiles(.|\n)*'global_max_pooling1d.*not known to ignore"):
        model.evaluate(batches_of_many_lengths(), verbose=0)


@pytest.mark.full
def test_functional_models_take_ragged_inputs_and_give_masked_sequences() -> None:
    keras.utils.set_random_seed(1)
    ids = tf.keras.Input([None], dtype="int32", ragged=True)
    hidden = tf.keras.layers.Embedding(10, 4)(ids)
    outputs = tf.keras.layers.Dense(1)(tf.keras.layers.SimpleRNN(3, return_sequences=True)(hidden))
    model = tf.keras.Model(ids, outputs)
    model.compile("sgd", "mse")
    labels = tf.expand_dims(ragged_rows() * 0.5, -1)
    loss = model.evaluate(ragged_rows(), labels, verbose=0)
    found = np.concatenate([np.asarray(model(np.array([row])))[0, :, 0] for row in ROWS])
    # The masked mean: padding counts neither as an error nor as a value.
    assert loss == pytest.approx(np.mean((found - labels.flat_values.numpy()[:, 0]) ** 2), rel=1e-4)
    model.fit(ragged_rows(), labels, epochs=1, verbose=0, validation_split=0.25)
    assert np.isfinite(model.train_on_batch(ragged_rows(), labels))
    assert model.predict_on_batch(ragged_rows()).shape == (8, 4, 1)


@pytest.mark.slow
def test_sparse_features_train_as_dense_ones() -> None:
    features = np.random.default_rng(0).integers(0, 3, (6, 5)).astype(np.float32)
    targets = features.sum(1, keepdims=True)

    def make() -> Any:
        keras.utils.set_random_seed(2)
        x = tf.keras.Input(shape=(5,), sparse=True)
        model = tf.keras.Model(x, tf.keras.layers.Dense(1)(x))
        model.compile(keras.optimizers.SGD(0.01), "mse")
        return model

    sparse = tf.sparse.from_dense(features)
    expected = fit(make(), features, targets)
    assert_same(fit(make(), sparse, targets), expected)
    batches = tf.data.Dataset.from_tensor_slices((sparse, targets)).batch(4)
    model = make()
    assert_same(fit(model, batches), expected)
    np.testing.assert_allclose(model(sparse), model.predict(sparse, verbose=0), rtol=1e-5)
    np.testing.assert_allclose(model(sparse), model(features), rtol=1e-5)


def test_layers_take_ragged_tensors() -> None:
    embedded = tf.keras.layers.Embedding(10, 2)(ragged_rows())
    assert embedded.shape == (8, 4, 2)
    assert np.asarray(embedded._keras_mask).sum(1).tolist() == [len(row) for row in ROWS]
    lookup = tf.keras.layers.StringLookup(vocabulary=["a", "b"])
    words = tf.ragged.constant([["a", "x"], ["b"]])
    assert lookup(words).to_list() == [[1, 0], [2]]
    adapted = tf.keras.layers.StringLookup()
    adapted.adapt(words)
    assert set(adapted.get_vocabulary()) == {"[UNK]", "a", "b", "x"}
    assert tf.keras.layers.StringLookup(vocabulary=["a", "b"], output_mode="multi_hot")(words).tolist() == [
        [1, 1, 0],
        [0, 0, 1],
    ]
    hashed = tf.keras.layers.Hashing(num_bins=3)(words)
    assert [len(row) for row in hashed] == [2, 1]


def test_text_vectors_may_be_ragged() -> None:
    layer = tf.keras.layers.TextVectorization(vocabulary=["what", "is", "this"], ragged=True)
    assert layer(SENTENCES).to_list() == [[2, 3, 4], [4, 3, 1], [3, 4, 1, 1, 2, 3, 1], [1, 3]]
    assert layer("what else").numpy().tolist() == [2, 1]
    copy = tf.keras.layers.TextVectorization.from_config(layer.get_config())
    assert copy(SENTENCES[:1]).to_list() == [[2, 3, 4]]
    words = tf.strings.split(SENTENCES)
    unsplit = tf.keras.layers.TextVectorization(split=None, standardize=None, vocabulary=["is"], ragged=True)
    assert unsplit(words).to_list()[0] == [1, 2, 1]
    with pytest.raises(ValueError, match="output_mode"):
        tf.keras.layers.TextVectorization(ragged=True, output_mode="count")


@pytest.mark.full
def test_a_model_of_text_with_ragged_rows_trains() -> None:
    def make(ragged: bool) -> Any:
        keras.utils.set_random_seed(4)
        vectorize = tf.keras.layers.TextVectorization(vocabulary=["what", "is", "this"], ragged=ragged)
        embedding = tf.keras.layers.Embedding(6, 3, mask_zero=not ragged)
        model = tf.keras.Sequential([vectorize, embedding, keras.layers.LSTM(2), keras.layers.Dense(1)])
        model.compile(keras.optimizers.SGD(0.1), "mse")
        return model

    texts, targets = np.array(SENTENCES), LABELS[:4]
    assert_same(fit(make(True), texts, targets), fit(make(False), texts, targets))
