"""Models with the methods and arguments of Keras 2: saving to folders, generators, datasets without a strategy."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import unisono.tf as tf
from unisono import MirroredStrategy

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(12, 3)).astype("float32"), RNG.normal(size=(12, 1)).astype("float32")


def made() -> Any:
    tf.keras.utils.set_random_seed(1)
    model = tf.keras.models.Sequential([tf.keras.layers.Dense(2, input_shape=(3,)), tf.keras.layers.Dense(1)])
    model.compile(tf.keras.optimizers.Adam(0.1), "mse", metrics=["mae"], experimental_run_tf_function=False)
    return model


@pytest.fixture(scope="module")
def trained() -> Any:
    model = made()
    model.fit(X, Y, batch_size=6, epochs=2, verbose=0)
    return model


def test_a_model_is_saved_to_a_folder_with_its_optimizer(trained: Any, tmp_path: Path) -> None:
    trained.save(tmp_path / "model", save_format="tf")
    loaded = tf.keras.models.load_model(tmp_path / "model")
    np.testing.assert_allclose(loaded.predict(X, verbose=0), trained.predict(X, verbose=0), rtol=1e-6)
    assert int(loaded.optimizer.iterations.numpy()) == int(trained.optimizer.iterations.numpy()) == 4
    again = keras.models.load_model(os.fspath(tmp_path / "model"), compile=False)
    assert not again.compiled


def test_a_model_is_saved_without_its_optimizer(trained: Any, tmp_path: Path) -> None:
    tf.keras.models.save_model(trained, tmp_path / "model", include_optimizer=False)
    assert not tf.keras.models.load_model(tmp_path / "model").compiled
    assert trained.compiled
    assert trained.optimizer is not None


@pytest.mark.parametrize("name", ["model.keras", "model.h5"])
def test_files_are_as_before(trained: Any, tmp_path: Path, name: str) -> None:
    trained.save(tmp_path / name)
    loaded = tf.keras.models.load_model(tmp_path / name, options=None)
    np.testing.assert_allclose(loaded.predict(X, verbose=0), trained.predict(X, verbose=0), rtol=1e-6)


def test_signatures_are_not_dropped_without_a_word(trained: Any, tmp_path: Path) -> None:
    with pytest.raises(NotImplementedError, match=r"tf\.saved_model\.save\(model, "):
        trained.save(tmp_path / "model", signatures={"serving_default": None})
    assert not (tmp_path / "model").exists()


def test_a_folder_without_a_model_says_so(trained: Any, tmp_path: Path) -> None:
    (tmp_path / "saved_model.pb").touch()
    with pytest.raises(ValueError, match=r"(?s)no model in the folder.*SavedModel"):
        tf.keras.models.load_model(tmp_path)
    with pytest.raises(ValueError, match=r"model\.h5"):
        trained.save(tmp_path / "model", save_format="h5")


@pytest.mark.parametrize("name", ["ckpt_1", "w.h5", "w.weights.h5", "w.hdf5"])
def test_weights_are_saved_by_any_name(trained: Any, tmp_path: Path, name: str) -> None:
    trained.save_weights(os.fspath(tmp_path / name))
    other = tf.keras.models.Sequential([tf.keras.layers.Dense(2, input_shape=(3,)), tf.keras.layers.Dense(1)])
    other.load_weights(os.fspath(tmp_path / name))
    for one, two in zip(trained.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_array_equal(one, two)


def test_fit_takes_the_arguments_of_keras_2() -> None:
    plain, old = made(), made()
    plain.fit(X, Y, batch_size=6, shuffle=False, verbose=0)
    old.fit(X, Y, batch_size=6, shuffle=False, verbose=0, workers=4, use_multiprocessing=False, max_queue_size=3)
    np.testing.assert_allclose(old.get_weights()[0], plain.get_weights()[0])
    assert old.metrics_names == ["loss", "mae"]


def test_generators_have_methods_of_their_own() -> None:
    def batches() -> Iterator[Any]:
        while True:
            yield X[:6], Y[:6]
            yield X[6:], Y[6:]

    plain, old = made(), made()
    plain.fit(X, Y, batch_size=6, shuffle=False, verbose=0)
    old.fit_generator(batches(), 2, epochs=1, verbose=0)
    np.testing.assert_allclose(old.get_weights()[0], plain.get_weights()[0], rtol=1e-6)
    found = old.evaluate_generator(batches(), steps=2, verbose=0)
    np.testing.assert_allclose(found, plain.evaluate(X, Y, batch_size=6, verbose=0), rtol=1e-5)
    assert old.predict_generator(batches(), steps=2, verbose=0).shape == (12, 1)


def test_what_is_gone_says_what_to_write(trained: Any) -> None:
    with pytest.raises(AttributeError, match="argmax"):
        trained.predict_classes(X)
    with pytest.raises(AttributeError, match=r"model\.predict"):
        trained.predict_proba(X)
    with pytest.raises(RuntimeError, match="to_json"):
        tf.keras.models.model_from_yaml("")


def test_a_model_of_no_strategy_trains_on_a_dataset() -> None:
    plain, other = made(), made()
    plain.fit(X, Y, batch_size=6, shuffle=False, verbose=0)
    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(6)
    assert other.distribute_strategy.num_replicas_in_sync == 1
    other.fit(dataset, verbose=0, validation_data=dataset)
    np.testing.assert_allclose(other.get_weights()[0], plain.get_weights()[0], rtol=1e-5)
    assert other.evaluate(dataset, verbose=0) == pytest.approx(plain.evaluate(X, Y, verbose=0), rel=1e-5)
    np.testing.assert_allclose(other.predict(dataset, verbose=0), plain.predict(X, verbose=0), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("replicas", [0, 2])
def test_a_dataset_may_be_created_by_a_function(replicas: int) -> None:
    def dataset_fn(context: Any) -> Any:
        return tf.data.Dataset.from_tensor_slices((X, Y)).batch(context.get_per_replica_batch_size(6)).repeat()

    plain = made()
    with MirroredStrategy(["cpu:0", "cpu:1"]).scope() if replicas else contextlib.nullcontext():
        other = made()
    plain.fit(X, Y, batch_size=6, shuffle=False, verbose=0)
    creator = tf.keras.utils.experimental.DatasetCreator(dataset_fn)
    other.fit(creator, steps_per_epoch=2, verbose=0)
    np.testing.assert_allclose(other.get_weights()[0], plain.get_weights()[0], rtol=1e-5)
    with pytest.raises(TypeError, match="function that returns a dataset"):
        tf.keras.utils.experimental.DatasetCreator([1])


class Compiled(tf.keras.Model):
    """A step as Keras 2's guides wrote it."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = tf.keras.layers.Dense(1, kernel_regularizer="l2")

    def call(self, x: Any, training: bool = False) -> Any:
        return self.dense(x)

    def train_step(self, data: Any) -> Any:
        x, y = data
        with tf.GradientTape() as tape:
            predicted = self(x, training=True)
            loss = self.compiled_loss(y, predicted, regularization_losses=self.losses)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
        self.compiled_metrics.update_state(y, predicted)
        return {metric.name: metric.result() for metric in self.metrics}


class Plain(Compiled):
    """Keras's own step on the same layers."""

    train_step = keras.Model.train_step


def test_compiled_loss_and_metrics_are_those_of_compile() -> None:
    histories = []
    for kind in (Plain, Compiled):
        tf.keras.utils.set_random_seed(0)
        model = kind()
        model.compile("sgd", "mse", metrics=["mae"])
        history = model.fit(X, Y, batch_size=5, epochs=2, shuffle=False, verbose=0, validation_data=(X, Y))
        histories.append(history.history)
    assert histories[0].keys() == histories[1].keys()
    for name in histories[0]:
        np.testing.assert_allclose(histories[0][name], histories[1][name], rtol=1e-5)


class Choosing(Plain):
    """A step that looks at its loss."""

    def train_step(self, data: Any) -> Any:
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.keras.backend.mean(tf.keras.backend.square(self(x, training=True) - y))
            if loss > 1.0:  # noqa: SIM108
                loss = 2.0 * loss
            else:
                loss = 0.5 * loss
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
        return {"loss": loss}


class Decorated(Choosing):
    """The same, decorated as a function."""

    train_step = tf.function(Choosing.train_step)


def test_a_step_may_look_at_its_loss_and_be_a_function() -> None:
    losses = []
    for kind, eagerly in ((Choosing, False), (Decorated, False), (Choosing, True)):
        tf.keras.utils.set_random_seed(0)
        model = kind()
        model.compile("sgd", "mse", run_eagerly=eagerly)
        scale = np.array([[1.0]] * 6 + [[5.0]] * 6, "float32")
        losses.append(model.fit(X, Y * scale, batch_size=6, epochs=2, shuffle=False, verbose=0).history["loss"])
    np.testing.assert_allclose(losses[1], losses[0], rtol=1e-6)
    np.testing.assert_allclose(losses[2], losses[0], rtol=1e-5)


def test_the_specs_of_a_model_are_known_when_it_is_built() -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    assert tf.keras.Model.save_spec(model) is None
    model(tf.ones((2, 3)))
    (spec,), named = tf.keras.Model.save_spec(model)
    assert (spec.shape.as_list(), spec.dtype, named) == ([None, 3], tf.float32, {})
    with pytest.raises(NotImplementedError, match="leave it out"):
        model.save_spec(dynamic_batch=False)


def test_compile_takes_metrics_as_the_third_by_position() -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
    ones = np.ones((2, 1), "float32")
    model.compile("sgd", "mse", ["mae"], [0.5])
    loss, mae = model.evaluate(ones, ones + 1, verbose=0)
    assert loss == pytest.approx(0.5 * mae**2)
    model.compile("sgd", "mse", [0.5], ["mae"])
    assert model.evaluate(ones, ones + 1, verbose=0) == pytest.approx([loss, mae])


def test_a_clone_keeps_the_functions_of_lambda_layers() -> None:
    inner = tf.keras.Sequential(
        [tf.keras.layers.Dense(2, input_shape=(3,)), tf.keras.layers.Lambda(lambda x: tf.abs(x))]
    )
    outer = tf.keras.Sequential(
        [tf.keras.Input((3,)), inner, tf.keras.layers.Lambda(lambda x, by: x * by, arguments={"by": 2})]
    )
    clone = tf.keras.models.clone_model(outer)
    rows = np.ones((2, 3), "float32")
    assert clone.layers[0].layers[0].kernel is not inner.layers[0].kernel
    clone.set_weights(outer.get_weights())
    np.testing.assert_allclose(clone(rows), outer(rows))
    assert [layer.name for layer in clone.layers] == [layer.name for layer in outer.layers]


def test_a_sequential_model_has_an_input_and_an_output() -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,)), tf.keras.layers.Dense(1)])
    inside = tf.keras.Model([model.input], [model.layers[0].output, model.output])
    rows = np.ones((2, 3), "float32")
    np.testing.assert_allclose(inside(rows)[1], model(rows), rtol=1e-6)
    tf.keras.Sequential([model, tf.keras.layers.Dense(1)])(rows)
    assert model.input is model.inputs[0]
    first = tf.keras.Input((3,))
    assert tf.keras.Model(first, tf.keras.layers.Dense(1)(first)).layers[0].input is first
    with pytest.raises(AttributeError, match="no defined inputs yet"):
        _ = tf.keras.Sequential([tf.keras.layers.Dense(2)]).input


def test_compile_takes_one_metric_without_a_list() -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
    ones = np.ones((2, 1), "float32")
    for metric in (tf.keras.metrics.MeanAbsoluteError(), "mae", tf.keras.losses.mean_absolute_error):
        model.compile("sgd", "mse", metrics=metric)
        loss, mae = model.evaluate(ones, ones + 1, verbose=0)
        assert loss == pytest.approx(mae**2)


def test_reset_states_of_a_model_reaches_the_layers_inside() -> None:
    recurrent = tf.keras.layers.LSTM(2, stateful=True)
    inside = tf.keras.Sequential([tf.keras.Input(batch_shape=(1, 3, 1)), recurrent])
    model = tf.keras.Sequential([inside, tf.keras.layers.Dense(1)])
    first = model(np.ones((1, 3, 1), "float32"))
    assert not np.allclose(first, model(np.ones((1, 3, 1), "float32")))
    model.reset_states()
    np.testing.assert_allclose(first, model(np.ones((1, 3, 1), "float32")), rtol=1e-6)


@pytest.mark.parametrize("replicas", [0, 1, 2])
def test_the_state_of_a_recurrent_layer_carries_over_between_steps(replicas: int) -> None:
    devices = [f"cpu:{number}" for number in range(replicas)]
    with MirroredStrategy(devices).scope() if replicas else contextlib.nullcontext():
        recurrent = tf.keras.layers.LSTM(2, stateful=True, batch_input_shape=(2, 3, 1))
        model = tf.keras.Sequential([recurrent])
        model.compile("sgd", "mse")
    rows = np.random.default_rng(0).normal(size=(4, 3, 1)).astype("float32")
    wanted = np.concatenate([model(rows[:2]), model(rows[2:]), model(rows[:2]), model(rows[2:])])
    model.reset_states()
    found = [model.predict(rows, batch_size=2, verbose=0) for _ in range(2)]
    np.testing.assert_allclose(np.concatenate(found), wanted, rtol=1e-5, atol=1e-7)
    model.reset_states()
    losses = [model.evaluate(rows, np.zeros((4, 2)), batch_size=2, verbose=0) for _ in range(2)]
    np.testing.assert_allclose(losses, [(wanted[:4] ** 2).mean(), (wanted[4:] ** 2).mean()], rtol=1e-5)
    model.reset_states()
    model.fit(rows, np.zeros((4, 2)), batch_size=2, verbose=0)
    assert recurrent.states[0].numpy().any()
    assert len(model.weights) == 3  # as before: files do not hold the state
