"""`jacobian` and `batch_jacobian`."""

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

X = jnp.array([1.0, 2.0, 3.0])
ROWS = jnp.arange(12.0).reshape(4, 3) / 6


def function(x: jax.Array) -> jax.Array:
    return jnp.stack([jnp.sin(x) * x[0], x**2])


@pytest.mark.parametrize("options", [{}, {"parallel_iterations": 4}, {"experimental_use_pfor": False}], ids=str)
def test_a_jacobian_is_that_of_jax(options: dict[str, Any], mode: Callable) -> None:
    def by_tape(x: jax.Array) -> jax.Array:
        with GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return tape.jacobian(y, x, **options)

    got = mode(by_tape)(X)
    assert got.shape == (2, 3, 3)
    np.testing.assert_allclose(got, jax.jit(jax.jacrev(function))(X), rtol=1e-5, atol=1e-6)


def test_the_jacobian_of_a_scalar_is_its_gradient() -> None:
    with GradientTape() as tape:
        tape.watch(X)
        y = jnp.sum(X**2)
    np.testing.assert_array_equal(tape.jacobian(y, X), [2, 4, 6])


def test_jacobians_come_in_the_structure_of_the_sources() -> None:
    scale, unused = keras.Variable([2.0, 1.0, 1.0]), keras.Variable([1.0, 1.0])
    with GradientTape(persistent=True) as tape:
        tape.watch(X)
        y = X * scale
    got = tape.jacobian(y, {"x": X, "rest": [scale, unused]})
    np.testing.assert_array_equal(got["x"], np.diag([2, 1, 1]))
    np.testing.assert_array_equal(got["rest"][0], np.diag([1, 2, 3]))
    assert got["rest"][1] is None
    zeros = tape.jacobian(y, unused, unconnected_gradients="zero")
    np.testing.assert_array_equal(zeros, np.zeros((3, 2)))


def test_hessians_come_from_a_jacobian_around_a_gradient(mode: Callable) -> None:
    def value(x: jax.Array) -> jax.Array:
        return jnp.sum(jnp.sin(x)) * jnp.prod(x)

    def by_tapes(x: jax.Array) -> jax.Array:
        with GradientTape() as outer:
            outer.watch(x)
            with GradientTape() as inner:
                inner.watch(x)
                y = value(x)
            first = inner.gradient(y, x)
        return outer.jacobian(first, x)

    np.testing.assert_allclose(mode(by_tapes)(X), jax.jit(jax.hessian(value))(X), rtol=1e-4, atol=1e-4)


def test_a_jacobian_can_be_differentiated(mode: Callable) -> None:
    def by_tapes(x: jax.Array) -> jax.Array:
        with GradientTape() as outer:
            outer.watch(x)
            with GradientTape() as inner:
                inner.watch(x)
                y = jnp.sin(x)
            matrix = inner.jacobian(y, x)
        return outer.gradient(matrix, x)

    np.testing.assert_allclose(mode(by_tapes)(X), -np.sin(X), rtol=1e-5)


@pytest.mark.parametrize("options", [{}, {"parallel_iterations": 2}, {"experimental_use_pfor": False}], ids=str)
def test_a_batch_jacobian_has_one_for_each_row(options: dict[str, Any], mode: Callable) -> None:
    def by_tape(rows: jax.Array) -> jax.Array:
        with GradientTape() as tape:
            tape.watch(rows)
            y = jax.vmap(function)(rows)
        return tape.batch_jacobian(y, rows, **options)

    got = mode(by_tape)(ROWS)
    assert got.shape == (4, 2, 3, 3)
    np.testing.assert_allclose(got, jax.jit(jax.vmap(jax.jacrev(function)))(ROWS), rtol=1e-5, atol=1e-6)


def test_a_batch_jacobian_of_what_is_not_connected_is_zero() -> None:
    with GradientTape() as tape:
        tape.watch(ROWS)
    np.testing.assert_array_equal(tape.batch_jacobian(ROWS * 2, ROWS), np.zeros((4, 3, 3)))


def test_a_batch_jacobian_needs_two_batches_of_one_size() -> None:
    with GradientTape(persistent=True) as tape:
        tape.watch([X, ROWS])
        y = ROWS * X
    with pytest.raises(ValueError, match=r"got the shapes \(4, 3\) and \(3,\)"):
        tape.batch_jacobian(y, X)
    with pytest.raises(ValueError, match=r"got the shapes \(2, 3\) and \(4, 3\)"):
        tape.batch_jacobian(y[:2], ROWS)


def test_a_jacobian_takes_one_target() -> None:
    with GradientTape(persistent=True) as tape:
        tape.watch(ROWS)
        y = ROWS * 2
    with pytest.raises(TypeError, match=r"jacobian\(\) takes one array or variable as its target, got list"):
        tape.jacobian([y], ROWS)
    with pytest.raises(TypeError, match=r"batch_jacobian\(\) takes one array or variable as its source, got tuple"):
        tape.batch_jacobian(y, (ROWS,))


def test_a_jacobian_uses_the_tape_up() -> None:
    with GradientTape() as tape:
        tape.watch(X)
        y = X * X
    tape.jacobian(y, X)
    with pytest.raises(RuntimeError, match="persistent=True"):
        tape.gradient(y, X)
