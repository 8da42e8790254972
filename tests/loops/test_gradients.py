"""GradientTape in loops: a gradient belongs to its replica until it is summed."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest

import unisono
from unisono._src.strategy import Strategy

from ._replicas import batches, local, per_replica, replica_id, rows

pytestmark = pytest.mark.slow

Called = Callable[[Callable[..., Any]], Callable[..., Any]]


def gradient_of_square(x: Any) -> Any:
    with unisono.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return tape.gradient(y, x)


@pytest.mark.parametrize("form", ["eager", "function-in-run", "run-in-function"])
def test_the_gradient_of_each_row_in_every_form_of_a_loop(strategy: Strategy, form: str) -> None:
    inner = unisono.function(gradient_of_square) if form == "function-in-run" else gradient_of_square
    call = lambda x: strategy.run(inner, args=(x,))  # noqa: E731
    step = unisono.function(call) if form == "run-in-function" else call
    results = [rows(strategy, step(x)) for x in batches(strategy, np.float32([5, 6, 7, 8]), 2)]
    assert results == [[10.0, 12.0], [14.0, 16.0]]


@pytest.mark.parametrize("model_in_function", [True, False])
def test_a_variable_has_a_gradient_on_every_replica_through_nested_functions(
    strategy: Strategy, model_in_function: bool
) -> None:
    with strategy.scope():
        v = keras.Variable(3.0)

    def square(x: Any) -> Any:
        return x * x

    model = unisono.function(square) if model_in_function else square

    def step() -> Any:
        with unisono.GradientTape() as tape:
            y = model(v)
        return tape.gradient(y, v)

    result = unisono.function(lambda: strategy.run(step))()
    assert local(strategy, result) == [6.0] * strategy.num_replicas_in_sync


def test_gradients_are_not_summed_by_the_tape(strategy: Strategy, called: Called) -> None:
    with strategy.scope():
        v = keras.Variable(2.0)

    def step() -> Any:
        with unisono.GradientTape() as tape:
            y = v * v * (replica_id() + 1)
        return tape.gradient(y, v)

    number = strategy.num_replicas_in_sync
    result = called(lambda: strategy.run(step))()
    assert local(strategy, result) == [4.0 * (i + 1) for i in range(number)]
    assert float(strategy.reduce("SUM", result, axis=None)) == 4.0 * sum(range(1, number + 1))


def test_a_tape_around_run_is_refused(several: Strategy) -> None:
    """With TensorFlow it sees nothing and the gradient is None."""
    with several.scope():
        v = keras.Variable(2.0)
    with unisono.GradientTape(), pytest.raises(RuntimeError, match="inside the function"):
        several.run(lambda: v * v)


class Affine:
    """2 · a + b, with a = 1.25 and b = 2: TensorFlow's smallest model."""

    def __init__(self) -> None:
        self.a, self.b = keras.Variable(1.25), keras.Variable(2.0)

    def __call__(self, factor: Any = 2.0) -> Any:
        return factor * self.a + self.b


def test_variables_are_read_through_functions_inside_of_functions(strategy: Strategy, called: Called) -> None:
    with strategy.scope():
        model = Affine()
    inner = unisono.function(lambda: model())
    outer = unisono.function(lambda: inner() + 1)
    result = called(lambda: strategy.run(outer))()
    assert local(strategy, result) == [5.5] * strategy.num_replicas_in_sync


def test_a_persistent_tape_differentiates_through_functions_inside_of_functions(
    strategy: Strategy, called: Called
) -> None:
    with strategy.scope():
        model = Affine()
    inner = unisono.function(lambda: model())
    outer = unisono.function(lambda: inner() + 1)

    def step() -> Any:
        with unisono.GradientTape(persistent=True) as tape:
            y = outer()
        both = tape.gradient(y, [model.a, model.b])
        return [*both, tape.gradient(y, model.a)]

    for result, expected in zip(called(lambda: strategy.run(step))(), [2.0, 1.0, 2.0], strict=True):
        assert local(strategy, result) == [expected] * strategy.num_replicas_in_sync


def test_a_function_gets_the_value_of_its_replica(several: Strategy) -> None:
    with several.scope():
        model = Affine()
    factors = [np.float32(2 * i + 3) for i in range(several.num_replicas_in_sync)]
    result = several.run(unisono.function(lambda factor: model(factor)), args=(per_replica(several, factors),))
    assert local(several, result) == [1.25 * float(factor) + 2 for factor in factors]


def test_the_gradient_of_a_layer_for_all_of_its_weights(strategy: Strategy) -> None:
    """Of sum((x W + b)²) with W and b at zero it is zero; with b at one 2 · Σx for W and 2 · rows for b."""
    with strategy.scope():
        layer = keras.layers.Dense(2, kernel_initializer="zeros", bias_initializer="ones")
        layer.build((None, 3))
    x = np.arange(24, dtype=np.float32).reshape(8, 3)

    def step(x: Any) -> Any:
        with unisono.GradientTape() as tape:
            loss = keras.ops.sum(layer(x) ** 2)
        return tape.gradient(loss, layer.trainable_variables)

    (batch,) = batches(strategy, x, 8)
    kernel, bias = unisono.function(lambda batch: strategy.run(step, args=(batch,)))(batch)
    total = np.asarray(strategy.reduce("SUM", kernel, axis=None))
    np.testing.assert_allclose(total, np.stack([2 * x.sum(0)] * 2, 1), rtol=1e-6)
    number = strategy.num_replicas_in_sync
    assert local(strategy, bias) == [[16.0 / number] * 2] * number


def test_a_tape_around_a_function_with_variables_of_the_strategy(
    strategy: Strategy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 1)  # then XLA gets options, which a program under a tape must not have
    assert strategy.placement.compiler_options
    with strategy.scope():
        variable = keras.Variable(3.0)

    @unisono.function
    def squared(x: Any) -> Any:
        return variable * x * x

    with unisono.GradientTape() as tape:
        y = squared(np.float32(2))
    assert float(tape.gradient(y, variable)) == 4.0
