"""Variables that share an array with each other, or with an array that is watched or was computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import keras
import pytest

import unisono
from unisono import GradientTape
from unisono.tf.autodiff import ForwardAccumulator

pytestmark = pytest.mark.slow


@pytest.fixture
def pair() -> list[keras.Variable]:
    value = jnp.array(3.0)
    return [keras.Variable(value), keras.Variable(value)]


def _gradients(variables: list[keras.Variable], function: Callable[[], Any]) -> Any:
    with GradientTape() as tape:
        result = function()
    return tape.gradient(result, variables)


def test_variables_that_were_made_of_one_array(pair: list[keras.Variable]) -> None:
    a, b = pair
    assert a._value is b._value
    assert _gradients(pair, lambda: a * b * b) == [9, 18]


def test_variables_that_a_compiled_function_reads(pair: list[keras.Variable]) -> None:
    a, b = pair
    assert _gradients(pair, unisono.function(lambda: a * 2.0 + b * 5.0)) == [2, 5]


def test_a_variable_and_a_watched_array() -> None:
    x = jnp.array(2.0)
    v = keras.Variable(x)
    with GradientTape(persistent=True) as tape:
        tape.watch([x, v])
        y = x * x * v
    assert tape.gradient(y, [x, v]) == [8, 4]


def test_variables_of_which_one_is_assigned_to_the_other_in_a_compiled_function() -> None:
    a, b = keras.Variable(3.0), keras.Variable(0.0)

    @unisono.function
    def step() -> Any:
        b.assign(a)
        return _gradients([a, b], lambda: a * b)

    assert step() == [3, 3]


def test_variables_that_are_read_in_the_body_of_a_loop(pair: list[keras.Variable]) -> None:
    a, b = pair

    def run() -> Any:
        return jax.lax.scan(lambda total, _: (total + a * b.value * b, None), 0.0, None, length=2)[0]

    assert _gradients(pair, run) == [18, 36]
    assert unisono.function(lambda: _gradients(pair, run))() == [18, 36]


def test_variables_that_are_read_in_a_loop_of_a_compiled_function(pair: list[keras.Variable]) -> None:
    a, b = pair

    @unisono.function
    def step(xs: Any) -> Any:
        with GradientTape() as tape:
            total = 0.0
            for x in xs:
                total = total + x * a * b * b
        return tape.gradient(total, pair)

    assert step(jnp.ones(2)) == [18, 36]


@pytest.mark.parametrize("trainable", [True, False])
def test_a_value_keeps_its_gradient_when_it_is_assigned_and_the_variable_is_read(trainable: bool) -> None:
    w, state = keras.Variable(2.0), keras.Variable(0.0, trainable=trainable)
    with GradientTape() as tape:
        h = w * 3.0
        state.assign(h)
        loss = h * h + state * 100.0  # nothing flows through the assignment
    assert tape.gradient(loss, w) == 36


def test_arrays_given_to_a_stateless_call_stay_what_they_are() -> None:
    layer = keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")
    layer.build((1, 1))
    x, w = jnp.ones((1, 1)), layer.kernel
    with GradientTape() as tape:
        updated = w.value * 3.0
        result, _ = layer.stateless_call([updated], [], x)
    assert tape.gradient(result, w) == 3


def test_derivatives_in_a_direction(pair: list[keras.Variable]) -> None:
    a, b = pair
    with ForwardAccumulator(pair, [jnp.array(1.0), jnp.array(10.0)]) as accumulator:
        result = a * b
    assert accumulator.jvp(result) == 33
