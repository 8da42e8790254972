"""Names of stock Keras that the tutorials use, beside the namespace: `import keras` and `tf.keras` are one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
from keras import layers

import unisono.tf as tf

pytestmark = pytest.mark.slow  # each layer and metric is compiled by itself

DATA = Path(__file__).parents[3] / "examples" / "data"
IMAGES = np.arange(2 * 8 * 8 * 3, dtype="float32").reshape(2, 8, 8, 3) / 384


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (keras.layers.Conv2D(4, 3, activation="relu"), (2, 6, 6, 4)),
        (keras.layers.SeparableConv2D(4, 3, padding="same"), (2, 8, 8, 4)),
        (keras.layers.Conv2DTranspose(4, 3, strides=2, padding="same"), (2, 16, 16, 4)),
        (layers.MaxPool2D(2), (2, 4, 4, 3)),
        (keras.layers.Flatten(), (2, 192)),
        (keras.layers.Reshape((64, 3)), (2, 64, 3)),
        (tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(3)), (2, 6)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_layers_give_arrays_with_the_methods_of_tensors(layer: Any, shape: tuple[int, ...]) -> None:
    given = IMAGES.reshape(2, 64, 3) if isinstance(layer, tf.keras.layers.Bidirectional) else IMAGES
    assert layer(given).shape.as_list() == list(shape)


def test_pooling() -> None:
    blocks = IMAGES.reshape(2, 4, 2, 4, 2, 3)
    np.testing.assert_allclose(keras.layers.MaxPooling2D(2)(IMAGES).numpy(), blocks.max((2, 4)))
    np.testing.assert_allclose(keras.layers.AveragePooling2D(2)(IMAGES).numpy(), blocks.mean((2, 4)), rtol=1e-6)
    np.testing.assert_allclose(keras.layers.GlobalMaxPooling2D()(IMAGES).numpy(), IMAGES.max((1, 2)))
    np.testing.assert_allclose(keras.layers.GlobalAveragePooling2D()(IMAGES).numpy(), IMAGES.mean((1, 2)), rtol=1e-6)
    rows = IMAGES.reshape(2, 64, 3)
    np.testing.assert_allclose(tf.keras.layers.GlobalMaxPooling1D()(rows).numpy(), rows.max(1))


def test_joining() -> None:
    joined = np.concatenate([IMAGES, IMAGES], -1)
    np.testing.assert_array_equal(tf.keras.layers.Concatenate()([IMAGES, IMAGES]).numpy(), joined)
    np.testing.assert_array_equal(tf.keras.layers.concatenate([IMAGES, IMAGES]).numpy(), joined)
    np.testing.assert_array_equal(tf.compat.v1.keras.layers.Concatenate()([IMAGES, IMAGES]).numpy(), joined)


@pytest.mark.full
def test_metrics() -> None:
    truth, guess = np.array([1.0, 0.0, 1.0, 1.0]), np.array([0.9, 0.6, 0.2, 0.8])
    expected = {
        keras.metrics.BinaryAccuracy(): 0.5,
        keras.metrics.Precision(): 2 / 3,
        keras.metrics.Recall(): 2 / 3,
        keras.metrics.MeanAbsoluteError(): 0.425,
        keras.metrics.RootMeanSquaredError(): np.sqrt(np.mean((truth - guess) ** 2)),
        tf.keras.metrics.AUC(): 2 / 3,
    }
    for metric, value in expected.items():
        metric.update_state(truth, guess)
        assert metric.result().numpy() == pytest.approx(value, abs=1e-2), metric.name
        metric.reset_states()
    accuracy = tf.keras.metrics.Accuracy()
    accuracy.update_state([1, 2, 3], [1, 2, 4])
    assert float(accuracy.result()) == pytest.approx(2 / 3)
    categorical = keras.metrics.CategoricalAccuracy()
    categorical.update_state(np.eye(3), np.eye(3)[[0, 1, 1]])
    assert float(categorical.result()) == pytest.approx(2 / 3)
    percentage = keras.metrics.MeanAbsolutePercentageError()
    percentage.update_state([2.0, 4.0], [1.0, 5.0])
    assert float(percentage.result()) == pytest.approx(37.5)


def test_losses_and_penalties() -> None:
    logits = np.log(np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1]], "float32"))
    expected = -np.log([0.7, 0.1])
    given = tf.keras.losses.sparse_categorical_crossentropy(np.array([0, 2]), logits, from_logits=True)
    np.testing.assert_allclose(given.numpy(), expected, rtol=1e-5)
    assert float(tf.keras.regularizers.L2(0.5)(np.array([1.0, 2.0], "float32"))) == pytest.approx(2.5)
    assert tf.initializers.TruncatedNormal(stddev=0.1)((1000,)).numpy().max() <= 0.2
    np.testing.assert_allclose(np.sum(keras.activations.softmax(logits), -1), [1, 1], rtol=1e-6)


@pytest.mark.parametrize(
    ("optimizer", "moved"),
    [
        (keras.optimizers.Adagrad(0.1), 0.1 * 2 / np.sqrt(4 + 0.1)),
        (tf.keras.optimizers.legacy.Adagrad(0.1), 0.1 * 2 / np.sqrt(4 + 0.1)),
        (tf.keras.optimizers.AdamW(0.1, weight_decay=0.0), 0.1),
    ],
    ids=["Adagrad", "legacy", "AdamW"],
)
def test_optimizers_move_a_variable(optimizer: Any, moved: float) -> None:
    variable = tf.Variable(3.0)
    optimizer.apply_gradients([(tf.constant(2.0), variable)])
    assert 3.0 - variable.numpy() == pytest.approx(moved, rel=1e-4)


def test_an_optimizer_applies_gradients_in_both_spellings() -> None:
    variable = tf.Variable(3.0)
    optimizer = tf.keras.optimizers.SGD(tf.keras.optimizers.schedules.PolynomialDecay(0.5, 10, 0.0))
    optimizer.apply([tf.constant(2.0)], [variable])
    assert variable.numpy() == 2.0
    assert optimizer.iterations.numpy() == 1


def test_operations_of_keras_take_tensors_of_the_namespace() -> None:
    x = tf.constant([[1.0, 2.0]])
    assert keras.ops.convert_to_numpy(keras.ops.concatenate([x, x], axis=0)).tolist() == [[1, 2], [1, 2]]
    assert keras.ops.expand_dims(x, 0).shape == (1, 1, 2)
    assert float(keras.ops.sum(keras.ops.multiply(x, keras.ops.convert_to_tensor([3.0, 4.0])))) == 11.0


def test_random_numbers_of_keras_follow_their_seeds() -> None:
    first, second = keras.random.SeedGenerator(1), keras.random.SeedGenerator(1)
    np.testing.assert_array_equal(keras.random.normal((3,), seed=first), keras.random.normal((3,), seed=second))
    drawn = np.asarray(keras.random.uniform((1000,), 2.0, 3.0, seed=first))
    assert 2.0 <= drawn.min() < 2.1
    assert 2.9 < drawn.max() < 3.0


def test_utilities(tmp_path: Path) -> None:
    assert keras.utils.array_to_img(IMAGES[0]).size == (8, 8)
    assert keras.utils.unpack_x_y_sample_weight((1, 2)) == (1, 2, None)
    (tmp_path / "here.txt").write_text("text")
    origin = (tmp_path / "here.txt").as_uri()
    got = keras.utils.get_file("there.txt", origin, cache_dir=str(tmp_path / "cache"))
    assert Path(got).read_text() == "text"


def test_a_dataset_of_keras_that_is_not_of_images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez(tmp_path / "boston.npz", x=np.arange(20.0).reshape(10, 2), y=np.arange(10.0))
    monkeypatch.setattr("keras.src.datasets.boston_housing.get_file", lambda *_, **__: str(tmp_path / "boston.npz"))
    (x, y), (_, late) = keras.datasets.boston_housing.load_data(test_split=0.2)
    assert (x.shape, y.shape, late.shape) == ((8, 2), (8,), (2,))


def test_mnist_is_found_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNISONO_DATASETS", str(DATA))
    (x, y), (late, _) = tf.keras.datasets.mnist.load_data()
    assert (x.shape, y.shape, late.shape) == ((60000, 28, 28), (60000,), (10000, 28, 28))


def test_a_callback_of_keras_saves_what_the_namespace_trained(tmp_path: Path) -> None:
    model = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    saving = keras.callbacks.ModelCheckpoint(tmp_path / "model-{epoch}.keras")
    model.fit(np.ones((4, 1)), np.ones((4, 1)), epochs=2, verbose=0, callbacks=[saving])
    again = keras.models.load_model(tmp_path / "model-2.keras")
    np.testing.assert_array_equal(again.get_weights()[0], model.get_weights()[0])


def test_distributions_of_keras_are_set_and_taken_back() -> None:
    mesh = keras.distribution.DeviceMesh((4,), ["batch"], keras.distribution.list_devices("cpu")[:4])
    layouts = keras.distribution.LayoutMap(mesh)
    layouts["dense/kernel"] = keras.distribution.TensorLayout((None, "batch"), mesh)
    for distribution in (
        keras.distribution.DataParallel(device_mesh=mesh, auto_shard_dataset=False),
        keras.distribution.ModelParallel(layout_map=layouts, batch_dim_name="batch", auto_shard_dataset=False),
    ):
        keras.distribution.set_distribution(distribution)
        try:
            assert keras.distribution.distribution() is distribution
            assert len(keras.layers.Dense(4)(np.ones((4, 4), "float32")).devices()) >= 1
        finally:
            keras.distribution.set_distribution(None)


@pytest.mark.full
def test_an_application_is_a_model() -> None:
    model = tf.keras.applications.MobileNet(weights=None, include_top=False, input_shape=(32, 32, 3), alpha=0.25)
    assert model.trainable_weights[0].shape == (3, 3, 3, 8)
    scaled = tf.keras.applications.mobilenet.preprocess_input(np.array([0.0, 255.0]))
    assert scaled.tolist() == [-1.0, 1.0]


def test_a_model_tells_its_layers(capsys: pytest.CaptureFixture[str]) -> None:
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2, name="last")])
    model.summary()
    assert "last (Dense)" in capsys.readouterr().out
    assert [weight.shape for weight in model.trainable_weights] == [(3, 2), (2,)]
    assert float(model.compute_loss(y=None, y_pred=None)) == 0.0


def test_a_vocabulary_is_given_back() -> None:
    lookup = tf.keras.layers.StringLookup(vocabulary=["a", "b"])
    assert lookup.get_vocabulary() == ["[UNK]", "a", "b"]


def test_initializers_at_the_top() -> None:
    assert tf.zeros_initializer()((2,)).numpy().tolist() == [0, 0]
    assert tf.ones_initializer()((2,)).numpy().tolist() == [1, 1]
    assert tf.constant_initializer(3.0)((2,)).numpy().tolist() == [3, 3]
    assert tf.random_normal_initializer(stddev=0.1, seed=1)((50,)).shape == (50,)
    assert abs(tf.random_uniform_initializer(-1.0, 1.0, seed=1)((50,)).numpy()).max() <= 1
