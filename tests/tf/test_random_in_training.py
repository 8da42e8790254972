"""Random numbers that layers draw in training only, also in layers that do not get a `training` argument."""

from collections.abc import Iterable
from typing import Any

import keras
import numpy as np
import pytest

import unisono.tf as tf
from unisono._src import keras_hooks

X, Y = np.random.default_rng(0).normal(size=(8, 4)).astype("float32"), np.zeros((8, 1), "float32")


class HalfDropout(tf.keras.layers.Layer):
    """Drops half of its input in training."""

    def call(self, x: Any, training: Any = None) -> Any:
        return tf.nn.dropout(x, 0.5) if training else x


class Noisy(tf.keras.layers.Layer):
    """Adds noise in training, with a backend function with a seed and with an inner layer."""

    def __init__(self) -> None:
        super().__init__()
        self.dropped = HalfDropout()

    def call(self, x: Any, training: Any = None) -> Any:
        noise = tf.keras.backend.random_normal(tf.shape(x), seed=3) if training else 0.0
        return self.dropped(x) + noise


class NoisyModel(tf.keras.Model):
    """A model that draws in its `call`."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = make_output_layer()

    def call(self, x: Any, training: Any = None) -> Any:
        return self.dense(tf.nn.dropout(x, 0.5) if training else x)


class NoTrainingFlag(tf.keras.Model):
    """Does not pass `training` on; its middle layer gets `training=False`."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.dropout = tf.keras.layers.BatchNormalization(), tf.keras.layers.Dropout(0.5)
        self.dense = make_output_layer()

    def call(self, x: Any) -> Any:
        return self.dense(self.dropout(self.norm(x, training=False)))


def make_output_layer() -> Any:
    return tf.keras.layers.Dense(1, kernel_initializer="ones")


def make_functional() -> Any:
    inputs = tf.keras.Input((4,))
    return tf.keras.Model(inputs, make_output_layer()(Noisy()(inputs)))


def make_lambda_model() -> Any:
    def noise(x: Any, training: Any = None) -> Any:
        return x + tf.random.normal([4]) if training else x

    return tf.keras.Sequential([tf.keras.layers.Lambda(noise, output_shape=(4,)), make_output_layer()])


MODELS = {
    "sequential": lambda: tf.keras.Sequential([HalfDropout(input_shape=(4,)), make_output_layer()]),
    "unbuilt": lambda: tf.keras.Sequential([Noisy(), make_output_layer()]),
    "functional": make_functional,
    "subclassed": NoisyModel,
    "silent": NoTrainingFlag,
    "lambda": make_lambda_model,
}


def make_compiled_model(make: Any, replicas: int, **settings: Any) -> Any:
    tf.random.set_seed(1)
    devices = [f"cpu:{number}" for number in range(replicas)]
    with (tf.distribute.MirroredStrategy(devices) if replicas else tf.distribute.get_strategy()).scope():
        model = make()
        model.compile(tf.keras.optimizers.SGD(0.0), "mse", **settings)
    return model


def fit_losses(model: Any) -> list[float]:
    losses: list[float] = model.fit(X, Y, batch_size=8, epochs=3, shuffle=False, verbose=0).history["loss"]
    return losses


def differ(losses: Iterable[float]) -> bool:
    """Whether all losses differ by more than rounding errors."""
    return bool(np.diff(sorted(losses)).min() > 1e-4)


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_numbers_drawn_only_in_training_differ_in_every_step(make: Any) -> None:
    model = make_compiled_model(make, 0)
    assert differ(fit_losses(model))
    np.testing.assert_array_equal(model.predict(X, verbose=0), model.predict(X, verbose=0))


@pytest.mark.slow
@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_two_replicas_draw_what_one_device_draws(make: Any) -> None:
    one, two = fit_losses(make_compiled_model(make, 1)), fit_losses(make_compiled_model(make, 2))
    assert differ(two)
    np.testing.assert_allclose(two, one, rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("replicas", [0, 2])
@pytest.mark.parametrize("first", ["evaluate", "train_on_batch", "predict"])
def test_a_model_can_be_used_in_any_way_before_training(first: str, replicas: int) -> None:
    model = make_compiled_model(NoisyModel, replicas)
    arguments: Any = {"x": X} if first == "predict" else {"x": X, "y": Y}
    getattr(model, first)(**arguments)
    assert differ(fit_losses(model))


@pytest.mark.parametrize("replicas", [0, 2])
@pytest.mark.full
def test_with_run_eagerly_a_layer_draws_and_may_read_values(replicas: int) -> None:
    class CheckedDropout(HalfDropout):
        def call(self, x: Any, training: Any = None) -> Any:
            if training and not np.isfinite(x.numpy()).all():
                raise ValueError("not finite")
            return super().call(x, training)

    model = make_compiled_model(
        lambda: tf.keras.Sequential([CheckedDropout(), make_output_layer()]), replicas, run_eagerly=True
    )
    assert differ(fit_losses(model))


def test_a_model_built_without_a_call_draws_in_predict() -> None:
    class Guessing(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.dense = make_output_layer()

        def build(self, input_shape: Any) -> None:
            self.dense.build(input_shape)

        def call(self, x: Any) -> Any:
            return self.dense(x + tf.random.normal(tf.shape(x)))

    model = make_compiled_model(Guessing, 2)
    model.build((None, 4))
    assert not np.array_equal(model.predict(X, verbose=0), model.predict(X, verbose=0))


def test_a_layer_that_is_called_in_training_only_is_trained() -> None:
    class Helped(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.helper, self.dense = tf.keras.layers.Dense(4), make_output_layer()

        def call(self, x: Any, training: Any = None) -> Any:
            return self.dense(self.helper(x) if training else x)

    model = make_compiled_model(Helped, 2)
    model.compile(tf.keras.optimizers.SGD(0.1), "mse")
    model.fit(X, Y, batch_size=8, epochs=1, verbose=0)
    assert len(model.trainable_variables) == 4
    assert np.any(model.helper.bias.numpy() != 0)


def test_an_attribute_set_before_compile_is_respected() -> None:
    class Switched(HalfDropout):
        on = False

        def call(self, x: Any, training: Any = None) -> Any:
            return super().call(x, training) if self.on else x

    layer = Switched()
    model = make_compiled_model(lambda: tf.keras.Sequential([layer, make_output_layer()]), 2)
    assert not differ(fit_losses(model))
    layer.on = True
    model.compile(tf.keras.optimizers.SGD(0.0), "mse")
    assert differ(fit_losses(model))


def test_a_custom_loop_draws_new_numbers_in_every_step() -> None:
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with strategy.scope():
        model = NoisyModel()

    @tf.function
    def step(x: Any) -> Any:
        outputs = strategy.run(lambda rows: tf.reduce_mean(model(rows, training=True) ** 2), (x,))
        return strategy.reduce("mean", outputs, axis=None)

    assert differ([float(step(tf.constant(X))) for _ in range(3)])


def test_models_of_keras_alone_are_not_called_again() -> None:
    calls = []

    class Counted(keras.layers.Dense):
        def call(self, x: Any, training: Any = None) -> Any:
            calls.append(training)
            return super().call(x)

    Counted.__module__ = "keras.layers"
    make_compiled_model(lambda: tf.keras.Sequential([Counted(1)]), 2).fit(X, Y, verbose=0)
    assert calls.count(True) == 1, calls  # the trace of the step
    del calls[:]
    Counted.__module__ = __name__
    model = make_compiled_model(lambda: tf.keras.Sequential([Counted(1)]), 2)
    model.fit(X, Y, verbose=0)
    assert calls.count(True) == 2, calls
    model.fit(X, Y, verbose=0)
    assert calls.count(True) == 2, calls


def test_a_layer_gets_the_training_flag_of_the_layer_around_it() -> None:
    received = []

    class Asked(tf.keras.layers.Layer):
        def call(self, x: Any, training: Any = None) -> Any:
            received.append(training)
            return x

    class Outer(tf.keras.layers.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = Asked(), Asked()

        def call(self, x: Any) -> Any:
            return self.second(self.first(x, training=False))

    Outer()(X, training=True)
    assert received[-2:] == [False, True]


@pytest.mark.slow
@pytest.mark.parametrize("replicas", [0, 2])
def test_a_model_keeps_its_weights_when_a_step_cannot_be_traced(replicas: int) -> None:
    def loss(y: Any, predicted: Any) -> Any:
        return tf.reduce_mean(predicted) * tf.random.uniform([])

    model = make_compiled_model(lambda: tf.keras.Sequential([tf.keras.Input((4,)), make_output_layer()]), replicas)
    before = model.get_weights()
    for _ in range(2):
        model.compile("sgd", loss)
        for method in (model.fit, model.evaluate):
            with pytest.raises(RuntimeError, match="draw the same ones every time"):
                method(X, Y, verbose=0)
    for kept, weights in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(kept, weights)
    model.compile("sgd", "mse")
    model.fit(X, Y, verbose=0)


def test_a_variable_without_a_value_raises() -> None:
    variable = keras.Variable([1.0], name="lost")
    variable._value = variable._initializer = None
    with pytest.raises(RuntimeError, match="'lost' has no value any more"):
        variable.value  # noqa: B018
    assert keras_hooks.raw_value(variable) is None
