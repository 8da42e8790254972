"""Programs that call Python while they run: checks, prints, functions of NumPy."""

from __future__ import annotations

from typing import Any

import jax
import keras
import numpy as np
import pytest

import unisono

NUMBER = jax.ShapeDtypeStruct((), np.float32)


def test_run_outside_a_function_calls_what_this_call_was_given() -> None:
    strategy = unisono.MirroredStrategy(["cpu:0", "cpu:1"])

    def run(number: int) -> Any:
        return strategy.run(
            lambda x: jax.pure_callback(lambda y: np.float32(y + number), NUMBER, x), args=(np.float32(1),)
        )

    assert [float(run(number).values[0]) for number in range(3)] == [1, 2, 3]


@pytest.mark.parametrize("devices", [None, ["cpu:0", "cpu:1"]])
def test_variables_keep_their_values_if_what_a_step_calls_raises(devices: list[str] | None) -> None:
    strategy = unisono.get_strategy() if devices is None else unisono.MirroredStrategy(devices)
    with strategy.scope():
        weight = keras.Variable(np.ones((300, 300), "float32"), trainable=False)

    def check(x: Any) -> None:
        if x < 0:
            raise ZeroDivisionError

    def replica_step(x: Any) -> None:
        jax.debug.callback(check, x)
        weight.assign(weight @ weight / 300.0 * x)

    @unisono.function
    def step(x: Any) -> None:
        strategy.run(replica_step, args=(x,))

    step(np.float32(1))
    with pytest.raises(jax.errors.JaxRuntimeError, match="ZeroDivisionError"):
        step(np.float32(-1))
    assert weight.numpy()[0, 0] == 1
    step(np.float32(2))
    assert weight.numpy()[0, 0] == 2


@pytest.mark.slow
def test_a_function_may_be_called_by_what_a_program_calls() -> None:
    calls, total = keras.Variable(0.0), keras.Variable(0.0)
    count = unisono.function(lambda: calls.assign_add(1.0))
    count()

    def call(x: Any) -> Any:
        count()
        return x

    @unisono.function
    def step(x: Any) -> None:
        total.assign_add(jax.pure_callback(call, NUMBER, x))

    for _ in range(5):
        step(np.float32(1))
    assert float(total) == 5
    assert float(calls) >= 6  # JAX may call it more often
