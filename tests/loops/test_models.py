"""Whole Keras models in loops: k replicas give one device's answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import keras
import numpy as np
import pytest

import unisono
from unisono._src.strategy import Strategy
from unisono.data import Dataset

from ._oracle import Answer, global_batches, train_on_one_device
from ._replicas import batches, copies, local, mirrored, per_replica, replica_id

pytestmark = pytest.mark.slow

RANDOM = np.random.default_rng(11)
ROWS = RANDOM.random((31, 3), np.float32), RANDOM.random((31, 4), np.float32)
SEQUENCES = RANDOM.random((16, 5, 2), np.float32), RANDOM.random((16, 1), np.float32)
WORDS = RANDOM.integers(0, 7, (16, 4)), RANDOM.random((16, 1), np.float32)
IMAGES = RANDOM.random((16, 4, 4, 2), np.float32), RANDOM.random((16, 3), np.float32)


def squares(y: Any, outputs: Any) -> Any:
    """A loss for each row: its gradient is that of their sum, which replicas add up to."""
    return keras.losses.mean_squared_error(y, outputs)


def assert_close(found: list[Any], expected: list[Any], tolerance: float = 1e-5) -> None:
    """Within `tolerance` of the largest weight of the same variable: sums over rows are taken in another order."""
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * max(1.0, float(np.abs(theirs).max())))


def loop(strategy: Strategy, model: keras.Model, optimizer: Any, data: Any, size: int) -> Answer:
    """The loop of the guides: a step for each batch, the sum over replicas reported."""

    def step(batch: Any) -> Any:
        x, y = batch
        with unisono.GradientTape() as tape:
            loss = keras.ops.sum(squares(y, model(x, training=True)))
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    @unisono.function
    def train_step(batch: Any) -> Any:
        return strategy.reduce("SUM", strategy.run(step, args=(batch,)), axis=None)

    losses = [float(train_step(batch)) for batch in batches(strategy, data, size)]
    return Answer(model.get_weights(), losses)


class Subclassed(keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.dense = keras.layers.Dense(4)

    def call(self, x: Any, training: bool = False) -> Any:
        return self.dense(x)


def functional() -> keras.Model:
    inputs = keras.Input((3,))
    return keras.Model(inputs, keras.layers.Dense(4)(inputs))


def subclassed() -> keras.Model:
    model = Subclassed()
    model(np.zeros((1, 3), np.float32))
    return model


def recurrent() -> keras.Model:
    return keras.Sequential([keras.Input((5, 2)), keras.layers.LSTM(3), keras.layers.Dense(1)])


def gated() -> keras.Model:
    return keras.Sequential([keras.Input((5, 2)), keras.layers.GRU(3), keras.layers.Dense(1)])


def embedded() -> keras.Model:
    layers = [keras.layers.Embedding(7, 3), keras.layers.Flatten(), keras.layers.Dense(1)]
    return keras.Sequential([keras.Input((4,), dtype="int32"), *layers])


def convolutional() -> keras.Model:
    layers = [keras.layers.Conv2D(3, 2, activation="tanh"), keras.layers.GlobalAveragePooling2D()]
    return keras.Sequential([keras.Input((4, 4, 2)), *layers, keras.layers.Dense(3)])


MODELS: dict[str, tuple[Callable[[], keras.Model], Any, int]] = {
    "functional": (functional, ROWS, 10),  # the last batch has one row
    "subclassed": (subclassed, ROWS, 10),
    "lstm": (recurrent, SEQUENCES, 8),
    "gru": (gated, SEQUENCES, 8),
    "embedding": (embedded, WORDS, 8),
    "convolution": (convolutional, IMAGES, 8),
}


CELLS = [
    pytest.param("functional", 1, marks=pytest.mark.full),
    ("functional", 2),
    pytest.param("functional", 4, marks=pytest.mark.full),
    ("subclassed", 2),
    ("lstm", 2),
    pytest.param("gru", 4, marks=pytest.mark.full),
    ("embedding", 2),
    pytest.param("convolution", 4, marks=pytest.mark.full),
]


@pytest.mark.parametrize(("name", "replicas"), CELLS)
def test_a_loop_leaves_the_weights_and_losses_of_one_device(name: str, replicas: int) -> None:
    strategy = mirrored(replicas)
    make, data, size = MODELS[name]
    plain = make()
    expected = train_on_one_device(
        plain, keras.optimizers.RMSprop(0.01), global_batches(data, size), lambda y, o: jnp.sum(squares(y, o))
    )
    with strategy.scope():
        model = make()
        model.set_weights(plain.get_weights())
        optimizer = keras.optimizers.RMSprop(0.01)
    found = loop(strategy, model, optimizer, data, size)
    np.testing.assert_allclose(found.losses, expected.losses, rtol=1e-5)
    assert_close(found.weights, expected.weights)
    for variable in [*model.weights, *optimizer.variables]:
        assert copies(variable) == [copies(variable)[0]] * strategy.num_replicas_in_sync


# Forms of steps


def test_a_layer_alone_has_gradients_of_the_shapes_of_its_weights(strategy: Strategy) -> None:
    """The layer is built by the first step, inside `run`."""
    with strategy.scope():
        layer = keras.layers.Dense(4)

    @unisono.function
    def train_step(batch: Any) -> Any:
        def step(batch: Any) -> Any:
            x, y = batch
            with unisono.GradientTape() as tape:
                loss = squares(y, layer(x))
            return tape.gradient(loss, layer.trainable_variables)

        return strategy.run(step, args=(batch,))

    for batch in batches(strategy, (ROWS[0][:8], ROWS[1][:8]), 8):
        kernel, bias = train_step(batch)
    assert {value.shape for value in strategy.experimental_local_results(kernel)} == {(3, 4)}
    assert {value.shape for value in strategy.experimental_local_results(bias)} == {(4,)}
    assert all(strategy.extended.variable_created_in_scope(v) for v in layer.variables)


def test_a_plain_class_that_holds_layers_is_a_model_too(strategy: Strategy) -> None:
    class Holder:
        def __init__(self) -> None:
            self.layers = [keras.layers.Dense(5, activation="tanh"), keras.layers.Dense(4)]

        def __call__(self, x: Any) -> Any:
            for layer in self.layers:
                x = layer(x)
            return x

    with strategy.scope():
        holder = Holder()
    (batch,) = batches(strategy, ROWS[0][:8], 8)
    result = unisono.function(lambda x: strategy.run(holder, args=(x,)))(batch)
    assert np.asarray(strategy.gather(result, axis=0)).shape == (8, 4)


def make_pair_of_models(strategy: Strategy) -> tuple[keras.Model, keras.Model]:
    with strategy.scope():
        first, second = functional(), functional()
        second.set_weights(first.get_weights())
    return first, second


def test_a_loss_in_a_nested_function_trains_alike(strategy: Strategy) -> None:
    first, second = make_pair_of_models(strategy)
    with strategy.scope():
        optimizers = [keras.optimizers.SGD(0.1, momentum=0.01) for _ in range(2)]
    (batch,) = batches(strategy, (ROWS[0][:10], ROWS[1][:10]), 10)

    def trained(model: keras.Model, optimizer: Any, nested: bool) -> None:
        def loss_of(x: Any, y: Any) -> Any:
            return squares(y, model(x))

        compute = unisono.function(loss_of) if nested else loss_of

        def step(batch: Any) -> None:
            with unisono.GradientTape() as tape:
                loss = compute(*batch)
            optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

        unisono.function(lambda batch: strategy.run(step, args=(batch,)))(batch)

    trained(first, optimizers[0], nested=False)
    trained(second, optimizers[1], nested=True)
    assert_close(first.get_weights(), second.get_weights(), 1e-6)


def test_a_function_of_many_steps_is_as_many_functions_of_one(strategy: Strategy) -> None:
    """Steps in a loop, around a function that takes the iterator, as TensorFlow nests them."""
    first, second = make_pair_of_models(strategy)
    with strategy.scope():
        optimizers = [keras.optimizers.RMSprop(0.01) for _ in range(2)]
    data = Dataset.from_tensor_slices((ROWS[0][:10], ROWS[1][:10])).repeat().batch(10)
    distributed = strategy.experimental_distribute_dataset(data)

    def step_of(model: keras.Model, optimizer: Any) -> Callable[[Any], Any]:
        def step(batch: Any) -> None:
            x, y = batch
            with unisono.GradientTape() as tape:
                loss = squares(y, model(x))
            optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

        return unisono.function(lambda iterator: strategy.run(step, args=(next(iterator),)))

    one, other = step_of(first, optimizers[0]), step_of(second, optimizers[1])

    @unisono.function
    def steps(iterator: Any) -> None:
        for _ in range(4):
            other(iterator)

    with iter(distributed) as iterator:
        for _ in range(4):
            one(iterator)
    with iter(distributed) as iterator:
        steps(iterator)
    assert_close(first.get_weights(), second.get_weights(), 1e-6)


def test_the_loss_of_each_row_is_reduced_over_rows(strategy: Strategy) -> None:
    with strategy.scope():
        model = functional()
    with iter(batches(strategy, ROWS, 10)) as iterator:
        batch = next(iterator)
    losses = unisono.function(lambda b: strategy.run(lambda x, y: squares(y, model(x)), args=b))(batch)
    expected = np.mean((ROWS[1][:10] - (ROWS[0][:10] @ model.get_weights()[0] + model.get_weights()[1])) ** 2)
    assert float(strategy.reduce("MEAN", losses, axis=0)) == pytest.approx(float(expected), rel=1e-5)


def test_variables_given_as_arguments_stay_variables(strategy: Strategy) -> None:
    with strategy.scope():
        layer = keras.layers.Dense(1, kernel_initializer="zeros")
        layer.build((None, 1))
        optimizer = keras.optimizers.SGD(0.1)
    kinds = []

    def step(variables: Any, x: Any) -> Any:
        kinds.extend(isinstance(v, keras.Variable) for v in variables)
        with unisono.GradientTape() as tape:
            loss = keras.ops.sum((layer(x) - 1.0) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    call = unisono.function(lambda x: strategy.run(step, args=(layer.trainable_variables, x)))
    number = strategy.num_replicas_in_sync
    assert float(strategy.reduce("SUM", call(np.ones((1, 1), np.float32)), axis=None)) == number
    assert kinds
    assert all(kinds)
    np.testing.assert_allclose(layer.kernel.numpy(), [[0.2 * number]], rtol=1e-6)


def test_jit_compile_is_accepted_and_changes_nothing(pair: Strategy) -> None:
    with pair.scope():
        model = functional()
    (batch,) = batches(pair, ROWS[0][:8], 8)

    def result(jit: bool | None) -> Any:
        inner = unisono.function(lambda x: model(x), jit_compile=jit)
        return unisono.function(lambda x: pair.run(inner, args=(x,)), jit_compile=jit)(batch)

    first, *rest = [np.asarray(pair.gather(result(jit), axis=0)) for jit in (None, True, False)]
    for other in rest:
        np.testing.assert_allclose(other, first, rtol=1e-6)


def test_each_replica_computes_with_its_own_rows(pair: Strategy) -> None:
    with pair.scope():
        model = functional()
    x = per_replica(pair, [np.zeros((8, 3), np.float32), np.ones((8, 3), np.float32)])
    zeros, ones = local(pair, pair.run(unisono.function(model), args=(x,)))
    assert np.shape(zeros) == np.shape(ones) == (8, 4)
    np.testing.assert_array_equal(zeros, np.zeros((8, 4)))
    np.testing.assert_allclose(ones, np.stack([model.get_weights()[0].sum(0)] * 8), rtol=1e-5)


def test_weights_saved_after_a_loop_give_the_same_predictions_anywhere(strategy: Strategy, tmp_path: Path) -> None:
    with strategy.scope():
        model = functional()
        loop(strategy, model, keras.optimizers.Adam(0.01), ROWS, 10)
    model.save_weights(tmp_path / "of.weights.h5")
    plain = functional()
    plain.load_weights(tmp_path / "of.weights.h5")
    with mirrored(2).scope():
        other = functional()
    other.load_weights(tmp_path / "of.weights.h5")
    expected = np.asarray(plain(ROWS[0]))
    np.testing.assert_allclose(np.asarray(other(ROWS[0])), expected, rtol=1e-6)
    np.testing.assert_allclose(model.predict(ROWS[0], verbose=0), expected, rtol=1e-5)


@pytest.mark.parametrize("num_rows", [24, 21])
def test_a_loop_that_divides_by_the_true_rows_equals_fit(strategy: Strategy, num_rows: int) -> None:
    """The uneven last batch included."""
    data = ROWS[0][:num_rows], ROWS[1][:num_rows]
    first, second = make_pair_of_models(strategy)
    with strategy.scope():
        first.compile(keras.optimizers.Adam(0.01), "mse")
        optimizer, loss_fn = keras.optimizers.Adam(0.01), keras.losses.MeanSquaredError()
    first.fit(*data, batch_size=8, shuffle=False, verbose=0)

    def step(batch: Any) -> None:
        x, y = batch
        with unisono.GradientTape() as tape:
            loss = loss_fn(y, second(x, training=True))
        optimizer.apply(tape.gradient(loss, second.trainable_variables), second.trainable_variables)

    call = unisono.function(lambda batch: strategy.run(step, args=(batch,)))
    for batch in batches(strategy, data, 8):
        call(batch)
    assert_close(second.get_weights(), first.get_weights())


def test_fit_with_a_regularizer_leaves_every_copy_with_the_weight_of_one_device(several: Strategy) -> None:
    x, y = np.ones((12, 1), np.float32), np.zeros((12, 1), np.float32)

    def fitted() -> tuple[list[float], keras.Model]:
        regularizer = keras.regularizers.L1L2(l1=0.01, l2=0.01)
        layer = keras.layers.Dense(1, use_bias=False, kernel_initializer="ones", kernel_regularizer=regularizer)
        model = keras.Sequential([keras.Input((1,)), layer])
        model.compile("sgd", "mse")
        return model.fit(x, y, batch_size=12, verbose=0).history["loss"], model

    expected_loss, plain = fitted()
    with several.scope():
        loss, model = fitted()
    np.testing.assert_allclose(loss, expected_loss, rtol=1e-6)
    for value in local(several, several.run(lambda: model.weights[0].value)):
        np.testing.assert_allclose(value, plain.get_weights()[0], rtol=1e-6)


# Batch normalisation


def normalised(strategy: Strategy, x: Any, training: bool = True, **options: Any) -> tuple[Any, keras.layers.Layer]:
    with strategy.scope():
        layer = keras.layers.BatchNormalization(momentum=0.5, **options)
        layer.build((None, *x.shape[1:]))
    (batch,) = batches(strategy, x, len(x))
    result = unisono.function(lambda x: strategy.run(lambda x: layer(x, training=training), args=(x,)))(batch)
    return np.asarray(strategy.gather(result, axis=0)), layer


def test_batch_normalisation_uses_the_rows_of_its_replica_and_keeps_the_mean_of_their_statistics(
    strategy: Strategy,
) -> None:
    """As Keras 2 did. Keras 3 with TensorFlow keeps those of the first replica when it reads."""
    x = RANDOM.random((8, 2), np.float32)
    found, layer = normalised(strategy, x)
    of_replicas = np.split(x, strategy.num_replicas_in_sync)
    expected = np.concatenate([(part - part.mean(0)) / np.sqrt(part.var(0) + 1e-3) for part in of_replicas])
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    number = strategy.num_replicas_in_sync
    for variable, initial, statistic in [(layer.moving_mean, 0, np.mean), (layer.moving_variance, 1, np.var)]:
        of_batch = np.mean([statistic(part, 0) for part in of_replicas], 0)
        np.testing.assert_allclose(copies(variable), [0.5 * initial + 0.5 * of_batch] * number, rtol=1e-5)


def test_synchronized_batch_normalisation_uses_the_rows_of_all(strategy: Strategy) -> None:
    x = RANDOM.random((8, 2), np.float32)
    found, layer = normalised(strategy, x, synchronized=True)
    np.testing.assert_allclose(found, (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-3), rtol=1e-4, atol=1e-5)
    number = strategy.num_replicas_in_sync
    np.testing.assert_allclose(copies(layer.moving_mean), [0.5 * x.mean(0)] * number, rtol=1e-5)
    np.testing.assert_allclose(copies(layer.moving_variance), [0.5 + 0.5 * x.var(0)] * number, rtol=1e-5)


def test_at_inference_the_kept_statistics_are_used_and_stay(strategy: Strategy) -> None:
    x = RANDOM.random((8, 2), np.float32)
    for options in ({}, {"synchronized": True}):
        found, layer = normalised(strategy, x, training=False, **options)
        np.testing.assert_allclose(found, x / np.sqrt(1 + 1e-3), rtol=1e-5)
        assert copies(layer.moving_mean) == [[0.0, 0.0]] * strategy.num_replicas_in_sync


@pytest.mark.parametrize("momentum", [0.8, 0.99])
def test_moving_means_follow_the_mean_over_replicas_step_by_step(strategy: Strategy, momentum: float) -> None:
    """Replica r sees rows whose column i has the mean 60 + i + 100 r."""
    number = strategy.num_replicas_in_sync
    with strategy.scope():
        layer = keras.layers.BatchNormalization(momentum=momentum)
        layer.build((None, 8))
    rows = np.arange(128, dtype=np.float32).reshape(16, 8)
    x = per_replica(strategy, [rows + 100 * r for r in range(number)])
    step = unisono.function(lambda x: strategy.run(lambda x: layer(x, training=True), args=(x,)))
    expected = np.zeros(8)
    for _ in range(5):
        step(x)
        expected += (60 + np.arange(8) + 50 * (number - 1) - expected) * (1 - momentum)
        np.testing.assert_allclose(layer.moving_mean.numpy(), expected, rtol=1e-5)


@pytest.mark.parametrize("synchronized", [False, True])
@pytest.mark.parametrize("num_rows", [1, 3, 11])
def test_a_replica_without_rows_does_not_spoil_the_statistics(
    several: Strategy, num_rows: int, synchronized: bool
) -> None:
    """TensorFlow feeds an empty array to the layer; here one replica sees the rows that there are."""
    x = RANDOM.random((num_rows, 2, 2, 3), np.float32)
    found, layer = normalised(several, x, synchronized=synchronized)
    mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
    np.testing.assert_allclose(found, (x - mean) / np.sqrt(variance + 1e-3), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(layer.moving_mean.numpy(), 0.5 * mean, rtol=1e-5)
    np.testing.assert_allclose(layer.moving_variance.numpy(), 0.5 + 0.5 * variance, rtol=1e-5)


def test_a_step_without_any_rows_changes_nothing(alone: Strategy) -> None:
    """TensorFlow's layer left its statistics alone, and so did the gradient of a mean over nothing that is zero."""
    with alone.scope():
        layer = keras.layers.Dense(3)
        layer.build((None, 2))
        optimizer = keras.optimizers.SGD(0.1)
    before = layer.get_weights()

    def step(x: Any, y: Any) -> Any:
        with unisono.GradientTape() as tape:
            loss = unisono.nn.compute_average_loss(squares(y, layer(x)), global_batch_size=4)
        optimizer.apply(tape.gradient(loss, layer.trainable_variables), layer.trainable_variables)
        return loss

    nothing = np.zeros((0, 2), np.float32), np.zeros((0, 3), np.float32)
    assert float(unisono.function(lambda: alone.run(step, args=nothing))()) == 0.0
    for old, new in zip(before, layer.get_weights(), strict=True):
        np.testing.assert_array_equal(new, old)


# Random numbers


def dropped(strategy: Strategy, seed: int) -> list[list[Any]]:
    with strategy.scope():
        layer = keras.layers.Dropout(0.5, seed=seed)
    call = unisono.function(lambda: strategy.run(lambda: layer(jnp.ones(64), training=True)))
    drawn = [local(strategy, call()) for _ in range(2)]
    state = layer.seed_generator.state
    assert copies(state) == [copies(state)[0]] * strategy.num_replicas_in_sync
    return drawn


def test_dropout_differs_between_replicas_and_steps_and_repeats_from_its_seed(strategy: Strategy) -> None:
    """Keras 3 with TensorFlow drops the same on every replica."""
    first, again, other = dropped(strategy, 3), dropped(strategy, 3), dropped(strategy, 4)
    masks = {tuple(mask) for step in first for mask in step}
    assert len(masks) == 2 * strategy.num_replicas_in_sync
    assert first == again
    assert first != other


def test_numbers_drawn_by_replicas_are_all_different(strategy: Strategy, called: Callable[..., Any]) -> None:
    with strategy.scope():
        generator = keras.random.SeedGenerator(1234)

    def draw() -> Any:
        return jnp.stack([keras.random.normal((3, 4), seed=generator) for _ in range(2)])

    call = called(lambda: strategy.run(draw))
    drawn = np.ravel([local(strategy, call()) for _ in range(2)])
    assert len(set(drawn.tolist())) == drawn.size == 2 * strategy.num_replicas_in_sync * 24


def test_a_generator_starts_from_its_seed_on_every_replica(several: Strategy) -> None:
    with several.scope():
        generator = keras.random.SeedGenerator(42)
    states = local(several, several.run(lambda: generator.state.value))
    assert states == [[42, 0]] * several.num_replicas_in_sync


def test_a_draw_across_replicas_advances_every_copy_alike(several: Strategy) -> None:
    with several.scope():
        generator = keras.random.SeedGenerator(1)
        before = copies(generator.state)
        keras.random.normal((3,), seed=generator)
    after = copies(generator.state)
    assert before[0] != after[0]
    assert after == [after[0]] * several.num_replicas_in_sync


def test_a_restored_generator_draws_the_same(several: Strategy) -> None:
    with several.scope():
        first, second = keras.random.SeedGenerator(1), keras.random.SeedGenerator(10)

    def draw(generator: Any) -> list[Any]:
        return local(several, several.run(lambda: keras.random.normal((3,), seed=generator)))

    draw(first)
    for _ in range(2):
        second.state.assign(first.state)
        assert draw(first) == draw(second)


def test_the_number_of_a_replica_is_part_of_what_it_computes(several: Strategy) -> None:
    with several.scope():
        model = functional()
    x = np.ones((2, 3), np.float32)
    found = local(several, several.run(lambda: model(jnp.asarray(x)) + replica_id()))
    for i, each in enumerate(found):
        np.testing.assert_allclose(each, np.asarray(found[0]) + i, rtol=1e-5)
