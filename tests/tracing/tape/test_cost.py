"""What a tape costs: nothing in a compiled program, and no memory that stays."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest
from jax.extend.core import jaxprs_in_params
from keras import layers

from unisono import GradientTape
from unisono._src.tracing.tape import _vjp

pytestmark = pytest.mark.slow

X = np.random.default_rng(0).normal(size=(8, 6, 4)).astype("float32")
Y = np.arange(8, dtype="int32") % 3


def mlp() -> keras.Model:
    hidden = [layers.Flatten(), layers.Dense(16, activation="relu"), layers.Dense(16, activation="gelu")]
    return keras.Sequential([keras.Input((6, 4)), *hidden, layers.Dense(3)])


def cnn() -> keras.Model:
    hidden = [layers.Conv1D(5, 3, activation="relu"), layers.MaxPooling1D(2), layers.Flatten()]
    return keras.Sequential([keras.Input((6, 4)), *hidden, layers.Dense(3)])


def lstm() -> keras.Model:
    return keras.Sequential([keras.Input((6, 4)), layers.LSTM(5), layers.Dense(3)])


def loss_of(outputs: Any) -> Any:
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)(Y, outputs)


@pytest.mark.parametrize("build", [mlp, cnn, lstm])
def test_the_compiled_program_is_that_of_jax(build: Callable[[], keras.Model]) -> None:
    model = build()

    def by_jax(weights: Any) -> Any:
        rest = model.non_trainable_variables
        return jax.grad(lambda weights: loss_of(model.stateless_call(weights, rest, X)[0]))(weights)

    def by_tape(weights: Any) -> Any:
        mapping = list(zip(model.trainable_variables, weights, strict=True))
        with keras.StatelessScope(state_mapping=mapping), GradientTape() as tape:
            loss = loss_of(model(X))
            return tape.gradient(loss, model.trainable_variables)

    weights = [variable.value for variable in model.trainable_variables]
    theirs, ours = (jax.jit(function).lower(weights).compile() for function in (by_jax, by_tape))
    assert num_equations(jax.make_jaxpr(by_tape)(weights)) <= num_equations(jax.make_jaxpr(by_jax)(weights))
    assert num_instructions(ours) <= num_instructions(theirs)
    assert ours.cost_analysis()["flops"] <= theirs.cost_analysis()["flops"]
    assert ours.memory_analysis().temp_size_in_bytes <= theirs.memory_analysis().temp_size_in_bytes


def num_equations(jaxpr: Any) -> int:
    return sum(1 + sum(map(num_equations, jaxprs_in_params(equation.params))) for equation in jaxpr.eqns)


def num_instructions(compiled: Any) -> int:
    return sum(" = " in line for line in compiled.as_text().splitlines())


@pytest.mark.parametrize("build", [pytest.param(mlp, marks=pytest.mark.full), lstm])
@pytest.mark.full
def test_sixty_eager_steps_leave_no_array_behind(build: Callable[[], keras.Model]) -> None:
    model = build()
    optimizer = keras.optimizers.SGD(0.01)

    def step() -> None:
        with GradientTape() as tape:
            loss = loss_of(model(X))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    number_of_steps = 60 if build is mlp else 2  # an eager scan is compiled every time, by JAX too
    for _ in range(2):
        step()
    gc.collect()
    before = len(jax.live_arrays())
    for _ in range(number_of_steps):
        step()
    # Without a collection: a tape is in no cycle, so its arrays go when it goes.
    assert len(jax.live_arrays()) <= before


def test_a_tape_holds_only_what_gradients_need() -> None:
    x = jnp.ones((1000,))
    before = len(jax.live_arrays())
    with GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in range(20):
            y = y + 1.0  # the derivative is 1, whatever the values were
        y = jnp.exp(y)
    assert len(jax.live_arrays()) - before <= 3
    np.testing.assert_allclose(tape.gradient(y, x), y, rtol=1e-6)


def test_what_an_operation_needs_for_its_gradient_is_not_copied() -> None:
    x, w = jnp.ones((100, 100)), jnp.ones((100, 100))
    with GradientTape() as tape:
        tape.watch([x, w])
        y = jnp.tanh(x @ w)
        held = [array for array in jax.live_arrays() if array.shape == (100, 100)]
        assert len(held) <= 4, len(held)  # x, w, their product's tanh, and what it was taken of
    assert tape.gradient(y, w).shape == (100, 100)


def test_a_used_tape_lets_go_of_its_arrays() -> None:
    x = jnp.ones((1000,))
    with GradientTape() as tape:
        tape.watch(x)
        y = jnp.sin(jnp.sin(jnp.sin(x)))
        during = len(jax.live_arrays())
        tape.gradient(y, x)
        assert len(jax.live_arrays()) < during


def test_each_kind_of_operation_is_compiled_once() -> None:
    x = jnp.ones((3, 5))

    def step() -> None:
        with GradientTape() as tape:
            tape.watch(x)
            y = jnp.sum(jnp.tanh(x @ x.T) ** 2)
        tape.gradient(y, x)

    step()
    before = _vjp._cached_vjp.cache_info()
    for _ in range(5):
        step()
    after = _vjp._cached_vjp.cache_info()
    assert after.misses == before.misses
    assert after.hits > before.hits
    assert after.maxsize is not None


def test_a_jitted_function_that_holds_an_array_is_not_kept() -> None:
    x = jnp.ones(3)
    gc.collect()
    before = len(jax.live_arrays())
    for number in range(3):
        held = jnp.full(3, float(number))
        with GradientTape() as tape:
            tape.watch(x)
            y = jax.jit(lambda x, held=held: x * held)(x)
        assert tape.gradient(y, x)[0] == number
    del held, y, tape
    gc.collect()
    assert len(jax.live_arrays()) <= before


def test_loops_that_are_traced_again_each_time_do_not_fill_the_cache() -> None:
    x = jnp.ones(3)

    def step() -> None:
        with GradientTape() as tape:
            tape.watch(x)
            y, _ = jax.lax.scan(lambda carry, _: (jnp.sin(carry), None), x, None, length=2)
        tape.gradient(y, x)

    step()
    before = _vjp._cached_vjp.cache_info().currsize
    for _ in range(3):
        step()
    assert _vjp._cached_vjp.cache_info().currsize == before
