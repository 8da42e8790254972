"""guide/keras: sequential and functional models, training, subclassing, masking, RNNs, transfer learning, callbacks."""

from pathlib import Path

import numpy as np
import pytest

import unisono.tf as tf
from unisono.tf import keras
from unisono.tf.keras import layers


def test_sequential_models() -> None:
    """add, pop, build by a first call, input_shape, summary, feature extraction by outputs of layers"""
    model = keras.Sequential(name="my_sequential")
    model.add(layers.Dense(2, activation="relu", name="layer1"))
    model.add(layers.Dense(3, name="layer2"))
    model.add(layers.Dense(4))
    model.pop()
    assert len(model.layers) == 2
    assert not model.weights
    model(tf.ones((1, 4)))
    assert len(model.weights) == 4
    lines = []
    model.summary(print_fn=lambda text, *args, **kwargs: lines.append(text))
    assert lines
    extractor = keras.Model(inputs=model.inputs, outputs=[layer.output for layer in model.layers])
    assert len(extractor(tf.ones((1, 4)))) == 2
    assert model.get_layer("layer1").output.shape[-1] == 2


@pytest.mark.full
def test_functional_models(tmp_path: Path) -> None:
    """several inputs and outputs by name, shared layers, nested models, get_config, plot-free saving, custom layers"""
    title = keras.Input(shape=(None,), name="title", dtype="int32")
    tags = keras.Input(shape=(3,), name="tags")
    features = layers.concatenate([layers.LSTM(4)(layers.Embedding(10, 4)(title)), tags])
    priority = layers.Dense(1, name="priority")(features)
    department = layers.Dense(2, name="department")(features)
    model = keras.Model(inputs=[title, tags], outputs={"priority": priority, "department": department})
    model.compile(
        optimizer=keras.optimizers.RMSprop(1e-3),
        loss={
            "priority": keras.losses.BinaryCrossentropy(from_logits=True),
            "department": keras.losses.CategoricalCrossentropy(from_logits=True),
        },
        loss_weights={"priority": 1.0, "department": 0.2},
    )
    rng = np.random.default_rng(0)
    data = {"title": rng.integers(0, 10, (8, 5)), "tags": rng.random((8, 3)).astype("float32")}
    targets = {"priority": rng.random((8, 1)), "department": np.eye(2)[rng.integers(0, 2, 8)]}
    history = model.fit(data, targets, epochs=1, batch_size=4, verbose=0).history
    assert "loss" in history

    @keras.utils.register_keras_serializable()
    class CustomDense(layers.Layer):
        def __init__(self, units: int = 32, **kwargs: object) -> None:
            super().__init__(**kwargs)
            self.units = units

        def build(self, input_shape: tuple) -> None:
            self.w = self.add_weight(shape=(input_shape[-1], self.units), initializer="random_normal", trainable=True)
            self.b = self.add_weight(shape=(self.units,), initializer="zeros", trainable=True)

        def call(self, inputs: tf.Tensor) -> tf.Tensor:
            return tf.matmul(inputs, self.w) + self.b

        def get_config(self) -> dict:
            return {**super().get_config(), "units": self.units}

    inputs = keras.Input((4,))
    inner = keras.Model(inputs, CustomDense(3)(inputs))
    outer_in = keras.Input((4,))
    outer = keras.Model(outer_in, layers.average([inner(outer_in), inner(outer_in)]))
    rebuilt = keras.Model.from_config(outer.get_config(), custom_objects={"CustomDense": CustomDense})
    rebuilt.set_weights(outer.get_weights())
    x = np.ones((2, 4), "float32")
    np.testing.assert_allclose(rebuilt(x), outer(x), rtol=1e-6)
    outer.save(tmp_path / "m.keras")
    np.testing.assert_allclose(keras.models.load_model(tmp_path / "m.keras")(x), outer(x), rtol=1e-6)


@pytest.mark.full
def test_training_and_evaluation() -> None:
    """custom losses and metrics, add_loss and regularizers, class and sample weights, validation split, callbacks"""

    class CustomMSE(keras.losses.Loss):
        def __init__(self, regularization_factor: float = 0.1, name: str = "custom_mse") -> None:
            super().__init__(name=name)
            self.regularization_factor = regularization_factor

        def call(self, y_true: tf.Tensor, y_pred: tf.Tensor) -> tf.Tensor:
            mse = tf.math.reduce_mean(tf.square(y_true - y_pred), axis=-1)
            return mse + tf.math.reduce_mean(tf.square(0.5 - y_pred), axis=-1) * self.regularization_factor

    class CategoricalTruePositives(keras.metrics.Metric):
        def __init__(self, name: str = "categorical_true_positives", **kwargs: object) -> None:
            super().__init__(name=name, **kwargs)
            self.true_positives = self.add_weight(name="ctp", initializer="zeros")

        def update_state(self, y_true: tf.Tensor, y_pred: tf.Tensor, sample_weight: tf.Tensor | None = None) -> None:
            y_pred = tf.reshape(tf.argmax(y_pred, axis=1), shape=(-1, 1))
            values = tf.cast(tf.reshape(tf.argmax(y_true, axis=1), (-1, 1)), "int32") == tf.cast(y_pred, "int32")
            self.true_positives.assign_add(tf.reduce_sum(tf.cast(values, "float32")))

        def result(self) -> tf.Tensor:
            return self.true_positives

        def reset_state(self) -> None:
            self.true_positives.assign(0.0)

    rng = np.random.default_rng(0)
    x, y = rng.random((20, 4)).astype("float32"), np.eye(2, dtype="float32")[rng.integers(0, 2, 20)]
    inputs = keras.Input((4,))
    h = layers.Dense(4, activation="relu", kernel_regularizer=keras.regularizers.L2(0.01))(inputs)
    h = layers.ActivityRegularization(l2=0.01)(h)
    model = keras.Model(inputs, layers.Dense(2, activation="softmax")(h))
    model.compile("rmsprop", loss=CustomMSE(), metrics=[CategoricalTruePositives()])
    epochs = []
    callbacks = [
        keras.callbacks.EarlyStopping(monitor="val_loss", min_delta=1e-2, patience=2, verbose=0),
        keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: epochs.append(dict(logs))),
        keras.callbacks.ReduceLROnPlateau(patience=1),
    ]
    model.fit(x, y, batch_size=5, epochs=2, validation_split=0.2, callbacks=callbacks, verbose=0)
    assert "val_categorical_true_positives" in epochs[0]
    model.fit(x, y, class_weight={0: 1.0, 1: 2.0}, batch_size=5, epochs=1, verbose=0)
    model.fit(x, y, sample_weight=np.ones(20), batch_size=5, epochs=1, verbose=0)
    assert len(model.losses) >= 1
    assert model.train_on_batch(x[:5], y[:5], return_dict=True)["loss"] > 0


def test_subclassing() -> None:
    """weights by tf.Variable and add_weight, lazy build, layers of layers, losses of layers, training argument"""

    class Linear(layers.Layer):
        def __init__(self, units: int = 32) -> None:
            super().__init__()
            self.units = units

        def build(self, input_shape: tuple) -> None:
            self.w = self.add_weight(shape=(input_shape[-1], self.units), initializer="random_normal", trainable=True)
            self.b = self.add_weight(shape=(self.units,), initializer="random_normal", trainable=True)

        def call(self, inputs: tf.Tensor) -> tf.Tensor:
            return tf.matmul(inputs, self.w) + self.b

    class ComputeSum(layers.Layer):
        def __init__(self, input_dim: int) -> None:
            super().__init__()
            self.total = tf.Variable(initial_value=tf.zeros((input_dim,)), trainable=False)

        def call(self, inputs: tf.Tensor) -> tf.Tensor:
            self.total.assign_add(tf.reduce_sum(inputs, axis=0))
            return self.total

    my_sum = ComputeSum(2)
    assert my_sum(tf.ones((2, 2))).numpy().tolist() == [2, 2]
    assert my_sum(tf.ones((2, 2))).numpy().tolist() == [4, 4]
    assert len(my_sum.non_trainable_weights) == 1

    class MLPBlock(layers.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.linear_1, self.linear_2 = Linear(8), Linear(1)

        def call(self, inputs: tf.Tensor, training: bool = False) -> tf.Tensor:
            x = tf.nn.relu(self.linear_1(inputs))
            if training:
                x = tf.nn.dropout(x, rate=0.5)
            self.add_loss(1e-2 * tf.reduce_sum(x))
            return self.linear_2(x)

    mlp = MLPBlock()
    assert mlp(tf.ones(shape=(3, 4))).shape == (3, 1)
    assert len(mlp.weights) == 4
    assert len(mlp.losses) == 1
    mlp(tf.ones(shape=(3, 4)), training=True)
    assert len(mlp.losses) == 1


@pytest.mark.full
def test_masking_and_recurrent_layers() -> None:
    """mask_zero, Masking, _keras_mask, masks passed on by hand; RNN cells, states, stateful, bidirectional"""
    padded = keras.preprocessing.sequence.pad_sequences([[711, 632, 71], [73, 8]], padding="post")
    embedding = layers.Embedding(input_dim=1000, output_dim=4, mask_zero=True)
    masked = embedding(padded)
    assert np.asarray(masked._keras_mask).tolist() == [[True, True, True], [True, True, False]]
    explicit = layers.LSTM(4)
    np.testing.assert_allclose(explicit(masked), explicit(masked, mask=embedding.compute_mask(padded)), rtol=1e-5)
    x = tf.random.normal([2, 3, 4])
    output, state = layers.GRU(5, return_state=True, return_sequences=True)(x)
    assert output.shape == (2, 3, 5)
    assert state.shape == (2, 5)
    assert layers.RNN(layers.LSTMCell(6))(x).shape == (2, 6)
    assert layers.Bidirectional(layers.LSTM(3, return_sequences=True))(x).shape == (2, 3, 6)
    assert layers.RNN([layers.GRUCell(3), layers.GRUCell(4)])(x).shape == (2, 4)
    lstm = layers.LSTM(4, stateful=True)
    first = np.asarray(lstm(x))
    assert not np.allclose(first, lstm(x))
    lstm.reset_states()
    np.testing.assert_allclose(first, lstm(x), rtol=1e-5)


def test_transfer_learning() -> None:
    """freezing a base model, training=False, a new head, unfreezing with a low learning rate, trainable of sublayers"""
    base = keras.Sequential([layers.Input((4,)), layers.Dense(4), layers.BatchNormalization()])
    base.trainable = False
    assert not base.layers[0].trainable
    inputs = keras.Input(shape=(4,))
    model = keras.Model(inputs, layers.Dense(1)(base(inputs, training=False)))
    model.compile(optimizer=keras.optimizers.Adam(), loss="mse")
    x, y = np.random.default_rng(0).random((16, 4)).astype("float32"), np.ones((16, 1), "float32")
    before = [w.copy() for w in base.get_weights()]
    model.fit(x, y, epochs=1, verbose=0)
    for a, b in zip(before, base.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)
    base.trainable = True
    model.compile(optimizer=keras.optimizers.Adam(1e-5), loss="mse")
    model.fit(x, y, epochs=1, verbose=0)
    assert np.abs(before[0] - base.get_weights()[0]).max() > 0
    assert len(model.trainable_weights) == 6


@pytest.mark.full
def test_callbacks_and_custom_steps() -> None:
    """all methods of a callback, stop_training; train_step with compiled_loss; a loop with metrics and reset_states"""
    events = []

    class CustomCallback(keras.callbacks.Callback):
        def on_train_begin(self, logs: dict | None = None) -> None:
            events.append("begin")

        def on_train_batch_end(self, batch: int, logs: dict | None = None) -> None:
            if batch >= 1:
                self.model.stop_training = True

        def on_predict_batch_end(self, batch: int, logs: dict | None = None) -> None:
            events.append("predict")

    class CustomModel(keras.Model):
        def train_step(self, data: tuple) -> dict:
            x, y = data
            with tf.GradientTape() as tape:
                y_pred = self(x, training=True)
                loss = self.compiled_loss(y, y_pred, regularization_losses=self.losses)
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
            self.compiled_metrics.update_state(y, y_pred)
            return {m.name: m.result() for m in self.metrics}

    inputs = keras.Input(shape=(4,))
    model = CustomModel(inputs, layers.Dense(1)(inputs))
    model.compile(optimizer="adam", loss="mse", metrics=["mae"])
    x, y = np.random.default_rng(0).random((16, 4)), np.ones((16, 1))
    history = model.fit(x, y, epochs=3, batch_size=4, callbacks=[CustomCallback()], verbose=0).history
    assert len(history["loss"]) == 1
    model.predict(x, verbose=0, callbacks=[CustomCallback()])
    assert events[0] == "begin"
    assert "predict" in events
    metric = keras.metrics.SparseCategoricalAccuracy()
    metric.update_state([0, 1], [[0.9, 0.1], [0.2, 0.8]])
    assert float(metric.result()) == 1.0
    metric.reset_states()
    assert float(metric.result()) == 0.0


def test_preprocessing_layers() -> None:
    """Normalization.adapt, StringLookup, IntegerLookup, CategoryEncoding, TextVectorization of n-grams, RandomFlip"""
    data = np.array([[0.1, 0.2], [0.8, 0.9], [1.5, 1.6]], "float32")
    layer = layers.Normalization()
    layer.adapt(data)
    np.testing.assert_allclose(np.asarray(layer(data)).mean(0), 0, atol=1e-5)
    lookup = layers.StringLookup(output_mode="one_hot")
    lookup.adapt(np.array([["a"], ["b"], ["c"], ["b"], ["c"], ["a"]]))
    assert lookup(np.array([["a"], ["b"], ["d"]])).shape == (3, 4)
    text = layers.TextVectorization(output_mode="tf_idf", ngrams=2)
    with tf.device("CPU"):
        text.adapt(np.array(["The Brain is wider", "than the sky"]))
    assert text(np.array(["The sky is wider"])).shape[0] == 1
    ids = layers.IntegerLookup(vocabulary=[10, 20])(np.array([20, 30]))
    assert np.asarray(ids).tolist() == [2, 0]
    flip = layers.RandomFlip("horizontal")
    assert flip(np.zeros((1, 4, 4, 3), "float32"), training=True).shape == (1, 4, 4, 3)


@pytest.mark.parametrize("policy", ["normal", "training"])
def test_dropout_by_mode(policy: str) -> None:
    """layers behave differently in training and inference"""
    x = tf.ones([1, 50])
    out = layers.Dropout(0.5)(x, training=policy == "training").numpy()
    assert (out == 1).all() == (policy == "normal")
