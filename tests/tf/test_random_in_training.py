"""Random numbers that layers draw in training only, and layers that are not told whether they train."""

from collections.abc import Iterable
from typing import Any

import keras
import numpy as np
import pytest

import unisono.tf as tf
from unisono._src import keras_hooks

X, Y = np.random.default_rng(0).normal(size=(8, 4)).astype("float32"), np.zeros((8, 1), "float32")


class Dropped(tf.keras.layers.Layer):
    """Drops half of its input in training."""

    def call(self, x: Any, training: Any = None) -> Any:
        return tf.nn.dropout(x, 0.5) if training else x


class Noisy(tf.keras.layers.Layer):
    """Adds noise in training, by a backend function with a seed and by a layer inside."""

    def __init__(self) -> None:
        super().__init__()
        self.dropped = Dropped()

    def call(self, x: Any, training: Any = None) -> Any:
        noise = tf.keras.backend.random_normal(tf.shape(x), seed=3) if training else 0.0
        return self.dropped(x) + noise


class Drawing(tf.keras.Model):
    """A model whose own `call` draws."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = last()

    def call(self, x: Any, training: Any = None) -> Any:
        return self.dense(tf.nn.dropout(x, 0.5) if training else x)


class Silent(tf.keras.Model):
    """Does not hand `training` on; the layer of the middle is told that it does not train."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.dropout = tf.keras.layers.BatchNormalization(), tf.keras.layers.Dropout(0.5)
        self.dense = last()

    def call(self, x: Any) -> Any:
        return self.dense(self.dropout(self.norm(x, training=False)))


def last() -> Any:
    return tf.keras.layers.Dense(1, kernel_initializer="ones")


def functional() -> Any:
    inputs = tf.keras.Input((4,))
    return tf.keras.Model(inputs, last()(Noisy()(inputs)))


def by_lambda() -> Any:
    def noise(x: Any, training: Any = None) -> Any:
        return x + tf.random.normal([4]) if training else x

    return tf.keras.Sequential([tf.keras.layers.Lambda(noise, output_shape=(4,)), last()])


MODELS = {
    "sequential": lambda: tf.keras.Sequential([Dropped(input_shape=(4,)), last()]),
    "unbuilt": lambda: tf.keras.Sequential([Noisy(), last()]),
    "functional": functional,
    "subclassed": Drawing,
    "silent": Silent,
    "lambda": by_lambda,
}


def compiled(make: Any, replicas: int, **settings: Any) -> Any:
    tf.random.set_seed(1)
    devices = [f"cpu:{number}" for number in range(replicas)]
    with (tf.distribute.MirroredStrategy(devices) if replicas else tf.distribute.get_strategy()).scope():
        model = make()
        model.compile(tf.keras.optimizers.SGD(0.0), "mse", **settings)
    return model


def losses(model: Any) -> list[float]:
    found: list[float] = model.fit(X, Y, batch_size=8, epochs=3, shuffle=False, verbose=0).history["loss"]
    return found


def differ(losses: Iterable[float]) -> bool:
    """Whether they do so by more than the rounding of sums."""
    return bool(np.diff(sorted(losses)).min() > 1e-4)


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_numbers_drawn_in_training_alone_are_others_in_every_step(make: Any) -> None:
    model = compiled(make, 0)
    assert differ(losses(model))
    np.testing.assert_array_equal(model.predict(X, verbose=0), model.predict(X, verbose=0))


@pytest.mark.slow
@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_two_replicas_draw_what_one_device_draws(make: Any) -> None:
    one, two = losses(compiled(make, 1)), losses(compiled(make, 2))
    assert differ(two)
    np.testing.assert_allclose(two, one, rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("replicas", [0, 2])
@pytest.mark.parametrize("first", ["evaluate", "train_on_batch", "predict"])
def test_a_model_may_do_anything_before_it_is_trained(first: str, replicas: int) -> None:
    model = compiled(Drawing, replicas)
    arguments: Any = {"x": X} if first == "predict" else {"x": X, "y": Y}
    getattr(model, first)(**arguments)
    assert differ(losses(model))


@pytest.mark.slow
@pytest.mark.parametrize("replicas", [0, 2])
def test_a_layer_draws_line_by_line_and_may_look_at_values(replicas: int) -> None:
    class Looking(Dropped):
        def call(self, x: Any, training: Any = None) -> Any:
            if training and not np.isfinite(x.numpy()).all():
                raise ValueError("not finite")
            return super().call(x, training)

    model = compiled(lambda: tf.keras.Sequential([Looking(), last()]), replicas, run_eagerly=True)
    assert differ(losses(model))


def test_a_model_built_without_a_call_draws_in_predict() -> None:
    class Guessing(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.dense = last()

        def build(self, input_shape: Any) -> None:
            self.dense.build(input_shape)

        def call(self, x: Any) -> Any:
            return self.dense(x + tf.random.normal(tf.shape(x)))

    model = compiled(Guessing, 2)
    model.build((None, 4))
    assert not np.array_equal(model.predict(X, verbose=0), model.predict(X, verbose=0))


def test_a_layer_that_is_called_in_training_only_is_trained() -> None:
    class Helped(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.helper, self.dense = tf.keras.layers.Dense(4), last()

        def call(self, x: Any, training: Any = None) -> Any:
            return self.dense(self.helper(x) if training else x)

    model = compiled(Helped, 2)
    model.compile(tf.keras.optimizers.SGD(0.1), "mse")
    model.fit(X, Y, batch_size=8, epochs=1, verbose=0)
    assert len(model.trainable_variables) == 4
    assert np.any(model.helper.bias.numpy() != 0)


def test_a_flag_that_is_set_before_compile_counts() -> None:
    class Switched(Dropped):
        on = False

        def call(self, x: Any, training: Any = None) -> Any:
            return super().call(x, training) if self.on else x

    layer = Switched()
    model = compiled(lambda: tf.keras.Sequential([layer, last()]), 2)
    assert not differ(losses(model))
    layer.on = True
    model.compile(tf.keras.optimizers.SGD(0.0), "mse")
    assert differ(losses(model))


def test_a_custom_loop_draws_other_numbers_in_every_step() -> None:
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with strategy.scope():
        model = Drawing()

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
    compiled(lambda: tf.keras.Sequential([Counted(1)]), 2).fit(X, Y, verbose=0)
    assert calls.count(True) == 1, calls  # the trace of the step
    del calls[:]
    Counted.__module__ = __name__
    model = compiled(lambda: tf.keras.Sequential([Counted(1)]), 2)
    model.fit(X, Y, verbose=0)
    assert calls.count(True) == 2, calls
    model.fit(X, Y, verbose=0)
    assert calls.count(True) == 2, calls


def test_a_layer_is_told_what_the_layer_around_it_was_told() -> None:
    told = []

    class Asked(tf.keras.layers.Layer):
        def call(self, x: Any, training: Any = None) -> Any:
            told.append(training)
            return x

    class Outer(tf.keras.layers.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = Asked(), Asked()

        def call(self, x: Any) -> Any:
            return self.second(self.first(x, training=False))

    Outer()(X, training=True)
    assert told[-2:] == [False, True]


@pytest.mark.slow
@pytest.mark.parametrize("replicas", [0, 2])
def test_a_model_keeps_its_weights_when_a_step_cannot_be_traced(replicas: int) -> None:
    def loss(y: Any, predicted: Any) -> Any:
        return tf.reduce_mean(predicted) * tf.random.uniform([])

    model = compiled(lambda: tf.keras.Sequential([tf.keras.Input((4,)), last()]), replicas)
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


def test_a_variable_that_lost_its_value_says_so() -> None:
    variable = keras.Variable([1.0], name="lost")
    variable._value = variable._initializer = None
    with pytest.raises(RuntimeError, match="'lost' has no value any more"):
        variable.value  # noqa: B018
    assert keras_hooks.raw_value(variable) is None
