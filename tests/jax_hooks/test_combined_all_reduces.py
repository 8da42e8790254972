"""Sums over replicas that do not wait for each other become one, and nothing else changes."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, PartitionSpec

from unisono._src.jax_hooks import combine_all_reduces

AXIS = "replicas"
ROWS = jnp.arange(12.0).reshape(4, 3)


def total(value: Any) -> Any:
    return jax.lax.psum(value, AXIS)


def on_each(function: Callable[..., Any]) -> Callable[..., Any]:
    mesh = Mesh(np.array(jax.devices()[:2]), (AXIS,))
    return jax.shard_map(
        function, mesh=mesh, in_specs=PartitionSpec(AXIS), out_specs=PartitionSpec(AXIS), check_vma=False
    )


def number_of_sums(function: Callable[..., Any]) -> int:
    (mapped,) = jax.make_jaxpr(on_each(function))(ROWS).eqns
    return [equation.primitive.name for equation in mapped.params["jaxpr"].eqns].count("psum")


def independent(x: Any) -> Any:
    """Three sums, as a step has them: each is asked for when the one before is known."""
    gradient = total({"kernel": x * 2, "bias": x.sum(0)})
    kernel = 1 - gradient["kernel"]
    loss = total(x.mean())
    return {"kernel": kernel - gradient["bias"], "loss": loss[None], "count": total(jnp.int32(x[0] > 4.0))[None]}


def one_after_the_other(x: Any) -> Any:
    mean = jax.lax.pmean(x.mean(), AXIS)
    variance = jax.lax.pmean(((x - mean) ** 2).mean(), AXIS)
    return (x - mean) / jnp.sqrt(variance) + total(x.max())


def of_two_dtypes(x: Any) -> Any:
    whole = total(jnp.asarray(x, "int32"))
    return total(x) + whole


def without_any(x: Any) -> Any:
    return x + 1


def without_a_use_for_it(x: Any) -> Any:
    total(x)
    return {"same": x, "number": jnp.ones(1)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "before", "after"),
    [
        (independent, 4, 2),  # a count is of another dtype
        (one_after_the_other, 3, 2),
        (of_two_dtypes, 2, 2),
        (without_any, 0, 0),
        (without_a_use_for_it, 1, 1),
    ],
)
def test_sums_that_do_not_wait_for_each_other_are_one(function: Callable[..., Any], before: int, after: int) -> None:
    merged = combine_all_reduces(function, AXIS)
    assert number_of_sums(function) == before
    assert number_of_sums(merged) == after
    expected, found = on_each(function)(ROWS), jax.jit(on_each(merged))(ROWS)
    assert jax.tree.structure(expected) == jax.tree.structure(found)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6), expected, found)


def test_values_from_around_are_seen() -> None:
    def around(offset: Any) -> Any:
        return on_each(combine_all_reduces(lambda x: total(x + offset) * total(offset), AXIS))(ROWS)

    found = jax.jit(around)(jnp.float32(2))
    np.testing.assert_allclose(found, np.tile((np.asarray(ROWS)[:2] + np.asarray(ROWS)[2:] + 4) * 4, (2, 1)))


def test_sums_inside_of_loops_and_branches_stay_where_they_are() -> None:
    def looping(x: Any) -> Any:
        turned = jax.lax.fori_loop(0, 3, lambda _, value: total(value) / 2, x)
        return turned + jax.lax.cond(True, total, lambda value: value, x) + total(x)

    merged = combine_all_reduces(looping, AXIS)
    np.testing.assert_allclose(jax.jit(on_each(merged))(ROWS), on_each(looping)(ROWS), rtol=1e-6)


def test_what_is_printed_comes_in_its_order(capfd: pytest.CaptureFixture[str]) -> None:
    def printing(x: Any) -> Any:
        first = total(x)
        jax.debug.print("{}", first.sum(), ordered=False)
        return first + total(x * 2)

    found = jax.jit(on_each(combine_all_reduces(printing, AXIS)))(ROWS)
    jax.effects_barrier()
    np.testing.assert_allclose(found, on_each(lambda x: total(x) + total(x * 2))(ROWS))
    assert capfd.readouterr().out.split() == ["66.0", "66.0"]
    assert number_of_sums(combine_all_reduces(printing, AXIS)) == 2


@pytest.mark.full
def test_gradients_pass_through() -> None:
    def loss(x: Any) -> Any:
        return (on_each(combine_all_reduces(independent, AXIS))(x)["kernel"] ** 2).sum()

    def plain(x: Any) -> Any:
        return (on_each(independent)(x)["kernel"] ** 2).sum()

    np.testing.assert_allclose(jax.grad(loss)(ROWS), jax.grad(plain)(ROWS), rtol=1e-5)
