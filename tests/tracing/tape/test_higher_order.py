"""Gradients of gradients: tapes inside tapes, and tapes inside JAX's own transformations."""

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

FUNCTIONS = {
    "power": lambda x: x**3,
    "products": lambda x: x * x * x,
    "sine": lambda x: jnp.sin(x) * x,
    "sigmoid": lambda x: jax.nn.sigmoid(x) * jnp.exp(-x),
    "relu": lambda x: jax.nn.relu(x) ** 3,
    "stopped": lambda x: jax.lax.stop_gradient(x) * x * x,
    "jitted": lambda x: jax.jit(lambda x: (jnp.sin(x), x))(x)[0] ** 2,
    "scanned": lambda x: jax.lax.scan(lambda c, _: (jnp.sin(c * x), None), x, None, length=3)[0],
    "remembered": lambda x: jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)))(x) * x,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_two_nested_tapes_give_the_second_derivative(mode: Callable, name: str) -> None:
    function = FUNCTIONS[name]

    def by_tapes(x: jax.Array) -> Any:
        with GradientTape() as outer:
            outer.watch(x)
            with GradientTape() as inner:
                inner.watch(x)
                y = function(x)
            first = inner.gradient(y, x)
        return first, outer.gradient(first, x)

    x = jnp.array(0.7)
    first, second = mode(by_tapes)(x)
    np.testing.assert_allclose(first, jax.jit(jax.grad(function))(x), rtol=1e-5)
    np.testing.assert_allclose(second, jax.jit(jax.grad(jax.grad(function)))(x), rtol=1e-5)


@pytest.mark.parametrize("name", ["power", "relu", "stopped", "scanned"])
def test_gradients_of_a_persistent_tape_inside_of_its_block_give_the_second_derivative(
    mode: Callable, name: str
) -> None:
    function = FUNCTIONS[name]

    def by_tape(x: jax.Array) -> Any:
        with GradientTape(persistent=True) as tape:
            tape.watch(x)
            first = tape.gradient(function(x), x)
        return tape.gradient(first, x)

    x = jnp.array(0.7)
    np.testing.assert_allclose(mode(by_tape)(x), jax.jit(jax.grad(jax.grad(function)))(x), rtol=1e-5)


@pytest.mark.parametrize("name", ["power", "relu"])
def test_gradients_of_the_outer_tape_may_be_computed_first_inside_of_the_inner_one(mode: Callable, name: str) -> None:
    function = FUNCTIONS[name]

    def by_tapes(x: jax.Array) -> Any:
        with GradientTape() as outer:
            outer.watch(x)
            with GradientTape() as inner:
                inner.watch(x)
                first = outer.gradient(function(x), x)
        return inner.gradient(first, x)

    x = jnp.array(0.7)
    np.testing.assert_allclose(mode(by_tapes)(x), jax.jit(jax.grad(jax.grad(function)))(x), rtol=1e-5)


def test_three_nested_tapes_give_the_third_derivative(mode: Callable) -> None:
    def by_tapes(x: jax.Array) -> Any:
        with GradientTape() as third:
            third.watch(x)
            with GradientTape() as second:
                second.watch(x)
                with GradientTape() as first:
                    first.watch(x)
                    y = jnp.sin(x) * x
                dy = first.gradient(y, x)
            ddy = second.gradient(dy, x)
        return third.gradient(ddy, x)

    x = jnp.array(0.7)
    expected = jax.jit(jax.grad(jax.grad(jax.grad(lambda x: jnp.sin(x) * x))))(x)
    np.testing.assert_allclose(mode(by_tapes)(x), expected, rtol=1e-4)


def test_a_tape_can_be_differentiated_and_vectorized_by_jax() -> None:
    def by_tape(x: jax.Array) -> jax.Array:
        with GradientTape() as tape:
            tape.watch(x)
            y = jnp.sin(x) * x
        return tape.gradient(y, x)

    def function(x: jax.Array) -> jax.Array:
        return jnp.sin(x) * x

    x = jnp.array([0.3, 0.7])
    second = jax.grad(jax.grad(function))(0.7)
    np.testing.assert_allclose(jax.grad(by_tape)(0.7), second, rtol=1e-5)
    np.testing.assert_allclose(jax.jvp(by_tape, (0.7,), (1.0,))[1], second, rtol=1e-5)
    np.testing.assert_allclose(jax.vmap(by_tape)(x), jax.vmap(jax.grad(function))(x), rtol=1e-5)


def test_gradients_by_jax_can_be_recorded(mode: Callable) -> None:
    def by_both(x: jax.Array, w: jax.Array) -> Any:
        with GradientTape() as tape:
            tape.watch([x, w])
            y = jax.grad(lambda x: jnp.sin(x) * w)(x)
        return tape.gradient(y, [x, w])

    np.testing.assert_allclose(
        mode(by_both)(jnp.array(0.7), jnp.array(2.0)), [-2 * np.sin(0.7), np.cos(0.7)], rtol=1e-5
    )


def test_a_gradient_penalty_trains_through_the_inner_tape(mode: Callable) -> None:
    keras.utils.set_random_seed(0)
    layers = keras.layers
    critic = keras.Sequential([keras.Input((4,)), layers.Dense(5, activation="tanh"), layers.Dense(1)])
    x = jnp.asarray(np.random.default_rng(0).normal(size=(3, 4)), "float32")

    def penalty(gradient: jax.Array) -> jax.Array:
        return jnp.mean((jnp.sqrt(jnp.sum(gradient**2, axis=1)) - 1) ** 2)

    def by_tapes(x: jax.Array) -> Any:
        with GradientTape() as outer:
            with GradientTape() as inner:
                inner.watch(x)
                y = critic(x)
            loss = penalty(inner.gradient(y, x))
        return outer.gradient(loss, critic.trainable_variables)

    def by_jax(weights: list[jax.Array]) -> jax.Array:
        return penalty(jax.grad(lambda x: critic.stateless_call(weights, [], x)[0].sum())(x))

    got = mode(by_tapes)(x)
    assert got[3] is None  # the last bias is added, so the gradient by x does not depend on it
    expected = jax.jit(jax.grad(by_jax))([variable.value for variable in critic.trainable_variables])
    for ours, theirs in zip(got[:3], expected, strict=False):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)
