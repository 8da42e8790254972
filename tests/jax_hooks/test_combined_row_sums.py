"""Sums over the rows of a batch that do not depend on each other become one all-reduce, with the same results."""

import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from tests.quick_compilation import compiles_quickly
from unisono._src.jax_hooks import combine_row_sums

NUM_REPLICAS = 2
KERNEL = np.linspace(-1, 1, 12, dtype="float32").reshape(3, 4)


def sharded_rows() -> NamedSharding:
    return NamedSharding(Mesh(np.array(jax.devices()[:NUM_REPLICAS]), ("replica",)), PartitionSpec("replica"))


def rows(count: int) -> Any:
    return np.linspace(-2, 2, count * 3, dtype="float32").reshape(count, 3)


def step(kernel: Any, x: Any) -> Any:
    """Gradients of a kernel and a bias, the loss, and a count of whole numbers: four sums, one for each dtype."""

    def loss(kernel: Any, bias: Any) -> Any:
        return jnp.mean(jax.nn.relu(x @ kernel + bias) ** 2)

    value, gradients = jax.value_and_grad(loss, (0, 1))(kernel, jnp.ones(4))
    return value, gradients, jnp.sum(x[:, 0] > 0)


def weighted(kernel: Any, x: Any) -> Any:
    """The gradient needs the sum of the weights: two rounds."""
    weights = jnp.abs(x[:, 0])
    scale = 1 / jnp.sum(weights)
    return jax.grad(lambda kernel: jnp.sum(weights * scale * jnp.sum((x @ kernel) ** 2, 1)))(kernel)


def with_a_constant_from_a_function(kernel: Any, x: Any) -> Any:
    """A function returns a sum and a constant, and the next sum reads the constant alone."""
    total, one = jax.jit(lambda x: (jnp.sum(x), jnp.float32(1)))(x)
    return total, jnp.einsum("bf,bu->fu", x, x @ kernel * one)


def over_two_dims(kernel: Any, x: Any) -> Any:
    sequence = jnp.stack([x, x + 1], 1)
    return jnp.einsum("btf,btu->fu", sequence, sequence @ kernel), sequence.sum((0, 1))


def with_a_print(kernel: Any, x: Any) -> Any:
    total = jnp.sum(x)
    jax.debug.print("total {}", total)
    return total, jnp.sum(x @ kernel)


def without_sums(kernel: Any, x: Any) -> Any:
    return x @ kernel


def merged(function: Callable[..., Any], x: Any) -> tuple[Callable[..., Any], int]:
    """``function`` with merged sums, and how many arrays its all-reduces sum."""

    def constrained(kernel: Any, x: Any) -> Any:
        return function(kernel, jax.lax.with_sharding_constraint(x, sharded_rows()))

    traced, shapes = jax.make_jaxpr(constrained, return_shape=True)(KERNEL, x)
    changed = combine_row_sums(traced, sharded_rows(), NUM_REPLICAS)

    @jax.jit
    def run(kernel: Any, x: Any) -> Any:
        flat = jax.core.eval_jaxpr(changed.jaxpr, changed.consts, kernel, x)
        return jax.tree.unflatten(jax.tree.structure(shapes), flat)

    placed = [
        jax.device_put(KERNEL, NamedSharding(sharded_rows().mesh, PartitionSpec())),
        jax.device_put(x, sharded_rows()) if len(x) % NUM_REPLICAS == 0 else x,
    ]
    text = run.lower(*placed).compile().as_text() or ""
    summed = re.findall(r"^.*= (.*) all-reduce\(", text, re.MULTILINE)
    return lambda: run(*placed), sum(len(re.findall(r"\w+\[", each)) for each in summed)


@pytest.mark.parametrize(
    ("function", "num_sums"),
    [
        (step, 2),
        (weighted, 2),
        (with_a_constant_from_a_function, 1),
        (over_two_dims, 1),
        (with_a_print, 2),
        (without_sums, 0),
    ],
)
def test_sums_are_merged_and_the_results_are_those_of_one_device(function: Callable[..., Any], num_sums: int) -> None:
    run, found = merged(function, rows(8))
    assert found == num_sums
    expected = jax.jit(function)(KERNEL, rows(8))
    atol = 1e-5 if compiles_quickly() else 1e-6
    jax.tree.map(lambda ours, its: np.testing.assert_allclose(ours, its, rtol=1e-6, atol=atol), run(), expected)


def test_rows_that_do_not_divide_are_left_to_xla() -> None:
    traced = jax.make_jaxpr(lambda x: jax.lax.with_sharding_constraint(x, sharded_rows()).sum(0))(rows(7))
    assert combine_row_sums(traced, sharded_rows(), NUM_REPLICAS) is traced
