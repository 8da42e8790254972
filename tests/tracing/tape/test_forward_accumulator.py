"""Derivatives in a direction: what `jax.jvp` gives, together with the values."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest

import unisono
import unisono.tf as tf
from unisono.tf.autodiff import ForwardAccumulator

X, DIRECTION = jnp.array([0.5, 2.0, -1.0]), jnp.array([1.0, 0.0, 2.0])


def _network() -> Any:
    keras.utils.set_random_seed(0)
    return keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, activation="tanh"), keras.layers.Dense(2)])


FUNCTIONS = {
    "operations": lambda x: jnp.sin(x) * x[0] + x**3,
    "reductions and indices": lambda x: jnp.sum(x[1:] * jnp.max(x)) + jnp.sort(x),
    "jit": jax.jit(lambda x: jnp.exp(x) * 2.0),
    "custom_jvp": lambda x: jax.nn.relu(x) * jax.nn.silu(x),
    "scan": lambda x: jax.lax.scan(lambda total, row: (total * row, total + row), 1.0, x)[1],
    "while": lambda x: jax.lax.while_loop(lambda s: jnp.sum(s) < 50.0, lambda s: s * 2.0, x),
    "branch": lambda x: jax.lax.cond(x[0] > 0, jnp.sin, jnp.cos, x),
    "stop_gradient": lambda x: jax.lax.stop_gradient(x) * x,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_derivative_is_that_of_jax(name: str) -> None:
    x = X + 0.0
    with ForwardAccumulator(x, DIRECTION) as accumulator:
        y = FUNCTIONS[name](x)
    value, expected = jax.jvp(FUNCTIONS[name], (X,), (DIRECTION,))
    np.testing.assert_allclose(y, value, rtol=1e-6)
    np.testing.assert_allclose(accumulator.jvp(y), expected, rtol=1e-6)


@pytest.mark.slow
def test_the_derivative_by_variables_of_a_model() -> None:
    network, rows = _network(), jnp.ones((2, 3))
    kernel = network.layers[0].kernel
    direction = jnp.cos(kernel.value)

    def run(value: Any) -> Any:
        values = [value if variable is kernel else variable.value for variable in network.variables]
        return network.stateless_call(values, [], rows)[0]

    expected = jax.jvp(run, (kernel.value,), (direction,))[1]
    with ForwardAccumulator(kernel, direction) as accumulator:
        result = network(rows)
    np.testing.assert_allclose(accumulator.jvp(result), expected, rtol=1e-6)
    np.testing.assert_array_equal(accumulator.jvp(kernel), direction)


@pytest.mark.full
def test_a_tape_inside_gives_the_product_of_hessian_and_direction() -> None:
    x = X + 0.0
    with ForwardAccumulator(x, DIRECTION) as accumulator, unisono.GradientTape() as tape:
        tape.watch(x)
        y = jnp.sum(x**3 * x[0])
        gradient = tape.gradient(y, x)
        product = accumulator.jvp(gradient)
    hessian = jax.hessian(lambda x: jnp.sum(x**3 * x[0]))(X)
    np.testing.assert_allclose(product, hessian @ DIRECTION, rtol=1e-5)


@pytest.mark.slow
def test_a_tape_outside_differentiates_the_derivative() -> None:
    x = X + 0.0
    with unisono.GradientTape() as tape:
        tape.watch(x)
        with ForwardAccumulator(x, DIRECTION) as accumulator:
            y = jnp.sum(x**3 * x[0])
        slope = accumulator.jvp(y)
    hessian = jax.hessian(lambda x: jnp.sum(x**3 * x[0]))(X)
    np.testing.assert_allclose(tape.gradient(slope, x), hessian @ DIRECTION, rtol=1e-5)


def test_accumulators_in_each_other_give_the_second_derivative() -> None:
    x = jnp.array(2.0)
    with ForwardAccumulator(x, jnp.array(1.0)) as outer:
        with ForwardAccumulator(x, jnp.array(1.0)) as inner:
            y = x**3
        first = inner.jvp(y)
    assert (float(first), float(outer.jvp(first)), float(outer.jvp(y))) == (12.0, 12.0, 12.0)


def test_a_compiled_function_computes_it_too() -> None:
    @tf.function
    def slope(x: Any) -> Any:
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
            y = x
            for _ in tf.range(3):
                y = y * x
        return accumulator.jvp(y)

    assert float(slope(tf.constant(2.0))) == 32.0


def test_values_that_do_not_depend_on_the_primals_have_no_derivative() -> None:
    x, other = X + 0.0, jnp.ones(2)
    with ForwardAccumulator(x, DIRECTION) as accumulator:
        y = {"a": x * 2.0, "b": other * 2.0}
    found = accumulator.jvp(y)
    assert found["b"] is None
    np.testing.assert_array_equal(found["a"], DIRECTION * 2.0)
    np.testing.assert_array_equal(accumulator.jvp(y, unconnected_gradients="zero")["b"], [0.0, 0.0])


def test_what_it_does_not_take_is_said() -> None:
    with pytest.raises(ValueError, match=r"dtype int32(.|\n)*Cast it"):
        ForwardAccumulator(jnp.array(1), jnp.array(1))
    with pytest.raises(ValueError, match=r"shape \(2,\) for a value of shape \(3,\)"):
        ForwardAccumulator(X, jnp.ones(2))
    with pytest.raises(ValueError, match="1 values and 2 tangents"):
        ForwardAccumulator(X, [DIRECTION, DIRECTION])
    with ForwardAccumulator(X, DIRECTION) as accumulator, pytest.raises(ValueError, match="Create a second one"):
        accumulator.__enter__()
