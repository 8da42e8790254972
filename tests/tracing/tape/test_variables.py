"""Variables under a tape: which are watched, and what a gradient by a variable is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest

from unisono import GradientTape

pytestmark = pytest.mark.slow


@pytest.fixture
def v() -> keras.Variable:
    return keras.Variable(2.0)


def test_a_trainable_variable_is_watched_when_it_is_read(v: keras.Variable) -> None:
    frozen = keras.Variable(5.0, trainable=False)
    with GradientTape() as tape:
        y = v * v * frozen
    assert tape.watched_variables() == (v,)
    assert tape.gradient(y, [v, frozen]) == [20, None]
    assert tape.watched_variables() == (v,)  # still, though the tape is used up


def test_variables_can_be_left_alone_and_watched_one_by_one(v: keras.Variable) -> None:
    other = keras.Variable(5.0)
    with GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(v)
        y = v * v * other
    assert tape.watched_variables() == (v,)
    assert tape.gradient(y, [v, other]) == [20, None]


def test_a_variable_that_is_not_trainable_can_be_watched(v: keras.Variable) -> None:
    frozen = keras.Variable(5.0, trainable=False)
    with GradientTape() as tape:
        before = v * frozen
        tape.watch(frozen)
        y = before * frozen
    assert tape.gradient(y, [v, frozen]) == [25, 10]  # by what came after: the factor `before`


def test_variables_are_watched_in_the_order_of_their_first_read(v: keras.Variable) -> None:
    other, unread = keras.Variable(5.0), keras.Variable(1.0)
    with GradientTape() as tape:
        _ = other * v * other
    assert list(map(id, tape.watched_variables())) == [id(other), id(v)]
    assert unread not in tape.watched_variables()


def test_frozen_layers_are_not_watched() -> None:
    frozen, head = keras.layers.Dense(3), keras.layers.Dense(1)
    model = keras.Sequential([keras.Input((2,)), frozen, head])
    frozen.trainable = False
    with GradientTape() as tape:
        y = model(np.ones((4, 2), "float32"))
    assert {id(variable) for variable in tape.watched_variables()} == {id(head.kernel), id(head.bias)}
    gradients = tape.gradient(y, [frozen.kernel, head.bias])
    assert gradients[0] is None
    np.testing.assert_array_equal(gradients[1], [4])


def test_a_variable_that_was_not_read_has_no_gradient(v: keras.Variable) -> None:
    other = keras.Variable(np.ones(3))
    with GradientTape(persistent=True) as tape:
        y = v * v
    assert tape.gradient(y, [other]) == [None]
    np.testing.assert_array_equal(tape.gradient(y, other, unconnected_gradients="zero"), [0, 0, 0])


def test_a_variable_can_be_the_target(v: keras.Variable) -> None:
    with GradientTape(persistent=True) as tape:
        y = v * v
    assert tape.gradient(v, v) == 1
    assert tape.gradient([y, v], v) == 5
    assert tape.gradient(v, y) is None


# The numbers in the next four tests are TensorFlow 2.21's.
def test_gradients_add_up_over_the_values_that_a_variable_had(v: keras.Variable) -> None:
    with GradientTape() as tape:
        before = v * 3.0
        v.assign(v * 2.0)
        y = before + v * 5.0
    assert tape.gradient(y, v) == 8


def test_nothing_flows_through_an_assignment(v: keras.Variable) -> None:
    other = keras.Variable(0.0)
    with GradientTape() as tape:
        other.assign(v * 2.0)
        y = other * 3.0
    assert tape.gradient(y, [v, other]) == [None, 3]


def test_a_value_that_was_used_before_it_was_assigned_and_read_keeps_its_gradient(v: keras.Variable) -> None:
    with GradientTape() as tape:
        new = v * 2.0
        y = new * 5.0
        v.assign(new)
        y = y + v * 3.0
    assert tape.gradient(y, v) == 13


def test_two_variables_that_share_an_array_have_gradients_of_their_own(v: keras.Variable) -> None:
    copy = keras.Variable(0.0)
    copy.assign(v.value)
    with GradientTape() as tape:
        y = v * 3.0
        y = y + copy * 5.0
        y = y + v * 1.0
    assert tape.gradient(y, [v, copy]) == [4, 5]


def test_a_variable_read_in_a_loop_body_is_watched(v: keras.Variable, mode: Callable) -> None:
    def step(x: jax.Array) -> Any:
        with GradientTape() as tape:
            y, _ = jax.lax.scan(lambda carry, _: (carry * v.value, None), x, None, length=3)
        return tape.gradient(y, v)

    assert mode(step)(jnp.array(1.0)) == 12


def test_a_variable_read_in_a_jitted_function_is_watched(v: keras.Variable, mode: Callable) -> None:
    def step(x: jax.Array) -> Any:
        with GradientTape() as tape:
            y = jax.jit(lambda x: jnp.sin(x * v.value))(x)
        return tape.gradient(y, v)

    np.testing.assert_allclose(mode(step)(jnp.array(1.0)), np.cos(2.0), rtol=1e-6)


def test_a_variable_hidden_in_a_jitted_function_in_a_loop_is_an_error_not_a_wrong_gradient(v: keras.Variable) -> None:
    def step(carry: jax.Array, _: None) -> Any:
        return jax.jit(lambda carry: carry * v.value)(carry), None

    with GradientTape(), pytest.raises(ValueError, match="inside a\nscan"):
        jax.lax.scan(step, jnp.array(1.0), None, length=3)


def test_values_come_from_the_scope_that_holds_them(v: keras.Variable, mode: Callable) -> None:
    def step(value: jax.Array) -> Any:
        with keras.StatelessScope(state_mapping=[(v, value)]), GradientTape() as tape:
            y = v * v
            return tape.gradient(y, v)

    assert mode(step)(jnp.array(10.0)) == 20
    assert v.numpy() == 2


def test_a_stateless_call_is_seen_by_its_arrays_as_well(mode: Callable) -> None:
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    x = np.ones((4, 2), "float32")

    def step(weights: list[jax.Array]) -> Any:
        with GradientTape() as tape:
            y, _ = model.stateless_call(weights, [], x)
        return tape.gradient(y, weights)

    gradients = mode(step)([variable.value for variable in model.trainable_variables])
    np.testing.assert_array_equal(gradients[0], [[4], [4]])


def test_with_mixed_precision_the_gradient_arrives_at_the_variable_in_float32(mode: Callable) -> None:
    keras.utils.set_random_seed(0)
    hidden = keras.layers.Dense(5, activation="relu", dtype="mixed_float16")
    model = keras.Sequential([keras.Input((4,)), hidden, keras.layers.Dense(1, dtype="float32")])

    def step(x: jax.Array) -> Any:
        with GradientTape() as tape:
            loss = jnp.mean(model(x) ** 2)
        return tape.gradient(loss, model.trainable_variables)

    def by_jax(weights: list[jax.Array]) -> jax.Array:
        return jnp.mean(model.stateless_call(weights, [], x)[0] ** 2)

    x = jnp.ones((2, 4))
    got = mode(step)(x)
    expected = jax.jit(jax.grad(by_jax))([variable.value for variable in model.trainable_variables])
    for ours, theirs in zip(got, expected, strict=True):
        assert ours.dtype == jnp.float32
        np.testing.assert_allclose(ours, theirs, rtol=2e-2, atol=1e-3)


def test_a_model_that_is_built_in_the_block_learns() -> None:
    class Line(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.dense = keras.layers.Dense(1)

        def call(self, x: Any) -> Any:
            return self.dense(x)

    keras.utils.set_random_seed(0)
    model, optimizer = Line(), keras.optimizers.SGD(0.1)
    x = np.random.default_rng(0).normal(size=(16, 3)).astype("float32")
    y = x @ np.array([[1.0], [2.0], [-1.0]], "float32")
    losses = []
    for _ in range(30):
        with GradientTape() as tape:
            loss = jnp.mean((model(x) - y) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        losses.append(float(loss))
    assert losses[-1] < 0.1 * losses[0]


def test_nothing_is_watched_while_recording_is_stopped(v: keras.Variable) -> None:
    with GradientTape() as tape, tape.stop_recording():
        _ = v * v
    assert tape.watched_variables() == ()
