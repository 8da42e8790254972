"""Keras's optimizers inside `run`: gradients are summed over replicas, everything else happens once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import keras
import numpy as np
import pytest

import unisono
from unisono._src.strategy import Strategy

from ._replicas import copies, per_replica, replica_id

pytestmark = pytest.mark.slow

Called = Callable[[Callable[..., Any]], Callable[..., Any]]


def made(strategy: Strategy, optimizer: Callable[[], Any], *initial: Any) -> tuple[Any, list[Any]]:
    with strategy.scope():
        return optimizer(), [keras.Variable(value, dtype="float32") for value in initial]


@pytest.mark.parametrize("method", ["apply_gradients", "apply"])
def test_one_step_moves_by_the_sum_of_the_gradients(strategy: Strategy, called: Called, method: str) -> None:
    start, gradient = np.float32([1, 2, 3, 4]), np.float32([1, 6, 7, 2])
    optimizer, (v,) = made(strategy, lambda: keras.optimizers.SGD(0.5, momentum=0.06), start)

    def step() -> None:
        if method == "apply":
            optimizer.apply([jnp.asarray(gradient)], [v])
        else:
            optimizer.apply_gradients(zip([jnp.asarray(gradient)], [v], strict=True))

    called(lambda: strategy.run(step))()
    number = strategy.num_replicas_in_sync
    assert copies(v) == [(start - 0.5 * number * gradient).tolist()] * number


def test_a_gradient_taken_from_outside_counts_once_for_each_replica_too(several: Strategy) -> None:
    """With TensorFlow a tensor that was created outside `run` is not summed; one created inside is."""
    optimizer, (v,) = made(several, lambda: keras.optimizers.SGD(1.0), [3.0])
    gradient = jnp.ones(1)
    several.run(lambda: optimizer.apply_gradients([(gradient, v)]))
    assert copies(v)[0] == [3.0 - several.num_replicas_in_sync]


def test_steps_are_counted_once_and_slots_are_alike_on_all_replicas(strategy: Strategy, called: Called) -> None:
    """The optimizer is built by the first step, inside `run`."""
    optimizer, (v,) = made(strategy, lambda: keras.optimizers.Adam(0.1), [1.0, 2.0])
    step = called(
        lambda: strategy.run(lambda: optimizer.apply_gradients([(jnp.ones(2) * (replica_id() + 1), v)])),
    )
    for _ in range(3):
        step()
    assert int(optimizer.iterations) == 3
    assert len(optimizer.variables) == 4  # iterations, learning rate, two moments
    for variable in [*optimizer.variables, v]:
        assert strategy.extended.variable_created_in_scope(variable)
        assert copies(variable) == [copies(variable)[0]] * strategy.num_replicas_in_sync


def test_nesterov_follows_the_formula(strategy: Strategy) -> None:
    start, first, later = np.ones(10), np.arange(0.1, 1.1, 0.1), np.full(10, 0.01)
    optimizer, (v,) = made(strategy, lambda: keras.optimizers.SGD(0.01, momentum=0.9, nesterov=True), start)
    step = unisono.function(lambda g: strategy.run(lambda g: optimizer.apply_gradients([(g, v)]), args=(g,)))
    expected, momentum, number = start, np.zeros(10), strategy.num_replicas_in_sync
    for gradient in (first, later, later, later):
        step(gradient.astype("float32"))
        total = number * gradient
        momentum = 0.9 * momentum - 0.01 * total
        expected = expected + 0.9 * momentum - 0.01 * total
        np.testing.assert_allclose(v.numpy(), expected, rtol=1e-5)


def test_a_schedule_goes_by_steps(strategy: Strategy) -> None:
    schedule = lambda: keras.optimizers.schedules.ExponentialDecay(1.0, 1, 0.5)  # noqa: E731
    optimizer, (v,) = made(strategy, lambda: keras.optimizers.SGD(schedule()), 0.0)
    step = unisono.function(lambda: strategy.run(lambda: optimizer.apply_gradients([(jnp.ones(()), v)])))
    for _ in range(3):
        step()
    assert float(v.numpy()) == pytest.approx(-strategy.num_replicas_in_sync * (1 + 0.5 + 0.25), rel=1e-6)


def test_a_learning_rate_set_between_steps_is_used_by_the_next(pair: Strategy) -> None:
    optimizer, (v,) = made(pair, lambda: keras.optimizers.SGD(1.0), 0.0)
    step = unisono.function(lambda: pair.run(lambda: optimizer.apply_gradients([(jnp.ones(()), v)])))
    step()
    optimizer.learning_rate = 0.5
    step()
    assert float(v.numpy()) == -3.0


def test_weights_decay_once_a_step(strategy: Strategy, called: Called) -> None:
    """Three optimizers, one after the other. One leaves out a variable by its name, one a variable itself."""
    with strategy.scope():
        everywhere, named, listed = keras.Variable(2.0), keras.Variable(3.0, name="exclude"), keras.Variable(4.0)
        first, second, third = (keras.optimizers.SGD(1.0, weight_decay=0.004) for _ in range(3))
        second.exclude_from_weight_decay(var_names=["exclude"])
        third.exclude_from_weight_decay(var_list=[listed])

    def step() -> None:
        zero = jnp.zeros(())
        first.apply_gradients([(zero, everywhere)])
        second.apply_gradients([(zero, everywhere), (zero, named)])
        third.apply_gradients([(zero, everywhere), (zero, listed)])

    called(lambda: strategy.run(step))()
    assert float(everywhere.numpy()) == pytest.approx(2 * 0.996**3, rel=1e-6)
    assert (float(named.numpy()), float(listed.numpy())) == (3.0, 4.0)


@pytest.mark.parametrize("argument", ["clipnorm", "global_clipnorm", "clipvalue"])
def test_the_summed_gradient_is_clipped(strategy: Strategy, called: Called, argument: str) -> None:
    """As one device clips. With TensorFlow Keras 3 clips on each replica and then sums: -N instead of -1."""
    optimizer, (v,) = made(strategy, lambda: keras.optimizers.SGD(1.0, **{argument: 1.0}), [0.0, 0.0])
    gradient = lambda: jnp.stack([replica_id() * 4 + 3, jnp.zeros(())])  # noqa: E731
    called(lambda: strategy.run(lambda: optimizer.apply_gradients([(gradient(), v)])))()
    np.testing.assert_allclose(v.numpy(), [-1.0, 0.0], rtol=1e-6)


def test_a_small_sum_of_large_gradients_is_not_clipped(several: Strategy) -> None:
    number = several.num_replicas_in_sync
    gradients = per_replica(several, [np.float32([100.0]) * (-1) ** i for i in range(number)])
    optimizer, (v,) = made(several, lambda: keras.optimizers.SGD(1.0, global_clipnorm=1.0), [5.0])
    several.run(lambda g: optimizer.apply_gradients([(g + 0.25 / number, v)]), args=(gradients,))
    np.testing.assert_allclose(v.numpy(), [4.75], rtol=1e-5)


def test_the_moving_average_of_weights_is_taken_once_a_step_and_written_back(strategy: Strategy) -> None:
    number = strategy.num_replicas_in_sync
    arguments = {"use_ema": True, "ema_momentum": 0.9, "ema_overwrite_frequency": 3}
    optimizer, (v,) = made(strategy, lambda: keras.optimizers.SGD(1.0, **arguments), [3.0, 4.0])
    step = unisono.function(lambda: strategy.run(lambda: optimizer.apply_gradients([(jnp.ones(2), v)])))
    value, average = np.array([3.0, 4.0]), None
    for count in (1, 2, 3):
        step()
        value = value - number
        average = value if average is None else 0.9 * average + 0.1 * value
        if count == 3:
            value = average
        np.testing.assert_allclose(v.numpy(), value, rtol=1e-5)
        np.testing.assert_allclose(optimizer._model_variables_moving_average[0].numpy(), average, rtol=1e-5)


def test_gradients_are_accumulated_and_applied_as_their_mean_over_steps(strategy: Strategy) -> None:
    number = strategy.num_replicas_in_sync
    optimizer, (v,) = made(strategy, lambda: keras.optimizers.SGD(1.0, gradient_accumulation_steps=3), [1.0])
    step = unisono.function(
        lambda: strategy.run(lambda: optimizer.apply_gradients([(jnp.ones(1) * (replica_id() + 1), v)]))
    )
    found = []
    for _ in range(3):
        step()
        found.append((float(v.numpy()[0]), int(optimizer.iterations)))
    assert found == [(1.0, 0), (1.0, 0), (1.0 - sum(range(1, number + 1)), 1)]


@pytest.mark.parametrize(
    "arguments", [{"skip_gradients_aggregation": True}, {"experimental_aggregate_gradients": False}]
)
def test_code_that_sums_the_gradients_can_ask_that_they_are_not_summed_again(
    strategy: Strategy, called: Called, arguments: dict[str, bool]
) -> None:
    """The keywords are those of Keras 2; Keras 3 has none with TensorFlow."""
    optimizer, (v,) = made(strategy, lambda: keras.optimizers.SGD(0.1), [0.0, 0.0])

    def step() -> None:
        gradient = jnp.ones(2) * (replica_id() + 1)
        total = unisono.get_replica_context().all_reduce("SUM", gradient)
        optimizer.apply_gradients([(total, v)], **arguments)

    called(lambda: strategy.run(step))()
    total = sum(range(1, strategy.num_replicas_in_sync + 1))
    np.testing.assert_allclose(copies(v), [[-0.1 * total] * 2] * strategy.num_replicas_in_sync, rtol=1e-6)


def test_with_one_replica_it_makes_no_difference_where_gradients_are_summed(alone: Strategy) -> None:
    for arguments in ({}, {"experimental_aggregate_gradients": True}, {"experimental_aggregate_gradients": False}):
        optimizer, (v,) = made(alone, lambda: keras.optimizers.SGD(0.1), [0.0, 0.0])
        alone.run(lambda o=optimizer, v=v, a=arguments: o.apply_gradients([(jnp.ones(2), v)], **a))
        np.testing.assert_allclose(v.numpy(), [-0.1, -0.1], rtol=1e-6)


def test_outside_of_replicas_the_gradient_is_that_of_the_whole(strategy: Strategy, called: Called) -> None:
    """TensorFlow raises."""
    optimizer, (v,) = made(strategy, lambda: keras.optimizers.SGD(0.1), 1.0)

    @called
    def step() -> None:
        with strategy.scope():
            optimizer.apply_gradients([(jnp.ones(()), v)])

    step()
    np.testing.assert_allclose(copies(v), [0.9] * strategy.num_replicas_in_sync, rtol=1e-6)
    assert int(optimizer.iterations) == 1


def test_a_variable_without_a_gradient_stays_with_a_warning(several: Strategy) -> None:
    optimizer, (v, w) = made(several, lambda: keras.optimizers.SGD(1.0), 1.0, 1.0)
    with pytest.warns(UserWarning, match="Gradients do not exist"):
        several.run(lambda: optimizer.apply_gradients([(None, v), (jnp.ones(()), w)]))
    assert (float(v.numpy()), float(w.numpy())) == (1.0, 1.0 - several.num_replicas_in_sync)


def test_no_gradient_at_all_is_an_error(several: Strategy) -> None:
    optimizer, (v,) = made(several, lambda: keras.optimizers.SGD(1.0), 1.0)
    with pytest.raises(ValueError, match=r"(?i)no gradients"):
        several.run(lambda: optimizer.apply_gradients([(None, v)]))


def test_one_optimizer_serves_two_models_that_it_was_built_for(pair: Strategy) -> None:
    optimizer, (v, w) = made(pair, lambda: keras.optimizers.SGD(1.0, momentum=0.5), 1.0, 1.0)
    optimizer.build([v, w])
    step = unisono.function(lambda: pair.run(lambda: optimizer.apply_gradients([(jnp.ones(()), v), (jnp.ones(()), w)])))
    step()
    step()
    assert (float(v.numpy()), float(w.numpy())) == (-4.0, -4.0)


# Scaled losses


def loss_scaled() -> Any:
    return keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.5), initial_scale=8.0, dynamic_growth_steps=2)


def test_scaled_gradients_are_summed_and_unscaled(strategy: Strategy) -> None:
    optimizer, (v,) = made(strategy, loss_scaled, 1.0)

    def step() -> Any:
        with unisono.GradientTape() as tape:
            loss = v * v
            scaled = optimizer.scale_loss(loss)
        optimizer.apply_gradients([(tape.gradient(scaled, v), v)])
        return scaled

    number, expected, scale = strategy.num_replicas_in_sync, 1.0, 8.0
    call = unisono.function(lambda: strategy.run(step))
    for count in (1, 2, 3):
        scaled = [float(value) for value in strategy.experimental_local_results(call())]
        np.testing.assert_allclose(scaled, [scale * expected**2] * number, rtol=1e-5)
        expected -= 0.5 * number * 2 * expected
        scale = 8.0 if count < 2 else 16.0
        np.testing.assert_allclose(v.numpy(), expected, rtol=1e-5)
        assert float(optimizer.dynamic_scale) == scale


def test_an_overflow_on_one_replica_is_left_out_by_all(several: Strategy) -> None:
    optimizer, (v,) = made(several, loss_scaled, 1.0)
    number = several.num_replicas_in_sync
    gradients = per_replica(several, [np.float32(np.inf if i == number - 1 else 8.0) for i in range(number)])
    step = unisono.function(lambda g: several.run(lambda g: optimizer.apply_gradients([(g, v)]), args=(g,)))
    step(gradients)
    assert copies(v) == [1.0] * number
    assert float(optimizer.dynamic_scale) == 4.0
    step(per_replica(several, [np.float32(4.0)] * number))
    assert copies(v) == [1.0 - 0.5 * number] * number


# Learning


@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_a_summed_loss_counts_every_row_and_a_mean_must_be_divided_by_the_replicas(
    strategy: Strategy, reduction: str
) -> None:
    """x · w with x = (2, 7), y = (6, 21), w = 2 on every replica: dloss/dw is -106 for the sum, -53 for the mean."""
    number = strategy.num_replicas_in_sync
    optimizer, (w,) = made(strategy, lambda: keras.optimizers.SGD(0.001), [[2.0]])
    x, y = np.float32([[2], [7]]), np.float32([[6], [21]])

    def step() -> None:
        with unisono.GradientTape() as tape:
            errors = (keras.ops.matmul(x, w) - y) ** 2
            loss = jnp.sum(errors) if reduction == "sum" else jnp.mean(errors) / number
        optimizer.apply_gradients([(tape.gradient(loss, w), w)])

    strategy.run(step)
    assert float(w.numpy()[0, 0]) == pytest.approx(2 + (0.106 * number if reduction == "sum" else 0.053), abs=1e-5)


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "Adagrad", "Ftrl"])
def test_the_error_does_not_grow(pair: Strategy, name: str) -> None:
    with pair.scope():
        layer = keras.layers.Dense(1, kernel_initializer="zeros")
        layer.build((None, 1))
        optimizer = getattr(keras.optimizers, name)(0.02)

    def step() -> None:
        with unisono.GradientTape() as tape:
            loss = jnp.sum((layer(jnp.ones((1, 1))) - 1) ** 2)
        optimizer.apply(tape.gradient(loss, layer.trainable_variables), layer.trainable_variables)

    call = unisono.function(lambda: pair.run(step))
    errors = [1.0]
    for _ in range(10):
        call()
        errors.append(abs(float(layer.kernel.numpy()[0, 0] + layer.bias.numpy()[0]) - 1))
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < errors[0]


def test_a_loop_without_an_optimizer_reduces_and_updates_across_replicas(strategy: Strategy, called: Called) -> None:
    with strategy.scope():
        kernel = keras.Variable([[3.0]])

    def gradient(x: Any) -> Any:
        with unisono.GradientTape() as tape:
            loss = keras.ops.sum((keras.ops.matmul(x, kernel) - 1) ** 2)
        return tape.gradient(loss, kernel)

    @called
    def step() -> None:
        with strategy.scope():
            per_replica_gradients = strategy.run(gradient, args=(jnp.ones((1, 1)),))
            total = strategy.extended.reduce_to("SUM", per_replica_gradients, destinations=kernel)
            strategy.extended.update(kernel, lambda v, g: v.assign_sub(0.1 * g), args=(total,), group=False)

    expected = 3.0
    for _ in range(3):
        step()
        expected -= 0.1 * strategy.num_replicas_in_sync * 2 * (expected - 1)
    np.testing.assert_allclose(copies(kernel), [[[expected]]] * strategy.num_replicas_in_sync, rtol=1e-5)
