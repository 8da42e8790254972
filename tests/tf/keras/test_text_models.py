"""Models that take text: their first layers run on the host, the rest on the devices."""

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import unisono
import unisono.tf as tf

layers = tf.keras.layers

TEXTS = np.array(["good film", "bad film", "very good", "very bad indeed", "good good", "bad"])
LABELS = np.array([1, 0, 1, 0, 1, 0], "float32")
WORDS = ["good", "bad", "very", "film"]


def vectorize() -> Any:
    return layers.TextVectorization(vocabulary=WORDS, output_sequence_length=4)


def body() -> list[Any]:
    return [
        layers.Embedding(8, 3, embeddings_initializer="ones"),
        layers.Flatten(),
        layers.Dense(1, kernel_initializer=keras.initializers.RandomUniform(seed=1), activation="sigmoid"),
    ]


def compiled(model: Any) -> Any:
    model.compile("sgd", "binary_crossentropy", metrics=["accuracy"])
    return model


def sequential(strategy: Any) -> Any:
    with strategy.scope():
        return compiled(keras.Sequential([keras.Input((1,), dtype="string"), vectorize(), *body()]))


def texts() -> Any:
    return tf.data.Dataset.from_tensor_slices((TEXTS, LABELS)).batch(3)


@pytest.mark.parametrize("num_replicas", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_fit_equals_fit_on_a_dataset_whose_map_reads_the_text(num_replicas: int) -> None:
    strategy = unisono.MirroredStrategy([f"cpu:{number}" for number in range(num_replicas)])
    layer, model = vectorize(), sequential(strategy)
    with strategy.scope():
        mapped = compiled(keras.Sequential([keras.Input((4,), dtype="int32"), *body()]))
    numbers = texts().map(lambda x, y: (layer(x), y))
    wanted = mapped.fit(numbers, validation_data=numbers, epochs=2, verbose=0).history
    assert model.fit(texts(), validation_data=texts(), epochs=2, verbose=0).history == wanted
    for one, other in zip(model.get_weights(), mapped.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert model.evaluate(texts(), verbose=0) == mapped.evaluate(numbers, verbose=0)
    np.testing.assert_array_equal(model.predict(texts(), verbose=0), mapped.predict(numbers, verbose=0))


@pytest.fixture(scope="module")
def model() -> Any:
    return sequential(unisono.OneDeviceStrategy("cpu:0"))


def test_text_comes_in_any_form_that_holds_rows(model: Any) -> None:
    wanted = model.predict(texts(), verbose=0)
    for x in (TEXTS, TEXTS[:, None], TEXTS.astype(object), TEXTS.tolist(), tf.constant(TEXTS.tolist())):
        np.testing.assert_array_equal(model.predict(x, verbose=0), wanted)
    np.testing.assert_allclose(model(tf.constant(TEXTS)), wanted, rtol=1e-6)
    np.testing.assert_allclose(model(tf.constant(TEXTS[:, None])), wanted, rtol=1e-6)
    np.testing.assert_allclose(model.predict_on_batch(TEXTS), wanted, rtol=1e-6)


@pytest.mark.parametrize("training", [None, True])
def test_a_layer_behind_the_text_keeps_the_training_that_it_was_given(training: bool | None) -> None:
    with unisono.OneDeviceStrategy("cpu:0").scope():
        inputs = keras.Input((1,), dtype="string")
        ones = layers.Embedding(8, 50, embeddings_initializer="ones")(vectorize()(inputs))
        model = keras.Model(inputs, layers.Dropout(0.5)(ones, training=training))
    assert (0.0 in model.predict(TEXTS, verbose=0)) == bool(training)


def test_arrays_of_text_are_trained_on_as_datasets_are(model: Any) -> None:
    start = model.get_weights()
    wanted = model.fit(texts(), verbose=0).history
    model.set_weights(start)
    assert model.fit(TEXTS, LABELS, batch_size=3, shuffle=False, verbose=0).history == wanted
    found = model.fit(TEXTS, LABELS, batch_size=3, validation_split=0.5, sample_weight=LABELS, verbose=0).history
    assert sorted(found) == ["accuracy", "loss", "val_accuracy", "val_loss"]
    loss, _ = model.test_on_batch(TEXTS, LABELS)
    assert model.train_on_batch(TEXTS, LABELS)[0] == pytest.approx(loss, rel=1e-6)
    assert model.test_on_batch(TEXTS, LABELS)[0] < loss


def test_a_model_with_text_is_saved_and_loaded(model: Any, tmp_path: Path) -> None:
    model.save(tmp_path / "text.keras")
    loaded = keras.models.load_model(tmp_path / "text.keras")
    np.testing.assert_array_equal(loaded.predict(TEXTS, verbose=0), model.predict(TEXTS, verbose=0))


def test_the_trained_model_behind_its_text_layer_outside_of_the_scope(tmp_path: Path) -> None:
    with unisono.MirroredStrategy(["cpu:0", "cpu:1"]).scope():
        trained = keras.Sequential([keras.Input((4,), dtype="int32"), *body()[:-1], layers.Dense(1)])
    layer = vectorize()
    wanted = keras.ops.sigmoid(trained(layer(TEXTS)))
    whole = compiled(keras.Sequential([layer, trained, layers.Activation("sigmoid")]))
    np.testing.assert_allclose(whole(tf.constant(TEXTS)), wanted, rtol=1e-6)
    whole = compiled(keras.Sequential([layer, trained, layers.Activation("sigmoid")]))
    np.testing.assert_allclose(whole.predict(TEXTS, verbose=0), wanted, rtol=1e-6)
    assert np.isfinite(whole.evaluate(texts(), verbose=0)).all()
    whole.save(tmp_path / "whole.keras")
    np.testing.assert_allclose(
        keras.models.load_model(tmp_path / "whole.keras").predict(TEXTS, verbose=0), wanted, rtol=1e-6
    )


ROWS = {
    "kind": np.array(["cat", "dog", "cow", "cat"], object),
    "age": np.array([1.0, 2.0, 3.0, 4.0]),
    "room": np.array([7, 9, 7, 8]),
    "code": np.array([10, 20, 30, 10]),
}


def columns() -> Any:
    kind = keras.Input((1,), name="kind", dtype="string")
    age = keras.Input((1,), name="age")
    room = keras.Input((1,), name="room", dtype="int64")
    code = keras.Input((1,), name="code", dtype="int64")
    parts = [
        layers.CategoryEncoding(num_tokens=4)(layers.StringLookup(vocabulary=["cat", "dog", "cow"])(kind)),
        age,
        layers.IntegerLookup(vocabulary=[7, 8], output_mode="one_hot")(room),
        layers.Hashing(num_bins=3, output_mode="one_hot")(code),
    ]
    return {"kind": kind, "age": age, "room": room, "code": code}, layers.Concatenate()(parts)


def by_hand() -> Any:
    return np.concatenate(
        [
            np.eye(4)[layers.StringLookup(vocabulary=["cat", "dog", "cow"])(ROWS["kind"])],
            ROWS["age"][:, None],
            np.asarray(layers.IntegerLookup(vocabulary=[7, 8], output_mode="one_hot")(ROWS["room"][:, None])),
            np.asarray(layers.Hashing(num_bins=3, output_mode="one_hot")(ROWS["code"][:, None])),
        ],
        axis=-1,
    ).astype("float32")


@pytest.mark.parametrize("nested", [False, True])
def test_columns_of_text_and_of_numbers(nested: bool) -> None:
    inputs, joined = columns()
    if nested:  # as the tutorial on CSV files has it: a model of the preprocessing inside the model
        joined = keras.Model(inputs, joined)(inputs)
    dense = layers.Dense(1, kernel_initializer="ones")
    with unisono.MirroredStrategy(["cpu:0", "cpu:1"]).scope():
        model = keras.Model(inputs, dense(joined))
        model.compile("sgd", "mse")
    wanted = by_hand().sum(-1, keepdims=True)
    np.testing.assert_allclose(model.predict(ROWS, verbose=0), wanted, rtol=1e-6)
    np.testing.assert_allclose(model({name: tf.constant(rows) for name, rows in ROWS.items()}), wanted, rtol=1e-6)
    dataset = tf.data.Dataset.from_tensor_slices((ROWS, wanted + 1)).batch(2)
    assert model.evaluate(dataset, verbose=0) == pytest.approx(1, rel=1e-5)
    history = model.fit(dataset, epochs=2, verbose=0).history["loss"]
    assert history[1] < history[0]


def test_layers_alone_can_be_a_model() -> None:
    inputs, joined = columns()
    found = keras.Model(inputs, joined).predict(ROWS, verbose=0)
    np.testing.assert_array_equal(found, by_hand())


def test_a_step_of_ones_own_gets_what_the_host_has_made() -> None:
    class Own(keras.Model):
        def train_step(self, data: Any) -> Any:
            x, y = data
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((self(x, training=True) - y[:, None]) ** 2)
            variables = self.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
            return {"loss": loss}

    text = keras.Input((1,), dtype="string")
    output = vectorize()(text)
    for layer in body():
        output = layer(output)
    model = Own(text, output)
    model.compile("sgd")
    losses = model.fit(texts(), epochs=3, verbose=0).history["loss"]
    assert losses[-1] < losses[0]


def test_a_model_that_reads_text_in_its_own_call_is_called_eagerly_and_rejected_by_fit() -> None:
    class Reads(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.parts = [vectorize(), *body()]

        def call(self, x: Any) -> Any:
            for part in self.parts:
                x = part(x)
            return x

    model = Reads()
    assert model(tf.constant(TEXTS)).shape == (6, 1)
    model.compile("sgd", "mse")
    for train in (
        lambda: model.fit(TEXTS, LABELS),
        lambda: model.fit(texts()),
        lambda: model.evaluate(texts()),
        lambda: model.predict(TEXTS),
        lambda: model.train_on_batch(TEXTS, LABELS),
    ):
        with pytest.raises(TypeError, match="Text stays on the host"):
            train()


def test_weights_before_text_layers_are_not_trained() -> None:
    inside = keras.Sequential([keras.Input((1,), dtype="string"), vectorize(), *body()])
    outside = keras.Input((1,), dtype="string")
    model = keras.Model(outside, inside(outside))
    compiled(model)
    assert model.predict(TEXTS, verbose=0).shape == (6, 1)
    with pytest.raises(NotImplementedError, match="takes text and has weights to train"):
        model.fit(texts(), verbose=0)


def test_one_input_in_a_list_and_numbers_hashed_in_a_model_inside() -> None:
    number = keras.Input((1,), dtype="int32")
    inside = keras.Model([number], layers.Hashing(num_bins=3, output_mode="one_hot")(number))
    outer = keras.Input((1,), dtype="int32")
    model = keras.Model([outer], layers.Dense(1, kernel_initializer="ones", bias_initializer="ones")(inside(outer)))
    model.compile("sgd", "mse")
    assert model.predict(ROWS["code"], verbose=0).tolist() == [[2.0]] * 4
    assert model.fit(ROWS["code"], np.full(4, 2.0), verbose=0).history["loss"] == [0.0]
    text = keras.Input((1,), dtype="string")
    lookup = keras.Model([text], layers.StringLookup(vocabulary=["cat"])(text))
    assert lookup.predict(ROWS["kind"], verbose=0).tolist() == [[1], [0], [0], [1]]
    assert np.asarray(lookup(tf.constant(["cat"]))).tolist() == [[1]]


def test_columns_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    text = keras.Input((1,), name="kind", dtype="string")
    age = keras.Input((1,), name="age")
    joined = layers.Concatenate()([layers.StringLookup(vocabulary=["cat", "dog"], output_mode="one_hot")(text), age])
    model = keras.Model({"kind": text, "age": age}, layers.Dense(1)(joined))
    model.compile("sgd", "mse")
    columns = dict(pandas.DataFrame({"kind": ["cat", "dog", "cow", "cat"], "age": [1.0, 2.0, 3.0, 4.0]}))
    history = model.fit(columns, pandas.Series([0.0, 1.0, 0.0, 1.0]), validation_split=0.5, verbose=0).history
    assert sorted(history) == ["loss", "val_loss"]


def test_batches_of_text_from_a_generator_are_an_error(model: Any) -> None:
    with pytest.raises(TypeError, match="from arrays or a Dataset here, not from generator"):
        model.fit(((TEXTS, LABELS) for _ in range(1)), verbose=0)
