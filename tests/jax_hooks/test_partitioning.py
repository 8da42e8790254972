"""What is changed for XLA's partitioner keeps its meaning, on one device and on several."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh

from unisono._src.jax_hooks import make_partitionable

X = jnp.array([3.0, 1.0, 2.0, 5.0, 4.0])


def _mesh() -> Mesh:
    return Mesh(np.array(jax.devices()[:2]), ("replicas",))


def _evaluate(program: Any, *arguments: Any) -> Any:
    return jax.jit(lambda *values: jax.core.eval_jaxpr(program.jaxpr, program.consts, *values))(*arguments)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32"])
@pytest.mark.parametrize("mode", ["drop", "clip"])
def test_scatters_by_unsigned_numbers_are_by_signed_ones(mode: str, dtype: str) -> None:
    largest = np.iinfo(dtype).max  # out of bounds, and negative if its bits were taken for a signed number
    indices = jnp.array([[0], [3], [3], [largest], [7]], dtype)
    numbers = jax.lax.ScatterDimensionNumbers((), (0,), (0,))
    traced = jax.make_jaxpr(lambda x, indices: jax.lax.scatter_add(x, indices, x, numbers, mode=mode))(X, indices)
    changed = make_partitionable(traced, _mesh(), _mesh().size)
    assert changed is not traced
    np.testing.assert_array_equal(_evaluate(changed, X, indices), _evaluate(traced, X, indices))


def test_the_gradient_of_a_sort_is_changed_inside_of_the_function_that_jax_makes_of_it() -> None:
    traced = jax.make_jaxpr(jax.grad(lambda x: jnp.sum(jnp.sort(x) * jnp.arange(5.0))))(X)
    changed = make_partitionable(traced, _mesh(), _mesh().size)
    assert changed is not traced
    np.testing.assert_array_equal(_evaluate(changed, X), _evaluate(traced, X))


def test_other_operations_are_left_as_they_are() -> None:
    def program(x: Any) -> Any:
        return jnp.sum(jnp.cumsum(x[jnp.argsort(x)]).at[jnp.array([0, 1])].add(1.0))

    traced = jax.make_jaxpr(jax.grad(program))(X)
    assert "scatter-add" in str(traced)
    assert make_partitionable(traced, _mesh(), _mesh().size) is traced


def test_pooled_dims_are_replicated_and_others_are_not() -> None:
    def pool(x: Any) -> Any:
        return jnp.sum(jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2), (1, 1), "SAME") ** 2)

    rows = jnp.arange(8.0).reshape(4, 2)
    traced = jax.make_jaxpr(jax.grad(pool))(rows)
    changed = make_partitionable(traced, _mesh(), _mesh().size)
    assert "UNCONSTRAINED" in str(changed) or "unconstrained_dims={0}" in str(changed)
    np.testing.assert_array_equal(_evaluate(changed, rows), _evaluate(traced, rows))
