"""Layers with the arguments of Keras 2."""

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import unisono.tf as tf


def test_the_shape_of_the_input_may_be_given_to_the_first_layer() -> None:
    by_shape = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=(4,))])
    by_dim = tf.keras.Sequential([tf.keras.layers.Dense(3, input_dim=4)])
    by_batch = tf.keras.Sequential([tf.keras.layers.Dense(3, batch_input_shape=(None, 4))])
    assert by_shape.output_shape == by_dim.output_shape == by_batch.output_shape == (None, 3)
    recurrent = tf.keras.Sequential([tf.keras.layers.LSTM(2, input_length=5, input_dim=4)])
    assert recurrent.input_shape == (None, 5, 4)
    first = tf.keras.Sequential([tf.keras.layers.InputLayer(input_shape=(4,)), tf.keras.layers.Dense(3)])
    assert first.output_shape == (None, 3)


def test_the_size_of_a_batch_is_kept() -> None:
    layers = tf.keras.layers
    recurrent = tf.keras.Sequential([layers.SimpleRNN(4, stateful=True, batch_input_shape=[1, None, 2])])
    assert recurrent.input_shape == (1, None, 2)
    assert recurrent.output_shape == (1, 4)
    added = tf.keras.Sequential()
    added.add(layers.GRU(4, stateful=True, input_shape=(3, 2), batch_size=5))
    assert added.input_shape == (5, 3, 2)
    assert tf.keras.Sequential.from_config(added.get_config()).input_shape == (5, 3, 2)
    assert tf.keras.Sequential([layers.Dense(1, input_dim=2, batch_size=6)]).output_shape == (6, 1)


def test_sparse_and_ragged_inputs_have_a_shape() -> None:
    for name in ("sparse", "ragged"):
        assert tf.keras.Input((3,), **{name: True}).shape == (None, 3)
    assert tf.keras.Input((3,), sparse=False).shape == (None, 3)


def test_layers_know_their_shapes() -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=(4,)), tf.keras.layers.Dense(2)])
    assert [layer.output_shape for layer in model.layers] == [(None, 3), (None, 2)]
    assert model.layers[1].input_shape == (None, 3)
    with pytest.raises(AttributeError, match="no output_shape"):
        tf.keras.layers.Dense(1).output_shape  # noqa: B018


def test_old_arguments_keep_their_meaning() -> None:
    assert tf.keras.layers.LeakyReLU(alpha=0.5)(tf.constant([-2.0])).numpy() == -1.0
    table = np.arange(6.0).reshape(3, 2)
    embedding = tf.keras.layers.Embedding(3, 2, input_length=4, weights=[table])
    np.testing.assert_array_equal(embedding(np.array([[2]])), [[[4.0, 5.0]]])
    assert tf.keras.layers.experimental.preprocessing.Rescaling(0.5)(np.ones(1)).numpy() == 0.5
    assert tf.keras.layers.AveragePooling2D()(np.ones((1, 4, 4, 1))).shape == (1, 2, 2, 1)
    assert tf.keras.layers.AveragePooling1D(3, name="mean")(np.ones((1, 6, 1))).shape == (1, 2, 1)
    assert tf.keras.layers.BatchNormalization(fused=True, momentum=0.5).momentum == 0.5
    assert tf.keras.layers.SyncBatchNormalization().synchronized
    assert tf.keras.layers.experimental.SyncBatchNormalization().synchronized


def test_a_layer_of_a_user_may_name_its_weights_first() -> None:
    class Scale(tf.keras.layers.Layer):
        def build(self, input_shape: Any) -> None:
            self.scale = self.add_weight("scale", shape=(int(input_shape[-1]),), initializer="ones", trainable=True)
            self.shift = self.add_variable("shift", (1,), initializer="zeros")

        def call(self, x: Any) -> Any:
            self.add_loss(0.5 * tf.keras.backend.sum(x))
            return x * self.scale + self.shift

    layer = Scale()
    assert layer(np.ones((1, 2), "float32")).numpy().tolist() == [[1.0, 1.0]]
    assert [weight.name for weight in layer.weights] == ["scale", "shift"]
    assert [float(loss) for loss in layer.losses] == [1.0]


def test_shapes_are_those_of_tensorflow(tmp_path: Path) -> None:
    built = []

    class Shaped(tf.keras.layers.Layer):
        def build(self, input_shape: Any) -> None:
            built.append(input_shape.as_list())
            self.scale = self.add_weight(name="scale", shape=input_shape[1:], initializer="ones")

        def call(self, x: Any) -> Any:
            return x * self.scale

    inputs = tf.keras.Input((4, 3))
    assert inputs.shape.as_list() == inputs.get_shape().as_list() == [None, 4, 3]
    inputs.set_shape((None, 4, 3))
    model = tf.keras.Model(inputs, Shaped()(inputs))
    Shaped()(np.ones((2, 3)))
    assert built == [[None, 4, 3], [2, 3]]
    assert model.output_shape == (None, 4, 3)
    assert tf.keras.Model.from_config(model.get_config(), {"Shaped": Shaped}).output_shape == (None, 4, 3)
    model.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras", {"Shaped": Shaped})
    assert loaded.output_shape == (None, 4, 3)


def test_what_is_gone_says_what_to_write() -> None:
    inputs = tf.keras.Input((2,))
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(inputs))
    with pytest.raises(NotImplementedError, match="class Endpoint"):
        model.add_loss(tf.keras.backend.sum(model.output))
    with pytest.raises(AttributeError, match=r"tf\.keras\.metrics\.Mean"):
        model.add_metric(1.0, name="one")


def test_layers_of_stock_keras_mix_with_those_of_the_namespace() -> None:
    model = tf.keras.Sequential([keras.layers.Dense(2, input_shape=(3,)), tf.keras.layers.ReLU()])
    assert isinstance(model, keras.Sequential)
    assert model(np.ones((1, 3))).shape.as_list() == [1, 2]


def test_normalization_adapts_to_a_dataset() -> None:
    layer = tf.keras.layers.Normalization(axis=None)
    layer.adapt(tf.data.Dataset.from_tensor_slices(np.array([1.0, 2.0, 3.0, 6.0], "float32")).batch(2))
    assert layer(np.array([3.0])).numpy() == pytest.approx(0.0)


def test_a_lambda_takes_the_shape_of_its_output() -> None:
    pixels = tf.keras.Input((4, 3))
    layer = tf.keras.layers.Lambda(lambda x: x[:, :2, 0], output_shape=(2,))
    assert layer(pixels).shape == (None, 2)
    assert layer(tf.ones((5, 4, 3))).shape == (5, 2)


def test_crossed_features_are_hashed_as_by_cross_hashed() -> None:
    columns = np.array([["A"], ["B"], ["A"]]), np.array([[101], [102], [101]])
    bins = tf.keras.layers.HashedCrossing(num_bins=5)(columns)
    assert bins.numpy().tolist() == tf.sparse.to_dense(tf.sparse.cross_hashed(columns, num_buckets=5)).numpy().tolist()
    flat = tf.keras.layers.HashedCrossing(num_bins=5, output_mode="one_hot")([each[:, 0] for each in columns])
    np.testing.assert_array_equal(flat, np.eye(5)[bins.numpy()[:, 0]])
    with pytest.raises(ValueError, match="shapes"):
        tf.keras.layers.HashedCrossing(num_bins=5)((np.ones(2), np.ones(3)))


def test_variables_that_build_creates_from_values_are_made_by_the_first_fit() -> None:
    class Scale(tf.keras.layers.Layer):
        def build(self, input_shape: Any) -> None:
            self.scale = tf.Variable(initial_value=tf.ones(shape=(input_shape[-1],)) * 2, trainable=True, name="scale")

        def call(self, x: Any) -> Any:
            return x * self.scale

    with tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"]).scope():
        model = tf.keras.Sequential([Scale()])
        model.compile(tf.keras.optimizers.SGD(0.0), "mse")
    model.fit(np.ones((4, 3)), np.ones((4, 3)), verbose=0)
    np.testing.assert_array_equal(model.layers[0].scale.numpy(), [2, 2, 2])
    assert len(model.trainable_variables) == 1
